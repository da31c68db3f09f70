"""`ScenarioSpec`: one run, as plain frozen data (the file format is `configs/scenarios/*.yaml`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

from ghost.core.autopilot import AutopilotSpec, autopilot_conflicts
from ghost.core.checks import (
    MAX_NS,
    MAX_POS_M,
    MAX_SPEED_MPS,
    MIN_STEP_NS,
    Vec3,
    check_choice,
    check_finite,
    check_ns,
)
from ghost.core.vehicle import VehicleSpec

__all__ = [
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
]

_STRICT: dict[str, Any] = {"extra": "forbid"}

FaultKind = Literal["offline", "freeze", "nan", "bias", "spike", "drop", "delay"]


@dataclass(frozen=True, slots=True)
class OriginSpec:
    """Where on Earth the world's ENU origin lies (WGS-84; altitude above the ellipsoid)."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    lat_deg: float = 47.397742
    """Geodetic latitude, ±90; the default is PX4's usual spot in Zurich."""
    lon_deg: float = 8.545594
    """Longitude, ±180."""
    alt_m: float = 488.0
    """Altitude of z = 0."""

    def __post_init__(self) -> None:
        check_finite(self, "lat_deg", minimum=-90.0, maximum=90.0)
        check_finite(self, "lon_deg", minimum=-180.0, maximum=180.0)
        check_finite(self, "alt_m", minimum=-1_000.0, maximum=100_000.0)


@dataclass(frozen=True, slots=True)
class BoxObstacle:
    """A fixed box in the world."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    pos_m: Vec3
    """Its centre, world ENU."""
    size_m: Vec3
    """Length, width and height (along x, y, z before it is turned)."""
    yaw_deg: float = 0.0
    """Turned about the vertical, counter-clockwise from above."""
    color_rgb: Vec3 = (0.7, 0.2, 0.2)
    """Each 0..1."""

    def __post_init__(self) -> None:
        check_finite(self, "pos_m", minimum=-MAX_POS_M, maximum=MAX_POS_M)
        check_finite(self, "yaw_deg")
        check_finite(self, "size_m", minimum=1e-3, maximum=MAX_POS_M)
        check_finite(self, "color_rgb", minimum=0.0, maximum=1.0)


@dataclass(frozen=True, slots=True)
class WorldSpec:
    """The surroundings: gravity, magnetic field, air, ground at z = 0, obstacles."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    name: str = "field"
    """What it is called."""
    gravity_mps2: float = 9.8
    """Downwards, at most 100; Gazebo's default worlds use 9.8."""
    magnetic_field_enu_t: Vec3 = (6.0e-6, 2.3e-5, -4.2e-5)
    """Earth's field, T; the default is that of Gazebo's worlds."""
    wind_enu_mps: Vec3 = (0.0, 0.0, 0.0)
    """Constant wind: the velocity of the air, each ±150."""
    temperature_c: float = 15.0
    """Air temperature on the ground."""
    origin: OriginSpec = OriginSpec()
    """Where on Earth it is."""
    obstacles: tuple[BoxObstacle, ...] = ()
    """Fixed boxes."""

    def __post_init__(self) -> None:
        check_finite(self, "gravity_mps2", minimum=0.0, maximum=100.0)
        check_finite(self, "magnetic_field_enu_t", minimum=-1.0, maximum=1.0)
        check_finite(self, "wind_enu_mps", minimum=-150.0, maximum=150.0)
        check_finite(self, "temperature_c", minimum=-100.0, maximum=100.0)


