"""The UDP socket to PX4's offboard link: packets of the one autopilot in, whole packets out."""

from __future__ import annotations

import socket
from collections.abc import Callable

from ghost.core import ConfigError
from ghost.px4.codec import Packet, Splitter, common_crc_extras, x25
from ghost.px4.strangers import Strangers
from ghost.px4.telemetry import CRC_EXTRAS, HEARTBEAT, Telemetry
from ghost.px4.traffic import TrafficLog

__all__ = ["Mailbox"]

_SILENCE_NS = 3_000_000_000
"""Simulated time without a packet after which PX4 is not connected any more. It sends hundreds a
second, and gives a ground station up after 2.5 s (TelemetryStatus.HEARTBEAT_TIMEOUT_US)."""
_FLOOD = 512
"""Packets taken in one drain at most, so that a flood cannot hold the loop up."""
_BUFFER_BYTES = 1 << 20
_AUTOPILOT_COMPONENT = 1
_MAV_AUTOPILOT_PX4 = 12


class Mailbox:
    """Feeds `telemetry` with what the autopilot sends; `passed_on` gets packets for MAVSDK.

    The autopilot is the first PX4 heard, or the first with the id `wanted`.
    """

    def __init__(
        self,
        address: tuple[str, int],
        telemetry: Telemetry,
        traffic: TrafficLog,
        strangers: Strangers,
        *,
        wanted: int | None,
        passed_on: frozenset[int],
        pass_on: Callable[[bytes], None],
    ) -> None:
        self.address = address
        self.system = 0
        """System id of the autopilot; 0 until it was heard."""
        self.heard_ns = -1
        self.bad_packets = 0
        """Datagrams with a wrong checksum, or with something that is no packet."""
        self.unsent = 0
        """Packets that the socket did not take."""
        self._telemetry = telemetry
        self._traffic = traffic
        self._strangers = strangers
        self._wanted = wanted
        self._passed_on = passed_on
        self._pass_on = pass_on
        self._splitter = Splitter({**common_crc_extras(), **CRC_EXTRAS})
        self._extras = {msgid: bytes((extra,)) for msgid, extra in CRC_EXTRAS.items()}
        self._socket: socket.socket | None = None
        self._peer: tuple[str, int] | None = None

    def open(self) -> None:
        """Bind the port. `ConfigError` if it is taken."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            listener.bind(self.address)
        except (OSError, OverflowError) as error:
            listener.close()
            host, port = self.address
            raise ConfigError(
                f"UDP {host}:{port}, where PX4 sends its telemetry, cannot be opened ({error}): is "
                "a ground station or another run listening there?"
            ) from error
        listener.setblocking(False)
        # What PX4 sends while nobody polls: more than a second of it.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        self._socket = listener

    def connected(self, now_ns: int) -> bool:
        """Whether the autopilot was heard lately."""
        return self.heard_ns >= 0 and now_ns - self.heard_ns <= _SILENCE_NS

    def drain(self, now_ns: int) -> None:
        """Take what has arrived, without waiting."""
        listener = self._socket
        if listener is None:
            return
        receive, peer, system = listener.recvfrom, self._peer, self.system
        log, handlers = self._traffic.received, self._telemetry.handlers
        for _ in range(_FLOOD):
            try:
                data, sender = receive(2048)
            except BlockingIOError:
                return
            except ConnectionError:  # an ICMP answer to something sent to a port now closed
                continue
            # Nearly always this is one whole MAVLink 2 packet of the autopilot's.
            if (
                sender == peer
                and len(data) > 11
                and data[0] == 0xFD
                and data[1] + 12 == len(data)
                and data[5] == system
                and data[6] == _AUTOPILOT_COMPONENT
            ):
                self.heard_ns = now_ns
                msgid = data[7] | data[8] << 8 | data[9] << 16
                handler = handlers.get(msgid)
                if handler is not None:
                    if data[-2] | data[-1] << 8 != x25(data[1:-2] + self._extras[msgid]):
                        self.bad_packets += 1
                        continue
                    handler(data[10:-2], now_ns)
                    if msgid in self._passed_on:
                        self._pass_on(data)
                log(data)
            else:
                self._odd(data, sender, now_ns)
                peer, system = self._peer, self.system

    def transmit(self, raw: bytes) -> bool:
        """Send one packet to the autopilot; False if that was not possible now."""
        if self._socket is None or self._peer is None:
            return False
        try:
            self._socket.sendto(raw, self._peer)
        except OSError:  # full, or PX4's port was closed: it will be missed as silence
            self.unsent += 1
            return False
        self._traffic.sent(raw)
        return True

    def close(self) -> None:
        """Hang up. Idempotent."""
        listener, self._socket = self._socket, None
        if listener is not None:
            listener.close()

    def _odd(self, data: bytes, sender: tuple[str, int], now_ns: int) -> None:
        """Take whatever is not one packet of the autopilot's: the first, several, foreign."""
        splitter = self._splitter
        bad, unknown = splitter.bad_crc + splitter.garbage_bytes, splitter.unknown
        packets = splitter.feed(data)
        splitter.clear()  # a packet never spans two datagrams
        empty = not packets and splitter.unknown == unknown
        self.bad_packets += empty or splitter.bad_crc + splitter.garbage_bytes != bad
        for packet in packets:
            if not self.system:
                self._meet(packet, sender)
            if packet.system == self.system and packet.component == _AUTOPILOT_COMPONENT:
                self._take(packet, sender, now_ns)
            elif self.system:
                self._strangers.other(packet, self.system)

    def _meet(self, packet: Packet, sender: tuple[str, int]) -> None:
        """Settle on the autopilot, if this is its heartbeat."""
        payload = packet.payload
        if packet.msgid != HEARTBEAT or packet.component != _AUTOPILOT_COMPONENT:
            return
        if len(payload) < 6 or payload[5] != _MAV_AUTOPILOT_PX4:
            return
        if self._wanted is not None and packet.system != self._wanted:
            self._strangers.foreign(packet.system, self._wanted)
            return
        self.system, self._peer = packet.system, sender

    def _take(self, packet: Packet, sender: tuple[str, int], now_ns: int) -> None:
        if sender != self._peer:
            if self.connected(now_ns):
                self._strangers.second(packet.system, sender)
                return
            self._peer = sender  # the same autopilot, back on another port
        self.heard_ns = now_ns
        self._traffic.received(packet.raw)
        self._telemetry.take(packet.msgid, packet.payload, now_ns)
        if packet.msgid in self._passed_on:
            self._pass_on(packet.raw)
