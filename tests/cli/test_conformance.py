"""`ghost conformance`: the suite from the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ghost = Callable[..., Any]
QUICK = ("--only", "capabilities_match_observed", "--only", "clock_is_monotonic")


def test_the_checks_can_be_listed(ghost: Ghost) -> None:
    checks = ghost("conformance", "--list", "--json").json["checks"]
    names = [check["name"] for check in checks]
    assert len(names) == len(set(names)) > 30
    assert {"reset_is_deterministic", "actuator_rejects_nan", "no_shared_mutation"} <= set(names)
    assert all(check["asks"] and check["contract"] for check in checks)
    table = ghost("conformance", "--list")
    assert table.code == 0
    assert all(name in table.out for name in names)


def test_a_good_backend_passes(ghost: Ghost) -> None:
    answer = ghost("conformance", *QUICK)
    assert answer.code == 0
    assert answer.err == ""
    assert "conformance of embedded" in answer.out
    assert answer.out.endswith("2 passed, 0 failed, 0 broke off, 0 not run\n")
    as_json = ghost("conformance", *QUICK, "--json").json
    assert as_json["ok"]
    assert as_json["backend"] == "embedded"
    assert [check["status"] for check in as_json["checks"]] == ["passed", "passed"]


def test_a_broken_backend_fails_and_is_told_what_is_wrong(ghost: Ghost, drivers: str) -> None:
    args = ("conformance", "--backend", f"{drivers}:Deaf", *QUICK)
    answer = ghost(*args)
    assert answer.code == 1
    assert "1 passed, 1 failed, 0 broke off, 0 not run" in answer.out
    assert "capabilities_match_observed: Done: " in answer.out
    assert "What to do: " in answer.out
    as_json = ghost(*args, "--json")
    assert as_json.code == 1
    assert not as_json.json["ok"]
    failed = [check for check in as_json.json["checks"] if check["status"] == "failed"]
    assert [check["name"] for check in failed] == ["capabilities_match_observed"]
    assert failed[0]["prose"]


def test_a_backend_that_raises_is_reported_and_not_a_crash_of_the_suite(
    ghost: Ghost, drivers: str
) -> None:
    answer = ghost("conformance", "--backend", f"{drivers}:Buggy", *QUICK)
    assert answer.code == 1
    assert "1 broke off" in answer.out
    assert "a bug in a driver" in answer.out


def test_what_was_not_run_says_why(ghost: Ghost) -> None:
    answer = ghost("conformance", "--only", "undeclared_levels_are_refused")
    assert answer.code == 0
    assert "not run" in answer.out
    assert "declares all five actuator levels" in answer.out
    assert "0 passed, 0 failed, 0 broke off, 1 not run" in answer.out


def test_another_scenario_can_be_used(ghost: Ghost) -> None:
    args = ("conformance", "--only", "capabilities_match_observed", "--scenario")
    assert ghost(*args, "hover").code == 0
    answer = ghost(*args, "hoover")
    assert answer.code == 2
    assert "did you mean 'hover'" in answer.err


def test_an_unknown_check_lists_the_nearest(ghost: Ghost) -> None:
    answer = ghost("conformance", "--only", "clock_is_monotone")
    assert answer.code == 2
    assert answer.out == ""
    assert "did you mean 'clock_is_monotonic'" in answer.err
    assert answer.err.count("\n") == 1
