"""What a vehicle file says about the imperfections of a sensor (D19).

These are plain figures; `ghost.sensing` turns them into random draws. White noise is given as a
density (per √Hz) or, where a sensor is not usually specified that way, as a standard deviation per
sample; the name of the field says which. Per-axis fields hold three values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ghost.core.checks import Vec3, check_finite

__all__ = [
    "AltimeterNoise",
    "BarometerNoise",
    "FlowNoise",
    "GnssNoise",
    "ImageNoise",
    "ImuNoise",
    "MagnetometerNoise",
    "NoiseModel",
    "RangeNoise",
    "TriadNoise",
]

_STRICT: dict[str, Any] = {"extra": "forbid"}
_ZERO: Vec3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class TriadNoise:
    """Three axes of an inertial sensor, in the sensor's unit `u` (m/s² or rad/s)."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    white_density: Vec3 = _ZERO
    """White noise density, u/√Hz."""
    bias: Vec3 = _ZERO
    """Constant offset, u."""
    random_walk_density: Vec3 = _ZERO
    """Density of the bias random walk, u/s/√Hz (that is u/√s)."""
    quantum: float = 0.0
    """Size of one digital step, u; 0 leaves the value as it is."""
    limit: float | None = None
    """Full scale: values are clipped to ±limit, u."""

    def __post_init__(self) -> None:
        check_finite(self, "white_density", "random_walk_density", "quantum", minimum=0.0)
        check_finite(self, "bias")
        check_finite(self, "limit", minimum=0.0)


@dataclass(frozen=True, slots=True)
class ImuNoise:
    """Accelerometer and gyroscope, each with bias, bias random walk and white noise."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    accel: TriadNoise = TriadNoise()
    """Accelerometer, unit m/s²."""
    gyro: TriadNoise = TriadNoise()
    """Gyroscope, unit rad/s."""


@dataclass(frozen=True, slots=True)
class MagnetometerNoise:
    """Magnetic field noise."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    white_sigma_t: Vec3 = _ZERO
    """Standard deviation per sample and axis, T (1 gauss is 1e-4 T)."""
    bias_t: Vec3 = _ZERO
    """Constant offset (hard iron) in sensor axes, T."""

    def __post_init__(self) -> None:
        check_finite(self, "white_sigma_t", minimum=0.0)
        check_finite(self, "bias_t")


@dataclass(frozen=True, slots=True)
class BarometerNoise:
    """Static pressure noise."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    white_sigma_pa: float = 0.0
    """Standard deviation per sample, Pa (12 Pa is about one metre)."""
    bias_pa: float = 0.0
    """Constant offset, Pa."""
    random_walk_pa_sqrt_s: float = 0.0
    """Slow drift of the offset, Pa/√s."""

    def __post_init__(self) -> None:
        check_finite(self, "white_sigma_pa", "random_walk_pa_sqrt_s", minimum=0.0)
        check_finite(self, "bias_pa")


@dataclass(frozen=True, slots=True)
class GnssNoise:
    """Position noise: white per fix, plus a slow first-order Gauss-Markov wander."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    horizontal_sigma_m: float = 0.0
    """Standard deviation per fix, east and north each, m."""
    vertical_sigma_m: float = 0.0
    """Standard deviation per fix, up, m."""
    wander_sigma_m: float = 0.0
    """Steady-state standard deviation of the slow error on each axis, m."""
    wander_time_s: float = 60.0
    """Correlation time of the slow error, s."""
    velocity_sigma_mps: float | None = None
    """Standard deviation of the velocity per fix and axis, m/s. Where it is given, 0 included, the
    receiver measures velocity too: `meta.extensions["vel_enu_mps"]` of its samples, world ENU."""

    def __post_init__(self) -> None:
        check_finite(
            self,
            "horizontal_sigma_m",
            "vertical_sigma_m",
            "wander_sigma_m",
            "velocity_sigma_mps",
            minimum=0.0,
        )
        check_finite(self, "wander_time_s", minimum=1e-3)


@dataclass(frozen=True, slots=True)
class AltimeterNoise:
    """Altitude noise."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    white_sigma_m: float = 0.0
    """Standard deviation per sample, m."""
    bias_m: float = 0.0
    """Constant offset, m."""

    def __post_init__(self) -> None:
        check_finite(self, "white_sigma_m", minimum=0.0)
        check_finite(self, "bias_m")


@dataclass(frozen=True, slots=True)
class RangeNoise:
    """Noise of a measured distance (depth camera, LiDAR)."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    sigma_m: float = 0.0
    """Part of the standard deviation that does not depend on distance, m."""
    sigma_ratio: float = 0.0
    """Part that grows with distance: standard deviation per metre measured."""
    dropout_ratio: float = 0.0
    """Fraction of returns that are lost (NaN for depth, absent for LiDAR), 0..1."""

    def __post_init__(self) -> None:
        check_finite(self, "sigma_m", "sigma_ratio", minimum=0.0)
        check_finite(self, "dropout_ratio", minimum=0.0, maximum=1.0)


@dataclass(frozen=True, slots=True)
class FlowNoise:
    """Optical-flow noise."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    sigma_rad: float = 0.0
    """Standard deviation of the integrated angle per sample and axis, rad."""

    def __post_init__(self) -> None:
        check_finite(self, "sigma_rad", minimum=0.0)


@dataclass(frozen=True, slots=True)
class ImageNoise:
    """Imperfections of a colour camera."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    read_sigma: float = 0.0
    """Standard deviation of each channel, in 8-bit grey levels."""
    exposure_sigma: float = 0.0
    """Standard deviation of the frame's gain around 1 (auto-exposure flicker)."""
    dropout_ratio: float = 0.0
    """Fraction of frames that are lost (a gap in `seq`), 0..1."""
    motion_blur: bool = False
    """Smear the image along the apparent motion during the exposure."""

    def __post_init__(self) -> None:
        check_finite(self, "read_sigma", "exposure_sigma", minimum=0.0)
        check_finite(self, "dropout_ratio", minimum=0.0, maximum=1.0)


@dataclass(frozen=True, slots=True)
class NoiseModel:
    """Everything a sensor does to the truth. Only the part of the sensor's own type may be set."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    clock_drift_ppm: float = 0.0
    """Rate error of the sensor's clock: `stamp_sensor_ns = t·(1 + ppm·1e-6)`; at most ±10000."""
    imu: ImuNoise | None = None
    """For `imu`."""
    magnetometer: MagnetometerNoise | None = None
    """For `magnetometer`."""
    barometer: BarometerNoise | None = None
    """For `barometer`."""
    gnss: GnssNoise | None = None
    """For `gps`."""
    altimeter: AltimeterNoise | None = None
    """For `altimeter`."""
    range: RangeNoise | None = None
    """For `depth` and `lidar`."""
    flow: FlowNoise | None = None
    """For `optical_flow`."""
    image: ImageNoise | None = None
    """For `rgb`."""

    def __post_init__(self) -> None:
        check_finite(self, "clock_drift_ppm", minimum=-10_000.0, maximum=10_000.0)
