"""Addresses, multicast and ports of this computer."""

from __future__ import annotations

import select
import socket
import struct
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ghost.cli.doctor.finding import Finding, failure, fine, warning

if TYPE_CHECKING:
    from ghost.gz.transport import TransportOptions

__all__ = [
    "Interface",
    "check_address",
    "check_multicast",
    "check_ports",
    "interfaces",
    "px4_links",
]

AREA = "network"

# linux/sockios.h and linux/if.h
_SIOCGIFADDR, _SIOCGIFFLAGS = 0x8915, 0x8913
_IFF_UP, _IFF_MULTICAST = 0x1, 0x1000

TCP_PORTS = {4560: "PX4's simulator link (PX4 dials it)"}
UDP_PORTS = {14540: "MAVLink to an offboard program", 14550: "MAVLink to a ground station"}
_MAVLINK_STARTS = (0xFD, 0xFE)


@dataclass(frozen=True, slots=True)
class Interface:
    """A network interface with an IPv4 address."""

    name: str
    address: str
    up: bool
    multicast: bool


def interfaces() -> list[Interface]:
    """The interfaces of this computer that have an IPv4 address (Linux; empty elsewhere)."""
    if sys.platform != "linux":
        return []
    import fcntl

    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            try:
                address = fcntl.ioctl(probe, _SIOCGIFADDR, request)[20:24]
                flags = struct.unpack("H", fcntl.ioctl(probe, _SIOCGIFFLAGS, request)[16:18])[0]
            except OSError:
                # Without an IPv4 address it is of no use here.
                continue
            found.append(
                Interface(
                    name,
                    socket.inet_ntoa(address),
                    bool(flags & _IFF_UP),
                    bool(flags & _IFF_MULTICAST),
                )
            )
    return found


def check_address(
    options: TransportOptions, found: list[Interface], environ: Mapping[str, str]
) -> Iterator[Finding]:
    """The interfaces, and whether the address that we use and advertise is one of them."""
    for interface in found:
        state = ("up" if interface.up else "down") + (
            ", multicast" if interface.multicast else ", no multicast flag"
        )
        yield fine(AREA, f"interface {interface.name}", f"{interface.address}, {state}")
    given = environ.get("GZ_IP", environ.get("IGN_IP", ""))
    source = "GZ_IP" if given else "GZ_IP is not set: the loopback"
    known = [interface.address for interface in found]
    if known and options.ip not in known:
        yield failure(
            AREA,
            "address",
            f"{options.ip} ({source}) is not an address of this computer",
            f"export GZ_IP={known[0]} (of: {', '.join(known)})",
        )
    else:
        yield fine(AREA, "address", f"{options.ip} ({source})")


def check_multicast(options: TransportOptions, timeout_s: float = 0.5) -> Finding:
    """Whether a datagram to the discovery group comes back on our address."""
    name = f"multicast {options.multicast_ip}"
    fix = (
        f"ip link set dev lo multicast on; ip route add {options.multicast_ip}/32 dev lo "
        "(or of the interface of GZ_IP); where that is not allowed, list the peers in GZ_RELAY"
    )
    try:
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
        ):
            listener.bind(("", 0))
            own = socket.inet_aton(options.ip)
            group = socket.inet_aton(options.multicast_ip)
            listener.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group + own)
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, own)
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
            sender.sendto(b"ghost doctor", (options.multicast_ip, listener.getsockname()[1]))
            if select.select([listener], [], [], timeout_s)[0]:
                return fine(AREA, name, f"heard on {options.ip}")
    except OSError as error:
        return failure(AREA, name, f"not possible on {options.ip}: {error}", fix)
    return failure(AREA, name, f"sent on {options.ip}, but nothing came back", fix)


def check_ports(
    options: TransportOptions, owners: Mapping[tuple[str, int], str]
) -> Iterator[Finding]:
    """Whether the ports that Ghost, PX4 and Gazebo use can be had, and who has them."""
    for port, use in TCP_PORTS.items():
        yield _port("tcp", port, use, owners)
    for port, use in UDP_PORTS.items():
        yield _port("udp", port, use, owners)
    for port, use in ((options.msg_port, "topics"), (options.srv_port, "services")):
        name = f"port udp {port}"
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                # Discovery ports are shared by everybody who sets these.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if hasattr(socket, "SO_REUSEPORT"):
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                probe.bind(("", port))
        except OSError as error:
            owner = owners.get(("udp", port), "a process that does not share it")
            yield failure(
                AREA,
                name,
                f"discovery of {use} cannot bind it: {error} (held by {owner})",
                "end that process, or choose other ports for all with GZ_DISCOVERY_MSG_PORT and "
                "GZ_DISCOVERY_SRV_PORT",
            )
        else:
            yield fine(AREA, name, f"discovery of {use} can share it")


def _port(kind: str, port: int, use: str, owners: Mapping[tuple[str, int], str]) -> Finding:
    name = f"port {kind} {port}"
    type_ = socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM
    try:
        with socket.socket(socket.AF_INET, type_) as probe:
            if kind == "tcp":
                # As servers do: a connection that has just ended does not count.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("", port))
    except OSError:
        owner = owners.get((kind, port), "another process")
        return warning(
            AREA, name, f"{use}: in use by {owner}", "end that process, or use another instance"
        )
    return fine(AREA, name, f"{use}: free")


def px4_links(timeout_s: float) -> Iterator[Finding]:
    """Whether MAVLink is heard on the free ones of the ports that PX4 sends to."""
    listeners: dict[socket.socket, int] = {}
    heard: dict[int, str] = {}
    try:
        for port in UDP_PORTS:
            listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                listener.bind(("", port))
            except OSError:
                # Somebody else listens there; `check_ports` says who.
                listener.close()
                continue
            listeners[listener] = port
        waiting = dict(listeners)
        while waiting:
            ready = select.select(list(waiting), [], [], timeout_s)[0]
            if not ready:
                break
            for listener in ready:
                data, sender = listener.recvfrom(512)
                port = waiting.pop(listener)
                if data[:1] and data[0] in _MAVLINK_STARTS:
                    heard[port] = f"{sender[0]}:{sender[1]}"
    finally:
        for listener in listeners:
            listener.close()
    for port in sorted(listeners.values()):
        if port in heard:
            yield fine("PX4", f"link udp {port}", f"MAVLink from {heard[port]}")
        else:
            yield fine("PX4", f"link udp {port}", "no MAVLink heard (fine if no PX4 runs)")
