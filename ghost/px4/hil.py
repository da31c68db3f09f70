"""Ghost's readings as the MAVLink messages that PX4 takes from a simulator.

Axes and units go through `ghost.hal.frames`; the meaning of the fields is MAVLink's
(https://mavlink.io/en/messages/common.html) as PX4's module `simulator_mavlink` reads them. Each
function gives a payload in wire order (see `ghost.px4.codec`), or raises `ValueError` or
`OverflowError` for a reading that the message cannot hold.

Sensors are taken as mounted along the body's axes: a board turned on the vehicle is described to
PX4 by its own parameters, not here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ghost.hal import (
    AltimeterPayload,
    BarometerPayload,
    GpsFix,
    GpsPayload,
    GroundTruth,
    IMUPayload,
    MagnetometerPayload,
    OpticalFlowPayload,
    SensorSample,
)
from ghost.hal.frames import (
    Vec3,
    deg_to_dege7,
    enu_to_ned,
    flu_to_frd,
    m_to_cm,
    m_to_mm,
    ns_to_us,
    pa_to_hpa,
    q_enu_flu_to_ned_frd,
    rad_to_heading_cdeg,
    tesla_to_gauss,
)
from ghost.px4.codec import (
    DISTANCE_SENSOR,
    HIL_GPS,
    HIL_OPTICAL_FLOW,
    HIL_SENSOR,
    HIL_STATE_QUATERNION,
)

__all__ = [
    "BARO_FIELDS",
    "IMU_FIELDS",
    "MAG_FIELDS",
    "GlobalAnchor",
    "hil_distance",
    "hil_flow",
    "hil_gps",
    "hil_sensor",
    "hil_state",
    "pressure_altitude_m",
]

IMU_FIELDS = 0x003F
MAG_FIELDS = 0x01C0
BARO_FIELDS = 0x1A00
"""HIL_SENSOR_UPDATED_* in `fields_updated`: pressure, pressure altitude and temperature. PX4 takes
each group whole or not at all. Differential pressure (0x400) is never set: nothing measures it."""

_STANDARD_TEMPERATURE_C = 15.0
"""For a barometer that has no thermometer (ISO 2533, sea level)."""
_STANDARD_GRAVITY_MPS2 = 9.80665
_UINT16_MAX = 65_535
_INT16_MAX = 32_767
_COURSE_MPS = 0.5
"""Slower, the direction of motion over ground is a receiver's noise: the course is unknown."""
_FIX_TYPES = {GpsFix.NO_FIX: 0, GpsFix.FIX_2D: 2, GpsFix.FIX_3D: 3, GpsFix.RTK: 6}
"""GPS_FIX_TYPE; an RTK solution is taken as fixed."""
_UNKNOWN_SATELLITES = 255
_DOWNWARD = 25
"""MAV_SENSOR_ROTATION_PITCH_270."""
_LASER = 0
"""MAV_DISTANCE_SENSOR_LASER."""
_MAX_COVARIANCE_CM2 = 254

# WGS-84 (NGA.STND.0036): semi-major axis and first eccentricity squared.
_A_M = 6378137.0
_E2 = 6.69437999014e-3

_ZERO: Vec3 = (0.0, 0.0, 0.0)


def pressure_altitude_m(pressure_pa: float) -> float:
    """Altitude in the standard atmosphere, m, below 11 km; NaN where there is no air.

    h = (1 − (p/101325)^(1/5.25588)) / 2.25577e-5 (ISO 2533:1975).
    """
    if not pressure_pa > 0.0:
        return math.nan
    return float((1.0 - (pressure_pa / 101325.0) ** (1.0 / 5.25588)) / 2.25577e-5)


