"""Checks of ground truth: that it is one consistent motion, and that the IMU measures it (D12)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ghost.core import ScenarioSpec
from ghost.hal import ActuatorCommand, GroundTruth, IMUPayload, SensorSample
from ghost.testing.bench import Bench
from ghost.testing.contract import Check, Subject, check, require
from ghost.testing.flight import manoeuvre
from ghost.testing.geometry import (
    angle_between,
    quaternion_from_rotation_vector,
    quaternion_product,
    rotation_matrix,
)
from ghost.testing.scenarios import airborne, noiseless

__all__ = ["CHECKS"]

Array = npt.NDArray[np.float64]


def _flight(subject: Subject) -> ScenarioSpec:
    return noiseless(replace(airborne(subject.scenario, 20.0), faults=()))


@check(
    contract="C-HAL-5",
    spec="HAL spec §6",
    asks="ground_truth() returns a GroundTruth when capabilities.has_ground_truth is true and None "
    "when it is false",
)
def truth_is_as_declared(subject: Subject) -> None:
    """Compare the capability with what ground_truth() returns, before and after a step."""
    with subject.started() as bench:
        declared = bench.backend.capabilities.has_ground_truth
        for moment in ("after the reset", "after a step"):
            truth = bench.backend.ground_truth()
            require(
                isinstance(truth, GroundTruth) if declared else truth is None,
                f"called ground_truth() {moment} with has_ground_truth={declared}",
                f"it returned {type(truth).__name__}",
                "declare what is offered",
            )
            bench.step()


@check(
    contract="C-HAL-95",
    spec="HAL spec §3.2",
    asks="ground_truth().stamp_sim_ns equals clock.now_ns()",
    needs=("ground_truth",),
)
def truth_is_of_now(subject: Subject) -> None:
    """Compare the stamp with the clock after the reset and after each of ten steps."""
    with subject.started() as bench:
        for _ in range(11):
            stamp = bench.truth().stamp_sim_ns
            require(
                type(stamp) is int and stamp == bench.now_ns,
                f"called ground_truth() at {bench.now_ns} ns",
                f"it is stamped {stamp!r}",
                "stamp it with clock.now_ns()",
            )
            bench.step()


@check(
    contract="C-HAL-71",
    spec="HAL spec §2",
    asks="reset() puts the vehicle where the scenario says",
    needs=("ground_truth",),
)
def truth_starts_where_the_scenario_says(subject: Subject) -> None:
    """Start 7 m up with a heading of 40 degrees, and look."""
    scenario = airborne(subject.scenario, 7.0, yaw_deg=40.0)
    half = np.radians(20.0)
    with subject.started(scenario) as bench:
        truth = bench.truth()
        turned = angle_between(truth.q_enu_flu, (np.cos(half), 0.0, 0.0, np.sin(half)))
        require(
            bool(np.allclose(truth.pos_enu_m, (0.0, 0.0, 7.0), atol=1e-3)) and turned < 1e-3,
            "reset with initial.pos_enu_m (0, 0, 7) and a yaw of 40 degrees",
            f"the truth is at {truth.pos_enu_m} with attitude {truth.q_enu_flu}",
            "start from scenario.initial; yaw is counter-clockwise from east",
        )


@check(
    contract="C-HAL-96",
    spec="D12",
    asks="the quaternion has unit length and all of the truth is finite",
    needs=("ground_truth",),
)
def quaternion_is_unit(subject: Subject) -> None:
    """Look at the attitude through two seconds of flight."""
    with subject.started(_flight(subject)) as bench:
        for truth in _truths(bench, 2.0):
            norm = float(np.linalg.norm(truth.q_enu_flu))
            finite = all(
                bool(np.isfinite(getattr(truth, name)).all())
                for name in ("pos_enu_m", "vel_enu_mps", "rate_flu_rps", "acc_enu_mps2")
            )
            require(
                abs(norm - 1.0) < 1e-6 and finite,
                f"looked at the truth at {truth.stamp_sim_ns} ns",
                f"the quaternion has the norm {norm!r}; all finite: {finite}",
                "normalise the attitude after each step",
            )


def _command(bench: Bench) -> Callable[[float], ActuatorCommand] | None:
    return manoeuvre(bench) if bench.backend.capabilities.actuator_levels else None


def _truths(bench: Bench, seconds: float) -> list[GroundTruth]:
    truths = [bench.truth()]
    bench.run(seconds, _command(bench), lambda _report: truths.append(bench.truth()))
    return truths


@check(
    contract="C-HAL-96",
    spec="D12",
    asks="position follows velocity, velocity follows acceleration, attitude follows the body rate",
    needs=("ground_truth",),
)
def truth_is_one_motion(subject: Subject) -> None:
    """Integrate the truth's own derivatives over 1.5 s of manoeuvring."""
    with subject.started(_flight(subject)) as bench:
        bench.run(0.5, _command(bench))
        truths = _truths(bench, 1.5)
    start = truths[0]
    pos, vel, q = start.pos_enu_m.copy(), start.vel_enu_mps.copy(), start.q_enu_flu.copy()
    for earlier, later in pairwise(truths):
        dt = (later.stamp_sim_ns - earlier.stamp_sim_ns) * 1e-9
        pos += 0.5 * (earlier.vel_enu_mps + later.vel_enu_mps) * dt
        vel += 0.5 * (earlier.acc_enu_mps2 + later.acc_enu_mps2) * dt
        rate = 0.5 * (earlier.rate_flu_rps + later.rate_flu_rps)
        q = quaternion_product(q, quaternion_from_rotation_vector(rate * dt))
    end = truths[-1]
    did = "integrated the truth's velocity, acceleration and body rate over 1.5 s"
    fix = "take all fields from one state of one time, world vectors in ENU and rates in FLU"
    off = float(np.linalg.norm(pos - end.pos_enu_m))
    require(off < 0.02, did, f"the position is off by {off:.3f} m", fix)
    off = float(np.linalg.norm(vel - end.vel_enu_mps))
    require(off < 0.1, did, f"the velocity is off by {off:.3f} m/s", fix)
    off = float(np.degrees(angle_between(q / np.linalg.norm(q), end.q_enu_flu)))
    require(off < 1.0, did, f"the attitude is off by {off:.2f} degrees", fix)


