"""Event camera (D13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ghost.hal.arrays import frozen_array
from ghost.hal.message import Message, check_class
from ghost.hal.messages.camera import CameraIntrinsics

__all__ = ["EventCameraPayload"]


@dataclass(frozen=True, slots=True, eq=False)
class EventCameraPayload(Message):
    """A packet of brightness changes, oldest first."""

    x: npt.NDArray[np.uint16]
    """(N,) uint16, pixel column, 0 at the left."""
    y: npt.NDArray[np.uint16]
    """(N,) uint16, pixel row, 0 at the top."""
    stamp_ns: npt.NDArray[np.int64]
    """(N,) int64, ns on the sensor's clock."""
    polarity: npt.NDArray[np.bool_]
    """(N,) bool, True for brighter."""
    intrinsics: CameraIntrinsics

    def __post_init__(self) -> None:
        check_class("intrinsics", self.intrinsics, CameraIntrinsics)
        set_field = object.__setattr__
        set_field(self, "x", frozen_array("x", self.x, np.uint16, (None,)))
        shape = self.x.shape
        set_field(self, "y", frozen_array("y", self.y, np.uint16, shape))
        set_field(self, "stamp_ns", frozen_array("stamp_ns", self.stamp_ns, np.int64, shape))
        set_field(self, "polarity", frozen_array("polarity", self.polarity, np.bool_, shape))
