"""Checks of how samples reach their consumers: polling, subscribing, counting (sensor spec §7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ghost.core import EventType, ScenarioSpec
from ghost.hal import SensorSample, digest
from ghost.testing.bench import Bench, Samples
from ghost.testing.contract import Check, ConformanceFailure, Subject, check, require
from ghost.testing.flight import manoeuvre
from ghost.testing.scenarios import with_sensors

__all__ = ["CHECKS"]


def _fly(bench: Bench, seconds: float) -> Samples:
    levels = bench.backend.capabilities.actuator_levels
    return bench.run(seconds, manoeuvre(bench) if levels else None)


def _undisturbed(subject: Subject) -> ScenarioSpec:
    """No faults, and no noise, which for a camera may lose frames."""
    return with_sensors(replace(subject.scenario, faults=()), noise=None)


@check(
    contract="C-HAL-50",
    spec="sensor spec §7.1",
    asks="poll() returns a new list of what was published since the last poll, [] for nothing",
)
def poll_returns_each_sample_once(subject: Subject) -> None:
    """Poll twice after each step, and damage the list that poll() returned."""
    with subject.started() as bench:
        for _ in range(bench.steps_in(0.3)):
            bench.step()
            for sid, provider in bench.backend.sensors().items():
                first: list[Any] = provider.poll()
                require(
                    isinstance(first, list),
                    f"polled {sid}",
                    f"poll() returned {first!r}",
                    "return a list, empty if there is nothing",
                )
                first.append(first[-1] if first else "the caller's own")
                second = provider.poll()
                require(
                    second == [],
                    f"polled {sid} twice after one step, having added to the first list",
                    f"the second poll returned {len(second)} items",
                    "hand out a list of its own at each poll, and empty the queue",
                )


@check(
    contract="C-HAL-62",
    spec="HAL spec §2, sensor spec §7.2",
    asks="subscribe calls back at publication, in order, with the samples that poll gives, until "
    "unsubscribe(), which may be repeated",
)
def poll_and_subscribe_agree(subject: Subject) -> None:
    """Subscribe to every sensor and compare with polling; then unsubscribe, twice."""
    with subject.started() as bench:
        heard: Samples = {}
        late: list[str] = []
        subscriptions = []
        for sid, provider in bench.backend.sensors().items():
            heard[sid] = []

            def listen(sample: SensorSample[Any], sid: str = sid) -> None:
                heard[sid].append(sample)
                if sample.stamp_sim_ns != bench.now_ns:
                    late.append(
                        f"{sid} seq {sample.seq} of {sample.stamp_sim_ns} at {bench.now_ns}"
                    )

            subscriptions.append(provider.subscribe(listen))
        polled = _fly(bench, 0.5)
        for sid, samples in polled.items():
            require(
                [digest(s) for s in samples] == [digest(s) for s in heard[sid]],
                f"polled {sid} and listened to it for 0.5 s",
                f"poll gave seq {[s.seq for s in samples][:8]}…, the subscriber heard "
                f"{[s.seq for s in heard[sid]][:8]}…",
                "put the same sample into the queue and to the subscribers",
            )
        require(
            not late,
            "compared the clock with the stamp in each callback",
            f"{len(late)} samples were not delivered at their time, the first {late[:1]}",
            "call the subscribers at publication, with the clock at the stamp",
        )
        for subscription in subscriptions * 2:
            subscription.unsubscribe()
        before = {sid: len(samples) for sid, samples in heard.items()}
        _fly(bench, 0.3)
        require(
            before == {sid: len(samples) for sid, samples in heard.items()},
            "unsubscribed twice and flew on",
            "the callbacks were still called",
            "drop the callback in unsubscribe()",
        )


@check(
    contract="C-HAL-63",
    spec="sensor spec §6, D5",
    asks="a subscriber that raises becomes a SUBSCRIBER_FAILED event and stops neither the step "
    "nor the other subscribers",
)
def subscriber_that_raises_is_isolated(subject: Subject) -> None:
    """Put a subscriber that raises before one that counts, on every sensor."""
    with subject.started() as bench:
        heard: Samples = {}

        def bad(_sample: SensorSample[Any]) -> None:
            raise RuntimeError("deliberate")

        for sid, provider in bench.backend.sensors().items():
            heard[sid] = []
            provider.subscribe(bad)
            provider.subscribe(heard[sid].append)
        faults: list[EventType] = []
        did = "subscribed a callback that raises and, after it, one that listens, and flew 0.3 s"
        fix = "wrap each callback; turn what it raises into an event of the step and go on"
        try:
            polled = bench.run(
                0.3, after_step=lambda report: faults.extend(e.type for e in report.faults)
            )
        except RuntimeError as error:
            raise ConformanceFailure(did, f"step() raised {error!r}", fix) from error
        for sid, samples in polled.items():
            require(
                len(heard[sid]) == len(samples),
                did,
                f"{sid} published {len(samples)}, the second subscriber heard {len(heard[sid])}",
                fix,
            )
        require(
            EventType.SUBSCRIBER_FAILED in faults or not any(polled.values()),
            did,
            "no SUBSCRIBER_FAILED event was in StepReport.faults",
            fix,
        )


@check(
    contract="C-HAL-61",
    spec="sensor spec §6, D18",
    asks="a full queue drops its oldest samples, which shows as a gap in seq",
    needs=("imu",),
)
def full_queue_drops_the_oldest(subject: Subject) -> None:
    """Give every queue room for five samples, and poll only after a while."""
    scenario = with_sensors(_undisturbed(subject), queue_size=5)
    with subject.started(scenario) as bench:
        sid = bench.provider("imu").spec.sensor_id
        made = 0
        for _ in range(bench.steps_in(0.3)):
            made += bench.step().samples.get(sid, 0)
        seqs = [sample.seq for sample in bench.poll()[sid]]
        require(
            seqs == list(range(made - 5, made)),
            f"let {sid}, with queue_size 5, publish {made} samples before the first poll",
            f"poll() returned the seqs {seqs[:10]}",
            "use a deque(maxlen=queue_size); the newest five must be there",
        )


@check(
    contract="C-HAL-27",
    spec="D17",
    asks="StepReport counts the samples published by each sensor",
)
def report_counts_the_samples(subject: Subject) -> None:
    """Compare each report with what poll gives after the step."""
    with subject.started() as bench:
        for _ in range(bench.steps_in(0.5)):
            report = bench.step()
            polled = {sid: len(samples) for sid, samples in bench.poll().items() if samples}
            counted = {sid: count for sid, count in report.samples.items() if count}
            require(
                polled == counted,
                f"made the step to {report.now_ns} ns and polled all",
                f"the report counts {counted}, poll gave {polled}",
                "count at publication, and begin anew with each call of step()",
            )


CHECKS: tuple[Check, ...] = (
    poll_returns_each_sample_once,
    poll_and_subscribe_agree,
    subscriber_that_raises_is_isolated,
    full_queue_drops_the_oldest,
    report_counts_the_samples,
)
