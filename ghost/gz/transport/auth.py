"""PLAIN authentication: answers the question of our publishing socket whether a peer may connect.

The questions come over ZeroMQ's ZAP (RFC 27), inside the process.
"""

from __future__ import annotations

import hmac

import zmq

from ghost.gz.transport.counters import Counters
from ghost.gz.transport.outbox import AUTH_DOMAIN

__all__ = ["Doorman"]

_ADDRESS = "inproc://zeromq.zap.01"
_VERSION = b"1.0"
# version, request id, domain, address, identity, mechanism, user name, password
_PLAIN_FRAMES = 8


class Doorman:
    """Lets in who has the user name and the password. `socket` must be polled, then `answer`."""

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        username: str,
        password: str,
        counters: Counters,
    ) -> None:
        self._want = (username.encode(), password.encode())
        self._counters = counters
        self.socket: zmq.Socket[bytes] = context.socket(zmq.REP)
        self.socket.set(zmq.LINGER, 0)
        self.socket.bind(_ADDRESS)

    def answer(self) -> None:
        """Answer all questions that wait."""
        while True:
            try:
                frames = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            request = frames[1] if len(frames) > 1 else b""
            if self._may_enter(frames):
                reply = (b"200", b"OK", b"anonymous", b"")
            else:
                self._counters.count("authentication_refused")
                reply = (b"400", b"Invalid username or password", b"", b"")
            self.socket.send_multipart((_VERSION, request, *reply))

    def _may_enter(self, frames: list[bytes]) -> bool:
        if len(frames) != _PLAIN_FRAMES or frames[0] != _VERSION:
            return False
        if frames[2] != AUTH_DOMAIN or frames[5] != b"PLAIN":
            return False
        user_ok = hmac.compare_digest(frames[6], self._want[0])
        return hmac.compare_digest(frames[7], self._want[1]) and user_ok

    def close(self) -> None:
        """Close the socket. The thread that calls `answer` must have ended."""
        self.socket.close(0)
