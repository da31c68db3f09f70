"""Between the body frame of Ghost and the frame of a body in PyBullet.

Ghost: origin at the vehicle's reference point, axes FLU, quaternion wxyz, rate in body axes.
PyBullet: origin at the centre of mass, axes along the principal axes of inertia (PyBullet takes
three moments and no products), quaternion xyzw, rate in world axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ghost.hal.frames import q_multiply
from ghost.physics import Kinematics, LumpedBody, rotation_of

__all__ = ["BodyFrames"]

Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]


class BodyFrames:
    """Converts states of one vehicle.

    A quaternion and its negative are one attitude, and PyBullet gives either; from `to_bullet` on,
    each attitude that `to_kinematics` gives has the sign that is nearer to the one before.
    """

    def __init__(self, whole: LumpedBody) -> None:
        self._com = whole.com_m
        self.moments_kgm2: Vec3 = whole.inertia_kgm2[:3]
        """About the principal axes, in the order of PyBullet's body axes."""
        self._near: Quat = (1.0, 0.0, 0.0, 0.0)
        self._turned = not whole.is_diagonal
        self._axes: Quat = (1.0, 0.0, 0.0, 0.0)
        """Principal axes to FLU, wxyz."""
        if self._turned:
            self.moments_kgm2, self._axes = _principal(whole.inertia_kgm2)

    def shape_pose(self, centre_m: Sequence[float]) -> tuple[Vec3, Quat]:
        """Place (m) and xyzw attitude, in PyBullet's body frame, of a box given in FLU."""
        w, x, y, z = self._axes
        r = rotation_of(w, x, y, z)
        dx, dy, dz = (a - b for a, b in zip(centre_m, self._com, strict=True))
        place = (
            r[0] * dx + r[3] * dy + r[6] * dz,
            r[1] * dx + r[4] * dy + r[7] * dz,
            r[2] * dx + r[5] * dy + r[8] * dz,
        )
        return place, (-x, -y, -z, w)

    def to_bullet(self, state: Kinematics) -> tuple[Vec3, Quat, Vec3, Vec3]:
        """Centre of mass, xyzw attitude, velocity of the centre of mass, rate in world axes."""
        px, py, pz, qw, qx, qy, qz, vx, vy, vz, p, q, s = state
        r = rotation_of(qw, qx, qy, qz)
        rate = (
            r[0] * p + r[1] * q + r[2] * s,
            r[3] * p + r[4] * q + r[5] * s,
            r[6] * p + r[7] * q + r[8] * s,
        )
        ax, ay, az, lever = self._lever(r, rate)
        attitude = self._near = (qw, qx, qy, qz)
        if self._turned:
            attitude = q_multiply(attitude, self._axes)
        w, x, y, z = attitude
        return (
            (px + lever[0], py + lever[1], pz + lever[2]),
            (x, y, z, w),
            (vx + ax, vy + ay, vz + az),
            rate,
        )

    def to_kinematics(
        self, com_m: Vec3, attitude_xyzw: Quat, velocity_mps: Vec3, rate_world_rps: Vec3
    ) -> Kinematics:
        """The thirteen floats of `Kinematics`."""
        qx, qy, qz, qw = attitude_xyzw
        if self._turned:
            w, x, y, z = self._axes
            qw, qx, qy, qz = q_multiply((qw, qx, qy, qz), (w, -x, -y, -z))
        nw, nx, ny, nz = self._near
        if qw * nw + qx * nx + qy * ny + qz * nz < 0.0:
            qw, qx, qy, qz = -qw, -qx, -qy, -qz
        self._near = (qw, qx, qy, qz)
        r = rotation_of(qw, qx, qy, qz)
        ax, ay, az, lever = self._lever(r, rate_world_rps)
        wx, wy, wz = rate_world_rps
        return (
            com_m[0] - lever[0],
            com_m[1] - lever[1],
            com_m[2] - lever[2],
            qw,
            qx,
            qy,
            qz,
            velocity_mps[0] - ax,
            velocity_mps[1] - ay,
            velocity_mps[2] - az,
            r[0] * wx + r[3] * wy + r[6] * wz,
            r[1] * wx + r[4] * wy + r[7] * wz,
            r[2] * wx + r[5] * wy + r[8] * wz,
        )

    def _lever(self, r: Sequence[float], rate: Sequence[float]) -> tuple[float, float, float, Vec3]:
        """Velocity of the centre of mass about the origin (3), and where it is, world axes."""
        cx, cy, cz = self._com
        lx = r[0] * cx + r[1] * cy + r[2] * cz
        ly = r[3] * cx + r[4] * cy + r[5] * cz
        lz = r[6] * cx + r[7] * cy + r[8] * cz
        wx, wy, wz = rate
        return wy * lz - wz * ly, wz * lx - wx * lz, wx * ly - wy * lx, (lx, ly, lz)


def _principal(inertia: Sequence[float]) -> tuple[Vec3, Quat]:
    """Principal moments and the rotation (wxyz) from principal axes to body axes."""
    ixx, iyy, izz, ixy, ixz, iyz = inertia
    moments, axes = np.linalg.eigh([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]  # a mirror is no rotation
    a, b, c = moments.tolist()
    return (a, b, c), _quaternion(axes.tolist())


def _quaternion(m: Sequence[Sequence[float]]) -> Quat:
    """Unit quaternion (wxyz) of a rotation matrix, by its largest component (Shepperd 1978)."""
    (a, b, c), (d, e, f), (g, h, i) = m
    squares = (1.0 + a + e + i, 1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i)
    largest = max(range(4), key=squares.__getitem__)
    root = 2.0 * math.sqrt(squares[largest])
    own = 0.25 * root
    if largest == 0:
        return own, (h - f) / root, (c - g) / root, (d - b) / root
    if largest == 1:
        return (h - f) / root, own, (b + d) / root, (c + g) / root
    if largest == 2:
        return (c - g) / root, (b + d) / root, own, (f + h) / root
    return (d - b) / root, (c + g) / root, (f + h) / root, own
