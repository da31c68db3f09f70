"""The conformance suite: prove that a backend keeps the contracts. Needs no test framework.

from ghost.testing import Subject, default_scenario, run_conformance

report = run_conformance(Subject(MyBackend, default_scenario(), "my_package.world:MyBackend"))
assert report.ok, report.with_status("failed")
"""

from ghost.testing.checks import ALL_CHECKS
from ghost.testing.contract import (
    Check,
    ConformanceFailure,
    Facts,
    NotApplicable,
    Subject,
    check,
    probe,
    require,
)
from ghost.testing.digest_of import flight_digest, load_maker
from ghost.testing.runner import CheckResult, Report, run_check, run_conformance
from ghost.testing.scenarios import default_scenario

__all__ = [
    "ALL_CHECKS",
    "Check",
    "CheckResult",
    "ConformanceFailure",
    "Facts",
    "NotApplicable",
    "Report",
    "Subject",
    "check",
    "default_scenario",
    "flight_digest",
    "load_maker",
    "probe",
    "require",
    "run_check",
    "run_conformance",
]
