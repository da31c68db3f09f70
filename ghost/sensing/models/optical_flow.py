"""Optical flow: white noise on the two integrated angles."""

from __future__ import annotations

import math

from ghost.core import FlowNoise, RandomSource, SensorConfig
from ghost.hal import OpticalFlowPayload
from ghost.sensing.models.base import NAN3, NON_FINITE, Reading, frozen_floats
from ghost.sensing.streams import Lane, LaneNoise
from ghost.sensing.truth import FlowTruth

__all__ = ["OpticalFlowModel"]


class OpticalFlowModel:
    """Adds the errors of `FlowNoise` to the flow; gyro, distance and quality are passed on."""

    __slots__ = ("_noise",)

    def __init__(self, config: SensorConfig, source: RandomSource) -> None:
        figures = (config.noise.flow if config.noise else None) or FlowNoise()
        lane = Lane(white_sigma=figures.sigma_rad)
        self._noise = LaneNoise.of((lane, lane), source)

    def measure(self, k: int, truth: FlowTruth) -> Reading:
        """The flow with its errors. A distance of NaN is no error: no surface is in range."""
        x, y = truth.flow_x, truth.flow_y
        if self._noise is not None:
            nx, ny = self._noise.row(k)
            x, y = x + nx, y + ny
        gx, gy, gz = truth.gx, truth.gy, truth.gz
        error = None if math.isfinite(x + y + gx + gy + gz) else NON_FINITE
        payload = OpticalFlowPayload(
            frozen_floats(x, y),
            frozen_floats(gx, gy, gz),
            truth.integration_ns,
            truth.distance_m,
            truth.quality,
        )
        return payload, error

    def offset(self, payload: OpticalFlowPayload, value: float) -> OpticalFlowPayload:
        """Add to the flow and gyro angles, rad."""
        return OpticalFlowPayload(
            payload.flow_rad + value,
            payload.gyro_rad + value,
            payload.integration_ns,
            payload.distance_m,
            payload.quality,
        )

    def invalid(self) -> OpticalFlowPayload:
        """Angles and distance NaN, no integration time, quality 0."""
        return OpticalFlowPayload(frozen_floats(math.nan, math.nan), NAN3, 0, math.nan, 0)
