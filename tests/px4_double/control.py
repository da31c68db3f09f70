"""From set-points to motors: position, velocity, attitude, rate, mixer. NED and FRD, SI.

The cascade is PX4's, with its gains in the outer loops; the rate loop is tuned for the x500.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from .estimator import GRAVITY, Estimator

__all__ = ["Control", "Target"]

_NAN = math.nan
_POS_P = 0.95
_ALT_P = 1.0
_VEL_P, _VEL_I = 1.8, 0.4
_CLIMB_P, _CLIMB_I = 4.0, 2.0
_MAX_SPEED, _MAX_UP, _MAX_DOWN = 12.0, 3.0, 1.5
_MAX_TILT = math.tan(math.radians(35.0))
_ATT_P, _YAW_P = 6.5, 2.8
_MAX_RATE, _MAX_YAW_RATE = 3.8, 1.0
# Thrust ratio per rad/s: the x500 answers 0.01 with 2.5 rad/s² in roll and pitch, 0.12 in yaw.
_RATE_P, _RATE_I = 0.075, 0.05
_YAW_RATE_P, _YAW_RATE_I = 0.25, 0.1
_MAX_YAW = 0.12
_MIN_THRUST = 0.12
_OUTER_EVERY = 2


@dataclass(slots=True)
class Target:
    """What is to be flown. NaN: not asked for."""

    pos: tuple[float, float, float] = (_NAN, _NAN, _NAN)
    vel: tuple[float, float, float] = (_NAN, _NAN, _NAN)
    acc: tuple[float, float, float] = (_NAN, _NAN, _NAN)
    yaw: float = _NAN
    yaw_rate: float = _NAN
    attitude: tuple[float, float, float, float] | None = None
    rates: tuple[float, float, float] | None = None
    thrust: float = 0.0
    max_up: float = _MAX_UP


class Control:
    """Motor outputs 0..1 in PX4's order: front right, rear left, front left, rear right."""

    def __init__(self, hover: float) -> None:
        self.hover = hover
        self.thrust = 0.0
        self.attitude = (1.0, 0.0, 0.0, 0.0)
        self.rates_sp = (0.0, 0.0, 0.0)
        self.descending = False
        self.reset(0.0)

    def reset(self, yaw: float) -> None:
        """Forget the integrals; look where the vehicle looks."""
        self._turn = 0
        self._rates_only: tuple[float, float, float] | None = None
        self._vel_i = (0.0, 0.0, 0.0)
        self._rate_i = (0.0, 0.0, 0.0)
        self.yaw_sp = yaw
        self.thrust = 0.0
        self.attitude = (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
        self._yaw_ff = 0.0

    def run(
        self, now: Estimator, target: Callable[[], Target], dt: float
    ) -> tuple[float, float, float, float]:
        """Motors for this sample; the target is asked for when the outer loop's turn comes."""
        if self._turn == 0:
            aim = target()
            self._rates_only = aim.rates if aim.attitude is None else None
            if self._rates_only is not None:
                self.thrust = min(1.0, max(0.0, aim.thrust))
                self.descending = True
            elif aim.attitude is not None:
                self.attitude = aim.attitude
                self._yaw_ff = aim.yaw_rate if aim.yaw_rate == aim.yaw_rate else 0.0
                self.thrust = min(1.0, max(0.0, aim.thrust))
                self.yaw_sp = now.yaw
                self.descending = True
            else:
                self._outer(now, aim, dt * _OUTER_EVERY)
        self._turn = (self._turn + 1) % _OUTER_EVERY
        rates = self._rates_only
        if rates is None:
            rates = self._attitude(now)
        self.rates_sp = rates
        return self._rate(now.rates, rates, dt)

    def _outer(self, now: Estimator, aim: Target, dt: float) -> None:
        pn, pe, pd = now.pos
        vn, ve, vd = now.vel
        tn, te, td = aim.pos
        fn, fe, fd = aim.vel
        sn = (_POS_P * (tn - pn) if tn == tn else 0.0) + (fn if fn == fn else 0.0)
        se = (_POS_P * (te - pe) if te == te else 0.0) + (fe if fe == fe else 0.0)
        sd = (_ALT_P * (td - pd) if td == td else 0.0) + (fd if fd == fd else 0.0)
        speed = math.sqrt(sn * sn + se * se)
        if speed > _MAX_SPEED:
            sn *= _MAX_SPEED / speed
            se *= _MAX_SPEED / speed
        sd = min(_MAX_DOWN, max(-aim.max_up, sd))
        an, ae, ad = aim.acc
        # An axis that only has an acceleration is not held by the velocity loop.
        loose_n = tn != tn and fn != fn and an == an
        loose_e = te != te and fe != fe and ae == ae
        loose_d = td != td and fd != fd and ad == ad
        en = 0.0 if loose_n else sn - vn
        ee = 0.0 if loose_e else se - ve
        ed = 0.0 if loose_d else sd - vd
        self.descending = sd > 0.27
        un, ue, ud = self._vel_i
        cn = _VEL_P * en + un + (an if an == an else 0.0)
        ce = _VEL_P * ee + ue + (ae if ae == ae else 0.0)
        cd = _CLIMB_P * ed + ud + (ad if ad == ad else 0.0)
        tilt = math.sqrt(cn * cn + ce * ce) / GRAVITY
        free = tilt <= _MAX_TILT
        if not free:
            cn *= _MAX_TILT / tilt
            ce *= _MAX_TILT / tilt
        # Thrust against gravity along the desired body z; PX4 divides by the tilt likewise.
        lean = math.sqrt(cn * cn + ce * ce + GRAVITY * GRAVITY)
        zn, ze, zd = -cn / lean, -ce / lean, GRAVITY / lean
        thrust = self.hover * (1.0 - cd / GRAVITY) / zd
        low, high = thrust < _MIN_THRUST, thrust > 0.95
        self.thrust = _MIN_THRUST if low else min(thrust, 0.95)
        down = ud + _CLIMB_I * dt * ed
        if (low and ed > 0.0) or (high and ed < 0.0):
            down = ud
        self._vel_i = (
            un + _VEL_I * dt * en if free else un,
            ue + _VEL_I * dt * ee if free else ue,
            min(9.0, max(-9.0, down)),
        )
        yaw = aim.yaw
        rate = aim.yaw_rate
        if yaw == yaw:
            self.yaw_sp = yaw
        elif rate == rate:
            self.yaw_sp += rate * dt
            lead = math.remainder(self.yaw_sp - now.yaw, 2.0 * math.pi)
            if abs(lead) > 0.6:
                self.yaw_sp = now.yaw + math.copysign(0.6, lead)
        self._yaw_ff = rate if rate == rate else 0.0
        # Shortest turn of "down" to the desired body z, after a turn to the heading.
        half = 0.5 * self.yaw_sp
        c, s = math.cos(half), math.sin(half)
        w = math.sqrt(0.5 * (1.0 + zd))
        x, y = -ze / (2.0 * w), zn / (2.0 * w)
        self.attitude = (w * c, x * c + y * s, y * c - x * s, w * s)

    def _attitude(self, now: Estimator) -> tuple[float, float, float]:
        w, x, y, z = now.q
        dw, dx, dy, dz = self.attitude
        ew = w * dw + x * dx + y * dy + z * dz
        k = 2.0 if ew >= 0.0 else -2.0
        ex = k * (w * dx - x * dw - y * dz + z * dy)
        ey = k * (w * dy - y * dw - z * dx + x * dz)
        ez = k * (w * dz - z * dw - x * dy + y * dx)
        p = _ATT_P * ex
        q = _ATT_P * ey
        r = _YAW_P * ez
        top = _MAX_RATE
        p = top if p > top else -top if p < -top else p
        q = top if q > top else -top if q < -top else q
        top = _MAX_YAW_RATE
        r = top if r > top else -top if r < -top else r
        forward = self._yaw_ff
        if forward:
            rot = now.rot
            p += rot[6] * forward
            q += rot[7] * forward
            r += rot[8] * forward
        return p, q, r

    def _rate(
        self, now: tuple[float, float, float], aim: tuple[float, float, float], dt: float
    ) -> tuple[float, float, float, float]:
        ep = aim[0] - now[0]
        eq = aim[1] - now[1]
        er = aim[2] - now[2]
        ip, iq, ir = self._rate_i
        roll = _RATE_P * ep + ip
        pitch = _RATE_P * eq + iq
        yaw = _YAW_RATE_P * er + ir
        yaw = _MAX_YAW if yaw > _MAX_YAW else -_MAX_YAW if yaw < -_MAX_YAW else yaw
        thrust = self.thrust
        a = thrust - roll + pitch + yaw
        b = thrust + roll - pitch + yaw
        c = thrust + roll + pitch - yaw
        d = thrust - roll - pitch - yaw
        top = max(a, b, c, d)
        if top > 1.0:
            top -= 1.0
            a -= top
            b -= top
            c -= top
            d -= top
        else:
            k = _RATE_I * dt
            self._rate_i = (
                min(0.1, max(-0.1, ip + k * ep)),
                min(0.1, max(-0.1, iq + k * eq)),
                min(0.1, max(-0.1, ir + _YAW_RATE_I * dt * er)),
            )
        return (
            a if a > 0.0 else 0.0,
            b if b > 0.0 else 0.0,
            c if c > 0.0 else 0.0,
            d if d > 0.0 else 0.0,
        )
