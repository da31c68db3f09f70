"""Samples → what PX4 is told: the newest of each kind that a step published."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ghost.hal import SensorHealth, SensorId, SensorProvider, SensorSample, Subscription
from ghost.px4 import Readings

__all__ = ["SampleCatcher"]

_SLOTS: Mapping[str, tuple[str, ...]] = {
    "imu": ("imu", "imu1", "imu2"),
    "magnetometer": ("mag",),
    "barometer": ("baro",),
    "gps": ("gps",),
    "optical_flow": ("flow",),
    "altimeter": ("range_m",),
}
"""Payload type to fields of `Readings`, for the first sensors of a type by their ids."""


class SampleCatcher:
    """Listens to the world's sensors beside the run loop, which polls them for itself."""

    def __init__(self, sensors: Mapping[SensorId, SensorProvider[Any]]) -> None:
        self._readings = Readings()
        self._subscriptions: list[Subscription] = []
        free = {kind: list(slots) for kind, slots in _SLOTS.items()}
        for _, provider in sorted(sensors.items()):
            slots = free.get(provider.spec.payload_type)
            if slots:
                self._subscriptions.append(provider.subscribe(self._catch(slots.pop(0))))

    def take(self) -> Readings:
        """What was published since the last call."""
        readings = self._readings
        self._readings = Readings()
        return readings

    def close(self) -> None:
        """Listen no more."""
        for subscription in self._subscriptions:
            subscription.unsubscribe()
        self._subscriptions = []

    def _catch(self, slot: str) -> Callable[[SensorSample[Any]], None]:
        faulty = SensorHealth.FAULTY

        def catch(sample: SensorSample[Any]) -> None:
            # A corrupt reading is what a driver would throw away: PX4 sees that none came.
            if sample.health is not faulty:
                setattr(self._readings, slot, sample)

        return catch
