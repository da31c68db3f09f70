"""Drift and latency, to the nanosecond (D21, sensor spec §5)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.core import NoiseModel

if TYPE_CHECKING:
    from tests.sensing.conftest import Kit, Rig

MS = 1_000_000


@pytest.mark.parametrize("ppm", [0.0, 20.0, -20.0, 12.5, -0.3, 10_000.0])
def test_the_sensor_clock_drifts_by_exactly_its_ppm(rig: Rig, kit: Kit, ppm: float) -> None:
    rig.build(kit.sensor("imu", noise=NoiseModel(clock_drift_ppm=ppm)))
    samples = rig.collect("imu0", 1000 * MS)
    assert len(samples) == 100
    for sample in samples:
        exact = sample.stamp_sim_ns * (1 + Fraction(str(ppm)) / 1_000_000)
        assert exact - 1 < sample.stamp_sensor_ns <= exact


def test_drift_stays_exact_after_a_year(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu", noise=NoiseModel(clock_drift_ppm=0.1)))
    year_ns = 365 * 86_400 * 10**9
    rig.channels.sample(year_ns)
    (sample,) = rig["imu0"].poll()
    assert sample.stamp_sensor_ns == year_ns + year_ns // 10_000_000


@settings(deadline=None, max_examples=50)
@given(
    latency_ns=st.integers(min_value=0, max_value=90 * MS),
    step_ns=st.integers(min_value=MS // 2, max_value=9 * MS),
)
def test_latency_delays_publication_and_not_capture(
    kit: Kit, latency_ns: int, step_ns: int
) -> None:
    calls: list[int] = []
    rig = kit.Rig()

    def reader() -> object:
        calls.append(rig.now_ns)
        return kit.truths["imu"]()

    rig.build(kit.sensor("imu", latency_ns=latency_ns), readers={"imu0": reader})
    samples = rig.collect("imu0", 400 * MS, step_ns)
    assert samples
    assert [s.stamp_sensor_ns for s in samples] == calls[: len(samples)]
    for sample in samples:
        earliest = sample.stamp_sensor_ns + latency_ns
        assert earliest <= sample.stamp_sim_ns < earliest + step_ns
    late = [t for t in calls[len(samples) :] if t + latency_ns <= rig.now_ns]
    assert late == []


def test_capture_under_latency_shows_the_world_of_the_capture(rig: Rig, kit: Kit) -> None:
    from ghost.sensing import AltimeterTruth

    rig.build(
        kit.sensor("altimeter", latency_ns=25 * MS),
        readers={"altimeter0": lambda: AltimeterTruth(float(rig.now_ns))},
    )
    for sample in rig.collect("altimeter0", 200 * MS):
        assert sample.payload.altitude_m == sample.stamp_sensor_ns
        assert sample.stamp_sim_ns - sample.stamp_sensor_ns == 25 * MS


def test_the_wall_stamp_is_the_hosts(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu"))
    assert [s.stamp_wall_ns for s in rig.collect("imu0", 30 * MS)] == [1, 2, 3]


def test_meta_and_spec_say_what_the_vehicle_file_says(rig: Rig, kit: Kit) -> None:
    rig.build(
        kit.sensor("imu", frame_id="imu_link", calibration_id="imu_a", latency_ns=3, rate_hz=50.0)
    )
    (sample,) = rig.collect("imu0", 21 * MS)
    assert (sample.meta.frame_id, sample.meta.calibration_id) == ("imu_link", "imu_a")
    assert dict(sample.meta.extensions) == {}
    spec = rig["imu0"].spec
    assert (spec.sensor_id, spec.payload_type, spec.nominal_rate_hz) == ("imu0", "imu", 50.0)
    assert (spec.frame_id, spec.latency_ns) == ("imu_link", 3)
