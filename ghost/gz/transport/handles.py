"""What a wire node hands out: a publisher, a subscription, an offered service."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ghost.core import ClosedError
from ghost.gz.transport.outbox import Outbox

__all__ = ["WireOffer", "WirePublisher", "WireSubscription"]


class _Once:
    """Calls a function once, however often and from wherever `run` is called."""

    __slots__ = ("_function", "_lock")

    def __init__(self, function: Callable[[], None]) -> None:
        self._lock = threading.Lock()
        self._function: Callable[[], None] | None = function

    @property
    def done(self) -> bool:
        return self._function is None

    def run(self) -> None:
        with self._lock:
            function, self._function = self._function, None
        if function is not None:
            function()


class WirePublisher:
    """One advertised topic; see `Publisher`."""

    def __init__(
        self, topic: str, name: str, msg_type: str, outbox: Outbox, withdraw: Callable[[], None]
    ) -> None:
        self._topic = topic
        self._name = name.encode()
        self._type = msg_type.encode()
        self._outbox = outbox
        self._end = _Once(withdraw)

    @property
    def topic(self) -> str:
        """The topic's name, absolute, without the partition."""
        return self._topic

    def publish(self, data: bytes) -> None:
        """Send one message to all subscribers. Raises `ClosedError` after `close`."""
        self._check()
        self._outbox.publish(self._name, data, self._type)

    def wait_for_subscriber(self, timeout_s: float, number: int = 1) -> bool:
        """Wait until `number` subscriptions have arrived on our socket; False on timeout."""
        self._check()
        return self._outbox.wait_subscribed(self._name, timeout_s, number)

    def close(self) -> None:
        """Withdraw the topic. Idempotent."""
        self._end.run()

    def _check(self) -> None:
        if self._end.done:
            raise ClosedError(f"the publisher of {self._topic} is closed")


class WireSubscription:
    """One subscribed topic; see `Subscription`."""

    def __init__(
        self, topic: str, wait: Callable[[float], bool], unsubscribe: Callable[[], None]
    ) -> None:
        self._topic = topic
        self._wait = wait
        self._end = _Once(unsubscribe)

    @property
    def topic(self) -> str:
        """The topic's name, absolute, without the partition."""
        return self._topic

    def wait_for_publisher(self, timeout_s: float) -> bool:
        """Wait until a connection to a publisher of the topic is made; False on timeout."""
        if self._end.done:
            raise ClosedError(f"the subscription to {self._topic} is ended")
        return self._wait(timeout_s)

    def unsubscribe(self) -> None:
        """Receive no more. Idempotent."""
        self._end.run()


class WireOffer:
    """One offered service; see `Offer`."""

    def __init__(self, service: str, withdraw: Callable[[], None]) -> None:
        self._service = service
        self._end = _Once(withdraw)

    @property
    def service(self) -> str:
        """The service's name, absolute, without the partition."""
        return self._service

    def close(self) -> None:
        """Withdraw the service. Idempotent."""
        self._end.run()
