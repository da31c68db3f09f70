"""The digest of a flight does not depend on the process, the throttle, onlookers or file order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from ghost.config import list_vehicles, load_scenario
from ghost.core import Envelope, MessageBus
from ghost.runtime import run_scenario

Ghost = Callable[..., Any]
SHORT = ("--seed", "7", "--duration", "2s", "--json")


def test_three_fresh_processes_agree_with_and_without_throttle(ghost_process: Ghost) -> None:
    answers = [
        ghost_process("run", "square", *SHORT),
        ghost_process("run", "square", *SHORT),
        ghost_process("run", "square", *SHORT, "--rtf", "4"),
    ]
    assert [answer.code for answer in answers] == [0, 0, 0]
    assert len({answer.json["digest"] for answer in answers}) == 1
    assert answers[2].json["real_time_factor"] <= 4.01


def test_onlookers_and_the_order_of_sensors_change_nothing(ghost: Ghost, tmp_path: Path) -> None:
    base = ghost("run", "square", *SHORT).json["digest"]

    seen: list[Envelope] = []
    bus = MessageBus()
    bus.subscribe("/*", seen.append)
    scenario = load_scenario("square", ["duration_ns=2_000_000_000"])
    assert run_scenario(scenario, seed=7, bus=bus).digest == base
    assert len(seen) > 1000

    (x500,) = [entry for entry in list_vehicles() if entry.name == "x500"]
    vehicle = yaml.safe_load(x500.path.read_text())
    ids = [sensor["id"] for sensor in vehicle["sensors"]]
    vehicle["sensors"].reverse()
    assert ids != sorted(ids, reverse=True)
    (tmp_path / "turned.yaml").write_text(yaml.safe_dump(vehicle))
    turned = ghost("run", "square", *SHORT, "--set", f"vehicle={tmp_path / 'turned.yaml'}")
    assert turned.json["digest"] == base
