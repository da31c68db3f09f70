"""`ghost run`: what it prints and how it ends."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Ghost = Callable[..., Any]
KEYS = [
    "backend",
    "scenario",
    "seed",
    "sim_time_s",
    "wall_time_s",
    "real_time_factor",
    "steps",
    "samples",
    "events",
    "digest",
    "final_pos_enu_m",
    "max_tilt_deg",
    "tracking_rmse_m",
    "command_rejects",
    "lockstep",
]


def test_json_is_one_object_with_the_promised_keys(ghost: Ghost, scenario: Path) -> None:
    answer = ghost("run", scenario, "--json")
    assert answer.code == 0
    assert answer.err == ""
    assert list(answer.json) == KEYS
    assert answer.out.count("\n") == 1
    assert answer.json["backend"] == "embedded"
    assert answer.json["scenario"] == "short"
    assert answer.json["seed"] == 5
    assert answer.json["sim_time_s"] == 1.0
    assert answer.json["steps"] == 250
    assert answer.json["samples"]["imu0"] == 250
    assert len(answer.json["digest"]) == 64


def test_the_table_tells_the_same_to_people(ghost: Ghost, scenario: Path) -> None:
    answer = ghost("run", scenario)
    assert answer.code == 0
    assert answer.err == ""
    for text in (
        "short on embedded",
        "completed",
        "1.000 s in 250 steps",
        "× real time",
        "ideal autopilot",
        "imu0 250",
        "run_finished 1",
        ghost("run", scenario, "--json").json["digest"],
    ):
        assert text in answer.out
    assert "\x1b" not in answer.out


def test_square_brackets_in_a_name_are_printed_as_they_are(ghost: Ghost, scenario: Path) -> None:
    short = ("--duration", "4ms", "--set", "name='[bold]odd[/x]'")
    assert "[bold]odd[/x] on embedded" in ghost("run", scenario, *short).out


def test_quiet_prints_nothing(ghost: Ghost, scenario: Path) -> None:
    answer = ghost("run", scenario, "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_a_shipped_scenario_runs_by_name(ghost: Ghost) -> None:
    answer = ghost("run", "hover", "--duration", "200ms", "--json")
    assert answer.code == 0
    assert answer.json["scenario"] == "hover"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0.1", 0.1), ("0.1s", 0.1), ("100ms", 0.1), ("40000us", 0.04), ("4000000ns", 0.004)],
)
def test_durations(ghost: Ghost, scenario: Path, text: str, seconds: float) -> None:
    answer = ghost("run", scenario, "--duration", text, "--json")
    assert answer.json["sim_time_s"] == seconds


def test_a_duration_that_ends_within_a_step_is_run_to_the_end_of_it(
    ghost: Ghost, scenario: Path
) -> None:
    assert ghost("run", scenario, "--duration", "5ms", "--json").json["sim_time_s"] == 0.008


def test_seed_and_set_change_the_run(ghost: Ghost, scenario: Path) -> None:
    short = ("--duration", "200ms", "--json")
    base = ghost("run", scenario, *short).json
    assert ghost("run", scenario, *short, "--seed", "5").json["digest"] == base["digest"]
    other = ghost("run", scenario, *short, "--seed", "0x10").json
    assert other["seed"] == 16
    assert other["digest"] != base["digest"]
    by_set = ghost("run", scenario, *short, "--set", "seed=16").json
    assert by_set["digest"] == other["digest"]
    windy = ghost("run", scenario, *short, "--set", "world.wind_enu_mps=[5, 0, 0]").json
    assert windy["digest"] != base["digest"]
    slow = ghost("run", scenario, *short, "--set", "vehicle.sensors.imu0.rate_hz=100").json
    assert slow["samples"]["imu0"] < base["samples"]["imu0"]


def test_a_backend_of_ones_own_is_found_in_the_current_folder(
    ghost: Ghost, scenario: Path, drivers: str
) -> None:
    answer = ghost("run", scenario, "--backend", f"{drivers}:Mine", "--json")
    assert answer.code == 0
    assert answer.json["backend"] == f"{drivers}:Mine"
    assert answer.json["digest"] == ghost("run", scenario, "--json").json["digest"]


def test_a_crash_is_code_1(ghost: Ghost, scenario: Path, drivers: str) -> None:
    answer = ghost("run", scenario, "--backend", f"{drivers}:Crashing", "--json")
    assert answer.code == 1
    assert answer.err == "ghost: the flight went wrong: the vehicle crashed\n"
    assert answer.json["events"]["crash"] == 1
    assert answer.json["steps"] == 250
    table = ghost("run", scenario, "--backend", f"{drivers}:Crashing")
    assert "the flight went wrong" in table.out


def test_a_plan_that_times_out_is_code_1(ghost: Ghost, scenario: Path) -> None:
    late = "plan.items.0.timeout_ns=100_000_000"
    answer = ghost("run", scenario, "--set", late)
    assert answer.code == 1
    assert answer.err == "ghost: the flight went wrong: 'takeoff to 1 m' timed out\n"
    assert "timed out: takeoff to 1 m" in answer.out


def test_a_lost_backend_is_code_3_with_the_account_so_far(
    ghost: Ghost, scenario: Path, drivers: str
) -> None:
    answer = ghost("run", scenario, "--backend", f"{drivers}:Lost", "--json")
    assert answer.code == 3
    assert answer.err == (
        "ghost: backend lost at 0.200 s of simulated time: the simulator's socket was closed\n"
    )
    assert answer.json["steps"] == 50
    assert answer.json["events"]["backend_lost"] == 1


def test_a_backend_that_cannot_be_reached_is_code_3(
    ghost: Ghost, scenario: Path, drivers: str
) -> None:
    answer = ghost("run", scenario, "--backend", f"{drivers}:Unreachable")
    assert answer.code == 3
    assert answer.out == ""
    assert answer.err == "ghost: backend lost: nobody answers on port 14540\n"


@pytest.mark.parametrize(("driver", "steps"), [("Interrupted", 51), ("Hanging", 50)])
def test_ctrl_c_is_code_130_with_the_account_so_far(
    ghost: Ghost, scenario: Path, drivers: str, driver: str, steps: int
) -> None:
    answer = ghost("run", scenario, "--backend", f"{drivers}:{driver}", "--json")
    assert answer.code == 130
    assert answer.err == f"ghost: interrupted at {steps * 0.004:.3f} s of simulated time\n"
    assert answer.json["steps"] == steps


def test_a_bug_is_code_70_and_debug_shows_where(ghost: Ghost, scenario: Path, drivers: str) -> None:
    args = ("run", scenario, "--backend", f"{drivers}:Buggy")
    answer = ghost(*args)
    assert answer.code == 70
    assert answer.out == ""
    assert answer.err.startswith("ghost: unexpected ZeroDivisionError: a bug in a driver (")
    assert "Traceback" not in answer.err
    assert answer.err.count("\n") == 1
    shown = ghost("--debug", *args)
    assert shown.code == 70
    assert "Traceback (most recent call last)" in shown.err
    assert "in at\n" in shown.err


def test_what_a_driver_prints_does_not_get_into_the_json(
    ghost_process: Ghost, scenario: Path, drivers: str
) -> None:
    answer = ghost_process(
        "run", scenario, "--backend", f"{drivers}:Chatty", "--json", cwd=scenario.parent
    )
    assert answer.code == 0
    assert json.loads(answer.out)["steps"] == 250
    assert "chatter from Python" in answer.err
    assert "chatter from C" in answer.err


def test_a_sensor_that_a_backend_lacks_is_said(ghost: Ghost, tmp_path: Path) -> None:
    path = tmp_path / "events.yaml"
    path.write_text("name: events\nvehicle: x500\nduration_ns: 20_000_000\n")
    answer = ghost(
        "run",
        path,
        "--set",
        "vehicle.sensors.mag0.type=event_camera",
        "--set",
        "vehicle.sensors.mag0.noise=null",
        "--json",
    )
    assert answer.code == 0
    assert answer.err == ("ghost: note: sensor mag0 is not there: this world has no event camera\n")


MISTAKEN = """
from ghost.backends.embedded import EmbeddedBackend
from ghost.hal import AckReason, CommandAck


