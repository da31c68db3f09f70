"""Checks of `step()`: what it takes, what it refuses, and that its size does not matter (D6)."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ghost.hal import digest
from ghost.testing.bench import Bench
from ghost.testing.contract import Check, ConformanceFailure, Subject, check, require
from ghost.testing.flight import hover

__all__ = ["CHECKS"]


def _refuses(bench: Bench, dt_ns: object, wanted: type[Exception]) -> None:
    before = bench.now_ns
    did = f"called step({dt_ns!r}) where the step is {bench.scenario.step_ns} ns"
    fix = f"check dt_ns first (ghost.core.as_ns, then the remainder) and raise {wanted.__name__}"
    try:
        bench.backend.step(cast("Any", dt_ns))
    except Exception as error:
        if not isinstance(error, wanted):
            saw = f"it raised {type(error).__name__}: {error}"
            raise ConformanceFailure(did, saw, fix) from error
        require(
            bench.now_ns == before,
            did,
            f"it refused, but the clock moved from {before} to {bench.now_ns} ns",
            "check before moving anything",
        )
        return
    raise ConformanceFailure(did, f"it was accepted; the clock reads {bench.now_ns} ns", fix)


@check(
    contract="C-HAL-22",
    spec="D6",
    asks="a step that is no positive multiple of clock.step_ns() is ValueError and the world does "
    "not move",
)
def step_refuses_what_is_no_multiple(subject: Subject) -> None:
    """Step by one nanosecond more and less, by a half, and by less than one step."""
    step_ns = subject.scenario.step_ns
    with subject.started() as bench:
        bench.step()
        for dt_ns in {step_ns + 1, step_ns - 1, 3 * step_ns // 2 + step_ns % 2, 1} - {0, step_ns}:
            _refuses(bench, dt_ns, ValueError)
        bench.step()


@check(
    contract="C-HAL-22",
    spec="D1",
    asks="a zero or negative step is ValueError and the world does not move",
)
def step_refuses_zero_and_negative(subject: Subject) -> None:
    """Step by 0, by minus one step, and by a huge negative time."""
    with subject.started() as bench:
        bench.step()
        for dt_ns in (0, -subject.scenario.step_ns, -(2**70) * subject.scenario.step_ns):
            _refuses(bench, dt_ns, ValueError)
        bench.step()


@check(
    contract="C-HAL-22",
    spec="D1",
    asks="a float, bool or anything else that is not an integer is TypeError",
)
def step_refuses_what_is_no_integer(subject: Subject) -> None:
    """Step by a float, a bool, None, a text and a list."""
    step_ns = subject.scenario.step_ns
    with subject.started() as bench:
        bench.step()
        for dt_ns in (float(step_ns), float("nan"), True, None, str(step_ns), [step_ns]):
            _refuses(bench, dt_ns, TypeError)
        bench.step()


@check(
    contract="C-HAL-22",
    spec="D1",
    asks="step() takes what operator.index takes",
)
def step_takes_numpy_integers(subject: Subject) -> None:
    """Step by an int64 of numpy, and see that the clock stays a plain int."""
    with subject.started() as bench:
        step = cast("int", np.int64(subject.scenario.step_ns))
        did = f"called step({step!r})"
        try:
            bench.backend.step(step)
        except (TypeError, ValueError) as error:
            raise ConformanceFailure(
                did, f"it raised {type(error).__name__}: {error}", "use ghost.core.as_ns"
            ) from error
        require(
            type(bench.now_ns) is int and bench.now_ns == subject.scenario.step_ns,
            did,
            f"the clock reads {bench.now_ns!r} ({type(bench.now_ns).__name__})",
            "convert with ghost.core.as_ns before computing",
        )


@check(
    contract="C-HAL-25",
    spec="D6",
    asks="one step(n·dt) gives the same samples and truth as n times step(dt)",
    needs=("deterministic",),
)
def one_large_step_equals_many_small(subject: Subject) -> None:
    """Make one step of about one second, and the same time in single steps."""
    with subject.started() as small, subject.started() as large:
        count = small.steps_in(1.0)
        if small.backend.capabilities.actuator_levels:
            small.send(hover(small)(0.0))
            large.send(hover(large)(0.0))
        reports = [small.step() for _ in range(count)]
        report = large.backend.step(count * subject.scenario.step_ns)
        did = f"made one step of {count}·dt, and on another backend {count} steps of dt"
        require(
            report.steps == count,
            did,
            f"StepReport.steps of the large step is {report.steps}",
            "make every one of the scenario's steps inside a large one",
        )
        for sid in large.backend.sensors():
            made = sum(each.samples.get(sid, 0) for each in reports)
            require(
                report.samples.get(sid, 0) == made,
                did,
                f"{sid} published {report.samples.get(sid, 0)} samples in the large step, "
                f"{made} in the small ones",
                "sample the sensors at each of the scenario's steps inside a large one",
            )
        mine, theirs = small.poll(), large.poll()
        for sid, samples in mine.items():
            require(
                [digest(sample) for sample in samples] == [digest(s) for s in theirs[sid]],
                did,
                f"the samples of {sid} differ",
                "sample the sensors at each of the scenario's steps inside a large one",
            )
        require(
            small.backend.ground_truth() == large.backend.ground_truth(),
            did,
            "the true states differ at the end",
            "move the physics by the same substeps whatever the size of the call",
        )


CHECKS: tuple[Check, ...] = (
    step_refuses_what_is_no_multiple,
    step_refuses_zero_and_negative,
    step_refuses_what_is_no_integer,
    step_takes_numpy_integers,
    one_large_step_equals_many_small,
)
