"""Depth image (sensor spec §3.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ghost.hal.arrays import frozen_array
from ghost.hal.message import Message, check_class, check_reals
from ghost.hal.messages.camera import CameraIntrinsics

__all__ = ["DepthImagePayload"]


@dataclass(frozen=True, slots=True, eq=False)
class DepthImagePayload(Message):
    """One frame, row 0 at the top; distance along the optical axis, not along the ray."""

    depth_m: npt.NDArray[np.float32]
    """(H, W) float32, m; NaN is the one mark of an invalid pixel."""
    intrinsics: CameraIntrinsics
    min_range_m: float
    max_range_m: float

    def __post_init__(self) -> None:
        check_class("intrinsics", self.intrinsics, CameraIntrinsics)
        shape = (self.intrinsics.height, self.intrinsics.width)
        depth = frozen_array("depth_m", self.depth_m, np.float32, shape)
        object.__setattr__(self, "depth_m", depth)
        check_reals(self, "min_range_m", "max_range_m")
