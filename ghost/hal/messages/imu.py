"""Inertial measurement unit (sensor spec §3.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ghost.hal.arrays import frozen_array
from ghost.hal.message import Message, check_reals

__all__ = ["IMUPayload"]


@dataclass(frozen=True, slots=True, eq=False)
class IMUPayload(Message):
    """Specific force and angular rate in sensor axes (FLU). At rest, accel z is +g."""

    accel_mps2: npt.NDArray[np.float64]
    """(3,) float64, m/s²."""
    gyro_rps: npt.NDArray[np.float64]
    """(3,) float64, rad/s."""
    temperature_c: float | None = None

    def __post_init__(self) -> None:
        accel = frozen_array("accel_mps2", self.accel_mps2, np.float64, (3,))
        if accel is not self.accel_mps2:
            object.__setattr__(self, "accel_mps2", accel)
        gyro = frozen_array("gyro_rps", self.gyro_rps, np.float64, (3,))
        if gyro is not self.gyro_rps:
            object.__setattr__(self, "gyro_rps", gyro)
        if self.temperature_c is not None:
            check_reals(self, "temperature_c")
