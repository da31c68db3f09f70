"""Optical flow (D13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ghost.hal.arrays import frozen_array
from ghost.hal.message import Message, check_ints, check_reals

__all__ = ["OpticalFlowPayload"]


@dataclass(frozen=True, slots=True, eq=False)
class OpticalFlowPayload(Message):
    """Motion of the scene below, summed over `integration_ns` (after MAVLink OPTICAL_FLOW_RAD)."""

    flow_rad: npt.NDArray[np.float64]
    """(2,) float64, rad, apparent rotation of the scene about the sensor's x and y axes."""
    gyro_rad: npt.NDArray[np.float64]
    """(3,) float64, rad, the sensor's own rotation over the same time."""
    integration_ns: int
    distance_m: float
    """To the surface along the optical axis, m; NaN if none is in range."""
    quality: int
    """0 (no flow) to 255."""

    def __post_init__(self) -> None:
        flow = frozen_array("flow_rad", self.flow_rad, np.float64, (2,))
        object.__setattr__(self, "flow_rad", flow)
        gyro = frozen_array("gyro_rad", self.gyro_rad, np.float64, (3,))
        object.__setattr__(self, "gyro_rad", gyro)
        check_ints(self, "integration_ns", "quality", minimum=0)
        check_reals(self, "distance_m")
        if self.quality > 255:
            raise ValueError(f"quality must be within 0..255, got {self.quality!r}")
