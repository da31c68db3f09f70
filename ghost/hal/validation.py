"""Judging a command before it is applied, the same way for every sink (D15).

A sink calls `check_command` and acts on the verdict; whatever object it is handed, this module
answers and never raises.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ghost.hal.actuator import (
    AckReason,
    ActuatorCommand,
    ActuatorSpec,
    AttitudeCommand,
    BodyRateCommand,
    MotorCommand,
    PositionCommand,
    VelocityCommand,
)

__all__ = ["Verdict", "check_command"]

_QUATERNION_TOLERANCE = 1e-3
"""A quaternion whose norm is off by more than this is refused, less is normalised."""


class Verdict(NamedTuple):
    """`applied` is set exactly when `reason` is OK; `numbers` are its values as plain floats."""

    reason: AckReason
    detail: str = ""
    applied: ActuatorCommand | None = None
    numbers: tuple[float, ...] = ()
    stamp_ns: int = 0


class _Refused(Exception):
    def __init__(self, reason: AckReason, detail: str) -> None:
        super().__init__(detail)
        self.verdict = Verdict(reason, detail)


def _floats(name: str, value: object, length: int) -> list[float]:
    if type(value) is not np.ndarray:
        raise _Refused(
            AckReason.INVALID_TYPE, f"{name} must be a numpy array, got {type(value).__name__}"
        )
    if value.shape != (length,):
        raise _Refused(
            AckReason.WRONG_SHAPE, f"{name} must have shape ({length},), got {value.shape}"
        )
    if value.dtype != np.float64:
        raise _Refused(AckReason.INVALID_TYPE, f"{name} must be float64, got {value.dtype}")
    numbers: list[float] = value.tolist()
    for number in numbers:
        if not math.isfinite(number):
            raise _Refused(AckReason.INVALID_VALUE, f"{name} must be finite, got {numbers}")
    return numbers


def _number(name: str, value: object) -> float:
    if type(value) is not float:
        raise _Refused(
            AckReason.INVALID_TYPE, f"{name} must be a float, got {type(value).__name__}"
        )
    if not math.isfinite(value):
        raise _Refused(AckReason.INVALID_VALUE, f"{name} must be finite, got {value!r}")
    return value


def _clamp(value: float, low: float, high: float) -> float:
    return low if value < low else high if value > high else value


def _array(values: list[float]) -> Any:
    return np.array(values, dtype=np.float64)


def _motor(cmd: MotorCommand, spec: ActuatorSpec) -> Verdict:
    thrust = _floats("thrust", cmd.thrust, spec.motor_count)
    clamped = [_clamp(u, 0.0, 1.0) for u in thrust]
    applied = cmd if clamped == thrust else MotorCommand(_array(clamped))
    return Verdict(AckReason.OK, "", applied, tuple(clamped))


def _body_rate(cmd: BodyRateCommand, spec: ActuatorSpec) -> Verdict:
    rate = _floats("rate_flu_rps", cmd.rate_flu_rps, 3)
    collective = _number("collective", cmd.collective)
    clamped = [_clamp(w, -m, m) for w, m in zip(rate, spec.max_rate_rps, strict=True)]
    level = _clamp(collective, 0.0, 1.0)
    same = clamped == rate and level == collective
    applied = cmd if same else BodyRateCommand(_array(clamped), level)
    return Verdict(AckReason.OK, "", applied, (*clamped, level))


def _attitude(cmd: AttitudeCommand, spec: ActuatorSpec) -> Verdict:  # noqa: ARG001 - one signature
    quaternion = _floats("q_enu_flu", cmd.q_enu_flu, 4)
    collective = _number("collective", cmd.collective)
    norm = math.hypot(*quaternion)
    if not abs(norm - 1.0) <= _QUATERNION_TOLERANCE:
        raise _Refused(
            AckReason.INVALID_VALUE, f"q_enu_flu must be a unit quaternion, its norm is {norm:g}"
        )
    unit = quaternion if norm == 1.0 else [c / norm for c in quaternion]
    level = _clamp(collective, 0.0, 1.0)
    same = unit == quaternion and level == collective
    applied = cmd if same else AttitudeCommand(_array(unit), level)
    return Verdict(AckReason.OK, "", applied, (*unit, level))


def _velocity(cmd: VelocityCommand, spec: ActuatorSpec) -> Verdict:
    velocity = _floats("vel_enu_mps", cmd.vel_enu_mps, 3)
    yaw_rate = _number("yaw_rate_rps", cmd.yaw_rate_rps)
    speed = math.hypot(*velocity)
    if not math.isfinite(speed):
        raise _Refused(AckReason.OUT_OF_RANGE, f"vel_enu_mps is too large: {velocity}")
    limit = spec.max_velocity_mps
    clamped = velocity if speed <= limit else [v * (limit / speed) for v in velocity]
    rate = _clamp(yaw_rate, -spec.max_rate_rps[2], spec.max_rate_rps[2])
    same = clamped is velocity and rate == yaw_rate
    applied = cmd if same else VelocityCommand(_array(clamped), rate)
    return Verdict(AckReason.OK, "", applied, (*clamped, rate))


def _position(cmd: PositionCommand, spec: ActuatorSpec) -> Verdict:
    position = _floats("pos_enu_m", cmd.pos_enu_m, 3)
    yaw = _number("yaw_rad", cmd.yaw_rad)
    if not math.hypot(*position) <= spec.max_position_m:
        raise _Refused(
            AckReason.OUT_OF_RANGE,
            f"pos_enu_m {position} is farther than {spec.max_position_m:g} m from the origin",
        )
    wrapped = yaw if -math.pi <= yaw <= math.pi else math.remainder(yaw, 2.0 * math.pi)
    applied = cmd if wrapped == yaw else PositionCommand(_array(position), wrapped)
    return Verdict(AckReason.OK, "", applied, (*position, wrapped))


_CHECKS: dict[type, Callable[[Any, ActuatorSpec], Verdict]] = {
    MotorCommand: _motor,
    BodyRateCommand: _body_rate,
    AttitudeCommand: _attitude,
    VelocityCommand: _velocity,
    PositionCommand: _position,
}


def check_command(
    cmd: object, stamp_ns: object, spec: ActuatorSpec, *, now_ns: int, last_stamp_ns: int
) -> Verdict:
    """Judge a command: refuse it with a reason, or say what of it is applied after clamping.

    Thrusts and collectives are clamped to 0..1, rates and speeds to the limits of `spec`, yaw is
    wrapped to ±π; a position out of reach is refused, since half of a way is another place.
    """
    check = _CHECKS.get(type(cmd))
    if check is None:
        return Verdict(
            AckReason.INVALID_TYPE,
            f"expected one of {', '.join(kind.__name__ for kind in _CHECKS)}, "
            f"got {type(cmd).__name__}",
        )
    assert isinstance(cmd, ActuatorCommand)
    if cmd.level not in spec.levels:
        offered = ", ".join(level.name for level in spec.levels) or "none"
        return Verdict(
            AckReason.UNSUPPORTED_LEVEL, f"{cmd.level.name} is not offered here, only {offered}"
        )
    try:
        if isinstance(stamp_ns, (bool, np.bool_)):
            raise TypeError("bool")
        stamp = operator.index(stamp_ns)  # type: ignore[arg-type]  # whatever it is, it is judged
    except Exception:  # noqa: BLE001 - __index__ of a foreign object may raise anything
        return Verdict(
            AckReason.INVALID_TYPE,
            f"stamp_ns must be an integer of nanoseconds, got {type(stamp_ns).__name__}",
        )
    if stamp > now_ns:
        return Verdict(AckReason.OUT_OF_RANGE, f"stamp_ns {stamp} is after now, {now_ns}")
    if stamp < last_stamp_ns:
        return Verdict(
            AckReason.STALE, f"stamp_ns {stamp} is before the last accepted, {last_stamp_ns}"
        )
    try:
        verdict = check(cmd, spec)
    except _Refused as refusal:
        return refusal.verdict
    except Exception as error:  # noqa: BLE001 - a forged command may raise anything on access
        return Verdict(
            AckReason.INVALID_TYPE,
            f"{type(cmd).__name__} could not be read: {type(error).__name__}",
        )
    return verdict._replace(stamp_ns=stamp)
