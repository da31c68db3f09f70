"""The spread of runs: what must hold for any tracks."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.runtime import Track, spread, spread_of_points
from ghost.runtime.spread import angle_between

MS = 1_000_000
PERIOD = 10 * MS
LENGTH = st.floats(-1e3, 1e3)
POINT = st.tuples(LENGTH, LENGTH, LENGTH)
HALF = st.floats(-1.0, 1.0)
properties = settings(deadline=None, max_examples=60)


@st.composite
def attitudes(draw: st.DrawFn) -> tuple[float, float, float, float]:
    """A unit quaternion."""
    q = np.array(draw(st.tuples(HALF, HALF, HALF, HALF)))
    if np.linalg.norm(q) < 0.1:
        q = np.array([1.0, 0.0, 0.0, 0.0])
    w, x, y, z = (q / np.linalg.norm(q)).tolist()
    return (w, x, y, z)


@st.composite
def tracks(draw: st.DrawFn) -> Track:
    """A track with rows on the grid and off it, that need not begin at 0."""
    steps = draw(st.lists(st.integers(0, 60), min_size=1, max_size=12, unique=True))
    t_ns = np.array(sorted(steps), np.int64) * 4 * MS
    points = draw(st.lists(POINT, min_size=len(steps), max_size=len(steps)))
    turns = draw(st.lists(attitudes(), min_size=len(steps), max_size=len(steps)))
    return Track(t_ns, np.array(points), np.array(turns))


def straight(
    offset_m: tuple[float, float, float] = (0.0, 0.0, 0.0), rows: int = 26, yaw_rad: float = 0.0
) -> Track:
    """One that goes east at 1 m/s, with a row every 4 ms."""
    t_ns = np.arange(rows, dtype=np.int64) * 4 * MS
    points = np.zeros((rows, 3)) + np.array(offset_m)
    points[:, 0] += t_ns * 1e-9
    q = np.tile([math.cos(yaw_rad / 2.0), 0.0, 0.0, math.sin(yaw_rad / 2.0)], (rows, 1))
    return Track(t_ns, points, q)


@properties
@given(tracks(), st.integers(2, 5))
def test_identical_runs_are_exactly_0_apart(track: Track, count: int) -> None:
    found = spread([track] * count, PERIOD)
    good = np.isfinite(found.distance_m)
    assert (found.distance_m[good] == 0.0).all()
    assert (found.angle_deg[np.isfinite(found.angle_deg)] == 0.0).all()
    assert found.position is None or (found.position.greatest, found.position.rms) == (0.0, 0.0)
    assert found.attitude is None or found.attitude.greatest == 0.0


@properties
@given(st.lists(tracks(), min_size=2, max_size=5), st.data())
def test_the_order_of_the_runs_changes_nothing(runs: list[Track], data: st.DataObject) -> None:
    other = data.draw(st.permutations(runs))
    one, two = spread(runs, PERIOD), spread(other, PERIOD)
    np.testing.assert_array_equal(one.distance_m, two.distance_m)
    np.testing.assert_array_equal(one.angle_deg, two.angle_deg)
    np.testing.assert_array_equal(one.present, two.present)
    assert one.together_s == two.together_s
    if one.position is None:
        assert two.position is None
        return
    assert two.position is not None
    assert (one.position.greatest, one.position.at_s, one.position.rms) == (
        two.position.greatest,
        two.position.at_s,
        two.position.rms,
    )


@properties
@given(tracks(), POINT)
def test_a_translated_run_is_as_far_as_it_was_moved(track: Track, by_m: npt.ArrayLike) -> None:
    moved = Track(track.t_ns, track.pos_enu_m + np.asarray(by_m), track.q_enu_flu)
    found = spread([track, moved], PERIOD)
    distance = float(np.linalg.norm(np.asarray(by_m)))
    good = found.distance_m[np.isfinite(found.distance_m)]
    np.testing.assert_allclose(good, distance, rtol=1e-9, atol=1e-9)
    if found.position is not None:
        assert found.position.greatest == pytest.approx(distance, rel=1e-9, abs=1e-9)
        assert found.position.rms == pytest.approx(distance, rel=1e-9, abs=1e-9)
        assert found.position.pair == (0, 1)
    assert found.attitude is None or found.attitude.greatest == 0.0


@properties
@given(st.lists(tracks(), min_size=2, max_size=4), tracks())
def test_one_more_run_never_makes_the_spread_smaller(runs: list[Track], more: Track) -> None:
    before, after = spread(runs, PERIOD), spread([*runs, more], PERIOD)
    known = np.isfinite(before.distance_m)
    assert (after.distance_m[: len(known)][known] >= before.distance_m[known]).all()


@properties
@given(attitudes(), attitudes(), attitudes())
def test_angles_are_a_metric_of_attitudes(
    a: tuple[float, ...], b: tuple[float, ...], c: tuple[float, ...]
) -> None:
    p, q, r = (np.array(item) for item in (a, b, c))
    assert angle_between(p, p) == 0.0
    assert angle_between(p, -p) == 0.0
    assert angle_between(p, q) == angle_between(q, p)
    assert 0.0 <= angle_between(p, q) <= math.pi
    assert angle_between(p, r) <= angle_between(p, q) + angle_between(q, r) + 1e-6
    usual = 2.0 * math.acos(min(1.0, abs(float(p @ q))))
    assert float(angle_between(p, q)) == pytest.approx(usual, abs=1e-6)


@pytest.mark.parametrize("degrees", [1e-7, 1e-3, 1.0, 90.0, 180.0])
def test_angles_are_exact_from_very_small_to_half_a_turn(degrees: float) -> None:
    found = spread([straight(), straight(yaw_rad=math.radians(degrees))], PERIOD)
    assert found.attitude is not None
    assert found.attitude.greatest == pytest.approx(degrees, rel=1e-7)


@properties
@given(st.lists(POINT, min_size=2, max_size=8), st.data())
def test_points(points: list[tuple[float, float, float]], data: st.DataObject) -> None:
    found = spread_of_points(points)
    assert found is not None
    array = np.array(points)
    np.testing.assert_allclose(found.mean_m, array.mean(axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.std_m, array.std(axis=0, ddof=1), rtol=1e-6, atol=1e-6)
    first, second = found.pair
    between = float(np.linalg.norm(array[first] - array[second]))
    assert found.max_distance_m == pytest.approx(between)
    again = spread_of_points(data.draw(st.permutations(points)))
    assert again is not None
    assert again.max_distance_m == found.max_distance_m
    np.testing.assert_allclose(again.mean_m, found.mean_m, rtol=1e-9, atol=1e-9)


@properties
@given(POINT, st.integers(2, 9))
def test_equal_points_have_exactly_their_own_mean(
    point: tuple[float, float, float], count: int
) -> None:
    found = spread_of_points([point] * count)
    assert found is not None
    assert found.mean_m == point
    assert found.std_m == (0.0, 0.0, 0.0)
    assert found.max_distance_m == 0.0


def test_one_point_has_no_spread() -> None:
    assert spread_of_points([(1.0, 2.0, 3.0)]) is None
    assert spread_of_points([]) is None


def test_the_grid_and_who_is_there() -> None:
    found = spread([straight(), straight((0.0, 0.5, 0.0), rows=11)], PERIOD)
    np.testing.assert_allclose(found.t_s, np.arange(11) * 0.01)
    assert found.present.tolist() == [2] * 5 + [1] * 6
    assert found.together_s == pytest.approx(0.04)
    np.testing.assert_allclose(found.distance_m[:5], 0.5)
    assert np.isnan(found.distance_m[5:]).all()
    # Between rows the way is a straight line.
    np.testing.assert_allclose(found.pos_enu_m[0, :, 0], found.t_s, atol=1e-12)


def test_when_and_between_whom_it_is_greatest() -> None:
    late = straight((0.0, 0.1, 0.0))
    late.pos_enu_m[15, 1] = -2.0  # 60 ms, on the grid
    found = spread([straight(), straight((0.0, 0.3, 0.0)), late], PERIOD)
    assert found.position is not None
    assert found.position.greatest == pytest.approx(2.3)
    assert found.position.at_s == pytest.approx(0.06)
    assert found.position.pair == (1, 2)
    expected = found.distance_m
    assert found.position.rms == pytest.approx(float(np.sqrt((expected**2).mean())))


def test_nothing_is_made_up_in_a_hole() -> None:
    whole = straight(rows=501)
    keep = np.r_[0:26, 400:501]
    holed = Track(whole.t_ns[keep], whole.pos_enu_m[keep], whole.q_enu_flu[keep])
    found = spread([whole, holed], PERIOD)
    assert found.present[:11].tolist() == [2] * 11
    assert (found.present[11:160] == 1).all()
    assert (found.present[160:] == 2).all()


def test_q_and_minus_q_are_interpolated_as_one_attitude() -> None:
    plain, flipped = straight(yaw_rad=0.3), straight(yaw_rad=0.3)
    flipped.q_enu_flu[::2] *= -1.0
    found = spread([plain, flipped], 6 * MS)
    assert found.attitude is not None
    assert found.attitude.greatest == pytest.approx(0.0, abs=1e-6)


def test_an_unknown_attitude_does_not_hide_the_position() -> None:
    blind = straight()
    blind.q_enu_flu[:] = np.nan
    found = spread([straight(), blind], PERIOD)
    assert found.attitude is None
    assert found.position is not None
    assert found.position.greatest == 0.0


def test_nothing_to_compare() -> None:
    empty = Track(np.empty(0, np.int64), np.empty((0, 3)), np.empty((0, 4)))
    for runs in ([], [straight()], [empty, empty], [straight(), empty]):
        found = spread(runs, PERIOD)
        assert found.position is None
        assert found.attitude is None
    with pytest.raises(ValueError, match="period_ns"):
        spread([straight()], 0)
