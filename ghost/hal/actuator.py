"""Commands, their levels, the answer to them, and the sink protocol (D14, D15; HAL spec §2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from ghost.hal.arrays import frozen_array
from ghost.hal.message import (
    Message,
    check_class,
    check_flags,
    check_ints,
    check_reals,
    check_texts,
)

__all__ = [
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
]

_FloatArray = npt.NDArray[np.float64]


class ActuatorLevel(Enum):
    """How abstract a command is, from single motors up to a position."""

    MOTOR = "motor"
    BODY_RATE = "body_rate"
    ATTITUDE = "attitude"
    VELOCITY = "velocity"
    POSITION = "position"


@dataclass(frozen=True, slots=True, eq=False)
class ActuatorCommand(Message):
    """Base of the five commands. Types and shapes are checked at construction, values by the sink.

    A NaN is therefore a command like any other until `ActuatorSink.send` refuses it: a control loop
    that computes a NaN gets an answer, not an exception.
    """

    level: ClassVar[ActuatorLevel]

    def __post_init__(self) -> None:
        raise TypeError("ActuatorCommand is abstract: use the command of a level")


@dataclass(frozen=True, slots=True, eq=False)
class MotorCommand(ActuatorCommand):
    """Normalised thrust of each motor."""

    level: ClassVar[ActuatorLevel] = ActuatorLevel.MOTOR
    thrust: _FloatArray
    """(n,) float64, 0..1 of the motor's largest thrust, in the order of the vehicle's rotors."""

    def __post_init__(self) -> None:
        thrust = frozen_array("thrust", self.thrust, np.float64, (None,))
        object.__setattr__(self, "thrust", thrust)


@dataclass(frozen=True, slots=True, eq=False)
class BodyRateCommand(ActuatorCommand):
    """Body rates and collective thrust."""

    level: ClassVar[ActuatorLevel] = ActuatorLevel.BODY_RATE
    rate_flu_rps: _FloatArray
    """(3,) float64, rad/s about body FLU axes."""
    collective: float
    """0..1 of the vehicle's largest total thrust."""

    def __post_init__(self) -> None:
        rate = frozen_array("rate_flu_rps", self.rate_flu_rps, np.float64, (3,))
        object.__setattr__(self, "rate_flu_rps", rate)
        check_reals(self, "collective")


@dataclass(frozen=True, slots=True, eq=False)
class AttitudeCommand(ActuatorCommand):
    """Attitude and collective thrust."""

    level: ClassVar[ActuatorLevel] = ActuatorLevel.ATTITUDE
    q_enu_flu: _FloatArray
    """(4,) float64, unit quaternion (w, x, y, z), body FLU to world ENU."""
    collective: float
    """0..1 of the vehicle's largest total thrust."""

    def __post_init__(self) -> None:
        quaternion = frozen_array("q_enu_flu", self.q_enu_flu, np.float64, (4,))
        object.__setattr__(self, "q_enu_flu", quaternion)
        check_reals(self, "collective")


@dataclass(frozen=True, slots=True, eq=False)
class VelocityCommand(ActuatorCommand):
    """Velocity in the world and yaw rate."""

    level: ClassVar[ActuatorLevel] = ActuatorLevel.VELOCITY
    vel_enu_mps: _FloatArray
    """(3,) float64, m/s, world ENU."""
    yaw_rate_rps: float = 0.0
    """rad/s about world up."""

    def __post_init__(self) -> None:
        velocity = frozen_array("vel_enu_mps", self.vel_enu_mps, np.float64, (3,))
        object.__setattr__(self, "vel_enu_mps", velocity)
        check_reals(self, "yaw_rate_rps")


@dataclass(frozen=True, slots=True, eq=False)
class PositionCommand(ActuatorCommand):
    """Position in the world and heading."""

    level: ClassVar[ActuatorLevel] = ActuatorLevel.POSITION
    pos_enu_m: _FloatArray
    """(3,) float64, m, world ENU."""
    yaw_rad: float = 0.0
    """rad, counter-clockwise from east."""

    def __post_init__(self) -> None:
        position = frozen_array("pos_enu_m", self.pos_enu_m, np.float64, (3,))
        object.__setattr__(self, "pos_enu_m", position)
        check_reals(self, "yaw_rad")


