"""The sensors of the reference world: rate, noise, drift, latency, faults, queue, subscribers.

What `ghost.sensing` does for the real worlds, in the fewest lines that keep the contracts. A
reading is a vector of numbers until it is published.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ghost.core import Event, EventSeverity, EventType, FaultSpec, RandomSource, SensorConfig
from ghost.hal import (
    AltimeterPayload,
    BarometerPayload,
    GpsFix,
    GpsPayload,
    IMUPayload,
    MagnetometerPayload,
    SensorHealth,
    SensorMeta,
    SensorSample,
    SensorSpec,
)

__all__ = ["NUMBERS", "ReferenceSensor", "noise_of"]

Array = npt.NDArray[np.float64]
Callback = Callable[[SensorSample[Any]], None]

NUMBERS = {"imu": 6, "barometer": 1, "magnetometer": 3, "gps": 3, "altimeter": 1}
"""The sensors that there are, and how many numbers each measures."""


@dataclass
class Noise:
    """White noise per sample, a constant bias, and a wandering offset, one value per number."""

    white: Array
    bias: Array
    walk: Array
    """Standard deviation of the wandering offset's change from sample to sample."""
    keep: float = 1.0
    """What is left of the offset after one sample; 1 for a random walk."""


def noise_of(config: SensorConfig) -> Noise:
    """Turn the vehicle's figures into per-sample figures (white σ = density·√rate, D19)."""
    count, model = NUMBERS[config.type], config.noise
    rate = config.rate_hz
    noise = Noise(np.zeros(count), np.zeros(count), np.zeros(count))
    if model is None:
        return noise
    if model.imu is not None:
        accel, gyro = model.imu.accel, model.imu.gyro
        noise.white = np.array((*accel.white_density, *gyro.white_density)) * math.sqrt(rate)
        noise.bias = np.array((*accel.bias, *gyro.bias))
        walk = (*accel.random_walk_density, *gyro.random_walk_density)
        noise.walk = np.array(walk) / math.sqrt(rate)
    if model.magnetometer is not None:
        noise.white = np.array(model.magnetometer.white_sigma_t)
        noise.bias = np.array(model.magnetometer.bias_t)
    if model.barometer is not None:
        noise.white[:] = model.barometer.white_sigma_pa
        noise.bias[:] = model.barometer.bias_pa
        noise.walk[:] = model.barometer.random_walk_pa_sqrt_s / math.sqrt(rate)
    if model.altimeter is not None:
        noise.white[:] = model.altimeter.white_sigma_m
        noise.bias[:] = model.altimeter.bias_m
    if model.gnss is not None:
        level, up = model.gnss.horizontal_sigma_m, model.gnss.vertical_sigma_m
        noise.white = np.array((level, level, up))
        # First-order Gauss-Markov process, sampled exactly.
        noise.keep = math.exp(-1.0 / (rate * model.gnss.wander_time_s))
        noise.walk[:] = model.gnss.wander_sigma_m * math.sqrt(1.0 - noise.keep**2)
    return noise


class _Subscription:
    def __init__(self, callbacks: list[Callback], cb: Callback) -> None:
        self._callbacks = callbacks
        self._cb: Callback | None = cb

    def unsubscribe(self) -> None:
        if self._cb is not None:
            self._callbacks.remove(self._cb)
            self._cb = None


