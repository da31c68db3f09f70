"""Satellite receiver: white noise per fix, and a slow wander that averaging does not remove."""

from __future__ import annotations

import math

from ghost.core import GnssNoise, RandomSource, SensorConfig
from ghost.hal import GpsFix, GpsPayload
from ghost.sensing.models.base import NAN3, NON_FINITE, Reading, ToGeodetic, frozen_floats
from ghost.sensing.streams import Lane, LaneNoise
from ghost.sensing.truth import GnssTruth

__all__ = ["GnssModel"]


class GnssModel:
    """Adds the errors of `GnssNoise` in ENU and converts the noisy fix to WGS-84.

    The reported accuracies are one standard deviation per axis of all modelled errors:
    √(white² + wander²).

    A receiver with `velocity_sigma_mps` measures velocity as well (from the Doppler shift, so its
    error has nothing to do with that of the position), in `meta.extensions["vel_enu_mps"]`.
    """

    __slots__ = ("_hacc_m", "_noise", "_to_geodetic", "_vacc_m", "_velocity", "_velocity_noise")

    def __init__(self, config: SensorConfig, source: RandomSource, to_geodetic: ToGeodetic) -> None:
        figures = (config.noise.gnss if config.noise else None) or GnssNoise()
        lanes = [
            Lane.wandering(white, figures.wander_sigma_m, figures.wander_time_s, config.rate_hz)
            for white in (
                figures.horizontal_sigma_m,
                figures.horizontal_sigma_m,
                figures.vertical_sigma_m,
            )
        ]
        self._noise = LaneNoise.of(lanes, source)
        self._velocity = config.measures_velocity
        # A stream of its own: the errors of the position are the same with velocity and without.
        velocity_lanes = [Lane(white_sigma=figures.velocity_sigma_mps or 0.0)] * 3
        self._velocity_noise = LaneNoise.of(velocity_lanes, source.child("velocity"))
        self._hacc_m = math.hypot(figures.horizontal_sigma_m, figures.wander_sigma_m)
        self._vacc_m = math.hypot(figures.vertical_sigma_m, figures.wander_sigma_m)
        self._to_geodetic = to_geodetic

    def measure(self, k: int, truth: GnssTruth) -> Reading:
        """A 3D fix with its errors."""
        e, n, u, velocity = truth
        if self._noise is not None:
            ne, nn, nu = self._noise.row(k)
            e, n, u = e + ne, n + nn, u + nu
        if not math.isfinite(e + n + u):
            return self.invalid(), NON_FINITE
        if not self._velocity or velocity is None:
            return self._fix(e, n, u), None
        if self._velocity_noise is not None:
            ve, vn, vu = self._velocity_noise.row(k)
            velocity = velocity[0] + ve, velocity[1] + vn, velocity[2] + vu
        if not math.isfinite(sum(velocity)):
            return self.invalid(), NON_FINITE
        return self._fix(e, n, u), {"vel_enu_mps": velocity}

    def offset(self, payload: GpsPayload, value: float) -> GpsPayload:
        """Add to east, north and up, m; latitude, longitude and altitude follow.

        A velocity stays as it is: `value` is in metres.
        """
        if payload.fix_type is GpsFix.NO_FIX:
            return payload
        e, n, u = payload.enu_local_m.tolist()
        return self._fix(e + value, n + value, u + value)

    def invalid(self) -> GpsPayload:
        """No fix, every number NaN."""
        nan = math.nan
        return GpsPayload(nan, nan, nan, NAN3, GpsFix.NO_FIX, nan, nan)

    def _fix(self, e: float, n: float, u: float) -> GpsPayload:
        lat, lon, alt = self._to_geodetic(e, n, u)
        return GpsPayload(
            lat, lon, alt, frozen_floats(e, n, u), GpsFix.FIX_3D, self._hacc_m, self._vacc_m
        )
