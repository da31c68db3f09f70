"""Free fall, hover and a roll step against closed forms, within 1 %.

In vacuum a quadrotor whose rotors follow ω' = (ω_ref − ω)/τ has thrusts that are exact sums of
exponentials, so roll rate and roll angle can be written down. `lump` gives mass and inertia.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ghost.core import InitialState, ScenarioSpec
from ghost.hal import AttitudeCommand, GroundTruth, MotorCommand, SimulationBackend
from ghost.physics import lump

GRAVITY = 9.8


def truth_of(backend: SimulationBackend) -> GroundTruth:
    truth = backend.ground_truth()
    assert truth is not None
    return truth


def roll_of(truth: GroundTruth) -> float:
    w, x, y, z = truth.q_enu_flu.tolist()
    return math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))


def send_motors(backend: SimulationBackend, speeds_rad_s: list[float], top_rad_s: float) -> None:
    thrust = np.array([(speed / top_rad_s) ** 2 for speed in speeds_rad_s])
    assert backend.actuators().send(MotorCommand(thrust), backend.clock.now_ns()).accepted


@pytest.mark.parametrize("seconds", [0.1, 1.0, 5.0])
def test_free_fall(backend: SimulationBackend, vacuum: ScenarioSpec, seconds: float) -> None:
    backend.reset(vacuum, 0)
    backend.step(round(seconds * 1e9))
    truth = truth_of(backend)
    assert 500.0 - truth.pos_enu_m[2] == pytest.approx(0.5 * GRAVITY * seconds**2, rel=0.011)
    # Semi-implicit Euler falls by g·dt·t/2 more than the parabola, and by nothing else.
    step_s = vacuum.physics_step_ns * 1e-9
    expected = 0.5 * GRAVITY * seconds * (seconds + step_s)
    assert 500.0 - truth.pos_enu_m[2] == pytest.approx(expected, rel=1e-9)
    assert truth.vel_enu_mps[2] == pytest.approx(-GRAVITY * seconds, rel=1e-9)
    assert truth.acc_enu_mps2.tolist() == pytest.approx([0.0, 0.0, -GRAVITY], abs=1e-6)
    assert truth.rate_flu_rps.tolist() == [0.0, 0.0, 0.0]


def test_hover_thrust_is_the_weight(backend: SimulationBackend, vacuum: ScenarioSpec) -> None:
    """With the speed that thrust_coeff·ω² gives for m·g/4, the vehicle keeps its height."""
    vehicle = vacuum.vehicle
    motor = vehicle.motor
    hover = math.sqrt(vehicle.mass_kg * GRAVITY / (4.0 * motor.thrust_coeff))
    backend.reset(vacuum, 0)
    send_motors(backend, [hover] * 4, motor.max_rad_s)
    backend.step(1_000_000_000)  # 80 time constants: the rotors have their speed
    before = truth_of(backend)
    backend.step(2_000_000_000)
    after = truth_of(backend)
    assert after.motor_rps.tolist() == pytest.approx([hover] * 4, rel=1e-9)
    assert abs(after.vel_enu_mps[2] - before.vel_enu_mps[2]) / (2.0 * GRAVITY) < 1e-9
    # The first-order lag alone decides what was lost meanwhile: the momentum is
    # m·g·∫(1 − (1 − e^(−t/τ))²) dt = m·g·(2τ − τ/2).
    lost = GRAVITY * 1.5 * motor.time_constant_up_s
    assert before.vel_enu_mps[2] == pytest.approx(-lost, rel=0.05)


@pytest.mark.parametrize("ratio", [0.99, 1.01])
def test_one_per_cent_of_thrust_is_seen(
    backend: SimulationBackend, vacuum: ScenarioSpec, ratio: float
) -> None:
    vehicle = vacuum.vehicle
    hover = math.sqrt(ratio * vehicle.mass_kg * GRAVITY / (4.0 * vehicle.motor.thrust_coeff))
    backend.reset(vacuum, 0)
    send_motors(backend, [hover] * 4, vehicle.motor.max_rad_s)
    backend.step(1_000_000_000)
    climb = truth_of(backend).acc_enu_mps2[2]
    assert climb == pytest.approx((ratio - 1.0) * GRAVITY, rel=1e-6)


def lag_integrals(start: float, end: float, tau: float, t: float) -> tuple[float, float]:
    """First and second integral over 0..t of ω(s)² − start², with ω(s) = end + (start−end)e^(−s/τ).

    ω² = end² + 2·end·d·e^(−s/τ) + d²·e^(−2s/τ), with d = start − end.
    """
    d = start - end
    once = (
        (end**2 - start**2) * t
        + 2.0 * end * d * tau * -math.expm1(-t / tau)
        + d**2 * tau / 2.0 * -math.expm1(-2.0 * t / tau)
    )
    twice = (
        (end**2 - start**2) * t**2 / 2.0
        + 2.0 * end * d * tau * (t - tau * -math.expm1(-t / tau))
        + d**2 * tau / 2.0 * (t - tau / 2.0 * -math.expm1(-2.0 * t / tau))
    )
    return once, twice


def test_thirty_degree_roll_step(backend: SimulationBackend, vacuum: ScenarioSpec) -> None:
    """Differential thrust from the hover rolls the vehicle past 30°, as the closed form says.

    Left rotors speed up (τ up), right rotors slow down (τ down); one of each pair turns each way,
    so there is no yaw torque but the difference between the lags, which cancels in each pair too:
    the motion is a pure roll, I·φ'' = Σ y·thrust.
    """
    scenario = replace(vacuum, physics_step_ns=250_000, step_ns=1_000_000)
    vehicle = scenario.vehicle
    motor = vehicle.motor
    whole = lump(vehicle)
    hover = math.sqrt(vehicle.mass_kg * GRAVITY / (4.0 * motor.thrust_coeff))
    fast, slow = 1.05 * hover, 0.95 * hover
    backend.reset(scenario, 0)
    send_motors(backend, [hover] * 4, motor.max_rad_s)
    backend.step(1_000_000_000)
    level = truth_of(backend)
    assert abs(roll_of(level)) < 1e-12

    left = [rotor.pos_m[1] > 0.0 for rotor in vehicle.rotors]
    send_motors(backend, [fast if is_left else slow for is_left in left], motor.max_rad_s)
    arm = abs(vehicle.rotors[0].pos_m[1])
    scale = motor.thrust_coeff * arm / whole.inertia_kgm2[0]
    reached = 0.0
    for k in range(1, 41):
        backend.step(10_000_000)
        t = 0.010 * k
        up = lag_integrals(hover, fast, motor.time_constant_up_s, t)
        down = lag_integrals(hover, slow, motor.time_constant_down_s, t)
        rate, angle = (2.0 * scale * (a - b) for a, b in zip(up, down, strict=True))
        truth = truth_of(backend)
        reached = roll_of(truth)
        if k >= 5:
            assert truth.rate_flu_rps[0] == pytest.approx(rate, rel=0.01), t
            assert reached == pytest.approx(angle, rel=0.01), t
        assert truth.rate_flu_rps[1:].tolist() == pytest.approx([0.0, 0.0], abs=0.02 * rate)
        if angle > math.radians(35.0):
            break
    assert reached > math.radians(30.0)


def test_attitude_of_thirty_degrees_accelerates_sideways(
    backend: SimulationBackend, vacuum: ScenarioSpec
) -> None:
    """Roll 30° with the thrust m·g/cos 30°: height speed is kept, −y acceleration is g·tan 30°."""
    vehicle = vacuum.vehicle
    tilt = math.radians(30.0)
    most = 4.0 * vehicle.motor.thrust_coeff * vehicle.motor.max_rad_s**2
    collective = vehicle.mass_kg * GRAVITY / math.cos(tilt) / most
    attitude = np.array([math.cos(tilt / 2.0), math.sin(tilt / 2.0), 0.0, 0.0])
    backend.reset(vacuum, 0)
    command = AttitudeCommand(attitude, collective)
    assert backend.actuators().send(command, 0).accepted
    backend.step(3_000_000_000)
    truth = truth_of(backend)
    assert roll_of(truth) == pytest.approx(tilt, rel=0.01)
    east, north, up = truth.acc_enu_mps2.tolist()
    assert east == pytest.approx(0.0, abs=1e-3)
    assert north == pytest.approx(-GRAVITY * math.tan(tilt), rel=0.01)
    assert up == pytest.approx(0.0, abs=0.01 * GRAVITY)
    assert truth.rate_flu_rps.tolist() == pytest.approx([0.0, 0.0, 0.0], abs=1e-3)


def test_spinning_body_keeps_its_angular_momentum(
    backend: SimulationBackend, vacuum: ScenarioSpec
) -> None:
    """Rotors stopped and spinning about two axes: the gyroscopic torque is in the integration."""
    scenario = replace(vacuum, initial=InitialState(pos_enu_m=(0.0, 0.0, 500.0)))
    vehicle = scenario.vehicle
    motor = vehicle.motor
    ixx, iyy, izz = lump(vehicle).inertia_kgm2[:3]
    backend.reset(scenario, 0)
    # One yaw and one roll kick, then the motors stop: from there on nothing turns the body.
    ratio = 500.0
    send_motors(backend, [ratio, ratio, 0.0, 0.0], motor.max_rad_s)
    backend.step(200_000_000)
    send_motors(backend, [0.0, ratio, ratio, 0.0], motor.max_rad_s)
    backend.step(200_000_000)
    send_motors(backend, [0.0] * 4, motor.max_rad_s)
    backend.step(500_000_000)

    def momentum(truth: GroundTruth) -> list[float]:
        w, x, y, z = truth.q_enu_flu.tolist()
        p, q, r = truth.rate_flu_rps.tolist()
        lx, ly, lz = ixx * p, iyy * q, izz * r
        # v + 2w(u × v) + 2u × (u × v)
        cx, cy, cz = y * lz - z * ly, z * lx - x * lz, x * ly - y * lx
        return [
            lx + 2.0 * (w * cx + y * cz - z * cy),
            ly + 2.0 * (w * cy + z * cx - x * cz),
            lz + 2.0 * (w * cz + x * cy - y * cx),
        ]

    start = truth_of(backend)
    assert min(abs(rate) for rate in start.rate_flu_rps.tolist()) > 0.1
    before = momentum(start)
    backend.step(1_000_000_000)
    size = math.hypot(*before)
    assert math.dist(momentum(truth_of(backend)), before) < 0.01 * size
