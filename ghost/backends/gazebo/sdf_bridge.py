"""The sensors that PX4's bridge to Gazebo reads: its names, its rates, its noise.

They stand beside Ghost's own, which stay noise-free: PX4 takes a sensor whose reading never changes
for a broken one, and its estimator is tuned to noise. The figures are those of the x500 in PX4's
own model set. Gazebo draws this noise and does not seed it anew with a reset, so what PX4 sees is
not the same twice; what Ghost's sensors say is.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement

from ghost.backends.gazebo.air import pressure_pa
from ghost.core import ConfigError, VehicleSpec

__all__ = ["BRIDGE_SENSORS", "add_bridge_sensors", "bridge_topics"]

BRIDGE_SENSORS = {
    "imu_sensor": ("imu", "imu", 250.0),
    "air_pressure_sensor": ("air_pressure", "air_pressure", 50.0),
    "magnetometer_sensor": ("magnetometer", "magnetometer", 100.0),
    "navsat_sensor": ("navsat", "navsat", 30.0),
}
"""Name on the body's link to SDF's type, the end of the topic, and the rate, Hz."""

_GYRO_RPS = (0.0008726646,) * 3
"""0.05 deg/s, an IIM-42653."""
_ACCEL_MPS2 = (0.00637, 0.00637, 0.00686)
"""0.65 and 0.70 mg, the same."""
_FIELD = (1e-4,) * 3
"""In the unit of the message, gauss: an IIS2MDC."""
_PRESSURE_PA = 3.0
"""A BMP390. (PX4 adds the noise of the GNSS receiver itself.)"""


def bridge_topics(world: str, model: str, link: str) -> dict[str, str]:
    """The topics that PX4 subscribes to, each with what it is for."""
    return {
        f"/world/{world}/model/{model}/link/{link}/sensor/{name}/{end}": f"PX4's {name}"
        for name, (_, end, _) in BRIDGE_SENSORS.items()
    }


def add_bridge_sensors(link: Element, vehicle: VehicleSpec, altitude_m: float) -> None:
    """Append them to the body's link, at its origin; `altitude_m` is the height of z = 0.

    Gazebo leaves the altitude out of the pressure, but not out of the position (see `AirColumn`).
    PX4 takes the two heights for one and the same, and is not ready to arm for five seconds when
    they turn out to be 488 m apart (measured on PX4 1.18 development). So the difference at z = 0
    is put into the noise, as its mean. The pressure then falls with height as fast as at sea level,
    at 488 m by 5 % too fast: no more than on a day that is 14 K colder than the standard says.

    Raises `ConfigError` if a sensor of the vehicle has one of PX4's names.
    """
    for sensor in vehicle.sensors:
        if sensor.id in BRIDGE_SENSORS:
            raise ConfigError(
                f"the sensor id {sensor.id!r} is that of a sensor which PX4's bridge reads; "
                "call yours something else",
                key="vehicle.sensors",
            )
    for name, (kind, _, rate_hz) in BRIDGE_SENSORS.items():
        sensor_element = SubElement(link, "sensor", name=name, type=kind)
        SubElement(sensor_element, "always_on").text = "1"
        SubElement(sensor_element, "update_rate").text = repr(rate_hz)
        if kind == "imu":
            imu = SubElement(sensor_element, "imu")
            _triad(SubElement(imu, "angular_velocity"), _GYRO_RPS)
            _triad(SubElement(imu, "linear_acceleration"), _ACCEL_MPS2)
        elif kind == "magnetometer":
            _triad(SubElement(sensor_element, "magnetometer"), _FIELD)
        elif kind == "air_pressure":
            pressure = SubElement(SubElement(sensor_element, "air_pressure"), "pressure")
            _noise(pressure, _PRESSURE_PA, pressure_pa(altitude_m) - pressure_pa(0.0))


def _triad(parent: Element, sigmas: Iterable[float]) -> None:
    for axis, sigma in zip("xyz", sigmas, strict=True):
        _noise(SubElement(parent, axis), sigma)


def _noise(parent: Element, sigma: float, mean: float = 0.0) -> None:
    noise = SubElement(parent, "noise", type="gaussian")
    SubElement(noise, "mean").text = repr(mean)
    SubElement(noise, "stddev").text = repr(sigma)
