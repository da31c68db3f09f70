"""What colour and depth cameras share (sensor spec §3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ghost.hal.arrays import frozen_array
from ghost.hal.message import Message, check_ints, check_reals

__all__ = ["CameraIntrinsics"]

_COEFFICIENTS = {"none": (0,), "plumb_bob": (4, 5, 8), "equidistant": (4,)}


@dataclass(frozen=True, slots=True, eq=False)
class CameraIntrinsics(Message):
    """Pinhole model in pixels; the optical axis is the camera frame's x (FLU)."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float
    distortion_model: Literal["none", "plumb_bob", "equidistant"]
    distortion_coeffs: npt.NDArray[np.float64]
    """(n,) float64: none 0; plumb_bob 4, 5 or 8; equidistant 4."""

    def __post_init__(self) -> None:
        check_ints(self, "width", "height", minimum=1)
        check_reals(self, "fx", "fy", "cx", "cy")
        if self.distortion_model not in _COEFFICIENTS:
            raise ValueError(
                f"distortion_model must be one of {', '.join(_COEFFICIENTS)}, "
                f"got {self.distortion_model!r}"
            )
        coeffs = frozen_array("distortion_coeffs", self.distortion_coeffs, np.float64, (None,))
        if len(coeffs) not in _COEFFICIENTS[self.distortion_model]:
            raise ValueError(
                f"distortion_coeffs of {self.distortion_model} are "
                f"{' or '.join(map(str, _COEFFICIENTS[self.distortion_model]))}, got {len(coeffs)}"
            )
        object.__setattr__(self, "distortion_coeffs", coeffs)
