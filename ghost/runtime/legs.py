"""The items of a flight plan as moving set-points: one small class for each kind of item."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ghost.core import VehicleSpec
from ghost.core.scenario import GoTo, Hold, Land, PlanItem, TakeOff, VelocityFor
from ghost.hal import GroundTruth, StateEstimate
from ghost.runtime.profile import LineProfile, YawProfile

__all__ = ["Known", "Leg", "Limits", "State", "Target", "make_leg"]

Vec3 = tuple[float, float, float]
Known = GroundTruth | StateEstimate
"""What a plan can be flown on."""
_STILL: Vec3 = (0.0, 0.0, 0.0)

_TAKEOFF_TOLERANCE_M = 0.2
_LAND_SETTLE_NS = 500_000_000
"""The vehicle must have stopped sinking for so long before it counts as landed."""
_LAND_STILL_RATIO = 0.2
"""Sinking slower than this part of the asked speed is standing."""
_LAND_GAP_M = 0.15
"""... and the set-point must be below the vehicle by this much, so that hovering is no landing."""
_BLIND_LAND_EXTRA_S = 3.0
"""Without truth, landing lasts this much longer than the height over the origin asks for."""
_PUSH_DOWN_MPS = 0.5
"""The same for a vehicle that is told velocities."""
_PUSH_DOWN_M = 0.5
"""A vehicle that stands is asked for a place below the ground, so that it stays there."""


class State(NamedTuple):
    """What a leg needs to know of the vehicle."""

    pos_enu_m: Vec3
    vel_enu_mps: Vec3
    yaw_rad: float

    @classmethod
    def of(cls, truth: Known) -> State:
        """Read it from ground truth or an estimate."""
        w, x, y, z = truth.q_enu_flu.tolist()
        yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        px, py, pz = truth.pos_enu_m.tolist()
        vx, vy, vz = truth.vel_enu_mps.tolist()
        return cls((px, py, pz), (vx, vy, vz), yaw)


@dataclass(frozen=True, slots=True)
class Limits:
    """How set-points move where the plan does not say."""

    accel_mps2: float = 2.0
    climb_mps: float = 1.5
    yaw_rate_rps: float = 0.8

    @classmethod
    def of(cls, vehicle: VehicleSpec) -> Limits:
        """Stay within what the vehicle's controller can follow."""
        control = vehicle.control
        base = cls()
        return cls(
            accel_mps2=base.accel_mps2,
            climb_mps=min(base.climb_mps, 0.8 * control.max_up_mps),
            yaw_rate_rps=min(base.yaw_rate_rps, 0.8 * control.max_rate_rps[2]),
        )


class Target(NamedTuple):
    """What is asked of the vehicle at one moment."""

    pos_enu_m: Vec3 | None
    vel_enu_mps: Vec3 = _STILL
    yaw_rad: float = 0.0
    yaw_rate_rps: float = 0.0
    tracked: bool = False
    """Whether being away from `pos_enu_m` is an error (in the air) or meant (on the ground)."""
    velocity_only: bool = False
    """Ask for the velocity alone, whatever the plan's level."""
    silent: bool = False
    """Ask for nothing at all."""

    def resting(self) -> Target:
        """The same place, standing still: what is held when the plan is over.

        One that has no place (a descent by velocity alone, which goes on until the vehicle is
        disarmed) stays as it is.
        """
        if self.pos_enu_m is None or (self.vel_enu_mps == _STILL and self.yaw_rate_rps == 0.0):
            return self
        return self._replace(vel_enu_mps=_STILL, yaw_rate_rps=0.0)


class Leg(Protocol):
    """One item being flown. Times are ns since its start."""

    timeout_ns: int | None
    ends_on_ground: bool | None
    """What the item, finished, leaves the vehicle as; None: as it was."""

    def target(self, elapsed_ns: int, state: State, known: bool) -> Target:
        """What to ask for now; `known` is False where `state` is only what was asked for."""

    def finished(self, elapsed_ns: int, state: State, known: bool) -> bool:
        """Whether the item is done. Called after `target`."""


def make_leg(
    item: PlanItem,
    last: Target,
    state: State,
    on_ground: bool,
    limits: Limits,
    *,
    sink_by_velocity: bool = False,
) -> Leg:
    """Start an item where the last set-point was; on the ground, where the vehicle is.

    `sink_by_velocity`: land on a velocity alone, as PX4 wants it: its landing detector takes a
    vehicle for landed only while a velocity downwards is asked for (`MulticopterLandDetector.cpp`).
    """
    moving = last.pos_enu_m is None or not last.tracked
    start = state.pos_enu_m if last.pos_enu_m is None or moving else last.pos_enu_m
    yaw = state.yaw_rad if moving else last.yaw_rad
    match item:
        case TakeOff():
            goal = (start[0], start[1], item.altitude_m)
            return _Travel(item, start, goal, yaw, yaw, limits.climb_mps, limits)
        case GoTo():
            heading = math.radians(item.yaw_deg)
            return _Travel(item, start, item.pos_enu_m, yaw, heading, item.speed_mps, limits)
        case Hold():
            if on_ground:
                return _Wait(item, last._replace(silent=last.pos_enu_m is None).resting())
            return _Wait(item, Target(start, yaw_rad=yaw, tracked=True))
        case VelocityFor():
            return _Velocity(item)
        case Land():
            return _Descent(item, start, yaw, sink_by_velocity)


