"""Figures of a flight, from ground truth and the commanded set-point, step by step."""

from __future__ import annotations

import math

from ghost.hal import GroundTruth

__all__ = ["FlightMetrics"]

Vec3 = tuple[float, float, float]


class FlightMetrics:
    """Largest tilt, tracking error and last position. One `update` per step; plain floats only."""

    __slots__ = ("_count", "_last", "_max_tilt_sin2", "_squares")

    def __init__(self) -> None:
        self._max_tilt_sin2 = -1.0
        self._squares = 0.0
        self._count = 0
        self._last: GroundTruth | None = None

    def update(self, truth: GroundTruth, setpoint_enu_m: Vec3 | None) -> None:
        """Add one step. With no set-point (on the ground, or flying a velocity) tilt only."""
        self._last = truth
        _, qx, qy, _ = truth.q_enu_flu.tolist()
        # Body z in the world has the height 1 − 2(qx² + qy²): the cosine of the tilt.
        tilt = qx * qx + qy * qy
        if tilt > self._max_tilt_sin2:
            self._max_tilt_sin2 = tilt
        if setpoint_enu_m is not None:
            x, y, z = truth.pos_enu_m.tolist()
            sx, sy, sz = setpoint_enu_m
            x -= sx
            y -= sy
            z -= sz
            self._squares += x * x + y * y + z * z
            self._count += 1

    @property
    def altitude_m(self) -> float | None:
        """Height of the last truth, m ENU."""
        return None if self._last is None else float(self._last.pos_enu_m[2])

    @property
    def final_pos_enu_m(self) -> Vec3 | None:
        """Position of the last truth; None if there was none or it is not finite."""
        if self._last is None:
            return None
        x, y, z = self._last.pos_enu_m.tolist()
        return (x, y, z) if all(map(math.isfinite, (x, y, z))) else None

    @property
    def max_tilt_deg(self) -> float | None:
        """Largest angle between body z and world up, degrees; None without truth."""
        if self._max_tilt_sin2 < 0.0:
            return None
        return math.degrees(math.acos(max(-1.0, 1.0 - 2.0 * self._max_tilt_sin2)))

    @property
    def tracking_rmse_m(self) -> float | None:
        """Root mean square of |truth − set-point|, m; None if nothing was tracked."""
        if not self._count:
            return None
        rmse = math.sqrt(self._squares / self._count)
        return rmse if math.isfinite(rmse) else None
