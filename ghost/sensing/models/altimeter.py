"""Altimeter: constant bias and white noise, and the variance that goes with them."""

from __future__ import annotations

import math

from ghost.core import AltimeterNoise, RandomSource, SensorConfig
from ghost.hal import AltimeterPayload
from ghost.sensing.models.base import NON_FINITE, Reading
from ghost.sensing.streams import Lane, LaneNoise
from ghost.sensing.truth import AltimeterTruth

__all__ = ["AltimeterModel"]


class AltimeterModel:
    """Adds the errors of `AltimeterNoise`. `variance_m2` is that of the white part.

    A real altimeter does not know its own bias, so the bias is not in the variance.
    """

    __slots__ = ("_noise", "_reference", "_variance_m2")

    def __init__(self, config: SensorConfig, source: RandomSource) -> None:
        figures = (config.noise.altimeter if config.noise else None) or AltimeterNoise()
        lane = Lane(white_sigma=figures.white_sigma_m, bias=figures.bias_m)
        self._noise = LaneNoise.of((lane,), source)
        self._reference = config.reference
        self._variance_m2 = figures.white_sigma_m**2

    def measure(self, k: int, truth: AltimeterTruth) -> Reading:
        """The altitude with its errors."""
        (altitude,) = truth
        if self._noise is not None:
            altitude += self._noise.row(k)[0]
        error = None if math.isfinite(altitude) else NON_FINITE
        return AltimeterPayload(altitude, self._reference, self._variance_m2), error

    def offset(self, payload: AltimeterPayload, value: float) -> AltimeterPayload:
        """Add to the altitude, m."""
        return AltimeterPayload(payload.altitude_m + value, payload.reference, payload.variance_m2)

    def invalid(self) -> AltimeterPayload:
        """Altitude and variance NaN."""
        return AltimeterPayload(math.nan, self._reference, math.nan)
