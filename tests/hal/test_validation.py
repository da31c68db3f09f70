"""Every sink judges commands the same way (C-HAL-80 to C-HAL-87)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.hal import (
    AckReason,
    ActuatorLevel,
    ActuatorSpec,
    AttitudeCommand,
    BodyRateCommand,
    MotorCommand,
    PositionCommand,
    VelocityCommand,
    Verdict,
    check_command,
)

SPEC = ActuatorSpec(tuple(ActuatorLevel), 4, 5.0, (4.0, 3.0, 2.0), 100.0)


def judge(cmd: object, stamp_ns: object = 10, spec: ActuatorSpec = SPEC) -> Verdict:
    return check_command(cmd, stamp_ns, spec, now_ns=20, last_stamp_ns=5)


def _applied(cmd: object) -> Any:
    verdict = judge(cmd)
    assert verdict.reason is AckReason.OK, verdict
    assert verdict.detail == ""
    return verdict.applied


VALID = [
    MotorCommand(np.array([0.0, 0.5, 0.5, 1.0])),
    BodyRateCommand(np.array([4.0, -3.0, 2.0]), 1.0),
    AttitudeCommand(np.array([0.0, 0.0, 0.0, -1.0]), 0.0),
    VelocityCommand(np.array([3.0, 4.0, 0.0]), -2.0),
    PositionCommand(np.array([100.0, 0.0, 0.0]), math.pi),
]


@pytest.mark.parametrize("cmd", VALID, ids=lambda cmd: type(cmd).__name__)
def test_what_is_within_the_limits_is_applied_as_it_is(cmd: Any) -> None:
    verdict = judge(cmd)
    assert verdict.applied is cmd
    assert verdict.reason is AckReason.OK
    assert verdict.stamp_ns == 10
    assert all(type(number) is float for number in verdict.numbers)


def test_what_is_beyond_the_limits_is_clamped() -> None:
    assert _applied(MotorCommand(np.array([-0.1, 0.5, 1.5, 1.0]))) == MotorCommand(
        np.array([0.0, 0.5, 1.0, 1.0])
    )
    assert _applied(BodyRateCommand(np.array([5.0, -5.0, 5.0]), -1.0)) == BodyRateCommand(
        np.array([4.0, -3.0, 2.0]), 0.0
    )
    assert _applied(VelocityCommand(np.array([6.0, 8.0, 0.0]), 9.0)) == VelocityCommand(
        np.array([3.0, 4.0, 0.0]), 2.0
    )
    turned = _applied(PositionCommand(np.zeros(3), 1.5 * math.pi))
    assert turned.yaw_rad == pytest.approx(-0.5 * math.pi)
    unit = _applied(AttitudeCommand(np.array([1.0005, 0.0, 0.0, 0.0]), 2.0))
    assert unit == AttitudeCommand(np.array([1.0, 0.0, 0.0, 0.0]), 1.0)


def _with(values: list[float], bad: float) -> list[np.ndarray[Any, Any]]:
    return [np.array([*values[:i], bad, *values[i + 1 :]]) for i in range(len(values))]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_refused_wherever_they_are(bad: float) -> None:
    three, unit = [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]
    commands = [
        *[MotorCommand(array) for array in _with([0.5] * 4, bad)],
        *[BodyRateCommand(array, 0.5) for array in _with(three, bad)],
        *[AttitudeCommand(array, 0.5) for array in _with(unit, bad)],
        *[VelocityCommand(array, 0.0) for array in _with(three, bad)],
        *[PositionCommand(array, 0.0) for array in _with(three, bad)],
        BodyRateCommand(np.zeros(3), bad),
        AttitudeCommand(np.array(unit), bad),
        VelocityCommand(np.zeros(3), bad),
        PositionCommand(np.zeros(3), bad),
    ]
    for cmd in commands:
        verdict = judge(cmd)
        assert verdict.reason is AckReason.INVALID_VALUE, cmd
        assert verdict.applied is None
        assert "must be finite" in verdict.detail


@pytest.mark.parametrize(
    ("cmd", "reason", "detail"),
    [
        (None, AckReason.INVALID_TYPE, "got NoneType"),
        ("up", AckReason.INVALID_TYPE, "got str"),
        (MotorCommand, AckReason.INVALID_TYPE, "got type"),
        (MotorCommand(np.zeros(3)), AckReason.WRONG_SHAPE, "(4,), got (3,)"),
        (MotorCommand(np.zeros(0)), AckReason.WRONG_SHAPE, "(4,), got (0,)"),
        (AttitudeCommand(np.zeros(4), 0.5), AckReason.INVALID_VALUE, "unit quaternion"),
        (AttitudeCommand(np.full(4, 1.0), 0.5), AckReason.INVALID_VALUE, "its norm is 2"),
        (PositionCommand(np.array([0.0, 0.0, 101.0])), AckReason.OUT_OF_RANGE, "farther than 100"),
        (VelocityCommand(np.full(3, 1.7e308)), AckReason.OUT_OF_RANGE, "too large"),
    ],
)
def test_refusals_say_why(cmd: object, reason: AckReason, detail: str) -> None:
    verdict = judge(cmd)
    assert (verdict.reason, verdict.applied) == (reason, None)
    assert detail in verdict.detail


@pytest.mark.parametrize(
    ("stamp", "reason"),
    [
        (21, AckReason.OUT_OF_RANGE),
        (20, AckReason.OK),
        (5, AckReason.OK),
        (4, AckReason.STALE),
        (-1, AckReason.STALE),
        (np.int64(7), AckReason.OK),
        (7.0, AckReason.INVALID_TYPE),
        (True, AckReason.INVALID_TYPE),
        (np.bool_(True), AckReason.INVALID_TYPE),
        (None, AckReason.INVALID_TYPE),
        ("7", AckReason.INVALID_TYPE),
    ],
)
def test_stamps(stamp: object, reason: AckReason) -> None:
    verdict = judge(VALID[0], stamp)
    assert verdict.reason is reason
    assert verdict.stamp_ns == (int(stamp) if reason is AckReason.OK else 0)  # type: ignore[call-overload]  # only integers get here


def test_a_level_that_is_not_offered_is_refused() -> None:
    spec = ActuatorSpec((ActuatorLevel.VELOCITY,), 0, 5.0, (4.0, 3.0, 2.0))
    verdict = judge(VALID[0], spec=spec)
    assert verdict.reason is AckReason.UNSUPPORTED_LEVEL
    assert "MOTOR is not offered here, only VELOCITY" in verdict.detail
    none = ActuatorSpec((), 0, 5.0, (4.0, 3.0, 2.0))
    assert "only none" in judge(VALID[0], spec=none).detail


@pytest.mark.parametrize(
    "forged", [None, "x", [1.0] * 4, np.zeros(4, np.float32), np.zeros((4, 4))]
)
def test_a_command_forged_past_its_constructor_is_refused(forged: object) -> None:
    cmd = MotorCommand(np.zeros(4))
    object.__setattr__(cmd, "thrust", forged)
    assert judge(cmd).reason in (AckReason.INVALID_TYPE, AckReason.WRONG_SHAPE)
    hollow = object.__new__(VelocityCommand)
    assert judge(hollow).reason is AckReason.INVALID_TYPE


class _Rude:
    def __index__(self) -> int:
        raise RuntimeError("no")


def test_a_stamp_that_raises_is_refused() -> None:
    assert judge(VALID[0], _Rude()).reason is AckReason.INVALID_TYPE


@given(st.lists(st.floats(), min_size=4, max_size=4), st.floats())
@settings(deadline=None)
def test_what_is_applied_is_within_the_limits(values: list[float], number: float) -> None:
    three = np.array(values[:3])
    for cmd in (
        MotorCommand(np.array(values)),
        BodyRateCommand(three, number),
        AttitudeCommand(np.array(values), number),
        VelocityCommand(three, number),
        PositionCommand(three, number),
    ):
        verdict = judge(cmd)
        assert (verdict.applied is None) == (verdict.reason is not AckReason.OK)
        assert all(math.isfinite(n) for n in verdict.numbers)
        applied = verdict.applied
        if isinstance(applied, MotorCommand):
            assert all(0.0 <= u <= 1.0 for u in applied.thrust)
        elif isinstance(applied, BodyRateCommand):
            assert (np.abs(applied.rate_flu_rps) <= SPEC.max_rate_rps).all()
        elif isinstance(applied, AttitudeCommand):
            assert math.hypot(*applied.q_enu_flu) == pytest.approx(1.0)
        elif isinstance(applied, VelocityCommand):
            assert math.hypot(*applied.vel_enu_mps) <= 5.0 * (1 + 1e-12)
        elif isinstance(applied, PositionCommand):
            assert abs(applied.yaw_rad) <= math.pi
