"""What a sensor measures → the message that Gazebo would publish."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from google.protobuf.message import Message

from ghost.core import LidarSpec, RandomStream, SensorConfig
from ghost.gz.msgs import (
    IMU,
    Altimeter,
    FluidPressure,
    Header,
    Image,
    LaserScan,
    Magnetometer,
    NavSat,
    PixelFormatType,
)
from ghost.gz.world.stamps import fill_time
from ghost.physics import rotation_of
from ghost.physics.geodesy import EnuToGeodetic

from .flight import Flight
from .options import ServerOptions

__all__ = ["Reading", "TOPIC_ENDS", "fill_header", "link_topic", "make_reading", "sensor_name"]

Reading = Callable[[], Message]

TOPIC_ENDS = {
    "imu": ("imu", "gz.msgs.IMU"),
    "magnetometer": ("magnetometer", "gz.msgs.Magnetometer"),
    "barometer": ("air_pressure", "gz.msgs.FluidPressure"),
    "gps": ("navsat", "gz.msgs.NavSat"),
    "altimeter": ("altimeter", "gz.msgs.Altimeter"),
    "rgb": ("image", "gz.msgs.Image"),
    "depth": ("depth_image", "gz.msgs.Image"),
    "lidar": ("scan", "gz.msgs.LaserScan"),
}
"""Last part of the topic, and the type, by kind of sensor. Gazebo has no others of Ghost's."""

_PX4_NAMES = {
    "imu": "imu_sensor",
    "magnetometer": "magnetometer_sensor",
    "barometer": "air_pressure_sensor",
    "gps": "navsat_sensor",
}
_SIGMA = {"gyro": 0.00087, "accel": 0.00637, "pressure_pa": 3.0, "field": 1e-4}


def sensor_name(options: ServerOptions, sensor: SensorConfig) -> str:
    """The name of a sensor in the model."""
    return _PX4_NAMES.get(sensor.type, sensor.id) if options.layout == "px4" else sensor.id


def link_topic(options: ServerOptions, sensor: SensorConfig) -> str:
    """Gazebo's default topic of a sensor on the body's link."""
    return (
        f"/world/{options.world}/model/{options.model}/link/base_link/sensor/"
        f"{sensor_name(options, sensor)}/{TOPIC_ENDS[sensor.type][0]}"
    )


def fill_header(header: Header, stamp_ns: int, frame: str, seq: int) -> None:
    """Stamp, frame and number, as Gazebo's sensors fill them in."""
    fill_time(header.stamp, stamp_ns)
    header.data.add(key="frame_id", value=[frame])
    header.data.add(key="seq", value=[str(seq)])


def make_reading(
    options: ServerOptions, sensor: SensorConfig, flight: Flight, noise: RandomStream | None
) -> Reading:
    """Return what makes the sensor's message (without header) of the present state."""
    kind = sensor.type
    if kind == "imu":
        return lambda: _imu(options, sensor, flight, noise)
    if kind == "magnetometer":
        return lambda: _magnetometer(options, sensor, flight, noise)
    if kind == "barometer":
        return lambda: _pressure(options, flight, noise)
    if kind == "gps":
        geodetic = EnuToGeodetic(options.scenario.world.origin)
        return lambda: _navsat(flight, geodetic)
    if kind == "altimeter":
        start_m = flight.state[2]
        return lambda: Altimeter(
            vertical_position=flight.state[2] - start_m,
            vertical_velocity=flight.state[9],
            vertical_reference=start_m,
        )
    if kind == "lidar" and sensor.lidar is not None:
        lidar = sensor.lidar
        return lambda: _scan(options, sensor, lidar, flight)
    return lambda: _picture(sensor, flight)


def _shaken(noise: RandomStream | None, sigma: float, *values: float) -> tuple[float, ...]:
    """Add white noise, from a stream that only the process start seeds."""
    if noise is None:
        return values
    return tuple(value + float(noise.normal(0.0, sigma)) for value in values)


