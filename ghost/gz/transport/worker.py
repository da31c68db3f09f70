"""The thread that calls the user's functions: service handlers and message callbacks.

It is not the thread of discovery, so a handler that takes its time silences nobody's heartbeat.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import zmq

from ghost.gz.transport.counters import Counters
from ghost.gz.transport.inbox import Inbox
from ghost.gz.transport.server import Server
from ghost.gz.transport.types import Incoming, MessageCallback
from ghost.gz.transport.waker import Waker

__all__ = ["Worker"]

_LOG = logging.getLogger("ghost.gz.transport")
_BATCH = 256
_JOIN_S = 5.0


class Worker:
    """Serves a `Server` and the callbacks of an `Inbox` until `close`."""

    def __init__(self, server: Server, inbox: Inbox, counters: Counters) -> None:
        self.server = server
        self.inbox = inbox
        self._counters = counters
        self._lock = threading.Lock()
        self._callbacks: dict[str, tuple[MessageCallback, ...]] = {}
        self._waker = Waker()
        self._stop = False
        self._thread = threading.Thread(target=self._run, name="ghost-gz-work", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def add_callback(self, topic: str, callback: MessageCallback) -> None:
        """Call `callback` for each message of `topic` (without partition)."""
        with self._lock:
            self._callbacks[topic] = (*self._callbacks.get(topic, ()), callback)

    def remove_callback(self, topic: str, callback: MessageCallback) -> bool:
        """Call it no more. True if it was the last one of its topic."""
        with self._lock:
            left = list(self._callbacks.pop(topic, ()))
            if callback in left:
                left.remove(callback)
            if left:
                self._callbacks[topic] = tuple(left)
            return not left

    def _run(self) -> None:
        server, inbox = self.server, self.inbox
        poller = zmq.Poller()
        poller.register(server.socket, zmq.POLLIN)
        poller.register(server.links.monitor, zmq.POLLIN)
        poller.register(self._waker.fileno(), zmq.POLLIN)
        for descriptor in inbox.poll_on():
            poller.register(descriptor, zmq.POLLIN)
        more = True
        while not self._stop:
            poller.poll(0 if more else server.patience_ms())
            self._waker.clear()
            inbox.clear_wake()
            server.links.read()
            server.flush()
            more = server.serve()
            more = self._deliver() or more

    def _deliver(self) -> bool:
        for _ in range(_BATCH):
            incoming = self.inbox.take()
            if incoming is None:
                return False
            for callback in self._callbacks.get(incoming.topic, ()):
                self._call(callback, incoming)
        return True

    def _call(self, callback: Callable[[Incoming], None], incoming: Incoming) -> None:
        try:
            callback(incoming)
        except Exception:  # noqa: BLE001 - one callback's fault must not silence the others
            self._counters.count("callback_failed")
            _LOG.exception("a callback of the topic %s failed", incoming.topic)

    def is_current(self) -> bool:
        """Return whether the calling thread is the one that calls the callbacks."""
        return threading.current_thread() is self._thread

    def close(self) -> None:
        """End the thread and close its sockets. Not from a callback: see `is_current`."""
        self._stop = True
        self._waker.wake()
        self._thread.join(_JOIN_S)
        if self._thread.is_alive():
            self._counters.count("worker_stuck")
            _LOG.error("a callback or service handler has not returned for %g s", _JOIN_S)
            return
        self.server.close()
        self.inbox.close()
        self._waker.close()
