"""Checks of time: who moves it, by how much, and what refuses to (HAL spec §3.2, clock spec)."""

from __future__ import annotations

from itertools import pairwise

from ghost.core import EventType
from ghost.hal import StepReport
from ghost.testing.contract import Check, ConformanceFailure, Subject, check, require

__all__ = ["CHECKS"]


@check(
    contract="C-HAL-20",
    spec="HAL spec §7",
    asks="clock.now_ns() never goes back within a run, and reset() puts it to 0",
)
def clock_is_monotonic(subject: Subject) -> None:
    """Read the clock after each of 300 steps, from a callback, and after a reset."""
    with subject.started() as bench:
        require(
            bench.now_ns == 0,
            "reset the backend",
            f"the clock reads {bench.now_ns} ns",
            "start every run at time 0",
        )
        seen = [bench.now_ns]
        bench.backend.clock.schedule_periodic(
            subject.scenario.step_ns, lambda: seen.append(bench.now_ns)
        )
        for _ in range(300):
            bench.step()
            seen.append(bench.now_ns)
        for before, after in pairwise(seen):
            require(
                after >= before,
                "read the clock after each of 300 steps and in a callback of each",
                f"it went from {before} ns back to {after} ns",
                "never set the clock back; derive time from the count of steps",
            )
        bench.backend.reset(scenario=subject.scenario, seed=1)
        require(
            bench.now_ns == 0,
            "flew 300 steps and reset the backend",
            f"the clock reads {bench.now_ns} ns",
            "start every run at time 0",
        )


@check(
    contract="C-HAL-21",
    spec="HAL spec §2, D17",
    asks="step(dt_ns) moves the clock by exactly dt_ns and StepReport.now_ns equals the clock",
)
def clock_is_the_sum_of_steps(subject: Subject) -> None:
    """Make steps of one, two, three and ten of the scenario's, and add them up."""
    with subject.started() as bench:
        total = 0
        for count in (1, 2, 1, 3, 10, 1):
            dt_ns = count * subject.scenario.step_ns
            report = bench.backend.step(dt_ns)
            total += dt_ns
            did = f"stepped by {dt_ns} ns, {total} ns in all"
            require(
                type(bench.now_ns) is int and bench.now_ns == total,
                did,
                f"the clock reads {bench.now_ns!r} ns",
                "advance the clock by exactly dt_ns, in int",
            )
            require(
                isinstance(report, StepReport) and report.now_ns == total,
                did,
                f"the report was {report!r}",
                "return StepReport(now_ns=clock.now_ns(), ...)",
            )
            require(
                report.steps == count,
                did,
                f"StepReport.steps is {report.steps}, not {count}",
                "count the scenario's steps, not the calls and not the physics steps",
            )


@check(
    contract="C-HAL-24",
    spec="D6",
    asks="clock.step_ns() equals the scenario's step",
)
def step_ns_is_the_scenarios(subject: Subject) -> None:
    """Compare the clock's step with the scenario's."""
    with subject.started() as bench:
        got = bench.backend.clock.step_ns()
        require(
            type(got) is int and got == subject.scenario.step_ns,
            f"reset with a scenario of step_ns={subject.scenario.step_ns}",
            f"clock.step_ns() is {got!r}",
            "build the clock from scenario.step_ns",
        )


@check(
    contract="C-HAL-23",
    spec="HAL spec §5.2, clock spec §8.1",
    asks="a callback of the clock at time T runs after the sensors published the samples of T",
    needs=("imu",),
)
def callbacks_see_the_samples_of_their_time(subject: Subject) -> None:
    """Poll the IMU in a callback of each step, and look for the sample of that very time."""
    with subject.started() as bench:
        provider = bench.provider("imu")
        stamps: list[tuple[int, int]] = []

        def tick() -> None:
            stamps.extend((bench.now_ns, sample.stamp_sim_ns) for sample in provider.poll())

        bench.backend.clock.schedule_periodic(subject.scenario.step_ns, tick)
        for _ in range(50):
            bench.step()
        did = "polled the IMU in a clock callback of each of 50 steps"
        fix = "sample in the `arrive` of SteppedClock, which runs before the callbacks at T"
        require(bool(stamps), did, "the callbacks saw no sample at all", fix)
        for now_ns, stamp_ns in stamps:
            require(
                now_ns == stamp_ns,
                did,
                f"the callback at {now_ns} ns saw a sample of {stamp_ns} ns",
                fix,
            )


@check(
    contract="C-HAL-27",
    spec="clock spec §5, D17",
    asks="a clock callback that raises becomes an event of the step, which goes on",
)
def callback_that_raises_is_isolated(subject: Subject) -> None:
    """Schedule a callback that raises, next to one that counts."""
    with subject.started() as bench:
        ran: list[int] = []

        def bad() -> None:
            raise RuntimeError("deliberate")

        bench.backend.clock.schedule(subject.scenario.step_ns, bad)
        bench.backend.clock.schedule_periodic(
            subject.scenario.step_ns, lambda: ran.append(bench.now_ns)
        )
        did = "scheduled a callback that raises and one that counts, and made three steps"
        try:
            faults = [event for _ in range(3) for event in bench.step().faults]
        except RuntimeError as error:
            raise ConformanceFailure(
                did, f"step() raised {error!r}", "use ghost.core.SteppedClock, which isolates it"
            ) from error
        require(
            any(event.type is EventType.SCHEDULER_CALLBACK_FAILED for event in faults),
            did,
            f"StepReport.faults had {[event.type.value for event in faults]}",
            "give SteppedClock an on_event that collects into the report",
        )
        require(
            len(ran) >= 3,
            did,
            f"the other callback ran {len(ran)} times",
            "use ghost.core.SteppedClock, which isolates a failing callback",
        )


CHECKS: tuple[Check, ...] = (
    clock_is_monotonic,
    clock_is_the_sum_of_steps,
    step_ns_is_the_scenarios,
    callbacks_see_the_samples_of_their_time,
    callback_that_raises_is_isolated,
)
