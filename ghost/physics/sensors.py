"""Native → truth: what each kind of sensor would measure in a `QuadWorld` without any error.

Readers return the plain numbers of `ghost.sensing.truth` in the sensor's own axes; noise, latency
and faults come after, in the sensing channel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ghost.core import CameraSpec, LidarSpec, ScenarioSpec, SensorConfig
from ghost.hal.frames import q_from_rpy, q_multiply
from ghost.physics.engine import Engine
from ghost.physics.world import QuadWorld, rotation_of
from ghost.sensing import (
    AltimeterTruth,
    BaroTruth,
    DepthTruth,
    FlowTruth,
    GnssTruth,
    ImuTruth,
    LidarTruth,
    MagTruth,
    RgbTruth,
    beam_directions,
    pixel_rays,
)

__all__ = ["SensorRig", "isa_pressure_pa"]

AGL_RANGE_M = 1000.0
"""An altimeter above ground gives up beyond this height."""
FLOW_RANGE_M = 100.0
FLOW_MIN_RANGE_M = 0.02


def isa_pressure_pa(altitude_m: float) -> float:
    """Static pressure of the International Standard Atmosphere, Pa, below 11 km.

    p = 101325·(1 − 2.25577e-5·h)^5.25588 (ISO 2533:1975).
    """
    return float(101325.0 * (1.0 - 2.25577e-5 * altitude_m) ** 5.25588)


class _Mount:
    """Where a sensor is and how it is turned; identity mounts cost nothing."""

    def __init__(self, sensor: SensorConfig) -> None:
        self.pos = sensor.mount.pos_m
        self.offset = any(self.pos)
        self.turned = any(sensor.mount.rpy_deg)
        self.q = q_from_rpy(*(math.radians(angle) for angle in sensor.mount.rpy_deg))
        self.rot = rotation_of(*self.q)

    def to_sensor(self, x: float, y: float, z: float) -> tuple[float, float, float]:
        """Body axes to sensor axes."""
        if not self.turned:
            return x, y, z
        r = self.rot
        return (
            r[0] * x + r[3] * y + r[6] * z,
            r[1] * x + r[4] * y + r[7] * z,
            r[2] * x + r[5] * y + r[8] * z,
        )


class SensorRig:
    """The readers of one vehicle in one world, by sensor id.

    `accumulate()` must be called once after each scenario step; it adds up what sensors that
    integrate over time (optical flow) need.
    """

    def __init__(self, engine: Engine, world: QuadWorld, scenario: ScenarioSpec) -> None:
        self._engine = engine
        self._world = world
        self._spec = scenario.world
        self._step_ns = scenario.step_ns
        self._flows: list[_FlowReader] = []
        self.readers: Mapping[str, Callable[[], Any]] = {
            sensor.id: self._reader(sensor) for sensor in scenario.vehicle.sensors
        }

    def accumulate(self) -> None:
        """Take note of one scenario step."""
        for flow in self._flows:
            flow.accumulate()

    def _reader(self, sensor: SensorConfig) -> Callable[[], Any]:
        mount = _Mount(sensor)
        kind = sensor.type
        if kind == "imu":
            return lambda: self._imu(mount)
        if kind == "magnetometer":
            return lambda: self._magnetometer(mount)
        if kind == "barometer":
            return lambda: self._barometer(mount)
        if kind == "gps":
            if sensor.measures_velocity:
                return lambda: GnssTruth(*self._position(mount), self._velocity(mount))
            return lambda: GnssTruth(*self._position(mount))
        if kind == "altimeter":
            return lambda: self._altimeter(mount, sensor.reference)
        if kind == "optical_flow":
            flow = _FlowReader(self, mount)
            self._flows.append(flow)
            return flow.read
        if kind == "lidar" and sensor.lidar is not None:
            return self._lidar(mount, sensor.lidar)
        if kind == "depth" and sensor.camera is not None:
            return self._depth(mount, sensor.camera)
        if kind == "rgb" and sensor.camera is not None:
            return self._rgb(mount, sensor.camera)
        raise ValueError(f"no reader for sensor {sensor.id!r} of type {kind!r}")

    def _position(self, mount: _Mount) -> tuple[float, float, float]:
        x, y, z, qw, qx, qy, qz = self._world.state[:7]
        if not mount.offset:
            return x, y, z
        r = rotation_of(qw, qx, qy, qz)
        px, py, pz = mount.pos
        return (
            x + r[0] * px + r[1] * py + r[2] * pz,
            y + r[3] * px + r[4] * py + r[5] * pz,
            z + r[6] * px + r[7] * py + r[8] * pz,
        )

    def _velocity(self, mount: _Mount) -> tuple[float, float, float]:
        """Of the sensor's origin, world ENU, m/s."""
        state = self._world.state
        vx, vy, vz = state[7:10]
        if not mount.offset:
            return vx, vy, vz
        r = rotation_of(state[3], state[4], state[5], state[6])
        wx, wy, wz = state[10:13]
        px, py, pz = mount.pos
        cx, cy, cz = wy * pz - wz * py, wz * px - wx * pz, wx * py - wy * px
        return (
            vx + r[0] * cx + r[1] * cy + r[2] * cz,
            vy + r[3] * cx + r[4] * cy + r[5] * cz,
            vz + r[6] * cx + r[7] * cy + r[8] * cz,
        )

    def _pose(self, mount: _Mount) -> tuple[tuple[float, ...], tuple[float, ...]]:
        quaternion = tuple(self._world.state[3:7])
        if mount.turned:
            quaternion = q_multiply(quaternion, mount.q)
        return self._position(mount), quaternion

    def _imu(self, mount: _Mount) -> ImuTruth:
        state = self._world.state
        ax, ay, az, dp, dq, dr = self._world.acceleration()
        az += self._spec.gravity_mps2
        r = rotation_of(state[3], state[4], state[5], state[6])
        fx = r[0] * ax + r[3] * ay + r[6] * az
        fy = r[1] * ax + r[4] * ay + r[7] * az
        fz = r[2] * ax + r[5] * ay + r[8] * az
        p, q, s = state[10], state[11], state[12]
        if mount.offset:
            # Lever arm: α × r + ω × (ω × r).
            px, py, pz = mount.pos
            cx = q * pz - s * py
            cy = s * px - p * pz
            cz = p * py - q * px
            fx += dq * pz - dr * py + q * cz - s * cy
            fy += dr * px - dp * pz + s * cx - p * cz
            fz += dp * py - dq * px + p * cy - q * cx
        if mount.turned:
            fx, fy, fz = mount.to_sensor(fx, fy, fz)
            p, q, s = mount.to_sensor(p, q, s)
        return ImuTruth(fx, fy, fz, p, q, s)

    def _magnetometer(self, mount: _Mount) -> MagTruth:
        state = self._world.state
        r = rotation_of(state[3], state[4], state[5], state[6])
        bx, by, bz = self._spec.magnetic_field_enu_t
        return MagTruth(
            *mount.to_sensor(
                r[0] * bx + r[3] * by + r[6] * bz,
                r[1] * bx + r[4] * by + r[7] * bz,
                r[2] * bx + r[5] * by + r[8] * bz,
            )
        )

    def _barometer(self, mount: _Mount) -> BaroTruth:
        height = self._position(mount)[2]
        return BaroTruth(
            isa_pressure_pa(self._spec.origin.alt_m + height),
            self._spec.temperature_c - 0.0065 * height,
        )

    def _altimeter(self, mount: _Mount, reference: str) -> AltimeterTruth:
        position = self._position(mount)
        if reference == "LOCAL":
            return AltimeterTruth(position[2])
        if reference == "AMSL":
            return AltimeterTruth(position[2] + self._spec.origin.alt_m)
        down = np.array([[0.0, 0.0, -1.0]])
        return AltimeterTruth(float(self._engine.rays(position, down, AGL_RANGE_M)[0]))

    def _lidar(self, mount: _Mount, lidar: LidarSpec) -> Callable[[], LidarTruth]:
        beams = np.asarray(beam_directions(lidar), dtype=np.float64).reshape(-1, 3)

        def read() -> LidarTruth:
            position, quaternion = self._pose(mount)
            distance = self._cast(position, quaternion, beams, lidar.max_range_m)
            return LidarTruth(distance.astype(np.float32))

        return read

    def _depth(self, mount: _Mount, camera: CameraSpec) -> Callable[[], DepthTruth]:
        rays = np.asarray(pixel_rays(camera), dtype=np.float64).reshape(-1, 3)
        along_axis = rays[:, 0]
        reach = camera.max_range_m / float(along_axis.min())
        shape = (camera.height, camera.width)

        def read() -> DepthTruth:
            position, quaternion = self._pose(mount)
            distance = self._cast(position, quaternion, rays, reach)
            return DepthTruth((distance * along_axis).astype(np.float32).reshape(shape))

        return read

    def _cast(
        self,
        position: tuple[float, ...],
        quaternion: tuple[float, ...],
        directions: npt.NDArray[np.float64],
        reach_m: float,
    ) -> npt.NDArray[np.float64]:
        x_axis, y_axis, z_axis = np.array(rotation_of(*quaternion)).reshape(3, 3).T
        # Not `@`: for such a thin matrix BLAS wakes threads that cost more than the product, and
        # its last bits depend on the processor.
        turned = directions[:, :1] * x_axis
        turned += directions[:, 1:2] * y_axis
        turned += directions[:, 2:] * z_axis
        return self._engine.rays(position, turned, reach_m)

    def _rgb(self, mount: _Mount, camera: CameraSpec) -> Callable[[], RgbTruth]:
        focal_px = 0.5 * camera.width / math.tan(math.radians(camera.hfov_deg) / 2.0)

        def read() -> RgbTruth:
            position, quaternion = self._pose(mount)
            image = self._engine.image(camera, position, quaternion)
            # Turning is what smears a flying camera's image: about its z for columns, y for rows.
            _, pitch, yaw = mount.to_sensor(*self._world.state[10:13])
            return RgbTruth(image, (focal_px * yaw, -focal_px * pitch))

        return read

    def flow_rates(self, mount: _Mount) -> tuple[float, float, float, float, float, float]:
        """Apparent rotation of the scene (2), own rotation (3) in rad/s, and distance in m.

        The sensor looks along its −z. A scene point at distance d moves like the rotation
        (v_y/d, −v_x/d) would move it, so that is added to the sensor's own rate (the definition
        of MAVLink's OPTICAL_FLOW_RAD, in FLU axes). Distance is NaN beyond `FLOW_RANGE_M`.
        """
        position, quaternion = self._pose(mount)
        state = self._world.state
        r = rotation_of(*quaternion)
        down = np.array([[-r[2], -r[5], -r[8]]])
        distance = float(self._engine.rays(position, down, FLOW_RANGE_M)[0])
        p, q, s = mount.to_sensor(state[10], state[11], state[12])
        if not distance > FLOW_MIN_RANGE_M:
            return 0.0, 0.0, p, q, s, math.nan
        vx, vy, vz = self._velocity(mount)
        ux = r[0] * vx + r[3] * vy + r[6] * vz
        uy = r[1] * vx + r[4] * vy + r[7] * vz
        return p + uy / distance, q - ux / distance, p, q, s, distance

    @property
    def step_ns(self) -> int:
        """The scenario's step, ns."""
        return self._step_ns


class _FlowReader:
    """Sums optical flow over the scenario's steps between two samples."""

    def __init__(self, rig: SensorRig, mount: _Mount) -> None:
        self._rig = rig
        self._mount = mount
        self._dt = rig.step_ns * 1e-9
        self._clear()

    def _clear(self) -> None:
        self._sum = [0.0] * 5
        self._steps = 0
        self._seen = 0
        self._distance = math.nan

    def accumulate(self) -> None:
        *rates, self._distance = self._rig.flow_rates(self._mount)
        self._sum = [total + rate * self._dt for total, rate in zip(self._sum, rates, strict=True)]
        self._steps += 1
        self._seen += not math.isnan(self._distance)

    def read(self) -> FlowTruth:
        total = self._sum
        steps = max(self._steps, 1)
        truth = FlowTruth(
            total[0],
            total[1],
            total[2],
            total[3],
            total[4],
            self._steps * self._rig.step_ns,
            self._distance,
            255 * self._seen // steps,
        )
        self._clear()
        return truth
