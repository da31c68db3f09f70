"""Where a node lives on the network."""

from __future__ import annotations

import getpass
import ipaddress
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from ghost.core import ConfigError
from ghost.gz.transport.names import check_partition

__all__ = ["DEFAULT_MSG_PORT", "DEFAULT_MULTICAST_IP", "DEFAULT_SRV_PORT", "TransportOptions"]

# gz-transport's defaults, the same from version 8 on.
DEFAULT_MULTICAST_IP = "239.255.0.7"
DEFAULT_MSG_PORT = 10317
DEFAULT_SRV_PORT = 10318

_PREFIXES = ("GZ_", "IGN_")


@dataclass(frozen=True)
class TransportOptions:
    """The network settings of a node.

    `ip` is the address that is listened on and advertised: the loopback, unless another computer
    must be reached. `relays` are addresses of peers beyond the reach of multicast. With `username`
    and `password` topics are exchanged with peers that have the same ones, and with no others.
    `topic_statistics` must be as Gazebo has it: peers with and without ignore each other.
    Raises `ConfigError` (`NameInvalid` for the partition) naming the field.
    """

    partition: str = ""
    ip: str = "127.0.0.1"
    multicast_ip: str = DEFAULT_MULTICAST_IP
    msg_port: int = DEFAULT_MSG_PORT
    srv_port: int = DEFAULT_SRV_PORT
    relays: tuple[str, ...] = ()
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    topic_statistics: bool = False

    def __post_init__(self) -> None:
        check_partition(self.partition)
        _check_ip("ip", self.ip)
        if not _check_ip("multicast_ip", self.multicast_ip).is_multicast:
            raise ConfigError(
                f"{self.multicast_ip} is no multicast address; use one of 224.0.0.0 to "
                f"239.255.255.255, the default is {DEFAULT_MULTICAST_IP}",
                key="multicast_ip",
            )
        for relay in self.relays:
            _check_ip("relays", relay)
        _check_port("msg_port", self.msg_port)
        _check_port("srv_port", self.srv_port)
        if self.msg_port == self.srv_port:
            raise ConfigError(
                f"topics and services cannot share the port {self.msg_port}", key="srv_port"
            )
        if (self.username is None) != (self.password is None):
            raise ConfigError(
                "a user name needs a password and the other way round", key="username"
            )

    @property
    def authenticated(self) -> bool:
        """Whether peers must give a user name and a password."""
        return self.username is not None

    @property
    def partition_path(self) -> str:
        """The partition as it stands in names on the wire: `""` or `/name`."""
        return check_partition(self.partition)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        """Return the options that gz-transport itself would take from `environ`.

        Read are `GZ_PARTITION` (default `<hostname>:<user>`), `GZ_IP`, `GZ_RELAY`,
        `GZ_DISCOVERY_MULTICAST_IP`, `GZ_DISCOVERY_MSG_PORT`, `GZ_DISCOVERY_SRV_PORT`,
        `GZ_TRANSPORT_USERNAME`, `GZ_TRANSPORT_PASSWORD` and `GZ_TRANSPORT_TOPIC_STATISTICS`, each
        also as `IGN_…`, as Fortress calls them. Two differences are wanted: the address is the
        loopback if none is given, and queue limits (`GZ_TRANSPORT_RCVHWM`) are not read, since a
        dropped message stalls lockstep.
        Raises `ConfigError` naming the variable.
        """

        def get(name: str, default: str = "") -> str:
            return _variable(environ, name)[1] or default

        partition = environ.get("GZ_PARTITION", environ.get("IGN_PARTITION"))
        if partition is None:
            partition = f"{socket.gethostname()}:{environ.get('USER') or getpass.getuser()}"
        check_partition(partition, key=_variable(environ, "PARTITION")[0])
        msg_port = _port_of(environ, "DISCOVERY_MSG_PORT", DEFAULT_MSG_PORT)
        srv_port = _port_of(environ, "DISCOVERY_SRV_PORT", DEFAULT_SRV_PORT)
        if msg_port == srv_port:
            # What gz-transport does with two equal ports.
            srv_port += 1 if msg_port < 65_535 else -1
        for name in ("IP", "DISCOVERY_MULTICAST_IP"):
            key, value = _variable(environ, name)
            if value:
                _check_ip(key, value)
        key, relays = _variable(environ, "RELAY")
        relay_list = tuple(part for part in relays.split(":") if part)
        for relay in relay_list:
            _check_ip(key, relay)
        username, password = get("TRANSPORT_USERNAME"), get("TRANSPORT_PASSWORD")
        secure = bool(username and password)
        return cls(
            partition=partition,
            ip=get("IP", "127.0.0.1"),
            multicast_ip=get("DISCOVERY_MULTICAST_IP", DEFAULT_MULTICAST_IP),
            msg_port=msg_port,
            srv_port=srv_port,
            relays=relay_list,
            username=username if secure else None,
            password=password if secure else None,
            topic_statistics=get("TRANSPORT_TOPIC_STATISTICS") == "1",
        )


def _variable(environ: Mapping[str, str], name: str) -> tuple[str, str]:
    for prefix in _PREFIXES:
        if value := environ.get(prefix + name, ""):
            return prefix + name, value
    return _PREFIXES[0] + name, ""


def _port_of(environ: Mapping[str, str], name: str, default: int) -> int:
    key, value = _variable(environ, name)
    if not value:
        return default
    try:
        port = int(value)
    except ValueError:
        raise ConfigError(f"a port is a number, got {value!r}", key=key) from None
    return _check_port(key, port)


def _check_port(key: str, port: int) -> int:
    if isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= 65_535:
        raise ConfigError(f"a port is a whole number from 1 to 65535, got {port!r}", key=key)
    return port


def _check_ip(key: str, text: str) -> ipaddress.IPv4Address:
    try:
        return ipaddress.IPv4Address(text)
    except ValueError:
        raise ConfigError(
            f"{text!r} is no IPv4 address; give one of this computer's, for example 127.0.0.1",
            key=key,
        ) from None