class StepNone(EmbeddedBackend):
    def step(self, dt_ns):
        super().step(dt_ns)


class Leaves(EmbeddedBackend):
    def __init__(self):
        raise SystemExit("no licence")


class Refusing(EmbeddedBackend):
    def actuators(self):
        return Sink(super().actuators())


class Sink:
    def __init__(self, sink):
        self.spec = sink.spec

    def send(self, cmd, stamp_ns):
        return CommandAck(False, AckReason.NOT_ARMED, stamp_ns, None, "locked")
"""


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "StepNone",
            "step() returned None, expected a StepReport; `ghost conformance --backend "
            "mistaken:StepNone` shows more",
        ),
        ("Leaves", "its constructor ended the program: SystemExit('no licence')"),
        ("Refusing", "every command was refused (51 of 51): NOT_ARMED locked"),
    ],
)
def test_a_drivers_mistake_is_one_line_and_code_1(
    ghost: Ghost, scenario: Path, drivers: str, tmp_path: Path, name: str, line: str
) -> None:
    (tmp_path / "mistaken.py").write_text(MISTAKEN)
    try:
        answer = ghost("run", scenario, "--backend", f"mistaken:{name}", "--quiet")
    finally:
        sys.modules.pop("mistaken", None)
    assert drivers
    assert answer.code == 1
    assert answer.err.count("\n") == 1
    assert line in answer.err
    assert "Traceback" not in answer.err
