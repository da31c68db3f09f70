"""What each sensor should have measured, from the truth at the time of capture.

The formulas are those of the world: they say nothing of noise. A measure without `expected` is
drawn alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ghost.core import ScenarioSpec
from ghost.hal import (
    AltimeterPayload,
    BarometerPayload,
    DepthImagePayload,
    EventCameraPayload,
    GpsPayload,
    IMUPayload,
    MagnetometerPayload,
    OpticalFlowPayload,
    PointCloudPayload,
    RGBImagePayload,
)
from ghost.hal.frames import q_from_rpy, q_multiply, q_rotate, q_rotate_inverse
from ghost.report.truth import TruthState

__all__ = ["Measure", "Place", "measures_of"]

Vec3 = tuple[float, float, float]
Numbers = tuple[float, ...]
NAN = math.nan
XYZ = ("x", "y", "z")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sensor sits and in what world; the defaults are those of a file that is silent."""

    pos: Vec3 = (0.0, 0.0, 0.0)
    q: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    """Sensor axes to body axes."""
    gravity: float = 9.80665
    field_t: Vec3 | None = None
    origin_alt_m: float | None = None
    period_s: float = 0.0

    @classmethod
    def of(cls, spec: ScenarioSpec | None, sensor_id: str) -> Place:
        """Look a sensor up in the scenario."""
        if spec is None:
            return cls()
        world = spec.world
        for sensor in spec.vehicle.sensors:
            if sensor.id == sensor_id:
                roll, pitch, yaw = (math.radians(angle) for angle in sensor.mount.rpy_deg)
                return cls(
                    sensor.mount.pos_m,
                    q_from_rpy(roll, pitch, yaw),
                    world.gravity_mps2,
                    world.magnetic_field_enu_t,
                    world.origin.alt_m,
                    1.0 / sensor.rate_hz,
                )
        return cls()

    def into_sensor(self, body: Vec3) -> Vec3:
        """Turn body axes into sensor axes."""
        return q_rotate_inverse(self.q, body)

    def pose(self, truth: TruthState) -> tuple[Vec3, tuple[float, float, float, float]]:
        """Position of the sensor in the world, and its axes."""
        x, y, z = q_rotate(truth.q, self.pos)
        px, py, pz = truth.pos
        return (px + x, py + y, pz + z), q_multiply(truth.q, self.q)


Take = Callable[[Any], Numbers]
Expect = Callable[[TruthState, Place, Any], Numbers | None]


@dataclass(frozen=True, slots=True)
class Measure:
    """One quantity of a payload, as it is drawn."""

    key: str
    title: str
    unit: str
    labels: tuple[str, ...]
    take: Take
    expected: Expect | None = None
    digits: int = 4
    """Significant digits in tables."""
    lag_ns: Callable[[Any], int] | None = None
    """How long before the capture the middle of what was measured lies."""


def _cross(a: Vec3, b: Vec3) -> Vec3:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _specific_force(truth: TruthState, place: Place, _: Any) -> Numbers:
    """R^T·(a + g) with the lever arm α × r + ω × (ω × r), in sensor axes."""
    ax, ay, az = truth.acc
    fx, fy, fz = q_rotate_inverse(truth.q, (ax, ay, az + place.gravity))
    if any(place.pos):
        ex, ey, ez = _cross(truth.alpha, place.pos)
        cx, cy, cz = _cross(truth.rate, _cross(truth.rate, place.pos))
        fx, fy, fz = fx + ex + cx, fy + ey + cy, fz + ez + cz
    return place.into_sensor((fx, fy, fz))


def _angular_rate(truth: TruthState, place: Place, _: Any) -> Numbers:
    return place.into_sensor(truth.rate)


def _position(truth: TruthState, place: Place, _: Any) -> Numbers:
    return place.pose(truth)[0]


def _magnetic_field(truth: TruthState, place: Place, _: Any) -> Numbers | None:
    if place.field_t is None:
        return None
    x, y, z = place.into_sensor(q_rotate_inverse(truth.q, place.field_t))
    return x * 1e6, y * 1e6, z * 1e6


def _isa_height_m(pressure_pa: float) -> float:
    """Height above mean sea level of the standard atmosphere (ISO 2533:1975), m."""
    if not 0.0 < pressure_pa < 1e6:
        return NAN
    return float((1.0 - (pressure_pa / 101325.0) ** (1.0 / 5.25588)) / 2.25577e-5)


