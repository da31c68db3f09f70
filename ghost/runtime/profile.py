"""Moving set-points: a line at limited speed and acceleration, a heading at limited rate.

Everything is a closed form of the time since the start, so nothing is accumulated.
"""

from __future__ import annotations

import math

__all__ = ["LineProfile", "YawProfile", "wrap_pi"]

Vec3 = tuple[float, float, float]


def wrap_pi(angle_rad: float) -> float:
    """Return the same angle within (−π, π]."""
    wrapped = math.remainder(angle_rad, math.tau)
    return math.pi if wrapped == -math.pi else wrapped


class LineProfile:
    """From `start_m` to `goal_m` with a trapezoid of speed (a triangle where the way is short).

    Speed rises with `accel_mps2` to at most `speed_mps` and falls likewise, at rest at both ends.
    """

    __slots__ = (
        "_accel",
        "_direction",
        "_length",
        "_peak",
        "_ramp_s",
        "duration_s",
        "goal_m",
        "start_m",
    )

    def __init__(self, start_m: Vec3, goal_m: Vec3, speed_mps: float, accel_mps2: float) -> None:
        self.start_m = start_m
        self.goal_m = goal_m
        delta = tuple(g - s for g, s in zip(goal_m, start_m, strict=True))
        length = math.hypot(*delta)
        # Less than an atom's width has no direction that floats could hold.
        self._length = length if length > 1e-10 else 0.0
        scale = 1.0 / self._length if self._length else 0.0
        self._direction: Vec3 = (delta[0] * scale, delta[1] * scale, delta[2] * scale)
        self._accel = accel_mps2
        self._peak = min(speed_mps, math.sqrt(accel_mps2 * self._length))
        self._ramp_s = self._peak / accel_mps2
        cruise_m = self._length - self._peak * self._ramp_s
        cruise_s = cruise_m / self._peak if self._peak > 0.0 else 0.0
        self.duration_s = 2.0 * self._ramp_s + max(cruise_s, 0.0)

    def at(self, t_s: float) -> tuple[Vec3, Vec3]:
        """Return position (m) and velocity (m/s) at `t_s` seconds after the start."""
        if t_s <= 0.0:
            return self.start_m, (0.0, 0.0, 0.0)
        if t_s >= self.duration_s:
            return self.goal_m, (0.0, 0.0, 0.0)
        left_s = self.duration_s - t_s
        if t_s < self._ramp_s:
            way, speed = 0.5 * self._accel * t_s * t_s, self._accel * t_s
        elif left_s < self._ramp_s:
            way = self._length - 0.5 * self._accel * left_s * left_s
            speed = self._accel * left_s
        else:
            way, speed = self._peak * (t_s - 0.5 * self._ramp_s), self._peak
        dx, dy, dz = self._direction
        x, y, z = self.start_m
        return (x + dx * way, y + dy * way, z + dz * way), (dx * speed, dy * speed, dz * speed)


class YawProfile:
    """From one heading to another the short way round, at a constant rate."""

    __slots__ = ("_rate", "_start", "duration_s", "goal_rad")

    def __init__(self, start_rad: float, goal_rad: float, rate_rps: float) -> None:
        turn = wrap_pi(goal_rad - start_rad)
        self._start = start_rad
        self._rate = math.copysign(rate_rps, turn)
        self.goal_rad = wrap_pi(goal_rad)
        self.duration_s = abs(turn) / rate_rps

    def at(self, t_s: float) -> tuple[float, float]:
        """Return heading (rad, within ±π) and rate (rad/s) at `t_s` seconds after the start."""
        if t_s >= self.duration_s:
            return self.goal_rad, 0.0
        return wrap_pi(self._start + self._rate * max(t_s, 0.0)), self._rate
