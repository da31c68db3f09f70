"""`LocalFrame`: where PX4's local frame lies in the world, and its estimate seen from there."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ghost.hal import StateEstimate
from ghost.hal.frames import Quat, Vec3, enu_to_ned, ned_to_enu, q_ned_frd_to_enu_flu
from ghost.px4.telemetry import Telemetry

__all__ = ["LocalFrame"]

_NAN3 = (math.nan,) * 3
_NAN4 = (math.nan,) * 4


class LocalFrame:
    """PX4's local NED frame begins where its estimator started, the world's ENU where it likes."""

    __slots__ = ("_estimate", "_heard", "_offset_enu_m")

    def __init__(self) -> None:
        self._offset_enu_m: Vec3 = (0.0, 0.0, 0.0)
        self._estimate: StateEstimate | None = None
        self._heard: tuple[Vec3 | None, Vec3 | None, Quat | None, Vec3] | None = None

    def anchor(self, position_ned: Vec3, pos_enu_m: Sequence[float]) -> None:
        """Say that PX4's `position_ned` is the world's `pos_enu_m`."""
        x, y, z = ned_to_enu(position_ned)
        self._offset_enu_m = (pos_enu_m[0] - x, pos_enu_m[1] - y, pos_enu_m[2] - z)

    def to_ned(self, x: float, y: float, z: float) -> Vec3:
        """A place of the world (ENU) as PX4 calls it."""
        dx, dy, dz = self._offset_enu_m
        return enu_to_ned((x - dx, y - dy, z - dz))

    def estimate(self, heard: Telemetry, now_ns: int) -> StateEstimate | None:
        """What PX4 believes; the same object until it believes something else."""
        position, velocity, q = heard.position_ned, heard.velocity_ned, heard.q_ned_frd
        if position is None and q is None:
            return None
        key = (position, velocity, q, self._offset_enu_m)
        if self._estimate is not None and key == self._heard:
            return self._estimate
        place: Vec3 = _NAN3
        if position is not None:
            x, y, z = ned_to_enu(position)
            dx, dy, dz = self._offset_enu_m
            place = (x + dx, y + dy, z + dz)
        self._heard = key
        self._estimate = StateEstimate(
            now_ns,
            pos_enu_m=np.array(place),
            q_enu_flu=np.array(_NAN4 if q is None else q_ned_frd_to_enu_flu(q)),
            vel_enu_mps=np.array(_NAN3 if velocity is None else ned_to_enu(velocity)),
        )
        return self._estimate
