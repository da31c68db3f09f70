"""The message bus: one global order for everything that is said (clock spec §6, D5)."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush

from ghost.core.events import EVENTS_TOPIC, Event, EventSeverity, EventType
from ghost.core.failures import callback_name, log_event, traceback_text
from ghost.core.ns import as_ns

__all__ = ["Envelope", "MessageBus", "Subscription"]

_TOPIC = re.compile(r"(/[^/\s*]+)+")

# Topics are few; this only keeps a program that invents them from growing without bound.
_MAX_ROUTES = 4096


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message on its way: `(stamp_sim_ns, sequence)` is its place in the total order."""

    topic: str
    stamp_sim_ns: int
    sequence: int
    payload: object


class _Draft:
    """An envelope being written. Same slots, but plain assignments.

    The `__init__` of a frozen dataclass goes through `object.__setattr__` for each field, which
    makes it three times as slow as this, and an envelope is made for each message.
    """

    __slots__ = ("payload", "sequence", "stamp_sim_ns", "topic")

    topic: str
    stamp_sim_ns: int
    sequence: int
    payload: object


class Subscription:
    """A subscriber's registration; made by `MessageBus.subscribe`."""

    __slots__ = ("_bus", "_exact", "_prefix", "active", "callback", "pattern")

    def __init__(self, bus: MessageBus, pattern: str, callback: Callable[[Envelope], None]) -> None:
        self.pattern = pattern
        self.callback = callback
        self.active = True
        self._bus = bus
        self._exact = pattern.removesuffix("*")
        self._prefix = pattern.endswith("*")

    def matches(self, topic: str) -> bool:
        """Tell whether a message on `topic` is for this subscriber."""
        return topic.startswith(self._exact) if self._prefix else topic == self._exact

    def unsubscribe(self) -> None:
        """Receive nothing any more, not even what was published before. Idempotent."""
        self.active = False
        self._bus._forget(self)


