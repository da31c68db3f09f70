"""Random numbers by index (D10)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ghost.core import RandomStream
from ghost.sensing.streams import (
    BLOCK,
    IndexedStream,
    Lane,
    LaneNoise,
    UniformLane,
    sensor_stream,
)


def stream() -> IndexedStream:
    return IndexedStream(RandomStream(1).child("/sensors/a/noise"))


def test_the_label_is_the_specifications() -> None:
    assert sensor_stream(RandomStream(1), "imu0", "noise").label == "/sensors/imu0/noise"


def test_an_index_always_gives_the_same_numbers() -> None:
    forward, jumping = stream(), stream()
    wanted: dict[int, Any] = {}
    for index in range(20):
        forward.seek(index)
        wanted[index] = (forward.normal(7), forward.uniform32(3), forward.normal32(2, 2))
    for index in (19, 3, 3, 0, 7):
        jumping.seek(index)
        for got, want in zip(
            (jumping.normal(7), jumping.uniform32(3), jumping.normal32(2, 2)),
            wanted[index],
            strict=True,
        ):
            np.testing.assert_array_equal(got, want)


def test_indices_do_not_overlap() -> None:
    one = stream()
    draws = []
    for index in (0, 1, 2**20, 2**40, 2**62):
        one.seek(index)
        draws.append(one.normal(100_000))
    joined = np.concatenate(draws)
    assert len(np.unique(joined)) == len(joined)
    assert np.max(np.abs(np.corrcoef(draws) - np.eye(5))) < 4 / np.sqrt(100_000)


def test_index_zero_is_the_start_of_the_named_stream() -> None:
    one = stream()
    one.seek(0)
    plain = RandomStream(1).child("/sensors/a/noise").normal(0.0, 1.0, size=5)
    np.testing.assert_array_equal(one.normal(5), plain)


def test_uniform_lane_by_index() -> None:
    source = RandomStream(1)
    lane = UniformLane(source.child("a"))
    values = [lane.at(k) for k in range(3 * BLOCK)]
    assert all(0.0 <= value < 1.0 for value in values)
    assert np.mean(values) == pytest.approx(0.5, abs=4 * 0.289 / np.sqrt(len(values)))
    again = UniformLane(source.child("a"))
    for k in (700, 3, 256, 255):
        assert again.at(k) == values[k]


def test_silent_lanes_draw_nothing() -> None:
    assert LaneNoise.of([Lane(), Lane()], RandomStream(1)) is None
    assert LaneNoise.of([Lane(), Lane(bias=0.1)], RandomStream(1)) is not None


@pytest.mark.parametrize(
    "lane", [Lane.inertial(0.1, 0.2, 0.3, 100.0), Lane.wandering(0.1, 0.2, 3.0, 10.0)]
)
def test_slow_errors_do_not_depend_on_which_rows_were_read(lane: Lane) -> None:
    dense, sparse = (LaneNoise([lane, lane], RandomStream(1).child("n")) for _ in range(2))
    rows = [list(dense.row(k)) for k in range(2100)]
    for k in (0, 5, 2099, 256, 255, 1300):
        assert sparse.row(k) == rows[k]


def test_a_random_walk_is_continuous_across_blocks() -> None:
    noise = LaneNoise([Lane(slow_gain=1.0)], RandomStream(1).child("n"))
    walk = np.array([noise.row(k)[0] for k in range(40 * BLOCK)])
    at_seams = np.diff(walk)[BLOCK - 1 :: BLOCK]
    assert len(at_seams) == 39
    assert np.max(np.abs(at_seams)) < 4.5
    assert np.diff(walk).std() == pytest.approx(1.0, rel=0.03)
