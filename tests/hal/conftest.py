"""One valid example of every message, as class and keyword arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ghost.core import Event, EventSeverity, EventType, ImuNoise, NoiseModel, TriadNoise
from ghost.hal import (
    PAYLOAD_TYPES,
    AckReason,
    ActuatorLevel,
    ActuatorSpec,
    AltimeterPayload,
    AttitudeCommand,
    BarometerPayload,
    BodyRateCommand,
    CameraIntrinsics,
    Capabilities,
    CommandAck,
    CommandRecord,
    DepthImagePayload,
    EventCameraPayload,
    GpsFix,
    GpsPayload,
    GroundTruth,
    IMUPayload,
    LockstepState,
    MagnetometerPayload,
    MavlinkTraffic,
    Message,
    MotorCommand,
    OpticalFlowPayload,
    PointCloudPayload,
    PositionCommand,
    RGBImagePayload,
    SensorHealth,
    SensorMeta,
    SensorSample,
    SensorSpec,
    StateEstimate,
    StepReport,
    VelocityCommand,
)


@dataclass(frozen=True)
class Example:
    """A message class and arguments that make a valid one; fresh arrays at each call."""

    cls: type[Message]
    arguments: Callable[[], dict[str, Any]]

    def make(self, **changed: Any) -> Message:
        return self.cls(**{**self.arguments(), **changed})

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        items = self.arguments().items()
        return {name: value for name, value in items if isinstance(value, np.ndarray)}


def _camera() -> CameraIntrinsics:
    coeffs = np.array([0.1, -0.2, 0.001, 0.002, 0.05])
    return CameraIntrinsics(4, 3, 2.0, 2.0, 2.0, 1.5, "plumb_bob", coeffs)


def _imu() -> IMUPayload:
    return IMUPayload(np.array([0.1, -0.2, 9.8]), np.array([0.01, 0.02, -0.03]), 25.5)


def _event() -> Event:
    return Event(
        EventType.SENSOR_FAULT, 7, EventSeverity.WARN, "sensors/imu0", "gap", {"expected": 3}
    )


_ARGUMENTS: Mapping[type[Message], Callable[[], dict[str, Any]]] = {
    IMUPayload: lambda: {
        "accel_mps2": np.array([0.1, -0.2, 9.8]),
        "gyro_rps": np.array([0.01, 0.02, -0.03]),
        "temperature_c": 25.5,
    },
    RGBImagePayload: lambda: {
        "image": np.arange(36, dtype=np.uint8).reshape(3, 4, 3),
        "intrinsics": _camera(),
        "exposure_ns": 10_000_000,
        "encoding": "rgb8",
    },
    DepthImagePayload: lambda: {
        "depth_m": np.full((3, 4), np.float32(2.5)),
        "intrinsics": _camera(),
        "min_range_m": 0.1,
        "max_range_m": 20.0,
    },
    GpsPayload: lambda: {
        "lat_deg": 47.397742,
        "lon_deg": 8.545594,
        "alt_m": 488.0,
        "enu_local_m": np.array([1.0, 2.0, 3.0]),
        "fix_type": GpsFix.FIX_3D,
        "hacc_m": 0.9,
        "vacc_m": 1.8,
    },
    AltimeterPayload: lambda: {"altitude_m": 2.0, "reference": "AGL", "variance_m2": 0.01},
    PointCloudPayload: lambda: {
        "points_m": np.arange(6, dtype=np.float32).reshape(2, 3),
        "ring": np.array([0, 1], dtype=np.uint16),
        "min_range_m": 0.1,
        "max_range_m": 30.0,
    },
    MagnetometerPayload: lambda: {"field_t": np.array([2.1e-5, 1.0e-6, -4.2e-5])},
    BarometerPayload: lambda: {"pressure_pa": 95_600.0, "temperature_c": 20.0},
    OpticalFlowPayload: lambda: {
        "flow_rad": np.array([0.01, -0.02]),
        "gyro_rad": np.array([0.001, 0.002, 0.003]),
        "integration_ns": 10_000_000,
        "distance_m": 1.5,
        "quality": 200,
    },
    EventCameraPayload: lambda: {
        "x": np.array([1, 2], dtype=np.uint16),
        "y": np.array([0, 2], dtype=np.uint16),
        "stamp_ns": np.array([10, 20], dtype=np.int64),
        "polarity": np.array([True, False]),
        "intrinsics": _camera(),
    },
    CameraIntrinsics: lambda: {
        "width": 4,
        "height": 3,
        "fx": 2.0,
        "fy": 2.0,
        "cx": 2.0,
        "cy": 1.5,
        "distortion_model": "equidistant",
        "distortion_coeffs": np.array([0.1, 0.2, 0.3, 0.4]),
    },
    SensorMeta: lambda: {
        "frame_id": "imu0",
        "calibration_id": "imu_lab",
        "extensions": {"error": "stuck"},
    },
    SensorSample: lambda: {
        "sensor_id": "imu0",
        "seq": 5,
        "stamp_sensor_ns": 20_000_100,
        "stamp_sim_ns": 20_000_000,
        "stamp_wall_ns": 1_700_000_000_000_000_000,
        "health": SensorHealth.OK,
        "payload": _imu(),
        "meta": SensorMeta("imu0"),
        "schema_version": 1,
    },
    SensorSpec: lambda: {
        "sensor_id": "imu0",
        "payload_type": "imu",
        "nominal_rate_hz": 200.0,
        "frame_id": "imu0",
        "noise_model": NoiseModel(imu=ImuNoise(accel=TriadNoise(bias=(0.1, 0.0, 0.0)))),
        "latency_ns": 1_000_000,
    },
    GroundTruth: lambda: {
        "stamp_sim_ns": 20_000_000,
        "pos_enu_m": np.array([1.0, 2.0, 3.0]),
        "q_enu_flu": np.array([1.0, 0.0, 0.0, 0.0]),
        "vel_enu_mps": np.array([0.1, 0.2, 0.3]),
        "rate_flu_rps": np.array([0.01, 0.02, 0.03]),
        "acc_enu_mps2": np.array([0.0, 0.0, -0.5]),
        "motor_rps": np.array([600.0, 601.0, 602.0, 603.0]),
    },
    StateEstimate: lambda: {
        "stamp_sim_ns": 20_000_000,
        "pos_enu_m": np.array([1.0, 2.0, 3.0]),
        "q_enu_flu": np.array([1.0, 0.0, 0.0, 0.0]),
        "vel_enu_mps": np.array([0.1, 0.2, 0.3]),
    },
    MavlinkTraffic: lambda: {
        "stamp_sim_ns": 20_000_000,
        "sent": np.array([0xFD, 9, 0], dtype=np.uint8),
        "received": np.array([0xFD, 1], dtype=np.uint8),
    },
    Capabilities: lambda: {
        "hal_version": 1,
        "sensor_ids": ("imu0", "gps0"),
        "actuator_levels": (ActuatorLevel.MOTOR, ActuatorLevel.POSITION),
        "has_ground_truth": True,
        "synchronous_step": True,
        "deterministic": True,
        "supports_replay": False,
        "extensions": {"engine": "mujoco"},
    },
    MotorCommand: lambda: {"thrust": np.array([0.5, 0.5, 0.5, 0.5])},
    BodyRateCommand: lambda: {"rate_flu_rps": np.array([0.1, 0.2, 0.3]), "collective": 0.5},
    AttitudeCommand: lambda: {"q_enu_flu": np.array([1.0, 0.0, 0.0, 0.0]), "collective": 0.5},
    VelocityCommand: lambda: {"vel_enu_mps": np.array([1.0, 0.0, 0.5]), "yaw_rate_rps": 0.1},
    PositionCommand: lambda: {"pos_enu_m": np.array([1.0, 2.0, 3.0]), "yaw_rad": 0.2},
    CommandAck: lambda: {
        "accepted": True,
        "reason": AckReason.OK,
        "stamp_ns": 20_000_000,
        "applied": VelocityCommand(np.array([1.0, 0.0, 0.5])),
        "detail": "clamped",
    },
    CommandRecord: lambda: {
        "stamp_sim_ns": 20_000_000,
        "command": PositionCommand(np.array([1.0, 2.0, 3.0]), 0.2),
    },
    ActuatorSpec: lambda: {
        "levels": (ActuatorLevel.MOTOR,),
        "motor_count": 4,
        "max_velocity_mps": 5.0,
        "max_rate_rps": (4.0, 4.0, 2.0),
        "max_position_m": 1000.0,
    },
    StepReport: lambda: {
        "now_ns": 20_000_000,
        "steps": 1,
        "samples": {"imu0": 2},
        "faults": (_event(),),
        "lockstep": LockstepState.ANSWERED,
    },
}

_EXAMPLES = {cls.__name__: Example(cls, arguments) for cls, arguments in _ARGUMENTS.items()}
_PAYLOADS = [cls.__name__ for cls in PAYLOAD_TYPES.values()]
_WITH_ARRAYS = [name for name, example in _EXAMPLES.items() if example.arrays()]


@pytest.fixture(params=sorted(_EXAMPLES))
def example(request: pytest.FixtureRequest) -> Example:
    """Each message in turn."""
    return _EXAMPLES[request.param]


@pytest.fixture(params=_PAYLOADS)
def payload(request: pytest.FixtureRequest) -> Example:
    """Each registered payload in turn."""
    return _EXAMPLES[request.param]


@pytest.fixture(params=sorted(_WITH_ARRAYS))
def with_arrays(request: pytest.FixtureRequest) -> Example:
    """Each message that holds arrays in turn."""
    return _EXAMPLES[request.param]


@pytest.fixture
def examples() -> Mapping[str, Example]:
    """All examples by the name of their class."""
    return _EXAMPLES