def _imu(
    options: ServerOptions, sensor: SensorConfig, flight: Flight, noise: RandomStream | None
) -> IMU:
    truth = flight.readers[sensor.id]()
    message = IMU(entity_name=f"{options.model}::base_link::{sensor_name(options, sensor)}")
    q = message.orientation
    q.w, q.x, q.y, q.z = flight.state[3:7]
    rate, accel = message.angular_velocity, message.linear_acceleration
    rate.x, rate.y, rate.z = _shaken(noise, _SIGMA["gyro"], truth.gx, truth.gy, truth.gz)
    accel.x, accel.y, accel.z = _shaken(noise, _SIGMA["accel"], truth.ax, truth.ay, truth.az)
    return message


def _magnetometer(
    options: ServerOptions, sensor: SensorConfig, flight: Flight, noise: RandomStream | None
) -> Magnetometer:
    message = Magnetometer()
    field = message.field_tesla
    if options.layout == "px4":
        # Harmonic turns the vector (north, east, down), in gauss, into the body as if it were
        # (east, north, up): left-handed.
        east, north, up = (1e4 * value for value in options.scenario.world.magnetic_field_enu_t)
        r = rotation_of(*flight.state[3:7])
        values = tuple(r[i] * north + r[3 + i] * east - r[6 + i] * up for i in range(3))
        sigma = _SIGMA["field"]
    else:
        truth = flight.readers[sensor.id]()
        values = (truth.bx, truth.by, truth.bz)
        sigma = 1e-4 * _SIGMA["field"]
    field.x, field.y, field.z = _shaken(noise, sigma, *values)
    return message


def _pressure(options: ServerOptions, flight: Flight, noise: RandomStream | None) -> FluidPressure:
    # The 1976 standard atmosphere with the figures of Gazebo's sensor; seen: 101319 Pa at 0.5 m.
    altitude_m = options.scenario.world.origin.alt_m + flight.state[2]
    local_k = 288.15 - 0.0065 * altitude_m
    pressure = 101325.0 / (288.15 / local_k) ** 5.2561
    (pressure,) = _shaken(noise, _SIGMA["pressure_pa"], pressure)
    return FluidPressure(pressure=pressure, variance=0.0 if noise is None else 9.0)


def _navsat(flight: Flight, geodetic: EnuToGeodetic) -> NavSat:
    state = flight.state
    lat, lon, alt = geodetic(state[0], state[1], state[2])
    return NavSat(
        latitude_deg=lat,
        longitude_deg=lon,
        altitude=alt,
        velocity_east=state[7],
        velocity_north=state[8],
        velocity_up=state[9],
        frame_id="base_link",
    )


def _scan(
    options: ServerOptions, sensor: SensorConfig, lidar: LidarSpec, flight: Flight
) -> LaserScan:
    ranges = np.nan_to_num(flight.readers[sensor.id]().range_m, nan=math.inf)
    half_h, half_v = math.radians(lidar.hfov_deg) / 2.0, math.radians(lidar.vfov_deg) / 2.0
    steps = max(lidar.columns if lidar.hfov_deg == 360.0 else lidar.columns - 1, 1)
    return LaserScan(
        frame=f"{options.model}::base_link::{sensor.id}",
        angle_min=-half_h,
        angle_max=-half_h + 2.0 * half_h * (lidar.columns - 1) / steps,
        angle_step=2.0 * half_h / steps,
        range_min=lidar.min_range_m,
        range_max=lidar.max_range_m,
        count=lidar.columns,
        vertical_angle_min=-half_v,
        vertical_angle_max=half_v,
        vertical_angle_step=2.0 * half_v / max(lidar.rows - 1, 1),
        vertical_count=lidar.rows,
        ranges=ranges.astype(np.float64).tolist(),
        intensities=[0.0] * len(ranges),
    )


def _picture(sensor: SensorConfig, flight: Flight) -> Image:
    truth = flight.readers[sensor.id]()
    if sensor.type == "depth":
        depth = np.nan_to_num(truth.depth_m, nan=math.inf).astype("<f4")
        pixels, size, kind = depth, 4, PixelFormatType.R_FLOAT32
    else:
        pixels, size, kind = truth.image, 3, PixelFormatType.RGB_INT8
    height, width = pixels.shape[:2]
    return Image(
        width=width,
        height=height,
        step=width * size,
        data=pixels.tobytes(),
        pixel_format_type=kind,
    )
