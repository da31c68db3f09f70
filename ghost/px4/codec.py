"""MAVLink framing: bytes to packets and back, quick enough for every step of a simulation.

After the MAVLink 2 packet format (https://mavlink.io/en/guide/serialization.html): magic byte,
payload length, flags, sequence, system, component, message id, payload with its trailing zeros cut
off, checksum; MAVLink 1 has neither flags nor truncation. pymavlink's dialect is the authority on
ids and CRC_EXTRA, but it makes an object with Python attributes of every message, which costs more
than all else the link does in a step (`benchmarks/bench_px4_packing.py`).
"""

from __future__ import annotations

import re
from binascii import crc_hqx
from collections.abc import Mapping
from functools import cache
from struct import Struct
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["Framer", "MessageId", "Packet", "Splitter", "common_crc_extras", "x25"]

_V1, _V2 = 0xFE, 0xFD
_MAGIC = re.compile(b"[\xfd\xfe]")
_V1_EXTRA_BYTES = 8
_V2_EXTRA_BYTES = 12
"""Header and checksum around the payload."""
_SIGNATURE_BYTES = 13
_SIGNED = 0x01
"""The only incompatibility flag there is; a packet with another must be thrown away."""

_MIRROR = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


class MessageId:
    """Ids of the messages that the simulator link uses."""

    HEARTBEAT = 0
    COMMAND_LONG = 76
    HIL_ACTUATOR_CONTROLS = 93
    HIL_SENSOR = 107
    HIL_GPS = 113
    HIL_OPTICAL_FLOW = 114
    HIL_STATE_QUATERNION = 115
    DISTANCE_SENSOR = 132


_SENT_CRC_EXTRAS: Mapping[int, int] = MappingProxyType(
    {
        MessageId.HIL_SENSOR: 108,
        MessageId.HIL_GPS: 124,
        MessageId.HIL_OPTICAL_FLOW: 237,
        MessageId.HIL_STATE_QUATERNION: 4,
        MessageId.DISTANCE_SENSOR: 85,
    }
)
"""CRC_EXTRA of what the link sends (a test compares them with pymavlink's)."""


class Packet(NamedTuple):
    """One packet whose checksum is right."""

    msgid: int
    system: int
    component: int
    seq: int
    payload: bytes
    """As it came: MAVLink 2 cuts trailing zeros off."""
    raw: bytes
    """The whole packet, signature included."""


def x25(data: bytes) -> int:
    """MAVLink's checksum (CRC-16/MCRF4XX) of `data`.

    `binascii.crc_hqx` has the same polynomial, most significant bit first: mirroring the bits of
    each byte before and of the two bytes after makes one of the other.
    """
    mirrored = crc_hqx(data.translate(_MIRROR), 0xFFFF)
    return _MIRROR[mirrored >> 8] | _MIRROR[mirrored & 0xFF] << 8


@cache
def common_crc_extras() -> Mapping[int, int]:
    """CRC_EXTRA of every message of MAVLink's `common` dialect, by id, from pymavlink."""
    from pymavlink.dialects.v20 import common

    return MappingProxyType({int(i): int(kind.crc_extra) for i, kind in common.mavlink_map.items()})


class Framer:
    """Makes the MAVLink 2 packets of one sender, numbering them."""

    __slots__ = ("_kinds", "_seq")

    def __init__(self, system: int, component: int) -> None:
        self._seq = 0
        self._kinds = {
            msgid: (bytes((system, component)) + msgid.to_bytes(3, "little"), bytes((extra,)))
            for msgid, extra in _SENT_CRC_EXTRAS.items()
        }

    def frame(self, msgid: int, payload: bytes) -> bytes:
        """The whole packet around `payload`; `KeyError` for a message the link does not send."""
        sender, extra = self._kinds[msgid]
        payload = payload.rstrip(b"\0") or b"\0"
        seq = self._seq
        self._seq = (seq + 1) & 0xFF
        body = bytes((len(payload), 0, 0, seq)) + sender + payload
        crc = crc_hqx((body + extra).translate(_MIRROR), 0xFFFF)
        return b"\xfd" + body + crc.to_bytes(2, "big").translate(_MIRROR)


