"""Files that are cut off, damaged, of another tool, or nothing at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foxglove_schemas_protobuf.LocationFix_pb2 import LocationFix
from foxglove_schemas_protobuf.PoseInFrame_pb2 import PoseInFrame
from mcap.writer import Writer
from mcap_protobuf.writer import Writer as ProtobufWriter

from ghost.backends.replay import ReplayBackend
from ghost.core import ConfigError, EventType, MessageBus, RandomStream
from ghost.hal import GroundTruth
from ghost.recording import LogReader, Recorder, RecorderLimits

Play = Callable[..., ReplayBackend]
SECOND = 1_000_000_000
STEP = 4_000_000


def test_what_is_no_recording_is_one_clear_error(tmp_path: Path) -> None:
    text, empty, folder = tmp_path / "a.txt", tmp_path / "b.mcap", tmp_path / "c"
    text.write_text("not a recording")
    empty.write_bytes(b"")
    folder.mkdir()
    for path, says in (
        (text, "not an MCAP file"),
        (empty, "0 bytes"),
        (folder, "directory"),
        (tmp_path / "nothing", "No such file"),
    ):
        with pytest.raises(ConfigError, match=says) as caught:
            ReplayBackend(path)
        assert caught.value.file == str(path)
        assert str(caught.value).count(str(path)) == 1


def test_a_file_without_messages_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "silent.mcap"
    with path.open("wb") as stream:
        writer: Any = Writer(stream)
        writer.start()
        writer.finish()
    with pytest.raises(ConfigError, match="no messages that can be played"):
        ReplayBackend(path)


@pytest.fixture(scope="module")
def chunked(flight: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The flight again, in many small chunks."""
    path, bus = tmp_path_factory.mktemp("chunked") / "chunked.mcap", MessageBus()
    with LogReader(str(flight.path)) as reader:
        metadata, limits = reader.info().header, RecorderLimits(chunk_bytes=20_000)
        with Recorder(str(path), bus, metadata=metadata, limits=limits):
            for topic, stamp_ns, _, message in reader.messages():
                bus.publish(topic, message, stamp_ns)
    return path


@pytest.mark.parametrize("part", [0.3, 0.4, 0.5, 0.7])
def test_a_truncated_file_plays_what_it_holds(
    play: Play, flight: Any, chunked: Path, tmp_path: Path, part: float
) -> None:
    whole = chunked.read_bytes()
    path = tmp_path / "cut.mcap"
    path.write_bytes(whole[: int(len(whole) * part)])
    backend = play(path)
    assert not backend.run.finished
    assert backend.scenario == flight.scenario
    assert any("cut off" in note or "unfinished" in note for note in backend.notes)
    played: list[tuple[str, int]] = []
    backend.tap(lambda topic, stamp, _message: played.append((topic, stamp)))
    while not backend.finished:
        backend.step(STEP)
    with LogReader(str(flight.path)) as reader:
        recorded = [(m.topic, m.stamp_ns) for m in reader.messages()]
    assert 0 < len(played) <= len(recorded)
    assert played == recorded[: len(played)]


def test_a_newer_format_is_a_note(play: Play, tmp_path: Path) -> None:
    path, bus = tmp_path / "new.mcap", MessageBus()
    with Recorder(str(path), bus, metadata={"format": 99}):
        bus.publish("/ground_truth", truth(SECOND))
    backend = play(path)
    assert any("newer Ghost" in note for note in backend.notes)
    backend.step(2000 * backend.clock.step_ns())
    assert backend.ground_truth() == truth(SECOND)


def truth(stamp_ns: int) -> GroundTruth:
    zero = np.zeros(3)
    return GroundTruth(
        stamp_ns, zero, np.array([1.0, 0.0, 0.0, 0.0]), zero, zero, zero, np.zeros(0)
    )


@pytest.mark.parametrize(
    "metadata",
    [
        {"scenario": {"name": 3}},
        {"scenario": ["hover"], "seed": "seven"},
        {"capabilities": {"sensor_ids": ["imu0"]}, "actuators": [1]},
        {"capabilities": 3, "initial_truth": {"stamp_sim_ns": 0}},
        {"actuators": {"levels": ["warp"]}, "backend": ["x"]},
    ],
)
def test_metadata_that_makes_no_sense_is_a_note(
    play: Play, tmp_path: Path, metadata: dict[str, object]
) -> None:
    path, bus = tmp_path / "odd.mcap", MessageBus()
    with Recorder(str(path), bus, metadata=metadata):
        bus.publish("/ground_truth", truth(5_000_000))
    backend = play(path)
    assert any("cannot be used" in note for note in backend.notes)
    backend.step(10 * backend.clock.step_ns())
    assert backend.ground_truth() == truth(5_000_000)


def test_a_file_of_another_tool_is_a_world_too(play: Play, tmp_path: Path) -> None:
    path = tmp_path / "foreign.mcap"
    start = 1_700_000_000 * SECOND
    with path.open("wb") as stream, ProtobufWriter(stream) as writer:
        for index in range(51):
            stamp = start + index * 20_000_000
            pose = PoseInFrame()
            pose.pose.orientation.w = 1.0
            pose.pose.position.z = 0.1 * index
            writer.write_message("/pose", pose, log_time=stamp, publish_time=stamp)
            if index % 5 == 0:
                fix = LocationFix(latitude=47.0, longitude=8.0)
                writer.write_message("/gps", fix, log_time=stamp, publish_time=stamp)
    backend = play(path)
    assert backend.scenario is None
    assert backend.seed is None
    assert backend.capabilities.sensor_ids == ("gps",)
    assert backend.capabilities.has_ground_truth
    assert backend.sensors()["gps"].spec.nominal_rate_hz == pytest.approx(10.0)
    assert backend.clock.now_ns() == backend.start_ns == start - 1_000_000
    fixes = 0
    while not backend.finished:
        backend.step(1_000_000)
        fixes += len(backend.sensors()["gps"].poll())
    assert fixes == 11
    last = backend.ground_truth()
    assert last is not None
    assert last.pos_enu_m[2] == pytest.approx(5.0)
    report = backend.step(1_000_000)
    assert [event.type for event in report.faults] == [EventType.REPLAY_ENDED]


def test_mutated_files_play_or_are_refused(chunked: Path, tmp_path: Path) -> None:
    """Forty files with a few wrong bytes each: never anything but a `ConfigError`."""
    whole = chunked.read_bytes()
    dice = RandomStream(4)
    path = tmp_path / "mutated.mcap"
    refused = 0
    for _ in range(40):
        data = bytearray(whole)
        for _ in range((1, 3, 30)[dice.integers(0, 3)]):
            # The ends of a file hold what everything else depends on.
            near = (len(data), 3000)[dice.integers(0, 2)]
            place = dice.integers(0, near)
            data[place if dice.integers(0, 2) else -1 - place] = dice.integers(0, 256)
        path.write_bytes(data)
        try:
            backend = ReplayBackend(path)
        except ConfigError:
            refused += 1
            continue
        with backend:
            backend.rewind()
            for _ in range(500):
                if not backend.finished:
                    backend.step(backend.clock.step_ns())
    assert refused < 40
