"""Satellite position (sensor spec §3.4). Not for navigation: evaluation only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from ghost.hal.arrays import frozen_array
from ghost.hal.message import Message, check_class, check_reals

__all__ = ["GpsFix", "GpsPayload"]


class GpsFix(IntEnum):
    """Kind of solution."""

    NO_FIX = 0
    FIX_2D = 1
    FIX_3D = 2
    RTK = 3


@dataclass(frozen=True, slots=True, eq=False)
class GpsPayload(Message):
    """One fix, WGS-84."""

    lat_deg: float
    lon_deg: float
    alt_m: float
    """Above the WGS-84 ellipsoid, m."""
    enu_local_m: npt.NDArray[np.float64]
    """(3,) float64, m, the same fix in the world's ENU frame."""
    fix_type: GpsFix
    hacc_m: float
    vacc_m: float
    """Horizontal and vertical accuracy, one standard deviation, m."""

    def __post_init__(self) -> None:
        enu = frozen_array("enu_local_m", self.enu_local_m, np.float64, (3,))
        object.__setattr__(self, "enu_local_m", enu)
        check_reals(self, "lat_deg", "lon_deg", "alt_m", "hacc_m", "vacc_m")
        check_class("fix_type", self.fix_type, GpsFix)
