"""A corpus of what must be refused: commands and stamps that no caller should send.

Messages check their fields at construction, so most of these are forged past it, the way a buggy
caller, a bad cast or a decoder without checks would.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ghost.core import ScenarioSpec
from ghost.hal import (
    AckReason,
    ActuatorCommand,
    ActuatorLevel,
    AttitudeCommand,
    BodyRateCommand,
    MotorCommand,
    PositionCommand,
    VelocityCommand,
)

__all__ = ["Malformed", "extreme_commands", "forge", "malformed_commands", "malformed_stamps"]

_TYPE = frozenset({AckReason.INVALID_TYPE})
_VALUE = frozenset({AckReason.INVALID_VALUE})
_SHAPE = frozenset({AckReason.WRONG_SHAPE})
_RANGE = frozenset({AckReason.OUT_OF_RANGE})
_SHAPE_OR_TYPE = _SHAPE | _TYPE
_ANY = _TYPE | _VALUE | _SHAPE | _RANGE


@dataclass(frozen=True, slots=True)
class Malformed:
    """One thing to send."""

    name: str
    thing: object
    """The command, or for `malformed_stamps` the stamp."""
    reasons: frozenset[AckReason]
    """Any of these is a right answer."""
    level: ActuatorLevel | None = None
    """The level it pretends to be of; a backend without it may say UNSUPPORTED_LEVEL instead."""


def forge(kind: type[ActuatorCommand], **values: object) -> Any:
    """Make a command past its constructor. Fields that are not given stay unset."""
    command = object.__new__(kind)
    for name, value in values.items():
        object.__setattr__(command, name, value)
    return command


class _Hostile:
    """Every use of it raises."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(f"no {name} for you")

    def __array__(self, *_args: object, **_kwargs: object) -> Any:
        raise RuntimeError("no array for you")

    def __index__(self) -> int:
        raise RuntimeError("no index for you")

    def __float__(self) -> float:
        raise RuntimeError("no float for you")

    def __len__(self) -> int:
        raise RuntimeError("no length for you")

    def __repr__(self) -> str:
        raise RuntimeError("no text for you")


class _RaisingField(VelocityCommand):
    """A command whose payload cannot be read."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        if name == "vel_enu_mps":
            raise RuntimeError("broken field")
        return object.__getattribute__(self, name)


def malformed_commands(scenario: ScenarioSpec) -> tuple[Malformed, ...]:
    """The malformed commands, for a vehicle with the scenario's rotors."""
    return (*_foreign(), *_motor(len(scenario.vehicle.rotors)), *_upper())


def _foreign() -> list[Malformed]:
    """Objects that are no command at all."""
    things: list[tuple[str, object]] = [
        ("None", None),
        ("a text", "hover"),
        ("bytes", b"\x00\x01"),
        ("an int", 42),
        ("a float", 0.5),
        ("a bool", True),
        ("a complex number", 1 + 2j),
        ("a list", [0.5, 0.5, 0.5, 0.5]),
        ("a nested list", [[0.1], [[0.2]]]),
        ("a dict", {"thrust": [0.5] * 4}),
        ("a nested dict", {"motor": {"thrust": {"0": 0.5}}}),
        ("an array", np.full(4, 0.5)),
        ("an object array", np.array([object()], dtype=object)),
        ("the class, not an instance", MotorCommand),
        ("a function", lambda: None),
        ("an exception", ValueError("x")),
        ("an object whose every use raises", _Hostile()),
        ("the bare base class", object.__new__(ActuatorCommand)),
        ("a bare object", object()),
    ]
    return [Malformed(name, thing, _TYPE) for name, thing in things]


