"""The parent's end of a `bindings_child`: starts it, calls it, hears its messages, ends it."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from ghost.gz.transport.errors import TransportError, TransportTimeout
from ghost.gz.transport.options import TransportOptions

__all__ = ["ChildLink"]

# Importing the library and two heartbeats of discovery, on a slow computer.
_START_S = 20.0
_END_S = 3.0


def _environ(options: TransportOptions) -> dict[str, str]:
    settings = {
        "GZ_PARTITION": options.partition,
        "GZ_IP": options.ip,
        "GZ_RELAY": ":".join(options.relays),
        "GZ_DISCOVERY_MULTICAST_IP": options.multicast_ip,
        "GZ_DISCOVERY_MSG_PORT": str(options.msg_port),
        "GZ_DISCOVERY_SRV_PORT": str(options.srv_port),
        "GZ_TRANSPORT_TOPIC_STATISTICS": str(int(options.topic_statistics)),
        # 0 is no limit: a dropped message would stall lockstep.
        "GZ_TRANSPORT_RCVHWM": "0",
        "GZ_TRANSPORT_SNDHWM": "0",
    }
    if options.username is not None and options.password is not None:
        settings["GZ_TRANSPORT_USERNAME"] = options.username
        settings["GZ_TRANSPORT_PASSWORD"] = options.password
    return settings


class ChildLink:
    """A running child. Raises `TransportError` if it does not start."""

    def __init__(
        self,
        options: TransportOptions,
        module: str,
        on_message: Callable[[str, str, bytes], None],
    ) -> None:
        self._on_message = on_message
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._replies: dict[int, queue.SimpleQueue[tuple[bool, Any]]] = {}
        self._gone = False
        ours, theirs = multiprocessing.Pipe()
        self._pipe: Connection = ours
        with theirs:
            # A pipe that a closed parent end leaves behind ends the child.
            os.set_inheritable(theirs.fileno(), True)
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ghost.gz.transport.bindings_child", str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
            )
        started: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()
        self._replies[0] = started
        self._pipe.send((module, options.partition, _environ(options), sys.path))
        self._thread = threading.Thread(target=self._listen, name="ghost-gz-bindings", daemon=True)
        self._thread.start()
        try:
            self._await(started, "start", _START_S)
        except TransportError:
            self.kill()
            raise

    def call(self, operation: str, *arguments: object, timeout_s: float) -> Any:
        """Let the child do something and return what it says."""
        reply: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()
        number = next(self._numbers)
        self._replies[number] = reply
        try:
            self.send(number, operation, *arguments)
            return self._await(reply, operation, timeout_s)
        finally:
            self._replies.pop(number, None)

    def tell(self, operation: str, *arguments: object) -> None:
        """Let the child do something that has no reply."""
        self.send(next(self._numbers), operation, *arguments)

    def send(self, number: int, operation: str, *arguments: object) -> None:
        """Send an order. Raises `TransportError` if the child is gone."""
        with self._lock:
            try:
                self._pipe.send((number, operation, *arguments))
            except OSError as error:
                raise _gone(operation) from error

    def _await(
        self, reply: queue.SimpleQueue[tuple[bool, Any]], operation: str, timeout_s: float
    ) -> Any:
        if self._gone:
            raise _gone(operation)
        try:
            good, value = reply.get(timeout=max(timeout_s, 0.0))
        except queue.Empty:
            raise TransportTimeout(
                f"the process of the official bindings did not {operation} within {timeout_s:g} s"
            ) from None
        if not good:
            raise TransportError(f"the official bindings could not {operation}: {value}")
        return value

    def _listen(self) -> None:
        try:
            while True:
                kind, *rest = self._pipe.recv()
                if kind == "message":
                    self._on_message(*rest)
                    continue
                number, good, value = rest
                reply = self._replies.get(number)
                if reply is not None:
                    reply.put((good, value))
        except (EOFError, OSError):
            self._gone = True
            for waiting in tuple(self._replies.values()):
                waiting.put((False, "their process has ended"))

    def close(self) -> None:
        """Let the child withdraw everything and end; kill it if it does not."""
        if not self._gone:
            try:
                self.call("close", timeout_s=_END_S)
            except TransportError:
                self.kill()
                return
        self.kill()

    def kill(self) -> None:
        """End the child at once. Idempotent."""
        self._process.kill()
        self._process.wait()
        self._thread.join(_END_S)
        self._pipe.close()


def _gone(operation: str) -> TransportError:
    return TransportError(f"cannot {operation}: the process of the official bindings has ended")
