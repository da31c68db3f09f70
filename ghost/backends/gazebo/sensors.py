"""Native → truth: Gazebo's noise-free messages become what Ghost's sensing channels measure.

A message waits in its mailbox until the channel's own grid asks for it; only then is it decoded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pymap3d

from ghost.backends.gazebo.air import AirColumn
from ghost.backends.gazebo.ground import Ground
from ghost.backends.gazebo.lateness import Lateness
from ghost.backends.gazebo.magnetism import Magnetism
from ghost.backends.gazebo.sdf_model import LINK, RENDERED, SDF_TYPES, sensor_rate_hz
from ghost.backends.gazebo.truth import TruthTracker
from ghost.backends.gazebo.wire_images import depth_view, packed_ranges, rgb_view, scan_ranges
from ghost.core import ScenarioSpec, SensorConfig, VehicleSpec
from ghost.gz.msgs import IMU, Altimeter, FluidPressure, Magnetometer, NavSat
from ghost.gz.transport import Incoming
from ghost.gz.world import SensorTopic, sensor_period_ns
from ghost.hal.frames import q_from_rpy, q_multiply, q_rotate, q_rotate_inverse
from ghost.sensing import (
    AltimeterTruth,
    BaroTruth,
    DepthTruth,
    GnssTruth,
    ImuTruth,
    LidarTruth,
    MagTruth,
    RgbTruth,
    camera_intrinsics,
)

__all__ = ["GazeboSensors", "Mailbox", "make_mailboxes", "missing_sensors", "sensor_topic"]

_ENDS = {
    "imu": ("imu", "gz.msgs.IMU"),
    "magnetometer": ("magnetometer", "gz.msgs.Magnetometer"),
    "barometer": ("air_pressure", "gz.msgs.FluidPressure"),
    "gps": ("navsat", "gz.msgs.NavSat"),
    "altimeter": ("altimeter", "gz.msgs.Altimeter"),
    "rgb": ("image", "gz.msgs.Image"),
    "depth": ("depth_image", "gz.msgs.Image"),
    "lidar": ("scan", "gz.msgs.LaserScan"),
}
_CLOUD_END, _CLOUD_TYPE = "/points", "gz.msgs.PointCloudPacked"
_LAPSE_K_PER_M = 0.0065
"""International Standard Atmosphere (ISO 2533:1975)."""


def missing_sensors(vehicle: VehicleSpec) -> dict[str, str]:
    """The sensors that Gazebo does not have, each with the reason."""
    return {
        sensor.id: f"Gazebo has no sensor of type {sensor.type}"
        for sensor in vehicle.sensors
        if sensor.type not in SDF_TYPES
    }


def sensor_topic(world: str, model: str, sensor: SensorConfig) -> str:
    """Gazebo's own name for the topic of a sensor on the body's link."""
    end = _ENDS[sensor.type][0]
    return f"/world/{world}/model/{model}/link/{LINK}/sensor/{sensor.id}/{end}"


@dataclass(slots=True)
class Mailbox:
    """The newest message of one sensor."""

    sensor_id: str
    topic: str
    type: str
    period_ns: int
    """As Gazebo keeps it; 0 for every step."""
    rendered: bool
    stamp_ns: int = -1
    data: bytes = b""

    def put(self, message: Incoming, stamp_ns: int) -> None:
        """Keep it; it takes the place of the last one."""
        self.stamp_ns = stamp_ns
        self.data = message.data

    def topic_for_world(self) -> SensorTopic:
        """What `WorldControl` listens to."""
        return SensorTopic(
            self.topic, self.type, self.put, period_ns=self.period_ns, rendered=self.rendered
        )


def make_mailboxes(
    vehicle: VehicleSpec, world: str, model: str, step_ns: int, named: Mapping[str, str]
) -> dict[str, Mailbox]:
    """One for each sensor that Gazebo has; `named` gives topics that are not Gazebo's own."""
    boxes = {}
    for sensor in vehicle.sensors:
        if sensor.type not in SDF_TYPES:
            continue
        topic = named.get(sensor.id) or sensor_topic(world, model, sensor)
        kind = _ENDS[sensor.type][1]
        if sensor.type == "lidar" and topic.endswith(_CLOUD_END):
            kind = _CLOUD_TYPE
        boxes[sensor.id] = Mailbox(
            sensor.id,
            topic,
            kind,
            sensor_period_ns(sensor_rate_hz(sensor, step_ns)),
            sensor.type in RENDERED,
        )
    return boxes


