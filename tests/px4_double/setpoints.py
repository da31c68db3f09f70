"""Offboard set-points, read as PX4's receiver reads them."""

from __future__ import annotations

import math
from collections.abc import Callable

from .control import Target
from .estimator import Estimator

__all__ = ["OffboardSetpoints"]

_NAN = math.nan
_LOCAL_NED, _BODY_NED = 1, 8
_FORCE = 0x200


def _finite(values: tuple[float, float, float]) -> bool:
    """Whether any of them is given."""
    return any(value == value for value in values)


class OffboardSetpoints:
    """The newest set-point, and how old the stream is.

    As in PX4 a set-point that comes while another mode flies keeps the stream fresh but is not
    flown; a field that is NaN, masked or not, is not asked for.
    """

    def __init__(self, say: Callable[[int, str], None]) -> None:
        self._say = say
        self.seen_us = -1
        self.target: Target | None = None
        self.needs_position = False

    @property
    def ever(self) -> bool:
        """Whether a set-point was ever heard."""
        return self.seen_us >= 0

    def fresh(self, now_us: int, timeout_s: float) -> bool:
        """Whether the stream is alive."""
        return self.ever and now_us < self.seen_us + timeout_s * 1e6

    def local(self, values: tuple[float, ...], now_us: int, flown: bool, est: Estimator) -> None:
        """SET_POSITION_TARGET_LOCAL_NED."""
        mask, frame = int(values[12]), int(values[15])
        kept = [
            _NAN if mask >> bit & 1 else value for bit, value in enumerate(values[1:10])
        ]  # fmt: skip
        pos = (kept[0], kept[1], kept[2])
        vel = (kept[3], kept[4], kept[5])
        acc = (kept[6], kept[7], kept[8])
        if frame == _BODY_NED:
            pos = (_NAN, _NAN, _NAN)
            acc = (_NAN, _NAN, _NAN)
            yaw = est.yaw
            c, s = math.cos(yaw), math.sin(yaw)
            vel = (c * vel[0] - s * vel[1], s * vel[0] + c * vel[1], vel[2])
        elif frame != _LOCAL_NED:
            self._say(2, f"SET_POSITION_TARGET_LOCAL_NED coordinate frame {frame} unsupported\t")
            return
        if _finite(acc) and mask & _FORCE:
            self._say(2, "SET_POSITION_TARGET_LOCAL_NED force not supported\t")
            return
        if not (_finite(pos) or _finite(vel) or _finite(acc)):
            self._say(2, "SET_POSITION_TARGET_LOCAL_NED invalid\t")
            return
        self.seen_us = now_us
        self.needs_position = _finite(pos) or _finite(vel)
        if flown:
            yaw = _NAN if mask & 0x400 else values[10]
            rate = _NAN if mask & 0x800 else values[11]
            self.target = Target(pos, vel, acc, yaw, rate)

    def attitude(self, values: tuple[float, ...], now_us: int, flown: bool) -> None:
        """SET_ATTITUDE_TARGET."""
        mask = int(values[11])
        attitude = not mask & 0x80
        rates = not mask & 0x03
        if not (attitude or rates):
            return
        self.seen_us = now_us
        self.needs_position = False
        if not flown:
            return
        thrust = 0.0 if mask & 0x40 else values[8]
        yaw_rate = _NAN if mask & 0x04 else values[7]
        if attitude:
            w, x, y, z = values[1:5]
            norm = math.sqrt(w * w + x * x + y * y + z * z)
            if not norm > 1e-3 or math.isnan(thrust):
                return
            q = (w / norm, x / norm, y / norm, z / norm)
            self.target = Target(attitude=q, yaw_rate=yaw_rate, thrust=thrust)
            return
        p, q_, r = values[5], values[6], 0.0 if yaw_rate != yaw_rate else yaw_rate
        if p == p and q_ == q_ and thrust == thrust:
            self.target = Target(rates=(p, q_, r), thrust=thrust)
