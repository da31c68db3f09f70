"""What PX4 tells about itself: the payloads of its telemetry, decoded into one state.

PX4 sends about 700 packets per simulated second on its offboard link, and some 170 of them matter
here. Layouts are MAVLink's wire order (fields by size, extensions after), with trailing zeros cut
off by MAVLink 2. Nothing that arrives makes a decoder raise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from struct import Struct
from types import MappingProxyType
from typing import Any, NamedTuple

from ghost.hal.frames import Quat, Vec3
from ghost.px4.modes import mode_name
from ghost.px4.reasons import ReasonBook

__all__ = ["CRC_EXTRAS", "Ack", "ParamError", "ParamValue", "Telemetry", "TextLine"]

HEARTBEAT = 0
SYS_STATUS = 1
PARAM_VALUE = 22
ATTITUDE_QUATERNION = 31
LOCAL_POSITION_NED = 32
COMMAND_ACK = 77
ALTITUDE = 141
AUTOPILOT_VERSION = 148
EXTENDED_SYS_STATE = 245
STATUSTEXT = 253
PARAM_ERROR = 345
EVENT = 410
CURRENT_MODE = 436

CRC_EXTRAS: Mapping[int, int] = MappingProxyType(
    {
        HEARTBEAT: 50,
        SYS_STATUS: 124,
        PARAM_VALUE: 220,
        ATTITUDE_QUATERNION: 246,
        LOCAL_POSITION_NED: 185,
        COMMAND_ACK: 143,
        ALTITUDE: 47,
        AUTOPILOT_VERSION: 178,
        EXTENDED_SYS_STATE: 130,
        STATUSTEXT: 83,
        PARAM_ERROR: 209,
        EVENT: 160,
        CURRENT_MODE: 193,
    }
)
"""CRC_EXTRA of what is decoded. EVENT and CURRENT_MODE are not in pymavlink's `common` dialect;
theirs are from the headers PX4 v1.17 is built with."""

_HEARTBEAT = Struct("<I4B")
_SYS_STATUS = Struct("<3I")
_PARAM_VALUE = Struct("<4s2H16sB")
_ATTITUDE_QUATERNION = Struct("<I4f")
_LOCAL_POSITION_NED = Struct("<I6f")
_COMMAND_ACK = Struct("<HBBiBB")
_ALTITUDE = Struct("<Q2f")
_AUTOPILOT_VERSION = Struct("<16xI")
_STATUSTEXT = Struct("<B50sHB")
_PARAM_ERROR = Struct("<h2B16sB")
_EVENT = Struct("<2IH3B40s")

_ARMED = 0x80
_MAV_STATE_STANDBY = 3
_PREARM_CHECK = 0x10000000
"""MAV_SYS_STATUS_PREARM_CHECK."""
_RESTARTED_MS = 1_000
"""PX4's time since boot goes back by more than this only when it boots again."""
_MOST_CHUNKS = 8
_RELEASES = ((255, ""), (192, "-rc"), (128, "-beta"), (64, "-alpha"), (0, "-dev"))
"""FIRMWARE_VERSION_TYPE, from its number up."""


class Ack(NamedTuple):
    """COMMAND_ACK."""

    command: int
    result: int
    progress: int
    target_system: int
    target_component: int


class TextLine(NamedTuple):
    """STATUSTEXT, its chunks put together."""

    severity: int
    """MAV_SEVERITY: 0 emergency … 3 error, 4 warning, 5 notice, 6 info, 7 debug."""
    text: str


class ParamValue(NamedTuple):
    """PARAM_VALUE, byte-wise as PX4 sends it."""

    name: str
    value: float
    is_int: bool


class ParamError(NamedTuple):
    """PARAM_ERROR; `error` 1 says that there is no such parameter."""

    name: str
    error: int
    target_system: int
    target_component: int


class _Line(NamedTuple):
    """A STATUSTEXT that may have more parts to come."""

    severity: int
    number: int
    since_ns: int
    parts: list[bytes]


