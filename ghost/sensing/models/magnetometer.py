"""Magnetometer: constant (hard-iron) bias and white noise."""

from __future__ import annotations

from math import isfinite

from ghost.core import MagnetometerNoise, RandomSource, SensorConfig
from ghost.hal import MagnetometerPayload
from ghost.sensing.models.base import NAN3, NON_FINITE, Reading, frozen_floats
from ghost.sensing.streams import Lane, LaneNoise
from ghost.sensing.truth import MagTruth

__all__ = ["MagnetometerModel"]


class MagnetometerModel:
    """Adds the errors of `MagnetometerNoise`, tesla."""

    __slots__ = ("_noise",)

    def __init__(self, config: SensorConfig, source: RandomSource) -> None:
        figures = (config.noise.magnetometer if config.noise else None) or MagnetometerNoise()
        lanes = [
            Lane(white_sigma=white, bias=bias)
            for white, bias in zip(figures.white_sigma_t, figures.bias_t, strict=True)
        ]
        self._noise = LaneNoise.of(lanes, source)

    def measure(self, k: int, truth: MagTruth) -> Reading:
        """The field with its errors."""
        x, y, z = truth
        if self._noise is not None:
            nx, ny, nz = self._noise.row(k)
            x, y, z = x + nx, y + ny, z + nz
        error = None if isfinite(x + y + z) else NON_FINITE
        return MagnetometerPayload(frozen_floats(x, y, z)), error

    def offset(self, payload: MagnetometerPayload, value: float) -> MagnetometerPayload:
        """Add to all three axes."""
        return MagnetometerPayload(payload.field_t + value)

    def invalid(self) -> MagnetometerPayload:
        """All three NaN."""
        return MagnetometerPayload(NAN3)
