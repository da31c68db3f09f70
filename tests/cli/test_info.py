"""`ghost info`, and what all commands that read recordings say to bad ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Ghost = Callable[..., Any]


@pytest.fixture
def flight(ghost: Ghost, scenario: Path, tmp_path: Path) -> Path:
    """A recording of one second, by the command itself."""
    path = tmp_path / "flight.mcap"
    assert ghost("run", scenario, "--record", path, "--quiet").code == 0
    return path


def test_the_table(ghost: Ghost, flight: Path) -> None:
    answer = ghost("info", flight)
    assert answer.code == 0
    assert answer.err == ""
    for wanted in (
        "finished", "short", "x500", "embedded", "/sensors/imu0", "/ground_truth", "250 Hz",
        "GroundTruth", "ok 250", "digest", "completed", "numpy", "mujoco",
    ):  # fmt: skip
        assert wanted in answer.out, wanted


def test_json(ghost: Ghost, flight: Path, scenario: Path) -> None:
    answer = ghost("info", flight, "--json")
    assert answer.code == 0
    found = answer.json
    run = ghost("run", scenario, "--json").json
    assert found["finished"] is True
    assert found["notes"] == []
    assert found["made"]["digest"] == run["digest"]
    assert (found["made"]["seed"], found["made"]["scenario"]) == (5, "short")
    topics = {topic["topic"]: topic for topic in found["topics"]}
    for sensor_id, count in run["samples"].items():
        assert topics[f"/sensors/{sensor_id}"]["count"] == count
        assert topics[f"/sensors/{sensor_id}"]["seq_lost"] == 0
    assert topics["/sensors/imu0"]["rate_hz"] == pytest.approx(250.0)
    assert found["messages"] == sum(topic["count"] for topic in found["topics"])
    assert found["last_ns"] == 1_000_000_000


COMMANDS: tuple[tuple[str, ...], ...] = (
    ("info", "{}"),
    ("info", "{}", "--json"),
    ("plot", "{}"),
    ("export", "{}", "--to", "csv"),
    ("diff", "{}", "{}"),
)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "cannot be read"), (b"", "empty"), (b"PNG? no, a text.\n" * 20, "MCAP")],
    ids=["missing", "empty", "text"],
)
def test_what_is_no_recording_is_bad_input(
    ghost: Ghost, tmp_path: Path, command: tuple[str, ...], content: bytes | None, words: str
) -> None:
    path = tmp_path / "bad.mcap"
    if content is not None:
        path.write_bytes(content)
    answer = ghost(*(str(path) if part == "{}" else part for part in command))
    assert answer.code == 2
    assert answer.out == ""
    (line,) = answer.err.splitlines()
    assert line.startswith("ghost: ")
    assert "bad.mcap" in line
    assert words in line
    assert sorted(p.name for p in tmp_path.iterdir()) == (
        ["bad.mcap"] if content is not None else []
    )


def test_a_folder_is_bad_input(ghost: Ghost, tmp_path: Path) -> None:
    answer = ghost("info", tmp_path)
    assert answer.code == 2
    assert len(answer.err.splitlines()) == 1


@pytest.mark.parametrize("part", [0.01, 0.3, 0.5])
def test_a_truncated_recording_is_described_with_a_note(
    ghost: Ghost, flight: Path, tmp_path: Path, part: float
) -> None:
    whole = flight.read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(whole[: int(len(whole) * part)])
    answer = ghost("info", cut)
    assert answer.code == 0
    assert "cut off" in answer.out
    assert "ghost: note: " in answer.err
    found = ghost("info", cut, "--json").json
    assert found["finished"] is False
    assert found["notes"]
    assert found["messages"] < ghost("info", flight, "--json").json["messages"]


def test_a_file_without_its_index_is_described_whole(
    ghost: Ghost, flight: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(flight.read_bytes()[:-100])
    found = ghost("info", cut, "--json").json
    assert found["messages"] == ghost("info", flight, "--json").json["messages"]
    assert found["notes"]


def test_flipped_bits_give_notes_and_no_traceback(
    ghost: Ghost, flight: Path, tmp_path: Path
) -> None:
    data = bytearray(flight.read_bytes())
    for at in range(len(data) // 3, len(data) // 3 + 4000, 97):
        data[at] ^= 0xFF
    bad = tmp_path / "flipped.mcap"
    bad.write_bytes(bytes(data))
    answer = ghost("info", bad)
    assert answer.code == 0
    assert "note" in answer.err
    assert "Traceback" not in answer.err
