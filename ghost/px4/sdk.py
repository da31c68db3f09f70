"""MAVSDK behind a queue: the only module that imports it.

MAVSDK runs on its `raw://` connection: it is handed the few packets that its plugins live on, and
what it wants to send comes back on a thread of its own. The socket stays ours, so that everything
that passes can be recorded and leaves in the order of the steps. MAVSDK's heartbeat is dropped: it
beats by the clock of the host, and PX4 counts seconds of the world (see `Px4Session`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from queue import Empty, SimpleQueue
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ghost.core import ContractViolation, MissingDependency
from ghost.px4.codec import common_crc_extras
from ghost.px4.voice import GCS_COMPONENT, GCS_SYSTEM, Voice

if TYPE_CHECKING:
    from mavsdk.mavsdk import Mavsdk
    from mavsdk.plugins.mavlink_direct import MavlinkDirect

__all__ = ["IDS", "PASSED_ON", "Sdk", "message_id", "renumbered"]

IDS: Mapping[str, int] = MappingProxyType({"COMMAND_LONG": 76, "PARAM_REQUEST_READ": 20})
"""What is sent through MAVSDK."""

PASSED_ON = frozenset({0, 77, 148})
"""HEARTBEAT, COMMAND_ACK and AUTOPILOT_VERSION: what MAVSDK needs to know the system and to stop
asking for its version."""
_HEARTBEAT = 0
_OUT_S = 0.01
"""MAVSDK's thread hands a packet over within 0.1 ms when it gets the interpreter; waiting longer
than this is left to the next poll."""


class Sdk:
    """One MAVSDK instance, for one autopilot.

    Raises `MissingDependency` if the package is not installed.
    """

    def __init__(self) -> None:
        try:
            import mavsdk
            from mavsdk.component_type import ComponentType
            from mavsdk.mavsdk import Configuration, Mavsdk
        except ImportError as error:
            raise MissingDependency(
                "mavsdk", needed_for="commands to PX4", install='pip install "ghost-hal[px4]"'
            ) from error
        # Without this it writes colours and paths to the standard output of the program.
        mavsdk.log_subscribe(_keep_quiet)
        self._out: SimpleQueue[bytes] = SimpleQueue()
        self._mavsdk: Mavsdk | None = Mavsdk(
            Configuration.create_with_component_type(ComponentType.GROUND_STATION)
        )
        self._mavsdk.subscribe_raw_bytes_to_be_sent(self._out.put)
        self._mavsdk.add_any_connection("raw://")
        self._direct: MavlinkDirect | None = None
        self._system = 0

    def received(self, raw: bytes) -> None:
        """Hand on a packet of the autopilot's."""
        if self._mavsdk is not None:
            self._mavsdk.pass_received_raw_bytes(raw)

    def attach(self, system: int) -> bool:
        """Whether MAVSDK knows the autopilot `system`, some 0.3 ms after a heartbeat."""
        if self._direct is not None:
            return True
        if self._mavsdk is None:
            return False
        from mavsdk.plugins.mavlink_direct import MavlinkDirect

        for candidate in self._mavsdk.get_systems():
            if candidate.get_system_id() == system:
                self._direct = MavlinkDirect(candidate)
                self._system = system
                return True
        return False

    def send(self, name: str, fields: Mapping[str, float | int | str | None]) -> list[bytes]:
        """Have MAVSDK pack a message of `IDS`; returns what it wants sent, that message last.

        None stands for NaN. What MAVSDK's thread does not get out in time, `pending` returns.
        """
        if self._direct is None:
            raise ContractViolation("MAVSDK has not found the autopilot yet")
        from mavsdk.plugins.mavlink_direct import MavlinkMessage

        packets = self.pending()
        self._direct.send_message(
            MavlinkMessage(name, GCS_SYSTEM, GCS_COMPONENT, self._system, 1, json.dumps(fields))
        )
        try:
            while True:
                packets.append(self._out.get(timeout=_OUT_S))
                if message_id(packets[-1]) == IDS[name]:
                    return packets
        except Empty:
            return packets

    def pending(self) -> list[bytes]:
        """What MAVSDK wants sent, oldest first."""
        packets = []
        while not self._out.empty():
            packets.append(self._out.get_nowait())
        return packets

    def close(self) -> None:
        """End MAVSDK and its threads. Idempotent."""
        instance, self._mavsdk, self._direct = self._mavsdk, None, None
        if instance is not None:
            instance.destroy()


def message_id(raw: bytes) -> int:
    """The id of a MAVLink 2 packet."""
    return int.from_bytes(raw[7:10], "little")


def renumbered(voice: Voice, packets: list[bytes]) -> list[bytes]:
    """MAVSDK's packets as they go out: without its heartbeats, numbered by `voice`."""
    extras = common_crc_extras()
    out = []
    for raw in packets:
        msgid = message_id(raw)
        if msgid == _HEARTBEAT or msgid not in extras:
            continue
        out.append(voice.repeat(raw, extras[msgid]))
    return out


def _keep_quiet(*_line: Any) -> bool:
    return True
