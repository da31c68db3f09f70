"""`QuadWorld`: an engine's rigid body with rotors and a flight controller, moved in small steps.

It knows no clock: the backend counts the steps and says which number this is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ghost.core import BackendLost, ScenarioSpec
from ghost.hal import ActuatorLevel
from ghost.hal.frames import q_from_rpy
from ghost.physics.controller import CascadedController
from ghost.physics.engine import Engine, Kinematics
from ghost.physics.rotors import RotorModel

__all__ = ["QuadWorld", "rotation_of"]

_DIVERGED = 1e7
"""No vehicle that starts within the bounds of a scenario gets metres and metres per second that
add up to this; some engines cap a diverging state rather than let it become infinite."""

Matrix = tuple[float, float, float, float, float, float, float, float, float]


def rotation_of(w: float, x: float, y: float, z: float) -> Matrix:
    """Rotation matrix of a unit quaternion, nine floats row by row."""
    xx, yy, zz = x * x, y * y, z * z
    xy, xz, yz = x * y, x * z, y * z
    wx, wy, wz = w * x, w * y, w * z
    return (
        1.0 - 2.0 * (yy + zz),
        2.0 * (xy - wz),
        2.0 * (xz + wy),
        2.0 * (xy + wz),
        1.0 - 2.0 * (xx + zz),
        2.0 * (yz - wx),
        2.0 * (xz - wy),
        2.0 * (yz + wx),
        1.0 - 2.0 * (xx + yy),
    )


def start_of(scenario: ScenarioSpec) -> Kinematics:
    """Where the vehicle is at time 0; with no position given it stands on the ground."""
    initial = scenario.initial
    body = scenario.vehicle.body
    pos = initial.pos_enu_m
    if pos is None:
        pos = (0.0, 0.0, 0.5 * body.size_m[2] - body.collision_offset_m[2])
    roll, pitch, yaw = (math.radians(angle) for angle in initial.rpy_deg)
    quaternion = q_from_rpy(roll, pitch, yaw)
    return (*pos, *quaternion, *initial.vel_enu_mps, 0.0, 0.0, 0.0)


class QuadWorld:
    """One multirotor over the ground. Deterministic: it has no source of chance at all."""

    def __init__(self, engine: Engine, scenario: ScenarioSpec) -> None:
        self._engine = engine
        self._dt = scenario.physics_step_ns * 1e-9
        self._physics_step_ns = scenario.physics_step_ns
        self._wind = scenario.world.wind_enu_mps
        self._control_rate = scenario.vehicle.control.rate_hz
        self.rotors = RotorModel(scenario.vehicle)
        self.controller = CascadedController(scenario.vehicle, scenario.world.gravity_mps2)
        self.state: Kinematics = start_of(scenario)
        """Thirteen floats, see `Engine.Kinematics`."""
        self._before: Kinematics = self.state
        self._steps = 0
        self._next_control_ns = 0
        self._control_ticks = 0
        engine.reset(scenario, self.state)

    def command(self, level: ActuatorLevel, numbers: Sequence[float]) -> None:
        """Follow an accepted command from the next physics step on.

        Motor commands reach the rotors at once; the levels above wait for the controller's grid.
        """
        self.controller.command(level, numbers, self.state)
        if level is ActuatorLevel.MOTOR:
            self.rotors.command_thrusts(numbers)

    def advance(self, physics_steps: int) -> None:
        """Move by whole physics steps. Raises `BackendLost` if the state is no longer finite."""
        engine_step = self._engine.step
        rotor_step = self.rotors.step
        dt = self._dt
        wind = self._wind
        step_ns = self._physics_step_ns
        now_ns = self._steps * step_ns
        state = before = self.state
        for _ in range(physics_steps):
            if now_ns >= self._next_control_ns:
                self._control(state, now_ns)
            before = state
            _, _, _, w, x, y, z, vx, vy, vz, p, q, r = state
            force, torque = rotor_step(dt, rotation_of(w, x, y, z), (vx, vy, vz), (p, q, r), wind)
            state = engine_step(force, torque)
            now_ns += step_ns
        self._steps += physics_steps
        self.state = state
        self._before = before
        if not -_DIVERGED < sum(state) < _DIVERGED:  # NaN is neither
            raise BackendLost(
                f"the physics diverged within {self._steps * self._physics_step_ns} ns: "
                f"state {list(state)}; use a smaller physics_step_ns or check the vehicle's figures"
            )

    def acceleration(self) -> tuple[float, float, float, float, float, float]:
        """Mean over the last physics step: linear (m/s², world) and angular (rad/s², body FLU).

        Of the body frame's origin, gravity included (−g in free fall). Zero before the first step.
        """
        now = self.state
        before = self._before
        scale = 1.0 / self._dt
        return (
            (now[7] - before[7]) * scale,
            (now[8] - before[8]) * scale,
            (now[9] - before[9]) * scale,
            (now[10] - before[10]) * scale,
            (now[11] - before[11]) * scale,
            (now[12] - before[12]) * scale,
        )

    def _control(self, state: Kinematics, now_ns: int) -> None:
        ratios: Sequence[float] | None = self.controller.update(state)
        # The grid is counted, never accumulated, so that an uneven rate does not drift.
        while self._next_control_ns <= now_ns:
            self._control_ticks += 1
            self._next_control_ns = round(self._control_ticks * 1e9 / self._control_rate)
        if ratios is not None:
            self.rotors.command_thrusts(ratios)