class _Travel:
    """Take-off and waypoints: along a line to a goal, done within a tolerance of it."""

    ends_on_ground: bool | None = False

    def __init__(
        self,
        item: TakeOff | GoTo,
        start: Vec3,
        goal: Vec3,
        yaw: float,
        heading: float,
        speed_mps: float,
        limits: Limits,
    ) -> None:
        self.timeout_ns: int | None = item.timeout_ns
        self._tolerance = item.tolerance_m if isinstance(item, GoTo) else _TAKEOFF_TOLERANCE_M
        self._line = LineProfile(start, goal, speed_mps, limits.accel_mps2)
        self._yaw = YawProfile(yaw, heading, limits.yaw_rate_rps)
        self._duration_s = max(self._line.duration_s, self._yaw.duration_s)

    def target(self, elapsed_ns: int, state: State, known: bool) -> Target:  # noqa: ARG002 - Leg
        t_s = elapsed_ns / 1e9
        pos, vel = self._line.at(t_s)
        yaw, rate = self._yaw.at(t_s)
        return Target(pos, vel, yaw, rate, tracked=True)

    def finished(self, elapsed_ns: int, state: State, known: bool) -> bool:
        if elapsed_ns / 1e9 < self._duration_s:
            return False
        return not known or math.dist(state.pos_enu_m, self._line.goal_m) <= self._tolerance


class _Wait:
    """Hold: one target for a time."""

    timeout_ns: int | None = None
    ends_on_ground: bool | None = None

    def __init__(self, item: Hold, target: Target) -> None:
        self._for_ns = item.for_ns
        self._target = target

    def target(self, elapsed_ns: int, state: State, known: bool) -> Target:  # noqa: ARG002 - Leg
        return self._target

    def finished(self, elapsed_ns: int, state: State, known: bool) -> bool:  # noqa: ARG002 - Leg
        return elapsed_ns >= self._for_ns


class _Velocity:
    """A velocity for a time."""

    timeout_ns: int | None = None
    ends_on_ground: bool | None = False

    def __init__(self, item: VelocityFor) -> None:
        self._for_ns = item.for_ns
        self._vel = item.vel_enu_mps
        self._rate = math.radians(item.yaw_rate_dps)

    def target(self, elapsed_ns: int, state: State, known: bool) -> Target:  # noqa: ARG002 - Leg
        if elapsed_ns < self._for_ns:
            return Target(None, self._vel, state.yaw_rad, self._rate, velocity_only=True)
        # What comes next starts from where this has led, not from where it began.
        return Target(state.pos_enu_m, yaw_rad=state.yaw_rad, tracked=True)

    def finished(self, elapsed_ns: int, state: State, known: bool) -> bool:  # noqa: ARG002 - Leg
        return elapsed_ns >= self._for_ns


class _Descent:
    """Land: down at a steady speed until the vehicle sinks no more."""

    ends_on_ground: bool | None = True

    def __init__(self, item: Land, start: Vec3, yaw: float, by_velocity: bool) -> None:
        self.timeout_ns: int | None = item.timeout_ns
        self._speed = item.speed_mps
        self._by_velocity = by_velocity
        self._start = start
        self._yaw = yaw
        self._still_since_ns: int | None = None
        self._landed = False

    def target(self, elapsed_ns: int, state: State, known: bool) -> Target:
        x, y, z = self._start
        down = z - self._speed * elapsed_ns / 1e9
        if known:
            # Not far below the vehicle: on the ground this would only push.
            down = max(down, state.pos_enu_m[2] - max(1.0, 2.0 * self._speed))
            self._judge(elapsed_ns, state, down)
        else:
            self._landed = down < -self._speed * _BLIND_LAND_EXTRA_S
        if self._by_velocity:
            fall = (0.0, 0.0, -max(self._speed, _PUSH_DOWN_MPS if self._landed else 0.0))
            return Target(None, fall, self._yaw, velocity_only=True)
        if self._landed:
            ground = state.pos_enu_m[2] if known else 0.0
            return Target((x, y, ground - _PUSH_DOWN_M), yaw_rad=self._yaw)
        return Target((x, y, down), (0.0, 0.0, -self._speed), self._yaw, tracked=True)

    def _judge(self, elapsed_ns: int, state: State, down: float) -> None:
        standing = (
            abs(state.vel_enu_mps[2]) < _LAND_STILL_RATIO * self._speed
            and state.pos_enu_m[2] - down > _LAND_GAP_M
        )
        if not standing:
            self._still_since_ns = None
        elif self._still_since_ns is None:
            self._still_since_ns = elapsed_ns
        elif elapsed_ns - self._still_since_ns >= _LAND_SETTLE_NS:
            self._landed = True

    def finished(self, elapsed_ns: int, state: State, known: bool) -> bool:  # noqa: ARG002 - Leg
        return self._landed
