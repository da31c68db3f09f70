"""Ground floor of Ghost: time, order, chance, errors (and the configuration types)."""

from ghost.core.autopilot import AutopilotLink, AutopilotSpec
from ghost.core.bus import Envelope, MessageBus, Subscription
from ghost.core.clock import (
    Handle,
    HostClock,
    HostTime,
    SimClock,
    SteppedClock,
    SystemClock,
    Throttle,
)
from ghost.core.errors import (
    BackendLost,
    ClosedError,
    ConfigError,
    ContractViolation,
    GhostError,
    MissingDependency,
    UnknownName,
)
from ghost.core.events import EVENTS_TOPIC, Event, EventSeverity, EventType, JsonValue
from ghost.core.failures import EventSink
from ghost.core.kept_process import KeptProcess
from ghost.core.noise import (
    AltimeterNoise,
    BarometerNoise,
    FlowNoise,
    GnssNoise,
    ImageNoise,
    ImuNoise,
    MagnetometerNoise,
    NoiseModel,
    RangeNoise,
    TriadNoise,
)
from ghost.core.ns import as_ns
from ghost.core.outputs import OutputSpec
from ghost.core.periodic import PeriodicThread, schedule_periodic_thread
from ghost.core.random import RandomSource, RandomStream, check_seed
from ghost.core.scenario import (
    BoxObstacle,
    FaultKind,
    FaultSpec,
    FlightPlan,
    GoTo,
    Hold,
    InitialState,
    Land,
    OriginSpec,
    PlanItem,
    ScenarioSpec,
    TakeOff,
    VelocityFor,
    WorldSpec,
)
from ghost.core.vehicle import (
    BodyDragSpec,
    BodySpec,
    CameraSpec,
    ControlSpec,
    LidarSpec,
    MotorSpec,
    MountSpec,
    RotorSpec,
    SensorConfig,
    SensorType,
    VehicleSpec,
)

__all__ = [
    # time
    "Handle",
    "HostClock",
    "HostTime",
    "PeriodicThread",
    "SimClock",
    "SteppedClock",
    "SystemClock",
    "Throttle",
    "as_ns",
    "check_seed",
    "schedule_periodic_thread",
    # order
    "EVENTS_TOPIC",
    "Envelope",
    "Event",
    "EventSeverity",
    "EventSink",
    "EventType",
    "JsonValue",
    "MessageBus",
    "Subscription",
    # chance
    "RandomSource",
    "RandomStream",
    # scenarios
    "AutopilotLink",
    "AutopilotSpec",
    "BoxObstacle",
    "FaultKind",
    "FaultSpec",
    "FlightPlan",
    "GoTo",
    "Hold",
    "InitialState",
    "Land",
    "OriginSpec",
    "PlanItem",
    "ScenarioSpec",
    "TakeOff",
    "VelocityFor",
    "WorldSpec",
    # vehicles
    "BodyDragSpec",
    "BodySpec",
    "CameraSpec",
    "ControlSpec",
    "LidarSpec",
    "MotorSpec",
    "MountSpec",
    "OutputSpec",
    "RotorSpec",
    "SensorConfig",
    "SensorType",
    "VehicleSpec",
    # noise figures
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
    # programs
    "KeptProcess",
    # errors
    "BackendLost",
    "ClosedError",
    "ConfigError",
    "ContractViolation",
    "GhostError",
    "MissingDependency",
    "UnknownName",
]
