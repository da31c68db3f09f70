"""The true state of the vehicle, where the world knows it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ghost.hal.arrays import frozen_array
from ghost.hal.message import Message, check_ints

__all__ = ["GroundTruth"]

_FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class GroundTruth(Message):
    """State of the body frame's origin at `stamp_sim_ns`."""

    stamp_sim_ns: int
    pos_enu_m: _FloatArray
    """(3,) float64, m, world ENU."""
    q_enu_flu: _FloatArray
    """(4,) float64, unit quaternion (w, x, y, z), body FLU to world ENU."""
    vel_enu_mps: _FloatArray
    """(3,) float64, m/s, world ENU."""
    rate_flu_rps: _FloatArray
    """(3,) float64, rad/s, body FLU."""
    acc_enu_mps2: _FloatArray
    """(3,) float64, m/s², world ENU, gravity not subtracted (0 at rest, −g in free fall)."""
    motor_rps: _FloatArray
    """(n,) float64, rad/s, rotor speeds in the vehicle's order; (0,) where unknown."""

    def __post_init__(self) -> None:
        check_ints(self, "stamp_sim_ns")
        set_field = object.__setattr__
        set_field(self, "pos_enu_m", frozen_array("pos_enu_m", self.pos_enu_m, np.float64, (3,)))
        set_field(self, "q_enu_flu", frozen_array("q_enu_flu", self.q_enu_flu, np.float64, (4,)))
        set_field(
            self, "vel_enu_mps", frozen_array("vel_enu_mps", self.vel_enu_mps, np.float64, (3,))
        )
        set_field(
            self, "rate_flu_rps", frozen_array("rate_flu_rps", self.rate_flu_rps, np.float64, (3,))
        )
        set_field(
            self, "acc_enu_mps2", frozen_array("acc_enu_mps2", self.acc_enu_mps2, np.float64, (3,))
        )
        set_field(self, "motor_rps", frozen_array("motor_rps", self.motor_rps, np.float64, (None,)))
