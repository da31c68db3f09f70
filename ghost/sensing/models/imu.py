"""Inertial measurement unit: bias, random walk, white noise, quantisation, full scale (D19)."""

from __future__ import annotations

from math import isfinite

import numpy as np

from ghost.core import ImuNoise, RandomSource, SensorConfig, TriadNoise
from ghost.hal import IMUPayload
from ghost.sensing.models.base import NAN3, NON_FINITE, Reading
from ghost.sensing.streams import Lane, LaneNoise
from ghost.sensing.truth import ImuTruth

__all__ = ["ImuModel"]

Triad = tuple[float, float, float]


class ImuModel:
    """Adds the errors of `ImuNoise`; a value beyond full scale is clipped and FAULTY."""

    __slots__ = ("_figures", "_noise", "_shaped")

    def __init__(self, config: SensorConfig, source: RandomSource) -> None:
        figures = (config.noise.imu if config.noise else None) or ImuNoise()
        self._figures = figures
        lanes = [
            Lane.inertial(white, bias, walk, config.rate_hz)
            for triad in (figures.accel, figures.gyro)
            for white, bias, walk in zip(
                triad.white_density, triad.bias, triad.random_walk_density, strict=True
            )
        ]
        self._noise = LaneNoise.of(lanes, source)
        self._shaped = any(
            triad.quantum > 0.0 or triad.limit is not None
            for triad in (figures.accel, figures.gyro)
        )

    def measure(self, k: int, truth: ImuTruth) -> Reading:
        """The hot path of the package: plain floats, and one array made for each triad."""
        ax, ay, az, gx, gy, gz = truth
        if self._noise is not None:
            nax, nay, naz, ngx, ngy, ngz = self._noise.row(k)
            ax += nax
            ay += nay
            az += naz
            gx += ngx
            gy += ngy
            gz += ngz
        error: str | None = None
        if not isfinite(ax + ay + az + gx + gy + gz):
            error = NON_FINITE
        elif self._shaped:
            (ax, ay, az), over_a = _shape(self._figures.accel, (ax, ay, az), "accel", "m/s²")
            (gx, gy, gz), over_g = _shape(self._figures.gyro, (gx, gy, gz), "gyro", "rad/s")
            error = "; ".join(text for text in (over_a, over_g) if text) or None
        accel = np.array((ax, ay, az), np.float64)
        accel.setflags(write=False)
        gyro = np.array((gx, gy, gz), np.float64)
        gyro.setflags(write=False)
        return IMUPayload(accel, gyro), error

    def offset(self, payload: IMUPayload, value: float) -> IMUPayload:
        """Add to all three axes of both triads."""
        return IMUPayload(payload.accel_mps2 + value, payload.gyro_rps + value)

    def invalid(self) -> IMUPayload:
        """All six NaN."""
        return IMUPayload(NAN3, NAN3)


def _shape(figures: TriadNoise, values: Triad, name: str, unit: str) -> tuple[Triad, str | None]:
    """Quantise, then clip to full scale; the text says which axes were beyond it."""
    quantum, limit = figures.quantum, figures.limit
    x, y, z = values
    if quantum > 0.0:
        x, y, z = (
            round(x / quantum) * quantum,
            round(y / quantum) * quantum,
            round(z / quantum) * quantum,
        )
    if limit is None or max(x, y, z, -x, -y, -z) <= limit:
        return (x, y, z), None
    over = "".join(axis for axis, v in zip("xyz", (x, y, z), strict=True) if abs(v) > limit)
    clipped = (
        min(max(x, -limit), limit),
        min(max(y, -limit), limit),
        min(max(z, -limit), limit),
    )
    return clipped, f"{name} {over} out of range: clipped to ±{limit:g} {unit}"