def hil_sensor(
    time_us: int,
    imu: IMUPayload | None,
    mag: MagnetometerPayload | None = None,
    baro: BarometerPayload | None = None,
    number: int = 0,
) -> bytes:
    """HIL_SENSOR: accelerometer and gyro, and what else is new, named in `fields_updated`.

    Number 0 moves PX4's clock to `time_us`, even with nothing new in it.
    """
    fields = 0
    ax = ay = az = gx = gy = gz = mx = my = mz = 0.0
    pressure_hpa = altitude_m = temperature_c = 0.0
    if imu is not None:
        ax, ay, az = flu_to_frd(imu.accel_mps2.tolist())
        gx, gy, gz = flu_to_frd(imu.gyro_rps.tolist())
        fields = IMU_FIELDS
        if not math.isfinite(ax + ay + az + gx + gy + gz):
            raise ValueError("the IMU reading is not finite")
    if mag is not None:
        x, y, z = flu_to_frd(mag.field_t.tolist())
        mx, my, mz = tesla_to_gauss(x), tesla_to_gauss(y), tesla_to_gauss(z)
        fields |= MAG_FIELDS
        if not math.isfinite(mx + my + mz):
            raise ValueError("the magnetometer reading is not finite")
    if baro is not None:
        pressure_hpa = pa_to_hpa(baro.pressure_pa)
        altitude_m = pressure_altitude_m(baro.pressure_pa)
        told = baro.temperature_c
        temperature_c = _STANDARD_TEMPERATURE_C if told is None else told
        fields |= BARO_FIELDS
        if not math.isfinite(altitude_m + temperature_c):
            raise ValueError("the barometer reading is not finite")
    return HIL_SENSOR.pack(
        time_us,
        ax,
        ay,
        az,
        gx,
        gy,
        gz,
        mx,
        my,
        mz,
        pressure_hpa,
        0.0,
        altitude_m,
        temperature_c,
        fields,
        number,
    )


def hil_gps(time_us: int, sample: SensorSample[GpsPayload], vel_enu_mps: Sequence[float]) -> bytes:
    """HIL_GPS: one fix, with the velocity given.

    `eph` and `epv` carry the accuracies in cm, which is how PX4 reads them (MAVLink calls them
    dilutions). The altitude is that above the ellipsoid, of which PX4 makes both of its altitudes:
    no geoid is known here. Satellites are those of `meta.extensions["satellites"]`, else unknown.
    """
    fix = sample.payload
    vn, ve, vd = (_int16(m_to_cm(v)) for v in enu_to_ned(vel_enu_mps))
    speed_mps = math.hypot(vel_enu_mps[0], vel_enu_mps[1])
    course = _UINT16_MAX
    if speed_mps >= _COURSE_MPS:
        course = rad_to_heading_cdeg(math.atan2(vel_enu_mps[0], vel_enu_mps[1]))
    satellites = sample.meta.extensions.get("satellites", _UNKNOWN_SATELLITES)
    return HIL_GPS.pack(
        time_us,
        *(deg_to_dege7(fix.lat_deg), deg_to_dege7(fix.lon_deg), m_to_mm(fix.alt_m)),
        *(_accuracy_cm(fix.hacc_m), _accuracy_cm(fix.vacc_m)),
        *(min(m_to_cm(speed_mps), _UINT16_MAX), vn, ve, vd, course),
        *(_FIX_TYPES[fix.fix_type], min(max(int(satellites), 0), _UNKNOWN_SATELLITES), 0, 0),
    )


def hil_flow(time_us: int, flow: OpticalFlowPayload) -> bytes:
    """HIL_OPTICAL_FLOW: integrated angles; distance −1 where no surface is in range."""
    fx, fy, _ = flu_to_frd((*flow.flow_rad.tolist(), 0.0))
    gx, gy, gz = flu_to_frd(flow.gyro_rad.tolist())
    if not math.isfinite(fx + fy + gx + gy + gz):
        raise ValueError("the optical flow is not finite")
    distance_m = flow.distance_m if 0.0 <= flow.distance_m < math.inf else -1.0
    return HIL_OPTICAL_FLOW.pack(
        time_us,
        min(ns_to_us(flow.integration_ns), 2**32 - 1),
        *(fx, fy, gx, gy, gz),
        *(0, distance_m, 0, 0, flow.quality),
    )


def hil_distance(time_us: int, height: AltimeterPayload) -> bytes:
    """DISTANCE_SENSOR: a downward laser, from an altimeter above the ground; the range is not
    limited, since the payload names none.
    """
    distance_cm = min(max(m_to_cm(height.altitude_m), 0), _UINT16_MAX)
    covariance_cm2 = height.variance_m2 * 1e4
    covariance = round(min(max(covariance_cm2, 0.0), _MAX_COVARIANCE_CM2))
    return DISTANCE_SENSOR.pack(
        time_us // 1_000 & 0xFFFF_FFFF,
        *(0, _UINT16_MAX, distance_cm),
        *(_LASER, 0, _DOWNWARD, covariance),
        *(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0),
    )


