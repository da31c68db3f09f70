"""Gazebo's static pressure at the height above sea level that the scenario means."""

from __future__ import annotations

__all__ = ["AirColumn", "height_m", "pressure_pa"]

_SEA_LEVEL_PA = 101325.0
_SEA_LEVEL_K = 288.15
_LAPSE_K_PER_M = 0.0065
_EARTH_M = 6356766.0
_EXPONENT = 9.80665 * 28.9644 / (8314.32 * _LAPSE_K_PER_M)
"""U.S. Standard Atmosphere 1976, with the figures of Gazebo's air pressure sensor."""


def pressure_pa(altitude_m: float) -> float:
    """Static pressure at a height above sea level, below 11 km."""
    geopotential_m = _EARTH_M * altitude_m / (_EARTH_M + altitude_m)
    local_k = _SEA_LEVEL_K - _LAPSE_K_PER_M * geopotential_m
    return float(_SEA_LEVEL_PA * (local_k / _SEA_LEVEL_K) ** _EXPONENT)


def height_m(pressure: float) -> float:
    """The height above sea level at which the atmosphere has this pressure."""
    local_k = _SEA_LEVEL_K * (pressure / _SEA_LEVEL_PA) ** (1.0 / _EXPONENT)
    geopotential_m = (_SEA_LEVEL_K - local_k) / _LAPSE_K_PER_M
    return float(_EARTH_M * geopotential_m / (_EARTH_M - geopotential_m))


class AirColumn:
    """Lifts readings to the origin's altitude, where a server leaves it out.

    Gazebo Sim 8 takes z of the world for the height above sea level and leaves the sensor's
    `<reference_altitude>` and the world's `<elevation>` out (measured on 8.14). The first reading
    of a run tells whether this server does, by which of the two heights it is nearer to.
    """

    __slots__ = ("_lift_m", "_origin_m")

    def __init__(self, origin_altitude_m: float) -> None:
        self._origin_m = origin_altitude_m
        self._lift_m: float | None = None

    def at_origin(self, pressure: float, z_m: float) -> float:
        """The pressure (Pa) for a reading that was taken at `z_m` of the world."""
        if self._lift_m is None:
            seen_m = height_m(pressure)
            left_out = abs(seen_m - z_m) < abs(seen_m - z_m - self._origin_m)
            self._lift_m = self._origin_m if left_out else 0.0
        if not self._lift_m:
            return pressure
        return pressure_pa(height_m(pressure) + self._lift_m)
