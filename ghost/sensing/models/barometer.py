"""Barometer: constant bias, slow drift and white noise."""

from __future__ import annotations

import math

from ghost.core import BarometerNoise, RandomSource, SensorConfig
from ghost.hal import BarometerPayload
from ghost.sensing.models.base import NON_FINITE, Reading
from ghost.sensing.streams import Lane, LaneNoise
from ghost.sensing.truth import BaroTruth

__all__ = ["BarometerModel"]


class BarometerModel:
    """Adds the errors of `BarometerNoise` to the pressure; the temperature is passed on."""

    __slots__ = ("_noise",)

    def __init__(self, config: SensorConfig, source: RandomSource) -> None:
        figures = (config.noise.barometer if config.noise else None) or BarometerNoise()
        lane = Lane(
            white_sigma=figures.white_sigma_pa,
            bias=figures.bias_pa,
            slow_gain=figures.random_walk_pa_sqrt_s / math.sqrt(config.rate_hz),
        )
        self._noise = LaneNoise.of((lane,), source)

    def measure(self, k: int, truth: BaroTruth) -> Reading:
        """The pressure with its errors."""
        pressure, temperature = truth
        if self._noise is not None:
            pressure += self._noise.row(k)[0]
        error = None if math.isfinite(pressure + temperature) else NON_FINITE
        return BarometerPayload(pressure, temperature), error

    def offset(self, payload: BarometerPayload, value: float) -> BarometerPayload:
        """Add to the pressure, Pa."""
        return BarometerPayload(payload.pressure_pa + value, payload.temperature_c)

    def invalid(self) -> BarometerPayload:
        """Pressure and temperature NaN."""
        return BarometerPayload(math.nan, math.nan)
