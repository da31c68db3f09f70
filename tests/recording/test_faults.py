"""What goes wrong while recording: one clear event, and the flight goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mcap.records import Channel, Schema

from ghost.core import Event, EventSeverity, EventType, HostClock, MessageBus
from ghost.hal import StepReport
from ghost.recording import LogReader, Recorder, RecorderLimits
from ghost.recording.chunks import ChunkBuilder, ChunkedFile

if TYPE_CHECKING:
    from tests.recording.conftest import Kit

AT_ONCE = RecorderLimits(chunk_bytes=1)
"""Every message goes to the file at once."""


def faults_of(bus: MessageBus) -> list[Event]:
    found: list[Event] = []

    def note(envelope: object) -> None:
        event = getattr(envelope, "payload", None)
        if isinstance(event, Event) and event.type is EventType.RECORDING_FAULT:
            found.append(event)

    bus.subscribe("/events", note)
    return found


def fly(bus: MessageBus, first: int, last: int) -> None:
    for k in range(first, last):
        bus.publish("/step", StepReport(k, 1, {}))


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("{tmp}/no/such/folder/a.mcap", "No such file or directory"),
        ("{tmp}", "Is a directory"),
        ("/dev/full", "No space left on device"),
    ],
)
def test_a_file_that_cannot_be_opened_is_one_event(tmp_path: Path, path: str, why: str) -> None:
    bus = MessageBus()
    faults = faults_of(bus)
    name = path.format(tmp=tmp_path)
    with Recorder(name, bus) as recorder:
        fly(bus, 0, 100)
        assert recorder.fault is not None
    recorder.close()
    (event,) = faults
    assert event.severity is EventSeverity.ERROR
    assert name in event.message
    assert why in event.message
    assert event.payload["file"] == name


@pytest.mark.skipif(
    not os.path.isdir("/sys/kernel"), reason="needs a folder that root cannot write"
)
def test_a_read_only_folder_is_one_event() -> None:
    bus = MessageBus()
    faults = faults_of(bus)
    with Recorder("/sys/kernel/a.mcap", bus):
        fly(bus, 0, 100)
    assert len(faults) == 1
    assert "/sys/kernel/a.mcap" in faults[0].message


def test_a_folder_that_vanishes_is_one_event(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    bus = MessageBus()
    faults = faults_of(bus)
    with Recorder(str(folder / "a.mcap"), bus, limits=AT_ONCE) as recorder:
        fly(bus, 0, 10)
        shutil.rmtree(folder)
        fly(bus, 10, 20)
    fly(bus, 20, 30)
    (event,) = faults
    assert "deleted" in event.message
    stats = recorder.stats()
    assert stats.received == stats.written + stats.dropped
    assert stats.dropped > 0


FULL_DISK = """
import resource, sys
from ghost.core import MessageBus
from ghost.hal import StepReport
from ghost.recording import Recorder, RecorderLimits
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
bus = MessageBus()
bus.subscribe("/events", lambda e: print(e.payload.message))
with Recorder(sys.argv[1], bus, limits=RecorderLimits(chunk_bytes=2000)) as recorder:
    for k in range(20_000):
        bus.publish("/step", StepReport(k, 1, {"n": k * 7919 % 10007}))
stats = recorder.stats()
print(stats.received, stats.written, stats.dropped)
"""


def test_a_full_disk_is_one_event_and_the_file_holds_what_fitted(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True
    )
    message, counts = done.stdout.strip().splitlines()
    received, written, dropped = map(int, counts.split())
    assert str(path) in message
    assert "File too large" in message
    assert f"{written} messages are in it" in message
    assert written + dropped == received
    assert 0 < written < received
    assert path.stat().st_size <= 20_000
    with LogReader(str(path)) as reader:
        assert [m.stamp_ns for m in reader.messages()] == list(range(written))
        assert not reader.info().finished
        assert all("damaged: " not in n for n in reader.notes)


def test_an_object_without_a_schema_is_told_once_per_topic(tmp_path: Path, kit: Kit) -> None:
    bus, path = MessageBus(), tmp_path / "a.mcap"
    faults = faults_of(bus)
    with Recorder(str(path), bus) as recorder:
        for k in range(10):
            bus.publish("/mine", object(), k)
            bus.publish("/past", StepReport(0, 0, {}), -1 - k)
            bus.publish("/step", StepReport(k, 1, {}))
    assert sorted(str(f.payload["topic"]) for f in faults) == ["/mine", "/past"]
    assert all(f.severity is EventSeverity.WARN for f in faults)
    assert recorder.stats().left_out == 20
    assert [e for e in kit.read(path) if e[0] == "/step"] != []
    assert recorder.fault is None


class Gate:
    """Holds the writing thread until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = threading.Event()
        self.entered = threading.Event()
        write = ChunkedFile.write_chunk

        def wait_and_write(
            file: ChunkedFile, chunk: ChunkBuilder, definitions: Sequence[Schema | Channel]
        ) -> None:
            self.entered.set()
            assert self.open.wait(30)
            write(file, chunk, definitions)

        monkeypatch.setattr(ChunkedFile, "write_chunk", wait_and_write)


