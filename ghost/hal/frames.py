"""Axes, rotations and units: the one place where other conventions become Ghost's (D12).

Ghost's own: world ENU (x east, y north, z up), body FLU (x forward, y left, z up), quaternions
`(w, x, y, z)` of unit length that turn body vectors into the world, radians, SI. PX4 and MAVLink
use NED (north, east, down) and FRD (forward, right, down) and the integer units below.

Plain functions take and return tuples of floats, because a step of a simulation makes thousands of
these calls and numpy is slow on three numbers. Functions that end in `_array` do the same on the
last axis of float64 arrays of any leading shape. Nothing here normalises by itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = [
    "Matrix3",
    "Quat",
    "Vec3",
    # axes
    "enu_to_ned",
    "enu_to_ned_array",
    "enu_yaw_to_ned_yaw",
    "flu_to_frd",
    "flu_to_frd_array",
    "frd_to_flu",
    "ned_to_enu",
    "ned_yaw_to_enu_yaw",
    "q_enu_flu_to_ned_frd",
    "q_ned_frd_to_enu_flu",
    "wrap_pi",
    # rotations
    "q_conjugate",
    "q_from_rotvec",
    "q_from_rpy",
    "q_from_xyzw",
    "q_from_yaw",
    "q_multiply",
    "q_multiply_array",
    "q_normalise",
    "q_rotate",
    "q_rotate_array",
    "q_rotate_inverse",
    "q_to_matrix",
    "q_to_matrix_array",
    "q_to_rpy",
    "q_to_xyzw",
    "q_to_yaw",
    # units
    "cdeg_to_rad",
    "cm_to_m",
    "deg_to_dege7",
    "dege7_to_deg",
    "gauss_to_tesla",
    "hpa_to_pa",
    "m_to_cm",
    "m_to_mm",
    "mm_to_m",
    "ns_to_us",
    "pa_to_hpa",
    "rad_to_cdeg",
    "rad_to_heading_cdeg",
    "tesla_to_gauss",
    "us_to_ns",
]

Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]
Matrix3 = tuple[Vec3, Vec3, Vec3]
_FloatArray = npt.NDArray[np.float64]

_SQRT_HALF = math.sqrt(0.5)
_INT32_MAX = 2**31 - 1


# --- axes -----------------------------------------------------------------------------------------


def enu_to_ned(v: Sequence[float]) -> Vec3:
    """World vector from ENU to NED."""
    x, y, z = v
    return (y, x, -z)


def ned_to_enu(v: Sequence[float]) -> Vec3:
    """World vector from NED to ENU; the exchange is its own inverse."""
    x, y, z = v
    return (y, x, -z)


def flu_to_frd(v: Sequence[float]) -> Vec3:
    """Body vector from FLU to FRD."""
    x, y, z = v
    return (x, -y, -z)


def frd_to_flu(v: Sequence[float]) -> Vec3:
    """Body vector from FRD to FLU; the half turn is its own inverse."""
    x, y, z = v
    return (x, -y, -z)


def enu_to_ned_array(v: _FloatArray) -> _FloatArray:
    """World vectors (…, 3) from ENU to NED, or back: the exchange is its own inverse."""
    return np.stack((v[..., 1], v[..., 0], -v[..., 2]), axis=-1)


def flu_to_frd_array(v: _FloatArray) -> _FloatArray:
    """Body vectors (…, 3) from FLU to FRD, or back: the half turn is its own inverse."""
    return np.stack((v[..., 0], -v[..., 1], -v[..., 2]), axis=-1)


def q_enu_flu_to_ned_frd(q: Sequence[float]) -> Quat:
    """Attitude from FLU-in-ENU to FRD-in-NED.

    The product q_ned_enu ⊗ q ⊗ q_flu_frd, with q_ned_enu = (0, √½, √½, 0), a half turn about the
    diagonal of east and north, and q_flu_frd = (0, 1, 0, 0), a half turn about forward; written
    out, and with the sign that takes the nose north and level to (1, 0, 0, 0).
    """
    w, x, y, z = q
    return (
        _SQRT_HALF * (w + z),
        _SQRT_HALF * (x + y),
        _SQRT_HALF * (x - y),
        _SQRT_HALF * (w - z),
    )


def q_ned_frd_to_enu_flu(q: Sequence[float]) -> Quat:
    """Attitude from FRD-in-NED to FLU-in-ENU; the formula is its own inverse."""
    return q_enu_flu_to_ned_frd(q)


def wrap_pi(angle_rad: float) -> float:
    """The same angle within [−π, π]."""
    return math.remainder(angle_rad, math.tau)


def enu_yaw_to_ned_yaw(yaw_rad: float) -> float:
    """Yaw counter-clockwise from east to heading clockwise from north, within [−π, π]."""
    return wrap_pi(math.pi / 2.0 - yaw_rad)


def ned_yaw_to_enu_yaw(heading_rad: float) -> float:
    """Heading clockwise from north to yaw counter-clockwise from east, within [−π, π]."""
    return wrap_pi(math.pi / 2.0 - heading_rad)


# --- rotations ------------------------------------------------------------------------------------


def q_multiply(a: Sequence[float], b: Sequence[float]) -> Quat:
    """Hamilton product a ⊗ b: first the turn b, then a."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def q_conjugate(q: Sequence[float]) -> Quat:
    """The opposite turn: world to body."""
    w, x, y, z = q
    return (w, -x, -y, -z)


