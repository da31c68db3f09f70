"""Colour image (sensor spec §3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ghost.hal.arrays import frozen_array
from ghost.hal.message import Message, check_class, check_ints
from ghost.hal.messages.camera import CameraIntrinsics

__all__ = ["RGBImagePayload"]


@dataclass(frozen=True, slots=True, eq=False)
class RGBImagePayload(Message):
    """One frame, row 0 at the top."""

    image: npt.NDArray[np.uint8]
    """(H, W, 3) uint8, sRGB."""
    intrinsics: CameraIntrinsics
    exposure_ns: int
    encoding: Literal["rgb8"] = "rgb8"

    def __post_init__(self) -> None:
        check_class("intrinsics", self.intrinsics, CameraIntrinsics)
        shape = (self.intrinsics.height, self.intrinsics.width, 3)
        object.__setattr__(self, "image", frozen_array("image", self.image, np.uint8, shape))
        check_ints(self, "exposure_ns", minimum=0)
        if self.encoding != "rgb8":
            raise ValueError(f"encoding must be 'rgb8', got {self.encoding!r}")
