"""Checks of what a sink refuses, and that a refusal changes nothing (HAL spec §3.7, D15)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, cast

import numpy as np

from ghost.hal import (
    AckReason,
    ActuatorCommand,
    ActuatorLevel,
)
from ghost.testing.bench import Bench
from ghost.testing.checks.acks import declared_levels, must_accept, must_refuse, send
from ghost.testing.contract import Check, NotApplicable, Subject, check, require
from ghost.testing.flight import best_level, hover, valid_command
from ghost.testing.malformed import (
    Malformed,
    forge,
    malformed_commands,
    malformed_stamps,
)

__all__ = ["CHECKS"]


@check(
    contract="C-HAL-82",
    spec="HAL spec §7",
    asks="NaN or infinity anywhere in a command is refused with INVALID_VALUE",
    needs=("command",),
)
def actuator_rejects_nan(subject: Subject) -> None:
    """Send a NaN and both infinities in every field of every declared level."""
    with subject.started() as bench:
        for level in declared_levels(bench):
            good = valid_command(level, subject.scenario)
            for field in _field_names(good):
                for number in (float("nan"), float("inf"), float("-inf")):
                    bad = _spoiled(good, field, number)
                    name = f"a {level.name} command with {number} in {field}"
                    must_refuse(
                        bench, name, bad, bench.now_ns, frozenset({AckReason.INVALID_VALUE})
                    )


def _field_names(command: ActuatorCommand) -> list[str]:
    return [field.name for field in fields(cast("Any", command))]


def _spoiled(good: ActuatorCommand, field: str, number: float) -> ActuatorCommand:
    values = {name: getattr(good, name) for name in _field_names(good)}
    if isinstance(values[field], np.ndarray):
        array = values[field].copy()
        array[0] = number
        values[field] = array
    else:
        values[field] = number
    made: ActuatorCommand = forge(type(good), **values)
    return made


@check(
    contract="C-HAL-84",
    spec="D14, D15",
    asks="a level that is not declared is refused with UNSUPPORTED_LEVEL",
)
def undeclared_levels_are_refused(subject: Subject) -> None:
    """Send a valid command of each level that the backend does not declare."""
    with subject.started() as bench:
        missing = [level for level in ActuatorLevel if level not in declared_levels(bench)]
        if not missing:
            raise NotApplicable("the backend declares all five actuator levels")
        for level in missing:
            command = valid_command(level, subject.scenario)
            name = f"a {level.name} command, which is not declared"
            reasons = frozenset({AckReason.UNSUPPORTED_LEVEL})
            must_refuse(bench, name, command, bench.now_ns, reasons)


def _refusals(bench: Bench) -> Iterator[tuple[Malformed, object, object]]:
    """Everything that must be refused: (what, command, stamp)."""
    now_ns = bench.now_ns
    levels = declared_levels(bench)
    for case in malformed_commands(bench.scenario):
        yield case, case.thing, now_ns
    good = valid_command(best_level(levels), bench.scenario)
    for case in malformed_stamps(now_ns):
        yield case, good, case.thing


@check(
    contract="C-HAL-83",
    spec="HAL spec §3.7, D15",
    asks="send() refuses every malformed command and stamp with the right reason",
    needs=("command",),
)
def malformed_commands_are_refused(subject: Subject) -> None:
    """Send the whole corpus of malformed commands and stamps."""
    with subject.started() as bench:
        bench.step()
        must_accept(bench, "a valid command", hover(bench)(0.0), bench.now_ns)
        declared = declared_levels(bench)
        for case, command, stamp in _refusals(bench):
            reasons = case.reasons
            if case.level is not None and case.level not in declared:
                reasons = reasons | {AckReason.UNSUPPORTED_LEVEL}
            must_refuse(bench, case.name, command, stamp, reasons)


@check(
    contract="C-HAL-86",
    spec="D15",
    asks="a refused command changes nothing: the last accepted one stays in force",
    needs=("command", "deterministic"),
)
def refused_commands_change_nothing(subject: Subject) -> None:
    """Send the whole corpus in flight, and compare the next 0.2 s with a flight without it."""
    traces = []
    for disturb in (False, True):
        with subject.started() as bench:
            bench.step()
            bench.send(hover(bench)(0.0))
            if disturb:
                for case, command, stamp in _refusals(bench):
                    ack = send(bench, case.name, command, stamp)
                    require(
                        not ack.accepted,
                        f"sent {case.name}",
                        "it was accepted",
                        "judge commands with ghost.hal.validation.check_command",
                    )
            traces.append(bench.trace(0.2))
    difference = traces[0].difference(traces[1])
    require(
        difference is None,
        "sent every malformed command and flew on for 0.2 s, and flew the same without them",
        str(difference),
        "judge the whole command before touching anything",
    )


@check(
    contract="C-HAL-87",
    spec="D15",
    asks="a stamp older than the last accepted command's is STALE, one in the future OUT_OF_RANGE",
    needs=("command",),
)
def stale_and_future_stamps_are_refused(subject: Subject) -> None:
    """Send at 2 steps; then for 1 step, for now again, for the future, and after a reset."""
    step_ns = subject.scenario.step_ns
    with subject.started() as bench:
        bench.step()
        bench.step()
        command = hover(bench)(0.0)
        must_accept(bench, "a command stamped one step ago, the first", command, step_ns)
        must_accept(bench, "a command stamped now", command, 2 * step_ns)
        stale, future = frozenset({AckReason.STALE}), frozenset({AckReason.OUT_OF_RANGE})
        must_refuse(bench, "a command older than the last accepted", command, step_ns, stale)
        must_refuse(bench, "a command for the next step", command, 3 * step_ns, future)
        must_accept(bench, "a second command stamped now", command, 2 * step_ns)
        bench.backend.reset(scenario=subject.scenario, seed=1)
        must_accept(bench, "a command stamped 0 after a reset", command, 0)


CHECKS: tuple[Check, ...] = (
    actuator_rejects_nan,
    undeclared_levels_are_refused,
    malformed_commands_are_refused,
    refused_commands_change_nothing,
    stale_and_future_stamps_are_refused,
)
