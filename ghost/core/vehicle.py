"""`VehicleSpec`: what a vehicle is made of, as plain frozen data (lengths in m, masses in kg).

Body axes are FLU (x forward, y left, z up) with the origin at the vehicle's reference point; the
file format is `configs/vehicles/*.yaml`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

from ghost.core.checks import (
    MAX_GAIN,
    MAX_MASS_KG,
    MAX_SIZE_M,
    MAX_SPEED_MPS,
    Vec3,
    check_choice,
    check_finite,
    check_ns,
)
from ghost.core.noise import NoiseModel
from ghost.core.outputs import OutputSpec, output_conflicts

__all__ = [
    "BodyDragSpec",
    "BodySpec",
    "CameraSpec",
    "ControlSpec",
    "LidarSpec",
    "MotorSpec",
    "MountSpec",
    "RotorSpec",
    "SensorConfig",
    "SensorType",
    "VehicleSpec",
]

_STRICT: dict[str, Any] = {"extra": "forbid"}

SensorType = Literal[
    "imu",
    "rgb",
    "depth",
    "gps",
    "altimeter",
    "lidar",
    "magnetometer",
    "barometer",
    "optical_flow",
    "event_camera",
]

_NOISE_FIELD: dict[str, str | None] = {
    "imu": "imu",
    "rgb": "image",
    "depth": "range",
    "gps": "gnss",
    "altimeter": "altimeter",
    "lidar": "range",
    "magnetometer": "magnetometer",
    "barometer": "barometer",
    "optical_flow": "flow",
    "event_camera": None,
}


@dataclass(frozen=True, slots=True)
class BodySpec:
    """The rigid airframe without its rotors."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    mass_kg: float
    """Without the rotors, at most 10 000."""
    inertia_kgm2: Vec3
    """Principal moments about the body's centre of mass, body axes."""
    size_m: Vec3
    """Length, width and height of the box that touches the world."""
    collision_offset_m: Vec3 = (0.0, 0.0, 0.0)
    """Centre of that box in the body frame."""

    def __post_init__(self) -> None:
        check_finite(self, "mass_kg", minimum=1e-9, maximum=MAX_MASS_KG)
        check_finite(self, "inertia_kgm2", minimum=1e-9, maximum=MAX_GAIN)
        check_finite(self, "size_m", minimum=1e-9, maximum=MAX_SIZE_M)
        check_finite(self, "collision_offset_m", minimum=-MAX_SIZE_M, maximum=MAX_SIZE_M)
        ixx, iyy, izz = self.inertia_kgm2
        if ixx + iyy < izz or iyy + izz < ixx or izz + ixx < iyy:
            raise ValueError(
                f"inertia_kgm2 {self.inertia_kgm2} is no body's: the sum of two moments is never "
                "less than the third"
            )


