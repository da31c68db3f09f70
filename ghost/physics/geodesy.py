"""World ENU to WGS-84, in plain floats: a satellite receiver asks for it thirty times a second."""

from __future__ import annotations

import math

import pymap3d

from ghost.core import OriginSpec

__all__ = ["EnuToGeodetic"]

_A_M = 6378137.0
"""Semi-major axis of WGS-84 (NGA.STND.0036)."""
_F = 1.0 / 298.257223563
"""Flattening."""
_B_M = _A_M * (1.0 - _F)
_E2 = _F * (2.0 - _F)
_EP2 = _E2 / (1.0 - _E2)


class EnuToGeodetic:
    """Turns a point of the world (ENU, m) into latitude and longitude (deg) and altitude (m).

    East, north and up are those of the tangent plane at the origin. The latitude is Bowring's
    (B. R. Bowring, "Transformation from spatial to geographical coordinates", Survey Review 23
    (1976)) with one repetition, which leaves less than the rounding of a double within 100 km of
    the ellipsoid. The library `pymap3d` gives the same within 1e-12 deg and 10 nm, at a hundred
    times the cost of a call; it is what the tests compare with.
    """

    __slots__ = ("_origin", "_turn")

    def __init__(self, origin: OriginSpec) -> None:
        x, y, z = pymap3d.geodetic2ecef(origin.lat_deg, origin.lon_deg, origin.alt_m)
        self._origin = (float(x), float(y), float(z))
        lat, lon = math.radians(origin.lat_deg), math.radians(origin.lon_deg)
        self._turn = (math.sin(lat), math.cos(lat), math.sin(lon), math.cos(lon))

    def __call__(self, east_m: float, north_m: float, up_m: float) -> tuple[float, float, float]:
        """Latitude and longitude in degrees, altitude above the ellipsoid in m."""
        x0, y0, z0 = self._origin
        sin_lat, cos_lat, sin_lon, cos_lon = self._turn
        outward = cos_lat * up_m - sin_lat * north_m
        x = x0 + cos_lon * outward - sin_lon * east_m
        y = y0 + sin_lon * outward + cos_lon * east_m
        z = z0 + sin_lat * up_m + cos_lat * north_m
        p = math.hypot(x, y)
        # The reduced latitude as (sin, cos) up to a common factor; the start is Bowring's.
        sin_u, cos_u = z * _A_M, p * _B_M
        for _ in range(2):
            norm = math.hypot(sin_u, cos_u)
            sin_u /= norm
            cos_u /= norm
            rise = z + _EP2 * _B_M * sin_u**3
            run = p - _E2 * _A_M * cos_u**3
            # tan(reduced latitude) = (1 - f)·tan(latitude)
            sin_u, cos_u = (1.0 - _F) * rise, run
        norm = math.hypot(rise, run)
        sine, cosine = rise / norm, run / norm
        radius = _A_M / math.sqrt(1.0 - _E2 * sine * sine)
        # This form of the altitude holds at the poles and at the equator alike.
        altitude = p * cosine + z * sine - radius * (1.0 - _E2 * sine * sine)
        return math.degrees(math.atan2(rise, run)), math.degrees(math.atan2(y, x)), altitude
