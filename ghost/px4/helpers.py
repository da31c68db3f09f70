"""Take-off, landing, hold and return with PX4's own flight modes: on top of the HAL, not in it.

Each helper takes a `step` callable that moves the world by one step, polls the session (and steps
the `OffboardSink`, if there is one) and returns the new simulated time in ns. It is called until
PX4 has done what was asked, or `timeout_s` of simulated time has passed. The answer is an ack:
NOT_ARMED, AUTOPILOT_OFFLINE, TIMEOUT, or INVALID_VALUE with PX4's own words if it refused.

`sink`, if given, stops its set-points when PX4 has changed over, and begins again with the next
command sent to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from ghost.hal import AckReason, CommandAck
from ghost.px4.modes import HOLD, RETURN, TAKEOFF, FlightMode
from ghost.px4.offboard import OffboardSink
from ghost.px4.requests import Request
from ghost.px4.session import Px4Session

__all__ = ["Step", "hold", "land", "return_home", "take_off"]

Step: TypeAlias = Callable[[], int]

_NAV_TAKEOFF = 22
_NAV_LAND = 21
_DO_SET_MODE = 176
_CUSTOM_MODE_ENABLED = 1.0
_SHORT_M = 0.3
"""How far below the height asked for a take-off counts as done; PX4's own is NAV_MC_ALT_RAD."""


def take_off(
    session: Px4Session,
    step: Step,
    height_m: float,
    *,
    sink: OffboardSink | None = None,
    timeout_s: float = 30.0,
) -> CommandAck:
    """Climb to `height_m` above the present place and hold there. The vehicle must be armed.

    `ValueError` if the height is not within 0.5..1000 m.
    """
    if not 0.5 <= height_m <= 1000.0:
        raise ValueError(f"height_m must be within 0.5..1000, got {height_m!r}")
    position, altitude_m = session.position_ned, session.telemetry.altitude_amsl_m
    if not session.armed:
        return _refused(AckReason.NOT_ARMED, session, "PX4 is not armed: call arm() first")
    if position is None or altitude_m is None:
        return _refused(AckReason.INVALID_VALUE, session, "PX4 does not know its altitude yet")
    goal_m = position[2] - height_m + _SHORT_M
    started = [False]

    def up() -> bool:
        started[0] = started[0] or session.mode == TAKEOFF.name
        here = session.position_ned
        arrived = here is not None and here[2] <= goal_m
        return started[0] and (arrived or session.mode == HOLD.name)

    nan = math.nan  # here, as you are
    request = session.request(_NAV_TAKEOFF, 0.0, 0.0, 0.0, nan, nan, nan, altitude_m + height_m)
    return _fly(session, step, request, up, "take off", sink, timeout_s)


def land(
    session: Px4Session,
    step: Step,
    *,
    sink: OffboardSink | None = None,
    timeout_s: float = 60.0,
) -> CommandAck:
    """Come down here until PX4 says that it has landed (it then disarms after COM_DISARM_LAND)."""
    nan = math.nan
    request = session.request(_NAV_LAND, 0.0, 0.0, 0.0, nan, nan, nan, 0.0)
    return _fly(session, step, request, lambda: _down(session), "land", sink, timeout_s)


def hold(
    session: Px4Session,
    step: Step,
    *,
    sink: OffboardSink | None = None,
    timeout_s: float = 5.0,
) -> CommandAck:
    """Stay where you are."""
    request = _mode_request(session, HOLD)
    return _fly(session, step, request, lambda: session.mode == HOLD.name, "hold", sink, timeout_s)


def return_home(
    session: Px4Session,
    step: Step,
    *,
    sink: OffboardSink | None = None,
    timeout_s: float = 120.0,
) -> CommandAck:
    """Fly to the place of the take-off, at RTL_RETURN_ALT, and land there."""
    request = _mode_request(session, RETURN)
    return _fly(session, step, request, lambda: _down(session), "return", sink, timeout_s)


def _mode_request(session: Px4Session, mode: FlightMode) -> Request:
    return session.request(_DO_SET_MODE, _CUSTOM_MODE_ENABLED, float(mode.main), float(mode.sub))


def _down(session: Px4Session) -> bool:
    return session.landed is True or not session.armed


def _fly(
    session: Px4Session,
    step: Step,
    request: Request,
    arrived: Callable[[], bool],
    what: str,
    sink: OffboardSink | None,
    timeout_s: float,
) -> CommandAck:
    """Step until PX4 has agreed and `arrived` says so."""
    end_ns = session.now_ns + round(timeout_s * 1e9)
    if sink is not None:
        sink.leave()
    while session.now_ns < end_ns:
        step()
        if request.done and not request.accepted:
            if sink is not None:
                sink.stay()
            reason = AckReason.INVALID_VALUE if request.answered else AckReason.AUTOPILOT_OFFLINE
            return _refused(reason, session, f"PX4 will not {what}: {request.text}")
        if request.accepted and arrived():
            return CommandAck(True, AckReason.OK, session.now_ns)
        if not session.connected:
            return _refused(AckReason.AUTOPILOT_OFFLINE, session, "PX4 is not heard any more")
    done = f"is in {session.mode}" if request.accepted else "has not answered"
    return _refused(
        AckReason.TIMEOUT, session, f"PX4 did not {what} within {timeout_s:g} s: it {done}"
    )


def _refused(reason: AckReason, session: Px4Session, detail: str) -> CommandAck:
    return CommandAck(False, reason, session.now_ns, detail=detail)
