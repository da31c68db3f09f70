"""`ghost run --record` and `ghost replay`."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghost.cli import progress
from ghost.runtime import RunStatus

Ghost = Callable[..., Any]
SAME = ("scenario", "seed", "sim_time_s", "steps", "samples", "events", "digest", "command_rejects")


@pytest.fixture
def recorded(ghost: Ghost, scenario: Path, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A recording of a short run, and what the run printed."""
    path = tmp_path / "run.mcap"
    answer = ghost("run", scenario, "--json", "--record", path)
    assert (answer.code, answer.err) == (0, "")
    return path, answer.json


def test_a_replay_prints_the_same_object(
    ghost: Ghost, recorded: tuple[Path, dict[str, Any]]
) -> None:
    path, printed = recorded
    answer = ghost("replay", path, "--json")
    assert (answer.code, answer.err) == (0, "")
    assert answer.json.keys() == printed.keys()
    assert answer.json["backend"] == "replay"
    assert {key: answer.json[key] for key in SAME} == {key: printed[key] for key in SAME}
    table = ghost("replay", path)
    assert table.code == 0
    assert printed["digest"] in table.out
    assert ghost("replay", path, "--quiet").out == ""


def test_recording_changes_no_result(
    ghost: Ghost, scenario: Path, recorded: tuple[Path, dict[str, Any]]
) -> None:
    assert ghost("run", scenario, "--json").json["digest"] == recorded[1]["digest"]


def test_window_topics_loop_and_compare(
    ghost: Ghost, recorded: tuple[Path, dict[str, Any]]
) -> None:
    path, printed = recorded
    window = ghost("replay", path, "--from", "200ms", "--to", "0.6", "--json").json
    assert window["sim_time_s"] == pytest.approx(0.4)
    assert 0 < sum(window["samples"].values()) < sum(printed["samples"].values())
    assert ghost("replay", path, "--from", "0", "--json").json["digest"] == printed["digest"]
    only = ghost("replay", path, "--topics", "/step", "--json").json
    assert sum(only["samples"].values()) == 0
    assert ghost("replay", path, "--loop", "3", "--json").json["digest"] == printed["digest"]
    compared = ghost("replay", path, "--compare", "--json").json
    assert compared["digest"] == printed["digest"]
    assert compared["compare"]["sent"] == compared["compare"]["equal"]
    table = ghost("replay", path, "--compare")
    assert "commands compared" in table.out


def test_rtf_holds_it_back(ghost: Ghost, recorded: tuple[Path, dict[str, Any]]) -> None:
    printed = ghost("replay", recorded[0], "--rtf", "2", "--to", "400ms", "--json").json
    assert printed["real_time_factor"] < 2.2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--topics", "/none*"), "no recorded topic matches '/none*'"),
        (("--from", "1h"), "nothing was recorded between"),
        (("--from", "soon"), "is no duration"),
        (("--rtf", "0"), "above 0"),
        (("--loop", "0"), "--loop"),
        (("--compare", "--topics", "/step"), "--compare needs all topics"),
    ],
)
def test_bad_options_are_one_line(
    ghost: Ghost, recorded: tuple[Path, dict[str, Any]], options: tuple[str, ...], says: str
) -> None:
    answer = ghost("replay", recorded[0], *options)
    assert answer.code == 2
    assert answer.out == ""
    assert len(answer.err.splitlines()) == 1
    assert says in answer.err


@pytest.mark.parametrize("command", ["replay", "rerun"])
def test_bad_files_are_one_line(ghost: Ghost, tmp_path: Path, command: str) -> None:
    (tmp_path / "empty.mcap").write_bytes(b"")
    (tmp_path / "text.mcap").write_text("hello")
    (tmp_path / "cut.mcap").write_bytes(b"\x89MCAP0\r\n\x01\x05")
    for name in ("empty.mcap", "text.mcap", "cut.mcap", "not_there.mcap", "."):
        answer = ghost(command, tmp_path / name, "--json")
        assert answer.code == 2, answer
        assert answer.out == ""
        assert len(answer.err.splitlines()) == 1, answer.err
        assert answer.err.startswith(f"ghost: {tmp_path / name}: ")


def test_a_file_that_was_cut_off_plays_with_a_note(
    ghost: Ghost, recorded: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    whole = recorded[0].read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(whole[: whole.index(b"ghost.end")])
    answer = ghost("replay", cut, "--json")
    assert answer.code == 0
    # Only its end is missing: every message is there.
    assert answer.json["digest"] == recorded[1]["digest"]
    assert "ghost: note: " in answer.err
    assert "no end" in answer.err


def test_what_exists_is_kept_unless_forced(
    ghost: Ghost, scenario: Path, recorded: tuple[Path, dict[str, Any]]
) -> None:
    path, printed = recorded
    before = path.read_bytes()
    answer = ghost("run", scenario, "--record", path)
    assert answer.code == 2
    assert "exists already; give another name, or --force to replace it" in answer.err
    assert path.read_bytes() == before
    assert ghost("run", scenario, "--record", path, "--force", "--seed", "99", "--quiet").code == 0
    assert ghost("replay", path, "--json").json["digest"] != printed["digest"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--encoding", "cam_front=png"), "--record FILE"),
        (("--force",), "--record FILE"),
        (("--record", "no/where.mcap"), "the folder no does not exist"),
        (("--record", "."), "is a folder"),
        (("--record", "new.mcap", "--encoding", "nobody=png"), "is no colour camera"),
        (("--record", "new.mcap", "--encoding", "png"), "key=value"),
        (("--record", "new.mcap", "--encoding", "nobody=bmp"), "one of raw, png, jpeg"),
    ],
)
def test_what_cannot_be_recorded_is_told_before_the_flight(
    ghost: Ghost,
    scenario: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = ghost("run", scenario, *options)
    assert answer.code == 2
    assert says in answer.err
    assert not Path("new.mcap").exists()


def test_run_names_replay_for_what_needs_a_file(ghost: Ghost, scenario: Path) -> None:
    answer = ghost("run", scenario, "--backend", "replay")
    assert answer.code == 2
    assert "use: ghost replay FILE" in answer.err


def test_backends_lists_replay(ghost: Ghost) -> None:
    states = {state["name"]: state for state in ghost("backends", "--json").json["backends"]}
    assert states["replay"]["available"]
    assert "ghost replay FILE" in states["replay"]["description"]


class Impatient:
    """An observer that presses Ctrl-C after half a second of the recording."""

    def attach(self, bus: object, info: object) -> None:
        """Nothing to do."""

    def tick(self, status: RunStatus) -> None:
        if status.sim_ns == 500_000_000:
            os.kill(os.getpid(), signal.SIGINT)

    def close(self, result: object) -> None:
        """Nothing to do."""


def test_ctrl_c_prints_the_part_that_was_played(
    ghost: Ghost, recorded: tuple[Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "progress_observers", lambda: (Impatient(),))
    answer = ghost("replay", recorded[0], "--json", "--loop", "3")
    assert answer.code == 130
    assert answer.json["sim_time_s"] == 0.5
    assert answer.err == "ghost: interrupted after 0.500 s of the recording\n"
