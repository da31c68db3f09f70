"""The checks that a world with an autopilot passes like any other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ghost.core import FlightPlan, HostClock
from ghost.testing import ALL_CHECKS, Subject, default_scenario, run_check
from tests.piloted_world import PilotedWorld

CHECKS = {check.name: check for check in ALL_CHECKS}


@pytest.mark.parametrize("name", ["capabilities_do_not_change", "signatures_match_the_protocols"])
def test_what_it_claims_is_there(name: str) -> None:
    scenario = replace(default_scenario(), plan=FlightPlan())
    result = run_check(CHECKS[name], Subject(PilotedWorld, scenario), None, HostClock())
    assert result.status == "passed", result.prose
