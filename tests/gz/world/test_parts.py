"""Stamps, due times, barriers and SDF, each by itself."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.gz.msgs import IMU, Clock
from ghost.gz.world import (
    DueSensors,
    DueTimes,
    SecondClock,
    SensorTopic,
    header_stamp_ns,
    read_pacing,
    sensor_period_ns,
)
from ghost.gz.world.stamps import ClockReader, fill_time, time_ns

MS = 1_000_000
TIMES = st.integers(0, 2**40).map(lambda ns: ns * 997)


@given(TIMES, st.lists(st.text(max_size=20), max_size=3))
@settings(deadline=None)
def test_the_stamp_is_read_from_the_bytes(stamp_ns: int, keys: list[str]) -> None:
    message = IMU(entity_name="m")
    fill_time(message.header.stamp, stamp_ns)
    for key in keys:
        message.header.data.add(key=key, value=["v"])
    message.linear_acceleration.z = 9.8
    assert time_ns(message.header.stamp) == stamp_ns
    assert header_stamp_ns(message.SerializeToString()) == stamp_ns


@given(TIMES)
@settings(deadline=None)
def test_the_clock_is_read_from_the_bytes(sim_ns: int) -> None:
    clock = Clock()
    fill_time(clock.system, 5)
    fill_time(clock.sim, sim_ns)
    assert ClockReader().sim_ns(clock.SerializeToString()) == sim_ns


@given(st.binary(max_size=60))
@settings(deadline=None)
def test_no_bytes_break_the_reading_of_a_stamp(data: bytes) -> None:
    stamp_ns = header_stamp_ns(data)
    assert stamp_ns is None or stamp_ns >= 0


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_stamp_that_is_cut_off_is_none(cut: int) -> None:
    message = IMU()
    fill_time(message.header.stamp, 12_345_678_912_345)
    data = message.SerializeToString()
    assert header_stamp_ns(data[: len(data) - cut]) is None
    assert header_stamp_ns(IMU(entity_name="no header").SerializeToString()) is None


def test_gazebo_keeps_periods_of_whole_milliseconds() -> None:
    assert sensor_period_ns(250.0) == 4 * MS
    assert sensor_period_ns(30.0) == 33 * MS
    assert sensor_period_ns(0.0) == 0


def _due(times: DueTimes, steps: range) -> list[int]:
    return [ms for ms in steps if times.due(ms * MS)]


def test_due_times_are_those_of_the_recording() -> None:
    # Stamps of the 30 Hz receiver and the 100 Hz compass in tests/data/gz_frames.jsonl.gz.
    steps = range(4, 200, 4)
    assert _due(DueTimes(33 * MS, 0, 4 * MS), steps) == [4, 36, 68, 100, 132, 168]
    assert _due(DueTimes(10 * MS, 0, 4 * MS), steps)[:9] == [4, 12, 20, 32, 40, 52, 60, 72, 80]
    assert _due(DueTimes(0, 0, 4 * MS), steps) == list(steps)


def test_a_grid_that_was_guessed_wrong_is_learnt() -> None:
    times = DueTimes(20 * MS, 0, 4 * MS)
    # The first sample says nothing: a new sensor fires at once.
    assert times.heard(104 * MS)
    assert not times.heard(112 * MS)
    assert times.due(132 * MS)
    assert not times.due(120 * MS)
    assert times.heard(132 * MS)
    times.restart()
    assert times.due(4 * MS)
    assert times.due(20 * MS)


def test_due_sensors_complete_a_step() -> None:
    barrier = DueSensors()
    every, slow = DueTimes(0, 0, 4 * MS), DueTimes(20 * MS, 0, 4 * MS)
    barrier.start(24 * MS, (every, slow, None), doubt=False)
    assert not barrier.clock(20 * MS)
    assert not barrier.sample(0, 20 * MS)
    assert not barrier.clock(24 * MS)
    assert barrier.sample(0, 24 * MS)
    assert barrier.missing == ()
    barrier.start(40 * MS, (every, slow, None), doubt=False)
    assert not barrier.clock(40 * MS)
    assert not barrier.sample(0, 40 * MS)
    assert list(barrier.missing) == [1]
    assert barrier.clock(40 * MS)
    barrier.start(28 * MS, (None, slow), doubt=False)
    assert barrier.clock(28 * MS)


def test_a_doubtful_step_takes_the_second_clock() -> None:
    barrier = DueSensors()
    every = DueTimes(0, 0, 4 * MS)
    barrier.start(8 * MS, (every,), doubt=True)
    assert not barrier.clock(8 * MS)
    assert not barrier.sample(0, 8 * MS)
    assert barrier.missing == ()
    assert barrier.clock(8 * MS)


def test_the_second_clock_counts_at_the_target_only() -> None:
    barrier = SecondClock()
    barrier.start(8 * MS, (), doubt=False)
    assert not barrier.clock(4 * MS)
    assert not barrier.clock(4 * MS)
    assert not barrier.clock(8 * MS)
    assert not barrier.sample(0, 8 * MS)
    assert barrier.clock(8 * MS)
    assert barrier.missing == ()


def test_a_sensor_topic_checks_its_times() -> None:
    def nothing(*_: object) -> None:
        return None

    with pytest.raises(ValueError, match="period_ns"):
        SensorTopic("/t", "gz.msgs.IMU", nothing, period_ns=-1)
    with pytest.raises(TypeError, match="phase_ns"):
        SensorTopic("/t", "gz.msgs.IMU", nothing, phase_ns=0.5)  # type: ignore[arg-type]  # the point
    assert SensorTopic("/t", "gz.msgs.IMU", nothing, period_ns=0).awaited
    assert not SensorTopic("/t", "gz.msgs.IMU", nothing).awaited
    assert not SensorTopic("/t", "gz.msgs.Image", nothing, period_ns=0, rendered=True).awaited


def test_pacing_is_read_from_sdf() -> None:
    sdf = """<?xml version='1.0'?><sdf version='1.11'><world name='w'>
      <physics name='other'><max_step_size>0.01</max_step_size></physics>
      <physics name='used' default='true'><max_step_size>0.001</max_step_size>
        <real_time_factor>0</real_time_factor></physics></world></sdf>"""
    pacing = read_pacing(sdf)
    assert pacing is not None
    assert (pacing.sdf_version, pacing.step_ns, pacing.limited) == ("1.11", MS, False)
    bare = read_pacing("<sdf version='1.9'><world name='w'/></sdf>")
    assert bare is not None
    assert (bare.step_ns, bare.limited) == (None, True)
    odd = read_pacing(
        "<sdf version='1.9'><world name='w'><physics><max_step_size>nan</max_step_size>"
        "<real_time_factor>fast</real_time_factor></physics></world></sdf>"
    )
    assert odd is not None
    assert odd.step_ns is None
    assert odd.limited
    assert read_pacing("<html/>") is None
    assert read_pacing("no xml") is None