def q_normalise(q: Sequence[float]) -> Quat:
    """The same turn with unit length. Raises `ValueError` for zero length, NaN or infinity."""
    w, x, y, z = q
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    if not 0.0 < norm < math.inf:
        raise ValueError(f"a quaternion needs a finite length above zero, got {tuple(q)}")
    return (w / norm, x / norm, y / norm, z / norm)


def q_rotate(q: Sequence[float], v: Sequence[float]) -> Vec3:
    """Turn a body vector into the world: v + 2w(u × v) + 2u × (u × v), with u = (x, y, z)."""
    w, x, y, z = q
    vx, vy, vz = v
    tx = 2.0 * (y * vz - z * vy)
    ty = 2.0 * (z * vx - x * vz)
    tz = 2.0 * (x * vy - y * vx)
    return (
        vx + w * tx + y * tz - z * ty,
        vy + w * ty + z * tx - x * tz,
        vz + w * tz + x * ty - y * tx,
    )


def q_rotate_inverse(q: Sequence[float], v: Sequence[float]) -> Vec3:
    """Turn a world vector into the body."""
    w, x, y, z = q
    return q_rotate((w, -x, -y, -z), v)


def q_to_matrix(q: Sequence[float]) -> Matrix3:
    """Rotation matrix as three rows; its columns are the body axes seen in the world."""
    w, x, y, z = q
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


def q_from_rpy(roll_rad: float, pitch_rad: float, yaw_rad: float) -> Quat:
    """Attitude Rz(yaw) · Ry(pitch) · Rx(roll), right-handed about FLU axes.

    Positive roll lowers the right side, positive pitch lowers the nose (FLU, not FRD), positive
    yaw turns left; yaw 0 looks east.
    """
    cr, sr = math.cos(0.5 * roll_rad), math.sin(0.5 * roll_rad)
    cp, sp = math.cos(0.5 * pitch_rad), math.sin(0.5 * pitch_rad)
    cy, sy = math.cos(0.5 * yaw_rad), math.sin(0.5 * yaw_rad)
    return (
        cy * cp * cr + sy * sp * sr,
        cy * cp * sr - sy * sp * cr,
        cy * sp * cr + sy * cp * sr,
        sy * cp * cr - cy * sp * sr,
    )


def q_to_rpy(q: Sequence[float]) -> Vec3:
    """Roll, pitch and yaw of `q_from_rpy`; pitch within ±π/2, the others within ±π.

    With the nose straight up or down, within 1e-9 rad, roll and yaw turn about one axis: roll is
    then 0 and yaw takes the whole turn. Yaw is found after roll has been undone, so that the three
    give the same attitude near that point too.
    """
    (r00, r01, r02), (r10, r11, r12), (r20, r21, r22) = q_to_matrix(q)
    roll = math.atan2(r21, r22) if math.hypot(r21, r22) > 1e-9 else 0.0
    sr, cr = math.sin(roll), math.cos(roll)
    pitch = math.atan2(-r20, math.hypot(r00, r10))
    yaw = math.atan2(sr * r02 - cr * r01, cr * r11 - sr * r12)
    return (roll, pitch, yaw)


def q_from_yaw(yaw_rad: float) -> Quat:
    """Level attitude with the nose `yaw_rad` counter-clockwise from east."""
    return (math.cos(0.5 * yaw_rad), 0.0, 0.0, math.sin(0.5 * yaw_rad))