def _motor(count: int) -> list[Malformed]:
    good = np.full(count, 0.5)
    nan, inf, low = good.copy(), good.copy(), good.copy()
    nan[-1], inf[0], low[0] = np.nan, np.inf, -np.inf
    things: list[tuple[str, object, frozenset[AckReason]]] = [
        ("NaN in thrust", nan, _VALUE),
        ("+inf in thrust", inf, _VALUE),
        ("-inf in thrust", low, _VALUE),
        ("all NaN thrust", np.full(count, np.nan), _VALUE),
        ("one thrust too many", np.full(count + 1, 0.5), _SHAPE),
        ("one thrust too few", np.full(count - 1, 0.5), _SHAPE),
        ("no thrust", np.zeros(0), _SHAPE),
        ("a column of thrusts", good.reshape(-1, 1), _SHAPE),
        ("a matrix of thrusts", np.full((count, count), 0.5), _SHAPE),
        ("a scalar array of thrust", np.array(0.5), _SHAPE),
        ("float32 thrust", good.astype(np.float32), _TYPE),
        ("integer thrust", np.ones(count, dtype=np.int64), _TYPE),
        ("complex thrust", good.astype(np.complex128), _TYPE),
        ("bool thrust", np.ones(count, dtype=np.bool_), _TYPE),
        ("text thrust", np.array(["0.5"] * count), _TYPE),
        ("object thrust", np.array([None] * count, dtype=object), _TYPE),
        ("a list of thrusts", good.tolist(), _TYPE),
        ("thrust None", None, _TYPE),
        ("thrust of text", "full", _TYPE),
        ("a dict of thrusts", dict.fromkeys(range(count), 0.5), _TYPE),
        ("hostile thrust", _Hostile(), _TYPE),
    ]
    motor = ActuatorLevel.MOTOR
    found = [
        Malformed(name, forge(MotorCommand, thrust=value), reasons, motor)
        for name, value, reasons in things
    ]
    found.append(Malformed("a motor command without fields", forge(MotorCommand), _TYPE, motor))
    return found


def _upper() -> list[Malformed]:
    zero, unit = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    rate, att = ActuatorLevel.BODY_RATE, ActuatorLevel.ATTITUDE
    vel, pos = ActuatorLevel.VELOCITY, ActuatorLevel.POSITION

    def rates(**values: object) -> Any:
        return forge(BodyRateCommand, **{"rate_flu_rps": zero, "collective": 0.5, **values})

    def attitude(**values: object) -> Any:
        return forge(AttitudeCommand, **{"q_enu_flu": unit, "collective": 0.5, **values})

    def velocity(**values: object) -> Any:
        return forge(VelocityCommand, **{"vel_enu_mps": zero, "yaw_rate_rps": 0.0, **values})

    def position(**values: object) -> Any:
        return forge(PositionCommand, **{"pos_enu_m": zero, "yaw_rad": 0.0, **values})

    def bad(value: float) -> Any:
        return np.array([0.0, value, 0.0])

    things: list[tuple[str, object, frozenset[AckReason], ActuatorLevel]] = [
        ("NaN in body rates", rates(rate_flu_rps=bad(np.nan)), _VALUE, rate),
        ("inf in body rates", rates(rate_flu_rps=bad(np.inf)), _VALUE, rate),
        ("NaN collective", rates(collective=float("nan")), _VALUE, rate),
        ("inf collective", rates(collective=float("inf")), _VALUE, rate),
        ("collective None", rates(collective=None), _TYPE, rate),
        ("collective of text", rates(collective="half"), _TYPE, rate),
        ("complex collective", rates(collective=0.5 + 0j), _TYPE, rate),
        ("four body rates", rates(rate_flu_rps=np.zeros(4)), _SHAPE, rate),
        ("collective is a list", rates(collective=[0.5]), _TYPE, rate),
        ("collective is missing", forge(BodyRateCommand, rate_flu_rps=zero), _TYPE, rate),
        ("zero quaternion", attitude(q_enu_flu=np.zeros(4)), _VALUE | _RANGE, att),
        ("quaternion of norm 2", attitude(q_enu_flu=2.0 * unit), _VALUE | _RANGE, att),
        ("quaternion of norm 1e-300", attitude(q_enu_flu=1e-300 * unit), _VALUE | _RANGE, att),
        ("quaternion of norm 1e308", attitude(q_enu_flu=np.full(4, 1e308)), _VALUE | _RANGE, att),
        ("NaN quaternion", attitude(q_enu_flu=np.full(4, np.nan)), _VALUE, att),
        ("inf quaternion", attitude(q_enu_flu=np.array([np.inf, 0, 0, 0])), _VALUE, att),
        ("three of a quaternion", attitude(q_enu_flu=zero), _SHAPE, att),
        ("attitude with NaN collective", attitude(collective=float("nan")), _VALUE, att),
        ("a rotation matrix", attitude(q_enu_flu=np.eye(3)), _SHAPE, att),
        ("NaN velocity", velocity(vel_enu_mps=bad(np.nan)), _VALUE, vel),
        ("inf velocity", velocity(vel_enu_mps=bad(-np.inf)), _VALUE, vel),
        ("NaN yaw rate", velocity(yaw_rate_rps=float("nan")), _VALUE, vel),
        ("inf yaw rate", velocity(yaw_rate_rps=float("-inf")), _VALUE, vel),
        ("a plane velocity", velocity(vel_enu_mps=np.zeros(2)), _SHAPE, vel),
        ("a list of velocity", velocity(vel_enu_mps=[0.0, 0.0, 0.0]), _TYPE, vel),
        ("a ragged velocity", velocity(vel_enu_mps=[[0.0], [0.0, 1.0]]), _SHAPE_OR_TYPE, vel),
        ("yaw rate of bytes", velocity(yaw_rate_rps=b"1"), _TYPE, vel),
        ("a hostile yaw rate", velocity(yaw_rate_rps=_Hostile()), _TYPE, vel),
        ("velocity that cannot be read", object.__new__(_RaisingField), _ANY, vel),
        ("NaN position", position(pos_enu_m=bad(np.nan)), _VALUE, pos),
        ("inf position", position(pos_enu_m=bad(np.inf)), _VALUE, pos),
        ("NaN yaw", position(yaw_rad=float("nan")), _VALUE, pos),
        ("position out of reach", position(pos_enu_m=np.array([1e300, 0.0, 0.0])), _RANGE, pos),
        ("position whose norm overflows", position(pos_enu_m=np.full(3, 1.7e308)), _RANGE, pos),
        ("a position of six", position(pos_enu_m=np.zeros(6)), _SHAPE, pos),
        ("yaw is a dict", position(yaw_rad={"deg": 90}), _TYPE, pos),
        ("masked position", position(pos_enu_m=np.ma.array(np.zeros(3), mask=True)), _ANY, pos),
    ]
    return [Malformed(*row) for row in things]


