"""Who else is heard on the offboard link: counted, and each reported once."""

from __future__ import annotations

from collections import Counter

from ghost.px4.codec import Packet

__all__ = ["Strangers"]

_HEARTBEAT = 0
_MAV_TYPE_GCS = 6
_GCS_COMPONENT = 190
_AUTOPILOT_COMPONENT = 1
_MOST = 256
"""Names kept; a flood of invented ids must not fill the memory."""


class Strangers:
    """Packets that are not the autopilot's."""

    def __init__(self) -> None:
        self.packets: Counter[tuple[int, int]] = Counter()
        """By system and component."""
        self.seconds: Counter[str] = Counter()
        """Of a second sender with the autopilot's own ids, by address."""
        self._reported: set[str] = set()
        self._lines: list[str] = []

    def lines(self) -> list[str]:
        """What is new to report since the last call, for people."""
        lines, self._lines = self._lines, []
        return lines

    def foreign(self, system: int, wanted: int) -> None:
        """A PX4 with another system id than the one expected, before any with that was heard."""
        self._count(system, _AUTOPILOT_COMPONENT)
        self._report(
            f"wanted {system}",
            f"a PX4 with system id {system} is heard, but {wanted} is expected: another instance "
            "sends to this port",
        )

    def other(self, packet: Packet, system: int) -> None:
        """A packet of another system or component than the autopilot's."""
        self._count(packet.system, packet.component)
        if packet.system == system:
            return  # a camera, a gimbal: belongs to the vehicle
        kind = packet.payload[4] if packet.msgid == _HEARTBEAT and len(packet.payload) > 4 else 0
        if packet.component == _GCS_COMPONENT or kind == _MAV_TYPE_GCS:
            return  # another ground station, on whose behalf PX4 forwards
        self._report(
            f"system {packet.system}",
            f"packets of system {packet.system} come to this port; only system {system} is "
            "listened to",
        )

    def second(self, system: int, sender: tuple[str, int]) -> None:
        """A packet with the autopilot's ids from another address."""
        address = f"{sender[0]}:{sender[1]}"
        if len(self.seconds) < _MOST or address in self.seconds:
            self.seconds[address] += 1
        self._report(
            "second",
            f"a second sender, {address}, uses the autopilot's system id {system}; it is ignored",
        )

    def _count(self, system: int, component: int) -> None:
        self.packets[system, component] += 1

    def _report(self, key: str, line: str) -> None:
        if key not in self._reported and len(self._reported) < _MOST:
            self._reported.add(key)
            self._lines.append(line)
