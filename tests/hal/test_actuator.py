"""Commands and their answers (C-HAL-88)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from ghost.hal import (
    AckReason,
    ActuatorCommand,
    ActuatorLevel,
    AttitudeCommand,
    BodyRateCommand,
    CommandAck,
    MotorCommand,
    PositionCommand,
    VelocityCommand,
)


def test_each_level_has_its_command() -> None:
    levels = {
        MotorCommand: ActuatorLevel.MOTOR,
        BodyRateCommand: ActuatorLevel.BODY_RATE,
        AttitudeCommand: ActuatorLevel.ATTITUDE,
        VelocityCommand: ActuatorLevel.VELOCITY,
        PositionCommand: ActuatorLevel.POSITION,
    }
    assert set(levels.values()) == set(ActuatorLevel)
    for cls, level in levels.items():
        assert issubclass(cls, ActuatorCommand)
        assert cls.level is level


def test_the_reasons_are_those_of_the_decision() -> None:
    names = {reason.name for reason in AckReason}
    assert names >= {"OK", "INVALID_TYPE", "INVALID_VALUE", "WRONG_SHAPE", "OUT_OF_RANGE"}
    assert names >= {"UNSUPPORTED_LEVEL", "STALE", "NOT_ARMED", "AUTOPILOT_OFFLINE", "TIMEOUT"}
    assert names >= {"REPLAY", "CLOSED"}
    assert len(names) == 12
    assert all(reason.value == reason.name.lower() for reason in AckReason)


@pytest.mark.parametrize("reason", list(AckReason))
@pytest.mark.parametrize("accepted", [True, False])
def test_accepted_goes_with_its_reason(reason: AckReason, accepted: bool) -> None:
    if accepted == (reason is AckReason.OK) or reason is AckReason.REPLAY:
        assert CommandAck(accepted, reason, 1).reason is reason
    else:
        with pytest.raises(ValueError, match=f"does not go with reason {reason.name}"):
            CommandAck(accepted, reason, 1)


def test_a_refusal_applied_nothing() -> None:
    command = MotorCommand(np.zeros(4))
    with pytest.raises(ValueError, match=r"^applied must be None when accepted is False"):
        CommandAck(False, AckReason.STALE, 1, command)
    assert CommandAck(True, AckReason.OK, 1, command).applied is command


def test_acks_and_records_check_types(examples: Mapping[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"^reason must be a AckReason, got str 'ok'"):
        examples["CommandAck"].make(reason="ok")
    with pytest.raises(TypeError, match=r"^applied must be a ActuatorCommand or None"):
        examples["CommandAck"].make(applied=(1, 2))
    with pytest.raises(TypeError, match=r"^command must be a ActuatorCommand, got NoneType"):
        examples["CommandRecord"].make(command=None)
    assert type(examples["CommandAck"].make(accepted=np.bool_(True)).accepted) is bool


def test_acks_are_ordered_by_their_stamp(examples: Mapping[str, Any]) -> None:
    ack = examples["CommandAck"].make()
    assert ack.stamp_sim_ns == ack.stamp_ns == 20_000_000


def test_specs_check_their_parts(examples: Mapping[str, Any]) -> None:
    spec = examples["ActuatorSpec"]
    with pytest.raises(ValueError, match=r"^motor_count must be at least 0"):
        spec.make(motor_count=-1)
    with pytest.raises(ValueError, match=r"^max_rate_rps must be three numbers"):
        spec.make(max_rate_rps=(1.0, 2.0))
    with pytest.raises(TypeError, match=r"^max_rate_rps must be a float or int, got str"):
        spec.make(max_rate_rps=(1.0, 2.0, "3"))
    with pytest.raises(TypeError, match=r"^levels must be a ActuatorLevel"):
        spec.make(levels=("motor",))
