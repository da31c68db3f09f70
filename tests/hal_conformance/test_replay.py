"""The conformance suite on a replay: every check that one recorded run can answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ghost.backends.embedded import EmbeddedBackend
from ghost.backends.replay import ReplayBackend
from ghost.core import FlightPlan, Hold, ScenarioSpec
from ghost.runtime import RecordObserver, ScenarioRun
from ghost.testing import (
    ALL_CHECKS,
    Check,
    Facts,
    NotApplicable,
    Subject,
    default_scenario,
    probe,
    run_conformance,
)
from ghost.testing.contract import SEED

MUST_RUN = {
    "signatures_match_the_protocols",
    "every_call_works_by_keyword",
    "messages_are_frozen",
    "hal_version_is_ours",
    "capabilities_match_observed",
    "specs_come_from_the_vehicle",
    "clock_is_the_sum_of_steps",
    "step_ns_is_the_scenarios",
    "callbacks_see_the_samples_of_their_time",
    "callback_that_raises_is_isolated",
    "one_large_step_equals_many_small",
    "reset_is_deterministic",
    "poll_returns_each_sample_once",
    "poll_and_subscribe_agree",
    "report_counts_the_samples",
    "shutdown_and_recreate",
    "shutdown_is_idempotent",
    "use_after_shutdown_is_refused",
    "subscribers_survive_reset",
    "truth_is_of_now",
}
"""Checks that a replay must really pass, not pass by."""


@pytest.fixture(scope="session")
def scenario() -> ScenarioSpec:
    """The suite's own scenario, hovering, for as long as the longest check that applies."""
    plan = FlightPlan((Hold(3_000_000_000),))
    return replace(default_scenario(), duration_ns=3_000_000_000, plan=plan)


@pytest.fixture(scope="session")
def subject(scenario: ScenarioSpec, tmp_path_factory: pytest.TempPathFactory) -> Subject:
    path: Path = tmp_path_factory.mktemp("conformance") / "run.mcap"
    recorder = RecordObserver(str(path))
    with EmbeddedBackend() as backend:
        ScenarioRun(
            backend, scenario, backend_name="embedded", seed=SEED, observers=[recorder]
        ).execute()
    assert recorder.problem is None
    return Subject(lambda: ReplayBackend(path, run_callbacks=True), scenario)


@pytest.fixture(scope="session")
def facts(subject: Subject) -> Facts:
    return probe(subject)


@pytest.mark.parametrize("check", ALL_CHECKS, ids=lambda check: f"test_{check.name}")
def test_replay_keeps_the_contract(subject: Subject, facts: Facts, check: Check) -> None:
    if check.name in MUST_RUN:
        check(subject, facts)
        return
    try:
        check(subject, facts)
    except NotApplicable as answer:
        pytest.skip(answer.reason)


def test_the_checks_named_above_exist() -> None:
    assert {check.name for check in ALL_CHECKS} >= MUST_RUN


def test_the_report_says_why_a_check_was_not_run(subject: Subject) -> None:
    report = run_conformance(
        subject, only=["another_seed_gives_other_noise", "actuator_rejects_nan"]
    )
    assert report.ok
    assert [result.status for result in report.results] == ["not_run", "not_run"]
    assert "one seed" in report.results[0].prose
    assert "obeys no command" in report.results[1].prose