class MessageBus:
    """Publish and subscribe, within the process, in one total order.

    `publish` numbers each message under a lock; `(stamp_sim_ns, sequence)` orders them all. One
    message is delivered at a time, to its subscribers in the order they subscribed. What is
    published meanwhile, by a subscriber or by another thread, waits and is delivered in that order
    after the running delivery, by the thread that delivers; so every subscriber sees the same
    order. `publish` from inside a subscriber, or while another thread delivers, therefore returns
    before its message arrived. A stamp older than what was delivered already is delivered as it
    comes; a recorder may sort by `(stamp_sim_ns, sequence)`.

    A subscriber receives what is published while it is subscribed. One that raises an `Exception`
    disturbs nobody: `Event(SUBSCRIBER_FAILED)` is published on `/events`. If a listener fails at
    such an event, that is logged instead, so a broken listener of `/events` cannot feed itself. A
    `BaseException` (Ctrl-C) passes through `publish`; what was waiting is delivered with the next
    message.
    """

    __slots__ = ("_delivering", "_lock", "_pending", "_routes", "_sequence", "_subscriptions")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._subscriptions: list[Subscription] = []
        self._routes: dict[str, tuple[Subscription, ...]] = {}
        self._pending: list[tuple[int, int, str, object, tuple[Subscription, ...]]] = []
        self._sequence = 0
        self._delivering = False

    def publish(self, topic: str, payload: object, stamp_sim_ns: int | None = None) -> int:
        """Send `payload` to the subscribers of `topic` and return its sequence number (from 0).

        The stamp is `stamp_sim_ns` or, without it, `payload.stamp_sim_ns`.

        Raises `TypeError` if there is no stamp or it is no integer or the topic no `str`, and
        `ValueError` for a malformed topic.
        """
        if stamp_sim_ns is None:
            stamp_sim_ns = getattr(payload, "stamp_sim_ns", None)
            if stamp_sim_ns is None:
                raise TypeError(
                    f"publish({topic!r}) needs stamp_sim_ns: "
                    f"a {type(payload).__name__} payload has none of its own"
                )
        if type(stamp_sim_ns) is not int:
            stamp_sim_ns = as_ns("stamp_sim_ns", stamp_sim_ns)
        route = self._routes.get(topic)
        if route is None:
            route = self._find_route(topic)
        delivering = False
        try:
            with self._lock:
                sequence = number = self._sequence
                self._sequence = sequence + 1
                if not route:
                    return sequence
                if self._delivering:
                    heappush(self._pending, (stamp_sim_ns, sequence, topic, payload, route))
                    if self._is_delivering():
                        return sequence
                    # The other thread has left meanwhile, perhaps before it could see this one.
                    route = ()
                elif self._pending:  # left behind by a BaseException: they go first
                    heappush(self._pending, (stamp_sim_ns, sequence, topic, payload, route))
                    route = ()
                self._delivering = delivering = True
            while True:
                if route:
                    # Written out, as it is done for every message of a run.
                    draft = _Draft()
                    draft.topic = topic
                    draft.stamp_sim_ns = stamp_sim_ns
                    draft.sequence = number
                    draft.payload = payload
                    draft.__class__ = Envelope  # type: ignore[assignment]  # same slots: finished
                    for subscription in route:
                        if subscription.active:
                            try:
                                subscription.callback(draft)  # type: ignore[arg-type]  # as above
                            except Exception as error:  # noqa: BLE001 - D5: becomes an event
                                self._failed(subscription, draft, error)  # type: ignore[arg-type]  # as above
                # First leave, then look: whoever adds a message does it the other way round, so one
                # of the two sees the other, and the usual case needs no lock.
                self._delivering = delivering = False
                if not self._pending:
                    return sequence
                with self._lock:
                    if self._delivering or not self._pending:
                        return sequence
                    self._delivering = delivering = True
                    stamp_sim_ns, number, topic, payload, route = heappop(self._pending)
        except BaseException:
            # Covers the lock too: Ctrl-C may strike between taking the turn and using it.
            if delivering:
                self._delivering = False
            raise

    def subscribe(self, pattern: str, cb: Callable[[Envelope], None]) -> Subscription:
        """Call `cb` with every message on a topic: `/ground_truth`, or a prefix, `/sensors/*`.

        `/*` is everything. Raises `TypeError` if the pattern is no `str` or `cb` not callable, and
        `ValueError` for a malformed pattern.
        """
        if pattern != "/*":
            stem = pattern.removesuffix("/*") if isinstance(pattern, str) else pattern
            _check_topic("pattern", stem, pattern)
        if not callable(cb):
            raise TypeError(f"cb must be callable, got {cb!r}")
        subscription = Subscription(self, pattern, cb)
        with self._lock:
            self._subscriptions.append(subscription)
            self._routes = {}
        return subscription

    def _forget(self, subscription: Subscription) -> None:
        with self._lock:
            self._subscriptions = [s for s in self._subscriptions if s is not subscription]
            self._routes = {}

    def _find_route(self, topic: str) -> tuple[Subscription, ...]:
        _check_topic("topic", topic, topic)
        with self._lock:
            route = tuple(s for s in self._subscriptions if s.matches(topic))
            if len(self._routes) >= _MAX_ROUTES:
                self._routes = {}
            self._routes[topic] = route
        return route

    def _is_delivering(self) -> bool:
        """The flag as it is now; a type checker takes it for what it was some lines before."""
        return self._delivering

    def _failed(self, subscription: Subscription, envelope: Envelope, error: Exception) -> None:
        name = callback_name(subscription.callback)
        event = Event(
            type=EventType.SUBSCRIBER_FAILED,
            stamp_sim_ns=envelope.stamp_sim_ns,
            severity=EventSeverity.ERROR,
            source="bus",
            message=f"subscriber {name} of {subscription.pattern} raised "
            f"{type(error).__name__}: {error}",
            payload={
                "subscriber": name,
                "pattern": subscription.pattern,
                "topic": envelope.topic,
                "sequence": envelope.sequence,
                "traceback": traceback_text(error),
            },
        )
        failed_at = envelope.payload
        if isinstance(failed_at, Event) and failed_at.type is EventType.SUBSCRIBER_FAILED:
            log_event(event)
        else:
            self.publish(EVENTS_TOPIC, event)


def _check_topic(what: str, topic: object, given: object) -> None:
    if not isinstance(topic, str):
        raise TypeError(f"{what} must be a str, got {type(given).__name__} {given!r}")
    if not _TOPIC.fullmatch(topic):
        also = ", or end in '/*'" if what == "pattern" else ""
        raise ValueError(f"{what} {given!r} must look like '/sensors/imu0'{also}")
