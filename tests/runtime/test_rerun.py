"""Running a recording again: equal, or the first message that is not, field by field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ghost.backends.embedded import EmbeddedBackend
from ghost.config import load_scenario
from ghost.core import (
    ConfigError,
    Event,
    EventSeverity,
    EventType,
    FlightPlan,
    MessageBus,
    ScenarioSpec,
    UnknownName,
)
from ghost.hal import (
    CommandRecord,
    GroundTruth,
    SensorSample,
    StepReport,
    VelocityCommand,
)
from ghost.recording import LogReader, Recorder
from ghost.runtime import Comparison, RecordObserver, RunInfo, ScenarioRun, rerun
from ghost.runtime.difference import field_differences

SECOND = 1_000_000_000
STEP = 4_000_000
EVER = 2**62


@pytest.fixture(scope="module")
def scenario() -> ScenarioSpec:
    return replace(load_scenario("hover"), duration_ns=SECOND)


@pytest.fixture(scope="module")
def recording(scenario: ScenarioSpec, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One second of `hover`."""
    path = tmp_path_factory.mktemp("rerun") / "run.mcap"
    with EmbeddedBackend() as backend:
        recorder = RecordObserver(str(path))
        run = ScenarioRun(backend, scenario, backend_name="embedded", seed=9, observers=[recorder])
        run.execute()
    assert recorder.problem is None
    return path


def rewritten(
    path: Path,
    to: Path,
    change: Callable[[str, Any], Any] = lambda _, message: message,
    *,
    until_ns: int = EVER,
    metadata: dict[str, Any] | None = None,
) -> Path:
    """Copy a recording message by message; `change` returns None for one to leave out."""
    bus = MessageBus()
    with LogReader(str(path)) as reader:
        info = reader.info()
        with Recorder(str(to), bus, metadata={**info.header, **(metadata or {})}) as recorder:
            for topic, stamp_ns, _, message in reader.messages(None, None, until_ns):
                changed = change(topic, message)
                if changed is not None:
                    bus.publish(topic, changed, stamp_ns)
            if until_ns == EVER:
                recorder.annotate(digest=info.result["digest"])
    return to


def test_a_recording_runs_again_to_the_last_bit(recording: Path) -> None:
    report = rerun(str(recording))
    assert report.equal
    assert report.difference is None
    assert report.digest == report.recorded_digest is not None
    assert (report.backend, report.scenario, report.seed) == ("embedded", "hover", 9)
    assert report.until_ns == SECOND
    with LogReader(str(recording)) as reader:
        # All but run_started and run_finished, which are about the run.
        assert report.compared == sum(1 for _ in reader.messages()) - 2
    assert report.notes == ()
    assert report.to_json()["equal"] is True


