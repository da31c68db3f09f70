"""`Voice`: one numbered stream of packets from one MAVLink sender, whoever made their contents."""

from __future__ import annotations

from struct import Struct

from ghost.px4.codec import x25

__all__ = ["GCS_COMPONENT", "GCS_SYSTEM", "Voice"]

GCS_SYSTEM = 245
GCS_COMPONENT = 190
"""The ids MAVSDK takes as a ground station. PX4 gives the reason for refusing a mode only to
component 190 (`Commander.cpp`, VEHICLE_CMD_DO_SET_MODE)."""

_HEARTBEAT = Struct("<I5B")
_POSITION_TARGET = Struct("<I11fH3B")
_ATTITUDE_TARGET = Struct("<I8f3B")

_MAV_TYPE_GCS = 6
_MAV_AUTOPILOT_INVALID = 8
_MAV_STATE_ACTIVE = 4
_MAV_FRAME_LOCAL_NED = 1
_MAVLINK_VERSION = 3

_IGNORE_POSITION = 0x0007
_IGNORE_VELOCITY = 0x0038
_IGNORE_ACCELERATION = 0x01C0
_IGNORE_YAW = 0x0400
_IGNORE_YAW_RATE = 0x0800
_POSITION_MASK = _IGNORE_VELOCITY | _IGNORE_ACCELERATION | _IGNORE_YAW_RATE
_VELOCITY_MASK = _IGNORE_POSITION | _IGNORE_ACCELERATION | _IGNORE_YAW
_IGNORE_RATES = 0x07
_IGNORE_ATTITUDE = 0x80

_PARTS = {0: 50, 82: 49, 84: 143}
"""CRC_EXTRA of what is packed here: HEARTBEAT, SET_ATTITUDE_TARGET, SET_POSITION_TARGET_LOCAL_NED
(a test compares them with pymavlink's)."""


class Voice:
    """Packs what must leave within the step, and numbers that together with what MAVSDK packs."""

    __slots__ = ("_heads", "_seq", "target_system")

    def __init__(self, system: int = GCS_SYSTEM, component: int = GCS_COMPONENT) -> None:
        self.target_system = 0
        self._seq = 0
        sender = bytes((system, component))
        self._heads = {msgid: sender + msgid.to_bytes(3, "little") for msgid in _PARTS}

    def heartbeat(self) -> bytes:
        """HEARTBEAT of a ground station."""
        return self._seal(
            0,
            _HEARTBEAT.pack(
                0, _MAV_TYPE_GCS, _MAV_AUTOPILOT_INVALID, 0, _MAV_STATE_ACTIVE, _MAVLINK_VERSION
            ),
        )

    def position(self, time_ms: int, x: float, y: float, z: float, yaw: float) -> bytes:
        """SET_POSITION_TARGET_LOCAL_NED: position in m (NED) and heading in rad."""
        fields = (time_ms, x, y, z, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, yaw, 0.0)
        return self._position_target(fields, _POSITION_MASK)

    def velocity(self, time_ms: int, vx: float, vy: float, vz: float, yaw_rate: float) -> bytes:
        """SET_POSITION_TARGET_LOCAL_NED: velocity in m/s (NED) and rate of the heading in rad/s."""
        fields = (time_ms, 0.0, 0.0, 0.0, vx, vy, vz, 0.0, 0.0, 0.0, 0.0, yaw_rate)
        return self._position_target(fields, _VELOCITY_MASK)

    def attitude(
        self, time_ms: int, w: float, x: float, y: float, z: float, thrust: float
    ) -> bytes:
        """SET_ATTITUDE_TARGET: attitude (FRD in NED) and collective thrust 0..1."""
        payload = _ATTITUDE_TARGET.pack(
            time_ms & 0xFFFFFFFF, w, x, y, z, 0.0, 0.0, 0.0, thrust,
            self.target_system, 1, _IGNORE_RATES,
        )  # fmt: skip
        return self._seal(82, payload)

    def body_rate(self, time_ms: int, p: float, q: float, r: float, thrust: float) -> bytes:
        """SET_ATTITUDE_TARGET: body rates in rad/s (FRD) and collective thrust 0..1."""
        payload = _ATTITUDE_TARGET.pack(
            time_ms & 0xFFFFFFFF, 1.0, 0.0, 0.0, 0.0, p, q, r, thrust,
            self.target_system, 1, _IGNORE_ATTITUDE,
        )  # fmt: skip
        return self._seal(82, payload)

    def repeat(self, raw: bytes, crc_extra: int) -> bytes:
        """A MAVLink 2 packet of MAVSDK's, with the next number of this stream."""
        seq = self._seq
        self._seq = (seq + 1) & 0xFF
        size = raw[1]
        body = raw[1:4] + bytes((seq,)) + raw[5 : 10 + size]
        return b"\xfd" + body + x25(body + bytes((crc_extra,))).to_bytes(2, "little")

    def _position_target(self, fields: tuple[float, ...], mask: int) -> bytes:
        time_ms, *numbers = fields
        payload = _POSITION_TARGET.pack(
            int(time_ms) & 0xFFFFFFFF, *numbers, mask, self.target_system, 1, _MAV_FRAME_LOCAL_NED
        )
        return self._seal(84, payload)

    def _seal(self, msgid: int, payload: bytes) -> bytes:
        payload = payload.rstrip(b"\0") or b"\0"
        seq = self._seq
        self._seq = (seq + 1) & 0xFF
        body = bytes((len(payload), 0, 0, seq)) + self._heads[msgid] + payload
        return b"\xfd" + body + x25(body + bytes((_PARTS[msgid],))).to_bytes(2, "little")
