"""The group: help, version, and how errors end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import click
import pytest

import ghost as package
from ghost.cli.exit_codes import ExitCode
from ghost.cli.failures import report
from ghost.core import BackendLost, ConfigError, ContractViolation, MissingDependency

Ghost = Callable[..., Any]
COMMANDS = ("run", "repeat", "replay", "rerun", "backends", "scenarios", "check", "conformance")


def test_help_lists_the_commands_and_the_exit_codes(ghost: Ghost) -> None:
    answer = ghost("--help")
    assert answer.code == 0
    for command in COMMANDS:
        assert f"\n  {command} " in answer.out
    for code in ExitCode:
        assert f" {code.value}  " in answer.out


def test_without_a_command_it_shows_the_help(ghost: Ghost) -> None:
    assert ghost().out.rstrip() == ghost("--help").out.rstrip()
    assert ghost().code == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples_and_exit_codes_in_its_help(ghost: Ghost, command: str) -> None:
    answer = ghost(command, "--help")
    assert answer.code == 0
    assert f"Examples:\n    ghost {command}" in answer.out
    assert "Exit codes:" in answer.out


def test_version(ghost: Ghost, ghost_process: Ghost) -> None:
    assert ghost("--version").out == f"ghost, version {package.__version__}\n"
    assert ghost_process("--version").out == ghost("--version").out


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from ghost.cli import cli\n"
        "try:\n    cli.main(['--help'])\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "heavy = {'numpy', 'rich', 'mujoco', 'pydantic', 'yaml', 'ghost.core'} & set(sys.modules)\n"
        "print('loaded:', sorted(heavy))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.endswith("loaded: []\n")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["fly"], "No such command 'fly' (see 'ghost --help')"),
        (["run"], "Missing argument 'SCENARIO' (see 'ghost run --help')"),
        (["run", "hover", "--speed", "3"], "No such option '--speed'"),
        (["run", "hover", "extra"], "unexpected extra argument"),
        (["check"], "Missing argument 'FILE...'"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_code_2(
    ghost: Ghost, args: list[str], says: str
) -> None:
    answer = ghost(*args)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("ghost: ")
    assert says in answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (
            ConfigError("is wrong", file="a.yaml", line=3, key="seed"),
            2,
            "ghost: a.yaml:3: seed: is wrong",
        ),
        (
            MissingDependency("cow", needed_for="milk", install="pip install cow"),
            2,
            "ghost: milk needs cow, which is not installed; install it with: pip install cow",
        ),
        (BackendLost("socket closed"), 3, "ghost: backend lost: socket closed"),
        (ContractViolation("no"), 1, "ghost: ContractViolation: no"),
        (click.UsageError("bad\noption"), 2, "ghost: bad option"),
        (click.FileError("f", "gone"), 2, "ghost: Could not open file 'f': gone"),
        (KeyboardInterrupt(), 130, "ghost: interrupted"),
        (click.Abort(), 130, "ghost: interrupted"),
    ],
)
def test_what_an_error_becomes(
    error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(error, debug=False) == code
    assert capsys.readouterr().err == line + "\n"


def test_an_unexpected_error_is_called_a_bug_and_its_place_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(RuntimeError) as caught:
        raise RuntimeError("two\nlines")
    assert report(caught.value, debug=False) == 70
    err = capsys.readouterr().err
    assert err.startswith("ghost: unexpected RuntimeError: two lines (")
    assert "test_main.py:" in err
    assert "This is a bug" in err
    assert err.count("\n") == 1
    assert report(caught.value, debug=True) == 70
    assert "Traceback (most recent call last)" in capsys.readouterr().err
