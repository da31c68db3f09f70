"""Commands for flights: valid ones for every level, and a manoeuvre to fly with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ghost.core import ScenarioSpec
from ghost.hal import (
    ActuatorCommand,
    ActuatorLevel,
    AttitudeCommand,
    BodyRateCommand,
    MotorCommand,
    PositionCommand,
    VelocityCommand,
)
from ghost.testing.bench import Bench

__all__ = ["best_level", "hover", "hover_fraction", "manoeuvre", "valid_command"]

_PREFERRED = (
    ActuatorLevel.VELOCITY,
    ActuatorLevel.POSITION,
    ActuatorLevel.ATTITUDE,
    ActuatorLevel.BODY_RATE,
    ActuatorLevel.MOTOR,
)


def hover_fraction(scenario: ScenarioSpec) -> float:
    """Thrust that carries the vehicle's weight, as a fraction of the largest total thrust."""
    vehicle = scenario.vehicle
    largest = len(vehicle.rotors) * vehicle.motor.thrust_coeff * vehicle.motor.max_rad_s**2
    return vehicle.mass_kg * scenario.world.gravity_mps2 / largest


def best_level(levels: Sequence[ActuatorLevel]) -> ActuatorLevel:
    """The level that is easiest to fly, of those given."""
    return next(level for level in _PREFERRED if level in levels)


def valid_command(level: ActuatorLevel, scenario: ScenarioSpec) -> ActuatorCommand:
    """A gentle, well-formed command of `level`: hovering, as far as open loop allows."""
    hover_at = hover_fraction(scenario)
    if level is ActuatorLevel.MOTOR:
        return MotorCommand(np.full(len(scenario.vehicle.rotors), hover_at))
    if level is ActuatorLevel.BODY_RATE:
        return BodyRateCommand(np.zeros(3), hover_at)
    if level is ActuatorLevel.ATTITUDE:
        return AttitudeCommand(np.array([1.0, 0.0, 0.0, 0.0]), hover_at)
    if level is ActuatorLevel.VELOCITY:
        return VelocityCommand(np.zeros(3), 0.0)
    return PositionCommand(np.array(scenario.initial.pos_enu_m or (0.0, 0.0, 2.0)), 0.0)


def hover(bench: Bench) -> Callable[[float], ActuatorCommand]:
    """The command, at every time, that keeps the vehicle about where it is."""
    command = valid_command(best_level(bench.backend.capabilities.actuator_levels), bench.scenario)
    return lambda _t_s: command


def manoeuvre(bench: Bench) -> Callable[[float], ActuatorCommand]:
    """A lively but harmless flight within a few metres, at the best level the backend declares."""
    scenario = bench.scenario
    level = best_level(bench.backend.capabilities.actuator_levels)
    hover_at = hover_fraction(scenario)
    motors = np.full(len(scenario.vehicle.rotors), hover_at)
    east, north, up = scenario.initial.pos_enu_m or (0.0, 0.0, 2.0)

    def command(t_s: float) -> ActuatorCommand:
        wave, other = math.sin(3.0 * t_s), math.sin(2.0 * t_s)
        if level is ActuatorLevel.VELOCITY:
            return VelocityCommand(np.array([1.5 * wave, 1.2 * other, 0.4 * wave]), 0.5 * other)
        if level is ActuatorLevel.POSITION:
            return PositionCommand(
                np.array([east + wave, north + other, up + 0.4 * wave]), 0.3 * other
            )
        if level is ActuatorLevel.ATTITUDE:
            half = 0.06 * wave
            return AttitudeCommand(
                np.array([math.cos(half), math.sin(half), 0.0, 0.0]), hover_at * (1 + 0.1 * other)
            )
        if level is ActuatorLevel.BODY_RATE:
            rates = np.array([0.2 * wave, 0.2 * math.cos(3.0 * t_s), 0.3 * other])
            return BodyRateCommand(rates, hover_at * (1 + 0.1 * other))
        return MotorCommand(motors * (1 + 0.1 * wave))

    return command
