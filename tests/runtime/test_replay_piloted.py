"""Playing a run that an autopilot flew: its clock began at 12 s, its plan went by an estimate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ghost.backends.replay import ReplayBackend
from ghost.config import load_scenario
from ghost.core import Event, EventType, MessageBus, ScenarioSpec
from ghost.hal import MavlinkTraffic, StateEstimate, StepReport, digest
from ghost.recording import LogReader, Recorder
from ghost.runtime import (
    RecordObserver,
    ReplayRun,
    RunInfo,
    RunObserver,
    RunResult,
    RunStatus,
    ScenarioRun,
)
from tests.piloted_world import WARMUP_NS, PilotedWorld

SECOND = 1_000_000_000
STEP = 4_000_000
Heard = list[tuple[str, int, str]]


class Ticks:
    """Keeps what a progress bar is told."""

    def __init__(self) -> None:
        self.seen: list[RunStatus] = []

    def attach(self, bus: MessageBus, info: RunInfo) -> None: ...

    def tick(self, status: RunStatus) -> None:
        self.seen.append(status)

    def close(self, result: RunResult | None) -> None: ...


def listen(bus: MessageBus) -> Heard:
    heard: Heard = []
    bus.subscribe("/*", lambda e: heard.append((e.topic, e.stamp_sim_ns, digest(e.payload))))
    return heard


@pytest.fixture(scope="module")
def scenario() -> ScenarioSpec:
    return load_scenario("px4_hover", ["duration_ns=8_000_000_000"])


@pytest.fixture(scope="module")
def flown(
    scenario: ScenarioSpec, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, RunResult, Heard, Ticks]:
    path = tmp_path_factory.mktemp("piloted") / "run.mcap"
    bus, ticks = MessageBus(), Ticks()
    heard = listen(bus)
    observers: list[RunObserver] = [RecordObserver(str(path)), ticks]
    with PilotedWorld() as world:
        result = ScenarioRun(world, scenario, bus=bus, observers=observers).execute()
    return path, result, heard, ticks


def test_it_is_the_run_again(flown: tuple[Path, RunResult, Heard, Ticks]) -> None:
    path, live, heard, _ = flown
    bus = MessageBus()
    again = listen(bus)
    with ReplayBackend(path) as backend:
        played = ReplayRun(backend, bus=bus).execute()
    assert again == heard
    mine, theirs = live.to_json(), played.to_json()
    told = ("backend", "wall_time_s", "real_time_factor", "flown_by", "autopilot", "notes")
    for key in told:
        mine.pop(key, None)
        theirs.pop(key, None)
    assert theirs == mine
    assert played.sim_time_s == 8.0
    assert played.lockstep == {"answered": 1625, "late": 0, "missing": 375}
    topics = {topic for topic, _, _ in heard}
    assert {"/estimate", "/mavlink/simulator", "/mavlink/offboard"} <= topics


def test_progress_begins_at_nothing(flown: tuple[Path, RunResult, Heard, Ticks]) -> None:
    seen = flown[3].seen
    assert {status.start_ns for status in seen} == {WARMUP_NS}
    assert {status.end_ns for status in seen} == {WARMUP_NS + 8 * SECOND}
    assert seen[0].sim_ns - seen[0].start_ns <= SECOND // 5
    played = Ticks()
    with ReplayBackend(flown[0]) as backend:
        ReplayRun(backend, observers=[played]).execute()
    assert [(s.start_ns, s.sim_ns, s.end_ns) for s in played.seen] == [
        (s.start_ns, s.sim_ns, s.end_ns) for s in seen
    ]


def test_the_clock_stands_where_it_stood(
    scenario: ScenarioSpec, flown: tuple[Path, RunResult, Heard, Ticks]
) -> None:
    with ReplayBackend(flown[0]) as backend:
        assert backend.start_ns == backend.run.start_ns == WARMUP_NS
        backend.reset(scenario, 0)
        assert backend.clock.now_ns() == WARMUP_NS
        truth = backend.ground_truth()
        assert truth is not None
        assert truth.stamp_sim_ns == WARMUP_NS
        report = backend.step(STEP)
        assert report.now_ns == WARMUP_NS + STEP
        assert report.samples == {"imu0": 1}
        (sample,) = backend.sensors()["imu0"].poll()
        assert sample.seq == WARMUP_NS // STEP


def test_reports_are_played_and_arming_is_not_offered(
    scenario: ScenarioSpec, flown: tuple[Path, RunResult, Heard, Ticks]
) -> None:
    with ReplayBackend(flown[0]) as backend:
        assert backend.capabilities.extensions["reports"] is True
        assert "armable" not in backend.capabilities.extensions
        assert not hasattr(backend, "arm")
        backend.reset(scenario, 0)
        backend.step(STEP)
        ((topic, message),) = backend.reports()
        assert topic == "/mavlink/simulator"
        assert isinstance(message, MavlinkTraffic)
        assert backend.reports() == []
        backend.step(4 * STEP)
        reports = backend.reports()
        estimates = [m for _, m in reports if isinstance(m, StateEstimate)]
        assert [e.stamp_sim_ns for e in estimates] == [WARMUP_NS + 5 * STEP]
        backend.step(100 * STEP)
        backend.seek(WARMUP_NS + 2 * SECOND)
        assert backend.reports() == []


@pytest.mark.parametrize(("start_s", "first_s"), [(0, 12), (2, 12), (12, 12), (15, 15)])
def test_a_window_is_in_times_of_the_recording(
    flown: tuple[Path, RunResult, Heard, Ticks], start_s: int, first_s: int
) -> None:
    with ReplayBackend(flown[0], start_ns=start_s * SECOND, end_ns=16 * SECOND) as backend:
        assert backend.start_ns == first_s * SECOND
        result = ReplayRun(backend).execute()
    assert result.sim_time_s == 16 - first_s
    assert result.steps == (16 - first_s) * 250


def test_the_plan_again_on_the_recorded_estimate(
    flown: tuple[Path, RunResult, Heard, Ticks],
) -> None:
    for start_ns in (None, 15 * SECOND):
        with ReplayBackend(flown[0], compare=True, start_ns=start_ns) as backend:
            result = ReplayRun(backend, compare=True).execute()
            report = backend.compare_report()
            known = list(backend.known_until(13 * SECOND))
        assert result.commands > 100
        assert report.sent > 100
        assert report.equal >= report.sent - 2
        assert {type(state) for state in known} == {StateEstimate}
        assert known[-1].stamp_sim_ns == 13 * SECOND


def test_a_recording_that_began_in_mid_flight(
    scenario: ScenarioSpec, flown: tuple[Path, RunResult, Heard, Ticks], tmp_path: Path
) -> None:
    """Without the event of the start the clock begins with the step of the first message."""
    path = tmp_path / "late.mcap"
    from ghost.config import spec_to_dict

    header: dict[str, Any] = {"scenario": spec_to_dict(scenario), "seed": 0}
    bus = MessageBus()
    with LogReader(str(flown[0])) as reader, Recorder(str(path), bus, metadata=header):
        for item in reader.messages(start_ns=14 * SECOND):
            bus.publish(item.topic, item.message, item.stamp_ns)
    with ReplayBackend(path) as backend:
        assert backend.start_ns == 14 * SECOND - STEP
        result = ReplayRun(backend).execute()
    assert result.steps == 6 * 250 + 1
    assert result.samples["imu0"] == 6 * 250 + 1


def test_a_run_without_an_autopilot_still_begins_at_0(
    scenario: ScenarioSpec, tmp_path: Path
) -> None:
    """Also one whose first message came late and without the event of the start."""
    from ghost.config import spec_to_dict

    plain = replace(scenario, autopilot=None)
    bus = MessageBus()
    path = tmp_path / "plain.mcap"
    header: dict[str, Any] = {"scenario": spec_to_dict(plain), "seed": 0}
    with Recorder(str(path), bus, metadata=header):
        bus.publish("/step", StepReport(2 * SECOND, 1, {}))
    with ReplayBackend(path) as backend:
        assert backend.start_ns == 0


def test_a_start_that_makes_no_sense(scenario: ScenarioSpec, tmp_path: Path) -> None:
    """An event with a stamp before 0 cannot be recorded; one of another type is no start."""
    from ghost.config import spec_to_dict
    from ghost.core import EventSeverity

    bus = MessageBus()
    path = tmp_path / "odd.mcap"
    header: dict[str, Any] = {"scenario": spec_to_dict(scenario), "seed": 0}
    pose = np.array([1.0, 0.0, 0.0, 0.0])
    with Recorder(str(path), bus, metadata=header):
        event = Event(EventType.LOCKSTEP_FAULT, 5 * SECOND, EventSeverity.WARN, "px4", "late")
        bus.publish("/events", event)
        bus.publish("/estimate", StateEstimate(6 * SECOND, np.zeros(3), pose, np.zeros(3)))
    with ReplayBackend(path) as backend:
        assert backend.start_ns == 5 * SECOND - STEP
        assert ReplayRun(backend).execute().sim_time_s == pytest.approx(1.004)
