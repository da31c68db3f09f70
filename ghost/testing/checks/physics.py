"""Checks of what noiseless sensors say about the world: gravity, fall, height, heading, place."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np

from ghost.core import ScenarioSpec
from ghost.hal import MotorCommand, SensorSample
from ghost.testing.bench import Bench
from ghost.testing.contract import Check, Subject, check, require
from ghost.testing.flight import hover, manoeuvre
from ghost.testing.geometry import earth_radii_m, rotation_matrix
from ghost.testing.scenarios import airborne, noiseless, on_ground

__all__ = ["CHECKS"]


def _clean(scenario: ScenarioSpec) -> ScenarioSpec:
    return noiseless(replace(scenario, faults=()))


@check(
    contract="C-HAL-67",
    spec="sensor spec §3.1, D12",
    asks="at rest and level a noiseless IMU reads +g on body z and no rotation",
    needs=("imu",),
)
def gravity_at_rest_is_up(subject: Subject) -> None:
    """Stand on the ground for 1.5 s, and average the IMU over the last half second."""
    scenario = _clean(on_ground(subject.scenario))
    gravity = scenario.world.gravity_mps2
    with subject.started(scenario) as bench:
        bench.run(1.0)
        samples = bench.run(0.5)[bench.provider("imu").spec.sensor_id]
    accel = [fmean(float(s.payload.accel_mps2[axis]) for s in samples) for axis in range(3)]
    spin = max(float(np.abs(s.payload.gyro_rps).max()) for s in samples)
    did = f"stood on the ground where gravity is {gravity:g} m/s², and averaged 0.5 s of the IMU"
    require(
        abs(accel[2] - gravity) < 0.05 and math.hypot(accel[0], accel[1]) < 0.05,
        did,
        f"the accelerometer reads {[round(a, 3) for a in accel]} m/s²",
        "report specific force in FLU: what holds the vehicle up, +g on z, not the pull of gravity",
    )
    require(
        spin < 0.02,
        did,
        f"the gyro reads up to {spin:.3f} rad/s",
        "report the body rate, zero at rest",
    )


@check(
    contract="C-HAL-67",
    spec="sensor spec §3.1, D12",
    asks="in free fall a noiseless accelerometer reads nothing",
    needs=("imu", "MOTOR"),
)
def free_fall_reads_nothing(subject: Subject) -> None:
    """Stop the motors 30 m up, and look at the IMU of the first 0.2 s."""
    scenario = _clean(airborne(subject.scenario, 30.0))
    with subject.started(scenario) as bench:
        off = MotorCommand(np.zeros(bench.backend.actuators().spec.motor_count))
        gathered = bench.run(0.2, lambda _t: off)
        samples = gathered[bench.provider("imu").spec.sensor_id]
    worst = max(float(np.linalg.norm(s.payload.accel_mps2)) for s in samples)
    require(
        worst < 0.2,
        "let the vehicle fall with its motors off for 0.2 s",
        f"the accelerometer reads up to {worst:.2f} m/s²",
        "report specific force: acceleration minus gravity, in body axes",
    )


@check(
    contract="C-HAL-67",
    spec="sensor spec §3.1, D12",
    asks="the IMU reads the specific force and the body rate of the true motion",
    needs=("imu", "ground_truth", "command"),
)
def imu_agrees_with_truth(subject: Subject) -> None:
    """Compare each IMU sample of one second of flight with the truth of its time."""
    scenario = _clean(airborne(subject.scenario, 20.0))
    gravity = np.array([0.0, 0.0, -scenario.world.gravity_mps2])
    with subject.started(scenario) as bench:
        command = manoeuvre(bench)
        bench.run(0.5, command)
        provider = bench.provider("imu")
        provider.poll()
        force_off, rate_off = [], []
        for count in range(bench.steps_in(1.0)):
            bench.send(command(0.5 + count * scenario.step_ns * 1e-9))
            bench.step()
            truth = bench.truth()
            for sample in provider.poll():
                force = rotation_matrix(truth.q_enu_flu).T @ (truth.acc_enu_mps2 - gravity)
                force_off.append(float(np.abs(sample.payload.accel_mps2 - force).max()))
                rate_off.append(float(np.abs(sample.payload.gyro_rps - truth.rate_flu_rps).max()))
    did = "compared a noiseless IMU with R⁻¹(a − g) and the body rate of the truth for 1 s"
    fix = "measure acceleration and rate of the sample's own time, in body axes"
    require(
        fmean(force_off) < 0.1 and max(force_off) < 1.0,
        did,
        f"the accelerometer is off by {fmean(force_off):.3f} m/s² on average, "
        f"{max(force_off):.3f} at most",
        fix,
    )
    require(
        fmean(rate_off) < 0.02 and max(rate_off) < 0.2,
        did,
        f"the gyro is off by {fmean(rate_off):.4f} rad/s on average, {max(rate_off):.4f} at most",
        fix,
    )


def _flown(subject: Subject, payload_type: str) -> list[tuple[SensorSample[Any], Any]]:
    """Samples of a noiseless sensor in flight, each with the truth of its time."""
    scenario = _clean(airborne(subject.scenario, 10.0))
    pairs: list[tuple[SensorSample[Any], Any]] = []
    with subject.started(scenario) as bench:
        command = manoeuvre(bench)
        provider = bench.provider(payload_type)
        for _ in range(bench.steps_in(2.0)):
            bench.send(command(bench.now_ns * 1e-9))
            bench.step()
            truth = bench.truth()
            pairs += [(sample, truth) for sample in provider.poll()]
    require(
        bool(pairs),
        f"flew 2 s with a sensor of type {payload_type}",
        "it published nothing",
        "publish at the nominal rate",
    )
    return pairs


@check(
    contract="C-HAL-18",
    spec="sensor spec §3.4, D12",
    asks="a noiseless fix is the true position, in ENU metres and on the WGS-84 ellipsoid",
    needs=("gps", "ground_truth", "command"),
)
def gps_agrees_with_truth(subject: Subject) -> None:
    """Compare local and geodetic position with the truth in flight."""
    origin = subject.scenario.world.origin
    meridian, across = earth_radii_m(origin.lat_deg)
    for sample, truth in _flown(subject, "gps"):
        fix = sample.payload
        did = f"compared the fix of {sample.stamp_sim_ns} ns with the truth at {truth.pos_enu_m}"
        off = float(np.abs(fix.enu_local_m - truth.pos_enu_m).max())
        require(
            off < 0.05,
            did,
            f"enu_local_m is {fix.enu_local_m}",
            "report the position of the sensor at its stamp, in world ENU",
        )
        north = math.radians(fix.lat_deg - origin.lat_deg) * (meridian + origin.alt_m)
        east = (
            math.radians(fix.lon_deg - origin.lon_deg)
            * (across + origin.alt_m)
            * math.cos(math.radians(origin.lat_deg))
        )
        geodetic = np.array([east, north, fix.alt_m - origin.alt_m])
        require(
            float(np.abs(geodetic - truth.pos_enu_m).max()) < 0.05,
            did,
            f"latitude, longitude and altitude say {geodetic} from the origin",
            "convert ENU about scenario.world.origin to WGS-84; degrees, not radians",
        )


@check(
    contract="C-HAL-18",
    spec="sensor spec §3.5",
    asks="a noiseless altimeter tracks the true height above what its reference says",
    needs=("altimeter", "ground_truth", "command"),
)
def altimeter_tracks_height(subject: Subject) -> None:
    """Compare the altimeter with the truth in flight over flat ground."""
    for sample, truth in _flown(subject, "altimeter"):
        above = {"AMSL": subject.scenario.world.origin.alt_m}.get(sample.payload.reference, 0.0)
        wanted = float(truth.pos_enu_m[2]) + above
        require(
            abs(sample.payload.altitude_m - wanted) < 0.1,
            f"compared an altimeter of reference {sample.payload.reference} with the truth",
            f"it reads {sample.payload.altitude_m:.3f} m, {wanted:.3f} is due",
            "report metres above the reference, positive up",
        )


@check(
    contract="C-HAL-18",
    spec="D12",
    asks="the magnetometer reads the world's field turned into body axes",
    needs=("magnetometer", "ground_truth"),
)
def magnetometer_turns_with_yaw(subject: Subject) -> None:
    """Start with four headings, and compare the field with the world's in body axes."""
    field = np.array(subject.scenario.world.magnetic_field_enu_t)
    tolerance = 0.02 * float(np.linalg.norm(field))
    for yaw_deg in (0.0, 90.0, -90.0, 135.0):
        scenario = _clean(airborne(subject.scenario, 10.0, yaw_deg))
        with subject.started(scenario) as bench:
            command = hover(bench) if bench.backend.capabilities.actuator_levels else None
            provider = bench.provider("magnetometer")
            sample = None
            for _ in range(bench.steps_in(1.0)):
                if command is not None:
                    bench.send(command(0.0))
                bench.step()
                found = provider.poll()
                if found:
                    sample = found[-1]
                    break
            require(
                sample is not None,
                "flew 1 s with a magnetometer",
                "it published nothing",
                "publish",
            )
            assert sample is not None
            wanted = rotation_matrix(bench.truth().q_enu_flu).T @ field
            require(
                float(np.abs(sample.payload.field_t - wanted).max()) < tolerance,
                f"started with a yaw of {yaw_deg:g} degrees in the field {field} T",
                f"it reads {sample.payload.field_t} T, {wanted} is due",
                "turn the world's ENU field into FLU body axes with the inverse of the attitude",
            )


