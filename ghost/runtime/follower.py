"""The consumer of the HAL that flies a scenario's plan: data in, POSITION or VELOCITY commands out.

It knows the state from what it is given: ground truth, like the pilot of an ideal autopilot, or the
estimate of a real one. Where there is neither it flies by the clock: an item is done when its
set-point has arrived.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ghost.core import ConfigError, Event, EventSeverity, EventType, FlightPlan
from ghost.core.scenario import Hold, PlanItem, VelocityFor
from ghost.hal import (
    ActuatorCommand,
    ActuatorLevel,
    PositionCommand,
    VelocityCommand,
)
from ghost.runtime.legs import Known, Leg, Limits, State, Target, make_leg
from ghost.runtime.profile import wrap_pi

__all__ = ["PlanFollower", "describe", "levels_of"]

Vec3 = tuple[float, float, float]

_NEVER_NS = 2**63
_POS_GAIN = 1.0
"""Velocity asked per metre that the vehicle is off its set-point (VELOCITY plans), 1/s."""
_MAX_CORRECTION_MPS = 1.5
_YAW_GAIN = 1.5
"""Yaw rate asked per radian off the heading (VELOCITY plans), 1/s."""


def _frozen(values: Vec3) -> npt.NDArray[np.float64]:
    """An array that a message takes as it is, without copying it once more (D11)."""
    array = np.array(values, np.float64)
    array.flags.writeable = False
    return array


def levels_of(plan: FlightPlan) -> tuple[ActuatorLevel, ...]:
    """Return the levels a backend must take to fly `plan`, without duplicates."""
    wanted = [
        ActuatorLevel.VELOCITY if isinstance(item, VelocityFor) else ActuatorLevel[plan.level]
        for item in plan.items
    ]
    return tuple(dict.fromkeys(wanted))


def describe(item: PlanItem) -> str:
    """Return an item of a plan in a few words, for people."""
    if isinstance(item, Hold):
        return f"hold {item.for_ns / 1e9:g} s"
    if isinstance(item, VelocityFor):
        speed = ", ".join(f"{v:g}" for v in item.vel_enu_mps)
        return f"velocity ({speed}) m/s for {item.for_ns / 1e9:g} s"
    if item.action == "takeoff":
        return f"takeoff to {item.altitude_m:g} m"
    if item.action == "land":
        return "land"
    return "goto ({}) m".format(", ".join(f"{v:g}" for v in item.pos_enu_m))


class PlanFollower:
    """Flies a plan's items in order and keeps holding after the last one.

    Call `update` after each step once `now_ns >= due_ns`; it returns the command that is due.

    Args:
        plan: the items, the command level and the command rate.
        levels: what the backend takes. `ConfigError` if the plan needs more.
        limits: how fast set-points move where the plan does not say.
        on_ground: whether the vehicle starts standing; until the first item that flies, no
            command is sent then and the motors stand still.
        start_enu_m: where it starts, for worlds without ground truth.
        emit: told of items that were given up.
        start_ns: the clock's time at which the plan begins.
        sink_by_velocity: see `make_leg`.
    """

    def __init__(
        self,
        plan: FlightPlan,
        *,
        levels: Sequence[ActuatorLevel],
        limits: Limits,
        on_ground: bool,
        start_enu_m: Vec3,
        emit: Callable[[Event], None],
        start_ns: int = 0,
        sink_by_velocity: bool = False,
    ) -> None:
        for level in levels_of(plan):
            if level not in levels:
                offered = ", ".join(sorted(offer.name for offer in levels)) or "none"
                raise ConfigError(
                    f"the flight plan commands {level.name}, but the backend takes {offered}",
                    key="plan.level",
                )
        self.due_ns = start_ns if plan.items else _NEVER_NS
        """Nothing happens in `update` before this time."""
        self.setpoint_enu_m: Vec3 | None = None
        """The position commanded now, for measuring how well it is tracked."""
        self.done = 0
        """How many items are behind it, timed-out ones included."""
        self.timed_out: list[str] = []
        self._plan = plan
        self._by_velocity = plan.level == "VELOCITY"
        self._limits = limits
        self._on_ground = on_ground
        self._emit = emit
        self._start_ns = start_ns
        self._sink_by_velocity = sink_by_velocity
        self._tick = 0
        self._leg: Leg | None = None
        self._leg_start_ns = 0
        self._last = Target(pos_enu_m=None)
        self._blind = State(start_enu_m, (0.0, 0.0, 0.0), 0.0)

    @property
    def phase(self) -> str:
        """What it is doing, in a few words."""
        if self.done >= len(self._plan.items):
            return "plan done" if self._plan.items else "no plan"
        return describe(self._plan.items[self.done])

    @property
    def over(self) -> bool:
        """Whether the whole plan is behind it."""
        return self.done >= len(self._plan.items)

    def update(self, now_ns: int, truth: Known | None) -> ActuatorCommand | None:
        """Return the command to send at `now_ns`, or None if none is due."""
        if now_ns < self.due_ns:
            return None
        # The grid is computed from its index, so the rate never drifts (D2).
        self._tick += 1
        self.due_ns = self._start_ns + math.ceil(self._tick * 1e9 / self._plan.command_rate_hz)

        known = truth is not None
        state = State.of(truth) if truth is not None else self._blind
        target = self._advance(now_ns, state, known)
        self._last = target
        self.setpoint_enu_m = target.pos_enu_m if target.tracked else None
        if not known and target.pos_enu_m is not None:
            self._blind = State(target.pos_enu_m, target.vel_enu_mps, target.yaw_rad)
        if target.silent:
            return None
        return self._command(target, state, known)

    def _advance(self, now_ns: int, state: State, known: bool) -> Target:
        """Move on through the items that are done, and return what to ask for now."""
        items = self._plan.items
        while self.done < len(items):
            item = items[self.done]
            leg = self._leg
            if leg is None:
                leg = self._leg = make_leg(
                    item,
                    self._last,
                    state,
                    self._on_ground,
                    self._limits,
                    sink_by_velocity=self._sink_by_velocity,
                )
                self._leg_start_ns = now_ns
            elapsed_ns = now_ns - self._leg_start_ns
            target = leg.target(elapsed_ns, state, known)
            if not leg.finished(elapsed_ns, state, known):
                if leg.timeout_ns is None or elapsed_ns < leg.timeout_ns:
                    return target
                self._give_up(item, now_ns, elapsed_ns, state if known else None)
                if known:
                    # What comes next starts where the vehicle is, not where it should have been.
                    target = target._replace(pos_enu_m=state.pos_enu_m, yaw_rad=state.yaw_rad)
            elif leg.ends_on_ground is not None:
                self._on_ground = leg.ends_on_ground
            self._last = target
            self._leg = None
            self.done += 1
        return self._last.resting()

    def _give_up(self, item: PlanItem, now_ns: int, elapsed_ns: int, state: State | None) -> None:
        what = describe(item)
        self.timed_out.append(what)
        where = ""
        if state is not None:
            where = " at ({}) m".format(", ".join(f"{v:.2f}" for v in state.pos_enu_m))
        self._emit(
            Event(
                type=EventType.PLAN_TIMEOUT,
                stamp_sim_ns=now_ns,
                severity=EventSeverity.WARN,
                source="runtime/follower",
                message=f"gave up '{what}' after {elapsed_ns / 1e9:g} s{where}; going on",
                payload={"item": self.done, "action": item.action, "elapsed_ns": elapsed_ns},
            )
        )

    def _command(self, target: Target, state: State, known: bool) -> ActuatorCommand:
        if self._by_velocity or target.velocity_only or target.pos_enu_m is None:
            vx, vy, vz = target.vel_enu_mps
            yaw_rate = target.yaw_rate_rps
            if known and not target.velocity_only:
                if target.pos_enu_m is not None:
                    tx, ty, tz = target.pos_enu_m
                    x, y, z = state.pos_enu_m
                    off_m = math.dist(target.pos_enu_m, state.pos_enu_m)
                    gain = min(_POS_GAIN, _MAX_CORRECTION_MPS / off_m) if off_m > 0.0 else 0.0
                    vx += gain * (tx - x)
                    vy += gain * (ty - y)
                    vz += gain * (tz - z)
                yaw_rate += _YAW_GAIN * wrap_pi(target.yaw_rad - state.yaw_rad)
            return VelocityCommand(_frozen((vx, vy, vz)), yaw_rate)
        return PositionCommand(_frozen(target.pos_enu_m), target.yaw_rad)
