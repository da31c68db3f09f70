"""What is mistaken at the edges: topics, files, pipes, addresses. One line, the right code."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Ghost = Callable[..., Any]


def refused(answer: Any, *says: str) -> None:
    assert answer.code == 2, answer
    assert answer.out == ""
    assert answer.err.startswith("ghost: ")
    assert answer.err.count("\n") == 1
    for text in says:
        assert text in answer.err


def shell(line: str, cwd: Path) -> tuple[int, str, str]:
    """Run a line of bash, where `$GHOST` is the program; its code is that of the first command."""
    done = subprocess.run(
        ["bash", "-c", f"{line}; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "GHOST": f"{sys.executable} -m ghost"},
        timeout=100,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def flight(ghost: Ghost, scenario: Path, tmp_path: Path) -> Path:
    path = tmp_path / "f.mcap"
    options = ("--duration", "200ms", "--quiet", "--record", path)
    assert ghost("run", scenario, *options).code == 0
    return path


def test_topics_that_match_nothing_are_refused(ghost: Ghost, flight: Path, tmp_path: Path) -> None:
    says = ("no recorded topic matches 'nope'", "/sensors/imu0", "/ground_truth")
    refused(ghost("diff", flight, flight, "--topics", "nope"), *says)
    refused(ghost("diff", flight, flight, "--topics", "/step", "--topics", "nope"), *says)
    out = tmp_path / "tables"
    refused(ghost("export", flight, "--to", "csv", "-o", out, "--topics", "nope"), *says)
    assert not out.exists()
    assert ghost("diff", flight, flight, "--topics", "/sensors/*").code == 0
    assert ghost("export", flight, "--to", "csv", "-o", out, "--topics", "/step").code == 0


@pytest.mark.parametrize("path", ["/proc/x.mcap", "/dev/full"])
def test_a_recording_that_cannot_be_opened_stops_the_run_before_it_flies(
    ghost: Ghost, scenario: Path, path: str
) -> None:
    if not Path(path).parent.is_dir():
        pytest.skip(f"this system has no {path}")
    answer = ghost("run", scenario, "--duration", "100ms", "--record", path, "--force")
    refused(answer, "--record", path, "cannot be written")


def test_a_refused_run_leaves_no_empty_recording(
    ghost: Ghost, scenario: Path, tmp_path: Path
) -> None:
    path = tmp_path / "new.mcap"
    refused(ghost("run", scenario, "--record", path, "--backend", "no:Such"), "no module 'no'")
    assert not path.exists()


@pytest.mark.parametrize("args", [("plot",), ("export", "--to", "csv"), ("info",), ("rerun",)])
@pytest.mark.parametrize("name", [".", "..", "/"])
def test_a_folder_is_no_recording(ghost: Ghost, args: tuple[str, ...], name: str) -> None:
    answer = ghost(*args, name)
    refused(answer, f"ghost: {name}: ", "is a directory" if args[0] != "rerun" else "irectory")


@pytest.mark.parametrize("args", [("plot",), ("export", "--to", "csv"), ("info",)])
def test_a_file_without_a_name(ghost: Ghost, args: tuple[str, ...]) -> None:
    refused(ghost(*args, ""), "the name of the file is empty")


@pytest.mark.parametrize(
    "command",
    ["$GHOST --help", "$GHOST scenarios", "$GHOST info f.mcap", "$GHOST info f.mcap --json"],
)
@pytest.mark.parametrize("where", ["> /dev/full", ">&-"])
def test_a_stdout_that_takes_nothing_is_told(flight: Path, command: str, where: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    code, out, err = shell(f"{command} {where}", flight.parent)
    assert (code, out) == (1, "")
    assert err.startswith("ghost: stdout cannot be written: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    ["$GHOST --help", "$GHOST info f.mcap --json", "$GHOST run short.yaml --duration 100ms"],
)
def test_a_pipe_that_nobody_reads_ends_the_program_quietly(flight: Path, command: str) -> None:
    code, _, err = shell(f"{command} | true", flight.parent)
    assert code == 141
    assert err == ""


def test_a_command_that_prints_nothing_needs_no_stdout(flight: Path) -> None:
    code, _, err = shell("$GHOST run short.yaml --duration 100ms --quiet >&-", flight.parent)
    assert (code, err) == (0, "")


@pytest.mark.parametrize("option", [True, False])
def test_an_address_of_another_computer_is_bad_input(
    ghost: Ghost, monkeypatch: pytest.MonkeyPatch, option: bool
) -> None:
    monkeypatch.setenv("GZ_IP", "127.0.0.1" if option else "203.0.113.1")
    given = ("--ip", "203.0.113.1") if option else ()
    answer = ghost("gz", "worlds", "--wait", "1ms", *given)
    name = "--ip" if option else "GZ_IP"
    refused(answer, f"ghost: {name}: 203.0.113.1 is not an address of this computer")
    if option:
        refused(ghost("gz", "worlds", "--ip", "nope"), "ghost: --ip: 'nope' is no IPv4 address")


def test_gz_alone_shows_its_help(ghost: Ghost) -> None:
    answer = ghost("gz")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.rstrip() == ghost("gz", "--help").out.rstrip()


def test_an_unknown_type_is_not_published(ghost: Ghost) -> None:
    refused(ghost("gz", "pub", "/x", "gz.msgs.Nope", "{}"), "message type", "gz.msgs.Nope")


def test_what_is_no_recording_is_never_replaced(ghost: Ghost, scenario: Path) -> None:
    before = scenario.read_bytes()
    refused(ghost("run", scenario, "--record", scenario, "--force"), "--record", "scenario")
    assert scenario.read_bytes() == before
    other = scenario.with_name("thesis.txt")
    other.write_text("three years of work\n")
    refused(ghost("run", scenario, "--record", other, "--force"), "thesis.txt is no MCAP file")
    assert other.read_text() == "three years of work\n"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--record", "x.mcap", "--encoding", "bogus"), "such as cam_front=png"),
        (("--backend", "os:nothere"), "module os has no class nothere"),
        (("--record", ""), "--record: the name of the file is empty"),
    ],
)
def test_messages_that_help(ghost: Ghost, scenario: Path, args: tuple[str, ...], says: str) -> None:
    refused(ghost("run", scenario, *args), says)
