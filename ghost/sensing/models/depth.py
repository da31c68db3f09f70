"""Depth camera: noise that grows with distance, dropouts, range limits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ghost.core import CameraSpec, RandomSource, RangeNoise, SensorConfig
from ghost.hal import DepthImagePayload
from ghost.sensing.geometry import camera_intrinsics
from ghost.sensing.models.base import Reading
from ghost.sensing.streams import IndexedStream
from ghost.sensing.truth import DepthTruth

__all__ = ["DepthModel", "noisy_range"]


def noisy_range(
    true_m: npt.NDArray[np.float32],
    figures: RangeNoise,
    stream: IndexedStream,
    k: int,
    limits_m: tuple[float, float],
) -> npt.NDArray[np.float32]:
    """Return the measured distances of scan `k`: new float32 array, NaN where there is none.

    The standard deviation is `sigma_m + sigma_ratio·distance`; a fraction `dropout_ratio` is lost,
    and so is what measures outside [min, max].
    """
    low, high = limits_m
    measured = np.array(true_m, np.float32)
    if figures.sigma_m or figures.sigma_ratio or figures.dropout_ratio:
        stream.seek(k)
        if figures.sigma_m or figures.sigma_ratio:
            # An infinite distance times its own noise would warn; it is no return in any case.
            measured[~np.isfinite(measured)] = np.nan
            sigma = np.float32(figures.sigma_m) + np.float32(figures.sigma_ratio) * measured
            measured += sigma * stream.normal32(*measured.shape)
        if figures.dropout_ratio:
            lost = stream.uniform32(*measured.shape) < figures.dropout_ratio
            measured[lost] = np.nan
    # Written so that NaN, which compares False, falls out too.
    measured[~((measured >= low) & (measured <= high))] = np.nan
    return measured


class DepthModel:
    """Applies `RangeNoise` and the range limits to each pixel."""

    __slots__ = ("_camera", "_figures", "_intrinsics", "_stream")

    def __init__(self, config: SensorConfig, source: RandomSource) -> None:
        assert config.camera is not None  # SensorConfig demands it for this type
        self._camera: CameraSpec = config.camera
        self._figures = (config.noise.range if config.noise else None) or RangeNoise()
        self._intrinsics = camera_intrinsics(config.camera)
        self._stream = IndexedStream(source)

    def measure(self, k: int, truth: DepthTruth) -> Reading:
        """One frame; pixels without a valid distance are NaN."""
        limits = (self._camera.min_range_m, self._camera.max_range_m)
        return self._payload(
            noisy_range(truth.depth_m, self._figures, self._stream, k, limits)
        ), None

    def offset(self, payload: DepthImagePayload, value: float) -> DepthImagePayload:
        """Add to every valid pixel, m; NaN stays NaN."""
        return self._payload(payload.depth_m + np.float32(value))

    def invalid(self) -> DepthImagePayload:
        """Every pixel NaN."""
        shape = (self._camera.height, self._camera.width)
        return self._payload(np.full(shape, np.nan, np.float32))

    def _payload(self, depth_m: npt.NDArray[np.float32]) -> DepthImagePayload:
        depth_m.setflags(write=False)
        return DepthImagePayload(
            depth_m, self._intrinsics, self._camera.min_range_m, self._camera.max_range_m
        )
