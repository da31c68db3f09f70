"""The run loop: what goes over the bus and in which order, the digest, and how runs end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ghost.core import (
    BackendLost,
    ContractViolation,
    Envelope,
    Event,
    EventType,
    GoTo,
    MessageBus,
    TakeOff,
)
from ghost.hal import CommandAck, GroundTruth, RunDigest, SensorSample
from ghost.runtime import Outcome, RunInfo, RunResult, RunStatus, ScenarioRun

Maker = Callable[..., Any]
PLAN = (TakeOff(1.0), GoTo((2.0, 1.0, 1.5)))
JSON_KEYS = [
    "backend",
    "scenario",
    "seed",
    "sim_time_s",
    "wall_time_s",
    "real_time_factor",
    "steps",
    "samples",
    "events",
    "digest",
    "final_pos_enu_m",
    "max_tilt_deg",
    "tracking_rmse_m",
    "command_rejects",
    "lockstep",
]


class Onlooker:
    """A `RunObserver` that keeps everything, as a recorder would."""

    def __init__(self, *, fail_at_tick: int | None = None) -> None:
        self.seen: list[Envelope] = []
        self.ticks: list[RunStatus] = []
        self.info: RunInfo | None = None
        self.closed: list[RunResult | None] = []
        self._fail_at = fail_at_tick

    def attach(self, bus: MessageBus, info: RunInfo) -> None:
        self.info = info
        bus.subscribe("/*", self.seen.append)

    def tick(self, status: RunStatus) -> None:
        self.ticks.append(status)
        if len(self.ticks) == self._fail_at:
            raise OSError("the disk is full")

    def close(self, result: RunResult | None) -> None:
        self.closed.append(result)


class FakeHost:
    """A `HostClock` whose time passes only in sleep."""

    def __init__(self) -> None:
        self.now = 1_000
        self.slept: list[int] = []

    def now_ns(self) -> int:
        return self.now

    def sleep_until_ns(self, at_ns: int) -> None:
        self.slept.append(at_ns)
        self.now = max(self.now, at_ns)


def test_one_step_is_published_in_the_documented_order(
    make_world: Maker, make_scenario: Maker
) -> None:
    onlooker = Onlooker()
    world = make_world(sensors=("alt1", "alt0"), crash_at_step=10)
    ScenarioRun(
        world, make_scenario(*PLAN, duration_s=1.0, command_rate_hz=125.0), observers=[onlooker]
    ).execute()
    at_40_ms = [e.topic for e in onlooker.seen if e.stamp_sim_ns == 40_000_000]
    assert at_40_ms == [
        "/events",
        "/step",
        "/sensors/alt0",
        "/sensors/alt1",
        "/ground_truth",
        "/actuators/command",
        "/actuators/ack",
    ]
    keys = [(e.stamp_sim_ns, e.sequence) for e in onlooker.seen]
    assert keys == sorted(keys)
    kinds = [e.payload.type for e in onlooker.seen if isinstance(e.payload, Event)]
    assert kinds == [EventType.RUN_STARTED, EventType.CRASH, EventType.RUN_FINISHED]


def test_the_digest_is_that_of_samples_truth_and_acks_in_the_order_of_the_bus(
    make_world: Maker, make_scenario: Maker
) -> None:
    onlooker = Onlooker()
    result = ScenarioRun(
        make_world(), make_scenario(*PLAN, duration_s=2.0), observers=[onlooker]
    ).execute()
    again = RunDigest()
    for envelope in onlooker.seen:
        if isinstance(envelope.payload, (SensorSample, GroundTruth, CommandAck)):
            again.update(envelope.payload)
    assert again.count > 500
    assert again.hexdigest() == result.digest


def test_the_digest_depends_on_the_seed_and_on_nothing_around_the_run(
    make_world: Maker, make_scenario: Maker
) -> None:
    scenario = make_scenario(*PLAN, duration_s=2.0)

    def run(world: Any = None, **options: Any) -> str:
        return ScenarioRun(world or make_world(), scenario, **options).execute().digest

    base = run()
    assert run() == base
    assert run(seed=3) == base  # the scenario's own
    assert run(seed=4) != base
    assert run(observers=[Onlooker()]) == base
    assert run(make_world(sensors=("alt1", "alt0"))) == base
    assert run(rtf=1.0, host=FakeHost()) == base

    def broken(_: Envelope) -> None:
        raise RuntimeError("a subscriber that always fails")

    bus = MessageBus()
    bus.subscribe("/sensors/*", broken)
    assert run(bus=bus) == base


def test_the_account_has_exactly_the_keys_that_were_promised(
    make_world: Maker, make_scenario: Maker
) -> None:
    run = ScenarioRun(make_world(), make_scenario(*PLAN, duration_s=2.0), backend_name="point")
    account = run.execute().to_json()
    assert list(account) == JSON_KEYS
    assert account["backend"] == "point"
    assert account["scenario"] == "point"
    assert account["seed"] == 3
    assert account["sim_time_s"] == 2.0
    assert account["steps"] == 500
    assert account["samples"] == {"alt0": 500, "alt1": 250}
    assert account["events"] == {"run_finished": 1, "run_started": 1}
    assert account["command_rejects"] == 0
    assert len(account["final_pos_enu_m"]) == 3
    assert account["max_tilt_deg"] == 0.0
    assert account["real_time_factor"] == pytest.approx(2.0 / account["wall_time_s"])


def test_a_silent_sensor_is_counted_as_zero(make_world: Maker, make_scenario: Maker) -> None:
    world = make_world()
    scenario = make_scenario(duration_s=0.004)
    assert ScenarioRun(world, scenario).execute().samples == {"alt0": 1, "alt1": 0}


def test_a_refused_command_is_counted_and_an_event(make_world: Maker, make_scenario: Maker) -> None:
    onlooker = Onlooker()
    scenario = make_scenario(*PLAN, duration_s=1.0)
    run = ScenarioRun(make_world(refuse=True), scenario, observers=[onlooker])
    result = run.execute()
    assert result.command_rejects == result.commands == 51
    assert result.events["safety_violation"] == 51
    event = next(
        e.payload
        for e in onlooker.seen
        if isinstance(e.payload, Event) and e.payload.type is EventType.SAFETY_VIOLATION
    )
    assert event.message == "POSITION command refused: NOT_ARMED the test says no"
    assert event.payload["reason"] == "NOT_ARMED"


def test_a_crash_makes_the_run_a_failure_and_it_goes_on(
    make_world: Maker, make_scenario: Maker
) -> None:
    result = ScenarioRun(make_world(crash_at_step=5), make_scenario(duration_s=1.0)).execute()
    assert result.crashed
    assert result.failed
    assert result.steps == 250
    assert result.outcome is Outcome.COMPLETED


def test_a_lost_backend_gives_the_account_of_the_part_that_ran(
    make_world: Maker, make_scenario: Maker
) -> None:
    onlooker = Onlooker()
    run = ScenarioRun(
        make_world(lost_at_step=101), make_scenario(*PLAN, duration_s=2.0), observers=[onlooker]
    )
    result = run.execute()
    assert result.outcome is Outcome.BACKEND_LOST
    assert result.error == "the test pulled the plug"
    assert result.sim_time_s == pytest.approx(0.4)
    assert result.samples["alt0"] == 100
    assert result.events["backend_lost"] == 1
    assert onlooker.closed == [result]


def test_a_backend_that_is_lost_before_the_first_step_is_an_error(
    make_world: Maker, make_scenario: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world()

    def unreachable(*_: object) -> None:
        raise BackendLost("nobody answers on port 14540")

    monkeypatch.setattr(world, "reset", unreachable)
    with pytest.raises(BackendLost, match="14540"):
        ScenarioRun(world, make_scenario()).execute()


def test_ctrl_c_gives_the_account_of_the_part_that_ran(
    make_world: Maker, make_scenario: Maker
) -> None:
    def interrupt(step: int) -> None:
        if step == 60:
            raise KeyboardInterrupt

    onlooker = Onlooker()
    world = make_world(on_step=interrupt)
    result = ScenarioRun(world, make_scenario(duration_s=1.0), observers=[onlooker]).execute()
    assert result.outcome is Outcome.INTERRUPTED
    assert result.steps == 60
    assert onlooker.closed == [result]
    last = onlooker.seen[-1].payload
    assert isinstance(last, Event)
    assert last.type is EventType.RUN_FINISHED


def test_stop_ends_the_run_after_the_present_step(make_world: Maker, make_scenario: Maker) -> None:
    def stop(step: int) -> None:
        if step == 30:
            # From another thread, as a window's close button would.
            thread = threading.Thread(target=run.stop)
            thread.start()
            thread.join()

    run = ScenarioRun(make_world(on_step=stop), make_scenario(duration_s=1.0))
    result = run.execute()
    assert result.steps == 31
    assert result.outcome is Outcome.INTERRUPTED


def test_stop_during_the_last_step_is_no_interruption(
    make_world: Maker, make_scenario: Maker
) -> None:
    def stop(step: int) -> None:
        if step == 249:
            run.stop()

    run = ScenarioRun(make_world(on_step=stop), make_scenario(duration_s=1.0))
    assert run.execute().outcome is Outcome.COMPLETED


def test_the_throttle_sleeps_between_steps(make_world: Maker, make_scenario: Maker) -> None:
    host: Any = FakeHost()
    result = ScenarioRun(make_world(), make_scenario(duration_s=1.0), rtf=2.0, host=host).execute()
    assert result.wall_time_s == pytest.approx(0.5)
    assert result.real_time_factor == pytest.approx(2.0)
    assert len(host.slept) == 250


@pytest.mark.parametrize("rtf", [0.0, -1.0, float("nan")])
def test_a_factor_that_is_none_is_refused(
    rtf: float, make_world: Maker, make_scenario: Maker
) -> None:
    with pytest.raises(ValueError, match="rtf"):
        ScenarioRun(make_world(), make_scenario(), rtf=rtf)


def test_observers_know_the_run_and_see_it_go(make_world: Maker, make_scenario: Maker) -> None:
    onlooker = Onlooker()
    scenario = make_scenario(*PLAN, duration_s=1.0)
    run = ScenarioRun(make_world(), scenario, backend_name="point", observers=[onlooker])
    result = run.execute()
    assert onlooker.info is not None
    assert onlooker.info.backend == "point"
    assert onlooker.info.scenario is scenario
    assert onlooker.info.seed == 3
    assert [spec.sensor_id for spec in onlooker.info.sensors] == ["alt0", "alt1"]
    assert [status.sim_ns for status in onlooker.ticks] == [n * 100_000_000 for n in range(1, 11)]
    assert onlooker.ticks[-1].altitude_m == result.final_pos_enu_m[2]  # type: ignore[index]  # set
    assert onlooker.ticks[0].phase == "takeoff to 1 m"
    first = onlooker.seen[0].payload
    assert isinstance(first, Event)
    assert first.type is EventType.RUN_STARTED


def test_every_observer_is_closed_even_if_one_fails(
    make_world: Maker, make_scenario: Maker
) -> None:
    onlookers = [Onlooker(), Onlooker(fail_at_tick=3), Onlooker()]
    run = ScenarioRun(make_world(), make_scenario(duration_s=1.0), observers=onlookers)
    with pytest.raises(OSError, match="disk is full"):
        run.execute()
    assert [onlooker.closed for onlooker in onlookers] == [[None]] * 3


def test_an_error_inside_the_backend_is_not_swallowed(
    make_world: Maker, make_scenario: Maker
) -> None:
    def fail(step: int) -> None:
        if step == 7:
            raise ZeroDivisionError("a bug in a driver")

    with pytest.raises(ZeroDivisionError):
        ScenarioRun(make_world(on_step=fail), make_scenario(duration_s=1.0)).execute()


def test_a_clock_that_stands_still_is_a_broken_contract_not_an_endless_run(
    make_world: Maker, make_scenario: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world()
    step = world.step
    monkeypatch.setattr(world, "step", lambda dt_ns: replace(step(dt_ns), now_ns=0))
    with pytest.raises(ContractViolation, match="left the clock"):
        ScenarioRun(world, make_scenario(duration_s=1.0)).execute()


def test_a_backend_of_another_contract_version_is_refused(
    make_world: Maker, make_scenario: Maker
) -> None:
    world = make_world()
    world.capabilities = replace(world.capabilities, hal_version=2)
    with pytest.raises(ContractViolation, match="speaks HAL version 2"):
        ScenarioRun(world, make_scenario()).execute()


def test_what_a_backend_leaves_out_is_said(make_world: Maker, make_scenario: Maker) -> None:
    world = make_world(extensions={"missing_sensors": {"cam0": "no OpenGL here"}})
    result = ScenarioRun(world, make_scenario(duration_s=0.1)).execute()
    assert result.notes == ("sensor cam0 is not there: no OpenGL here",)


def test_a_run_leaves_nothing_subscribed_on_a_shared_bus(
    make_world: Maker, make_scenario: Maker
) -> None:
    bus = MessageBus()
    first = ScenarioRun(make_world(), make_scenario(duration_s=0.1), bus=bus)
    result = first.execute()
    second = ScenarioRun(make_world(), make_scenario(duration_s=0.1), bus=bus).execute()
    assert second.events == result.events
    assert first._events == dict(result.events)