def _height_amsl(truth: TruthState, place: Place, _: Any) -> Numbers | None:
    if place.origin_alt_m is None:
        return None
    return (place.pose(truth)[0][2] + place.origin_alt_m,)


def _height(truth: TruthState, place: Place, payload: AltimeterPayload) -> Numbers | None:
    if payload.reference == "AMSL":
        return _height_amsl(truth, place, payload)
    return (place.pose(truth)[0][2],)


def _half(payload: OpticalFlowPayload) -> int:
    return payload.integration_ns // 2


def _flow_rate(payload: OpticalFlowPayload) -> Numbers:
    dt = payload.integration_ns * 1e-9
    x, y = payload.flow_rad.tolist()
    return (x / dt, y / dt) if dt > 0.0 else (NAN, NAN)


def _flow_own(payload: OpticalFlowPayload) -> Numbers:
    dt = payload.integration_ns * 1e-9
    x, y, z = payload.gyro_rad.tolist()
    return (x / dt, y / dt, z / dt) if dt > 0.0 else (NAN, NAN, NAN)


def _micro(payload: MagnetometerPayload) -> Numbers:
    x, y, z = payload.field_t.tolist()
    return x * 1e6, y * 1e6, z * 1e6


def _brightness(payload: RGBImagePayload) -> Numbers:
    # Every eighth row and column is plenty for a mean.
    return (float(payload.image[::8, ::8].mean()),)


def _depths(payload: DepthImagePayload) -> Numbers:
    seen = payload.depth_m[np.isfinite(payload.depth_m)]
    if not seen.size:
        return NAN, NAN
    return float(seen.min()), float(np.median(seen))


def _valid(payload: DepthImagePayload) -> Numbers:
    return (100.0 * float(np.isfinite(payload.depth_m).mean()),)


def _ranges(payload: PointCloudPayload) -> Numbers:
    if not len(payload.points_m):
        return NAN, NAN
    distance = np.sqrt((payload.points_m.astype(np.float64) ** 2).sum(axis=1))
    return float(distance.min()), float(np.median(distance))


_MEASURES: Mapping[type, tuple[Measure, ...]] = {
    IMUPayload: (
        Measure(
            "accel",
            "Specific force",
            "m/s²",
            XYZ,
            lambda p: tuple(p.accel_mps2.tolist()),
            _specific_force,
        ),
        Measure(
            "gyro",
            "Angular rate",
            "rad/s",
            XYZ,
            lambda p: tuple(p.gyro_rps.tolist()),
            _angular_rate,
        ),
    ),
    BarometerPayload: (
        Measure(
            "height",
            "Height by the standard atmosphere",
            "m",
            ("height",),
            lambda p: (_isa_height_m(p.pressure_pa),),
            _height_amsl,
        ),
    ),
    GpsPayload: (
        Measure(
            "position",
            "Position, world ENU",
            "m",
            ("east", "north", "up"),
            lambda p: tuple(p.enu_local_m.tolist()),
            _position,
        ),
    ),
    AltimeterPayload: (
        Measure("height", "Height", "m", ("height",), lambda p: (p.altitude_m,), _height),
    ),
    MagnetometerPayload: (
        Measure("field", "Magnetic flux density", "µT", XYZ, _micro, _magnetic_field),
    ),
    OpticalFlowPayload: (
        Measure("flow", "Apparent rotation of the scene", "rad/s", ("x", "y"), _flow_rate),
        Measure("own", "Own rotation", "rad/s", XYZ, _flow_own, _angular_rate, lag_ns=_half),
        Measure("distance", "Distance", "m", ("distance",), lambda p: (p.distance_m,)),
        Measure("quality", "Quality", "of 255", ("quality",), lambda p: (float(p.quality),)),
    ),
    RGBImagePayload: (Measure("mean", "Mean brightness", "of 255", ("brightness",), _brightness),),
    DepthImagePayload: (
        Measure("depth", "Depth", "m", ("nearest", "median"), _depths),
        Measure("valid", "Valid pixels", "%", ("valid",), _valid),
    ),
    PointCloudPayload: (
        Measure("range", "Range", "m", ("nearest", "median"), _ranges),
        Measure("returns", "Returns", "points", ("returns",), lambda p: (float(len(p.points_m)),)),
    ),
    EventCameraPayload: (
        Measure(
            "events", "Events in a packet", "events", ("events",), lambda p: (float(len(p.x)),)
        ),
    ),
}


def measures_of(payload_class: type) -> tuple[Measure, ...]:
    """Return what is drawn of a payload class; nothing for one that is unknown."""
    return _MEASURES.get(payload_class, ())
