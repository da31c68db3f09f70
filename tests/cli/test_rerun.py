"""`ghost rerun`: exit code, table and object."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghost.cli import progress
from ghost.core import MessageBus
from ghost.recording import LogReader, Recorder
from ghost.runtime import RunStatus

Ghost = Callable[..., Any]


@pytest.fixture
def recording(ghost: Ghost, scenario: Path, tmp_path: Path) -> Path:
    path = tmp_path / "run.mcap"
    answer = ghost("run", scenario, "--quiet", "--record", path)
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    return path


def with_seed(path: Path, to: Path, **metadata: Any) -> Path:
    bus = MessageBus()
    with (
        LogReader(str(path)) as reader,
        Recorder(str(to), bus, metadata={**reader.info().header, **metadata}),
    ):
        for topic, stamp_ns, _, message in reader.messages():
            bus.publish(topic, message, stamp_ns)
    return to


def test_equal_is_zero(ghost: Ghost, recording: Path) -> None:
    answer = ghost("rerun", recording, "--json")
    assert (answer.code, answer.err) == (0, "")
    found = answer.json
    assert found["equal"] is True
    assert found["digest"] == found["recorded_digest"]
    assert found["difference"] is None
    assert found["notes"] == []
    table = ghost("rerun", recording)
    assert table.code == 0
    assert "equal" in table.out
    assert found["digest"] in table.out
    assert ghost("rerun", recording, "--quiet").out == ""


def test_different_is_one_and_says_where(ghost: Ghost, recording: Path, tmp_path: Path) -> None:
    other = with_seed(recording, tmp_path / "other.mcap", seed=6)
    answer = ghost("rerun", other, "--json")
    assert answer.code == 1
    found = answer.json
    assert found["equal"] is False
    assert found["digest"] is None
    first = found["difference"]
    assert first["topic"].startswith("/sensors/")
    assert first["what"] == "differs"
    assert all(part["path"].startswith("payload") for part in first["fields"])
    assert f"{first['topic']} at {first['stamp_ns']} ns differs" in answer.err
    table = ghost("rerun", other)
    assert table.code == 1
    assert "first difference" in table.out
    assert first["fields"][0]["recorded"] in table.out
    assert first["fields"][0]["new"] in table.out


def test_another_backend_is_another_world(ghost: Ghost, recording: Path, drivers: str) -> None:
    answer = ghost("rerun", recording, "--backend", f"{drivers}:Deaf", "--json")
    assert answer.code == 1
    assert answer.json["backend"] == f"{drivers}:Deaf"
    assert answer.json["difference"] is not None


def test_the_code_of_others_is_not_run_on_the_word_of_a_file(
    ghost: Ghost, recording: Path, tmp_path: Path, drivers: str
) -> None:
    theirs = with_seed(recording, tmp_path / "theirs.mcap", backend=f"{drivers}:Mine")
    answer = ghost("rerun", theirs)
    assert answer.code == 2
    assert f"say --backend {drivers}:Mine" in answer.err
    assert ghost("rerun", theirs, "--backend", "embedded", "--json").json["equal"]


def test_a_recording_without_a_scenario_is_one_line(
    ghost: Ghost, recording: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.mcap"
    bus = MessageBus()
    with LogReader(str(recording)) as reader, Recorder(str(bare), bus):
        for topic, stamp_ns, _, message in reader.messages(["/ground_truth"]):
            bus.publish(topic, message, stamp_ns)
    answer = ghost("rerun", bare)
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert "no scenario in it" in answer.err


class Impatient:
    """An observer that presses Ctrl-C."""

    def attach(self, bus: object, info: object) -> None:
        """Nothing to do."""

    def tick(self, status: RunStatus) -> None:
        if status.sim_ns == 300_000_000:
            os.kill(os.getpid(), signal.SIGINT)

    def close(self, result: object) -> None:
        """Nothing to do."""


def test_ctrl_c_ends_it(ghost: Ghost, recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "progress_observers", lambda: (Impatient(),))
    answer = ghost("rerun", recording, "--json")
    assert answer.code == 130
    assert answer.json["interrupted"] is True
    assert "interrupted at 0.300 s" in answer.err
