"""The sensors of a replay: live faces (poll, subscribe, health) on recorded samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from ghost.core import Event, EventSink, EventType
from ghost.hal import SensorHealth, SensorId, SensorProvider, SensorSample, SensorSpec
from ghost.sensing import ChannelProvider

__all__ = ["ReplaySensors"]


class ReplaySensors:
    """The providers by sensor id; they and their subscribers live across resets (D22).

    Args:
        specs: each sensor with the length of its queue.
        on_event: told of subscribers that raise.
    """

    def __init__(self, specs: Iterable[tuple[SensorSpec, int]], on_event: EventSink) -> None:
        self._specs = {spec.sensor_id: (spec, queue_size) for spec, queue_size in specs}
        self._providers = {
            sensor_id: ChannelProvider(spec, queue_size, on_event)
            for sensor_id, (spec, queue_size) in sorted(self._specs.items())
        }
        self.providers: Mapping[SensorId, SensorProvider[Any]] = MappingProxyType(self._providers)

    def reset(self) -> None:
        """Empty the queues and forget the health; subscribers stay."""
        for sensor_id, provider in self._providers.items():
            provider.renew(*self._specs[sensor_id])

    def publish(self, sample: SensorSample[Any]) -> bool:
        """Queue a sample and hand it to subscribers; False if it is of no sensor here."""
        provider = self._providers.get(sample.sensor_id)
        if provider is None:
            return False
        provider.publish(sample)
        return True

    def note(self, event: Event) -> None:
        """Follow a recorded event that says that a sensor fell silent or came back (D18)."""
        if event.payload.get("kind") != "offline":
            return
        provider = self._providers.get(str(event.payload.get("sensor_id", "")))
        if provider is None:
            return
        if event.type is EventType.SENSOR_FAULT:
            provider.go_offline()
        elif event.type is EventType.SENSOR_RECOVERED and provider.health is SensorHealth.OFFLINE:
            provider.go_online()

    def offline_all(self) -> None:
        """Fall silent: the replay was shut down."""
        for provider in self._providers.values():
            provider.go_offline()
