"""The little geometry that the checks need, written out so that they depend on no backend's own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "angle_between",
    "earth_radii_m",
    "quaternion_from_rotation_vector",
    "quaternion_product",
    "rotation_matrix",
]

Array = npt.NDArray[np.float64]

WGS84_A_M = 6_378_137.0
"""Semi-major axis (NIMA TR8350.2)."""
WGS84_E2 = 6.694_379_990_14e-3
"""First eccentricity squared (NIMA TR8350.2)."""


def rotation_matrix(q: Any) -> Array:
    """Matrix of a unit quaternion (w, x, y, z): turns body components into world components."""
    w, x, y, z = (float(c) for c in q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_product(p: Any, q: Any) -> Array:
    """Hamilton product p·q of quaternions (w, x, y, z)."""
    a, b, c, d = (float(v) for v in p)
    w, x, y, z = (float(v) for v in q)
    return np.array(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ]
    )


def quaternion_from_rotation_vector(vector: Any) -> Array:
    """Unit quaternion of a rotation by |vector| radians about its direction."""
    x, y, z = (float(v) for v in vector)
    angle = math.sqrt(x * x + y * y + z * z)
    # sin(a/2)/a tends to 1/2, where the quotient would be 0/0.
    scale = 0.5 if angle < 1e-12 else math.sin(angle / 2) / angle
    return np.array([math.cos(angle / 2), x * scale, y * scale, z * scale])


def angle_between(p: Any, q: Any) -> float:
    """Angle of the rotation that leads from one unit quaternion to another, rad."""
    dot = abs(float(np.dot(p, q)))
    return 2.0 * math.acos(min(1.0, dot))


def earth_radii_m(lat_deg: float) -> tuple[float, float]:
    """Radii of curvature of the WGS-84 ellipsoid: along the meridian, and across it, m."""
    s2 = math.sin(math.radians(lat_deg)) ** 2
    across = WGS84_A_M / math.sqrt(1.0 - WGS84_E2 * s2)
    meridian = across * (1.0 - WGS84_E2) / (1.0 - WGS84_E2 * s2)
    return meridian, across
