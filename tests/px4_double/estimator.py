"""Where the double believes to be: from HIL_SENSOR and HIL_GPS alone.

Fixed gains instead of a Kalman filter: attitude by the gyroscope, levelled by the accelerometer
while at rest and by the GPS velocity in flight, turned north by the magnetometer; velocity and
position by the accelerometer, drawn to GPS and barometer. Body FRD, world NED, SI.
"""

from __future__ import annotations

import math

__all__ = ["Estimator"]

GRAVITY = 9.80665
EARTH_RADIUS_M = 6371000.0  # the sphere of PX4's map projection

_LEVEL_PER_S = 1.0
_BIAS_PER_S2 = 0.1
_YAW_PER_S = 1.0
_GPS_VEL_PER_S = 2.0
_GPS_POS_PER_S = 0.8
_GPS_TILT_PER_S = 0.6
_BARO_POS_PER_S = 1.2
_BARO_VEL_PER_S = 0.5
_BARO_ZERO_PER_S = 0.15
_BARO_AVERAGE = 100


class Estimator:
    """State and its corrections; `settled` says whether it can be flown on."""

    def __init__(self, declination_rad: float, settle_us: int) -> None:
        self._declination = declination_rad
        self._settle_us = settle_us
        self.q = (1.0, 0.0, 0.0, 0.0)
        self.rot = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        self.rates = (0.0, 0.0, 0.0)
        self.pos = (0.0, 0.0, 0.0)
        self.vel = (0.0, 0.0, 0.0)
        self.acc = (0.0, 0.0, 0.0)
        self.at_rest = True
        self.origin: tuple[float, float, float] | None = None
        self.origin_us = 0
        self.now_us = 0
        self.baro_alt_m = math.nan
        self._lon_scale = 1.0
        self._bias = (0.0, 0.0, 0.0)
        self._level = False
        self._north = False
        self._mag_us = self._baro_us = self._gps_us = 0
        self._baro_zero = math.nan
        self._baro_count = 1
        self._yaw_error = math.pi

    def imu(
        self, now_us: int, ax: float, ay: float, az: float, gx: float, gy: float, gz: float
    ) -> None:
        """One HIL_SENSOR: specific force, m/s², and rate, rad/s, FRD."""
        dt = (now_us - self.now_us) * 1e-6
        self.now_us = now_us
        if not self._level:
            self._set_level(ax, ay, az)
            return
        if not 0.0 < dt < 0.1:
            return
        bx, by, bz = self._bias
        gx -= bx
        gy -= by
        gz -= bz
        self.rates = (gx, gy, gz)
        r00, r01, r02, r10, r11, r12, r20, r21, r22 = self.rot
        if self.at_rest:
            gx, gy, gz = self._levelled(dt, ax, ay, az, gx, gy, gz)
        w, x, y, z = self.q
        h = 0.5 * dt
        hx = gx * h
        hy = gy * h
        hz = gz * h
        nw = w - x * hx - y * hy - z * hz
        nx = x + w * hx + y * hz - z * hy
        ny = y + w * hy + z * hx - x * hz
        nz = z + w * hz + x * hy - y * hx
        # One Newton step of 1/sqrt is enough: the norm drifts by (rate·dt)²/8 a step.
        n = 1.5 - 0.5 * (nw * nw + nx * nx + ny * ny + nz * nz)
        self._turn_to(nw * n, nx * n, ny * n, nz * n)
        an = r00 * ax + r01 * ay + r02 * az
        ae = r10 * ax + r11 * ay + r12 * az
        ad = r20 * ax + r21 * ay + r22 * az + GRAVITY
        self.acc = (an, ae, ad)
        vn, ve, vd = self.vel
        pn, pe, pd = self.pos
        an *= h
        ae *= h
        ad *= h
        self.pos = (pn + (vn + an) * dt, pe + (ve + ae) * dt, pd + (vd + ad) * dt)
        self.vel = (vn + 2.0 * an, ve + 2.0 * ae, vd + 2.0 * ad)

    def _turn_to(self, w: float, x: float, y: float, z: float) -> None:
        self.q = (w, x, y, z)
        xx = x * x
        yy = y * y
        zz = z * z
        xy = x * y
        xz = x * z
        yz = y * z
        wx = w * x
        wy = w * y
        wz = w * z
        self.rot = (
            1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy),
            2.0 * (xy + wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz - wx),
            2.0 * (xz - wy), 2.0 * (yz + wx), 1.0 - 2.0 * (xx + yy),
        )  # fmt: skip

    def _set_level(self, ax: float, ay: float, az: float) -> None:
        if not az < -1.0:
            return
        roll = math.atan2(-ay, -az)
        pitch = math.atan2(ax, math.hypot(ay, az))
        cr, sr = math.cos(roll / 2), math.sin(roll / 2)
        cp, sp = math.cos(pitch / 2), math.sin(pitch / 2)
        self._turn_to(cr * cp, sr * cp, cr * sp, -sr * sp)
        self._level = True

    def _levelled(
        self, dt: float, ax: float, ay: float, az: float, gx: float, gy: float, gz: float
    ) -> tuple[float, float, float]:
        """The rate, turned so that "up" in the accelerometer and in the estimate meet."""
        force = math.sqrt(ax * ax + ay * ay + az * az)
        if abs(force - GRAVITY) > 1.0:
            return gx, gy, gz
        ux, uy, uz = -self.rot[6], -self.rot[7], -self.rot[8]
        ax /= force
        ay /= force
        az /= force
        ex = ay * uz - az * uy
        ey = az * ux - ax * uz
        ez = ax * uy - ay * ux
        bx, by, bz = self._bias
        k = _BIAS_PER_S2 * dt
        # The yaw part of the bias is what turns while nothing does.
        self._bias = (bx - k * ex, by - k * ey, bz + k * gz)
        k = _LEVEL_PER_S
        return gx + k * ex, gy + k * ey, gz + k * ez

    def mag(self, mx: float, my: float, mz: float) -> None:
        """Magnetic field, gauss, FRD: turn about the vertical."""
        r = self.rot
        if not self._level:
            return
        north = r[0] * mx + r[1] * my + r[2] * mz
        east = r[3] * mx + r[4] * my + r[5] * mz
        error = self._declination - math.atan2(east, north)
        if error > math.pi:
            error -= 2.0 * math.pi
        elif error < -math.pi:
            error += 2.0 * math.pi
        self._yaw_error += 0.02 * (abs(error) - self._yaw_error)
        dt = (self.now_us - self._mag_us) * 1e-6
        self._mag_us = self.now_us
        if not self._north:
            self._north = True
            self._yaw_error = abs(error)
        else:
            error *= min(0.5, _YAW_PER_S * dt)
        c, s = math.cos(0.5 * error), math.sin(0.5 * error)
        w, x, y, z = self.q
        self._turn_to(c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w)

    def baro(self, pressure_hpa: float) -> None:
        """Static pressure: height by the standard atmosphere."""
        if not pressure_hpa > 0.0:
            return
        height = (1.0 - (pressure_hpa / 1013.25) ** 0.190263) / 2.25577e-5
        dt = min(0.5, (self.now_us - self._baro_us) * 1e-6)
        self._baro_us = self.now_us
        self.baro_alt_m = height
        if self._baro_zero != self._baro_zero:
            self._baro_zero = height + self.pos[2]
            self._baro_count = 1
        if self.origin is None or self._baro_count < _BARO_AVERAGE:
            # The zero is the mean of the first readings, taken on the ground.
            self._baro_count += 1
            self._baro_zero += (height + self.pos[2] - self._baro_zero) / self._baro_count
            return
        error = self._baro_zero - height - self.pos[2]
        n, e, d = self.pos
        self.pos = (n, e, d + _BARO_POS_PER_S * dt * error)
        n, e, d = self.vel
        self.vel = (n, e, d + _BARO_VEL_PER_S * dt * error)

    def gps(
        self, lat_deg: float, lon_deg: float, alt_m: float, vn: float, ve: float, vd: float
    ) -> None:
        """One fix of at least three dimensions; the first is the origin."""
        if self.origin is None:
            self.origin = (lat_deg, lon_deg, alt_m)
            self.origin_us = self.now_us
            self._lon_scale = math.cos(math.radians(lat_deg))
            self._gps_us = self.now_us
            self.pos = (0.0, 0.0, 0.0)
            self._baro_zero, self._baro_count = math.nan, 1
            self.vel = (0.0, 0.0, 0.0)
            return
        dt = min(1.0, (self.now_us - self._gps_us) * 1e-6)
        self._gps_us = self.now_us
        lat0, lon0, alt0 = self.origin
        en = math.radians(lat_deg - lat0) * EARTH_RADIUS_M - self.pos[0]
        ee = math.radians(lon_deg - lon0) * EARTH_RADIUS_M * self._lon_scale - self.pos[1]
        ed = alt0 - alt_m - self.pos[2]
        k = min(0.5, _GPS_POS_PER_S * dt)
        n, e, d = self.pos
        self.pos = (n + k * en, e + k * ee, d + 0.2 * k * ed)
        if self._baro_zero == self._baro_zero:
            self._baro_zero += min(0.5, _BARO_ZERO_PER_S * dt) * ed
        n, e, d = self.vel
        en, ee, ed = vn - n, ve - e, vd - d
        k = min(0.6, _GPS_VEL_PER_S * dt)
        self.vel = (n + k * en, e + k * ee, d + k * ed)
        if not self.at_rest:
            # A wrong tilt shows as a wrong acceleration: turning the thrust (0, 0, -g) about
            # north by c moves it by g·c east, about east by -g·c north.
            k = min(0.2, _GPS_TILT_PER_S * dt) / GRAVITY
            cn, ce = 0.5 * k * ee, -0.5 * k * en
            w, x, y, z = self.q
            self._turn_to(w - cn * x - ce * y, x + cn * w + ce * z, y + ce * w - cn * z,
                          z + cn * y - ce * x)  # fmt: skip

    @property
    def yaw(self) -> float:
        """Heading, rad, clockwise from north."""
        return math.atan2(self.rot[3], self.rot[0])

    def latitude_longitude(self) -> tuple[int, int]:
        """Where it is, in degrees times 10^7."""
        lat0, lon0, _ = self.origin or (0.0, 0.0, 0.0)
        lat = lat0 + math.degrees(self.pos[0] / EARTH_RADIUS_M)
        lon = lon0 + math.degrees(self.pos[1] / (EARTH_RADIUS_M * self._lon_scale))
        return round(lat * 1e7), round(lon * 1e7)

    def local(self, lat_deg: float, lon_deg: float) -> tuple[float, float]:
        """North and east of the origin, m."""
        lat0, lon0, _ = self.origin or (0.0, 0.0, 0.0)
        return (
            math.radians(lat_deg - lat0) * EARTH_RADIUS_M,
            math.radians(lon_deg - lon0) * EARTH_RADIUS_M * self._lon_scale,
        )

    def problem(self) -> str:
        """Why it cannot be flown on, in PX4's words; empty if it can."""
        now = self.now_us
        if not self._level:
            return "Preflight Fail: ekf2 missing data"
        if now - self._baro_us > 1_000_000 or not self._baro_us:
            return "Preflight Fail: No valid data from Baro 0"
        if now - self._mag_us > 1_000_000 or not self._north:
            return "Preflight Fail: No valid data from Compass 0"
        if self.origin is None or now - self._gps_us > 2_000_000:
            return "Preflight Fail: Global position estimate required"
        if now < self._settle_us or self._yaw_error > 0.1:
            return "Preflight Fail: heading estimate not stable"
        if math.hypot(self.vel[0], self.vel[1]) > 0.5:
            return "Preflight Fail: horizontal velocity unstable"
        return ""