def test_a_disk_that_hangs_costs_one_wait_and_one_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, bus, path = Gate(monkeypatch), MessageBus(), tmp_path / "a.mcap"
    faults = faults_of(bus)
    limits = RecorderLimits(chunk_bytes=1, queue_bytes=2500, block_ns=20_000_000)
    with Recorder(str(path), bus, limits=limits) as recorder:
        fly(bus, 0, 1)
        assert gate.entered.wait(30)
        fly(bus, 1, 1000)
        stats = recorder.stats()
        assert stats.stalls == 1, "one wait of 20 ms, and none for the messages after it"
        assert stats.dropped > 900
        gate.open.set()
    stats = recorder.stats()
    assert stats.received == stats.written + stats.dropped
    (event,) = faults
    assert event.severity is EventSeverity.ERROR
    assert "dropped" in event.message
    with LogReader(str(path)) as reader:
        assert reader.info().result["dropped"] == stats.dropped
        assert reader.info().finished


def open_once_a_step_waits(gate: Gate, recorder: Recorder) -> None:
    host = HostClock()
    while recorder.stats().stalls == 0:
        host.sleep_until_ns(host.now_ns() + 1_000_000)
    gate.open.set()


def test_a_slow_disk_holds_the_step_up_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, bus, path = Gate(monkeypatch), MessageBus(), tmp_path / "a.mcap"
    faults = faults_of(bus)
    limits = RecorderLimits(chunk_bytes=1, queue_bytes=2500, block_ns=30_000_000_000)
    with Recorder(str(path), bus, limits=limits) as recorder:
        fly(bus, 0, 1)
        assert gate.entered.wait(30)
        opener = threading.Thread(target=open_once_a_step_waits, args=(gate, recorder))
        opener.start()
        fly(bus, 1, 1000)
        opener.join()
    stats = recorder.stats()
    assert (stats.dropped, stats.written) == (0, stats.received)
    assert stats.stalls > 0
    (event,) = faults
    assert event.severity is EventSeverity.WARN
    assert "too slowly" in event.message


class HandClock(HostClock):
    """A host's clock that a test sets."""

    at_ns = 0

    def now_ns(self) -> int:
        return self.at_ns


@pytest.mark.parametrize(("speed", "waits"), [(1, 1), (30, 0)])
def test_at_real_time_a_step_waits_for_a_writer_that_gets_no_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, speed: int, waits: int
) -> None:
    gate, bus, host = Gate(monkeypatch), MessageBus(), HandClock()
    limits = RecorderLimits(block_ns=20_000_000)
    with Recorder(str(tmp_path / "a.mcap"), bus, limits=limits, host=host) as recorder:
        for k in range(1, 500):
            host.at_ns += 4_000_000 // speed
            bus.publish("/step", StepReport(k * 4_000_000, 1, {}))
            if k * 4 < 100:
                assert recorder.stats().stalls == 0
        assert recorder.stats().stalls == waits, "one wait, and none while the disk hangs"
        gate.open.set()
    stats = recorder.stats()
    assert stats.received == stats.written == 499
    assert stats.dropped == 0


def test_a_disk_that_never_answers_does_not_hold_close_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, bus = Gate(monkeypatch), MessageBus()
    faults = faults_of(bus)
    limits = RecorderLimits(chunk_bytes=1, close_ns=20_000_000)
    recorder = Recorder(str(tmp_path / "a.mcap"), bus, limits=limits)
    recorder.start()
    fly(bus, 0, 10)
    assert gate.entered.wait(30)
    recorder.close()
    assert "did not take the rest" in faults[0].message
    assert recorder.fault is not None
    gate.open.set()


def test_an_unforeseen_error_in_the_thread_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise MemoryError("no more")

    monkeypatch.setattr(ChunkedFile, "write_chunk", broken)
    bus = MessageBus()
    faults = faults_of(bus)
    with Recorder(str(tmp_path / "a.mcap"), bus) as recorder:
        fly(bus, 0, 10)
    (event,) = faults
    assert "MemoryError: no more" in event.message
    assert recorder.fault is not None
