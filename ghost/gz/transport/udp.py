"""The sockets of discovery: one for the multicast group, one for unicast (relays, sending)."""

from __future__ import annotations

import errno
import socket

from ghost.gz.transport.counters import Counters
from ghost.gz.transport.datagram import MAX_DATAGRAM
from ghost.gz.transport.errors import AddressInvalid, TransportError

__all__ = ["Channel"]

_RECEIVE_BUFFER = 1 << 20
_MAX_RELAYS = 64


class Channel:
    """One discovery port. Any thread may send; one thread receives.

    Two sockets, because a socket bound to the group gets what was sent to this group only, and one
    bound to our own address gets what was sent to us only, even with many nodes on one computer.
    Raises `TransportError` if the address is not ours, the group cannot be joined or the port is
    taken.
    """

    def __init__(
        self, ip: str, group: str, port: int, relays: tuple[str, ...], counters: Counters
    ) -> None:
        self._ip = ip
        self._group = (group, port)
        self._port = port
        self._counters = counters
        self._relays = list(dict.fromkeys(relays))
        self.unicast = self._bind(ip, port, ip)
        try:
            self.unicast.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(ip))
            self.unicast.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
            self.multicast = self._bind(group, port, ip)
        except OSError as error:
            self.unicast.close()
            raise _no_multicast(ip, group, error) from error
        except TransportError:
            self.unicast.close()
            raise
        try:
            self.multicast.setsockopt(
                socket.IPPROTO_IP,
                socket.IP_ADD_MEMBERSHIP,
                socket.inet_aton(group) + socket.inet_aton(ip),
            )
        except OSError as error:
            self.close()
            raise _no_multicast(ip, group, error) from error

    @staticmethod
    def _bind(host: str, port: int, ip: str) -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            made.setblocking(False)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if hasattr(socket, "SO_REUSEPORT"):
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
            made.bind((host, port))
        except OSError as error:
            made.close()
            if error.errno == errno.EADDRINUSE:
                raise TransportError(
                    f"UDP port {port} is taken by a program that does not share it "
                    f"(find it with `ss -lunp 'sport = :{port}'`); stop it, or give Gazebo and "
                    "Ghost another GZ_DISCOVERY_MSG_PORT and GZ_DISCOVERY_SRV_PORT"
                ) from error
            if error.errno == errno.EADDRNOTAVAIL:
                raise AddressInvalid(
                    f"{ip} is not an address of this computer; give one that `ip -4 address` "
                    "lists, or none for the loopback",
                    key="GZ_IP",
                ) from error
            raise TransportError(f"cannot open UDP {host}:{port}: {error}") from error
        return made

    def receive(self, source: socket.socket) -> tuple[bytes, str] | None:
        """Return the next datagram of one of the two sockets and its sender's address, or None."""
        try:
            data, sender = source.recvfrom(MAX_DATAGRAM + 1)
        except BlockingIOError:
            return None
        except OSError:
            # An ICMP error of an earlier send (a relay that does not listen) comes out here.
            self._counters.count("discovery_receive_failed")
            return None
        return data, str(sender[0])

    def first_to_group(self, datagram: bytes) -> None:
        """Send to the multicast group, or raise `TransportError` where nothing carries multicast.

        Better no node at all than one that nobody will ever hear.
        """
        try:
            self.unicast.sendto(datagram, self._group)
        except OSError as error:
            raise _no_multicast(self._ip, self._group[0], error) from error

    def to_group(self, datagram: bytes) -> None:
        """Send to the multicast group. A failure is counted: the next heartbeat is a new try."""
        self._send(datagram, self._group)

    def to_relays(self, datagram: bytes) -> None:
        """Send to every relay."""
        for relay in tuple(self._relays):
            self._send(datagram, (relay, self._port))

    def add_relay(self, ip: str) -> None:
        """Remember a peer that reached us by unicast, so that it hears us too."""
        if ip in self._relays:
            return
        if len(self._relays) >= _MAX_RELAYS:
            self._counters.count("discovery_too_many_relays")
            return
        self._relays.append(ip)

    @property
    def relays(self) -> tuple[str, ...]:
        """The relays, given and learnt."""
        return tuple(self._relays)

    def is_local(self, sender: str) -> bool:
        """Return whether a datagram came from this computer."""
        return sender.startswith("127.") or sender == self._ip

    def _send(self, datagram: bytes, to: tuple[str, int]) -> None:
        try:
            self.unicast.sendto(datagram, to)
        except OSError:
            self._counters.count("discovery_send_failed")

    def close(self) -> None:
        """Close both sockets. Idempotent."""
        self.unicast.close()
        self.multicast.close()


def _no_multicast(ip: str, group: str, error: OSError) -> TransportError:
    return TransportError(
        f"the interface of {ip} carries no multicast to {group} ({error}); discovery needs it: set "
        "GZ_IP to the address of an interface that has it (`ip link` shows MULTICAST or LOOPBACK)"
    )
