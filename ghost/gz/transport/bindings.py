"""`Node` on the official Python bindings of gz-transport, where they are installed.

They live in two processes of their own, one for topics and one for requests: their blocking
request keeps the interpreter's lock while their callbacks wait for it, so that both in one process
come to a standstill (measured with gz-transport 13: every request from about the 26th on ran into
its timeout). It also keeps their settings, which they read from their process's environment,
and their threads, which never end, out of ours.

What they cannot do: offer services; tell who published a message, or the addresses of publishers;
tell a refused request from one that succeeded with an empty reply; call one way.
"""

from __future__ import annotations

import importlib.util
import itertools
import queue
import threading
from types import TracebackType
from typing import Any, Self

from ghost.core import ClosedError, MissingDependency
from ghost.core.clock import HostClock
from ghost.gz.msgs import base_name
from ghost.gz.transport.bindings_link import ChildLink
from ghost.gz.transport.errors import TransportError, TransportTimeout
from ghost.gz.transport.handles import WireOffer, WireSubscription
from ghost.gz.transport.names import full_name
from ghost.gz.transport.options import TransportOptions
from ghost.gz.transport.types import (
    Incoming,
    MessageCallback,
    ServiceHandler,
    ServiceInfo,
    TopicInfo,
)

__all__ = ["BindingsNode", "find_version"]

# Newest first. From Jetty on the module has no number.
_MODULES = ("gz.transport", "gz.transport15", "gz.transport14", "gz.transport13")
_CALL_S = 10.0
_LOOK_EVERY_NS = 20_000_000


def find_version() -> str | None:
    """Return the name of the newest official module that is installed, or None."""
    for name in _MODULES:
        try:
            if importlib.util.find_spec(name) is not None:
                return name
        except ModuleNotFoundError:
            continue
    return None


class BindingsPublisher:
    """One advertised topic; see `Publisher`."""

    def __init__(self, node: BindingsNode, number: int, topic: str, msg_type: str) -> None:
        self._node = node
        self._number = number
        self._topic = topic
        self._type = msg_type
        self._closed = False

    @property
    def topic(self) -> str:
        """The topic's name, absolute, without the partition."""
        return self._topic

    def publish(self, data: bytes) -> None:
        """Send one message to all subscribers. Raises `ClosedError` after `close`."""
        self._check()
        self._node.topics_link().tell("publish", self._number, data, self._type)

    def wait_for_subscriber(self, timeout_s: float) -> bool:
        """Wait until the library knows a subscriber; False if none came in time."""
        self._check()
        return self._node.wait_until(
            lambda: self._node.topics_link().call(
                "has_connections", self._number, timeout_s=_CALL_S
            ),
            timeout_s,
        )

    def close(self) -> None:
        """Withdraw the topic. Idempotent."""
        if not self._closed:
            self._closed = True
            self._node.withdraw(self._number)

    def _check(self) -> None:
        if self._closed:
            raise ClosedError(f"the publisher of {self._topic} is closed")


