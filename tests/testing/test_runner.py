"""The runner: what it reports, how it measures, what it does with strange subjects."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
from dataclasses import replace
from pathlib import Path

import pytest

import ghost.testing
from ghost.core import ConfigError, UnknownName
from ghost.hal import ActuatorCommand, SimulationBackend
from ghost.testing import (
    ALL_CHECKS,
    CheckResult,
    ConformanceFailure,
    NotApplicable,
    Subject,
    check,
    default_scenario,
    load_maker,
    run_check,
    run_conformance,
)
from ghost.testing.malformed import extreme_commands, malformed_commands, malformed_stamps
from ghost.testing.reference import ReferenceBackend

ROOT = Path(__file__).parents[2]


class TickingClock:
    """Each reading is a second later."""

    def __init__(self) -> None:
        self._now_ns = 0

    def now_ns(self) -> int:
        self._now_ns += 1_000_000_000
        return self._now_ns


def _subject() -> Subject:
    return Subject(ReferenceBackend, default_scenario())


def test_report_lists_results_in_order_and_tells_of_each() -> None:
    told: list[CheckResult] = []
    only = ["clock_is_monotonic", "hal_version_is_ours", "two_processes_agree"]
    report = run_conformance(_subject(), only, told.append, clock=TickingClock())
    assert tuple(told) == report.results
    assert [r.name for r in report.results] == [c.name for c in ALL_CHECKS if c.name in only]
    assert all(result.seconds == 1.0 for result in report.results)
    assert report.ok
    (not_run,) = report.with_status("not_run")
    assert not_run.name == "two_processes_agree"
    assert "import path" in not_run.prose


def test_unknown_check_suggests_the_nearest() -> None:
    with pytest.raises(UnknownName, match="clock_is_monotonic"):
        run_conformance(_subject(), ["clock_is_monotonous"])


def test_a_backend_that_cannot_be_made_is_an_error_with_its_words() -> None:
    def make() -> SimulationBackend:
        raise OSError("no such world")

    report = run_conformance(Subject(make, default_scenario()), ["clock_is_monotonic"])
    (result,) = report.results
    assert (result.status, report.ok) == ("error", False)
    assert "OSError: no such world" in result.prose
    assert "C-HAL-20" in result.prose


def test_a_refused_variant_is_not_run_but_the_own_scenario_must_run() -> None:
    scenario = default_scenario()
    tilted = replace(scenario, initial=replace(scenario.initial, rpy_deg=(10.0, 0.0, 0.0)))

    @check(contract="C-HAL-1", spec="none", asks="nothing")
    def wants_a_tilt(subject: Subject) -> None:
        """Start tilted."""
        with subject.started(tilted):
            raise AssertionError("the reference world is never tilted")

    refused = run_check(wants_a_tilt, _subject(), None, TickingClock())
    assert refused.status == "not_run"
    assert "always level" in refused.prose
    own = run_check(wants_a_tilt, Subject(ReferenceBackend, tilted), None, TickingClock())
    assert own.status == "error"


def test_backends_are_shut_down_whatever_happens() -> None:
    made: list[ReferenceBackend] = []

    def make() -> SimulationBackend:
        made.append(ReferenceBackend())
        return made[-1]

    @check(contract="C-HAL-1", spec="none", asks="nothing")
    def fails(subject: Subject) -> None:
        """Fail with a backend in hand."""
        with subject.started():
            raise ConformanceFailure("tried", "saw", "do")

    with pytest.raises(ConformanceFailure, match="C-HAL-1"):
        fails(Subject(make, default_scenario()))
    assert made[0].is_closed


def test_needs_are_screened_and_checked_at_definition() -> None:
    with pytest.raises(ValueError, match="telepathy"):
        check(contract="C-HAL-1", spec="none", asks="nothing", needs=("telepathy",))

    @check(contract="C-HAL-1", spec="none", asks="nothing", needs=("lidar",))
    def needs_lidar(subject: Subject) -> None:
        """Need what is not there."""

    with pytest.raises(NotApplicable, match="no sensor of type lidar"):
        needs_lidar(_subject())


def test_each_check_has_one_name_and_a_contract_that_exists() -> None:
    names = [c.name for c in ALL_CHECKS]
    assert len(set(names)) == len(names)
    text = (ROOT / "docs" / "contracts" / "hal.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^\| (C-HAL-\d+) \|", text, re.MULTILINE))
    assert {c.contract for c in ALL_CHECKS} <= known


def test_the_seven_of_the_specification_are_there() -> None:
    seven = {
        "reset_is_deterministic",
        "clock_is_monotonic",
        "no_shared_mutation",
        "actuator_rejects_nan",
        "actuator_accepts_valid_command",
        "shutdown_and_recreate",
        "capabilities_match_observed",
    }
    assert seven <= {c.name for c in ALL_CHECKS}


def test_the_corpus_is_large_and_each_case_has_its_own_name() -> None:
    scenario = default_scenario()
    commands, stamps = malformed_commands(scenario), malformed_stamps(4_000_000)
    assert len(commands) >= 60
    names = [case.name for case in (*commands, *stamps)]
    assert len(set(names)) == len(names)
    assert all(isinstance(build(), ActuatorCommand) for _, build in extreme_commands(scenario))


def test_no_test_framework_is_imported_by_the_suite() -> None:
    folder = Path(inspect.getfile(ghost.testing)).parent
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            for module in modules:
                top = ".".join(module.split(".")[:2])
                assert "test" not in module.split(".")[0], f"{file.name} imports {module}"
                if module.startswith("ghost"):
                    assert top in ("ghost.core", "ghost.hal", "ghost.testing"), file.name


def test_the_default_scenario_travels_to_another_process() -> None:
    scenario = default_scenario()
    assert pickle.loads(pickle.dumps(scenario)) == scenario


def test_import_paths_are_judged() -> None:
    assert load_maker("ghost.testing.reference:ReferenceBackend") is ReferenceBackend
    for bad in ("ghost.testing.reference", ":X", "ghost.testing.reference:"):
        with pytest.raises(ConfigError, match="module:Class"):
            load_maker(bad)
    with pytest.raises(ConfigError, match="has no Nothing"):
        load_maker("ghost.testing.reference:Nothing")
