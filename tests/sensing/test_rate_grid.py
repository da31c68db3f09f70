"""When a sensor fires (D6): exact, drift-free, one sample for each grid time."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from tests.sensing.conftest import Kit, Rig

MS = 1_000_000

RATES = st.one_of(
    st.sampled_from([0.1, 1.0, 3.0, 5.0, 7.0, 30.0, 33.3, 60.0, 100.0, 250.0, 1000.0]),
    st.floats(min_value=0.5, max_value=1000.0, allow_nan=False),
)


@settings(deadline=None, max_examples=60)
@given(rate_hz=RATES, step_ns=st.integers(min_value=200_000, max_value=20 * MS))
def test_each_grid_time_fires_on_the_first_step_that_reaches_it(
    kit: Kit, rate_hz: float, step_ns: int
) -> None:
    if rate_hz * step_ns > 1e9:
        rate_hz = 1e9 / step_ns * 0.999
    rig = kit.Rig().build(kit.sensor("altimeter", rate_hz=rate_hz))
    steps = 300
    samples = rig.collect("altimeter0", steps * step_ns, step_ns)
    period_ns = Fraction(1_000_000_000) / Fraction(str(rate_hz))
    assert len(samples) == steps * step_ns // period_ns
    for number, sample in enumerate(samples, start=1):
        grid_ns = number * period_ns
        assert sample.seq == number - 1
        assert grid_ns <= sample.stamp_sim_ns < grid_ns + step_ns
        assert sample.stamp_sim_ns % step_ns == 0
        assert sample.stamp_sensor_ns == sample.stamp_sim_ns


@pytest.mark.parametrize(("rate_hz", "expected"), [(30.0, 108_000), (0.1, 360), (33.3, 119_880)])
def test_an_hour_has_exactly_rate_times_time_samples(
    rig: Rig, kit: Kit, rate_hz: float, expected: int
) -> None:
    # 4 ms steps, but only those at which something is due: that is what `next_due_ns` promises.
    rig.build(kit.sensor("altimeter", rate_hz=rate_hz, queue_size=1))
    hour_ns, step_ns, count = 3600 * 10**9, 4 * MS, 0
    while True:
        due = -(-rig.channels.next_due_ns // step_ns) * step_ns
        if due > hour_ns:
            break
        count += rig.channels.sample(due).get("altimeter0", 0)
    assert count == expected
    (last,) = rig["altimeter0"].poll()
    assert last.seq == expected - 1
    assert last.stamp_sim_ns == hour_ns


def test_nothing_fires_at_time_zero_and_before_the_first_period(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("altimeter", rate_hz=10.0))
    assert rig.channels.sample(0) == {}
    rig.run(99 * MS)
    assert rig["altimeter0"].poll() == []
    assert rig.step() == {"altimeter0": 1}


def test_a_step_over_several_grid_times_keeps_the_last_and_leaves_a_gap(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("altimeter", rate_hz=1000.0))
    rig.step(3 * MS)
    rig.step(5 * MS)
    assert [s.seq for s in rig["altimeter0"].poll()] == [2, 7]


def test_sensors_keep_their_own_rates(rig: Rig, kit: Kit) -> None:
    rig.build(
        kit.sensor("imu", rate_hz=250.0),
        kit.sensor("barometer", rate_hz=50.0),
        kit.sensor("gps", rate_hz=5.0),
    )
    totals = {"imu0": 0, "barometer0": 0, "gps0": 0}
    for _ in range(2000):
        for sensor_id, count in rig.step().items():
            totals[sensor_id] += count
    assert totals == {"imu0": 500, "barometer0": 100, "gps0": 10}
