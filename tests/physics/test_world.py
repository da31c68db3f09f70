"""`QuadWorld`: start, steps, divergence."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ghost.core import BackendLost, InitialState, ScenarioSpec
from ghost.hal import ActuatorLevel
from ghost.hal.frames import q_to_matrix
from ghost.physics import Engine, Kinematics, rotation_of
from ghost.physics.world import QuadWorld, start_of


def test_start_on_the_ground(in_the_air: ScenarioSpec) -> None:
    """Without a position the box of the vehicle stands on z = 0."""
    body = in_the_air.vehicle.body
    state = start_of(replace(in_the_air, initial=InitialState()))
    underside = state[2] + body.collision_offset_m[2] - 0.5 * body.size_m[2]
    assert underside == pytest.approx(0.0, abs=1e-12)
    assert state[3:] == (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_start_as_given(in_the_air: ScenarioSpec) -> None:
    initial = InitialState((1.0, 2.0, 3.0), (0.0, 0.0, 90.0), (4.0, 5.0, 6.0))
    state = start_of(replace(in_the_air, initial=initial))
    half = math.sqrt(0.5)
    expected = (1.0, 2.0, 3.0, half, 0.0, 0.0, half, 4.0, 5.0, 6.0, 0.0, 0.0, 0.0)
    assert state == pytest.approx(expected)


def test_rotation_is_that_of_the_frames_module() -> None:
    q = (0.5, -0.1, 0.7, math.sqrt(1.0 - 0.25 - 0.01 - 0.49))
    flat = [part for row in q_to_matrix(q) for part in row]
    assert rotation_of(*q) == pytest.approx(flat, abs=1e-15)


def test_one_long_advance_is_many_short_ones(engine: Engine, in_the_air: ScenarioSpec) -> None:
    states = []
    for parts in ([500], [1] * 500, [4] * 125):
        world = QuadWorld(engine, in_the_air)
        world.command(ActuatorLevel.VELOCITY, (1.0, 2.0, 0.5, 0.3))
        for steps in parts:
            world.advance(steps)
        states.append((list(world.state), world.acceleration(), world.rotors.speeds_rad_s))
    assert states[1] == states[0]
    assert states[2] == states[0]


def test_divergence_is_reported(
    engine: Engine, in_the_air: ScenarioSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = QuadWorld(engine, in_the_air)
    world.advance(10)
    bad: Kinematics = [math.nan] * 13
    monkeypatch.setattr(engine, "step", lambda _force, _torque: bad)
    with pytest.raises(BackendLost, match=r"diverged within 11000000 ns.*physics_step_ns"):
        world.advance(1)
