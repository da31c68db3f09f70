"""`ghost backends`, `ghost scenarios`, `ghost check`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Ghost = Callable[..., Any]


def test_scenarios_and_vehicles_are_listed(ghost: Ghost) -> None:
    answer = ghost("scenarios", "--json")
    assert answer.code == 0
    names = {entry["name"] for entry in answer.json["scenarios"]}
    assert names >= {"hover", "square", "sensor_faults", "imu_only_1khz", "all_sensors"}
    assert len(answer.json["vehicles"]) >= 2
    for entry in answer.json["scenarios"] + answer.json["vehicles"]:
        assert Path(entry["path"]).is_file()
        assert entry["description"]
    table = ghost("scenarios")
    assert table.code == 0
    for name in names:
        assert name in table.out


def test_every_shipped_file_is_sound(ghost: Ghost) -> None:
    listed = ghost("scenarios", "--json").json
    files = [entry["path"] for kind in ("scenarios", "vehicles") for entry in listed[kind]]
    answer = ghost("check", *files)
    assert answer.code == 0
    assert answer.err == ""
    assert answer.out.count(": ok, ") == len(files)


@pytest.mark.usefixtures("without_pybullet")
def test_backends_say_what_is_missing_and_what_brings_it(ghost: Ghost) -> None:
    answer = ghost("backends", "--json")
    assert answer.code == 0
    states = {state["name"]: state for state in answer.json["backends"]}
    assert states["embedded"]["available"]
    assert states["embedded"]["features"][0]["name"] == "rgb"
    assert not states["pybullet"]["available"]
    assert states["pybullet"]["fix"] == 'pip install "ghost-hal[pybullet]"'
    table = ghost("backends")
    assert table.code == 0
    assert 'pip install "ghost-hal[pybullet]"' in table.out
    assert "pybullet is not installed" in table.out
    assert "rgb" in table.out


def test_check_reports_every_problem_of_every_file(ghost: Ghost, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("name: bad\nvehicle: x500\nduration_ns: 1.5\nsead: 3\n")
    worse = tmp_path / "worse.yaml"
    worse.write_text("name: [\n")
    good = tmp_path / "good.yaml"
    good.write_text("name: good\nvehicle: x500\nduration_ns: 1_000\n")
    answer = ghost("check", bad, good, worse)
    assert answer.code == 2
    lines = answer.err.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("ghost: ") for line in lines)
    assert "bad.yaml:3: duration_ns" in lines[0]
    assert "bad.yaml:4: sead" in lines[1]
    assert "worse.yaml" in lines[2]
    assert answer.out == f"{good}: ok, scenario 'good'\n"
    as_json = ghost("check", bad, good, "--json")
    assert as_json.code == 2
    assert as_json.err == ""
    assert not as_json.json["ok"]
    assert [file["ok"] for file in as_json.json["files"]] == [False, True]
    assert len(as_json.json["files"][0]["problems"]) == 2
