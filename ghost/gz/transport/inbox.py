"""Receiving topics: one SUB socket for all publishers of all subscribed topics.

One socket, because the order across topics of one server is its order in one stream; and no thread
of its own, because a lockstep client reads in the thread that waits for the message.
"""

from __future__ import annotations

import select
import threading
from collections.abc import Callable

import zmq

from ghost.core import ClosedError
from ghost.core.clock import HostTime
from ghost.gz.transport.counters import Counters
from ghost.gz.transport.links import Links
from ghost.gz.transport.names import split_name
from ghost.gz.transport.options import TransportOptions
from ghost.gz.transport.sockets import disconnect
from ghost.gz.transport.types import Incoming
from ghost.gz.transport.waker import Waker

__all__ = ["Inbox"]

# topic, address, payload, type name, and with topic statistics 16 bytes more
_FRAMES = 4
_STATISTICS_FRAME = 16
_MAX_TEXTS = 4096


class Inbox:
    """Messages of the subscribed topics, in the order of arrival. Any thread may call anything.

    `links.monitor` must be polled by somebody.
    """

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        options: TransportOptions,
        counters: Counters,
        host: HostTime,
        on_broken: Callable[[str], None],
    ) -> None:
        self._counters = counters
        self._host = host
        self._lock = threading.Lock()
        self._topics: dict[bytes, str] = {}
        self._texts: dict[bytes, str] = {}
        self._addresses: dict[str, bool] = {}
        self._closed = False
        self._waker = Waker()
        made: zmq.Socket[bytes] = context.socket(zmq.SUB)
        made.set(zmq.RCVHWM, 0)
        made.set(zmq.LINGER, 0)
        made.set(zmq.RECONNECT_IVL, 50)
        made.set(zmq.RECONNECT_IVL_MAX, 500)
        if options.username is not None and options.password is not None:
            made.set(zmq.PLAIN_USERNAME, options.username.encode())
            made.set(zmq.PLAIN_PASSWORD, options.password.encode())
        self._socket = made
        self.links = Links(made, counters, on_down=on_broken)
        self._poll = select.poll()
        self._poll.register(int(made.get(zmq.FD)), select.POLLIN)
        self._poll.register(self._waker.fileno(), select.POLLIN)

    def subscribe(self, name: str) -> None:
        """Take a topic (its full name) from all connected publishers, now and later."""
        split = split_name(name)
        if split is None:
            raise ValueError(f"{name!r} is no full name")
        key = name.encode()
        with self._lock:
            if key not in self._topics:
                self._topics[key] = split[1]
                self._socket.set(zmq.SUBSCRIBE, key)
        self._waker.wake()

    def unsubscribe(self, name: str) -> None:
        """Take a topic no longer; what of it already waits is thrown away."""
        key = name.encode()
        with self._lock:
            if self._topics.pop(key, None) is not None:
                self._socket.set(zmq.UNSUBSCRIBE, key)
        self._waker.wake()

    def connect(self, address: str) -> bool:
        """Connect to a publisher's address, once. False if that is impossible."""
        with self._lock:
            if address not in self._addresses:
                try:
                    self._socket.connect(address)
                except zmq.ZMQError:
                    self._counters.count("connect_failed")
                    return False
            self._addresses[address] = False
        self._waker.wake()
        return True

    def keep_only(self, wanted: set[str]) -> None:
        """Close connections that are broken and that nobody advertises any more.

        An address goes at the second call that finds it so, and only when nothing it sent waits to
        be read. Until then the socket keeps trying, which is right for a peer that comes back.
        """
        with self._lock:
            waiting = bool(int(self._socket.get(zmq.EVENTS)) & zmq.POLLIN)
            for address, condemned in tuple(self._addresses.items()):
                dead = address not in wanted and not self.links.is_up(address)
                if not (dead and condemned):
                    self._addresses[address] = dead
                elif not waiting:
                    del self._addresses[address]
                    disconnect(self._socket, address, self._counters)
        self._waker.wake()

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses that are connected, or tried."""
        with self._lock:
            return tuple(self._addresses)

    def take(self) -> Incoming | None:
        """Return the next message if there is one. Raises `ClosedError` after `close`."""
        while True:
            with self._lock:
                if self._closed:
                    raise ClosedError("the transport node was closed while it received")
                try:
                    frames = self._socket.recv_multipart(zmq.NOBLOCK)
                except zmq.Again:
                    return None
            count = len(frames)
            if count != _FRAMES and not (
                count == _FRAMES + 1 and len(frames[_FRAMES]) == _STATISTICS_FRAME
            ):
                self._counters.count("message_malformed")
                continue
            # A subscription is a prefix for the socket: /a brings /ab as well.
            topic = self._topics.get(frames[0])
            if topic is None:
                self._counters.count("message_not_subscribed")
                continue
            texts = self._texts
            address = texts.get(frames[1]) or self._text(frames[1])
            kind = texts.get(frames[3]) or self._text(frames[3])
            return Incoming(topic, kind, frames[2], address)

    def receive(self, timeout_s: float) -> Incoming | None:
        """Return the next message, waiting for it; None on timeout."""
        incoming = self.take()
        if incoming is not None or timeout_s <= 0:
            return incoming
        end_ns = self._host.now_ns() + int(timeout_s * 1e9)
        while True:
            left_ns = end_ns - self._host.now_ns()
            if left_ns <= 0:
                return None
            # Rounded up: a poll that ends early would only turn the loop once more.
            self._wait(left_ns // 1_000_000 + 1)
            incoming = self.take()
            if incoming is not None:
                return incoming

    def _wait(self, timeout_ms: int) -> None:
        # The socket's descriptor signals once per change, and any call on the socket may consume
        # the signal. So every change made by another thread wakes this poll as well.
        for descriptor, _ in self._poll.poll(timeout_ms):
            if descriptor == self._waker.fileno():
                self._waker.clear()

    def _text(self, raw: bytes) -> str:
        text = raw.decode("utf-8", "replace")
        if len(self._texts) < _MAX_TEXTS:
            self._texts[raw] = text
        return text

    def poll_on(self) -> tuple[int, int]:
        """Return the descriptors that signal when `take` is worth another try."""
        return int(self._socket.get(zmq.FD)), self._waker.fileno()

    def clear_wake(self) -> None:
        """Take the wake-ups that others sent."""
        self._waker.clear()

    def close(self) -> None:
        """Close the socket; a `receive` that waits raises `ClosedError`."""
        with self._lock:
            self._closed = True
            self.links.close()
            self._socket.close(0)
        self._waker.wake()
        self._waker.close()
