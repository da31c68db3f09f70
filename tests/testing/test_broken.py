"""Every check can fail: each deliberately broken backend is found out by the checks it names."""

from __future__ import annotations

import pytest

from ghost.core import HostClock
from ghost.testing import ALL_CHECKS, Subject, default_scenario, probe, run_check
from ghost.testing.broken import BROKEN, BackendProxy, Broken
from ghost.testing.reference import ReferenceBackend

BY_NAME = {check.name: check for check in ALL_CHECKS}

ESSENTIAL = (
    "hal_version_is_ours",
    "step_ns_is_the_scenarios",
    "capabilities_do_not_change",
    "truth_is_as_declared",
    "step_refuses_zero_and_negative",
    "shutdown_is_idempotent",
    "actuator_accepts_valid_command",
)
"""Quick checks that an otherwise sound backend passes."""

NOT_ON_THE_REFERENCE = {"depth_is_in_range_or_nan", "lidar_points_are_in_sensor_axes"}
"""Their sensors are not in the reference world; tests/hal_conformance breaks them elsewhere."""

CASES = [(broken, name) for broken in BROKEN for name in broken.must_fail]


def _subject(broken: Broken) -> Subject:
    return Subject(broken.wrap(ReferenceBackend), default_scenario(), broken.import_path)


@pytest.mark.parametrize(
    ("broken", "name"), CASES, ids=[f"{broken.name}-{name}" for broken, name in CASES]
)
def test_the_named_check_fails(broken: Broken, name: str) -> None:
    result = run_check(BY_NAME[name], _subject(broken), None, HostClock())
    assert result.status == "failed", f"{broken.story} Got {result.status}: {result.prose}"
    for word in ("Done: ", "Seen: ", f"{BY_NAME[name].contract} (", "What to do: "):
        assert word in result.prose


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_what_is_not_broken_passes(broken: Broken) -> None:
    """Or the failures above would only say that nothing works at all."""
    subject = _subject(broken)
    facts = probe(subject)
    others = [name for name in ESSENTIAL if name not in broken.must_fail]
    passed = [
        name
        for name in others
        if run_check(BY_NAME[name], subject, facts, HostClock()).status == "passed"
    ]
    assert len(passed) >= len(others) - 1


def test_every_check_is_proved_by_a_broken_backend() -> None:
    proved = {name for broken in BROKEN for name in broken.must_fail}
    assert proved == set(BY_NAME) - NOT_ON_THE_REFERENCE


def test_names_and_stories() -> None:
    names = [broken.name for broken in BROKEN]
    assert len(set(names)) == len(names) >= 12
    for broken in BROKEN:
        assert broken.story.endswith(".")


def test_the_proxy_alone_breaks_nothing() -> None:
    subject = Subject(lambda: BackendProxy(ReferenceBackend), default_scenario())
    facts = probe(subject)
    for name in (*ESSENTIAL, "capabilities_match_observed", "poll_and_subscribe_agree"):
        assert run_check(BY_NAME[name], subject, facts, HostClock()).status == "passed", name