class BindingsNode:
    """A member of the network; see `Node`.

    Raises `MissingDependency` where the bindings are not installed for this Python.
    """

    def __init__(self, options: TransportOptions) -> None:
        module = find_version()
        if module is None:
            raise MissingDependency(
                "gz.transport (the official Python bindings)",
                needed_for="--set gz.transport=bindings",
                install="apt-get install python3-gz-transport13 python3-gz-msgs10 (from Gazebo's "
                "package repository, and for the system's Python only); or leave "
                "gz.transport=wire, which needs nothing",
            )
        self.options = options
        self._module = module
        self._partition = options.partition_path
        self._host = HostClock()
        self._lock = threading.RLock()
        self._asking = threading.Lock()
        self._closed = False
        self._numbers = itertools.count(1)
        self._inbox: queue.SimpleQueue[Incoming] = queue.SimpleQueue()
        self._callbacks: dict[str, list[MessageCallback | None]] = {}
        self._failed = 0
        self._topics = ChildLink(options, module, self._deliver)
        self._services: ChildLink | None = None

    def advertise(self, topic: str, msg_type: str) -> BindingsPublisher:
        """Announce a topic of messages of the type `msg_type`."""
        short = self._short(topic)
        number = next(self._numbers)
        if not self.topics_link().call("advertise", number, short, msg_type, timeout_s=_CALL_S):
            raise TransportError(
                f"the official bindings refused to advertise {short}: one process may advertise a "
                "topic once only"
            )
        return BindingsPublisher(self, number, short, msg_type)

    def withdraw(self, number: int) -> None:
        """Withdraw a publisher by its number."""
        if not self._closed:
            self._topics.call("withdraw", number, timeout_s=_CALL_S)

    def subscribe(self, topic: str, callback: MessageCallback | None = None) -> WireSubscription:
        """Receive a topic, now or as soon as somebody publishes it."""
        short = self._short(topic)
        link = self.topics_link()
        with self._lock:
            users = self._callbacks.setdefault(short, [])
            users.append(callback)
            if len(users) == 1 and not link.call("subscribe", short, timeout_s=_CALL_S):
                del self._callbacks[short]
                raise TransportError(f"the official bindings refused to subscribe to {short}")

        def wait(timeout_s: float) -> bool:
            return self.wait_until(lambda: self._has_topic(short), timeout_s)

        def unsubscribe() -> None:
            self._unsubscribe(short, callback)

        return WireSubscription(short, wait, unsubscribe)

    def _unsubscribe(self, short: str, callback: MessageCallback | None) -> None:
        with self._lock:
            users = self._callbacks.get(short, [])
            if callback in users:
                users.remove(callback)
            if not users and self._callbacks.pop(short, None) is not None and not self._closed:
                self._topics.call("unsubscribe", short, timeout_s=_CALL_S)

    def _deliver(self, topic: str, kind: str, data: bytes) -> None:
        incoming = Incoming(topic, kind, data, "")
        users = tuple(self._callbacks.get(topic, ()))
        if None in users:
            self._inbox.put(incoming)
        for callback in users:
            if callback is not None:
                try:
                    callback(incoming)
                except Exception:  # noqa: BLE001 - one callback's fault must not silence the others
                    self._failed += 1

    def receive(self, timeout_s: float) -> Incoming | None:
        """Return the next message of all subscriptions without a callback, None on timeout."""
        self._check()
        try:
            if timeout_s <= 0:
                return self._inbox.get_nowait()
            return self._inbox.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def offer(
        self, service: str, request_type: str, reply_type: str, handler: ServiceHandler
    ) -> WireOffer:
        """Raise `TransportError`: the official bindings cannot offer services."""
        short = self._short(service)
        raise TransportError(
            f"the official bindings cannot offer a service ({short}: {request_type} → "
            f"{reply_type}, {handler!r}); use gz.transport=wire"
        )

    def request(
        self, service: str, data: bytes, request_type: str, reply_type: str, timeout_s: float
    ) -> bytes:
        """Call a service and return its reply; requests of one node go one after another.

        Raises `TransportTimeout` after `timeout_s`. A refusal looks like an empty reply.
        """
        short = self._short(service)
        if base_name(reply_type) == "Empty":
            raise TransportError(
                f"the official bindings cannot call {short} one way; use gz.transport=wire"
            )
        arguments = (short, data, request_type, reply_type, max(1, round(timeout_s * 1000)))
        with self._asking:
            link = self._services_link()
            try:
                answered, reply = link.call("request", *arguments, timeout_s=timeout_s + 1.0)
            except TransportTimeout:
                # It hangs in the library: the next request gets a new process.
                link.kill()
                self._services = None
                answered, reply = False, b""
        if not answered:
            raise TransportTimeout(
                f"no answer from {short} within {timeout_s:g} s through the official bindings; "
                f"`ghost gz services` shows whether it exists in {self.options.partition!r}"
            )
        return bytes(reply)

    def topics(self) -> list[TopicInfo]:
        """Return the publishers known now; addresses and identifiers are not told."""
        found = self.topics_link().call("topics", timeout_s=_CALL_S)
        return [TopicInfo(topic, types[0], "", "", "") for topic, types in sorted(found)]

    def services(self) -> list[ServiceInfo]:
        """Return the providers known now; addresses and identifiers are not told."""
        found = self.topics_link().call("services", timeout_s=_CALL_S)
        return [
            ServiceInfo(service, types[0], types[1], "", "") for service, types in sorted(found)
        ]

    def wait_for_topic(self, topic: str, timeout_s: float) -> TopicInfo:
        """Return the first publisher of a topic. Raises `TransportTimeout` if none appears."""
        short = self._short(topic)
        found: list[TopicInfo] = []

        def look() -> bool:
            found[:] = [info for info in self.topics() if info.topic == short]
            return bool(found)

        if not self.wait_until(look, timeout_s):
            raise self._missing("topic", short, timeout_s)
        return found[0]

    def wait_for_service(self, service: str, timeout_s: float) -> ServiceInfo:
        """Return the first provider of a service. Raises `TransportTimeout` if none appears."""
        short = self._short(service)
        found: list[ServiceInfo] = []

        def look() -> bool:
            found[:] = [info for info in self.services() if info.service == short]
            return bool(found)

        if not self.wait_until(look, timeout_s):
            raise self._missing("service", short, timeout_s)
        return found[0]

    def statistics(self) -> dict[str, int]:
        """Return counts; the bindings tell nothing of what they ignore."""
        return {"callback_failed": self._failed} if self._failed else {}

    def close(self) -> None:
        """Withdraw everything and end both processes. Idempotent."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._topics.close()
        if self._services is not None:
            self._services.close()

    def __enter__(self) -> Self:
        """Return the node itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def topics_link(self) -> ChildLink:
        """Return the process of topics."""
        self._check()
        return self._topics

    def wait_until(self, true: Any, timeout_s: float) -> bool:
        """Ask the library again and again until something is true; False on timeout."""
        end_ns = self._host.now_ns() + int(timeout_s * 1e9)
        while not true():
            now_ns = self._host.now_ns()
            if now_ns >= end_ns:
                return False
            self._host.sleep_until_ns(min(end_ns, now_ns + _LOOK_EVERY_NS))
        return True

    def _services_link(self) -> ChildLink:
        self._check()
        if self._services is None:
            self._services = ChildLink(self.options, self._module, self._deliver)
        return self._services

    def _has_topic(self, short: str) -> bool:
        return any(info.topic == short for info in self.topics())

    def _missing(self, kind: str, short: str, timeout_s: float) -> TransportTimeout:
        infos = self.topics() if kind == "topic" else self.services()
        names = sorted({getattr(info, kind) for info in infos})
        heard = ", ".join(names[:5]) or "nothing"
        return TransportTimeout(
            f"no {kind} {short} in the partition {self.options.partition!r} within "
            f"{timeout_s:g} s; heard: {heard}"
        )

    def _short(self, name: str) -> str:
        self._check()
        return full_name(self._partition, name).rpartition("@")[2]

    def _check(self) -> None:
        if self._closed:
            raise ClosedError("the transport node is closed")
