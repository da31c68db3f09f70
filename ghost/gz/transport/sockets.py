"""Small acts on ZeroMQ sockets that several rooms of the transport need."""

from __future__ import annotations

import zmq

from ghost.gz.transport.counters import Counters
from ghost.gz.transport.errors import TransportError

__all__ = ["bind_any_port", "disconnect"]


def bind_any_port(made: zmq.Socket[bytes], ip: str) -> str:
    """Bind a socket to a free TCP port of `ip` and return its address.

    Raises `TransportError` if `ip` is not an address of this computer.
    """
    try:
        made.bind(f"tcp://{ip}:*")
    except zmq.ZMQError as error:
        raise TransportError(
            f"cannot listen on {ip}: {error}; set GZ_IP to an address of this computer"
        ) from error
    endpoint = made.get(zmq.LAST_ENDPOINT)
    return endpoint.decode().rstrip("\0") if isinstance(endpoint, bytes) else str(endpoint)


def disconnect(made: zmq.Socket[bytes], address: str, counters: Counters) -> None:
    """Disconnect a socket from an address; one that it dropped by itself is only counted."""
    try:
        made.disconnect(address)
    except zmq.ZMQError:
        counters.count("disconnect_failed")
