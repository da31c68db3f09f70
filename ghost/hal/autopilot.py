"""What a world with an autopilot reports beyond samples: its estimate, and the talk with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ghost.hal.arrays import frozen_array
from ghost.hal.message import Message, check_ints

__all__ = ["MavlinkTraffic", "Reporting", "StateEstimate"]


@dataclass(frozen=True, slots=True, eq=False)
class StateEstimate(Message):
    """What the autopilot believes about the vehicle, as heard by `stamp_sim_ns`.

    It is no truth: compare it with `GroundTruth`. A field that the autopilot does not tell is NaN.
    """

    stamp_sim_ns: int
    pos_enu_m: npt.NDArray[np.float64]
    """(3,) float64, m, world ENU."""
    q_enu_flu: npt.NDArray[np.float64]
    """(4,) float64, unit quaternion (w, x, y, z), body FLU to world ENU."""
    vel_enu_mps: npt.NDArray[np.float64]
    """(3,) float64, m/s, world ENU."""

    def __post_init__(self) -> None:
        check_ints(self, "stamp_sim_ns")
        for name, size in (("pos_enu_m", 3), ("q_enu_flu", 4), ("vel_enu_mps", 3)):
            array = frozen_array(name, getattr(self, name), np.float64, (size,))
            object.__setattr__(self, name, array)


@dataclass(frozen=True, slots=True, eq=False)
class MavlinkTraffic(Message):
    """What went over one MAVLink connection since the report before: whole packets, in order."""

    stamp_sim_ns: int
    sent: npt.NDArray[np.uint8]
    """(n,) uint8, the bytes that Ghost sent."""
    received: npt.NDArray[np.uint8]
    """(m,) uint8, the bytes that Ghost received."""

    def __post_init__(self) -> None:
        check_ints(self, "stamp_sim_ns")
        for name in ("sent", "received"):
            array = frozen_array(name, getattr(self, name), np.uint8, (None,))
            object.__setattr__(self, name, array)


class Reporting(Protocol):
    """Optional, for a backend that has more to record than samples, truth and acks.

    `capabilities.extensions["reports"]` is true where a backend implements it.
    """

    def reports(self) -> list[tuple[str, Message]]:
        """Return what came since the call before, as topic and message, oldest first.

        `/estimate` brings a `StateEstimate`, `/mavlink/<link>` a `MavlinkTraffic`. Stamps do not
        go back within a topic.
        """
