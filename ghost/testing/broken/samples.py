"""Backends whose samples are wrong."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ghost.core import ScenarioSpec
from ghost.hal import IMUPayload, SensorHealth, SensorProvider, SensorSample
from ghost.testing.broken.proxy import BackendProxy, Maker, ProviderProxy, forged
from ghost.testing.scenarios import noiseless, with_sensors

__all__ = [
    "ClockDriftIgnored",
    "DropsEvery50thSilently",
    "FaultsIgnored",
    "FloatStamps",
    "HidesCorruption",
    "LatencyIgnored",
    "LeaksTruth",
    "MutatesPolledArrays",
    "NoiseByPolls",
    "NoiseByPosition",
    "NoiseByProcess",
    "PollKeepsSamples",
    "SeqRestarts",
    "UnseededNoise",
    "WritableArrays",
    "WrongGravitySign",
]


def _imu_plus(sample: SensorSample[Any], offset: float) -> SensorSample[Any]:
    if not isinstance(sample.payload, IMUPayload):
        return sample
    shifted = IMUPayload(sample.payload.accel_mps2 + offset, sample.payload.gyro_rps)
    return replace(sample, payload=shifted)


class UnseededNoise(BackendProxy):
    """Its noise goes on over resets instead of starting from the seed."""

    def __init__(self, make: Maker, draws: itertools.count[int] | None = None) -> None:
        super().__init__(make)
        self._draws = draws if draws is not None else itertools.count()

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        return _imu_plus(sample, 1e-9 * next(self._draws))


class NoiseByProcess(BackendProxy):
    """Its noise depends on the process."""

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        return _imu_plus(sample, 1e-9 * os.getpid())


class NoiseByPosition(BackendProxy):
    """Its noise depends on where the IMU stands in the vehicle's list."""

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        kinds = [sensor.type for sensor in scenario.vehicle.sensors]
        super().reset(scenario, seed + (kinds.index("imu") if "imu" in kinds else 0))


class NoiseByPolls(BackendProxy):
    """Its noise is drawn when somebody polls."""

    def __init__(self, make: Maker) -> None:
        super().__init__(make)
        self.polls = 0

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        self.polls = 0
        super().reset(scenario, seed)

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        self.polls += 1
        return _imu_plus(sample, 1e-9 * self.polls)


class WritableArrays(BackendProxy):
    """Its arrays can be written by the consumer."""

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        if not isinstance(sample.payload, IMUPayload):
            return sample
        payload = forged(sample.payload, accel_mps2=sample.payload.accel_mps2.copy())
        return replace(sample, payload=payload)


class MutatesPolledArrays(BackendProxy):
    """It hands out one buffer again and again, and fills it anew."""

    def __init__(self, make: Maker) -> None:
        super().__init__(make)
        self._buffer = np.zeros(3)

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        if not isinstance(sample.payload, IMUPayload):
            return sample
        self._buffer[:] = sample.payload.accel_mps2
        return replace(sample, payload=forged(sample.payload, accel_mps2=self._buffer))


class WrongGravitySign(BackendProxy):
    """Its accelerometer reads the pull of gravity instead of what resists it."""

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        if not isinstance(sample.payload, IMUPayload):
            return sample
        payload = IMUPayload(-sample.payload.accel_mps2, sample.payload.gyro_rps)
        return replace(sample, payload=payload)


class DropsEvery50thSilently(BackendProxy):
    """It loses every fiftieth sample, and numbers the rest as if it had not."""

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        lost, place = divmod(sample.seq, 50)
        return None if place == 49 else replace(sample, seq=sample.seq - lost)


class FloatStamps(BackendProxy):
    """Its stamps went through a float of seconds."""

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        return forged(sample, stamp_sim_ns=sample.stamp_sim_ns * 1e-9 * 1e9)  # type: ignore[no-any-return]  # forged is Any


class SeqRestarts(BackendProxy):
    """Its seq fits into a byte."""

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        return replace(sample, seq=sample.seq % 32)


class HidesCorruption(BackendProxy):
    """It publishes NaN as if all were well."""

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        return replace(sample, health=SensorHealth.OK)


class LeaksTruth(BackendProxy):
    """Its sensors show the truth, whatever noise the vehicle has."""

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        super().reset(noiseless(scenario), seed)


class FaultsIgnored(BackendProxy):
    """It does not read the scenario's faults."""

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        super().reset(replace(scenario, faults=()), seed)


class ClockDriftIgnored(BackendProxy):
    """Its sensors have perfect clocks, whatever the vehicle says."""

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        sensors = [s.id for s in scenario.vehicle.sensors if s.noise and s.noise.clock_drift_ppm]
        super().reset(with_sensors(scenario, sensors, noise=None), seed)


class LatencyIgnored(BackendProxy):
    """It publishes at once, and only says that it waits."""

    def __init__(self, make: Maker) -> None:
        super().__init__(make)
        self.latencies: dict[str, int] = {}

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        self.latencies = {s.id: s.latency_ns for s in scenario.vehicle.sensors}
        super().reset(with_sensors(scenario, latency_ns=0), seed)

    def provider(self, inner: SensorProvider[Any]) -> ProviderProxy:
        return _SaysItWaits(inner, self, self.latencies)


class _SaysItWaits(ProviderProxy):
    def __init__(
        self, inner: SensorProvider[Any], owner: BackendProxy, latencies: dict[str, int]
    ) -> None:
        super().__init__(inner, owner)
        sensor_id = inner.spec.sensor_id
        self.spec = replace(inner.spec, latency_ns=latencies.get(sensor_id, 0))


class PollKeepsSamples(BackendProxy):
    """Its poll() returns the last samples again when nothing is new."""

    def provider(self, inner: SensorProvider[Any]) -> ProviderProxy:
        return _Repeats(inner, self)


class _Repeats(ProviderProxy):
    _last: list[SensorSample[Any]] | None = None

    def poll(self) -> list[SensorSample[Any]]:
        self._last = self.inner.poll() or self._last or []
        return self._last


def counting(make: Maker) -> Callable[[], BackendProxy]:
    """A maker of `UnseededNoise` whose backends draw from one ever-growing counter."""
    draws: itertools.count[int] = itertools.count()
    return lambda: UnseededNoise(make, draws)


def noise_by_process() -> NoiseByProcess:
    """Make a `NoiseByProcess` over the reference backend, in this process or another."""
    from ghost.testing.reference import ReferenceBackend

    return NoiseByProcess(ReferenceBackend)