class ReferenceSensor:
    """A `SensorProvider`, and the channel behind it.

    `measure()` gives the true numbers of the present; `callbacks` outlive the sensor, so that
    subscribers survive a reset.
    """

    def __init__(
        self,
        config: SensorConfig,
        faults: tuple[FaultSpec, ...],
        measure: Callable[[], Array],
        geodetic: Callable[[Array], tuple[float, float, float]],
        random: RandomSource,
        callbacks: list[Callback],
        emit: Callable[[Event], None],
        wall_ns: Callable[[], int],
    ) -> None:
        self.spec = SensorSpec(
            config.id, config.type, config.rate_hz, config.frame, config.noise, config.latency_ns
        )
        self.health = SensorHealth.OK
        self._config, self._faults, self._measure, self._geodetic = (
            config,
            faults,
            measure,
            geodetic,
        )
        self._noise, self._offset = noise_of(config), np.zeros(NUMBERS[config.type])
        self._draws, self._losses = random.child("noise"), random.child("drop")
        self._callbacks, self._emit, self._wall_ns = callbacks, emit, wall_ns
        self._queue: deque[SensorSample[Any]] = deque(maxlen=config.queue_size)
        self._pending: deque[tuple[int, int, int, Array, str]] = deque()
        self._period = 1_000_000_000 / Fraction(str(float(config.rate_hz)))
        ppm = config.noise.clock_drift_ppm if config.noise else 0.0
        self._drift = Fraction(str(float(ppm))) / 1_000_000
        self._k = 1
        self._last: Array | None = None
        self._running: set[FaultSpec] = set()
        self._spiked: set[FaultSpec] = set()

    def poll(self) -> list[SensorSample[Any]]:
        """See `SensorProvider.poll`."""
        samples = list(self._queue)
        self._queue.clear()
        return samples

    def subscribe(self, cb: Callback) -> _Subscription:
        """See `SensorProvider.subscribe`."""
        self._callbacks.append(cb)
        return _Subscription(self._callbacks, cb)

    def silence(self) -> None:
        """Be OFFLINE: the backend is shut down."""
        self.health = SensorHealth.OFFLINE
        self._queue.clear()

    def sample(self, now_ns: int) -> int:
        """Do what is due at a step; return how many samples were published."""
        self._watch_faults(now_ns)
        while math.ceil(self._k * self._period) <= now_ns:
            k, self._k = self._k, self._k + 1
            # Drawn for every k, whatever the faults do, so that sample k depends on k alone (D10).
            noise = self._draw()
            lost = self._losses.uniform(0.0, 1.0)
            if math.ceil(self._k * self._period) > now_ns:
                self._capture(k, now_ns, self._measure() + noise, lost)
        count = 0
        while self._pending and self._pending[0][0] <= now_ns:
            self._publish(now_ns, *self._pending.popleft()[1:])
            count += 1
        return count

    def _draw(self) -> Array:
        size = len(self._offset)
        self._offset = self._offset * self._noise.keep
        self._offset += self._noise.walk * self._draws.normal(0.0, 1.0, size)
        white = self._noise.white * self._draws.normal(0.0, 1.0, size)
        return self._noise.bias + self._offset + white

    def _capture(self, k: int, now_ns: int, reading: Array, lost: float) -> None:
        kinds = {fault.kind: fault for fault in self._running}
        values = {kind: fault.value or 0.0 for kind, fault in kinds.items()}
        if "offline" in kinds or lost < values.get("drop", 0.0):
            return
        if "freeze" in kinds and self._last is not None:
            reading = self._last
        self._last = reading
        reading = reading + values.get("bias", 0.0)
        if "spike" in kinds and kinds["spike"] not in self._spiked:
            self._spiked.add(kinds["spike"])
            reading = reading + values["spike"]
        error = "injected fault: nan" if "nan" in kinds else ""
        if error:
            reading = np.full_like(reading, np.nan)
        due_ns = now_ns + self._config.latency_ns + round(values.get("delay", 0.0))
        if self._pending:  # samples do not overtake one another when a delay ends
            due_ns = max(due_ns, self._pending[-1][0])
        stamp_ns = now_ns + math.floor(now_ns * self._drift)
        self._pending.append((due_ns, k - 1, stamp_ns, reading, error))

    def _publish(self, now_ns: int, seq: int, stamp_ns: int, reading: Array, error: str) -> None:
        self.health = SensorHealth.FAULTY if error else SensorHealth.OK
        extensions = {"error": error} if error else {}
        sample: SensorSample[Any] = SensorSample(
            sensor_id=self._config.id,
            seq=seq,
            stamp_sensor_ns=stamp_ns,
            stamp_sim_ns=now_ns,
            stamp_wall_ns=self._wall_ns(),
            health=self.health,
            payload=self._payload(reading),
            meta=SensorMeta(self._config.frame, self._config.calibration_id, extensions),
        )
        self._queue.append(sample)
        for callback in tuple(self._callbacks):
            try:
                callback(sample)
            except Exception as error_of_callback:  # noqa: BLE001 - it becomes an event (D5)
                message = f"a subscriber raised {error_of_callback!r}"
                self._event(EventType.SUBSCRIBER_FAILED, now_ns, message)

    def _payload(self, numbers: Array) -> object:
        kind = self._config.type
        if kind == "imu":
            return IMUPayload(numbers[:3], numbers[3:])
        if kind == "magnetometer":
            return MagnetometerPayload(numbers)
        if kind == "gps":
            lat_deg, lon_deg, alt_m = self._geodetic(numbers)
            return GpsPayload(lat_deg, lon_deg, alt_m, numbers, GpsFix.FIX_3D, 1.0, 1.5)
        value = float(numbers[0])
        if kind == "barometer":
            return BarometerPayload(value)
        return AltimeterPayload(value, self._config.reference, float(self._noise.white[0] ** 2))

    def _watch_faults(self, now_ns: int) -> None:
        for fault in self._faults:
            ended = fault.for_ns > 0 and now_ns >= fault.at_ns + fault.for_ns
            lasts = fault.at_ns <= now_ns and not ended
            if lasts == (fault in self._running):
                continue
            (self._running.add if lasts else self._running.discard)(fault)
            kind = EventType.SENSOR_FAULT if lasts else EventType.SENSOR_RECOVERED
            self._event(kind, now_ns, f"injected {fault.kind} {'begins' if lasts else 'ends'}")
            if fault.kind == "offline" and lasts:
                self._pending.clear()
                self.silence()
            elif fault.kind == "offline":
                self.health = SensorHealth.OK

    def _event(self, kind: EventType, now_ns: int, message: str) -> None:
        source = f"sensors/{self._config.id}"
        payload = {"sensor_id": self._config.id}
        self._emit(Event(kind, now_ns, EventSeverity.WARN, source, message, payload))