def hil_state(time_us: int, truth: GroundTruth, place: tuple[float, float, float]) -> bytes:
    """HIL_STATE_QUATERNION: the true state, which PX4 logs beside its own.

    `place` is latitude and longitude (deg) and altitude (m). The acceleration is along north, east
    and down, as PX4 reads it, in thousandths of standard gravity, as MAVLink says.
    """
    vx, vy, vz = (_int16(m_to_cm(v)) for v in enu_to_ned(truth.vel_enu_mps.tolist()))
    mg = 1e3 / _STANDARD_GRAVITY_MPS2
    accel = (_int16(round(a * mg)) for a in enu_to_ned(truth.acc_enu_mps2.tolist()))
    return HIL_STATE_QUATERNION.pack(
        time_us,
        *q_enu_flu_to_ned_frd(truth.q_enu_flu.tolist()),
        *flu_to_frd(truth.rate_flu_rps.tolist()),
        *(deg_to_dege7(place[0]), deg_to_dege7(place[1]), m_to_mm(place[2])),
        *(vx, vy, vz, 0, 0),
        *accel,
    )


class GlobalAnchor:
    """What the fixes tell beyond themselves: the velocity between two, and where the world lies."""

    __slots__ = ("_alt_m", "_east_m", "_enu", "_lat_deg", "_lon_deg", "_north_m", "_stamp_ns")

    def __init__(self) -> None:
        self._stamp_ns: int | None = None
        self._enu: Vec3 = _ZERO
        self._lat_deg = self._lon_deg = self._alt_m = 0.0
        self._north_m = self._east_m = 1.0

    def velocity(self, sample: SensorSample[GpsPayload]) -> Vec3:
        """Velocity, m/s ENU, and take note of the fix.

        `meta.extensions["vel_enu_mps"]` if the sensor measures it; else the way from the fix before
        over the time between, and zero for the first. Differences of noisy fixes are noisy: 0.3 m
        at 5 Hz is 2 m/s.
        """
        fix = sample.payload
        if fix.fix_type < GpsFix.FIX_2D:
            return _ZERO
        x, y, z = fix.enu_local_m.tolist()
        before, (px, py, pz) = self._stamp_ns, self._enu
        self._note(fix, (x, y, z), sample.stamp_sensor_ns)
        measured = sample.meta.extensions.get("vel_enu_mps")
        if measured is not None:
            vx, vy, vz = measured
            return (float(vx), float(vy), float(vz))
        if before is None or sample.stamp_sensor_ns <= before:
            return _ZERO
        k = 1e9 / (sample.stamp_sensor_ns - before)
        return ((x - px) * k, (y - py) * k, (z - pz) * k)

    def _note(self, fix: GpsPayload, enu: Vec3, stamp_ns: int) -> None:
        self._stamp_ns, self._enu = stamp_ns, enu
        self._lat_deg, self._lon_deg, self._alt_m = fix.lat_deg, fix.lon_deg, fix.alt_m
        sine = math.sin(math.radians(fix.lat_deg))
        square = 1.0 - _E2 * sine * sine
        across_m = _A_M / math.sqrt(square)
        self._north_m = across_m * (1.0 - _E2) / square + fix.alt_m
        cosine = math.cos(math.radians(fix.lat_deg))
        self._east_m = (across_m + fix.alt_m) * max(cosine, 1e-9)

    def place(self, enu_m: Sequence[float]) -> tuple[float, float, float] | None:
        """Latitude and longitude (deg) and altitude (m) of a point of the world; None before a fix.

        From the newest fix by the radii of curvature of WGS-84. The point is a few metres from it,
        so the earth's curvature between the two is below a micrometre.
        """
        if self._stamp_ns is None:
            return None
        x, y, z = self._enu
        return (
            self._lat_deg + math.degrees((enu_m[1] - y) / self._north_m),
            self._lon_deg + math.degrees((enu_m[0] - x) / self._east_m),
            self._alt_m + enu_m[2] - z,
        )


def _int16(value: int) -> int:
    return min(max(value, -_INT16_MAX), _INT16_MAX)


def _accuracy_cm(accuracy_m: float) -> int:
    """MAVLink's largest means unknown."""
    if not 0.0 <= accuracy_m < _UINT16_MAX / 100:
        return _UINT16_MAX
    return m_to_cm(accuracy_m)