def malformed_stamps(now_ns: int) -> tuple[Malformed, ...]:
    """Stamps to send with a good command after one was accepted at `now_ns` > 0."""
    stale = frozenset({AckReason.STALE})
    early = stale | _RANGE | _VALUE
    return (
        Malformed("a float stamp", float(now_ns), _TYPE),
        Malformed("a NaN stamp", float("nan"), _TYPE),
        Malformed("a numpy float stamp", np.float64(now_ns), _TYPE),
        Malformed("stamp None", None, _TYPE),
        Malformed("stamp of text", str(now_ns), _TYPE),
        Malformed("a bool stamp", True, _TYPE),
        Malformed("a complex stamp", complex(now_ns), _TYPE),
        Malformed("a list of stamps", [now_ns], _TYPE),
        Malformed("an array of stamps", np.array([now_ns, now_ns]), _TYPE),
        Malformed("a hostile stamp", _Hostile(), _TYPE),
        Malformed("a negative stamp", -1, early),
        Malformed("a huge negative stamp", -(2**70), early),
        Malformed("a stale stamp", now_ns - 1, stale),
        Malformed("a future stamp", now_ns + 1, _RANGE),
        Malformed("a stamp of 2**70", 2**70, _RANGE),
    )


def extreme_commands(
    scenario: ScenarioSpec,
) -> tuple[tuple[str, Callable[[], ActuatorCommand]], ...]:
    """Well-formed commands with extreme numbers: to be clamped, or refused as OUT_OF_RANGE."""
    count, unit = len(scenario.vehicle.rotors), np.array([1.0, 0.0, 0.0, 0.0])
    tiny, huge = 5e-324, 1e308
    return (
        ("huge thrust", lambda: MotorCommand(np.full(count, huge))),
        ("negative thrust", lambda: MotorCommand(np.full(count, -1.0))),
        ("subnormal thrust", lambda: MotorCommand(np.full(count, tiny))),
        ("thrust of -0.0", lambda: MotorCommand(np.full(count, -0.0))),
        ("huge body rates", lambda: BodyRateCommand(np.full(3, huge), 0.5)),
        ("huge collective", lambda: BodyRateCommand(np.zeros(3), huge)),
        ("negative collective", lambda: BodyRateCommand(np.zeros(3), -huge)),
        ("subnormal body rates", lambda: BodyRateCommand(np.full(3, tiny), tiny)),
        ("attitude with huge collective", lambda: AttitudeCommand(unit, huge)),
        ("attitude upside down", lambda: AttitudeCommand(np.array([0.0, 1.0, 0.0, 0.0]), 0.5)),
        ("huge velocity", lambda: VelocityCommand(np.array([huge, 0.0, 0.0]), 0.0)),
        ("velocity whose norm overflows", lambda: VelocityCommand(np.full(3, huge), 0.0)),
        ("huge yaw rate", lambda: VelocityCommand(np.zeros(3), -huge)),
        ("subnormal velocity", lambda: VelocityCommand(np.full(3, tiny), tiny)),
        ("huge yaw", lambda: PositionCommand(np.array([0.0, 0.0, 5.0]), huge)),
        ("many turns of yaw", lambda: PositionCommand(np.array([0.0, 0.0, 5.0]), 1e6)),
    )
