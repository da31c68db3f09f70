"""`AutopilotSpec`: the autopilot that flies the vehicle of a scenario, and how it is reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from ghost.core.checks import check_choice, check_int, check_ns, check_text

if TYPE_CHECKING:
    from ghost.core.scenario import ScenarioSpec

__all__ = ["AutopilotLink", "AutopilotSpec"]

_STRICT: dict[str, Any] = {"extra": "forbid"}

AutopilotLink = Literal["simulator", "gz_bridge"]

_ON_THE_GROUND_M = 0.05
"""How far above its standing height a vehicle may start and still be said to stand."""
_LINK_SENSORS = ("magnetometer", "barometer", "gps")
"""What PX4's estimator starts with, besides an IMU: without one of them it never gets ready."""


@dataclass(frozen=True, slots=True)
class AutopilotSpec:
    """An autopilot in the loop: it gets the sensors, and drives the motors (D15).

    Times ending in `_ns` are simulated time for `warmup_ns` and `ready_timeout_ns`, and time of the
    host for the two deadlines, which bound a wait for a process.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT

    kind: Literal["px4"] = "px4"
    """`px4`."""
    link: AutopilotLink = "simulator"
    """Who carries sensors and motors: `simulator`, Ghost itself (simulator MAVLink, any backend);
    `gz_bridge`, PX4's own bridge to Gazebo (`--backend gazebo`)."""
    binary: str = ""
    """Path of the `px4` program; empty: `PX4_BIN`, then `PATH`."""
    image: str = ""
    """A container image to run instead of a program, with its tag."""
    attach: bool = False
    """Start none: wait for a PX4 that somebody else runs on this computer (or in this network
    namespace) to dial in at `instance`, 0 by default. Its parameters are read back, not set."""
    airframe: int = 0
    """PX4's `SYS_AUTOSTART`; 0: the link's own (10016 for `simulator`, 4001 for `gz_bridge`)."""
    params: str = ""
    """Parameters to set: the name of a shipped set in `px4_params`, or the path of a file; empty:
    the link's own (`sitl_lockstep`, `sitl_gz_bridge`)."""
    instance: int = -1
    """PX4's instance, 0..249, which its ports count from; -1: the first free one."""
    warmup_ns: int = 15_000_000_000
    """Simulated time that passes at least before the run starts, while PX4 boots and settles."""
    ready_timeout_ns: int = 60_000_000_000
    """Simulated time after which a PX4 that is not ready to arm is given up; not less than
    `warmup_ns`."""
    answer_deadline_ns: int = 1_000_000_000
    """Host time to wait for the answer to one IMU sample."""
    start_timeout_ns: int = 30_000_000_000
    """Host time for PX4 to start and connect."""

    def __post_init__(self) -> None:
        check_choice(self, "kind", ("px4",))
        check_choice(self, "link", get_args(AutopilotLink))
        check_text(self, "binary", "image", "params")
        if not isinstance(self.attach, bool):
            raise TypeError(f"attach must be true or false, got {self.attach!r}")
        check_int(self, "airframe", minimum=0, maximum=2**31 - 1)
        check_int(self, "instance", minimum=-1, maximum=249)
        check_ns(self, "warmup_ns", minimum=0)
        check_ns(
            self, "ready_timeout_ns", "answer_deadline_ns", "start_timeout_ns", minimum=1_000_000
        )
        if self.ready_timeout_ns < self.warmup_ns:
            raise ValueError(
                f"ready_timeout_ns {self.ready_timeout_ns} must not be less than warmup_ns "
                f"{self.warmup_ns}, which it includes"
            )
        if self.attach and (self.binary or self.image):
            raise ValueError(
                "attach means a PX4 that somebody else started: take binary and image out"
            )
        if self.attach and self.link != "simulator":
            raise ValueError(
                "attach is for the link simulator: over gz_bridge PX4 must be started anew with "
                "each reset of the world, which Ghost does itself"
            )
        if self.binary and self.image:
            raise ValueError(
                f"binary {self.binary!r} and image {self.image!r} exclude each other: PX4 is a "
                "program or a container"
            )


def autopilot_conflicts(scenario: ScenarioSpec) -> Iterator[str]:
    """What a scenario with an autopilot asks for that no autopilot can do, a line each."""
    autopilot, vehicle = scenario.autopilot, scenario.vehicle
    if autopilot is None:
        return
    initial = scenario.initial
    if initial.pos_enu_m is not None:
        height_m = initial.pos_enu_m[2]
        standing_m = vehicle.body.size_m[2] / 2.0 - vehicle.body.collision_offset_m[2]
        if height_m > standing_m + _ON_THE_GROUND_M:
            yield (
                f"initial.pos_enu_m is in the air (z {height_m:g}, vehicle.body stands at "
                f"{standing_m:g}), but an autopilot boots on the ground: leave z at "
                f"{standing_m:g}, or take autopilot out"
            )
    if any(initial.vel_enu_mps):
        yield (
            f"initial.vel_enu_mps {initial.vel_enu_mps} must be 0 with an autopilot, which boots "
            "on the ground at rest"
        )
    step_rate_hz = 1e9 / scenario.step_ns
    imus = [sensor for sensor in vehicle.sensors if sensor.type == "imu"]
    if not any(abs(imu.rate_hz / step_rate_hz - 1.0) < 1e-9 for imu in imus):
        have = ", ".join(f"{imu.id} with {imu.rate_hz:g}" for imu in imus) or "none"
        yield (
            f"autopilot needs an imu with one sample per step, rate_hz {step_rate_hz:g} for a "
            f"step_ns of {scenario.step_ns}; vehicle.sensors has {have}"
        )
    if autopilot.link == "simulator":
        types = {sensor.type for sensor in vehicle.sensors}
        missing = [name for name in _LINK_SENSORS if name not in types]
        if missing:
            yield (
                f"autopilot.link simulator needs a {', a '.join(missing)} among vehicle.sensors: "
                "PX4 does not get ready without"
            )
