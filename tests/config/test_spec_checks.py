"""Range checks of the dataclasses themselves, for those who build them in Python."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ghost.config import load_scenario, load_vehicle
from ghost.core import (
    BoxObstacle,
    CameraSpec,
    FaultSpec,
    FlightPlan,
    Hold,
    ImageNoise,
    LidarSpec,
    NoiseModel,
    OriginSpec,
    RangeNoise,
    RotorSpec,
    SensorConfig,
    TriadNoise,
)


@pytest.mark.parametrize(
    ("cls", "values", "expected"),
    [
        (TriadNoise, {"white_density": (0.0, -1.0, 0.0)}, "white_density must be at least 0"),
        (TriadNoise, {"bias": (0.0, float("nan"), 0.0)}, "bias must be finite"),
        (RangeNoise, {"dropout_ratio": 1.5}, "dropout_ratio must be at most 1"),
        (ImageNoise, {"dropout_ratio": -0.5}, "dropout_ratio must be at least 0"),
        (NoiseModel, {"clock_drift_ppm": -10001.0}, "clock_drift_ppm must be at least -10000"),
        (OriginSpec, {"lat_deg": 91.0}, "lat_deg must be at most 90"),
        (
            BoxObstacle,
            {"pos_m": (0.0, 0.0, 0.0), "size_m": (1.0, 1.0, 1.0), "color_rgb": (0.0, 0.0, 2.0)},
            "color_rgb must be at most 1",
        ),
        (FaultSpec, {"at_ns": 0, "sensor": "a", "kind": "boom"}, "kind must be one of offline,"),
        (Hold, {"for_ns": 10**400}, "for_ns must be at most 9223372036854775807 ns"),
        (FlightPlan, {"level": "MOTOR"}, "level must be one of POSITION, VELOCITY, got 'MOTOR'"),
        (RotorSpec, {"pos_m": (0.0, 0.0, 0.0), "direction": "left"}, "direction must be one of"),
        (CameraSpec, {"width": 10**400, "height": 1, "hfov_deg": 60.0}, "width must be finite"),
        (CameraSpec, {"width": 5000, "height": 1, "hfov_deg": 60.0}, "width must be at most 4096"),
        (CameraSpec, {"width": 4, "height": 4, "hfov_deg": 170.0}, "hfov_deg must be below 170"),
        (LidarSpec, {"columns": 2000, "rows": 2000}, "columns 2000 times rows 2000 is more than"),
        (LidarSpec, {"columns": 1, "rows": 1, "min_range_m": 50.0}, "min_range_m 50 must be less"),
        (SensorConfig, {"id": "imu0", "type": "gyro", "rate_hz": 1.0}, "type must be one of imu,"),
        (SensorConfig, {"id": "7", "type": "imu", "rate_hz": 1.0}, "id must be of a-z, 0-9 and _"),
        (SensorConfig, {"id": "a", "type": "imu", "rate_hz": 0.0}, "rate_hz must be at least"),
    ],
)
def test_out_of_range(cls: Any, values: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match="^" + expected.replace("(", r"\(")):
        cls(**values)


@pytest.mark.parametrize(
    ("cls", "values"),
    [
        (Hold, {"for_ns": 1.5}),
        (Hold, {"for_ns": True}),
        (SensorConfig, {"id": "a", "type": "imu", "rate_hz": 1.0, "latency_ns": 1e6}),
        (CameraSpec, {"width": 4, "height": 4, "hfov_deg": 60.0, "exposure_ns": 1e6}),
    ],
)
def test_nanoseconds_are_whole(cls: Any, values: dict[str, Any]) -> None:
    """D1, also without a file."""
    with pytest.raises(TypeError, match=r"_ns must be an integer of nanoseconds"):
        cls(**values)


def test_seed_is_whole() -> None:
    with pytest.raises(TypeError, match=r"seed must be a whole number, got 1\.5"):
        dataclasses.replace(load_scenario("hover"), seed=1.5)  # type: ignore[arg-type]  # on purpose


def test_conflicts_come_together() -> None:
    spec = load_scenario("sensor_faults")
    with pytest.raises(ValueError, match=r"faults\.0\.sensor 'gps0' is not among") as caught:
        dataclasses.replace(spec, vehicle=load_vehicle("x500_imu_1khz"))
    lines = str(caught.value).split("\n")
    assert lines[0].startswith("vehicle.sensors.imu0.rate_hz 1000 is more than a step_ns")
    assert len(lines) == 1 + sum(fault.sensor != "imu0" for fault in spec.faults)


def test_a_slow_clock_without_a_plan_needs_no_command_rate() -> None:
    spec = load_scenario("hover", ["plan.items=[]", "vehicle.sensors=[]", "step_ns=100_000_000"])
    assert spec.plan.command_rate_hz == 50.0


def test_derived_values() -> None:
    vehicle = load_vehicle("x500")
    assert [rotor.sign for rotor in vehicle.rotors] == [1, 1, -1, -1]
    assert vehicle.mass_kg == pytest.approx(2.0 + 4 * 0.016076923076923075)
    assert vehicle.sensors[0].frame == "imu0"
    assert dataclasses.replace(vehicle.sensors[0], frame_id="imu_link").frame == "imu_link"
