"""Every engine moves a rigid body by the same laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from ghost.core import RotorSpec, ScenarioSpec
from ghost.hal.frames import q_from_rpy
from ghost.physics import Engine, Kinematics, lump, rotation_of

MakeEngine = Callable[[], Engine]
STEP_S = 1e-3
NONE = (0.0, 0.0, 0.0)


def start(
    height_m: float = 50.0,
    rpy: tuple[float, float, float] = NONE,
    velocity: tuple[float, float, float] = NONE,
    rate: tuple[float, float, float] = NONE,
) -> Kinematics:
    return (0.0, 0.0, height_m, *q_from_rpy(*rpy), *velocity, *rate)


def matrix(state: Kinematics) -> npt.NDArray[np.float64]:
    return np.array(rotation_of(state[3], state[4], state[5], state[6])).reshape(3, 3)


def inertia(scenario: ScenarioSpec) -> npt.NDArray[np.float64]:
    ixx, iyy, izz, ixy, ixz, iyz = lump(scenario.vehicle).inertia_kgm2
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])


def centre(scenario: ScenarioSpec, state: Kinematics) -> npt.NDArray[np.float64]:
    """Centre of mass in the world."""
    return np.array(state[:3]) + matrix(state) @ lump(scenario.vehicle).com_m


def centre_velocity(scenario: ScenarioSpec, state: Kinematics) -> npt.NDArray[np.float64]:
    turn = matrix(state)
    rate = turn @ np.array(state[10:13])
    return np.array(state[7:10]) + np.cross(rate, turn @ lump(scenario.vehicle).com_m)


def test_the_vehicle_is_as_uneven_as_these_tests_need(scenario: ScenarioSpec) -> None:
    whole = lump(scenario.vehicle)
    assert not whole.is_diagonal
    assert math.hypot(*whole.com_m[:2]) > 0.005


def test_free_fall(make_engine: MakeEngine, scenario: ScenarioSpec) -> None:
    engine = make_engine()
    engine.reset(scenario, start(200.0, rpy=(0.3, -0.2, 1.0)))
    state: Kinematics = ()
    for _ in range(3000):
        state = engine.step(NONE, NONE)
    fallen = 0.5 * 9.8 * 3.0 * (3.0 + STEP_S)  # semi-implicit Euler
    assert state[2] == pytest.approx(200.0 - fallen, abs=1e-6)
    assert state[7:10] == pytest.approx([0.0, 0.0, -29.4], abs=1e-9)
    assert state[:2] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert state[3:7] == pytest.approx(q_from_rpy(0.3, -0.2, 1.0), abs=1e-12)


def test_no_speed_limit_and_no_damping(make_engine: MakeEngine, scenario: ScenarioSpec) -> None:
    engine = make_engine()
    engine.reset(scenario, start(5000.0, velocity=(250.0, 0.0, 0.0)))
    state: Kinematics = ()
    for _ in range(2000):
        state = engine.step(NONE, NONE)
    assert state[7] == pytest.approx(250.0, abs=1e-6)
    assert state[0] == pytest.approx(500.0, abs=1e-6)


def test_state_of_the_start_is_kept(make_engine: MakeEngine, scenario: ScenarioSpec) -> None:
    """With the weight carried and one step, the state differs from the start by one step only."""
    begin = start(50.0, rpy=(0.4, 0.3, -2.0), velocity=(1.0, -2.0, 0.5), rate=(0.2, -0.3, 0.4))
    engine = make_engine()
    engine.reset(scenario, begin)
    weight = lump(scenario.vehicle).mass_kg * 9.8
    state = engine.step((0.0, 0.0, weight), NONE)
    assert state[:3] == pytest.approx([0.001, -0.002, 50.0005], abs=1e-6)
    assert state[3:7] == pytest.approx(begin[3:7], abs=3e-4)
    assert state[7:10] == pytest.approx(begin[7:10], abs=1e-3)
    assert state[10:13] == pytest.approx(begin[10:13], abs=1e-3)


def test_force_at_the_centre_of_mass_turns_nothing(
    make_engine: MakeEngine, scenario: ScenarioSpec
) -> None:
    begin = start(50.0, rpy=(0.5, -0.4, 2.0))
    engine = make_engine()
    engine.reset(scenario, begin)
    mass = lump(scenario.vehicle).mass_kg
    state: Kinematics = ()
    for _ in range(1000):
        state = engine.step((3.0, -2.0, mass * 9.8 + 1.0), NONE)
    assert state[10:13] == pytest.approx(NONE, abs=1e-9)
    assert state[7:10] == pytest.approx([3.0 / mass, -2.0 / mass, 1.0 / mass], rel=1e-6)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_torque_in_world_axes(make_engine: MakeEngine, scenario: ScenarioSpec, axis: int) -> None:
    """α = I⁻¹·τ in body axes, about the centre of mass, which stays where it is."""
    begin = start(50.0, rpy=(0.7, -0.5, 2.2))
    torque = [0.0, 0.0, 0.0]
    torque[axis] = 0.02
    weight = lump(scenario.vehicle).mass_kg * 9.8
    engine = make_engine()
    engine.reset(scenario, begin)
    state: Kinematics = ()
    for _ in range(10):
        state = engine.step((0.0, 0.0, weight), (torque[0], torque[1], torque[2]))
    expected = np.linalg.solve(inertia(scenario), matrix(begin).T @ torque) * 10 * STEP_S
    assert state[10:13] == pytest.approx(expected, rel=2e-3, abs=1e-6)
    assert centre(scenario, state) == pytest.approx(centre(scenario, begin), abs=1e-8)


def test_free_spin_keeps_angular_momentum_and_a_straight_path(
    make_engine: MakeEngine, scenario: ScenarioSpec
) -> None:
    begin = start(50.0, rpy=(0.1, 0.2, 0.3), velocity=(1.0, 0.0, 0.0), rate=(1.0, 2.0, 3.0))
    engine = make_engine()
    engine.reset(scenario, begin)
    tensor = inertia(scenario)
    weight = lump(scenario.vehicle).mass_kg * 9.8

    def momentum(state: Kinematics) -> npt.NDArray[np.float64]:
        turned: npt.NDArray[np.float64] = matrix(state) @ tensor @ np.array(state[10:13])
        return turned

    state = begin
    for _ in range(2000):
        state = engine.step((0.0, 0.0, weight), NONE)
    first = momentum(begin)
    assert np.linalg.norm(momentum(state) - first) < 0.01 * np.linalg.norm(first)
    assert np.linalg.norm(np.array(state[10:13]) - begin[10:13]) > 0.1  # it did tumble
    path = centre(scenario, begin) + 2.0 * centre_velocity(scenario, begin)
    assert centre(scenario, state) == pytest.approx(path, abs=2e-3)


def test_reset_equals_new(make_engine: MakeEngine, scenario: ScenarioSpec) -> None:
    def flight(engine: Engine) -> list[float]:
        engine.reset(scenario, start(0.3, rpy=(0.2, 0.1, 0.0), rate=(1.0, 0.5, 0.2)))
        out: list[float] = []
        for _ in range(800):  # with a fall onto the ground in it
            out += engine.step((0.1, 0.2, 15.0), (0.001, 0.002, 0.003))
        return out

    used = make_engine()
    once = flight(used)
    assert flight(used) == once
    assert flight(make_engine()) == once


def test_two_engines_do_not_disturb_each_other(
    make_engine: MakeEngine, scenario: ScenarioSpec
) -> None:
    def steps(engine: Engine, push: float, count: int) -> list[list[float]]:
        return [list(engine.step((push, 0.0, 20.0), NONE)) for _ in range(count)]

    alone = make_engine()
    alone.reset(scenario, start())
    expected = steps(alone, 1.0, 100)
    first, second = make_engine(), make_engine()
    first.reset(scenario, start())
    other = replace(scenario, world=replace(scenario.world, gravity_mps2=1.6), name="moon")
    second.reset(other, start(3.0))
    mixed = []
    for _ in range(50):
        mixed += steps(first, 1.0, 1)
        steps(second, -5.0, 3)
    second.close()
    mixed += steps(first, 1.0, 50)
    assert mixed == expected


def test_close_is_idempotent_and_reset_opens_again(
    make_engine: MakeEngine, scenario: ScenarioSpec
) -> None:
    engine = make_engine()
    engine.close()
    engine.reset(scenario, start())
    engine.close()
    engine.close()
    engine.reset(scenario, start())
    assert engine.step(NONE, NONE)[9] == pytest.approx(-9.8e-3)


def rest_height(scenario: ScenarioSpec) -> float:
    body = scenario.vehicle.body
    return 0.5 * body.size_m[2] - body.collision_offset_m[2]


@pytest.mark.parametrize("step_ns", [1_000_000, 4_000_000])
def test_rests_on_the_ground(make_engine: MakeEngine, scenario: ScenarioSpec, step_ns: int) -> None:
    """Ten seconds: no sinking below 5 mm, no drift."""
    level = replace(
        scenario.vehicle,
        rotors=tuple(
            RotorSpec(rotor.pos_m, rotor.direction, 0.016, rotor.inertia_kgm2)
            for rotor in scenario.vehicle.rotors
        ),
    )
    scenario = replace(scenario, vehicle=level, physics_step_ns=step_ns)
    height = rest_height(scenario)
    engine = make_engine()
    engine.reset(scenario, start(height))
    lowest = height
    state: Kinematics = ()
    for _ in range(10_000_000_000 // step_ns):
        state = engine.step(NONE, NONE)
        lowest = min(lowest, state[2])
    assert lowest > height - 0.005
    assert state[2] == pytest.approx(height, abs=0.005)
    assert math.hypot(state[0], state[1]) < 0.002
    assert state[3] > math.cos(math.radians(0.1) / 2.0)
    assert max(abs(speed) for speed in state[7:13]) < 1e-3


def test_falls_onto_a_box_and_stays_on_it(make_engine: MakeEngine, scenario: ScenarioSpec) -> None:
    begin = list(start(2.0 + rest_height(scenario) + 0.2))
    begin[0] = 5.0
    engine = make_engine()
    engine.reset(scenario, begin)
    state: Kinematics = ()
    for _ in range(3000):
        state = engine.step(NONE, NONE)
    assert state[2] == pytest.approx(2.0 + rest_height(scenario), abs=0.006)
    assert state[0] == pytest.approx(5.0, abs=0.05)


def test_friction_stops_a_sliding_vehicle(make_engine: MakeEngine, scenario: ScenarioSpec) -> None:
    engine = make_engine()
    engine.reset(scenario, start(rest_height(scenario), velocity=(0.0, 1.0, 0.0)))
    state: Kinematics = ()
    for _ in range(3000):
        state = engine.step(NONE, NONE)
    assert 0.0 < state[1] < 0.5
    assert abs(state[8]) < 1e-2
