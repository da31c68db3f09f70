"""Sending a command on the bench, and what its answer must look like (D15)."""

from __future__ import annotations

from typing import Any, cast

from ghost.hal import (
    AckReason,
    ActuatorCommand,
    ActuatorLevel,
    CommandAck,
)
from ghost.testing.bench import Bench
from ghost.testing.contract import ConformanceFailure, require

__all__ = ["declared_levels", "must_accept", "must_refuse", "send"]


def send(bench: Bench, name: str, command: object, stamp: object) -> CommandAck:
    """Send anything, and require that the answer is an ack."""
    did = f"sent {name}"
    try:
        ack: object = bench.backend.actuators().send(cast("Any", command), cast("Any", stamp))
    except Exception as error:
        raise ConformanceFailure(
            did,
            f"send() raised {type(error).__name__}",
            "judge commands with ghost.hal.validation.check_command, which never raises",
        ) from error
    if not isinstance(ack, CommandAck):
        raise ConformanceFailure(
            did, f"send() returned {type(ack).__name__}", "return a CommandAck in every case"
        )
    return ack


def must_accept(bench: Bench, name: str, command: ActuatorCommand, stamp: object) -> CommandAck:
    ack = send(bench, name, command, stamp)
    require(
        ack.accepted is True and ack.reason is AckReason.OK and ack.applied is not None,
        f"sent {name}",
        f"the answer was accepted={ack.accepted}, {ack.reason.name}, applied={ack.applied!r}: "
        f"{ack.detail}",
        "accept well-formed commands of declared levels, and say in `applied` what is done",
    )
    require(
        ack.stamp_ns == bench.now_ns,
        f"sent {name} at {bench.now_ns} ns",
        f"the ack is stamped {ack.stamp_ns} ns",
        "stamp acks with the backend's clock",
    )
    return ack


def must_refuse(
    bench: Bench, name: str, command: object, stamp: object, reasons: frozenset[AckReason]
) -> None:
    ack = send(bench, name, command, stamp)
    wanted = " or ".join(sorted(reason.name for reason in reasons))
    require(
        ack.accepted is False and ack.applied is None,
        f"sent {name}",
        f"the answer was accepted={ack.accepted} with applied={ack.applied!r}",
        f"refuse it with {wanted}, and leave `applied` None",
    )
    require(
        ack.reason in reasons,
        f"sent {name}",
        f"the reason was {ack.reason.name} ({ack.detail})",
        f"give the reason {wanted}",
    )
    require(
        bool(ack.detail.strip()),
        f"sent {name}",
        "the refusal has an empty detail",
        "say in `detail` which field was wrong and what is allowed",
    )


def declared_levels(bench: Bench) -> tuple[ActuatorLevel, ...]:
    return bench.backend.capabilities.actuator_levels
