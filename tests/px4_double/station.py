"""A ground station for tests: pymavlink on a UDP socket, nothing that waits by wall time."""

from __future__ import annotations

import math
import socket
import struct
from collections import Counter
from typing import Any

from pymavlink.dialects.v20 import common as mavlink

__all__ = ["Station"]


class Station:
    """Speaks to the autopilot of `instance` on its offboard link.

    From a port of its own it has to `greet` first; at `local_port` it may wait to be spoken to.
    """

    def __init__(
        self, instance: int, *, system: int = 245, component: int = 190, local_port: int = 0
    ) -> None:
        self.target = instance + 1
        self.counts: Counter[str] = Counter()
        self.last: dict[str, Any] = {}
        self.texts: list[str] = []
        self.acks: list[tuple[int, int]] = []
        self.messages: list[Any] = []
        self.keep = False
        self._peer = ("127.0.0.1", 14580 + instance)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", local_port))
        self._socket.setblocking(False)
        self._mav = mavlink.MAVLink(None, srcSystem=system, srcComponent=component)
        self._parser = mavlink.MAVLink(None)
        self._parser.robust_parsing = True

    def greet(self) -> None:
        """Let the autopilot know the port, without being a ground station."""
        self.send(self._mav.ping_encode(0, 0, self.target, 1))

    def send(self, message: Any) -> None:
        """Send a message of pymavlink's."""
        self._socket.sendto(bytes(message.pack(self._mav)), self._peer)

    def heartbeat(self) -> None:
        """Say that a ground station is here."""
        self.send(self._mav.heartbeat_encode(6, 8, 0, 0, 4))

    def command(self, number: int, *params: float) -> None:
        """COMMAND_LONG."""
        values = [*params, *([0.0] * (7 - len(params)))]
        self.send(self._mav.command_long_encode(self.target, 1, number, 0, *values))

    def mode(self, main: int, sub: int = 0) -> None:
        """MAV_CMD_DO_SET_MODE with PX4's custom mode."""
        self.command(176, 1.0, main, sub)

    def position(self, x: float, y: float, z: float, yaw: float = 0.0) -> None:
        """SET_POSITION_TARGET_LOCAL_NED: position and yaw, NED."""
        self.send(
            self._mav.set_position_target_local_ned_encode(
                0, self.target, 1, 1, 0xDF8 & ~0x400, x, y, z, 0, 0, 0, 0, 0, 0, yaw, 0
            )
        )

    def velocity(self, x: float, y: float, z: float, yaw_rate: float = 0.0) -> None:
        """SET_POSITION_TARGET_LOCAL_NED: velocity and yaw rate, NED."""
        nan = math.nan
        self.send(
            self._mav.set_position_target_local_ned_encode(
                0, self.target, 1, 1, 0x5C7, nan, nan, nan, x, y, z, 0, 0, 0, 0, yaw_rate
            )
        )

    def attitude(
        self, q: tuple[float, ...], thrust: float, rates: tuple[float, ...], mask: int
    ) -> None:
        """SET_ATTITUDE_TARGET."""
        self.send(
            self._mav.set_attitude_target_encode(0, self.target, 1, mask, list(q), *rates, thrust)
        )

    def param_read(self, name: str) -> None:
        """PARAM_REQUEST_READ by name."""
        self.send(self._mav.param_request_read_encode(self.target, 1, name.encode(), -1))

    def param_set(self, name: str, data: bytes, kind: int) -> None:
        """PARAM_SET; an integer's bytes travel as they are."""
        (value,) = struct.unpack("<f", data)
        self.send(self._mav.param_set_encode(self.target, 1, name.encode(), value, kind))

    def param_list(self) -> None:
        """PARAM_REQUEST_LIST."""
        self.send(self._mav.param_request_list_encode(self.target, 1))

    def poll(self) -> list[Any]:
        """Take what has arrived."""
        taken: list[Any] = []
        while True:
            try:
                data = self._socket.recv(65536)
            except BlockingIOError:
                break
            taken += self._parser.parse_buffer(data) or []
        for message in taken:
            self._take(message)
        return taken

    def _take(self, message: Any) -> None:
        name = message.get_type()
        self.counts[name] += 1
        self.last[name] = message
        if self.keep:
            self.messages.append(message)
        if name == "STATUSTEXT":
            self.texts.append(message.text)
        elif name == "COMMAND_ACK":
            self.acks.append((message.command, message.result))

    @property
    def armed(self) -> bool:
        """As the last heartbeat says."""
        beat = self.last.get("HEARTBEAT")
        return beat is not None and bool(beat.base_mode & 128)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
