"""`ReplayBackend`: the same samples through the same doors, and time that can be moved about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ghost.backends.replay import ReplayBackend
from ghost.core import ClosedError, ConfigError, ContractViolation, Event, EventType
from ghost.hal import (
    AckReason,
    CommandAck,
    CommandRecord,
    GroundTruth,
    SensorHealth,
    SensorSample,
    StepReport,
    digest,
)
from ghost.recording import LogReader

Play = Callable[..., ReplayBackend]
MS = 1_000_000
STEP = 4 * MS


def logged(path: Path, topic: str) -> list[Any]:
    with LogReader(str(path)) as reader:
        return [message for _, _, _, message in reader.messages([topic])]


def run_through(backend: ReplayBackend) -> dict[str, list[SensorSample[Any]]]:
    polled: dict[str, list[SensorSample[Any]]] = {name: [] for name in backend.sensors()}
    while not backend.finished:
        backend.step(STEP)
        for name, provider in backend.sensors().items():
            polled[name].extend(provider.poll())
    return polled


def test_capabilities_are_the_recorded_ones_of_a_replay(play: Play, flight: Any) -> None:
    backend = play()
    said = backend.capabilities
    assert said.sensor_ids == ("altimeter0", "baro0", "gps0", "imu0", "mag0")
    assert said.has_ground_truth
    assert said.supports_replay
    assert said.deterministic
    assert said.extensions["fixed_scenario"] is True
    assert said.extensions["replay_of"] == "embedded"
    assert backend.scenario == flight.scenario
    assert backend.seed == 5
    assert backend.clock.step_ns() == flight.scenario.step_ns
    assert backend.actuators().spec.levels == said.actuator_levels
    assert backend.actuators().spec.motor_count == 4


def test_poll_and_push_give_the_recorded_samples(play: Play, flight: Any) -> None:
    backend = play()
    pushed: list[SensorSample[Any]] = []
    backend.sensors()["imu0"].subscribe(pushed.append)
    polled = run_through(backend)
    recorded = {name: logged(flight.path, f"/sensors/{name}") for name in polled}
    for name, samples in polled.items():
        assert [digest(s) for s in samples] == [digest(s) for s in recorded[name]]
        assert len(samples) == flight.result.samples[name]
    assert pushed == polled["imu0"]


def test_everything_is_played_in_the_recorded_order(play: Play, flight: Any) -> None:
    backend = play()
    tapped: list[tuple[str, int, bytes]] = []
    end = backend.tap(lambda topic, stamp, message: tapped.append((topic, stamp, _bytes(message))))
    while not backend.finished:
        backend.step(3 * STEP if backend.clock.now_ns() % (5 * STEP) == 0 else STEP)
    with LogReader(str(flight.path)) as reader:
        expected = [(t, stamp, _bytes(message)) for t, stamp, _, message in reader.messages()]
    assert tapped == expected
    assert {topic for topic, _, _ in tapped} >= {"/events", "/step", "/actuators/ack"}
    end()
    backend.rewind()
    backend.step(STEP)
    assert len(tapped) == len(expected)


def _bytes(message: object) -> bytes:
    return digest(message).encode()


def test_truth_is_the_latest_until_now(play: Play, flight: Any) -> None:
    backend = play()
    recorded: list[GroundTruth] = logged(flight.path, "/ground_truth")
    first = backend.ground_truth()
    assert first is not None
    assert first.stamp_sim_ns == 0
    for expected in recorded[:50]:
        backend.step(STEP)
        assert backend.ground_truth() == expected


def test_the_report_of_a_step_is_the_recorded_one(play: Play, flight: Any) -> None:
    backend = play()
    recorded: list[StepReport] = logged(flight.path, "/step")
    assert [backend.step(STEP) for _ in recorded] == recorded
    backend.rewind()
    large = backend.step(250 * STEP)
    assert large.steps == 250
    assert large.samples["imu0"] == sum(r.samples.get("imu0", 0) for r in recorded[:250])
    assert [event.type for event in large.faults] == [EventType.SENSOR_FAULT]


def test_a_sensor_that_fell_silent_is_offline_while_it_was(play: Play) -> None:
    backend = play()
    baro = backend.sensors()["baro0"]
    states = {}
    while not backend.finished:
        backend.step(25 * STEP)
        states[backend.clock.now_ns() // MS] = baro.health
    assert states[700] is SensorHealth.OK
    assert states[800] is states[1100] is SensorHealth.OFFLINE
    assert states[1300] is SensorHealth.OK


def test_reset_takes_the_recorded_run_and_no_other(play: Play, flight: Any) -> None:
    backend = play()
    backend.step(5 * STEP)
    backend.reset(flight.scenario, 5)
    assert backend.clock.now_ns() == 0
    with pytest.raises(ConfigError, match=r"has one seed, 5, and cannot be reset with 6"):
        backend.reset(flight.scenario, 6)
    with pytest.raises(ConfigError, match=r"'hover', asked for was 'other'; give reset"):
        backend.reset(replace(flight.scenario, name="other"), 5)
    with pytest.raises(ConfigError, match="'hover' with other values"):
        backend.reset(replace(flight.scenario, faults=()), 5)
    with pytest.raises(TypeError, match="ScenarioSpec"):
        backend.reset("hover", 5)  # type: ignore[arg-type]  # what is refused
    with pytest.raises(TypeError, match="seed"):
        backend.reset(flight.scenario, 5.0)  # type: ignore[arg-type]  # what is refused
    # A refusal leaves the replay as it was.
    backend.step(STEP)
    assert backend.clock.now_ns() == STEP


def test_two_passes_and_two_backends_are_equal(play: Play) -> None:
    backend, other = play(), play()
    first = run_through(backend)
    backend.rewind()
    assert run_through(backend) == first == run_through(other)


def test_subscribers_survive_and_queues_do_not(play: Play) -> None:
    backend = play()
    heard: list[int] = []
    imu = backend.sensors()["imu0"]
    imu.subscribe(lambda sample: heard.append(sample.seq))
    backend.step(3 * STEP)
    backend.rewind()
    assert imu.poll() == []
    assert backend.sensors()["imu0"] is imu
    backend.step(2 * STEP)
    assert heard == [0, 1, 2, 0, 1]


def test_a_full_queue_drops_the_oldest(play: Play, flight: Any) -> None:
    backend = play()
    size = next(s.queue_size for s in flight.scenario.vehicle.sensors if s.id == "imu0")
    backend.step(400 * STEP)
    polled = backend.sensors()["imu0"].poll()
    assert len(polled) == min(size, 400)
    assert polled[-1].seq == 399
    assert all(b.seq == a.seq + 1 for a, b in pairwise(polled))


def test_a_subscriber_that_raises_is_an_event_of_the_step(play: Play) -> None:
    backend = play()

    def bad(_: SensorSample[Any]) -> None:
        raise RuntimeError("deliberate")

    backend.sensors()["imu0"].subscribe(bad)
    report = backend.step(STEP)
    assert [event.type for event in report.faults] == [EventType.SUBSCRIBER_FAILED]


def test_time_goes_on_after_the_end_with_one_event(play: Play) -> None:
    backend = play()
    backend.step(499 * STEP)
    states = [backend.finished]
    assert EventType.REPLAY_ENDED not in {e.type for e in backend.step(STEP).faults}
    states.append(backend.finished)
    assert states == [False, True]
    played: list[object] = []
    backend.tap(lambda *message: played.append(message))
    reports = [backend.step(STEP) for _ in range(5)]
    assert played == []
    assert [e.type for report in reports for e in report.faults] == [EventType.REPLAY_ENDED]
    assert [report.samples for report in reports] == [{}] * 5
    assert backend.clock.now_ns() == 505 * STEP
    last = backend.ground_truth()
    assert last is not None
    assert last.stamp_sim_ns == 500 * STEP
    backend.rewind()
    assert not backend.finished


@pytest.mark.parametrize("at", [0, 4, 796, 1000, 1400, 1999, 2000])
def test_seek_is_as_if_all_before_had_been_played(play: Play, at: int) -> None:
    backend, stepped = play(compare=True), play(compare=True)
    backend.step(300 * STEP)
    backend.seek(at * MS)
    whole = at * MS // STEP
    if whole:
        stepped.step(whole * STEP)
    assert backend.clock.now_ns() == whole * STEP
    assert backend.ground_truth() == stepped.ground_truth()
    command = logged(Path(backend.run.path), "/actuators/command")[0].command
    stamp = backend.clock.now_ns()
    assert backend.actuators().send(command, stamp) == stepped.actuators().send(command, stamp)
    for name, provider in backend.sensors().items():
        offline = stepped.sensors()[name].health is SensorHealth.OFFLINE
        assert (provider.health is SensorHealth.OFFLINE) == offline
        stepped.sensors()[name].poll()
        assert provider.poll() == []
    for _ in range(3):
        assert backend.step(STEP) == stepped.step(STEP)
        for name, provider in backend.sensors().items():
            assert provider.poll() == stepped.sensors()[name].poll()


def test_seek_refuses_what_is_outside(play: Play) -> None:
    backend = play(start_ns=500 * MS)
    for at in (0, 499 * MS, 2001 * MS):
        with pytest.raises(ValueError, match="outside the recording"):
            backend.seek(at)
    with pytest.raises(TypeError, match="at_ns"):
        backend.seek(1.0)  # type: ignore[arg-type]  # what is refused


def test_a_window_plays_what_is_in_it(play: Play, flight: Any) -> None:
    backend = play(start_ns=501 * MS, end_ns=700 * MS)
    assert backend.clock.now_ns() == backend.start_ns == 500 * MS
    stamps: list[int] = []
    backend.tap(lambda _topic, stamp, _message: stamps.append(stamp))
    before = backend.ground_truth()
    assert before is not None
    assert before.stamp_sim_ns == 500 * MS
    while not backend.finished:
        backend.step(STEP)
    with LogReader(str(flight.path)) as reader:
        expected = [m.stamp_ns for m in reader.messages(None, 500 * MS + 1, 700 * MS + 1)]
    assert stamps == expected


@pytest.mark.parametrize(("start", "end"), [(2000, None), (900, 900), (3000, None), (1000, 500)])
def test_an_empty_window_is_refused(flight: Any, start: int, end: int | None) -> None:
    with pytest.raises(ConfigError, match="nothing was recorded between"):
        ReplayBackend(flight.path, start_ns=start * MS, end_ns=None if end is None else end * MS)


def test_a_filter_plays_its_topics_only(play: Play, flight: Any) -> None:
    backend = play(topics=["/sensors/imu*", "/events"])
    assert not backend.capabilities.has_ground_truth
    assert backend.ground_truth() is None
    topics = set()
    backend.tap(lambda topic, _stamp, _message: topics.add(topic))
    polled = run_through(backend)
    assert topics == {"/sensors/imu0", "/events"}
    assert {name for name, samples in polled.items() if samples} == {"imu0"}
    with pytest.raises(ConfigError, match=r"no recorded topic matches '/camera\*'.*/sensors/imu0"):
        ReplayBackend(flight.path, topics=["/camera*"])


def test_lifecycle(play: Play, flight: Any) -> None:
    fresh = ReplayBackend(flight.path)
    with pytest.raises(ContractViolation, match="call reset"):
        fresh.step(STEP)
    fresh.shutdown()
    with play() as backend:
        sink, imu = backend.actuators(), backend.sensors()["imu0"]
        backend.step(STEP)
    for use in (lambda: backend.clock, backend.sensors, lambda: backend.step(STEP)):
        with pytest.raises(ClosedError):
            use()
    assert imu.health is SensorHealth.OFFLINE
    command = logged(flight.path, "/actuators/command")[0].command
    assert sink.send(command, 0).reason is AckReason.CLOSED
    backend.shutdown()
    backend.reset(flight.scenario, flight.seed)
    assert backend.step(STEP).samples == {"imu0": 1}


@pytest.mark.parametrize("dt", [0, -STEP, 1, STEP + 1])
def test_step_takes_multiples_only(play: Play, dt: int) -> None:
    backend = play()
    with pytest.raises(ValueError, match="dt_ns"):
        backend.step(dt)
    assert backend.clock.now_ns() == 0


class TestSink:
    def test_answers_replay_and_commands_nothing(self, play: Play, flight: Any) -> None:
        backend = play()
        record: CommandRecord = logged(flight.path, "/actuators/command")[0]
        backend.step(STEP)
        ack = backend.actuators().send(record.command, STEP)
        assert isinstance(ack, CommandAck)
        assert (ack.accepted, ack.reason, ack.applied, ack.stamp_ns) == (
            False,
            AckReason.REPLAY,
            None,
            STEP,
        )
        assert "nothing is commanded" in ack.detail

    def test_refuses_what_a_live_sink_would(self, play: Play, flight: Any) -> None:
        backend = play()
        command = logged(flight.path, "/actuators/command")[0].command
        sink = backend.actuators()
        backend.step(2 * STEP)
        bad: Any = "up"
        assert sink.send(bad, 0).reason is AckReason.INVALID_TYPE
        assert sink.send(command, 3 * STEP).reason is AckReason.OUT_OF_RANGE
        assert sink.send(command, 2 * STEP).reason is AckReason.REPLAY
        assert sink.send(command, STEP).reason is AckReason.STALE


def test_events_that_were_recorded_are_played_once(play: Play, flight: Any) -> None:
    backend = play()
    events: list[Event] = []
    backend.tap(lambda _t, _s, m: events.append(m) if isinstance(m, Event) else None)
    run_through(backend)
    assert events == logged(flight.path, "/events")
