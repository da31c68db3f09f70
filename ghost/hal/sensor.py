"""Samples, their metadata, and the provider protocol (sensor spec §2; HAL spec §2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Generic, Protocol, TypeVar

from ghost.core import NoiseModel
from ghost.hal.message import (
    Message,
    check_class,
    check_ints,
    check_reals,
    check_texts,
    empty_mapping,
    freeze_mapping,
)

__all__ = [
    "SensorHealth",
    "SensorId",
    "SensorMeta",
    "SensorProvider",
    "SensorSample",
    "SensorSpec",
    "Subscription",
]

SensorId = str
_T = TypeVar("_T")


class SensorHealth(IntEnum):
    """How far a sensor, or one sample of it, can be trusted."""

    OK = 0
    DEGRADED = 1
    FAULTY = 2
    OFFLINE = 3


@dataclass(frozen=True, slots=True, eq=False)
class SensorMeta(Message):
    """What goes with a sample and is not a measurement."""

    frame_id: str
    calibration_id: str | None = None
    """Names `configs/calibration/<id>.yaml`; None: uncalibrated, the consumer decides."""
    extensions: Mapping[str, Any] = field(default_factory=empty_mapping)
    """Free additions; `"error"` says why a sample is FAULTY (sensor spec §6)."""

    def __post_init__(self) -> None:
        check_texts(self, "frame_id")
        if self.calibration_id is not None:
            check_texts(self, "calibration_id")
        object.__setattr__(self, "extensions", freeze_mapping("extensions", self.extensions))


@dataclass(frozen=True, slots=True, eq=False)
class SensorSample(Message, Generic[_T]):
    """One reading. Stamps are integer nanoseconds."""

    sensor_id: SensorId
    seq: int
    """Grows by one for each sample the sensor made; a gap means that some were lost."""
    stamp_sensor_ns: int
    """Capture time on the sensor's own, perhaps drifting, clock."""
    stamp_sim_ns: int
    """Publication time on the backend's clock."""
    stamp_wall_ns: int
    """Host time since the epoch, for debugging only; not part of `digest()`."""
    health: SensorHealth
    payload: _T
    meta: SensorMeta
    schema_version: int = 1

    def __post_init__(self) -> None:
        # Made hundreds of times a simulated second: the usual case is one pass of cheap tests.
        if (
            type(self.seq) is not int
            or type(self.stamp_sensor_ns) is not int
            or type(self.stamp_sim_ns) is not int
            or type(self.stamp_wall_ns) is not int
            or type(self.health) is not SensorHealth
            or type(self.meta) is not SensorMeta
            or type(self.schema_version) is not int
            or type(self.sensor_id) is not str
            or self.seq < 0
        ):
            self._check()

    def _check(self) -> None:
        check_texts(self, "sensor_id")
        check_ints(self, "seq", minimum=0)
        check_ints(self, "stamp_sensor_ns", "stamp_sim_ns", "stamp_wall_ns", "schema_version")
        check_class("health", self.health, SensorHealth)
        check_class("meta", self.meta, SensorMeta)


@dataclass(frozen=True, slots=True, eq=False)
class SensorSpec(Message):
    """What a provider says about its sensor before the first sample."""

    sensor_id: SensorId
    payload_type: str
    """A key of `ghost.hal.PAYLOAD_TYPES`."""
    nominal_rate_hz: float
    frame_id: str
    noise_model: NoiseModel | None = None
    latency_ns: int = 0

    def __post_init__(self) -> None:
        check_texts(self, "sensor_id", "payload_type", "frame_id")
        check_reals(self, "nominal_rate_hz")
        if not 0.0 < self.nominal_rate_hz < math.inf:
            raise ValueError(
                f"nominal_rate_hz must be positive and finite, got {self.nominal_rate_hz!r}"
            )
        check_class("noise_model", self.noise_model, NoiseModel, type(None))
        check_ints(self, "latency_ns", minimum=0)


class Subscription(Protocol):
    """Returned by `subscribe`."""

    def unsubscribe(self) -> None:
        """Stop the callbacks. Idempotent; never raises."""


class SensorProvider(Protocol[_T]):
    """One sensor of a backend. Neither method ever raises because a sensor failed."""

    spec: SensorSpec

    @property
    def health(self) -> SensorHealth:
        """The sensor's present state; OFFLINE while it is silent (D18)."""

    def poll(self) -> list[SensorSample[_T]]:
        """Return the samples published since the last poll, oldest first; `[]` if there are none.

        Called by the run loop after each step. The samples are the caller's to keep; the backend
        never changes them. A queue that was full has dropped its oldest, which shows in `seq`.
        """

    def subscribe(self, cb: Callable[[SensorSample[_T]], None]) -> Subscription:
        """Call `cb(sample)` at publication, in publication order, until unsubscribed.

        Independent of `poll`. An exception in `cb` is turned into an event and does not stop the
        other subscribers or the step. Subscriptions survive `reset()` (D22).
        """