class AckReason(Enum):
    """Why a command was taken or refused (D15)."""

    OK = "ok"
    INVALID_TYPE = "invalid_type"
    INVALID_VALUE = "invalid_value"
    WRONG_SHAPE = "wrong_shape"
    OUT_OF_RANGE = "out_of_range"
    UNSUPPORTED_LEVEL = "unsupported_level"
    STALE = "stale"
    NOT_ARMED = "not_armed"
    AUTOPILOT_OFFLINE = "autopilot_offline"
    TIMEOUT = "timeout"
    REPLAY = "replay"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, eq=False)
class CommandAck(Message):
    """The answer to every `send`."""

    accepted: bool
    reason: AckReason
    stamp_ns: int
    """Backend time at which the answer was given."""
    applied: ActuatorCommand | None = None
    """What was really commanded, after clamping; None if refused."""
    detail: str = ""
    """For people: which field, which value, what is allowed."""

    def __post_init__(self) -> None:
        check_flags(self, "accepted")
        reason = self.reason
        check_class("reason", reason, AckReason)
        check_ints(self, "stamp_ns")
        check_class("applied", self.applied, ActuatorCommand, type(None))
        check_texts(self, "detail")
        if self.accepted is not (reason is AckReason.OK) and reason is not AckReason.REPLAY:
            raise ValueError(f"accepted={self.accepted} does not go with reason {reason.name}")
        if not self.accepted and self.applied is not None:
            raise ValueError("applied must be None when accepted is False: nothing was commanded")

    @property
    def stamp_sim_ns(self) -> int:
        """The same as `stamp_ns`, under the name the bus orders by."""
        return self.stamp_ns


@dataclass(frozen=True, slots=True, eq=False)
class CommandRecord(Message):
    """A command as it was sent, for the bus and the recorder."""

    stamp_sim_ns: int
    command: ActuatorCommand

    def __post_init__(self) -> None:
        check_ints(self, "stamp_sim_ns")
        check_class("command", self.command, ActuatorCommand)


@dataclass(frozen=True, slots=True, eq=False)
class ActuatorSpec(Message):
    """What a sink takes."""

    levels: tuple[ActuatorLevel, ...]
    motor_count: int
    """Length of `MotorCommand.thrust`; 0 where MOTOR is not offered."""
    max_velocity_mps: float
    """VELOCITY commands are clamped to this norm."""
    max_rate_rps: tuple[float, float, float]
    """BODY_RATE commands are clamped to ± these, FLU."""
    max_position_m: float = 1.0e6
    """POSITION commands beyond this distance from the origin are refused (OUT_OF_RANGE)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        for level in self.levels:
            check_class("levels", level, ActuatorLevel)
        check_ints(self, "motor_count", minimum=0)
        check_reals(self, "max_velocity_mps", "max_position_m")
        if not isinstance(self.max_rate_rps, tuple) or len(self.max_rate_rps) != 3:
            raise ValueError(f"max_rate_rps must be three numbers, got {self.max_rate_rps!r}")
        for rate in self.max_rate_rps:
            check_class("max_rate_rps", rate, float, int)


class ActuatorSink(Protocol):
    """Where commands go."""

    spec: ActuatorSpec

    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck:
        """Apply a command from the next step on, until another replaces it.

        Always returns an ack and never raises, whatever `cmd` and `stamp_ns` are. `stamp_ns` is the
        time the command was made for: older than the last accepted one is STALE, in the future is
        OUT_OF_RANGE. A refused command changes nothing. After `shutdown()` the answer is CLOSED.
        """


class Armable(Protocol):
    """Optional, for a backend with an autopilot (D16).

    `capabilities.extensions["armable"]` is true where a backend implements it.
    """

    @property
    def armed(self) -> bool:
        """Whether the motors are armed, as last heard from the autopilot."""

    def arm(self) -> CommandAck:
        """Arm the motors; a refusal carries the autopilot's own reason in `detail`."""

    def disarm(self) -> CommandAck:
        """Disarm the motors."""