@check(
    contract="C-HAL-67",
    spec="sensor spec §3.1, D12",
    asks="integrating the noiseless IMU tracks ground truth",
    needs=("imu", "ground_truth"),
)
def imu_integrates_to_truth(subject: Subject) -> None:
    """Integrate a noiseless IMU over 2 s of manoeuvring flight; compare the end with the truth.

    Bounds: 0.10 m, 0.10 m/s and 1 degree, which leave room for the steps between samples and for
    an impulse at start, not for a wrong sign, axis, unit or frame.
    """
    scenario = _flight(subject)
    gravity = np.array([0.0, 0.0, -scenario.world.gravity_mps2])
    with subject.started(scenario) as bench:
        command = _command(bench)
        sid = bench.provider("imu").spec.sensor_id
        bench.run(0.5, command)  # rotors spin up
        truth_at: dict[int, GroundTruth] = {}

        def remember(_report: object) -> None:
            truth_at[bench.now_ns] = bench.truth()

        samples = bench.run(2.0, command, remember)[sid]
    start, end = truth_at[samples[0].stamp_sim_ns], truth_at[samples[-1].stamp_sim_ns]
    pos, vel, q = _integrate(samples, start, gravity)
    did = f"integrated {len(samples)} samples of a noiseless IMU from the truth at their start"
    off = float(np.linalg.norm(vel - end.vel_enu_mps))
    fix = (
        "accel is specific force R⁻¹(a − g) in FLU, so +g on z at rest; gyro is the body rate in "
        "FLU; both of the time of the stamp"
    )
    require(off < 0.10, did, f"the velocity is off by {off:.3f} m/s at the end", fix)
    off = float(np.linalg.norm(pos - end.pos_enu_m))
    require(off < 0.10, did, f"the position is off by {off:.3f} m at the end", fix)
    off = float(np.degrees(angle_between(q, end.q_enu_flu)))
    require(off < 1.0, did, f"the attitude is off by {off:.2f} degrees at the end", fix)


def _integrate(
    samples: list[SensorSample[IMUPayload]], start: GroundTruth, gravity: Array
) -> tuple[Array, Array, Array]:
    """Strapdown integration by the trapezoid rule, from `start` at the first sample's time."""
    pos, vel, q = start.pos_enu_m.copy(), start.vel_enu_mps.copy(), start.q_enu_flu.copy()
    force = rotation_matrix(q) @ samples[0].payload.accel_mps2
    for earlier, later in pairwise(samples):
        dt = (later.stamp_sim_ns - earlier.stamp_sim_ns) * 1e-9
        rate = 0.5 * (earlier.payload.gyro_rps + later.payload.gyro_rps)
        q = quaternion_product(q, quaternion_from_rotation_vector(rate * dt))
        q /= np.linalg.norm(q)
        next_force = rotation_matrix(q) @ later.payload.accel_mps2
        acc = 0.5 * (force + next_force) + gravity
        pos += vel * dt + 0.5 * acc * dt * dt
        vel += acc * dt
        force = next_force
    return pos, vel, q


CHECKS: tuple[Check, ...] = (
    truth_is_as_declared,
    truth_is_of_now,
    truth_starts_where_the_scenario_says,
    quaternion_is_unit,
    truth_is_one_motion,
    imu_integrates_to_truth,
)
