"""Bad input: one clear line on stderr, code 2, nothing on stdout, no traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ghost.backends.embedded import EmbeddedBackend
from ghost.config import list_vehicles, load_scenario
from ghost.hal import AckReason, PositionCommand

Ghost = Callable[..., Any]
HEAD = "name: bad\nvehicle: x500\n"


def refused(answer: Any, *says: str) -> None:
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("ghost: ")
    assert answer.err.count("\n") == 1
    assert "Traceback" not in answer.err
    for text in says:
        assert text in answer.err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEAD + "duration_ns: 1.5\n", ["bad.yaml:3", "duration_ns", "1.5"]),
        (HEAD + "duration_ns: -4\n", ["bad.yaml:3", "duration_ns", "-4"]),
        (HEAD + "duration_ns: 1_000\nstep_ns: -1\n", ["bad.yaml:4", "step_ns", "-1"]),
        (HEAD + "duration_ns: 1_000\nsead: 3\n", ["bad.yaml:4", "sead", "seed"]),
        (HEAD + "duration_s: 3\n", ["duration_s", "duration_ns"]),
        (HEAD + "duration_ns: 10 s\n", ["bad.yaml:3", "duration_ns", "10 s"]),
        (HEAD + "duration_ns: [1\n", ["bad.yaml"]),
        ("", ["bad.yaml", "empty"]),
        ("name: bad\nvehicle: x5000\nduration_ns: 1_000\n", ["bad.yaml:2", "x5000", "x500"]),
    ],
)
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_bad_file(ghost: Ghost, tmp_path: Path, command: str, text: str, says: list[str]) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    refused(ghost(command, path), *says)


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_missing_file(ghost: Ghost, tmp_path: Path, command: str) -> None:
    refused(ghost(command, tmp_path / "nothing.yaml"), "nothing.yaml")


def test_a_vehicle_is_no_scenario(ghost: Ghost, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(next(e for e in list_vehicles() if e.name == "x500").path.read_text())
    refused(ghost("run", path), "this is a vehicle file; ghost run takes a scenario")


def test_check_takes_the_names_that_run_takes(ghost: Ghost) -> None:
    answer = ghost("check", "hover", "x500")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == "hover: ok, scenario 'hover'\nx500: ok, vehicle 'x500'\n"
    refused(ghost("check", "hoover"), "unknown scenario or vehicle 'hoover'", "'hover'")


def test_an_unknown_scenario_lists_the_nearest(ghost: Ghost) -> None:
    refused(ghost("run", "sqare"), "unknown scenario 'sqare'; did you mean 'square'")


def test_the_name_of_a_vehicle_is_no_scenario(ghost: Ghost) -> None:
    refused(ghost("run", "racer"), "'racer' is a vehicle", "ghost run hover --set vehicle=racer")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--seed", "-1"], ["--seed", "-1", "0..2**64-1"]),
        (["--seed", "1.5"], ["--seed", "1.5", "no integer"]),
        (["--seed", str(2**64)], ["--seed", "0..2**64-1"]),
        (["--rtf", "nan"], ["--rtf", "nan", "finite number above 0"]),
        (["--rtf", "inf"], ["--rtf", "inf", "finite number above 0"]),
        (["--rtf", "0"], ["--rtf", "finite number above 0"]),
        (["--rtf", "-2"], ["--rtf", "finite number above 0"]),
        (["--rtf", "1e-300"], ["--rtf", "1e-300", "at least 0.001"]),
        (["--set", "vehicle.sensors.imu0.queue_size=99999999999999999999"], ["queue_size"]),
        (["--rtf", "fast"], ["--rtf", "'fast' is no number"]),
        (["--duration", "0"], ["--duration", "'0' must be more than 0"]),
        (["--duration", "-3s"], ["--duration", "'-3s' must be more than 0"]),
        (["--duration", "nan"], ["--duration", "'nan' is no duration"]),
        (["--duration", "10m"], ["--duration", "unknown unit 'm'", "min"]),
        (["--duration", "ten"], ["--duration", "is no duration"]),
        (["--duration", "1e30"], ["--duration", "292 years"]),
        (["--set", "seed"], ["--set", "'seed' is not of the form key=value"]),
        (["--set", "=3"], ["--set", "is not of the form key=value"]),
        (["--set", "sed=3"], ["--set sed=3", "seed"]),
        (["--set", "vehicle.sensors.imu9.rate_hz=3"], ["imu9", "imu0"]),
        (["--set", "step_ns=4.5"], ["--set step_ns=4.5"]),
        (["--set", "vehicle.sensors.imu0.rate_hz=nan"], ["rate_hz", "nan"]),
        (["--backend", "embeded"], ["unknown backend 'embeded'; did you mean 'embedded'?"]),
        (["--backend", "nowhere_at_all:Backend"], ["there is no module 'nowhere_at_all'"]),
        (["--backend", "json:Backend"], ["module json has no class Backend"]),
        (["--backend", "json:JSONDecoder"], ["'json:JSONDecoder' is no SimulationBackend"]),
    ],
)
def test_a_bad_option(ghost: Ghost, args: list[str], says: list[str]) -> None:
    refused(ghost("run", "hover", "--duration", "4ms", *args), *says)


def test_a_class_that_is_no_backend(ghost: Ghost, drivers: str) -> None:
    refused(ghost("run", "hover", "--backend", f"{drivers}:Nothing"), "is no SimulationBackend")
    refused(ghost("conformance", "--backend", f"{drivers}:Nothing"), "is no SimulationBackend")


@pytest.mark.usefixtures("without_pybullet")
@pytest.mark.parametrize("command", [("run", "hover"), ("conformance",)])
def test_a_missing_optional_dependency(ghost: Ghost, command: tuple[str, ...]) -> None:
    answer = ghost(*command, "--backend", "pybullet")
    refused(answer, "needs pybullet", 'pip install "ghost-hal[pybullet]"')


def test_a_nan_command_is_answered_and_not_raised() -> None:
    with EmbeddedBackend() as backend:
        backend.reset(load_scenario("hover"), 0)
        command = PositionCommand(np.array([0.0, np.nan, 1.0]))
        ack = backend.actuators().send(command, backend.clock.now_ns())
        assert not ack.accepted
        assert ack.reason is AckReason.INVALID_VALUE
        assert "pos_enu_m" in ack.detail


def test_a_float_for_a_nanosecond_in_the_api_names_the_argument() -> None:
    with EmbeddedBackend() as backend:
        backend.reset(load_scenario("hover"), 0)
        with pytest.raises(TypeError, match="dt_ns must be an integer of nanoseconds"):
            backend.step(4e6)  # type: ignore[arg-type]  # that is the point
        with pytest.raises(ValueError, match="period_ns"):
            backend.clock.schedule_periodic(-5, lambda: None)
