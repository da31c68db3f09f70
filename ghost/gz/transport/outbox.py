"""Publishing topics: one socket, bound to a port of its own.

It is an XPUB, which a subscriber cannot tell from a PUB, but which sees the subscriptions arrive:
so "somebody can receive this" is known instead of hoped for.
"""

from __future__ import annotations

import select
import struct
import threading
from collections import Counter

import zmq

from ghost.core import ClosedError
from ghost.core.clock import HostTime
from ghost.gz.transport.errors import TransportError
from ghost.gz.transport.options import TransportOptions
from ghost.gz.transport.sockets import bind_any_port

__all__ = ["AUTH_DOMAIN", "Outbox"]

# The domain that gz-transport asks its authenticator for.
AUTH_DOMAIN = b"gz-auth"
# Milliseconds of a steady clock, and the count of the topic's messages before this one.
_STATISTICS = struct.Struct("=QQ")
# How long a close waits for subscribers to take what was published last.
_LINGER_MS = 1000
# A backstop of waits for what another thread may have read already.
_LOOK_EVERY_MS = 20


class Outbox:
    """The publishing socket of a node. Any thread may call anything."""

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        options: TransportOptions,
        host: HostTime,
    ) -> None:
        self._host = host
        self._lock = threading.Lock()
        self._subscribed: Counter[bytes] = Counter()
        self._sent: Counter[bytes] = Counter()
        self._statistics = options.topic_statistics
        self._closed = False
        made: zmq.Socket[bytes] = context.socket(zmq.XPUB)
        made.set(zmq.SNDHWM, 0)
        # Every subscription and its end is told, not only the first and the last of a topic.
        made.set(zmq.XPUB_VERBOSER, 1)
        made.set(zmq.LINGER, _LINGER_MS)
        if options.authenticated:
            made.set(zmq.PLAIN_SERVER, 1)
            made.set(zmq.ZAP_DOMAIN, AUTH_DOMAIN)
        self._socket = made
        try:
            self.address = bind_any_port(made, options.ip)
        except TransportError:
            made.close(0)
            raise
        self._descriptor = int(made.get(zmq.FD))
        self._address_frame = self.address.encode()

    def publish(self, topic: bytes, data: bytes, kind: bytes) -> None:
        """Send a message to those who subscribed. Raises `ClosedError` after `close`."""
        with self._lock:
            if self._closed:
                raise ClosedError("the node is closed; it publishes no more")
            frames: tuple[bytes, ...] = (topic, self._address_frame, data, kind)
            if self._statistics:
                now_ms = self._host.now_ns() // 1_000_000
                frames = (*frames, _STATISTICS.pack(now_ms, self._sent[topic]))
                self._sent[topic] += 1
            self._socket.send_multipart(frames)

    def subscriptions(self, topic: bytes) -> int:
        """Return how many subscriptions to `topic` (its full name) have arrived."""
        with self._lock:
            if self._closed:
                raise ClosedError("the node is closed; nobody can subscribe to it")
            self._drain()
            return sum(
                number for prefix, number in self._subscribed.items() if topic.startswith(prefix)
            )

    def wait_subscribed(self, topic: bytes, timeout_s: float, number: int = 1) -> bool:
        """Wait until `number` subscriptions to `topic` are there; False on timeout."""
        end_ns = self._host.now_ns() + int(timeout_s * 1e9)
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        while self.subscriptions(topic) < number:
            left_ns = end_ns - self._host.now_ns()
            if left_ns <= 0:
                return False
            poll.poll(min(left_ns // 1_000_000 + 1, _LOOK_EVERY_MS))
        return True

    def _drain(self) -> None:
        while True:
            try:
                frame = self._socket.recv(zmq.NOBLOCK)
            except zmq.Again:
                return
            if frame[:1] == b"\1":
                self._subscribed[frame[1:]] += 1
            elif frame[:1] == b"\0":
                self._subscribed[frame[1:]] -= 1
                if self._subscribed[frame[1:]] <= 0:
                    del self._subscribed[frame[1:]]

    def close(self) -> None:
        """Close the socket after the last messages went out, or a second later. Idempotent."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._socket.close()
