"""LiDAR point cloud (D13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ghost.hal.arrays import frozen_array
from ghost.hal.message import Message, check_reals

__all__ = ["PointCloudPayload"]


@dataclass(frozen=True, slots=True, eq=False)
class PointCloudPayload(Message):
    """The returns of one scan in sensor axes (FLU); beams without a return are left out."""

    points_m: npt.NDArray[np.float32]
    """(N, 3) float32, m."""
    ring: npt.NDArray[np.uint16]
    """(N,) uint16, index of the elevation row, 0 lowest."""
    min_range_m: float
    max_range_m: float

    def __post_init__(self) -> None:
        points = frozen_array("points_m", self.points_m, np.float32, (None, 3))
        object.__setattr__(self, "points_m", points)
        ring = frozen_array("ring", self.ring, np.uint16, (len(points),))
        object.__setattr__(self, "ring", ring)
        check_reals(self, "min_range_m", "max_range_m")