@check(
    contract="C-HAL-18",
    spec="D12, D13",
    asks="static pressure falls with height, by about 12 Pa a metre near the ground",
    needs=("barometer",),
)
def barometer_falls_with_height(subject: Subject) -> None:
    """Compare the pressure 2 m and 22 m up."""
    readings = []
    for height_m in (2.0, 22.0):
        with subject.started(_clean(airborne(subject.scenario, height_m))) as bench:
            readings.append(_first_pressure(bench))
    drop = (readings[0] - readings[1]) / 20.0
    require(
        8.0 < drop < 14.0 and 50_000.0 < readings[0] < 110_000.0,
        "read the barometer 2 m and 22 m above the origin",
        f"{readings[0]:.1f} Pa and {readings[1]:.1f} Pa, that is {drop:.2f} Pa a metre",
        "report pascal (not hectopascal) of a standard atmosphere at the height of the sensor",
    )


def _first_pressure(bench: Bench) -> float:
    command = hover(bench) if bench.backend.capabilities.actuator_levels else None
    sid = bench.provider("barometer").spec.sensor_id
    samples = bench.run(0.2, command)[sid]
    require(bool(samples), "flew 0.2 s with a barometer", "it published nothing", "publish")
    return float(samples[0].payload.pressure_pa)


CHECKS: tuple[Check, ...] = (
    gravity_at_rest_is_up,
    free_fall_reads_nothing,
    imu_agrees_with_truth,
    gps_agrees_with_truth,
    altimeter_tracks_height,
    magnetometer_turns_with_yaw,
    barometer_falls_with_height,
)
