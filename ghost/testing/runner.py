"""Running the checks and reporting what came of it. No test framework is needed."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from ghost.core import HostClock, UnknownName
from ghost.testing.checks import ALL_CHECKS
from ghost.testing.contract import Check, ConformanceFailure, Facts, NotApplicable, Subject, probe

__all__ = ["CheckResult", "Report", "Stopwatch", "run_check", "run_conformance"]

Status = Literal["passed", "failed", "not_run", "error"]


class Stopwatch(Protocol):
    """The one thing the runner asks of a clock; `ghost.core.HostClock` has it."""

    def now_ns(self) -> int:
        """Monotonic time, ns."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found."""

    name: str
    contract: str
    status: Status
    prose: str
    """Empty if passed; else what was done and seen, why it was not run, or the backend's error."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a run, in the order of the checks."""

    results: tuple[CheckResult, ...]

    @property
    def ok(self) -> bool:
        """Whether no check failed or broke off. Checks that did not apply do not count."""
        return all(result.status in ("passed", "not_run") for result in self.results)

    def with_status(self, status: Status) -> tuple[CheckResult, ...]:
        """The results that have this status."""
        return tuple(result for result in self.results if result.status == status)


def run_check(check: Check, subject: Subject, facts: Facts | None, clock: Stopwatch) -> CheckResult:
    """Run one check on a subject; never raises an `Exception`."""
    start = clock.now_ns()
    status: Status = "passed"
    prose = ""
    try:
        check(subject, facts)
    except ConformanceFailure as failure:
        status, prose = "failed", str(failure)
    except NotApplicable as answer:
        status, prose = "not_run", answer.reason
    except Exception as error:  # noqa: BLE001 - a foreign backend may raise anything; it is reported
        status, prose = "error", _describe(check, error)
    seconds = (clock.now_ns() - start) * 1e-9
    return CheckResult(check.name, check.contract, status, prose, seconds)


def run_conformance(
    subject: Subject,
    only: Iterable[str] | None = None,
    on_result: Callable[[CheckResult], None] | None = None,
    *,
    clock: Stopwatch | None = None,
) -> Report:
    """Judge a subject with all checks, or those named by `only`.

    `on_result` is told of each result as it comes. `clock` measures the seconds (`HostClock` if not
    given). Raises `UnknownName` for a name in `only` that no check has.
    """
    checks = ALL_CHECKS if only is None else _named(only)
    stopwatch = clock or HostClock()
    try:
        facts = probe(subject)
    except Exception:  # noqa: BLE001 - each check asks again and reports what it met
        facts = None
    results: list[CheckResult] = []
    for check in checks:
        result = run_check(check, subject, facts, stopwatch)
        results.append(result)
        if on_result is not None:
            on_result(result)
    return Report(tuple(results))


def _named(only: Iterable[str]) -> tuple[Check, ...]:
    by_name = {check.name: check for check in ALL_CHECKS}
    wanted = list(only)
    for name in wanted:
        if name not in by_name:
            raise UnknownName("check", name, by_name)
    return tuple(check for check in ALL_CHECKS if check.name in wanted)


def _describe(check: Check, error: Exception) -> str:
    """One paragraph: which check, what was raised, and the last line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {frames[-1].name} ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return (
        f"The check broke off: the backend raised {type(error).__name__}: {error}{where}. "
        f"{check.contract} ({check.spec}) asks: {check.asks}."
    )
