"""An autopilot where its libraries are not installed, and scenarios without one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ghost.backends.embedded import EmbeddedBackend
from ghost.config import load_scenario
from ghost.core import MissingDependency
from ghost.runtime import autopilot_state, find_autopilot, with_autopilot
from tests.px4_double.launch import write_px4


def test_a_scenario_without_one_is_flown_by_the_world_itself() -> None:
    world = EmbeddedBackend()
    assert with_autopilot(world, load_scenario("hover")) is world


@pytest.mark.parametrize("library", ["pymavlink", "mavsdk"])
def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    monkeypatch.setitem(sys.modules, library, None)  # as if it were not installed
    scenario = load_scenario("px4_hover")
    assert scenario.autopilot is not None
    for attempt in (
        lambda: with_autopilot(EmbeddedBackend(), scenario),
        lambda: find_autopilot(scenario.autopilot, {}),
    ):
        with pytest.raises(MissingDependency, match=library) as missing:
            attempt()
        assert "ghost-hal[px4]" in str(missing.value)


def test_the_state_of_a_machine_without_one() -> None:
    state = autopilot_state({"PATH": "/nowhere"})
    assert not state.available
    assert "px4" in state.detail
    assert "autopilot.image" in state.fix


def test_the_state_of_a_machine_with_one(tmp_path: Path) -> None:
    program = write_px4(tmp_path)
    state = autopilot_state({"PX4_BIN": str(program)})
    assert state.available
    assert str(program) in state.detail
    wrong = autopilot_state({"PX4_BIN": str(tmp_path / "none")})
    assert not wrong.available
    assert "PX4_BIN" in wrong.detail