@dataclass(frozen=True, slots=True)
class InitialState:
    """Where the vehicle starts. With no position it stands on the ground at the origin."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    pos_enu_m: Vec3 | None = None
    """Position of the body frame, z not below 0; not given: standing on the ground at the
    origin."""
    rpy_deg: Vec3 = (0.0, 0.0, 0.0)
    """Roll, pitch, yaw of the body in the world, applied as Rz·Ry·Rx; yaw 0 looks east."""
    vel_enu_mps: Vec3 = (0.0, 0.0, 0.0)
    """Velocity, each ±1000."""

    def __post_init__(self) -> None:
        check_finite(self, "pos_enu_m", minimum=-MAX_POS_M, maximum=MAX_POS_M)
        check_finite(self, "rpy_deg")
        check_finite(self, "vel_enu_mps", minimum=-MAX_SPEED_MPS, maximum=MAX_SPEED_MPS)
        if self.pos_enu_m is not None and self.pos_enu_m[2] < 0.0:
            raise ValueError(
                "pos_enu_m must not be below the ground (z of 0), got z "
                f"{self.pos_enu_m[2]:g}; leave it out to stand on the ground"
            )


@dataclass(frozen=True, slots=True)
class FaultSpec:
    """A sensor fault (D20): from `at_ns` for `for_ns` (0: until the end of the run).

    `value` means: `bias`, the offset added to every number in the payload's unit; `spike`, the same
    for one sample each time; `drop`, the fraction of samples lost (0..1); `delay`, extra latency in
    nanoseconds. `offline`, `freeze` and `nan` take none.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    at_ns: int
    """Simulated time at which it begins."""
    sensor: str
    """`id` of the sensor."""
    kind: FaultKind
    """What goes wrong."""
    for_ns: int = 0
    """How long; 0 means until the end of the run."""
    value: float | None = None
    """How much, for `bias`, `spike`, `drop` and `delay` (see above)."""

    def __post_init__(self) -> None:
        check_ns(self, "at_ns", minimum=0)
        check_ns(self, "for_ns", minimum=0)
        check_choice(self, "kind", get_args(FaultKind))
        needs = self.kind in ("bias", "spike", "drop", "delay")
        if needs and self.value is None:
            raise ValueError(f"value is missing: a fault of kind {self.kind} needs it")
        if not needs and self.value is not None:
            raise ValueError(f"value means nothing for a fault of kind {self.kind}: take it out")
        if self.value is None:
            return
        check_finite(self, "value")
        if self.kind == "drop" and not 0.0 <= self.value <= 1.0:
            raise ValueError(f"value of kind drop is a fraction 0..1, got {self.value!r}")
        if self.kind == "delay" and not (0.0 <= self.value <= MAX_NS and self.value.is_integer()):
            raise ValueError(
                f"value of kind delay is a whole number of nanoseconds >= 0, got {self.value!r}"
            )


@dataclass(frozen=True, slots=True)
class TakeOff:
    """Climb to a height above the ENU origin."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    altitude_m: float
    """Height of the body frame, z of world ENU, at least 0.1."""
    action: Literal["takeoff"] = "takeoff"
    """`takeoff`."""
    timeout_ns: int = 20_000_000_000
    """Give up (and report it) after this."""

    def __post_init__(self) -> None:
        check_finite(self, "altitude_m", minimum=0.1, maximum=MAX_POS_M)
        check_ns(self, "timeout_ns", minimum=1)


@dataclass(frozen=True, slots=True)
class GoTo:
    """Fly to a point, done when within `tolerance_m`."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    pos_enu_m: Vec3
    """Where to."""
    yaw_deg: float = 0.0
    """Heading on the way and there, counter-clockwise from east."""
    speed_mps: float = 2.0
    """Speed along the straight line."""
    tolerance_m: float = 0.3
    """Close enough."""
    action: Literal["goto"] = "goto"
    """`goto`."""
    timeout_ns: int = 60_000_000_000
    """Give up (and report it) after this."""

    def __post_init__(self) -> None:
        check_finite(self, "pos_enu_m", minimum=-MAX_POS_M, maximum=MAX_POS_M)
        check_finite(self, "yaw_deg")
        check_finite(self, "speed_mps", minimum=1e-3, maximum=MAX_SPEED_MPS)
        check_finite(self, "tolerance_m", minimum=1e-3)
        check_ns(self, "timeout_ns", minimum=1)


@dataclass(frozen=True, slots=True)
class Hold:
    """Stay where the last item ended."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    for_ns: int
    """How long."""
    action: Literal["hold"] = "hold"
    """`hold`."""

    def __post_init__(self) -> None:
        check_ns(self, "for_ns", minimum=0)


@dataclass(frozen=True, slots=True)
class VelocityFor:
    """Fly a velocity for a time (VELOCITY level)."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    vel_enu_mps: Vec3
    """Velocity to fly."""
    for_ns: int
    """How long."""
    yaw_rate_dps: float = 0.0
    """Turn rate, degrees per second, counter-clockwise from above."""
    action: Literal["velocity"] = "velocity"
    """`velocity`."""

    def __post_init__(self) -> None:
        check_finite(self, "vel_enu_mps", minimum=-MAX_SPEED_MPS, maximum=MAX_SPEED_MPS)
        check_finite(self, "yaw_rate_dps", minimum=-1e5, maximum=1e5)
        check_ns(self, "for_ns", minimum=1)


