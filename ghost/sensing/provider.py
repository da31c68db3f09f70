"""The HAL face of a simulated sensor: poll queue, push subscribers, health (sensor spec §7)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from ghost.core import Event, EventSeverity, EventSink, EventType
from ghost.core.failures import callback_name, traceback_text
from ghost.hal import SensorHealth, SensorSample, SensorSpec

__all__ = ["ChannelProvider"]

Callback = Callable[[SensorSample[Any]], None]


class _Subscription:
    """A subscriber's registration. `unsubscribe` is idempotent and never raises."""

    __slots__ = ("_provider", "active", "callback")

    def __init__(self, provider: ChannelProvider, callback: Callback) -> None:
        self._provider = provider
        self.callback = callback
        self.active = True

    def unsubscribe(self) -> None:
        """Stop the callbacks, also of a delivery that is under way."""
        self.active = False
        self._provider._forget(self)


class ChannelProvider:
    """A `SensorProvider` that lives as long as its `ChannelSet`, across resets (D22)."""

    __slots__ = ("_health", "_on_event", "_queue", "_subscriptions", "spec")

    def __init__(self, spec: SensorSpec, queue_size: int, on_event: EventSink) -> None:
        self.spec = spec
        self._on_event = on_event
        self._subscriptions: tuple[_Subscription, ...] = ()
        self._queue: deque[SensorSample[Any]] = deque(maxlen=queue_size)
        self._health = SensorHealth.OK

    def __repr__(self) -> str:
        return f"<{self.spec.payload_type} {self.spec.sensor_id!r}, {self._health.name}>"

    @property
    def health(self) -> SensorHealth:
        """OFFLINE while the sensor is silent, else the health of its last sample (OK before it)."""
        return self._health

    def poll(self) -> list[SensorSample[Any]]:
        """Return the samples published since the last poll, oldest first."""
        queue = self._queue
        if not queue:
            return []
        samples = list(queue)
        queue.clear()
        return samples

    def subscribe(self, cb: Callback) -> _Subscription:
        """Call `cb` with every sample published from now on, in order of subscription.

        From inside a delivery, the first sample is the next one.
        """
        if not callable(cb):
            raise TypeError(f"subscribe needs a callable, got {type(cb).__name__} {cb!r}")
        subscription = _Subscription(self, cb)
        self._subscriptions = (*self._subscriptions, subscription)
        return subscription

    def renew(self, spec: SensorSpec, queue_size: int) -> None:
        """Start a new run: empty queue, healthy, subscribers kept."""
        self.spec = spec
        self._queue = deque(maxlen=queue_size)
        self._health = SensorHealth.OK

    def publish(self, sample: SensorSample[Any]) -> None:
        """Queue the sample (the oldest falls out of a full queue) and hand it to subscribers."""
        self._health = sample.health
        self._queue.append(sample)
        # A tuple is never changed, so callbacks may subscribe and unsubscribe as they like.
        for subscription in self._subscriptions:
            if not subscription.active:
                continue
            try:
                subscription.callback(sample)
            except Exception as error:  # noqa: BLE001 - a subscriber must not stop the sensor
                self._subscriber_failed(subscription.callback, sample, error)

    def go_offline(self) -> None:
        """Silence: nothing can be polled any more (D18)."""
        self._health = SensorHealth.OFFLINE
        self._queue.clear()

    def degrade(self) -> None:
        """A reading is late: DEGRADED until the next sample, nothing is lost."""
        self._health = SensorHealth.DEGRADED

    def go_online(self) -> None:
        """The end of `go_offline`."""
        self._health = SensorHealth.OK

    def _forget(self, subscription: _Subscription) -> None:
        self._subscriptions = tuple(s for s in self._subscriptions if s is not subscription)

    def _subscriber_failed(
        self, callback: Callback, sample: SensorSample[Any], error: Exception
    ) -> None:
        name = callback_name(callback)
        self._on_event(
            Event(
                type=EventType.SUBSCRIBER_FAILED,
                stamp_sim_ns=sample.stamp_sim_ns,
                severity=EventSeverity.ERROR,
                source=f"sensors/{sample.sensor_id}",
                message=f"subscriber {name} raised {type(error).__name__}: {error}",
                payload={
                    "sensor_id": sample.sensor_id,
                    "callback": name,
                    "traceback": traceback_text(error),
                },
            )
        )