class Splitter:
    """Cuts a stream of bytes into packets, MAVLink 1 and 2, signed or not.

    Nothing that comes makes it raise. A packet among garbage is found as soon as its last byte is
    there, even if the garbage before it looked like the beginning of a longer packet: in lockstep
    nothing else would come. Signatures are not verified.

    `bad_crc` counts packets whose checksum was wrong, `unknown` those with an id that is not in
    `crc_extras` (their checksum cannot be verified, so they are left out), `garbage_bytes` the
    bytes outside all of these.
    """

    __slots__ = ("_extras", "_judged", "_rest", "bad_crc", "garbage_bytes", "unknown")

    def __init__(self, crc_extras: Mapping[int, int] | None = None) -> None:
        extras = common_crc_extras() if crc_extras is None else crc_extras
        self._extras = {msgid: bytes((extra,)) for msgid, extra in extras.items()}
        self._rest = b""
        self._judged = 0
        self.bad_crc = 0
        self.garbage_bytes = 0
        self.unknown = 0

    def clear(self) -> None:
        """Forget a packet that is not yet complete: a new stream begins."""
        self._rest = b""
        self._judged = 0

    def feed(self, data: bytes) -> list[Packet]:
        """The packets that are complete with `data`, in order."""
        if not self._rest:
            # In lockstep a read brings exactly one packet: that case in as few steps as can be.
            if len(data) >= _V2_EXTRA_BYTES and data[1] + _V2_EXTRA_BYTES == len(data):
                magic, _, flags, _, seq, system, component, msgid, middle, high = data[:10]
                msgid += middle << 8 | high << 16
                extra = self._extras.get(msgid)
                if magic == _V2 and not flags and extra is not None:
                    crc = crc_hqx((data[1:-2] + extra).translate(_MIRROR), 0xFFFF)
                    if _MIRROR[crc >> 8] == data[-2] and _MIRROR[crc & 0xFF] == data[-1]:
                        return [Packet(msgid, system, component, seq, data[10:-2], data)]
            return self._scan(data)
        return self._scan(self._rest + data)

    def _packet(self, buffer: bytes, at: int, end: int) -> Packet | None:
        """The packet in `buffer[at:end]`, if its id is known and its checksum right."""
        raw = buffer if at == 0 and end == len(buffer) else buffer[at:end]
        if raw[0] == _V2:
            size, flags, _, seq, system, component, low, middle, high = raw[1:10]
            msgid = low | middle << 8 | high << 16
            if flags & ~_SIGNED:
                return None
            start = 10
        else:
            size, seq, system, component, msgid = raw[1:6]
            start = 6
        extra = self._extras.get(msgid)
        if extra is None:
            return None
        stop = start + size
        crc = crc_hqx((raw[1:stop] + extra).translate(_MIRROR), 0xFFFF)
        if crc.to_bytes(2, "big") != raw[stop : stop + 2].translate(_MIRROR):
            return None
        return Packet(msgid, system, component, seq, raw[start:stop], raw)

    def _scan(self, buffer: bytes) -> list[Packet]:
        """All packets of `buffer`; keeps the end of it from where a packet may have begun."""
        packets: list[Packet] = []
        judged = self._judged  # bytes before it are packets or counted
        kept = -1
        at = 0
        while (found := _MAGIC.search(buffer, at)) is not None:
            at = found.start()
            end = at + _length(buffer, at)
            if end <= at or end > len(buffer):
                if kept < 0:
                    kept = at
                at += 1
                continue
            packet = self._packet(buffer, at, end)
            if packet is None:
                if at == judged and self._judge(buffer, at, end):
                    judged = end
                at += 1
                continue
            packets.append(packet)
            self.garbage_bytes += max(0, at - judged)
            judged = at = end
            kept = -1
        if kept < 0:
            kept = len(buffer)
        self.garbage_bytes += max(0, kept - judged)
        self._rest = buffer[kept:]
        self._judged = max(0, judged - kept)
        return packets

    def _judge(self, buffer: bytes, at: int, end: int) -> bool:
        """Count what stands where a packet is due; False if it is no packet at all.

        Its bytes are searched all the same: it may be garbage that a packet hides in.
        """
        if end < len(buffer) and buffer[end] not in (_V1, _V2):
            return False
        v2 = buffer[at] == _V2
        msgid = int.from_bytes(buffer[at + 7 : at + 10], "little") if v2 else buffer[at + 5]
        if msgid in self._extras:
            self.bad_crc += 1
        else:
            self.unknown += 1
        return True


def _length(buffer: bytes, at: int) -> int:
    """How long the packet at `at` is, from its header; 0 while too little of that is there."""
    if len(buffer) - at < 3:
        return 0
    size = buffer[at + 1]
    if buffer[at] == _V1:
        return size + _V1_EXTRA_BYTES
    return size + _V2_EXTRA_BYTES + (_SIGNATURE_BYTES if buffer[at + 2] & _SIGNED else 0)


# The payloads, in MAVLink's wire order (fields by size, then extensions), without padding.
HIL_SENSOR = Struct("<Q13fIB")
"""time_usec, accel (3), gyro (3), mag (3), abs_pressure, diff_pressure, pressure_alt, temperature,
fields_updated, id."""
HIL_GPS = Struct("<Q3i3H3hH2BBH")
"""time_usec, lat, lon, alt, eph, epv, vel, vn, ve, vd, cog, fix_type, satellites_visible, id,
yaw."""
HIL_OPTICAL_FLOW = Struct("<QI5fIfhBB")
"""time_usec, integration_time_us, integrated (2), gyro (3), time_delta_distance_us, distance,
temperature, sensor_id, quality."""
HIL_STATE_QUATERNION = Struct("<Q4f3f3i3h2H3h")
"""time_usec, attitude (4), rates (3), lat, lon, alt, velocity (3), airspeeds (2), acceleration
(3)."""
DISTANCE_SENSOR = Struct("<I3H4B2f4fB")
"""time_boot_ms, min_distance, max_distance, current_distance, type, id, orientation, covariance,
horizontal_fov, vertical_fov, quaternion (4), signal_quality."""
HIL_ACTUATOR_CONTROLS = Struct("<QQ16fB")
"""time_usec, flags, controls (16), mode."""
