"""`Px4Session`: the talk with one PX4 on its offboard link, step by step."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence

from ghost.core import Event, EventSeverity, EventType, HostClock
from ghost.hal import StateEstimate
from ghost.hal.frames import Quat, Vec3, enu_to_ned
from ghost.px4.local_frame import LocalFrame
from ghost.px4.mailbox import Mailbox
from ghost.px4.requests import Request, RequestDesk
from ghost.px4.sdk import PASSED_ON, Sdk, renumbered
from ghost.px4.strangers import Strangers
from ghost.px4.telemetry import CURRENT_MODE, Telemetry
from ghost.px4.traffic import TrafficLog
from ghost.px4.voice import Voice

__all__ = ["Px4Session"]

_SOURCE = "px4"
_HEARTBEAT_NS = 1_000_000_000
_TEXT_NS = 100_000_000
"""Simulated time after which a long STATUSTEXT is taken as complete."""
_RECENT_NS = 500_000_000
_WARNING = 4
"""MAV_SEVERITY_WARNING; lower numbers are worse."""
_SET_MESSAGE_INTERVAL = 511
_RUN_PREARM_CHECKS = 401
_ASK_WHY_NS = 5_000_000_000
_CURRENT_MODE_US = 50_000.0
"""PX4 sends CURRENT_MODE when the mode has changed, at its own rate up to two seconds later."""
_SEVERITIES = (
    *(EventSeverity.CRITICAL,) * 3,
    EventSeverity.ERROR,
    EventSeverity.WARN,
    *(EventSeverity.INFO,) * 2,
    EventSeverity.DEBUG,
)
"""By MAV_SEVERITY."""


class Px4Session:
    """Telemetry from PX4 and commands to it, on a UDP port that this object owns.

    All time is simulated time, given to `poll`: the heartbeat of a ground station is sent once per
    simulated second, and nothing waits. Commands are packed by MAVSDK (`ghost.px4.sdk`); the
    heartbeat and the set-points, which must leave within the step, by `ghost.px4.voice`: through
    MAVSDK's thread a set-point takes several times as long, and may miss its step.

    `system_id` is the one expected, or None for that of the first PX4 heard. Other systems, and a
    second sender of the same id, are counted and reported once; a second ground station is not
    listened to, nor are the answers meant for it.

    Raises `MissingDependency` if mavsdk is not installed.
    """

    def __init__(
        self,
        *,
        local_port: int,
        host: HostClock,
        bind: str = "127.0.0.1",
        system_id: int | None = None,
    ) -> None:
        self.traffic = TrafficLog("/mavlink/offboard")
        self.telemetry = Telemetry()
        self.strangers = Strangers()
        self.host = host
        self._sdk = Sdk()
        self._voice = Voice()
        self._desk = RequestDesk(self._send_request)
        self._mailbox = Mailbox(
            (bind, local_port),
            self.telemetry,
            self.traffic,
            self.strangers,
            wanted=system_id,
            passed_on=PASSED_ON,
            pass_on=self._sdk.received,
        )
        self._attached = False
        self._now_ns = 0
        self._beat_due_ns = -1
        self._was_connected = False
        self._was_restarts = 0
        self._frame = LocalFrame()
        self._ask_ns = 0
        self._events: list[Event] = []
        self._tasks: list[Callable[[int], bool]] = []
        self._recent: deque[tuple[int, str]] = deque(maxlen=16)

    def open(self) -> None:
        """Bind the port. `ConfigError` if it is taken."""
        self._mailbox.open()

    def close(self) -> None:
        """Hang up and end MAVSDK; open requests are given up. Idempotent."""
        self._desk.clear()
        self._tasks.clear()
        self._mailbox.close()
        self._sdk.close()

    # --- the step -----------------------------------------------------------------------------

    def poll(self, now_ns: int) -> None:
        """Take what has arrived and do what is due at `now_ns`. Never blocks."""
        self._now_ns = now_ns
        self._mailbox.drain(now_ns)
        if self._mailbox.system and now_ns >= self._beat_due_ns:
            self._beat(now_ns)
        if not self._attached:
            self._attach()
        else:
            self._flush(self._sdk.pending())
        telemetry = self.telemetry
        telemetry.settle(now_ns, _TEXT_NS)
        if telemetry.texts or telemetry.acks or self._desk:
            self._answers(now_ns)
        if self._tasks:
            self._tasks = [task for task in self._tasks if not task(now_ns)]
        telemetry.params.clear()
        telemetry.param_errors.clear()
        self._notice(now_ns)
        if self._attached and now_ns >= self._ask_ns:
            self._ask_why(now_ns)

    def add_task(self, task: Callable[[int], bool]) -> None:
        """Have `task(now_ns)` called at the end of each poll until it returns True."""
        self._tasks.append(task)

    def events(self) -> list[Event]:
        """What happened since the last call: PX4's own texts, connection lost, strangers."""
        events, self._events = self._events, []
        return events

    def note(
        self,
        severity: EventSeverity,
        message: str,
        kind: EventType = EventType.AUTOPILOT,
        source: str = _SOURCE,
    ) -> None:
        """Add an event of this moment."""
        self._events.append(Event(kind, self._now_ns, severity, source, message))

    # --- state --------------------------------------------------------------------------------

    @property
    def now_ns(self) -> int:
        """Simulated time of the last poll."""
        return self._now_ns

    @property
    def connected(self) -> bool:
        """Whether PX4 was heard in the last three simulated seconds."""
        return self._mailbox.connected(self._now_ns)

    @property
    def system_id(self) -> int | None:
        """PX4's system id; None until it was heard."""
        return self._mailbox.system or None

    @property
    def bad_packets(self) -> int:
        """Datagrams that came with a wrong checksum, or with something that is no packet."""
        return self._mailbox.bad_packets

    @property
    def armed(self) -> bool:
        """As last heard."""
        return self.telemetry.armed

    @property
    def mode(self) -> str:
        """PX4's flight mode, as last heard: `HOLD`, `OFFBOARD`, `LAND` … (`ghost.px4.modes`)."""
        return self.telemetry.mode

    @property
    def landed(self) -> bool | None:
        """What PX4's landing detector says; None while it does not know."""
        return self.telemetry.landed

    @property
    def ready_to_arm(self) -> bool:
        """Whether PX4 would arm: its arming checks pass in the present mode.

        HEARTBEAT says STANDBY then, and SYS_STATUS sets the pre-arm bit; the bit follows up to two
        seconds later, since PX4 limits its reports, and both are awaited.
        """
        telemetry = self.telemetry
        if not self.connected:
            return False
        return telemetry.armed or (telemetry.standby and telemetry.prearm_ok is not False)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why PX4 will not arm, in its own words, newest last."""
        return self.telemetry.book.current(self.telemetry.mode)

    def recent_texts(self) -> tuple[str, ...]:
        """PX4's warnings and errors of the last half simulated second, newest last."""
        since_ns = self._now_ns - _RECENT_NS
        return tuple(text for at_ns, text in self._recent if at_ns >= since_ns)

    @property
    def version(self) -> str | None:
        """PX4's version, once it has told (`1.17.0-alpha`)."""
        return self.telemetry.version

    @property
    def position_ned(self) -> Vec3 | None:
        """PX4's estimate of the position, m, in its own local frame."""
        return self.telemetry.position_ned

    @property
    def velocity_ned(self) -> Vec3 | None:
        """PX4's estimate of the velocity, m/s."""
        return self.telemetry.velocity_ned

    @property
    def attitude(self) -> Quat | None:
        """PX4's estimate of the attitude, body FRD to world NED (w, x, y, z)."""
        return self.telemetry.q_ned_frd

    def anchor(self, pos_enu_m: Sequence[float]) -> None:
        """Say that the vehicle is truly at `pos_enu_m` now; without an estimate nothing changes.

        PX4's local frame begins where its estimator started: from now on estimates and set-points
        are shifted by the difference.
        """
        position = self.telemetry.position_ned
        if position is not None:
            self._frame.anchor(position, pos_enu_m)

    def estimate(self, now_ns: int) -> StateEstimate | None:
        """What PX4 believes, in the world's frame; None before it believes anything.

        The same object, with its stamp, until something new was heard.
        """
        return self._frame.estimate(self.telemetry, now_ns)

    # --- commands -----------------------------------------------------------------------------

    def request(self, command: int, *params: float) -> Request:
        """Send COMMAND_LONG with up to seven parameters (the rest are 0); `poll` completes it.

        It is sent when PX4 has been heard, and again each half simulated second, ten times at
        most, while there is no answer. Raises `ValueError` for an infinite parameter.
        """
        return self._desk.add(command, params, self._now_ns)

    def read_param(self, name: str) -> bool:
        """Ask for a parameter, which `telemetry.params` then brings; False if PX4 is not there."""
        return self._send_sdk("PARAM_REQUEST_READ", {"param_id": name, "param_index": -1})

    def send_position(self, x: float, y: float, z: float, yaw_ned_rad: float) -> bool:
        """Set-point: position in m (world ENU) and heading clockwise from north in rad.

        This and the others return False if PX4 is not there.
        """
        return self._mailbox.transmit(
            self._voice.position(self._time_ms, *self._frame.to_ned(x, y, z), yaw_ned_rad)
        )

    def send_velocity(self, vx: float, vy: float, vz: float, yaw_rate_ned_rps: float) -> bool:
        """Set-point: velocity in m/s (world ENU) and rate of the heading, clockwise, in rad/s."""
        return self._mailbox.transmit(
            self._voice.velocity(self._time_ms, *enu_to_ned((vx, vy, vz)), yaw_rate_ned_rps)
        )

    def send_attitude(self, q_ned_frd: Quat, thrust: float) -> bool:
        """Set-point: attitude, body FRD to world NED, and collective thrust 0..1."""
        return self._mailbox.transmit(self._voice.attitude(self._time_ms, *q_ned_frd, thrust))

    def send_body_rate(self, rate_frd_rps: Vec3, thrust: float) -> bool:
        """Set-point: body rates in rad/s (FRD) and collective thrust 0..1."""
        return self._mailbox.transmit(self._voice.body_rate(self._time_ms, *rate_frd_rps, thrust))

    # --- inside -------------------------------------------------------------------------------

    @property
    def _time_ms(self) -> int:
        return self._now_ns // 1_000_000

    def _beat(self, now_ns: int) -> None:
        self._voice.target_system = self._mailbox.system
        self._mailbox.transmit(self._voice.heartbeat())
        self._beat_due_ns = now_ns + _HEARTBEAT_NS

    def _attach(self) -> None:
        system = self._mailbox.system
        if not system or not self._sdk.attach(system):
            return
        self._attached = True
        self.request(_SET_MESSAGE_INTERVAL, float(CURRENT_MODE), _CURRENT_MODE_US)

    def _flush(self, packets: list[bytes]) -> None:
        if packets:
            for raw in renumbered(self._voice, packets):
                self._mailbox.transmit(raw)

    def _send_request(self, request: Request) -> bool:
        fields: dict[str, float | int | str | None] = {
            "command": request.command,
            "confirmation": request.tries,
        }
        for index in range(7):
            value = request.params[index] if index < len(request.params) else 0.0
            fields[f"param{index + 1}"] = None if math.isnan(value) else value
        return self._send_sdk("COMMAND_LONG", fields)

    def _send_sdk(self, name: str, fields: dict[str, float | int | str | None]) -> bool:
        if not self._attached or not self.connected:
            return False
        target = {"target_system": self._mailbox.system, "target_component": 1}
        self._flush(self._sdk.send(name, {**target, **fields}))
        return True

    def _ask_why(self, now_ns: int) -> None:
        """Have the arming checks reported, if none was heard: PX4 tells of changes only.

        Its link here starts late in its boot, when the checks have often told all they had to.
        """
        if self._ask_ns and not self.ready_to_arm and not self.telemetry.book.reports:
            self.request(_RUN_PREARM_CHECKS)
        self._ask_ns = now_ns + _ASK_WHY_NS

    def _answers(self, now_ns: int) -> None:
        telemetry = self.telemetry
        acks, telemetry.acks = telemetry.acks, []
        lines, telemetry.texts = telemetry.texts, []
        self._desk.advance(acks, lines, now_ns)
        for line in lines:
            if line.severity <= _WARNING:
                self._recent.append((now_ns, line.text))
            self.note(_SEVERITIES[min(line.severity, 7)], line.text)

    def _notice(self, now_ns: int) -> None:
        connected = self._mailbox.connected(now_ns)
        if connected != self._was_connected:
            self._was_connected = connected
            if connected:
                self.note(EventSeverity.INFO, f"PX4 is heard (system {self._mailbox.system})")
            else:
                self.note(EventSeverity.ERROR, "PX4 is silent: no telemetry for three seconds")
        if self.telemetry.restarts != self._was_restarts:
            self._was_restarts = self.telemetry.restarts
            self._desk.clear()
            self.note(EventSeverity.ERROR, "PX4 has started anew")
        for line in self.strangers.lines():
            self.note(EventSeverity.WARN, line)