class GazeboSensors:
    """The readers of one run, by sensor id, out of the mailboxes of the server.

    `lateness` decides what becomes of a reading that is not there.
    """

    def __init__(
        self,
        scenario: ScenarioSpec,
        mailboxes: Mapping[str, Mailbox],
        truth: TruthTracker,
        now_ns: Callable[[], int],
        lateness: Lateness,
    ) -> None:
        self._world = scenario.world
        self._truth = truth
        self._now_ns = now_ns
        self._lateness = lateness
        self._ground = Ground(scenario.world.obstacles)
        self._step_ns = scenario.step_ns
        self.readers: dict[str, Callable[[], Any]] = {
            sensor.id: self._reader(sensor, mailboxes[sensor.id])
            for sensor in scenario.vehicle.sensors
        }
        for box in mailboxes.values():
            box.stamp_ns, box.data = -1, b""

    def _reader(self, sensor: SensorConfig, box: Mailbox) -> Callable[[], Any]:
        decode = self._decoder(sensor, box)
        ready = self._lateness.waiter(box)
        now_ns = self._now_ns

        def read() -> Any:
            return decode(box.data) if ready(now_ns()) else None

        return read

    def _decoder(self, sensor: SensorConfig, box: Mailbox) -> Callable[[bytes], Any]:
        kind = sensor.type
        if kind == "imu":
            return _imu_decoder()
        if kind == "magnetometer":
            return self._magnetometer(sensor)
        if kind == "barometer":
            return self._barometer()
        if kind == "gps":
            return lambda data: self._gps(sensor, data)
        if kind == "altimeter":
            return lambda data: self._altimeter(sensor, data)
        if kind == "rgb":
            return self._rgb(sensor)
        if kind == "depth":
            return lambda data: DepthTruth(depth_view(data))
        ranges = packed_ranges if box.type == _CLOUD_TYPE else scan_ranges
        return lambda data: LidarTruth(ranges(data))

    def _magnetometer(self, sensor: SensorConfig) -> Callable[[bytes], MagTruth]:
        magnetism = Magnetism(self._world.magnetic_field_enu_t, self._world.origin.lat_deg)
        mount = _mount_q(sensor)

        def decode(data: bytes) -> MagTruth:
            field = Magnetometer.FromString(data).field_tesla
            q = q_multiply(self._truth.state[3:7], mount)
            return MagTruth(*magnetism.in_sensor((field.x, field.y, field.z), q))

        return decode

    def _barometer(self) -> Callable[[bytes], BaroTruth]:
        air = AirColumn(self._world.origin.alt_m)
        ground_c = self._world.temperature_c

        def decode(data: bytes) -> BaroTruth:
            height = self._truth.state[2]
            pressure = air.at_origin(FluidPressure.FromString(data).pressure, height)
            return BaroTruth(pressure, ground_c - _LAPSE_K_PER_M * height)

        return decode

    def _gps(self, sensor: SensorConfig, data: bytes) -> GnssTruth:
        fix = NavSat.FromString(data)
        origin = self._world.origin
        e, n, u = pymap3d.geodetic2enu(
            fix.latitude_deg,
            fix.longitude_deg,
            fix.altitude,
            origin.lat_deg,
            origin.lon_deg,
            origin.alt_m,
        )
        if not sensor.measures_velocity:
            return GnssTruth(float(e), float(n), float(u))
        # From the poses, as the ground truth is, so that the two are one.
        state = self._truth.state
        wx, wy, wz = state[10:13]
        px, py, pz = sensor.mount.pos_m
        lever = (wy * pz - wz * py, wz * px - wx * pz, wx * py - wy * px)
        dx, dy, dz = q_rotate(state[3:7], lever)
        vx, vy, vz = state[7] + dx, state[8] + dy, state[9] + dz
        return GnssTruth(float(e), float(n), float(u), (vx, vy, vz))

    def _altimeter(self, sensor: SensorConfig, data: bytes) -> AltimeterTruth:
        reading = Altimeter.FromString(data)
        height = reading.vertical_position + reading.vertical_reference
        if sensor.reference == "LOCAL":
            return AltimeterTruth(height)
        if sensor.reference == "AMSL":
            return AltimeterTruth(height + self._world.origin.alt_m)
        # Gazebo's altimeter knows no ground; what is below is known from the scenario.
        state = self._truth.state
        dx, dy, _ = q_rotate(state[3:7], sensor.mount.pos_m)
        return AltimeterTruth(self._ground.height_above(state[0] + dx, state[1] + dy, height))

    def _rgb(self, sensor: SensorConfig) -> Callable[[bytes], RgbTruth]:
        assert sensor.camera is not None  # SensorConfig demands it for this type
        focal_px = float(camera_intrinsics(sensor.camera).fx)
        mount = _mount_q(sensor)

        def decode(data: bytes) -> RgbTruth:
            # Turning is what smears a flying camera's image: about its z for columns, y for rows.
            _, pitch, yaw = q_rotate_inverse(mount, self._truth.state[10:13])
            return RgbTruth(rgb_view(data), (focal_px * yaw, -focal_px * pitch))

        return decode


def _imu_decoder() -> Callable[[bytes], ImuTruth]:
    message = IMU()

    def decode(data: bytes) -> ImuTruth:
        message.ParseFromString(data)
        force, rate = message.linear_acceleration, message.angular_velocity
        return ImuTruth(force.x, force.y, force.z, rate.x, rate.y, rate.z)

    return decode


def _mount_q(sensor: SensorConfig) -> tuple[float, float, float, float]:
    """Sensor axes to body axes."""
    return q_from_rpy(*(math.radians(angle) for angle in sensor.mount.rpy_deg))
