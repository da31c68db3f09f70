"""Magnetometer (D13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ghost.hal.arrays import frozen_array
from ghost.hal.message import Message

__all__ = ["MagnetometerPayload"]


@dataclass(frozen=True, slots=True, eq=False)
class MagnetometerPayload(Message):
    """Magnetic flux density in sensor axes (FLU)."""

    field_t: npt.NDArray[np.float64]
    """(3,) float64, tesla."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "field_t", frozen_array("field_t", self.field_t, np.float64, (3,)))
