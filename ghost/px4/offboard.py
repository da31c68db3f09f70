"""`OffboardSink`: set-points for PX4's OFFBOARD mode."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from ghost.core import EventSeverity, EventType, VehicleSpec
from ghost.hal import AckReason, ActuatorCommand, ActuatorLevel, ActuatorSpec, CommandAck
from ghost.hal import check_command as judge
from ghost.hal.frames import enu_yaw_to_ned_yaw, flu_to_frd, q_enu_flu_to_ned_frd
from ghost.px4.modes import OFFBOARD
from ghost.px4.requests import Request
from ghost.px4.session import Px4Session

__all__ = ["PX4_LEVELS", "OffboardPhase", "OffboardSink"]

PX4_LEVELS = (
    ActuatorLevel.POSITION,
    ActuatorLevel.VELOCITY,
    ActuatorLevel.ATTITUDE,
    ActuatorLevel.BODY_RATE,
)
"""What PX4 takes set-points for over MAVLink."""
_SOURCE = "px4/offboard"
_DO_SET_MODE = 176
_CUSTOM_MODE_ENABLED = 1.0
_STREAM_NS = 300_000_000
"""PX4 takes OFFBOARD only while set-points stream, and looks ten times a second (Commander.cpp)."""
_RETRY_NS = 1_000_000_000
_TAKEOVER_NS = 1_500_000_000
"""Simulated time for the mode to be heard after PX4 agreed: its heartbeat comes each second."""
PX4_LEVELS = (
    ActuatorLevel.POSITION,
    ActuatorLevel.VELOCITY,
    ActuatorLevel.ATTITUDE,
    ActuatorLevel.BODY_RATE,
)
"""What PX4 takes in OFFBOARD over MAVLink."""
_MOTOR_DETAIL = (
    "MOTOR is not offered by PX4: it takes no set-points for single motors over MAVLink (direct "
    "actuator control goes through its own middleware only); use BODY_RATE"
)


class OffboardPhase(Enum):
    """How far the set-points have got."""

    IDLE = "idle"
    """None was given, or `release` was called."""
    STREAMING = "streaming"
    """They are sent, and OFFBOARD will be asked for."""
    ASKED = "asked"
    REFUSED = "refused"
    """PX4 said no; it is asked again each simulated second."""
    ACTIVE = "active"
    """PX4 flies them."""
    LOST = "lost"
    """PX4 has left OFFBOARD by itself, or somebody else made it."""


class OffboardSink:
    """The `ActuatorSink` of a PX4, at the levels POSITION, VELOCITY, ATTITUDE and BODY_RATE.

    The first command begins a stream of set-points, one per `step`; then OFFBOARD is asked for. A
    command is accepted while that goes on, and takes effect when PX4 agrees.

    Refusals beyond those of `check_command`: AUTOPILOT_OFFLINE while PX4 is silent, while it
    refuses OFFBOARD and after it has left it, NOT_ARMED while it is disarmed; `detail` has PX4's
    own words. If PX4 leaves OFFBOARD by itself, the set-points go on, and when it comes back (as
    it does when a missing set-point was the cause) so does the sink; it is not asked again, since
    whoever took over, a pilot or a fail-safe, had a reason. `release()`, then a new command, does.

    Limits are those of the vehicle's `control`; `now` is the clock of the run, in ns. What happens
    to OFFBOARD goes to the events of the session.
    """

    def __init__(self, session: Px4Session, vehicle: VehicleSpec, now: Callable[[], int]) -> None:
        self.spec = ActuatorSpec(
            levels=PX4_LEVELS,
            motor_count=0,
            max_velocity_mps=vehicle.control.max_horizontal_mps,
            max_rate_rps=vehicle.control.max_rate_rps,
        )
        self.phase = OffboardPhase.IDLE
        self.refusal = ""
        """Why PX4 is not in OFFBOARD; empty while nothing stands against it."""
        self._session = session
        self._now = now
        self._closed = False
        self._send: Callable[[], bool] | None = None
        self._level: ActuatorLevel | None = None
        self._leaving = False
        self._last_stamp_ns = -(1 << 63)
        self._since_ns = 0
        self._asked: Request | None = None
        self._lost = ""

    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck:
        """Have PX4 fly `cmd` from the next step on; see `ActuatorSink.send`."""
        now_ns = self._now()
        if self._closed:
            return CommandAck(False, AckReason.CLOSED, now_ns, detail="the autopilot is shut down")
        verdict = judge(cmd, stamp_ns, self.spec, now_ns=now_ns, last_stamp_ns=self._last_stamp_ns)
        reason, detail, applied, numbers, stamp = verdict
        if applied is None:
            if reason is AckReason.UNSUPPORTED_LEVEL and cmd.level is ActuatorLevel.MOTOR:
                detail = _MOTOR_DETAIL
            return CommandAck(False, reason, now_ns, detail=detail)
        session = self._session
        if self._lost:
            return self._offline(now_ns, self._lost)
        if not session.connected:
            return self._offline(now_ns, "PX4 is not heard: no telemetry came for three seconds")
        if not session.armed:
            reasons = "; ".join(session.reasons)
            detail = "PX4 is not armed: call arm() first" + (f" ({reasons})" if reasons else "")
            return CommandAck(False, AckReason.NOT_ARMED, now_ns, detail=detail)
        level = applied.level
        if self.refusal and (self.phase is OffboardPhase.LOST or level is self._level):
            return self._offline(now_ns, self.refusal)
        self._last_stamp_ns = stamp
        self._send = self._sender(level, numbers)
        if self.phase is OffboardPhase.IDLE or self.refusal:
            # What PX4 misses for one level (a position) it may not need for another.
            self.refusal = ""
            self._enter(OffboardPhase.STREAMING, now_ns)
        self._level = level
        self._leaving = False
        detail = "" if self.phase is OffboardPhase.ACTIVE else "OFFBOARD is being asked for"
        return CommandAck(True, AckReason.OK, now_ns, applied, detail)

    def step(self, now_ns: int) -> None:
        """Send the newest set-point, and see how PX4 takes it. Call it once per step."""
        if self._send is None or self._closed:
            return
        session = self._session
        phase = self.phase
        if not session.armed:  # landed and disarmed: the end of a flight, not a loss
            if phase is OffboardPhase.ACTIVE:
                self._note(EventSeverity.INFO, "OFFBOARD ends: PX4 is disarmed")
            self.release()
            return
        self._send()
        active = session.mode == OFFBOARD.name and session.connected
        if phase is OffboardPhase.ACTIVE:
            if not active and self._leaving:
                self.release()
            elif not active:
                self._lose(now_ns)
        elif self._leaving:
            self.release()
        elif active:
            regained = phase is OffboardPhase.LOST
            self._enter(OffboardPhase.ACTIVE, now_ns)
            self.refusal = ""
            self._note(EventSeverity.INFO, "OFFBOARD regained" if regained else "OFFBOARD is on")
        elif phase is OffboardPhase.ASKED:
            self._await(now_ns)
        elif (phase is OffboardPhase.STREAMING and now_ns - self._since_ns >= _STREAM_NS) or (
            phase is OffboardPhase.REFUSED and now_ns - self._since_ns >= _RETRY_NS
        ):
            self._asked = session.request(_DO_SET_MODE, _CUSTOM_MODE_ENABLED, float(OFFBOARD.main))
            self._enter(OffboardPhase.ASKED, now_ns)

    def release(self) -> None:
        """Send no more set-points: another mode is to fly. A new command begins anew."""
        self._send = None
        self._level = None
        self._leaving = False
        self._asked = None
        self.refusal = ""
        self.phase = OffboardPhase.IDLE

    def leave(self) -> None:
        """Expect another mode: it was asked for, and is no loss; set-points go on until it is on.

        `stay` takes it back, a new command too.
        """
        self._leaving = True

    def stay(self) -> None:
        """The other mode will not come."""
        self._leaving = False

    def reset(self) -> None:
        """Forget all: a new run begins."""
        self.release()
        self._closed = False
        self._lost = ""
        self._last_stamp_ns = -(1 << 63)

    def close(self) -> None:
        """Take no more commands."""
        self.release()
        self._closed = True

    def offline(self, why: str) -> None:
        """PX4 is gone for good: refuse all from now on, with this text."""
        self.release()
        self._lost = why

    # --- inside -------------------------------------------------------------------------------

    def _sender(self, level: ActuatorLevel, n: tuple[float, ...]) -> Callable[[], bool]:
        session = self._session
        if level is ActuatorLevel.POSITION:
            x, y, z, yaw = n
            heading = enu_yaw_to_ned_yaw(yaw)
            return lambda: session.send_position(x, y, z, heading)
        if level is ActuatorLevel.VELOCITY:
            vx, vy, vz, rate = n
            return lambda: session.send_velocity(vx, vy, vz, -rate)
        if level is ActuatorLevel.ATTITUDE:
            q, thrust = q_enu_flu_to_ned_frd(n[:4]), n[4]
            return lambda: session.send_attitude(q, thrust)
        rates, thrust = flu_to_frd(n[:3]), n[3]
        return lambda: session.send_body_rate(rates, thrust)

    def _await(self, now_ns: int) -> None:
        asked = self._asked
        if asked is None or not asked.done:
            return
        if not asked.accepted:
            why = "; ".join((asked.text, *self._session.telemetry.book.current(OFFBOARD.name)))
        elif now_ns - self._since_ns < _TAKEOVER_NS:
            return
        else:
            why = f"PX4 agreed to OFFBOARD, but stays in {self._session.mode}"
        before, self.refusal = self.refusal, f"PX4 does not take OFFBOARD: {why}"
        self._enter(OffboardPhase.REFUSED, now_ns)
        if self.refusal != before:
            self._note(EventSeverity.WARN, self.refusal, EventType.COMMAND_REJECTED)

    def _lose(self, now_ns: int) -> None:
        session = self._session
        if not session.connected:
            why = "PX4 is silent"
        else:
            said = "; ".join(session.recent_texts())
            why = f"PX4 changed to {session.mode}" + (f" ({said})" if said else "")
        self.refusal = f"OFFBOARD lost: {why}"
        self._enter(OffboardPhase.LOST, now_ns)
        self._note(EventSeverity.ERROR, self.refusal, EventType.SAFETY_VIOLATION)

    def _enter(self, phase: OffboardPhase, now_ns: int) -> None:
        self.phase = phase
        self._since_ns = now_ns

    def _offline(self, now_ns: int, detail: str) -> CommandAck:
        return CommandAck(False, AckReason.AUTOPILOT_OFFLINE, now_ns, detail=detail)

    def _note(
        self, severity: EventSeverity, message: str, kind: EventType = EventType.AUTOPILOT
    ) -> None:
        self._session.note(severity, message, kind, _SOURCE)
