"""The state of a socket's connections, from the socket's own events."""

from __future__ import annotations

import threading
from collections.abc import Callable

import zmq
from zmq.utils.monitor import recv_monitor_message

from ghost.gz.transport.counters import Counters

__all__ = ["Links"]

_EVENTS = (
    zmq.EVENT_HANDSHAKE_SUCCEEDED
    | zmq.EVENT_DISCONNECTED
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
)


class Links:
    """Knows which addresses a socket is connected to, handshake done.

    `monitor` is to be polled, and `read` called, by one thread. The others ask.
    """

    def __init__(
        self,
        owner: zmq.Socket[bytes],
        counters: Counters,
        on_up: Callable[[str], None] | None = None,
        on_down: Callable[[str], None] | None = None,
    ) -> None:
        self._owner = owner
        self._counters = counters
        self._on_up = on_up
        self._on_down = on_down
        self._changed = threading.Condition()
        self._up: set[str] = set()
        self.refused: set[str] = set()
        self.monitor: zmq.Socket[bytes] = owner.get_monitor_socket(_EVENTS)

    def read(self) -> None:
        """Take in all events that wait."""
        while True:
            try:
                event = recv_monitor_message(self.monitor, zmq.NOBLOCK)
            except zmq.Again:
                return
            self._take(int(event["event"]), event["endpoint"].decode("utf-8", "replace"))

    def _take(self, event: int, address: str) -> None:
        if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
            with self._changed:
                self._up.add(address)
                self.refused.discard(address)
                self._changed.notify_all()
            if self._on_up is not None:
                self._on_up(address)
        elif event == zmq.EVENT_DISCONNECTED:
            with self._changed:
                was_up = address in self._up
                self._up.discard(address)
                self._changed.notify_all()
            if was_up and self._on_down is not None:
                self._on_down(address)
        else:
            self._counters.count("handshake_refused")
            with self._changed:
                self.refused.add(address)

    def is_up(self, address: str) -> bool:
        """Return whether messages can pass now."""
        with self._changed:
            return address in self._up

    def wait_up(self, address: str, timeout_s: float) -> bool:
        """Wait until `address` is connected; False on timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: address in self._up, max(0.0, timeout_s))

    def close(self) -> None:
        """Stop watching. The thread that calls `read` must have ended."""
        self._owner.disable_monitor()
        self.monitor.close(0)
