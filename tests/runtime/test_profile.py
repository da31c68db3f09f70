"""Moving set-points."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.runtime.profile import LineProfile, YawProfile, wrap_pi

coordinate = st.floats(-100.0, 100.0)
point = st.tuples(coordinate, coordinate, coordinate)


@settings(deadline=None)
@given(start=point, goal=point, speed=st.floats(0.05, 20.0), accel=st.floats(0.1, 10.0))
def test_a_line_begins_at_the_start_ends_at_the_goal_and_never_exceeds_its_speed(
    start: tuple[float, float, float],
    goal: tuple[float, float, float],
    speed: float,
    accel: float,
) -> None:
    line = LineProfile(start, goal, speed, accel)
    assert line.at(0.0)[0] == start
    assert line.at(line.duration_s)[0] == pytest.approx(goal, abs=1e-10)
    assert line.at(line.duration_s + 5.0) == (goal, (0.0, 0.0, 0.0))
    length = math.dist(start, goal)
    for n in range(21):
        pos, vel = line.at(line.duration_s * n / 20)
        assert math.hypot(*vel) <= speed * (1 + 1e-9)
        assert math.dist(start, pos) + math.dist(pos, goal) == pytest.approx(length, abs=1e-6)


@settings(deadline=None)
@given(start=point, goal=point, at=st.floats(0.05, 0.95))
def test_velocity_is_the_derivative_of_position(
    start: tuple[float, float, float], goal: tuple[float, float, float], at: float
) -> None:
    line = LineProfile(start, goal, 2.0, 2.0)
    h = 1e-5
    t = at * line.duration_s
    before, after = line.at(t - h)[0], line.at(t + h)[0]
    for v, a, b in zip(line.at(t)[1], before, after, strict=True):
        assert v == pytest.approx((b - a) / (2 * h), abs=1e-3)


def test_a_long_way_is_a_trapezoid() -> None:
    line = LineProfile((0.0, 0.0, 0.0), (10.0, 0.0, 0.0), 2.0, 2.0)
    # 1 s up, 1 s down, each over 1 m, and 8 m at 2 m/s between.
    assert line.duration_s == pytest.approx(6.0)
    pos, vel = line.at(1.0)
    assert pos == pytest.approx((1.0, 0.0, 0.0))
    assert vel == pytest.approx((2.0, 0.0, 0.0))
    assert line.at(3.0)[0][0] == pytest.approx(5.0)
    assert line.at(5.5)[0][0] == pytest.approx(9.75)


def test_a_short_way_is_a_triangle_and_no_way_takes_no_time() -> None:
    line = LineProfile((0.0, 0.0, 0.0), (0.0, 0.0, 0.5), 2.0, 2.0)
    assert line.duration_s == pytest.approx(1.0)
    assert line.at(0.5)[1][2] == pytest.approx(1.0)
    assert LineProfile((1.0, 2.0, 3.0), (1.0, 2.0, 3.0), 2.0, 2.0).duration_s == 0.0


@pytest.mark.parametrize(
    ("start", "goal", "halfway"),
    [(170.0, -170.0, 180.0), (-170.0, 170.0, 180.0), (0.0, 90.0, 45.0), (10.0, -20.0, -5.0)],
)
def test_a_turn_goes_the_short_way(start: float, goal: float, halfway: float) -> None:
    turn = YawProfile(math.radians(start), math.radians(goal), 0.5)
    yaw, rate = turn.at(turn.duration_s / 2)
    assert math.cos(yaw - math.radians(halfway)) == pytest.approx(1.0)
    assert abs(rate) == 0.5
    assert math.cos(turn.at(turn.duration_s)[0] - math.radians(goal)) == pytest.approx(1.0)
    assert turn.at(turn.duration_s)[1] == 0.0


@settings(deadline=None)
@given(st.floats(-1000.0, 1000.0))
def test_wrapping_keeps_the_direction(angle: float) -> None:
    wrapped = wrap_pi(angle)
    assert -math.pi < wrapped <= math.pi
    assert math.cos(wrapped - angle) == pytest.approx(1.0)
