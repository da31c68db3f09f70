"""Spinning LiDAR: noise that grows with distance, dropouts, range limits, points from ranges."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ghost.core import LidarSpec, RandomSource, RangeNoise, SensorConfig
from ghost.hal import PointCloudPayload
from ghost.sensing.geometry import beam_directions, beam_rings
from ghost.sensing.models.base import Reading
from ghost.sensing.models.depth import noisy_range
from ghost.sensing.streams import IndexedStream
from ghost.sensing.truth import LidarTruth

__all__ = ["LidarModel"]


class LidarModel:
    """Applies `RangeNoise` and the range limits to each beam; beams without a return are absent."""

    __slots__ = ("_beams", "_figures", "_lidar", "_rings", "_stream")

    def __init__(self, config: SensorConfig, source: RandomSource) -> None:
        assert config.lidar is not None  # SensorConfig demands it for this type
        self._lidar: LidarSpec = config.lidar
        self._figures = (config.noise.range if config.noise else None) or RangeNoise()
        self._beams = beam_directions(config.lidar).astype(np.float32)
        self._rings = beam_rings(config.lidar)
        self._stream = IndexedStream(source)

    def measure(self, k: int, truth: LidarTruth) -> Reading:
        """One scan. Raises `ValueError` if the number of ranges is not rows·columns."""
        if truth.range_m.shape != self._rings.shape:
            raise ValueError(
                f"range_m must have shape {self._rings.shape}, got {truth.range_m.shape}"
            )
        limits = (self._lidar.min_range_m, self._lidar.max_range_m)
        ranges = noisy_range(truth.range_m, self._figures, self._stream, k, limits)
        hit = ~np.isnan(ranges)
        points = self._beams[hit] * ranges[hit, np.newaxis]
        return self._payload(points, self._rings[hit]), None

    def offset(self, payload: PointCloudPayload, value: float) -> PointCloudPayload:
        """Add to every measured range, m: each point moves along its beam."""
        points = payload.points_m
        ranges = np.sqrt(np.sum(points * points, axis=1, keepdims=True))
        return self._payload(points * ((ranges + np.float32(value)) / ranges), payload.ring)

    def invalid(self) -> PointCloudPayload:
        """A point of NaN for every beam."""
        return self._payload(np.full(self._beams.shape, np.nan, np.float32), self._rings)

    def _payload(
        self, points: npt.NDArray[np.float32], rings: npt.NDArray[np.uint16]
    ) -> PointCloudPayload:
        points.setflags(write=False)
        rings.setflags(write=False)
        return PointCloudPayload(points, rings, self._lidar.min_range_m, self._lidar.max_range_m)