@dataclass(frozen=True, slots=True)
class Land:
    """Descend where it is until it stands on the ground."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    speed_mps: float = 0.7
    """Descent speed, at least 0.05."""
    action: Literal["land"] = "land"
    """`land`."""
    timeout_ns: int = 60_000_000_000
    """Give up (and report it) after this."""

    def __post_init__(self) -> None:
        check_finite(self, "speed_mps", minimum=0.05, maximum=MAX_SPEED_MPS)
        check_ns(self, "timeout_ns", minimum=1)


PlanItem = TakeOff | GoTo | Hold | VelocityFor | Land


@dataclass(frozen=True, slots=True)
class FlightPlan:
    """What the vehicle does, in order. `level` is how waypoints are commanded."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    items: tuple[PlanItem, ...] = ()
    """What to do, in order; each names its `action`."""
    level: Literal["POSITION", "VELOCITY"] = "POSITION"
    """Actuator level that waypoints are commanded at (D14)."""
    command_rate_hz: float = 50.0
    """Commands per simulated second; at most one per step."""

    def __post_init__(self) -> None:
        check_choice(self, "level", ("POSITION", "VELOCITY"))
        check_finite(self, "command_rate_hz", minimum=0.1)


@dataclass(frozen=True, slots=True)
class ScenarioSpec:
    """One run: vehicle, world, times, faults and flight plan."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    name: str
    """What it is called."""
    vehicle: VehicleSpec
    """A shipped vehicle's name, the path of a vehicle file, or the vehicle itself."""
    duration_ns: int
    """Simulated time that the run takes at most."""
    step_ns: int = 4_000_000
    """The clock's step: every `backend.step()` advances by a multiple of it (D6).
    At least 10 000."""
    physics_step_ns: int = 1_000_000
    """The engine's own step, at least 10 000; divides `step_ns`."""
    seed: int = 0
    """Root of every random stream (D9), 0..2**64-1; `--seed` replaces it."""
    description: str = ""
    """One sentence for `ghost scenarios`."""
    world: WorldSpec = field(default_factory=WorldSpec)
    """The surroundings."""
    initial: InitialState = InitialState()
    """Where the vehicle starts."""
    faults: tuple[FaultSpec, ...] = ()
    """Sensor faults to inject."""
    plan: FlightPlan = field(default_factory=FlightPlan)
    """What the vehicle does."""
    autopilot: AutopilotSpec | None = None
    """The autopilot that flies; without it the built-in controller does."""

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("name must not be empty")
        check_ns(self, "duration_ns", minimum=1)
        check_ns(self, "step_ns", minimum=MIN_STEP_NS)
        check_ns(self, "physics_step_ns", minimum=MIN_STEP_NS)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise TypeError(f"seed must be a whole number, got {self.seed!r}")
        if not 0 <= self.seed < 2**64:
            raise ValueError(f"seed must be within 0..2**64-1, got {self.seed!r}")
        problems = list(self._conflicts())
        if problems:
            raise ValueError("\n".join(problems))

    def _conflicts(self) -> Iterator[str]:
        """What is wrong between two parts that are fine each on its own."""
        if self.step_ns % self.physics_step_ns:
            yield (
                f"step_ns {self.step_ns} must be a multiple of physics_step_ns "
                f"{self.physics_step_ns}"
            )
        step_rate_hz = 1e9 / self.step_ns
        for sensor in self.vehicle.sensors:
            if sensor.rate_hz > step_rate_hz * (1.0 + 1e-9):
                yield (
                    f"vehicle.sensors.{sensor.id}.rate_hz {sensor.rate_hz:g} is more than a "
                    f"step_ns of {self.step_ns} can give, {step_rate_hz:g} Hz: make step_ns smaller"
                )
        if self.vehicle.control.rate_hz * self.physics_step_ns > 1e9 * (1.0 + 1e-9):
            yield (
                f"vehicle.control.rate_hz {self.vehicle.control.rate_hz:g} is above the physics "
                f"rate {1e9 / self.physics_step_ns:g} Hz (physics_step_ns {self.physics_step_ns})"
            )
        if self.plan.items and self.plan.command_rate_hz > step_rate_hz * (1.0 + 1e-9):
            yield (
                f"plan.command_rate_hz {self.plan.command_rate_hz:g} is more than a step_ns of "
                f"{self.step_ns} can give, {step_rate_hz:g} Hz"
            )
        sensor_ids = sorted(sensor.id for sensor in self.vehicle.sensors)
        for index, fault in enumerate(self.faults):
            if fault.sensor not in sensor_ids:
                yield (
                    f"faults.{index}.sensor {fault.sensor!r} is not among vehicle.sensors: "
                    f"{', '.join(sensor_ids) or 'there are none'}"
                )
        yield from autopilot_conflicts(self)
