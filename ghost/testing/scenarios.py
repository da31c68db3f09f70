"""The scenario the checks run in, built in Python, and the variants they need of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ghost.core import (
    AltimeterNoise,
    BarometerNoise,
    BodySpec,
    FaultSpec,
    GnssNoise,
    ImuNoise,
    InitialState,
    MagnetometerNoise,
    MotorSpec,
    MountSpec,
    NoiseModel,
    RotorSpec,
    ScenarioSpec,
    SensorConfig,
    TriadNoise,
    VehicleSpec,
)

__all__ = [
    "airborne",
    "default_scenario",
    "noiseless",
    "on_ground",
    "sensor_ids",
    "with_faults",
    "with_sensors",
]


def default_scenario() -> ScenarioSpec:
    """A quadrotor of the x500 class, 5 m in the air, with the five sensors a pilot needs.

    Masses, rotors and motor constants are those of PX4's x500 model for Gazebo; the noise is of the
    size of its sensors. Step 4 ms, physics 1 ms.
    """
    rotor = (1.65e-5, 2.64e-4, 2.64e-4)
    vehicle = VehicleSpec(
        name="conformance_quad",
        description="Quadrotor of the x500 class for the conformance suite",
        body=BodySpec(
            mass_kg=2.0,
            inertia_kgm2=(0.02166667, 0.02166667, 0.04),
            size_m=(0.36, 0.36, 0.22),
        ),
        rotors=(
            RotorSpec((0.174, -0.174, 0.06), "ccw", 0.016076923076923075, rotor),
            RotorSpec((-0.174, 0.174, 0.06), "ccw", 0.016076923076923075, rotor),
            RotorSpec((0.174, 0.174, 0.06), "cw", 0.016076923076923075, rotor),
            RotorSpec((-0.174, -0.174, 0.06), "cw", 0.016076923076923075, rotor),
        ),
        motor=MotorSpec(
            thrust_coeff=8.54858e-06,
            moment_ratio=0.016,
            max_rad_s=1000.0,
            time_constant_up_s=0.0125,
            time_constant_down_s=0.025,
            drag_coeff=8.06428e-05,
            rolling_moment_coeff=1e-06,
        ),
        sensors=(
            SensorConfig("imu0", "imu", 250.0, noise=NoiseModel(imu=_imu_noise())),
            SensorConfig(
                "baro0",
                "barometer",
                50.0,
                noise=NoiseModel(barometer=BarometerNoise(white_sigma_pa=3.0)),
            ),
            SensorConfig(
                "mag0",
                "magnetometer",
                100.0,
                noise=NoiseModel(magnetometer=MagnetometerNoise((1e-7, 1e-7, 1e-7))),
            ),
            SensorConfig(
                "gps0", "gps", 5.0, noise=NoiseModel(gnss=GnssNoise(0.5, 0.8, wander_sigma_m=0.5))
            ),
            SensorConfig(
                "alt0",
                "altimeter",
                50.0,
                noise=NoiseModel(altimeter=AltimeterNoise(white_sigma_m=0.05)),
            ),
        ),
    )
    return ScenarioSpec(
        name="conformance",
        description="The conformance suite's own scenario",
        vehicle=vehicle,
        duration_ns=60_000_000_000,
        step_ns=4_000_000,
        physics_step_ns=1_000_000,
        initial=InitialState(pos_enu_m=(0.0, 0.0, 5.0)),
    )


def _imu_noise() -> ImuNoise:
    return ImuNoise(
        accel=TriadNoise((4.0e-4,) * 3, (0.02, -0.01, 0.03), (1e-4,) * 3),
        gyro=TriadNoise((5.5e-5,) * 3, (0.001, 0.002, -0.001), (1e-6,) * 3),
    )


def airborne(scenario: ScenarioSpec, height_m: float = 5.0, yaw_deg: float = 0.0) -> ScenarioSpec:
    """Start at rest, level, `height_m` above the origin; no wind and no obstacles."""
    start = InitialState(pos_enu_m=(0.0, 0.0, height_m), rpy_deg=(0.0, 0.0, yaw_deg))
    calm = replace(scenario.world, wind_enu_mps=(0.0, 0.0, 0.0), obstacles=())
    return replace(scenario, initial=start, world=calm)


def on_ground(scenario: ScenarioSpec) -> ScenarioSpec:
    """Start standing on the ground at the origin; no wind and no obstacles."""
    return replace(airborne(scenario), initial=InitialState())


def noiseless(scenario: ScenarioSpec) -> ScenarioSpec:
    """Perfect sensors at the body's origin with axes along the body's, without latency."""
    return with_sensors(scenario, None, noise=None, latency_ns=0, mount=MountSpec())


def with_sensors(
    scenario: ScenarioSpec, ids: Iterable[str] | None = None, **changes: Any
) -> ScenarioSpec:
    """Change fields of the sensors named by `ids` (None: of all)."""
    chosen = None if ids is None else set(ids)
    sensors = tuple(
        replace(sensor, **changes) if chosen is None or sensor.id in chosen else sensor
        for sensor in scenario.vehicle.sensors
    )
    return replace(scenario, vehicle=replace(scenario.vehicle, sensors=sensors))


def with_faults(scenario: ScenarioSpec, *faults: FaultSpec) -> ScenarioSpec:
    """Have exactly these faults."""
    return replace(scenario, faults=faults)


def sensor_ids(scenario: ScenarioSpec, payload_type: str | None = None) -> list[str]:
    """Ids of the scenario's sensors, of one type or of all, sorted."""
    return sorted(
        sensor.id for sensor in scenario.vehicle.sensors if payload_type in (None, sensor.type)
    )