class Telemetry:
    """The state of one autopilot as last heard. `handlers` maps message ids to decoders."""

    def __init__(self) -> None:
        self.handlers: Mapping[int, Callable[[bytes, int], None]] = MappingProxyType(
            {
                HEARTBEAT: self._heartbeat,
                SYS_STATUS: self._sys_status,
                PARAM_VALUE: self._param_value,
                ATTITUDE_QUATERNION: self._attitude,
                LOCAL_POSITION_NED: self._position,
                COMMAND_ACK: self._ack,
                ALTITUDE: self._altitude,
                AUTOPILOT_VERSION: self._autopilot_version,
                EXTENDED_SYS_STATE: self._extended_state,
                STATUSTEXT: self._text,
                PARAM_ERROR: self._param_error,
                EVENT: self._event,
                CURRENT_MODE: self._current_mode,
            }
        )
        self.book = ReasonBook()
        self.clear()

    def clear(self) -> None:
        """Know nothing."""
        self.armed = False
        self.mode = ""
        self.standby = False
        """Whether the last HEARTBEAT said STANDBY: disarmed, and the arming checks pass."""
        self.prearm_ok: bool | None = None
        self.landed: bool | None = None
        self.version: str | None = None
        self.boot_ms = 0
        self.restarts = 0
        self.position_ned: Vec3 | None = None
        self.velocity_ned: Vec3 | None = None
        self.q_ned_frd: Quat | None = None
        self.altitude_amsl_m: float | None = None
        self.acks: list[Ack] = []
        self.texts: list[TextLine] = []
        self.params: list[ParamValue] = []
        self.param_errors: list[ParamError] = []
        self._line: _Line | None = None
        self.book.clear()

    def take(self, msgid: int, payload: bytes, now_ns: int) -> None:
        """Decode one payload whose checksum was right; unknown ids are ignored."""
        handler = self.handlers.get(msgid)
        if handler is not None:
            handler(payload, now_ns)

    def _heartbeat(self, payload: bytes, _now_ns: int) -> None:
        custom_mode, _, _, base_mode, state = _unpack(_HEARTBEAT, payload)
        self.armed = bool(base_mode & _ARMED)
        self.mode = mode_name(custom_mode)
        self.standby = state == _MAV_STATE_STANDBY

    def _current_mode(self, payload: bytes, _now_ns: int) -> None:
        self.mode = mode_name(int.from_bytes(payload[:4], "little"))

    def _sys_status(self, payload: bytes, _now_ns: int) -> None:
        self.prearm_ok = bool(_unpack(_SYS_STATUS, payload)[2] & _PREARM_CHECK)

    def _attitude(self, payload: bytes, _now_ns: int) -> None:
        boot_ms, w, x, y, z = _unpack(_ATTITUDE_QUATERNION, payload)
        norm = math.hypot(w, x, y, z)
        if 0.5 < norm < 2.0:  # float32 rounding only; NaN and zeros are no attitude
            self.q_ned_frd = (w / norm, x / norm, y / norm, z / norm)
        self._boot_time(boot_ms)

    def _position(self, payload: bytes, _now_ns: int) -> None:
        boot_ms, x, y, z, vx, vy, vz = _unpack(_LOCAL_POSITION_NED, payload)
        if math.isfinite(x + y + z + vx + vy + vz):
            self.position_ned = (x, y, z)
            self.velocity_ned = (vx, vy, vz)
        self._boot_time(boot_ms)

    def _altitude(self, payload: bytes, _now_ns: int) -> None:
        _, _, altitude_m = _unpack(_ALTITUDE, payload)
        if math.isfinite(altitude_m):
            self.altitude_amsl_m = altitude_m

    def _boot_time(self, boot_ms: int) -> None:
        if boot_ms + _RESTARTED_MS < self.boot_ms:
            restarts = self.restarts + 1
            self.clear()
            self.restarts = restarts
        self.boot_ms = boot_ms

    def _extended_state(self, payload: bytes, _now_ns: int) -> None:
        state = payload[1] if len(payload) > 1 else 0  # MAV_LANDED_STATE
        self.landed = None if state == 0 else state == 1

    def _ack(self, payload: bytes, _now_ns: int) -> None:
        command, result, progress, _, system, component = _unpack(_COMMAND_ACK, payload)
        self.acks.append(Ack(command, result, progress, system, component))

    def _autopilot_version(self, payload: bytes, _now_ns: int) -> None:
        (flight,) = _unpack(_AUTOPILOT_VERSION, payload)
        major, minor, patch, kind = flight.to_bytes(4, "big")
        suffix = next(text for least, text in _RELEASES if kind >= least)
        self.version = f"{major}.{minor}.{patch}{suffix}"

    def _param_value(self, payload: bytes, _now_ns: int) -> None:
        raw, _, _, name, kind = _unpack(_PARAM_VALUE, payload)
        # MAV_PARAM_TYPE: 5 uint32, 6 int32, 9 float. PX4 sends the bytes of an int as they are.
        is_int = kind in (5, 6)
        value: float = _INT32.unpack(raw)[0] if is_int else _FLOAT.unpack(raw)[0]
        self.params.append(ParamValue(_string(name), value, is_int))

    def _param_error(self, payload: bytes, _now_ns: int) -> None:
        _, system, component, name, error = _unpack(_PARAM_ERROR, payload)
        self.param_errors.append(ParamError(_string(name), error, system, component))

    def _text(self, payload: bytes, now_ns: int) -> None:
        severity, part, number, chunk = _unpack(_STATUSTEXT, payload)
        line = self._line
        if line is not None and (line.number != number or chunk != len(line.parts)):
            self.settle(now_ns, 0)
            line = None
        if line is None:
            line = self._line = _Line(severity, number, now_ns, [])
        line.parts.append(part)
        # A part of all 50 characters may be the last: PX4 says so only by sending no other.
        if b"\0" in part or len(line.parts) >= _MOST_CHUNKS or chunk >= len(line.parts):
            self.settle(now_ns, 0)

    def settle(self, now_ns: int, after_ns: int) -> None:
        """Take a STATUSTEXT as complete if no part of it came for `after_ns`."""
        line = self._line
        if line is None or now_ns - line.since_ns < after_ns:
            return
        self._line = None
        # PX4 marks what it also sends as an event with a tab.
        text = _string(b"".join(line.parts)).strip()
        if text:
            self.texts.append(TextLine(line.severity, text))
            self.book.text(text, now_ns)

    def _event(self, payload: bytes, now_ns: int) -> None:
        number, _, _, _, _, levels, arguments = _unpack(_EVENT, payload)
        self.book.event(number, levels, arguments, now_ns)


_INT32 = Struct("<i")
_FLOAT = Struct("<f")


def _unpack(layout: Struct, payload: bytes) -> tuple[Any, ...]:
    """The fields at the front of a payload that MAVLink 2 has cut short, or MAVLink 1 never had."""
    size = layout.size
    if len(payload) < size:
        payload = payload.ljust(size, b"\0")
    return layout.unpack_from(payload)


def _string(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace")
