"""Ground truth and the noiseless IMU tell the same story."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ghost.config import load_vehicle
from ghost.core import InitialState, ScenarioSpec, SensorConfig
from ghost.hal import SimulationBackend, VelocityCommand
from ghost.hal.frames import q_from_rotvec, q_multiply, q_rotate

STEP_S = 1e-3


def test_integrated_imu_tracks_truth(backend: SimulationBackend) -> None:
    """Two seconds of a lively flight, strapdown: within a millimetre and a hundredth of a degree.

    The IMU samples at the physics rate, so each sample is the mean specific force of its step.
    """
    imu = SensorConfig(id="imu0", type="imu", rate_hz=1000.0)
    scenario = ScenarioSpec(
        name="strapdown",
        vehicle=replace(load_vehicle("x500"), sensors=(imu,)),
        duration_ns=10**10,
        step_ns=1_000_000,
        initial=InitialState(pos_enu_m=(0.0, 0.0, 10.0), rpy_deg=(5.0, -3.0, 40.0)),
    )
    backend.reset(scenario, 0)
    start = backend.ground_truth()
    assert start is not None
    px, py, pz = start.pos_enu_m.tolist()
    vx, vy, vz = start.vel_enu_mps.tolist()
    w, x, y, z = start.q_enu_flu.tolist()
    attitude = (w, x, y, z)
    fastest = 0.0
    for k in range(2000):
        t = k * STEP_S
        command = VelocityCommand(
            np.array([3.0 * math.sin(4 * t), 2.0 * math.cos(3 * t), 0.5]), 1.0
        )
        backend.actuators().send(command, backend.clock.now_ns())
        backend.step(1_000_000)
        (sample,) = backend.sensors()["imu0"].poll()
        p, q, r = (rate * STEP_S for rate in sample.payload.gyro_rps.tolist())
        attitude = q_multiply(attitude, q_from_rotvec((p, q, r)))
        fx, fy, fz = sample.payload.accel_mps2.tolist()
        ax, ay, az = q_rotate(attitude, (fx, fy, fz))
        vx, vy, vz = vx + ax * STEP_S, vy + ay * STEP_S, vz + (az - 9.8) * STEP_S
        px, py, pz = px + vx * STEP_S, py + vy * STEP_S, pz + vz * STEP_S
        fastest = max(fastest, math.hypot(p, q, r) / STEP_S)
    truth = backend.ground_truth()
    assert truth is not None
    assert fastest > 1.0
    assert math.dist((px, py, pz), truth.pos_enu_m.tolist()) < 1e-3
    assert [vx, vy, vz] == pytest.approx(truth.vel_enu_mps.tolist(), abs=1e-3)
    dot = abs(sum(a * b for a, b in zip(attitude, truth.q_enu_flu.tolist(), strict=True)))
    assert math.degrees(2.0 * math.acos(min(1.0, dot))) < 0.01
