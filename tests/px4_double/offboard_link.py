"""The offboard link: UDP 14580 + instance, to 14540 + instance."""

from __future__ import annotations

import socket

from .autopilot import Autopilot
from .formats import HEARTBEAT
from .options import Faults
from .wire import Splitter, Wire

__all__ = ["OffboardLink"]


class OffboardLink:
    """The socket outlives a restart of the autopilot.

    Packets go to the port PX4 is told at its start until a partner on this host is heard, then to
    that partner. All is read and sent when a sample of the simulator has come, so that a run with
    the same datagrams between the same samples is the same run.
    """

    def __init__(self, instance: int, faults: Faults) -> None:
        self._faults = faults
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 14580 + instance))
        self._socket.setblocking(False)
        # Above instance 9 PX4 sends everything to one port.
        self._partner = ("127.0.0.1", 14540 + instance if instance <= 9 else 14549)
        self._splitter = Splitter()
        self._muted = False
        self._other = Wire(77)
        self._other_us = 0

    def send(self, data: bytes) -> None:
        """Send one packet as one datagram; nobody need listen."""
        if self._muted:
            return
        try:
            self._socket.sendto(data, self._partner)
        except OSError:
            return

    def run(self, pilot: Autopilot, now_us: int) -> None:
        """Once a sample: what has come, what is due."""
        faults = self._faults
        if faults.deaf.at_us < 0 or not faults.deaf.open(now_us):
            self._receive(pilot)
        if faults.mute.at_us >= 0:
            self._muted = faults.mute.open(now_us)
        if faults.second_source.at_us >= 0 and faults.second_source.open(now_us):
            self._second_source(now_us)
        pilot.commands.trickle()
        pilot.flush_texts()
        pilot.telemetry.run(now_us)

    def _receive(self, pilot: Autopilot) -> None:
        while True:
            try:
                data, partner = self._socket.recvfrom(65536)
            except OSError:
                return
            if partner != self._partner:
                self._partner = partner
            for packet in self._splitter.feed(data):
                pilot.receive(packet)

    def _second_source(self, now_us: int) -> None:
        if now_us - self._other_us >= 1_000_000:
            self._other_us = now_us
            self.send(self._other.pack(HEARTBEAT, 0, 2, 12, 1, 3, 3))

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
