"""How bytes get to PX4 and back: a TCP server that PX4 dials, or a serial device.

Nothing here blocks longer than it is told to, and nothing raises because the other side went away:
`connected` says so. Only `open` raises.
"""

from __future__ import annotations

import errno
import select
import socket
from typing import Protocol

from ghost.core import ConfigError
from ghost.px4.instances import instance_holders

__all__ = ["TcpServerTransport", "Transport"]

_CHUNK = 65_536
_MOST_WAITING = 65_536
"""Bytes kept for a peer that does not read; beyond it what is sent is dropped."""
_LOOK_EVERY = 256
"""Receives between two looks at whether somebody else dials in."""
_FIRST_PORT = 4560


class Transport(Protocol):
    """A stream of bytes to one peer at a time."""

    @property
    def name(self) -> str:
        """For people: `TCP 127.0.0.1:4560`."""

    @property
    def connected(self) -> bool:
        """Whether there is a peer, as far as is known without asking."""

    @property
    def connections(self) -> int:
        """How often a peer came since `open`."""

    @property
    def refused(self) -> int:
        """How often another one was turned away."""

    @property
    def unsent(self) -> int:
        """How often bytes were dropped because the peer does not read."""

    def open(self) -> None:
        """Get ready. Raises `ConfigError` saying what is in the way."""

    def send(self, data: bytes) -> None:
        """Send now, or drop all of `data` if the peer has not read for long or is gone."""

    def receive(self, timeout_s: float) -> bytes | None:
        """What has come; None if nothing came in `timeout_s`, or the peer left or came meanwhile.

        Without a peer it waits for one. `timeout_s` 0 only looks.
        """

    def close(self) -> None:
        """Hang up and listen no more. Idempotent."""


class TcpServerTransport:
    """Listens on a port; one peer at a time, any further one is hung up on.

    Port 0 takes a free one; `port` is then the real one. `spins` is how often `receive` looks
    again (about a microsecond each) before it sleeps: an answer is a tenth of a millisecond away,
    and a sleeping processor takes as long to wake up. It is for a peer on another processor.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = _FIRST_PORT, spins: int = 0) -> None:
        if not 0 <= port <= 65_535:
            raise ConfigError(f"a TCP port is within 0..65535, got {port}")
        self.host = host
        self.port = port
        self._spins = spins
        self.connected = False
        self.connections = 0
        self.refused = 0
        self.unsent = 0
        self._door: socket.socket | None = None
        self._peer: socket.socket | None = None
        self._poll = select.poll()
        self._waiting = b""
        self._looks = 0

    @property
    def name(self) -> str:
        """See `Transport`."""
        return f"TCP {self.host}:{self.port}"

    def open(self) -> None:
        """See `Transport`."""
        self.close()
        self.connections = self.refused = self.unsent = 0
        try:
            address = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0]
        except OSError as error:
            raise ConfigError(f"no address {self.host!r} to listen on: {error}") from error
        door = socket.socket(address[0], socket.SOCK_STREAM)
        try:
            # A port whose last connection is fading (TIME_WAIT) is free to us.
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            door.bind(address[4])
            door.listen(8)
        except OSError as error:
            door.close()
            raise ConfigError(self._cannot_listen(error)) from error
        door.setblocking(False)
        self.port = door.getsockname()[1]
        self._door = door
        self._poll.register(door, select.POLLIN)

    def _cannot_listen(self, error: OSError) -> str:
        if error.errno != errno.EADDRINUSE:
            return f"cannot listen on {self.name}: {error.strerror or error}"
        text = f"TCP port {self.port} on {self.host} is taken, and PX4 would dial it"
        for holder in instance_holders(self.port - _FIRST_PORT, claims=False):
            if f"TCP port {self.port}" in holder.held and holder.pid is not None:
                command = f" (`{holder.command}`)" if holder.command else ""
                text += f"; process {holder.pid}{command} listens there"
        return f"{text}; end that simulator, or take another instance (autopilot.instance)"

    def send(self, data: bytes) -> None:
        """See `Transport`."""
        peer = self._peer
        if peer is None:
            return
        if self._waiting:
            if len(self._waiting) + len(data) > _MOST_WAITING:
                self.unsent += 1
                data = b""
            data = self._waiting + data
        try:
            done = peer.send(data)
        except (BlockingIOError, InterruptedError):
            done = 0
        except OSError:
            self._lose()
            return
        # Half a packet must be followed by its other half, or the peer loses more than it.
        self._waiting = data[done:]

    def receive(self, timeout_s: float) -> bytes | None:
        """See `Transport`."""
        self._looks += 1
        if self._looks >= _LOOK_EVERY:
            self._answer_door()
        peer = self._peer
        if peer is None:
            if self._door is not None and self._poll.poll(timeout_s * 1e3):
                self._answer_door()
            return None
        for _ in range(self._spins + 1 if timeout_s > 0.0 else 1):
            try:
                data = peer.recv(_CHUNK)
            except (BlockingIOError, InterruptedError):
                continue
            except OSError:
                data = b""
            if data:
                return data
            self._lose()
            return None
        return self._wait(timeout_s) if timeout_s > 0.0 else None

    def _wait(self, timeout_s: float) -> bytes | None:
        peer, door = self._peer, self._door
        assert peer is not None
        for descriptor, _ in self._poll.poll(timeout_s * 1e3):
            if door is not None and descriptor == door.fileno():
                self._answer_door()
            elif self._peer is peer:
                try:
                    data = peer.recv(_CHUNK)
                except (BlockingIOError, InterruptedError):
                    continue
                except OSError:
                    data = b""
                if data:
                    return data
                self._lose()
        return None

    def _answer_door(self) -> None:
        """Take a peer if there is none, else hang up on whoever dials in."""
        self._looks = 0
        if self._door is None:
            return
        try:
            caller, _ = self._door.accept()
        except OSError:
            return
        if self._peer is not None and self._hung_up(self._peer):
            self._lose()
        if self._peer is not None:
            self.refused += 1
            caller.close()
            return
        caller.setblocking(False)
        caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._peer = caller
        self._poll.register(caller, select.POLLIN)
        self.connections += 1
        self.connected = True

    @staticmethod
    def _hung_up(peer: socket.socket) -> bool:
        try:
            return not peer.recv(1, socket.MSG_PEEK)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            return True

    def _lose(self) -> None:
        peer, self._peer = self._peer, None
        self.connected = False
        self._waiting = b""
        if peer is not None:
            self._poll.unregister(peer)
            peer.close()

    def close(self) -> None:
        """See `Transport`."""
        self._lose()
        door, self._door = self._door, None
        if door is not None:
            self._poll.unregister(door)
            door.close()
