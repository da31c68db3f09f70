"""The contract between drone code and its worlds. Imports numpy and `ghost.core` only."""

from ghost.hal.actuator import (
    AckReason,
    ActuatorCommand,
    ActuatorLevel,
    ActuatorSink,
    ActuatorSpec,
    Armable,
    AttitudeCommand,
    BodyRateCommand,
    CommandAck,
    CommandRecord,
    MotorCommand,
    PositionCommand,
    VelocityCommand,
)
from ghost.hal.arrays import frozen_array
from ghost.hal.autopilot import MavlinkTraffic, Reporting, StateEstimate
from ghost.hal.backend import RuntimeBackend, SimulationBackend
from ghost.hal.capabilities import HAL_PROTOCOL_VERSION, Capabilities
from ghost.hal.digest import RunDigest, canonical_bytes, digest
from ghost.hal.ground_truth import GroundTruth
from ghost.hal.message import Message
from ghost.hal.messages import (
    PAYLOAD_TYPES,
    AltimeterPayload,
    BarometerPayload,
    CameraIntrinsics,
    DepthImagePayload,
    EventCameraPayload,
    GpsFix,
    GpsPayload,
    IMUPayload,
    MagnetometerPayload,
    OpticalFlowPayload,
    PointCloudPayload,
    RGBImagePayload,
)
from ghost.hal.report import LockstepState, StepReport
from ghost.hal.sensor import (
    SensorHealth,
    SensorId,
    SensorMeta,
    SensorProvider,
    SensorSample,
    SensorSpec,
    Subscription,
)
from ghost.hal.validation import Verdict, check_command

__all__ = [
    "HAL_PROTOCOL_VERSION",
    # worlds
    "Capabilities",
    "GroundTruth",
    "LockstepState",
    "MavlinkTraffic",
    "Reporting",
    "RuntimeBackend",
    "SimulationBackend",
    "StateEstimate",
    "StepReport",
    # sensors
    "SensorHealth",
    "SensorId",
    "SensorMeta",
    "SensorProvider",
    "SensorSample",
    "SensorSpec",
    "Subscription",
    # payloads
    "PAYLOAD_TYPES",
    "AltimeterPayload",
    "BarometerPayload",
    "CameraIntrinsics",
    "DepthImagePayload",
    "EventCameraPayload",
    "GpsFix",
    "GpsPayload",
    "IMUPayload",
    "MagnetometerPayload",
    "OpticalFlowPayload",
    "PointCloudPayload",
    "RGBImagePayload",
    # actuators
    "AckReason",
    "ActuatorCommand",
    "ActuatorLevel",
    "ActuatorSink",
    "ActuatorSpec",
    "Armable",
    "AttitudeCommand",
    "BodyRateCommand",
    "CommandAck",
    "CommandRecord",
    "MotorCommand",
    "PositionCommand",
    "VelocityCommand",
    # tools
    "Message",
    "RunDigest",
    "Verdict",
    "canonical_bytes",
    "check_command",
    "digest",
    "frozen_array",
]