def test_a_copy_without_its_digest_is_equal_too(recording: Path, tmp_path: Path) -> None:
    """What a killed recorder leaves: no result, and the last step is not whole."""

    def start_of_step(topic: str, message: Any) -> Any:
        last = message.stamp_sim_ns == SECOND // 2
        return None if last and topic not in ("/step", "/sensors/altimeter0") else message

    cut = tmp_path / "cut.mcap"
    rewritten(recording, cut, start_of_step, until_ns=SECOND // 2 + 1)
    data = cut.read_bytes()
    cut.write_bytes(data[: data.index(b"ghost.end") - 13])
    report = rerun(str(cut))
    assert report.equal, report
    assert report.recorded_digest is None
    assert any("no end" in note for note in report.notes)
    assert report.compared > 500


def test_one_changed_bit_is_found_and_named(recording: Path, tmp_path: Path) -> None:
    def change(topic: str, message: Any) -> Any:
        if topic == "/sensors/imu0" and message.seq == 100:
            accel = message.payload.accel_mps2.copy()
            accel[2] = np.nextafter(accel[2], np.inf)
            return replace(message, payload=replace(message.payload, accel_mps2=accel))
        return message

    report = rerun(str(rewritten(recording, tmp_path / "changed.mcap", change)))
    found = report.difference
    assert not report.equal
    assert found is not None
    assert (found.topic, found.stamp_ns, found.what) == ("/sensors/imu0", 101 * STEP, "differs")
    assert [part.path for part in found.fields] == ["payload.accel_mps2[2]"]
    assert float(found.fields[0].recorded) > float(found.fields[0].new)
    assert found.index == report.compared
    # It stopped there.
    assert report.until_ns < 120 * STEP
    assert report.digest is None


def test_wall_stamps_are_not_compared(recording: Path, tmp_path: Path) -> None:
    def change(_: str, message: Any) -> Any:
        return replace(message, stamp_wall_ns=1) if isinstance(message, SensorSample) else message

    assert rerun(str(rewritten(recording, tmp_path / "wall.mcap", change))).equal


def test_a_message_too_few_or_too_many_is_found(recording: Path, tmp_path: Path) -> None:
    def without(topic: str, message: Any) -> Any:
        return None if topic == "/sensors/gps0" and message.seq == 3 else message

    missing = rerun(str(rewritten(recording, tmp_path / "missing.mcap", without))).difference
    assert missing is not None
    assert missing.topic == "/sensors/gps0" or "/sensors/gps0" in missing.what

    def other(_: str, message: Any) -> Any:
        if isinstance(message, StepReport) and message.now_ns == 50 * STEP:
            crash = Event(EventType.CRASH, 50 * STEP, EventSeverity.ERROR, "test", "never was")
            return replace(message, faults=(crash,))
        return message

    extra = rerun(str(rewritten(recording, tmp_path / "extra.mcap", other))).difference
    assert extra is not None
    assert (extra.topic, extra.stamp_ns) == ("/step", 50 * STEP)
    assert extra.fields[0].path == "len(faults)"


def test_another_seed_is_another_run(recording: Path, tmp_path: Path) -> None:
    changed = rewritten(recording, tmp_path / "seed.mcap", metadata={"seed": 10})
    report = rerun(str(changed))
    assert not report.equal
    assert report.difference is not None
    assert report.difference.topic.startswith("/sensors/")


def test_another_version_is_a_note(recording: Path, tmp_path: Path) -> None:
    changed = rewritten(
        recording, tmp_path / "old.mcap", metadata={"engines": {"mujoco": "0.1", "no_such": "2"}}
    )
    report = rerun(str(changed))
    assert report.equal
    assert any(note.startswith("recorded with mujoco 0.1, here it is") for note in report.notes)
    assert "recorded with no_such 2, here it is not installed" in report.notes


def test_what_cannot_be_run_again_says_what_is_missing(recording: Path, tmp_path: Path) -> None:
    def made(name: str, **metadata: Any) -> str:
        return str(rewritten(recording, tmp_path / name, metadata=metadata, until_ns=50 * STEP))

    with pytest.raises(ConfigError, match=r"no scenario in it.*scenario cannot be used"):
        rerun(made("a.mcap", scenario={"name": 1}))
    with pytest.raises(ConfigError, match="no name of the backend"):
        rerun(made("b.mcap", backend=""))
    with pytest.raises(UnknownName, match="bedded"):
        rerun(made("c.mcap", backend="bedded"))
    with pytest.raises(ConfigError, match=r"say --backend os:abort"):
        rerun(made("d.mcap", backend="os:abort"))
    # Named by the person, the backend is theirs to choose.
    assert rerun(made("e.mcap", backend="os:abort"), backend="embedded").equal


def test_commands_of_another_program_are_sent_again(scenario: ScenarioSpec, tmp_path: Path) -> None:
    """A program with its own loop, from the first moment, some commands twice in a step."""
    path, bus = tmp_path / "own.mcap", MessageBus()
    idle = replace(scenario, plan=FlightPlan(), duration_ns=SECOND // 2)
    with EmbeddedBackend() as backend:
        backend.reset(idle, 4)
        info = RunInfo("embedded", idle, 4, backend.capabilities, (), "a program of its own")
        recorder = RecordObserver(str(path))
        recorder.attach(bus, info)

        def send(up: float) -> None:
            now = backend.clock.now_ns()
            command = VelocityCommand(np.array([0.1, 0.0, up]))
            bus.publish("/actuators/command", CommandRecord(now, command))
            bus.publish("/actuators/ack", backend.actuators().send(command, now))

        send(1.0)
        while backend.clock.now_ns() < idle.duration_ns:
            step = backend.step(STEP)
            bus.publish("/step", step)
            for sensor_id, provider in sorted(backend.sensors().items()):
                for sample in provider.poll():
                    bus.publish(f"/sensors/{sensor_id}", sample)
            truth = backend.ground_truth()
            bus.publish("/ground_truth", truth)
            if step.now_ns % (10 * STEP) == 0:
                send(2.0)
                send(step.now_ns / SECOND)
        assert truth.pos_enu_m[2] > 0.25
        recorder.close(None)
    report = rerun(str(path))
    assert report.equal, report.difference
    assert report.compared > 500


def test_it_can_be_stopped(recording: Path) -> None:
    report = rerun(str(recording), on_run=lambda run: run.stop())
    assert report.interrupted
    assert report.equal
    assert report.compared == 0


class TestComparison:
    """The comparison alone, on a bus of our own."""

    @staticmethod
    def truth(stamp_ns: int, x: float = 0.0) -> GroundTruth:
        zero = np.zeros(3)
        position = np.array([x, 0.0, 0.0])
        one = np.array([1.0, 0.0, 0.0, 0.0])
        return GroundTruth(stamp_ns, position, one, zero, zero, zero, np.zeros(0))

    def test_memory_holds_one_step(self) -> None:
        pulled: list[int] = []

        def recorded() -> Any:
            for now in range(1, 1001):
                pulled.append(now)
                yield "/step", now, 2 * now, StepReport(now, 1, {})
                yield "/ground_truth", now, 2 * now + 1, self.truth(now)

        bus = MessageBus()
        comparison = Comparison(recorded())
        comparison.attach(bus, None)  # type: ignore[arg-type]  # it does not look at it
        for now in range(1, 1001):
            bus.publish("/step", StepReport(now, 1, {}))
            bus.publish("/ground_truth", self.truth(now))
            assert pulled[-1:] == ([now - 1] if now > 1 else [])
        comparison.close(None)
        assert comparison.difference is None
        assert comparison.compared == 2000

    def test_order_within_a_step_is_the_total_order(self) -> None:
        """A late publication with an earlier stamp is where the recorder would put it."""
        early = Event(EventType.CRASH, 3, EventSeverity.ERROR, "test")
        recorded = [("/events", 3, 1, early), ("/step", 5, 0, StepReport(5, 1, {}))]
        bus = MessageBus()
        comparison = Comparison(iter(recorded))
        comparison.attach(bus, None)  # type: ignore[arg-type]  # it does not look at it
        bus.publish("/step", StepReport(5, 1, {}))
        bus.publish("/events", early)
        comparison.close(None)
        assert comparison.difference is None
        assert comparison.compared == 2


def test_differences_name_the_path_and_both_values() -> None:
    truth = TestComparison.truth
    (part,) = field_differences(truth(1, 0.0), truth(1, -0.0))
    assert (part.path, part.recorded, part.new) == ("pos_enu_m[0]", "0.0", "-0.0")
    assert field_differences(truth(1, float("nan")), truth(1, float("nan"))) == ()
    (part,) = field_differences(truth(1), truth(2))
    assert (part.path, part.recorded, part.new) == ("stamp_sim_ns", "1", "2")
    one = Event(EventType.CRASH, 1, EventSeverity.ERROR, "a", "", {"x": 1, "y": [1, 2]})
    two = Event(EventType.CRASH, 1, EventSeverity.ERROR, "a", "", {"x": 1.0, "y": [1, 3], "z": 0})
    paths = {part.path: (part.recorded, part.new) for part in field_differences(one, two)}
    assert paths == {
        "payload['x']": ("1 (int)", "1.0 (float)"),
        "payload['y'][1]": ("2", "3"),
        "payload['z']": ("(not there)", "0"),
    }
    (part,) = field_differences(one, truth(1))
    assert (part.path, part.recorded, part.new) == ("class", "Event", "GroundTruth")
    parts = field_differences(np.arange(9.0), np.arange(9.0) + 1.0)
    assert parts[0].path == " (9 of 9 differ)"
    assert (parts[0].recorded, parts[0].new) == ("0.0..8.0", "1.0..9.0")
    assert len(parts) == 4
