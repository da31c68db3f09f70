"""The physics of the test server: the embedded world's, flown by motor speeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ghost.backends.embedded.engine import MujocoEngine
from ghost.core import InitialState, ScenarioSpec, SensorConfig
from ghost.physics.sensors import SensorRig
from ghost.physics.world import QuadWorld

__all__ = ["Flight"]


class Flight:
    """One vehicle; a step of it is a step of the world."""

    def __init__(self, scenario: ScenarioSpec, more: tuple[SensorConfig, ...] = ()) -> None:
        self._scenario = scenario
        self._more = more
        self._engine = MujocoEngine()
        self._speeds: tuple[float, ...] = ()
        self._build(scenario)

    def _build(self, scenario: ScenarioSpec) -> None:
        if self._more:
            sensors = (*scenario.vehicle.sensors, *self._more)
            scenario = replace(scenario, vehicle=replace(scenario.vehicle, sensors=sensors))
        self._world = QuadWorld(self._engine, scenario)
        self._rig = SensorRig(self._engine, self._world, scenario)
        if self._speeds:
            self._world.rotors.command_speeds(self._speeds)

    @property
    def readers(self) -> dict[str, Callable[[], Any]]:
        """What each sensor measures, by id, without any error."""
        return dict(self._rig.readers)

    @property
    def state(self) -> Sequence[float]:
        """Position, quaternion (wxyz), velocity, body rate."""
        return self._world.state

    def command(self, speeds_rad_s: Sequence[float]) -> None:
        """Set the motor speeds; what does not fit the vehicle is ignored, as Gazebo does."""
        count = len(self._scenario.vehicle.rotors)
        speeds = tuple(speeds_rad_s[:count])
        if len(speeds) == count and all(map(math.isfinite, speeds)):
            self._speeds = speeds
            self._world.rotors.command_speeds(speeds)

    def step(self) -> None:
        """Move on by one step."""
        self._world.advance(1)
        self._rig.accumulate()

    def reset(self) -> None:
        """Go back to the start, motors stopped."""
        self._speeds = ()
        self._build(self._scenario)

    def place(self, pos_m: Sequence[float], q_wxyz: Sequence[float]) -> None:
        """Put the vehicle somewhere else, at rest; its motors go on as commanded."""
        w, x, y, z = q_wxyz
        roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
        pitch = math.asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x))))
        yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        rpy_deg = (math.degrees(roll), math.degrees(pitch), math.degrees(yaw))
        e, n, u = pos_m
        initial = InitialState(pos_enu_m=(e, n, u), rpy_deg=rpy_deg)
        self._build(replace(self._scenario, initial=initial))

    def close(self) -> None:
        """Give the engine back."""
        self._engine.close()