@dataclass(frozen=True, slots=True)
class RotorSpec:
    """One rotor: where it is, which way it turns, and its mass properties."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    pos_m: Vec3
    """Hub, in the body frame."""
    direction: Literal["ccw", "cw"]
    """Sense of rotation seen from above."""
    mass_kg: float = 0.0
    """Propeller and what turns with it."""
    inertia_kgm2: Vec3 = (0.0, 0.0, 0.0)
    """Principal moments about the hub, propeller axes (z is the shaft)."""

    def __post_init__(self) -> None:
        check_finite(self, "pos_m", minimum=-MAX_SIZE_M, maximum=MAX_SIZE_M)
        check_choice(self, "direction", ("ccw", "cw"))
        check_finite(self, "mass_kg", minimum=0.0, maximum=MAX_MASS_KG)
        check_finite(self, "inertia_kgm2", minimum=0.0, maximum=MAX_GAIN)

    @property
    def sign(self) -> int:
        """+1 for counter-clockwise (positive about body z), −1 for clockwise."""
        return 1 if self.direction == "ccw" else -1


@dataclass(frozen=True, slots=True)
class MotorSpec:
    """Motor and propeller constants, the same for every rotor (Gazebo's motor model)."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    thrust_coeff: float
    """Thrust is `thrust_coeff · ω²`, N/(rad/s)²."""
    moment_ratio: float
    """Reaction torque per thrust, m."""
    max_rad_s: float
    """Highest rotor speed."""
    time_constant_up_s: float
    """First-order lag while speeding up."""
    time_constant_down_s: float
    """First-order lag while slowing down."""
    drag_coeff: float = 0.0
    """Rotor drag is `−|ω| · drag_coeff · v⊥`, N/(rad/s · m/s)."""
    rolling_moment_coeff: float = 0.0
    """Rolling moment is `−|ω| · coeff · v⊥`, N·m/(rad/s · m/s)."""
    joint_slowdown: float = 10.0
    """The simulated joint turns at ω divided by this."""

    def __post_init__(self) -> None:
        check_finite(
            self,
            "thrust_coeff",
            "time_constant_up_s",
            "time_constant_down_s",
            minimum=1e-12,
            maximum=1e3,
        )
        check_finite(self, "max_rad_s", "joint_slowdown", minimum=1e-12, maximum=1e6)
        check_finite(
            self, "moment_ratio", "drag_coeff", "rolling_moment_coeff", minimum=0.0, maximum=1e3
        )


@dataclass(frozen=True, slots=True)
class BodyDragSpec:
    """Drag of the airframe in body axes: `−(linear + quadratic·|v|)·v` per axis."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    linear: Vec3 = (0.0, 0.0, 0.0)
    """N/(m/s)."""
    quadratic: Vec3 = (0.0, 0.0, 0.0)
    """N/(m/s)²."""

    def __post_init__(self) -> None:
        check_finite(self, "linear", "quadratic", minimum=0.0, maximum=MAX_GAIN)


@dataclass(frozen=True, slots=True)
class ControlSpec:
    """Gains and limits of the built-in cascaded controller (levels above MOTOR)."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    rate_hz: float = 250.0
    """How often it computes; at most the physics rate."""
    pos_gain: float = 2.0
    """Velocity asked per metre of position error, 1/s."""
    vel_gain: float = 4.0
    """Acceleration asked per m/s of velocity error, 1/s."""
    vel_integral_gain: float = 0.6
    """Acceleration asked per metre of integrated velocity error, 1/s²."""
    att_gain: float = 10.0
    """Body rate asked per radian of attitude error, 1/s."""
    yaw_gain: float = 3.0
    """Yaw rate asked per radian of heading error, 1/s."""
    rate_gain: Vec3 = (20.0, 20.0, 8.0)
    """Angular acceleration asked per rad/s of rate error, 1/s."""
    rate_integral_gain: Vec3 = (40.0, 40.0, 4.0)
    """Angular acceleration added per second and rad/s of rate error, 1/s²."""
    max_horizontal_mps: float = 5.0
    """Horizontal speed limit of the position controller."""
    max_up_mps: float = 3.0
    """Climb limit."""
    max_down_mps: float = 2.0
    """Descent limit."""
    max_tilt_deg: float = 35.0
    """Tilt limit of the upper levels; below 85."""
    max_rate_rps: Vec3 = (4.0, 4.0, 2.0)
    """Body rate limits, rad/s."""

    def __post_init__(self) -> None:
        check_finite(
            self,
            "rate_hz",
            "pos_gain",
            "vel_gain",
            "att_gain",
            "yaw_gain",
            "rate_gain",
            "max_tilt_deg",
            "max_rate_rps",
            minimum=1e-6,
            maximum=MAX_GAIN,
        )
        check_finite(
            self,
            "max_horizontal_mps",
            "max_up_mps",
            "max_down_mps",
            minimum=1e-6,
            maximum=MAX_SPEED_MPS,
        )
        check_finite(self, "vel_integral_gain", "rate_integral_gain", minimum=0.0, maximum=MAX_GAIN)
        if self.max_tilt_deg >= 85.0:
            raise ValueError(f"max_tilt_deg must be below 85, got {self.max_tilt_deg!r}")


@dataclass(frozen=True, slots=True)
class MountSpec:
    """Where a sensor sits on the body. `rpy_deg` turns body axes into sensor axes (FLU)."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    pos_m: Vec3 = (0.0, 0.0, 0.0)
    """Sensor origin in the body frame."""
    rpy_deg: Vec3 = (0.0, 0.0, 0.0)
    """Roll, pitch, yaw, applied as Rz·Ry·Rx; pitch +90 looks straight down."""

    def __post_init__(self) -> None:
        check_finite(self, "pos_m", minimum=-MAX_SIZE_M, maximum=MAX_SIZE_M)
        check_finite(self, "rpy_deg")


@dataclass(frozen=True, slots=True)
class CameraSpec:
    """Pinhole camera, for `rgb` and `depth`."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    width: int
    """Pixels, at most 4096."""
    height: int
    """Pixels, at most 4096."""
    hfov_deg: float
    """Horizontal field of view, below 170."""
    min_range_m: float = 0.1
    """Nearest distance of a depth camera; a colour camera ignores it."""
    max_range_m: float = 20.0
    """Farthest distance of a depth camera; a colour camera ignores it."""
    exposure_ns: int = 10_000_000
    """Exposure time of a colour camera (motion blur); a depth camera ignores it."""

    def __post_init__(self) -> None:
        check_finite(self, "width", "height", minimum=1, maximum=4096)
        check_finite(self, "hfov_deg", "min_range_m", "max_range_m", minimum=1e-3)
        check_ns(self, "exposure_ns", minimum=0)
        if self.hfov_deg >= 170.0:
            raise ValueError(f"hfov_deg must be below 170 for a pinhole, got {self.hfov_deg!r}")
        if self.min_range_m >= self.max_range_m:
            raise ValueError(
                f"min_range_m {self.min_range_m:g} must be less than max_range_m "
                f"{self.max_range_m:g}"
            )


@dataclass(frozen=True, slots=True)
class LidarSpec:
    """Spinning LiDAR: a grid of beams, azimuth × elevation, in sensor axes (FLU)."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    columns: int
    """Beams around."""
    rows: int
    """Beams up and down."""
    hfov_deg: float = 360.0
    """Azimuth covered, centred on x, at most 360."""
    vfov_deg: float = 30.0
    """Elevation covered, centred on the horizon, at most 180."""
    min_range_m: float = 0.1
    """Nearest distance."""
    max_range_m: float = 30.0
    """Farthest distance."""

    def __post_init__(self) -> None:
        check_finite(self, "columns", "rows", minimum=1, maximum=1_000_000)
        check_finite(self, "min_range_m", "max_range_m", minimum=1e-3)
        check_finite(self, "hfov_deg", minimum=1e-3, maximum=360.0)
        check_finite(self, "vfov_deg", minimum=0.0, maximum=180.0)
        if self.columns * self.rows > 1_000_000:
            raise ValueError(
                f"columns {self.columns} times rows {self.rows} is more than 1 000 000 beams"
            )
        if self.min_range_m >= self.max_range_m:
            raise ValueError(
                f"min_range_m {self.min_range_m:g} must be less than max_range_m "
                f"{self.max_range_m:g}"
            )


@dataclass(frozen=True, slots=True)
class SensorConfig:
    """One sensor of a vehicle."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    id: str
    """Stable name, of a-z, 0-9 and _ with a letter in it: `imu0`, `cam_front`."""
    type: SensorType
    """What it measures."""
    rate_hz: float
    """Samples per simulated second; at most one per step of the scenario."""
    frame_id: str | None = None
    """Name of the sensor's frame; the sensor's id if not given."""
    calibration_id: str | None = None
    """Name of your own calibration of it, passed on with the samples; Ghost reads no such file."""
    latency_ns: int = 0
    """Delay from capture to publication (D21)."""
    queue_size: int = 1000
    """Samples kept between two polls, at most 1 000 000; the oldest is dropped when it is full
    (D18)."""
    mount: MountSpec = MountSpec()
    """Where it sits on the body."""
    noise: NoiseModel | None = None
    """Its imperfections; without it the sensor is ideal."""
    camera: CameraSpec | None = None
    """Required for `rgb` and `depth`, for nothing else."""
    lidar: LidarSpec | None = None
    """Required for `lidar`, for nothing else."""
    reference: Literal["AMSL", "AGL", "LOCAL"] = "AGL"
    """What an altimeter measures from; other sensors ignore it."""

    def __post_init__(self) -> None:
        if not self.id.replace("_", "").isalnum() or not self.id.isascii() or not self.id.islower():
            raise ValueError(f"id must be of a-z, 0-9 and _ with a letter in it, got {self.id!r}")
        check_choice(self, "type", get_args(SensorType))
        check_choice(self, "reference", ("AMSL", "AGL", "LOCAL"))
        check_finite(self, "rate_hz", minimum=1e-3)
        check_ns(self, "latency_ns", minimum=0)
        check_finite(self, "queue_size", minimum=1, maximum=1_000_000)
        for part, types in (("camera", ("rgb", "depth")), ("lidar", ("lidar",))):
            if self.type in types and getattr(self, part) is None:
                raise ValueError(f"{part} is missing: a sensor of type {self.type} needs it")
            if self.type not in types and getattr(self, part) is not None:
                raise ValueError(
                    f"{part} goes with type {' or '.join(types)}, and {self.id} is of type "
                    f"{self.type}: take it out"
                )
        if self.noise is None:
            return
        allowed = _NOISE_FIELD[self.type]
        for name in sorted({n for n in _NOISE_FIELD.values() if n is not None}):
            if getattr(self.noise, name) is not None and name != allowed:
                raise ValueError(
                    f"noise.{name} does not fit a sensor of type {self.type}, "
                    f"which takes {f'noise.{allowed}' if allowed else 'none'}"
                )

    @property
    def frame(self) -> str:
        """The frame's name, never empty."""
        return self.frame_id or self.id

    @property
    def measures_velocity(self) -> bool:
        """Whether this is a `gps` whose samples hold a velocity (`GnssNoise`)."""
        gnss = self.noise.gnss if self.noise else None
        return gnss is not None and gnss.velocity_sigma_mps is not None


@dataclass(frozen=True, slots=True)
class VehicleSpec:
    """A multirotor: body, rotors, motors, controller and sensors."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    name: str
    """What it is called."""
    body: BodySpec
    """The airframe."""
    rotors: tuple[RotorSpec, ...]
    """Four, in PX4's motor order: front right, rear left, front left, rear right."""
    motor: MotorSpec
    """The same motor and propeller on every rotor."""
    sensors: tuple[SensorConfig, ...]
    """What it measures with; the order does not matter."""
    description: str = ""
    """One sentence for `ghost check` and lists."""
    body_drag: BodyDragSpec = BodyDragSpec()
    """Drag of the airframe; none if not given."""
    control: ControlSpec = field(default_factory=ControlSpec)
    """The built-in controller."""
    outputs: tuple[OutputSpec, ...] = ()
    """What an autopilot's output channels drive; not given: channel i drives rotor i."""

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("name must not be empty")
        if len(self.rotors) != 4:
            raise ValueError(f"rotors must be four (a quadrotor), got {len(self.rotors)}")
        turning = sum(rotor.sign for rotor in self.rotors)
        if turning:
            raise ValueError(
                "rotors must be two ccw and two cw (direction), or their torques never cancel; "
                f"got {(4 + turning) // 2} ccw"
            )
        ids = [sensor.id for sensor in self.sensors]
        for sensor_id in ids:
            if ids.count(sensor_id) > 1:
                raise ValueError(
                    f"sensors must have different ids: id {sensor_id!r} is given "
                    f"{ids.count(sensor_id)} times"
                )
        problems = list(output_conflicts(self.outputs, len(self.rotors)))
        if problems:
            raise ValueError("\n".join(problems))

    @property
    def mass_kg(self) -> float:
        """Total mass, rotors included, kg."""
        return self.body.mass_kg + sum(rotor.mass_kg for rotor in self.rotors)
