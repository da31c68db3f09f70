"""`ghost repeat`: bad input, and the files it writes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghost.runtime import MAX_RUNS

Ghost = Callable[..., Any]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scenario: Path) -> Path:
    """The current folder, with the scenario in it."""
    assert scenario.is_file()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["-n", 0], "0 must be within 2..1000"),
        (["-n", 1], "1 must be within 2..1000"),
        (["-n", -2], "must be within 2..1000"),
        (["-n", MAX_RUNS + 1], f"must be within 2..{MAX_RUNS}"),
        (["-n", 10**30], "must be within 2..1000"),
        (["-n", "x"], "'x' is no integer"),
        (["-n", "2.5"], "'2.5' is no integer"),
        (["--tolerance", "x"], "'x' is no number of metres"),
        (["--tolerance", "nan"], "finite number of metres"),
        (["--tolerance", -1], "finite number of metres"),
        (["--seed", -1], "0..2**64-1"),
        (["--duration", "0"], "must be more than 0"),
        (["--backend", "gazeboo"], "'gazebo'"),
        (["--backend", "no_such:Thing"], "there is no module 'no_such'"),
        (["--set", "sead=3"], "seed"),
        (["-o", "no/where.json"], "the folder no does not exist"),
        (["-o", "."], "is a folder"),
        (["-o", "short.yaml"], "exists and is something else"),
        (["-o", "/proc/nothing.json"], "cannot be written"),
        (["-o", "a.json", "--no-store"], "exclude each other"),
        (["--plot", "a.svg"], "should end in .png"),
        (["--plot", "no/a.png"], "the folder no does not exist"),
        (["-o", "a.png", "--plot", "./a.png"], "are one file"),
    ],
)
def test_bad_input_is_one_line_before_anything_is_run(
    ghost: Ghost, here: Path, args: list[object], says: str
) -> None:
    if "--plot" in args:
        pytest.importorskip("matplotlib")
    before = sorted(os.listdir(here))
    answer = ghost("repeat", "short.yaml", *args)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("ghost: ")
    assert answer.err.count("\n") == 1
    assert says in answer.err
    assert sorted(os.listdir(here)) == before


def test_an_account_is_replaced_and_nothing_else(ghost: Ghost, scenario: Path, here: Path) -> None:
    args = ("repeat", scenario, "-n", 2, "--duration", "40ms", "--quiet")
    assert ghost(*args).code == 0
    assert ghost(*args, "--seed", 6).code == 0
    store = here / "repeat_short.json"
    assert json.loads(store.read_text())["seed"] == 6
    store.write_text('{"mine": 1}')
    answer = ghost(*args)
    assert answer.code == 2
    assert "repeat_short.json exists and is something else" in answer.err
    assert store.read_text() == '{"mine": 1}'


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_said_and_the_account_is_printed(
    ghost: Ghost, scenario: Path, here: Path
) -> None:
    assert here
    options = ("-n", 2, "--duration", "40ms", "-o", "/dev/full", "--json")
    answer = ghost("repeat", scenario, *options)
    assert answer.code == 1
    assert answer.json["runs_made"] == 2
    assert answer.err == "ghost: /dev/full could not be written: No space left on device\n"


def test_a_name_that_is_no_file_name(ghost: Ghost, scenario: Path, here: Path) -> None:
    options = ("-n", 2, "--duration", "8ms", "--quiet", "--set", "name='../[odd] é/x'")
    assert ghost("repeat", scenario, *options).code == 0
    assert (here / "repeat_odd_é_x.json").is_file()