def q_to_yaw(q: Sequence[float]) -> float:
    """Direction of the nose over the ground, rad counter-clockwise from east."""
    w, x, y, z = q
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def q_from_rotvec(v: Sequence[float]) -> Quat:
    """The turn about the axis `v` by its length in radians (exponential map)."""
    x, y, z = v
    angle = math.sqrt(x * x + y * y + z * z)
    # Below 1e-8 rad the next term of the series of sin(a/2)/a is under a double's resolution.
    k = math.sin(0.5 * angle) / angle if angle > 1e-8 else 0.5
    return (math.cos(0.5 * angle), k * x, k * y, k * z)


def q_from_xyzw(q: Sequence[float]) -> Quat:
    """Reorder a quaternion that has its scalar last (PyBullet, ROS, SciPy)."""
    x, y, z, w = q
    return (w, x, y, z)


def q_to_xyzw(q: Sequence[float]) -> Quat:
    """Put the scalar last (PyBullet, ROS, SciPy)."""
    w, x, y, z = q
    return (x, y, z, w)


def q_multiply_array(a: _FloatArray, b: _FloatArray) -> _FloatArray:
    """Hamilton products (…, 4) of quaternions (…, 4); leading shapes broadcast."""
    aw, ax, ay, az = (a[..., i] for i in range(4))
    bw, bx, by, bz = (b[..., i] for i in range(4))
    return np.stack(
        (
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ),
        axis=-1,
    )


def q_to_matrix_array(q: _FloatArray) -> _FloatArray:
    """Rotation matrices (…, 3, 3) of quaternions (…, 4)."""
    w, x, y, z = (q[..., i] for i in range(4))
    entries = (
        *(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        *(2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        *(2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )
    return np.stack(entries, axis=-1).reshape(*q.shape[:-1], 3, 3)


def q_rotate_array(q: _FloatArray, v: _FloatArray) -> _FloatArray:
    """Body vectors (…, 3) turned into the world by quaternions (…, 4); leading shapes broadcast."""
    u = q[..., 1:]
    t = 2.0 * np.cross(u, v)
    turned: _FloatArray = v + q[..., :1] * t + np.cross(u, t)
    return turned


# --- units ----------------------------------------------------------------------------------------
# To MAVLink's integers a value is rounded to the nearest; ValueError if int32 cannot hold it.


def _int32(what: str, value: float) -> int:
    if not abs(value) <= _INT32_MAX:
        raise ValueError(f"{what} must fit into 32 bits, got {value!r}")
    return round(value)


def deg_to_dege7(angle_deg: float) -> int:
    """Degrees to MAVLink degE7 (latitude, longitude)."""
    return _int32("degE7", angle_deg * 1e7)


def dege7_to_deg(angle_dege7: int) -> float:
    """MAVLink degE7 to degrees."""
    return angle_dege7 / 1e7


def m_to_mm(length_m: float) -> int:
    """Metres to millimetres."""
    return _int32("mm", length_m * 1e3)


def mm_to_m(length_mm: int) -> float:
    """Millimetres to metres."""
    return length_mm / 1e3


def m_to_cm(length_m: float) -> int:
    """Metres to centimetres (or m/s to cm/s)."""
    return _int32("cm", length_m * 1e2)


def cm_to_m(length_cm: int) -> float:
    """Centimetres to metres (or cm/s to m/s)."""
    return length_cm / 1e2


def rad_to_cdeg(angle_rad: float) -> int:
    """Radians to centidegrees, sign kept."""
    return _int32("cdeg", math.degrees(angle_rad) * 1e2)


def cdeg_to_rad(angle_cdeg: int) -> float:
    """Centidegrees to radians."""
    return math.radians(angle_cdeg / 1e2)


def rad_to_heading_cdeg(heading_rad: float) -> int:
    """Radians to a MAVLink heading, 0..35999 centidegrees."""
    return rad_to_cdeg(math.remainder(heading_rad, math.tau)) % 36_000


def pa_to_hpa(pressure_pa: float) -> float:
    """Pascals to hectopascals (millibars)."""
    return pressure_pa / 1e2


def hpa_to_pa(pressure_hpa: float) -> float:
    """Hectopascals (millibars) to pascals."""
    return pressure_hpa * 1e2


def tesla_to_gauss(field_t: float) -> float:
    """Tesla to gauss."""
    return field_t * 1e4


def gauss_to_tesla(field_gauss: float) -> float:
    """Gauss to tesla."""
    return field_gauss / 1e4


def ns_to_us(time_ns: int) -> int:
    """Nanoseconds to whole microseconds that have passed (rounded down)."""
    return time_ns // 1_000


def us_to_ns(time_us: int) -> int:
    """Microseconds to nanoseconds."""
    return time_us * 1_000
