"""The face of a node, whatever implements it, and the small values it hands out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

__all__ = [
    "Incoming",
    "MessageCallback",
    "Node",
    "Offer",
    "Publisher",
    "ServiceHandler",
    "ServiceInfo",
    "Subscription",
    "TopicInfo",
]


@dataclass(frozen=True, slots=True)
class Incoming:
    """One received message: `topic` without its partition, Gazebo's `type` name, the raw `data`.

    `publisher` is the address of the publisher's socket (`tcp://127.0.0.1:40001`), which is one
    for each server process; it is empty where the implementation does not tell.
    """

    topic: str
    type: str
    data: bytes
    publisher: str


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """One publisher of one topic, as discovered."""

    topic: str
    type: str
    address: str
    process_uuid: str
    node_uuid: str


@dataclass(frozen=True, slots=True)
class ServiceInfo:
    """One provider of one service, as discovered."""

    service: str
    request_type: str
    reply_type: str
    address: str
    process_uuid: str


MessageCallback = Callable[[Incoming], None]
ServiceHandler = Callable[[bytes], bytes | None]


class Publisher(Protocol):
    """One advertised topic."""

    @property
    def topic(self) -> str:
        """The topic's name, absolute, without the partition."""

    def publish(self, data: bytes) -> None:
        """Send one message to all subscribers. Raises `ClosedError` after `close`."""

    def wait_for_subscriber(self, timeout_s: float) -> bool:
        """Wait until a subscriber can receive what is published; False if none came in time."""

    def close(self) -> None:
        """Withdraw the topic. Idempotent."""


class Subscription(Protocol):
    """One subscribed topic."""

    @property
    def topic(self) -> str:
        """The topic's name, absolute, without the partition."""

    def wait_for_publisher(self, timeout_s: float) -> bool:
        """Wait until a connection to a publisher of the topic is made; False if none is in time.

        What the publisher sends from then on arrives, but for the instant in which the
        subscription itself is on its way.
        """

    def unsubscribe(self) -> None:
        """Receive no more. Idempotent."""


class Offer(Protocol):
    """One offered service."""

    @property
    def service(self) -> str:
        """The service's name, absolute, without the partition."""

    def close(self) -> None:
        """Withdraw the service. Idempotent."""


class Node(Protocol):
    """A member of the transport network. A context manager; `close` is idempotent.

    Names may be given with or without the leading slash. Every method raises `ClosedError` after
    `close`, and `NameInvalid` for a name that gz-transport does not take.
    """

    def advertise(self, topic: str, msg_type: str) -> Publisher:
        """Announce a topic of messages of the type `msg_type` (for example `gz.msgs.Clock`)."""

    def subscribe(self, topic: str, callback: MessageCallback | None = None) -> Subscription:
        """Receive a topic, now or as soon as somebody publishes it.

        With a callback, it is called on the node's background thread. Without, messages come from
        `receive`, which reads them on the thread that calls it.
        """

    def receive(self, timeout_s: float) -> Incoming | None:
        """Return the next message of all subscriptions without a callback, None on timeout.

        Messages of one publishing process come in the order it sent them, across topics.
        """

    def offer(
        self, service: str, request_type: str, reply_type: str, handler: ServiceHandler
    ) -> Offer:
        """Provide a service. `handler` maps request to reply; None refuses the request.

        It is called on the node's background thread. One that raises refuses, too.
        """

    def request(
        self, service: str, data: bytes, request_type: str, reply_type: str, timeout_s: float
    ) -> bytes:
        """Call a service and return its reply.

        Raises `TransportTimeout` after `timeout_s`, saying who was heard, and `ServiceRefused`
        when the provider answers that it failed.
        """

    def topics(self) -> list[TopicInfo]:
        """Return the publishers known now, of this partition, sorted by topic and address."""

    def services(self) -> list[ServiceInfo]:
        """Return the providers known now, of this partition, sorted by service and address."""

    def wait_for_topic(self, topic: str, timeout_s: float) -> TopicInfo:
        """Return the first publisher of a topic. Raises `TransportTimeout` if none appears."""

    def wait_for_service(self, service: str, timeout_s: float) -> ServiceInfo:
        """Return the first provider of a service. Raises `TransportTimeout` if none appears."""

    def statistics(self) -> Mapping[str, int]:
        """Return counts of what was seen and ignored, by reason, for diagnosis."""

    def close(self) -> None:
        """Withdraw everything, say bye, close the sockets. Idempotent."""

    def __enter__(self) -> Self:
        """Return the node itself."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
