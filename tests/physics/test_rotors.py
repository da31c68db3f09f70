"""`RotorModel` against closed forms, signs, and a rotor-by-rotor reference."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.core.vehicle import BodyDragSpec, BodySpec, MotorSpec, RotorSpec, VehicleSpec
from ghost.physics.lumped import lump
from ghost.physics.rotors import RotorModel

Vec = npt.NDArray[np.float64]

DT = 0.004
GRAVITY = 9.8
IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
REST = (0.0, 0.0, 0.0)
PX4_POSITIONS = ((1, -1), (-1, 1), (1, 1), (-1, -1))
"""Front right, rear left, front left, rear right."""
PX4_DIRECTIONS = ("ccw", "ccw", "cw", "cw")


def quad(*, mass: float = 0.016, inertia: float = 2.6e-5, height: float = 0.06) -> VehicleSpec:
    """An X quad of 2 kg with PX4's motor order and the motor constants of its x500."""
    return VehicleSpec(
        name="x",
        body=BodySpec(mass_kg=2.0, inertia_kgm2=(0.02, 0.021, 0.04), size_m=(0.3, 0.3, 0.1)),
        rotors=tuple(
            RotorSpec(
                pos_m=(0.174 * x, 0.174 * y, height),
                direction="ccw" if direction == "ccw" else "cw",
                mass_kg=mass,
                inertia_kgm2=(0.0, inertia, inertia),
            )
            for (x, y), direction in zip(PX4_POSITIONS, PX4_DIRECTIONS, strict=True)
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
        sensors=(),
    )


def spun_up(vehicle: VehicleSpec, speeds: tuple[float, ...]) -> RotorModel:
    """A model whose rotors turn at `speeds`: after a second the lag is below rounding."""
    model = RotorModel(vehicle)
    model.command_speeds(speeds)
    model.step(60.0, IDENTITY, REST, REST)
    assert model.speeds_rad_s == speeds
    return model


def test_speed_follows_the_closed_form_of_the_lag_up_and_down() -> None:
    model = RotorModel(quad())
    model.command_speeds([800.0] * 4)
    for k in range(1, 11):
        model.step(DT, IDENTITY, REST, REST)
        expected = 800.0 * (1.0 - math.exp(-k * DT / 0.0125))
        assert model.speeds_rad_s == pytest.approx((expected,) * 4, rel=1e-12)
    start = model.speeds_rad_s[0]
    model.command_speeds([300.0] * 4)
    for k in range(1, 11):
        model.step(DT, IDENTITY, REST, REST)
        expected = 300.0 + (start - 300.0) * math.exp(-k * DT / 0.025)
        assert model.speeds_rad_s == pytest.approx((expected,) * 4, rel=1e-12)


def test_speed_does_not_depend_on_the_step_length() -> None:
    coarse, fine = RotorModel(quad()), RotorModel(quad())
    for model, steps in ((coarse, 1), (fine, 8)):
        model.command_speeds([700.0, 100.0, 400.0, 1000.0])
        for _ in range(steps):
            model.step(0.008 / steps, IDENTITY, REST, REST)
    assert fine.speeds_rad_s == pytest.approx(coarse.speeds_rad_s, rel=1e-12)


def test_the_step_length_may_change_between_steps() -> None:
    model = RotorModel(quad())
    model.command_speeds([500.0] * 4)
    for dt in (0.001, 0.004, 0.001, 0.002):
        model.step(dt, IDENTITY, REST, REST)
    assert model.speeds_rad_s[0] == pytest.approx(500.0 * (1.0 - math.exp(-0.008 / 0.0125)))


def test_the_wrench_uses_the_speed_of_the_step_before() -> None:
    model = RotorModel(quad())
    model.command_speeds([800.0] * 4)
    first, _ = model.step(DT, IDENTITY, REST, REST)
    assert first == (0.0, 0.0, 0.0)
    speed = model.speeds_rad_s[0]
    second, _ = model.step(DT, IDENTITY, REST, REST)
    assert second[2] == pytest.approx(4 * 8.54858e-06 * speed**2, rel=1e-12)


def test_hover_speed_carries_the_weight_along_body_z() -> None:
    vehicle = quad()
    weight = vehicle.mass_kg * GRAVITY
    hover = math.sqrt(weight / (4 * 8.54858e-06))
    model = spun_up(vehicle, (hover,) * 4)
    force, torque = model.step(DT, IDENTITY, REST, REST)
    assert force == pytest.approx((0.0, 0.0, weight), rel=1e-12)
    assert torque == pytest.approx(REST, abs=1e-12)
    rolled = (1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0)  # +90° about x: body z points to −y
    force, _ = model.step(DT, rolled, REST, REST)
    assert force == pytest.approx((0.0, -weight, 0.0), abs=1e-12)


@pytest.mark.parametrize(
    ("motor", "signs"),
    [(0, (-1, -1, -1)), (1, (1, 1, -1)), (2, (1, -1, 1)), (3, (-1, 1, 1))],
    ids=["front right ccw", "rear left ccw", "front left cw", "rear right cw"],
)
def test_torque_of_one_faster_motor(motor: int, signs: tuple[int, int, int]) -> None:
    """FLU: +roll lifts the left side, +pitch lowers the nose, a ccw rotor yaws the body to −z."""
    speeds = [700.0] * 4
    speeds[motor] = 750.0
    model = spun_up(quad(), (speeds[0], speeds[1], speeds[2], speeds[3]))
    _, torque = model.step(DT, IDENTITY, REST, REST)
    extra = 8.54858e-06 * (750.0**2 - 700.0**2)
    expected = (signs[0] * 0.174 * extra, signs[1] * 0.174 * extra, signs[2] * 0.016 * extra)
    assert torque == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("speed", [3.0, -3.0])
def test_drag_opposes_motion_across_the_rotor_axis(axis: int, speed: float) -> None:
    vehicle = quad()
    velocity = [0.0, 0.0, 0.0]
    velocity[axis] = speed
    still, _ = spun_up(vehicle, (700.0,) * 4).step(DT, IDENTITY, REST, REST)
    force, torque = spun_up(vehicle, (700.0,) * 4).step(DT, IDENTITY, velocity, REST)
    drag = -4 * 700.0 * 8.06428e-05 * speed
    assert force[axis] == pytest.approx(drag, rel=1e-12)
    assert force[1 - axis] == 0.0
    assert force[2] == still[2]
    # Drag acts above the centre of mass; the rolling moment is along the velocity.
    arm = 0.06 - lump(vehicle).com_m[2]
    assert torque[1 - axis] == pytest.approx((arm if axis == 0 else -arm) * drag, rel=1e-9)
    assert torque[axis] == pytest.approx(-4 * 700.0 * 1e-06 * speed, rel=1e-9)
    assert torque[2] == pytest.approx(0.0, abs=1e-15)


def test_climbing_has_no_rotor_drag() -> None:
    still = spun_up(quad(), (700.0,) * 4).step(DT, IDENTITY, REST, REST)
    assert spun_up(quad(), (700.0,) * 4).step(DT, IDENTITY, (0.0, 0.0, 5.0), REST) == still


def test_turning_is_damped_about_every_axis() -> None:
    for axis in range(3):
        rate = [0.0, 0.0, 0.0]
        rate[axis] = 2.0
        _, torque = spun_up(quad(inertia=0.0), (700.0,) * 4).step(DT, IDENTITY, REST, rate)
        assert torque[axis] < 0.0


def test_moving_with_the_wind_is_standing_still() -> None:
    wind = (4.0, -2.0, 1.0)
    still = spun_up(quad(), (700.0,) * 4).step(DT, IDENTITY, REST, REST)
    assert spun_up(quad(), (700.0,) * 4).step(DT, IDENTITY, wind, REST, wind) == still


def test_spinning_up_gives_the_body_the_opposite_angular_momentum() -> None:
    vehicle = quad(inertia=1e-3)
    vehicle = replace(vehicle, motor=replace(vehicle.motor, moment_ratio=0.0))
    model = RotorModel(vehicle)
    model.command_speeds([500.0, 500.0, 100.0, 100.0])
    body = sum(model.step(DT, IDENTITY, REST, REST)[1][2] * DT for _ in range(200))
    rotors = 1e-3 * (500.0 + 500.0 - 100.0 - 100.0) / 10.0
    assert body == pytest.approx(-rotors, rel=1e-6)


def test_gyroscopic_torque_turns_the_spin_towards_the_rate() -> None:
    vehicle = quad(inertia=1e-3)
    vehicle = replace(vehicle, motor=replace(vehicle.motor, drag_coeff=0.0))
    rate = (2.0, 3.0, 1.0)
    calm = spun_up(vehicle, (500.0, 500.0, 100.0, 100.0)).step(DT, IDENTITY, REST, REST)[1]
    turning = spun_up(vehicle, (500.0, 500.0, 100.0, 100.0)).step(DT, IDENTITY, REST, rate)[1]
    spin = 1e-3 * 800.0 / 10.0
    rolling = 1e-06 * 1200.0 * 0.06  # the rotors, above the origin, move sideways
    assert turning[0] - calm[0] == pytest.approx(-rate[1] * spin - rolling * rate[1], rel=1e-9)
    assert turning[1] - calm[1] == pytest.approx(rate[0] * spin + rolling * rate[0], rel=1e-9)


def test_body_drag_is_linear_plus_quadratic_per_axis() -> None:
    vehicle = replace(
        quad(), body_drag=BodyDragSpec(linear=(0.1, 0.2, 0.3), quadratic=(0.01, 0.02, 0.03))
    )
    force, _ = RotorModel(vehicle).step(DT, IDENTITY, (3.0, 0.0, 4.0), REST)
    assert force == pytest.approx((-(0.1 + 0.05) * 3.0, 0.0, -(0.3 + 0.15) * 4.0))


def test_commands_are_limited_and_hold() -> None:
    model = RotorModel(quad())
    model.command_speeds([5000.0, -3.0, 1000.0, 0.0])
    for _ in range(2000):
        model.step(DT, IDENTITY, REST, REST)
    assert model.speeds_rad_s == pytest.approx((1000.0, 0.0, 1000.0, 0.0))


@pytest.mark.parametrize(
    ("speeds", "message"),
    [
        ([1.0, 2.0, 3.0], "must have 4 speeds, one per rotor, got 3"),
        ([1.0, math.nan, 3.0, 4.0], "must be finite"),
        ([1.0, math.inf, 3.0, 4.0], "must be finite"),
    ],
)
def test_a_bad_command_is_refused_and_changes_nothing(speeds: list[float], message: str) -> None:
    model = spun_up(quad(), (700.0,) * 4)
    with pytest.raises(ValueError, match=message):
        model.command_speeds(speeds)
    model.step(DT, IDENTITY, REST, REST)
    assert model.speeds_rad_s == (700.0,) * 4


@pytest.mark.parametrize("dt", [0.0, -0.001, math.nan, math.inf])
def test_a_bad_step_is_refused(dt: float) -> None:
    with pytest.raises(ValueError, match="dt_s must be more than zero and finite"):
        RotorModel(quad()).step(dt, IDENTITY, REST, REST)


def test_reset_stops_the_rotors_and_forgets_the_command() -> None:
    model = spun_up(quad(), (700.0,) * 4)
    model.reset()
    assert model.step(DT, IDENTITY, REST, REST) == (REST, REST)
    assert model.speeds_rad_s == (0.0,) * 4


def rotation_about(axis: Vec, angle: float) -> Vec:
    """Rodrigues' formula."""
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turned: Vec = np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
    return turned


def reference_wrench(
    vehicle: VehicleSpec, old: Vec, new: Vec, turn: Vec, velocity: Vec, rate: Vec, wind: Vec
) -> tuple[Vec, Vec]:
    """The rules of the class docstring, written rotor by rotor with vectors."""
    motor = vehicle.motor
    body_velocity = turn.T @ (velocity - wind)
    drag = vehicle.body_drag
    air = np.array(drag.linear) + np.array(drag.quadratic) * np.linalg.norm(body_velocity)
    com = np.array(lump(vehicle).com_m)
    force = -air * body_velocity
    torque = np.cross(-com, force)
    up = np.array([0.0, 0.0, 1.0])
    for rotor, before, after in zip(vehicle.rotors, old, new, strict=True):
        place = np.array(rotor.pos_m)
        across = (body_velocity + np.cross(rate, place)) * (1.0, 1.0, 0.0)
        thrust = motor.thrust_coeff * before**2
        push = thrust * up - motor.drag_coeff * before * across
        inertia = rotor.inertia_kgm2[2] / motor.joint_slowdown * rotor.sign
        force = force + push
        torque = (
            torque
            + np.cross(place - com, push)
            - rotor.sign * motor.moment_ratio * thrust * up
            - motor.rolling_moment_coeff * before * across
            - inertia * ((after - before) / DT * up + np.cross(rate, before * up))
        )
    return turn @ force, turn @ torque


three = st.tuples(*[st.floats(-5.0, 5.0)] * 3)
four_speeds = st.tuples(*[st.floats(0.0, 1000.0)] * 4)


@settings(deadline=None)
@given(
    places=st.tuples(*[three] * 4),
    speeds=four_speeds,
    ref=four_speeds,
    axis=three.filter(lambda v: math.hypot(*v) > 0.1),
    angle=st.floats(-math.pi, math.pi),
    velocity=three,
    rate=three,
    wind=three,
)
def test_equals_the_rotor_by_rotor_reference(
    places: tuple[tuple[float, float, float], ...],
    speeds: tuple[float, ...],
    ref: tuple[float, ...],
    axis: tuple[float, float, float],
    angle: float,
    velocity: tuple[float, float, float],
    rate: tuple[float, float, float],
    wind: tuple[float, float, float],
) -> None:
    vehicle = quad()
    vehicle = replace(
        vehicle,
        rotors=tuple(replace(r, pos_m=p) for r, p in zip(vehicle.rotors, places, strict=True)),
        body_drag=BodyDragSpec(linear=(0.1, 0.2, 0.3), quadratic=(0.01, 0.02, 0.03)),
    )
    model = RotorModel(vehicle)
    model.command_speeds(speeds)
    model.step(60.0, IDENTITY, REST, REST)
    old = np.array(model.speeds_rad_s)
    model.command_speeds(ref)
    turn = rotation_about(np.array(axis), angle)
    force, torque = model.step(DT, tuple(turn.ravel().tolist()), velocity, rate, wind)
    expected_force, expected_torque = reference_wrench(
        vehicle,
        old,
        np.array(model.speeds_rad_s),
        turn,
        np.array(velocity),
        np.array(rate),
        np.array(wind),
    )
    np.testing.assert_allclose(force, expected_force, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(torque, expected_torque, rtol=1e-9, atol=1e-8)
