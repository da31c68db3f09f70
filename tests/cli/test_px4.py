"""Scenarios with an autopilot, on the command line: none is there, and the double flies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Ghost
from tests.px4_double.launch import write_px4

QUICK = ("--set", "autopilot.warmup_ns=8000000000", "--duration", "3s")


@pytest.fixture
def no_px4(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any."""
    for name in list(os.environ):
        if name.startswith("PX4_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", "/nowhere")


@pytest.fixture
def double(no_px4: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001 - before it
    """A machine where PX4_BIN is the double."""
    path = write_px4(tmp_path / "px4")
    monkeypatch.setenv("PX4_BIN", str(path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return path


@pytest.mark.usefixtures("no_px4")
@pytest.mark.parametrize("command", ["run", "repeat"])
def test_one_screen_says_what_is_missing(ghost: Ghost, command: str) -> None:
    answer = ghost(command, "px4_hover")
    assert answer.code == 2
    assert answer.out == ""
    assert len(answer.err.splitlines()) <= 30
    for part in ("none was found", "PX4_BIN", "docker pull px4io/px4-sitl:", "px4_hover"):
        assert part in answer.err


@pytest.mark.usefixtures("no_px4")
def test_a_wrong_path_is_one_line(ghost: Ghost) -> None:
    answer = ghost("run", "px4_hover", "--set", "autopilot.binary=/nowhere/px4")
    assert answer.code == 2
    assert len(answer.err.splitlines()) == 1
    assert "/nowhere/px4" in answer.err


@pytest.mark.usefixtures("double")
def test_a_run_says_who_flew_and_how_the_lockstep_was(ghost: Ghost) -> None:
    answer = ghost("run", "px4_hover", *QUICK, "--json")
    assert answer.code == 0, answer.err
    account = answer.json
    assert account["lockstep"]["answered"] == account["steps"]
    assert account["lockstep"]["missing"] == 0
    told = ghost("run", "px4_hover", *QUICK)
    assert "PX4 1.17" in told.out
    assert "answered" in told.out


@pytest.mark.usefixtures("double")
def test_repeat_measures_the_spread(ghost: Ghost, tmp_path: Path) -> None:
    file = tmp_path / "spread.json"
    answer = ghost("repeat", "px4_hover", "-n", "2", *QUICK, "-o", file, "--json")
    assert answer.code == 0, answer.err
    assert len(answer.json["runs"]) == 2
    assert file.is_file()


@pytest.mark.usefixtures("double")
def test_the_bridge_needs_gazebo(ghost: Ghost) -> None:
    answer = ghost("run", "px4_gazebo_hover")
    assert answer.code == 2
    assert "--backend gazebo" in answer.err


def test_the_doctor_names_the_program(ghost: Ghost, double: Path) -> None:
    answer = ghost("doctor", "--wait", "100ms", "--json")
    found = {check["name"]: check for check in answer.json["checks"] if check["area"] == "PX4"}
    assert str(double) in found["program"]["detail"]
    assert found["program"]["state"] == "ok"


@pytest.mark.usefixtures("no_px4")
def test_the_doctor_says_that_there_is_none(ghost: Ghost) -> None:
    answer = ghost("doctor", "--wait", "100ms", "--json")
    found = {check["name"]: check for check in answer.json["checks"] if check["area"] == "PX4"}
    assert found["program"]["state"] == "warning"
    assert "autopilot.image" in found["program"]["fix"]
