"""Recording a run and playing it: the same account, the same messages, on the same topics."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ghost.backends.embedded import EmbeddedBackend
from ghost.backends.replay import ReplayBackend
from ghost.config import load_scenario, spec_from_dict
from ghost.core import (
    ConfigError,
    Envelope,
    Event,
    EventType,
    Hold,
    MessageBus,
    ScenarioSpec,
    TakeOff,
)
from ghost.hal import CommandAck, GroundTruth, digest
from ghost.recording import LogReader
from ghost.runtime import (
    Outcome,
    RecordObserver,
    ReplayRun,
    RunInfo,
    RunResult,
    RunStatus,
    ScenarioRun,
    check_recording,
)

Maker = Callable[..., Any]
SECOND = 1_000_000_000
SAME = (
    "scenario",
    "seed",
    "sim_time_s",
    "steps",
    "samples",
    "events",
    "digest",
    "final_pos_enu_m",
    "max_tilt_deg",
    "tracking_rmse_m",
    "command_rejects",
)
"""What a replay must print as its run did."""


def record(
    scenario: ScenarioSpec, path: Path, world: Any = None, **options: Any
) -> tuple[RunResult, list[tuple[str, int, str]]]:
    """Fly and record; return the account and what was on the bus."""
    bus, heard = MessageBus(), list[tuple[str, int, str]]()
    bus.subscribe("/*", lambda e: heard.append((e.topic, e.stamp_sim_ns, digest(e.payload))))
    recorder = RecordObserver(str(path), **options)
    backend = world if world is not None else EmbeddedBackend()
    try:
        run = ScenarioRun(backend, scenario, backend_name="embedded", bus=bus, observers=[recorder])
        result = run.execute()
    finally:
        backend.shutdown()
    assert recorder.problem is None
    return result, heard


def same(first: RunResult, second: RunResult) -> None:
    mine, theirs = first.to_json(), second.to_json()
    assert {key: mine[key] for key in SAME} == {key: theirs[key] for key in SAME}
    assert (first.commands, first.plan_items, first.plan_done) == (
        second.commands,
        second.plan_items,
        second.plan_done,
    )
    assert first.plan_timeouts == second.plan_timeouts
    assert first.crashed == second.crashed


@pytest.mark.parametrize(
    ("name", "duration_s"),
    [("hover", 4.0), ("square", 6.0), ("sensor_faults", 8.0), ("imu_only_1khz", 1.5)],
)
def test_a_replay_prints_what_its_run_printed(name: str, duration_s: float, tmp_path: Path) -> None:
    scenario = replace(load_scenario(name), duration_ns=round(duration_s * 1e9))
    result, heard = record(scenario, tmp_path / "run.mcap")
    bus, again = MessageBus(), list[tuple[str, int, str]]()
    bus.subscribe("/*", lambda e: again.append((e.topic, e.stamp_sim_ns, digest(e.payload))))
    with ReplayBackend(tmp_path / "run.mcap") as backend:
        played = ReplayRun(backend, bus=bus).execute()
        same(played, result)
        assert played.backend == "replay"
        assert backend.run.digest == result.digest
    assert again == heard


@pytest.mark.gl
def test_cameras_replay_to_the_last_pixel(tmp_path: Path) -> None:
    scenario = replace(load_scenario("all_sensors"), duration_ns=SECOND // 2)
    cameras = [sensor.id for sensor in scenario.vehicle.sensors if sensor.type == "rgb"]
    with EmbeddedBackend() as probe:
        probe.reset(scenario, 0)
        if not set(cameras) <= set(probe.capabilities.sensor_ids):
            pytest.skip("no colour images here")
    result, _ = record(scenario, tmp_path / "run.mcap", encodings={cameras[0]: "png"})
    assert result.samples[cameras[0]] > 0
    with ReplayBackend(tmp_path / "run.mcap") as backend:
        same(ReplayRun(backend).execute(), result)


@pytest.mark.parametrize(
    "options",
    [{"has_truth": False}, {"refuse": True}, {"crash_at_step": 20}, {"lost_at_step": 100}],
)
def test_what_went_wrong_is_played_too(
    make_world: Maker, make_scenario: Maker, tmp_path: Path, options: dict[str, Any]
) -> None:
    scenario = make_scenario(TakeOff(1.0), Hold(SECOND), duration_s=2.0)
    result, _ = record(scenario, tmp_path / "run.mcap", make_world(**options))
    with ReplayBackend(tmp_path / "run.mcap") as backend:
        played = ReplayRun(backend).execute()
    assert played.digest == result.digest
    assert played.events == result.events
    assert played.command_rejects == result.command_rejects
    assert played.crashed == result.crashed
    assert played.outcome is Outcome.COMPLETED


def test_an_item_that_timed_out_is_told_once(
    make_world: Maker, make_scenario: Maker, tmp_path: Path
) -> None:
    scenario = make_scenario(TakeOff(5.0, timeout_ns=SECOND), duration_s=2.0)
    result, _ = record(scenario, tmp_path / "run.mcap", make_world(stuck=True))
    assert result.events["plan_timeout"] == 1
    with ReplayBackend(tmp_path / "run.mcap") as backend:
        same(ReplayRun(backend).execute(), result)


@pytest.fixture(scope="module")
def hover(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunResult]:
    """Three seconds of `hover`."""
    path = tmp_path_factory.mktemp("hover") / "hover.mcap"
    scenario = replace(load_scenario("hover"), duration_ns=3 * SECOND)
    return path, record(scenario, path)[0]


def test_passes_on_one_backend_are_equal(hover: tuple[Path, RunResult]) -> None:
    path, result = hover
    with ReplayBackend(path) as backend:
        for _ in range(3):
            same(ReplayRun(backend).execute(), result)


def test_compare_publishes_acks_that_carry_the_difference(hover: tuple[Path, RunResult]) -> None:
    path, result = hover
    bus, acks = MessageBus(), list[CommandAck]()

    def take(envelope: Envelope) -> None:
        assert isinstance(envelope.payload, CommandAck)
        acks.append(envelope.payload)

    bus.subscribe("/replay/ack", take)
    with ReplayBackend(path, compare=True) as backend:
        same(ReplayRun(backend, compare=True, bus=bus).execute(), result)
        report = backend.compare_report()
    assert report.sent == report.equal == result.commands == len(acks)
    assert all(ack.detail.startswith("equal to the command recorded at") for ack in acks)
    # Begun in the middle, the plan is followed from the start of the flight all the same.
    with ReplayBackend(path, compare=True, start_ns=SECOND) as backend:
        ReplayRun(backend, compare=True).execute()
        late = backend.compare_report()
    assert late.sent == late.equal > 50


def test_a_window_has_an_account_of_its_own(hover: tuple[Path, RunResult]) -> None:
    path, result = hover
    with ReplayBackend(path, start_ns=SECOND, end_ns=2 * SECOND) as backend:
        played = ReplayRun(backend).execute()
    assert played.sim_time_s == 1.0
    assert played.steps == 250
    assert played.samples["imu0"] == 250
    assert played.events == {"run_started": 1, "run_finished": 1}
    assert played.tracking_rmse_m is None
    assert played.digest != result.digest


def test_a_filter_leaves_the_rest_out(hover: tuple[Path, RunResult]) -> None:
    path, result = hover
    with ReplayBackend(path, topics=["/sensors/imu*"]) as backend:
        played = ReplayRun(backend).execute()
    assert played.samples == {**dict.fromkeys(result.samples, 0), "imu0": result.samples["imu0"]}
    assert played.final_pos_enu_m is None
    assert played.commands == 0


def test_a_callback_of_the_clock_may_control_if_asked_to(hover: tuple[Path, RunResult]) -> None:
    path, _ = hover
    for run_callbacks in (False, True):
        stamps: list[int] = []
        with ReplayBackend(path, run_callbacks=run_callbacks) as backend:
            backend.rewind()
            poll = backend.sensors()["imu0"].poll

            def control(poll: Any = poll, stamps: list[int] = stamps) -> None:
                stamps.extend(sample.stamp_sim_ns for sample in poll())

            backend.clock.schedule_periodic(20_000_000, control)
            for _ in range(50):
                backend.step(4_000_000)
        assert len(stamps) == (50 if run_callbacks else 0)


class Watch:
    """An observer that stops the run, and notes what it is told."""

    def __init__(self, stop_at_ns: int = 2**62) -> None:
        self.run: ReplayRun | None = None
        self.stop_at_ns = stop_at_ns
        self.info: RunInfo | None = None
        self.ticks: list[RunStatus] = []
        self.result: RunResult | None = None

    def attach(self, bus: MessageBus, info: RunInfo) -> None:  # noqa: ARG002 - RunObserver
        self.info = info

    def tick(self, status: RunStatus) -> None:
        self.ticks.append(status)
        if status.sim_ns >= self.stop_at_ns and self.run is not None:
            self.run.stop()

    def close(self, result: RunResult | None) -> None:
        self.result = result


def test_observers_are_told_as_in_a_live_run(hover: tuple[Path, RunResult]) -> None:
    path, result = hover
    watch = Watch(stop_at_ns=SECOND)
    with ReplayBackend(path) as backend:
        run = watch.run = ReplayRun(backend, observers=[watch])
        played = run.execute()
    assert watch.info is not None
    assert watch.info.capabilities.supports_replay
    assert isinstance(watch.info.initial_truth, GroundTruth)
    assert [status.sim_ns for status in watch.ticks] == [n * 100_000_000 for n in range(1, 11)]
    assert watch.ticks[-1].altitude_m is not None
    assert watch.result is played
    assert played.outcome is Outcome.INTERRUPTED
    assert played.events == {"run_started": 1, "run_finished": 1}
    assert played.steps == 250 < result.steps


def test_the_file_explains_itself(hover: tuple[Path, RunResult]) -> None:
    path, result = hover
    with LogReader(str(path)) as reader:
        info = reader.info()
    header = info.header
    assert header["backend"] == "embedded"
    assert header["seed"] == result.seed
    assert spec_from_dict(header["scenario"]).name == "hover"
    assert header["capabilities"]["deterministic"] is True
    assert header["engines"].keys() >= {"mujoco"}
    assert header.keys() >= {"ghost", "hal", "python", "packages", "sensors", "autopilot"}
    assert info.result["digest"] == result.digest
    assert info.result["outcome"] == "completed"
    assert json.loads(json.dumps(info.result["run"])) == result.to_json()


def test_a_recording_that_cannot_be_begun_stops_the_run_before_it_flies(
    make_world: Maker, make_scenario: Maker, tmp_path: Path
) -> None:
    path = tmp_path / "gone" / "run.mcap"
    run = ScenarioRun(
        make_world(), make_scenario(duration_s=0.5), observers=[RecordObserver(str(path))]
    )
    with pytest.raises(ConfigError, match=r"run\.mcap cannot be written: No such file") as caught:
        run.execute()
    assert caught.value.key == "--record"


def test_a_recording_that_fails_in_flight_does_not_stop_the_run(
    make_world: Maker, make_scenario: Maker, tmp_path: Path
) -> None:
    path = tmp_path / "run.mcap"

    class Deleting(RecordObserver):
        """Loses its file as soon as it is begun."""

        def attach(self, bus: MessageBus, info: RunInfo) -> None:
            super().attach(bus, info)
            path.unlink()

    recorder = Deleting(str(path))
    result = ScenarioRun(
        make_world(), make_scenario(duration_s=0.5), observers=[recorder]
    ).execute()
    assert result.outcome is Outcome.COMPLETED
    assert recorder.problem is not None
    assert str(path) in recorder.problem


@pytest.mark.parametrize(
    ("name", "encodings", "says"),
    [
        ("", {}, "is a folder"),
        ("there.mcap", {}, "exists already; give another name, or --force"),
        ("no/such.mcap", {}, "no does not exist"),
        ("new.mcap", {"alt0": "png"}, "'alt0' is no colour camera of 'point'"),
        ("new.mcap", {"alt0": "gif"}, "must be one of raw, png, jpeg"),
    ],
)
def test_what_cannot_be_recorded_is_refused_before_it_flies(
    make_scenario: Maker, tmp_path: Path, name: str, encodings: dict[str, str], says: str
) -> None:
    (tmp_path / "there.mcap").write_bytes(b"\x89MCAP0\r\nprecious")
    with pytest.raises(ConfigError, match=says):
        check_recording(str(tmp_path / name), make_scenario(), encodings, force=False)
    check_recording(str(tmp_path / "there.mcap"), make_scenario(), {}, force=True)


def test_events_of_the_recorder_are_events_of_the_run(
    make_world: Maker, make_scenario: Maker, tmp_path: Path
) -> None:
    """An extension without a plain form is named in the file and stops nothing."""
    world = make_world(extensions={"handle": object(), "rtf": 2.0, "of": {"x": (1, 2)}})
    result, _ = record(make_scenario(duration_s=0.2), tmp_path / "run.mcap", world)
    with ReplayBackend(tmp_path / "run.mcap") as backend:
        extensions = backend.capabilities.extensions
        assert extensions["handle"] == "(object, not recorded)"
        assert extensions["rtf"] == 2.0
        events: list[Event] = []
        backend.tap(lambda _t, _s, m: events.append(m) if isinstance(m, Event) else None)
        same(ReplayRun(backend).execute(), result)
    assert [event.type for event in events] == [EventType.RUN_STARTED, EventType.RUN_FINISHED]
