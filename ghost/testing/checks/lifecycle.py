"""Checks of birth, death and what comes between (HAL spec §3, §7)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, cast

from ghost.core import ClosedError, ContractViolation
from ghost.hal import AckReason, SensorSample, SimulationBackend
from ghost.testing.bench import Bench
from ghost.testing.contract import SEED, Check, ConformanceFailure, Subject, check, probe, require
from ghost.testing.flight import best_level, hover, valid_command

__all__ = ["CHECKS"]


def _uses(backend: SimulationBackend, step_ns: int) -> dict[str, Callable[[], object]]:
    """Every member that must refuse to work on a backend that is not running."""
    return {
        "step()": lambda: backend.step(step_ns),
        "sensors()": backend.sensors,
        "ground_truth()": backend.ground_truth,
        "clock": lambda: backend.clock,
    }


def _must_refuse(
    did: str, uses: dict[str, Callable[[], object]], wanted: type[ContractViolation]
) -> None:
    for name, use in uses.items():
        try:
            answer = use()
        except wanted:
            continue
        except Exception as error:
            raise ConformanceFailure(
                f"{did} and used {name}",
                f"it raised {type(error).__name__}: {error}",
                f"raise {wanted.__name__} of ghost.core there",
            ) from error
        raise ConformanceFailure(
            f"{did} and used {name}",
            f"it worked as if nothing were amiss and returned {type(answer).__name__}",
            f"raise {wanted.__name__} of ghost.core there",
        )


@check(
    contract="C-HAL-34",
    spec="HAL spec §7",
    asks="after shutdown() a new reset() starts afresh, with nothing left of the old run",
)
def shutdown_and_recreate(subject: Subject) -> None:
    """Fly, shut down, reset, and compare with a backend that was made anew."""
    with subject.started() as old:
        command = _command_of(old)
        old.run(0.2, command)
        old.backend.shutdown()
        old.backend.reset(scenario=subject.scenario, seed=SEED)
        did = "flew 0.2 s, shut down, and reset the same backend"
        try:
            now_ns = old.now_ns
        except ContractViolation as error:
            raise ConformanceFailure(
                did, f"the backend is still closed: {error}", "open the backend again in reset()"
            ) from error
        require(now_ns == 0, did, f"the clock reads {now_ns} ns", "make a new clock in reset()")
        left_over = sum(len(samples) for samples in old.poll().values())
        require(
            left_over == 0,
            did,
            f"poll() returned {left_over} samples before the first step",
            "empty the queues in reset(); samples come from steps only",
        )
        again = old.trace(0.2, command)
    if not probe(subject).capabilities.deterministic:
        return
    with subject.started() as new:
        difference = new.trace(0.2, _command_of(new)).difference(again)
    require(
        difference is None,
        f"{did}, flew 0.2 s, and flew the same on a new backend",
        str(difference),
        "put everything that a run changes into one object that reset() makes anew",
    )


def _command_of(bench: Bench) -> Callable[[float], Any] | None:
    return hover(bench) if bench.backend.capabilities.actuator_levels else None


@check(
    contract="C-HAL-33",
    spec="HAL spec §7",
    asks="shutdown() may be called at any time and any number of times and never raises",
)
def shutdown_is_idempotent(subject: Subject) -> None:
    """Shut down three times running, and once before any reset."""
    for did, reset_first in (("made a backend", False), ("made and reset a backend", True)):
        backend = subject.make()
        if reset_first:
            backend.reset(scenario=subject.scenario, seed=SEED)
        for count in (1, 2, 3):
            try:
                backend.shutdown()
            except Exception as error:
                raise ConformanceFailure(
                    f"{did} and called shutdown() for the {count}. time",
                    f"it raised {type(error).__name__}: {error}",
                    "let shutdown() remember that it ran, and do nothing the next time",
                ) from error


@check(
    contract="C-HAL-35",
    spec="HAL spec §3.6",
    asks="after shutdown() every use but send() and shutdown() raises ClosedError",
)
def use_after_shutdown_is_refused(subject: Subject) -> None:
    """Use each member after the shutdown."""
    with subject.started() as bench:
        bench.step()
        bench.backend.shutdown()
        uses = _uses(bench.backend, subject.scenario.step_ns)
        _must_refuse("shut the backend down", uses, ClosedError)


@check(
    contract="C-HAL-89",
    spec="D15",
    asks="after shutdown() send() answers CLOSED",
    needs=("command",),
)
def send_after_shutdown_answers_closed(subject: Subject) -> None:
    """Send through a sink that was fetched before the shutdown."""
    with subject.started() as bench:
        level = best_level(bench.backend.capabilities.actuator_levels)
        command = valid_command(level, subject.scenario)
        sink = bench.backend.actuators()
        bench.step()
        bench.backend.shutdown()
        did = "fetched the sink, shut the backend down, and sent a valid command"
        fix = (
            "let send() answer CommandAck(False, AckReason.CLOSED, ...) once the backend is closed"
        )
        try:
            ack = sink.send(command, subject.scenario.step_ns)
        except Exception as error:
            raise ConformanceFailure(
                did, f"it raised {type(error).__name__}: {error}", fix
            ) from error
        reason = getattr(ack, "reason", ack)
        require(reason is AckReason.CLOSED, did, f"the answer was {reason!r}", fix)


@check(
    contract="C-HAL-35",
    spec="HAL spec §3.6",
    asks="before the first reset() every use but send() and shutdown() raises ContractViolation",
)
def use_before_reset_is_refused(subject: Subject) -> None:
    """Use each member of a backend that was never reset."""
    with subject.made() as backend:
        uses = _uses(backend, subject.scenario.step_ns)
        _must_refuse("made a backend, did not reset it,", uses, ContractViolation)


@check(
    contract="C-HAL-40",
    spec="HAL spec §3.3",
    asks="a backend is a context manager that shuts down at the end of the block, also when the "
    "block raises",
)
def context_manager_shuts_down(subject: Subject) -> None:
    """Leave a `with` block in both ways, and see that the backend is closed."""
    for raises in (False, True):
        backend = subject.make()
        how = "by an exception" if raises else "at its end"
        did = f"entered the backend with `with`, reset it, and left the block {how}"
        require(
            hasattr(type(backend), "__enter__") and hasattr(type(backend), "__exit__"),
            "looked for __enter__ and __exit__",
            f"{type(backend).__name__} has none",
            "add __enter__ returning self and __exit__ calling shutdown()",
        )
        manager = cast("AbstractContextManager[SimulationBackend]", backend)
        came_through = False
        try:
            with manager as entered:
                require(
                    entered is backend,
                    "entered the backend with `with`",
                    f"__enter__ returned {type(entered).__name__}, not the backend itself",
                    "return self from __enter__",
                )
                backend.reset(scenario=subject.scenario, seed=SEED)
                if raises:
                    raise _Deliberate
        except _Deliberate:
            came_through = True
        require(
            came_through is raises,
            did,
            "the exception was swallowed",
            "return None from __exit__",
        )
        try:
            backend.step(subject.scenario.step_ns)
        except ClosedError:
            continue
        finally:
            backend.shutdown()
        raise ConformanceFailure(did, "step() still works", "call shutdown() in __exit__")


class _Deliberate(Exception):
    """What the block raises."""


@check(
    contract="C-HAL-36",
    spec="D22",
    asks="subscribers attached before a reset() receive the samples after it",
)
def subscribers_survive_reset(subject: Subject) -> None:
    """Subscribe to every sensor, reset, and fly on."""
    with subject.started() as bench:
        heard: dict[str, list[SensorSample[Any]]] = {}
        for sid, provider in bench.backend.sensors().items():
            heard[sid] = []
            provider.subscribe(heard[sid].append)
        command = _command_of(bench)
        bench.run(0.3, command)
        bench.backend.reset(scenario=subject.scenario, seed=SEED)
        for samples in heard.values():
            samples.clear()
        polled = bench.run(0.3, _command_of(bench))
        for sid, samples in heard.items():
            require(
                len(samples) == len(polled[sid]),
                f"subscribed to {sid}, reset the backend, and flew 0.3 s",
                f"poll() gave {len(polled[sid])} samples and the subscriber heard {len(samples)}",
                "keep the subscribers of each sensor id across reset()",
            )


@check(
    contract="C-HAL-31",
    spec="HAL spec §3.3",
    asks="after reset() a backend behaves like a new one, whatever was done to it before",
    needs=("deterministic",),
)
def reset_equals_new_backend(subject: Subject) -> None:
    """Disturb a backend in many ways, reset it, and compare with a new one."""
    with subject.started(seed=SEED + 1) as used:
        used.run(0.3, _command_of(used))
        used.backend.clock.schedule_periodic(subject.scenario.step_ns, lambda: None)
        used.step()  # leaves samples that nobody polls
        used.backend.reset(scenario=subject.scenario, seed=SEED)
        after_reset = used.trace(0.5, _command_of(used))
    with subject.started() as new:
        difference = new.trace(0.5, _command_of(new)).difference(after_reset)
    require(
        difference is None,
        "flew with another seed, left samples unpolled, reset, and compared with a new backend",
        str(difference),
        "let reset() build everything that a run changes: clock, queues, controller state, noise",
    )


CHECKS: tuple[Check, ...] = (
    shutdown_and_recreate,
    shutdown_is_idempotent,
    use_after_shutdown_is_refused,
    send_after_shutdown_answers_closed,
    use_before_reset_is_refused,
    context_manager_shuts_down,
    subscribers_survive_reset,
    reset_equals_new_backend,
)
