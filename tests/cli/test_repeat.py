"""`ghost repeat`: what it prints, stores and draws, and how it ends."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ghost.cli.repeat_table import length
from ghost.cli.series_progress import SeriesBar, series_bar
from ghost.config import load_scenario
from ghost.runtime import Repeater, make_backend

Ghost = Callable[..., Any]
KEYS = [
    "scenario",
    "backend",
    "seed",
    "runs_asked",
    "runs_made",
    "runs_failed",
    "reused",
    "interrupted",
    "source",
    "digests",
    "final_position",
    "trajectory",
    "tolerance_m",
    "within_tolerance",
    "notes",
    "runs",
]
RUN_KEYS = [
    "run",
    "outcome",
    "failed",
    "error",
    "sim_time_s",
    "wall_time_s",
    "real_time_factor",
    "setup_time_s",
    "steps",
    "digest",
    "final_pos_enu_m",
    "points",
    "lockstep",
]
# Each of these starts another run differently, or goes wrong in some of them.
SERIES = '''
import itertools
import os
import signal
from dataclasses import replace

from ghost.backends.embedded import EmbeddedBackend
from ghost.core import BackendLost, ConfigError, MissingDependency
from ghost.testing.broken import BROKEN, BackendProxy

RUNS = itertools.count(1)


class Windy(BackendProxy):
    """Its wind is another one in each run."""

    def __init__(self):
        super().__init__(EmbeddedBackend)

    def reset(self, scenario, seed):
        self.run = next(RUNS)
        self.steps = 0
        wind = replace(scenario.world, wind_enu_mps=(0.5 * self.run, 0.0, 0.0))
        super().reset(replace(scenario, world=wind), seed)

    def step(self, dt_ns):
        self.steps += 1
        if self.steps == 51:
            self.at_51()
        return super().step(dt_ns)

    def at_51(self):
        pass


class SecondLost(Windy):
    def at_51(self):
        if self.run == 2:
            raise BackendLost("the cable came off")


class AllLost(Windy):
    def reset(self, scenario, seed):
        raise BackendLost("nobody answers on port 14540")


class InterruptedInThird(Windy):
    def at_51(self):
        if self.run == 3:
            os.kill(os.getpid(), signal.SIGINT)


class InterruptedInFirst(Windy):
    def at_51(self):
        os.kill(os.getpid(), signal.SIGINT)


class BuggyInThird(Windy):
    def at_51(self):
        if self.run == 3:
            raise ZeroDivisionError("a bug in a driver")


class Absent(Windy):
    def reset(self, scenario, seed):
        raise MissingDependency("cow", needed_for="milk", install="pip install cow")


def unseeded():
    return UNSEEDED()


UNSEEDED = next(broken for broken in BROKEN if broken.name == "UnseededNoise").wrap(EmbeddedBackend)
'''


@pytest.fixture
def series(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scenario: Path
) -> Iterator[Callable[..., list[object]]]:
    """The arguments for three runs of a short scenario on a driver, in a folder of its own."""
    name = f"series_of_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(SERIES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def arguments(driver: str, *more: object, n: int = 3) -> list[object]:
        return ["repeat", scenario, "-n", n, "--backend", f"{name}:{driver}", *more]

    yield arguments
    sys.modules.pop(name, None)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scenario: Path) -> Path:
    """The current folder, with the scenario in it."""
    assert scenario.is_file()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_json_has_the_promised_keys_and_a_deterministic_world_one_digest(
    ghost: Ghost, scenario: Path, here: Path
) -> None:
    answer = ghost("repeat", scenario, "-n", 3, "--json", "--tolerance", 0)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.count("\n") == 1
    found = answer.json
    assert list(found) == KEYS
    assert all(list(run) == RUN_KEYS for run in found["runs"])
    assert found["runs_asked"] == found["runs_made"] == 3
    assert found["runs_failed"] == []
    assert found["source"] == "truth"
    assert found["seed"] == 5
    assert found["digests"] == {"compared": 3, "distinct": 1, "runs": [[1, 2, 3]]}
    assert found["final_position"]["max_distance_m"] == 0.0
    assert found["final_position"]["std_enu_m"] == [0.0, 0.0, 0.0]
    for spread in ("position_m", "attitude_deg"):
        assert found["trajectory"][spread]["max"] == found["trajectory"][spread]["rms"] == 0.0
    assert found["trajectory"]["together_s"] == 1.0
    assert found["within_tolerance"] is True
    assert found["notes"] == []
    run = ghost("run", scenario, "--json").json
    assert {item["digest"] for item in found["runs"]} == {run["digest"]}
    assert found["runs"][0]["final_pos_enu_m"] == run["final_pos_enu_m"]
    assert found["final_position"]["mean_enu_m"] == run["final_pos_enu_m"]
    stored = json.loads((here / "repeat_short.json").read_text())
    assert list(stored) == ["ghost_repeat", *KEYS, "spread"]
    assert stored["runs"] == found["runs"]
    assert list(stored["spread"]) == ["t_s", "runs_present", "distance_m", "angle_deg"]


@pytest.mark.parametrize("reuse", [(), ("--reuse",)])
def test_tables_for_people(ghost: Ghost, scenario: Path, here: Path, reuse: tuple[str]) -> None:
    answer = ghost("repeat", scenario, "-n", 2, *reuse)
    assert (answer.code, answer.err) == (0, "")
    for text in (
        "short on embedded, 2 runs with seed 5",
        "one, reset for each run" if reuse else "a new one for each run",
        "all 2 are equal",
        "2 runs by ground truth",
        "exactly the same throughout",
        "repeat_short.json",
    ):
        assert text in answer.out
    assert "\x1b" not in answer.out
    assert json.loads((here / "repeat_short.json").read_text())["reused"] is bool(reuse)


def test_options_are_those_of_run(ghost: Ghost, scenario: Path, here: Path) -> None:
    options = ("--seed", 9, "--duration", "200ms", "--set", "world.wind_enu_mps=[4, 0, 0]")
    found = ghost("repeat", scenario, "-n", 2, "--no-store", "--json", *options).json
    run = ghost("run", scenario, "--json", *options).json
    assert found["runs"][1]["digest"] == run["digest"]
    assert found["runs"][1]["sim_time_s"] == 0.2
    assert found["seed"] == 9
    assert not (here / "repeat_short.json").exists()


def test_another_wind_each_time_is_measured(
    ghost: Ghost, series: Callable[..., list[object]]
) -> None:
    answer = ghost(*series("Windy", "--json", "--no-store"))
    assert answer.code == 0
    found = answer.json
    assert found["digests"]["distinct"] == 3
    assert found["final_position"]["max_distance_m"] > 1e-3
    assert found["final_position"]["between"] == [1, 3]
    assert found["trajectory"]["position_m"]["max"] >= found["final_position"]["max_distance_m"]
    assert found["trajectory"]["attitude_deg"]["max"] > 0.1
    assert "note: the backend says it is deterministic, but the digests differ" in answer.err


def test_noise_that_is_not_seeded_shows_in_the_digests_alone(
    ghost: Ghost, series: Callable[..., list[object]]
) -> None:
    """The flight is flown on truth here, so the noise of a sensor cannot move it."""
    answer = ghost(*series("unseeded", "--json", "--no-store", "--reuse"))
    assert answer.code == 0
    assert answer.json["digests"]["distinct"] == 3
    assert answer.json["trajectory"]["position_m"]["max"] == 0.0
    assert any("equal to the last bit" in note for note in answer.json["notes"])


def test_a_tolerance_that_is_not_kept_is_code_1(
    ghost: Ghost, series: Callable[..., list[object]]
) -> None:
    answer = ghost(*series("Windy", "--quiet", "--no-store", "--tolerance", "0.001"))
    assert answer.code == 1
    assert answer.out == ""
    assert "apart, more than 1 mm" in answer.err
    answer = ghost(*series("Windy", "--quiet", "--no-store", "--tolerance", "50"))
    assert answer.code == 0
    shown = ghost(*series("Windy", "--no-store", "--tolerance", "0.001"))
    assert "1 mm, not kept" in shown.out


def test_a_run_that_fails_is_code_1_with_the_whole_account(
    ghost: Ghost, series: Callable[..., list[object]], tmp_path: Path
) -> None:
    answer = ghost(*series("SecondLost", "--json", "-o", tmp_path / "own.json"))
    assert answer.code == 1
    assert "ghost: 1 of 3 runs failed; run 2: the cable came off\n" in answer.err
    found = answer.json
    assert [run["outcome"] for run in found["runs"]] == ["completed", "backend_lost", "completed"]
    assert found["runs_failed"] == [2]
    assert found["runs"][1]["final_pos_enu_m"] is None
    assert found["final_position"]["runs"] == [1, 3]
    assert found["trajectory"]["runs"] == [1, 2, 3]
    assert found["trajectory"]["together_s"] == pytest.approx(0.2)
    stored = json.loads((tmp_path / "own.json").read_text())
    assert stored["spread"]["runs_present"][0] == 3
    assert stored["spread"]["runs_present"][-1] == 2


def test_runs_that_are_all_lost_are_code_3(
    ghost: Ghost, series: Callable[..., list[object]]
) -> None:
    answer = ghost(*series("AllLost"))
    assert answer.code == 3
    assert answer.err == "ghost: backend lost in all 3 runs: nobody answers on port 14540\n"
    assert "there is nothing to compare" in answer.out


def test_ctrl_c_is_code_130_with_the_runs_that_were_made(
    ghost: Ghost, series: Callable[..., list[object]], tmp_path: Path
) -> None:
    answer = ghost(*series("InterruptedInThird", "--json", n=9))
    assert answer.code == 130
    assert "ghost: interrupted after 2 of 9 runs\n" in answer.err
    found = answer.json
    assert [run["outcome"] for run in found["runs"]] == ["completed", "completed", "interrupted"]
    assert found["interrupted"] is True
    assert found["final_position"]["runs"] == [1, 2]
    assert json.loads((tmp_path / "repeat_short.json").read_text())["interrupted"] is True


def test_ctrl_c_in_the_first_run_leaves_an_older_file_alone(
    ghost: Ghost, series: Callable[..., list[object]], tmp_path: Path
) -> None:
    assert ghost(*series("Windy", "--quiet")).code == 0
    before = (tmp_path / "repeat_short.json").read_bytes()
    answer = ghost(*series("InterruptedInFirst", "--quiet"))
    assert answer.code == 130
    assert "interrupted after 0 of 3 runs" in answer.err
    assert (tmp_path / "repeat_short.json").read_bytes() == before


def test_a_bug_is_code_70_and_the_runs_before_it_are_told(
    ghost: Ghost, series: Callable[..., list[object]], tmp_path: Path
) -> None:
    answer = ghost(*series("BuggyInThird", "--json", n=5))
    assert answer.code == 70
    assert answer.json["runs_made"] == 2
    assert "unexpected ZeroDivisionError" in answer.err
    assert (tmp_path / "repeat_short.json").is_file()


def test_what_is_missing_is_said_once(ghost: Ghost, series: Callable[..., list[object]]) -> None:
    answer = ghost(*series("Absent"))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("\n") == 1
    assert "pip install cow" in answer.err


def test_a_figure(ghost: Ghost, series: Callable[..., list[object]], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    answer = ghost(*series("SecondLost", "--plot", "runs.png", "--no-store"))
    assert answer.code == 1
    assert answer.out.rstrip().endswith("runs.png")
    assert (tmp_path / "runs.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_a_figure_of_nothing_is_drawn_too(
    ghost: Ghost, series: Callable[..., list[object]], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    assert ghost(*series("AllLost", "--plot", "runs.png", "--quiet")).code == 3
    assert (tmp_path / "runs.png").is_file()


def test_without_matplotlib_nothing_is_run(
    ghost: Ghost, scenario: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    answer = ghost("repeat", scenario, "--plot", "runs.png")
    assert (answer.code, answer.out) == (2, "")
    assert 'pip install "ghost-hal[plot]"' in answer.err
    assert not (here / "repeat_short.json").exists()


def test_the_bar_goes_over_all_the_runs(scenario: Path) -> None:
    drawn = io.StringIO()
    terminal = Console(file=drawn, force_terminal=True, width=110, color_system=None)
    bar = SeriesBar(terminal, "short", 4)
    shown: list[str] = []

    def look(_: object) -> None:
        plain = io.StringIO()
        Console(file=plain, width=110).print(bar._progress.get_renderable())
        shown.append(plain.getvalue())

    with bar:
        Repeater(
            lambda: make_backend("embedded"),
            load_scenario(scenario),
            runs=4,
            observers=(bar,),
            on_start=bar.begin,
            on_end=look,
        ).execute()
    assert [f"run {n} of 4" in text for n, text in enumerate(shown, start=1)] == [True] * 4
    assert all("× real time" in text and text.count("\n") == 1 for text in shown)
    assert bar._progress.tasks[0].completed == 4.0
    assert drawn.getvalue().rstrip("\n").endswith("\x1b[2K")


def test_there_is_no_bar_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert series_bar("short", 3) is None


@pytest.mark.parametrize(
    ("metres", "text"),
    [(0.0, "0"), (12.3456, "12.35 m"), (0.04736, "47.36 mm"), (2.5e-6, "2.5 µm"),
     (3e-13, "3e-13 m")],
)  # fmt: skip
def test_lengths_read_well(metres: float, text: str) -> None:
    assert length(metres) == text
