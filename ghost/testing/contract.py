"""What a check is, whom it judges, and how it speaks when a contract is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from ghost.core import ConfigError, ScenarioSpec
from ghost.hal import PAYLOAD_TYPES, ActuatorLevel, Capabilities, SimulationBackend
from ghost.testing.bench import Bench

__all__ = [
    "SEED",
    "Check",
    "ConformanceFailure",
    "Facts",
    "NotApplicable",
    "Subject",
    "check",
    "probe",
    "require",
]

SEED = 42
"""The seed of every check that does not compare seeds."""

_FEATURES = {
    "ground_truth": "the backend declares no ground truth (capabilities.has_ground_truth is False)",
    "deterministic": "the backend does not declare to be deterministic",
    "import_path": "the subject has no import path, so another process cannot make its backend",
    "command": "the backend declares no actuator level",
}


class NotApplicable(Exception):
    """Raised by a check that cannot judge this subject. `reason` says why, for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ConformanceFailure(Exception):
    """A contract is broken. `did`, `saw` and `fix` are sentences without a final full stop."""

    def __init__(self, did: str, saw: str, fix: str, check: Check | None = None) -> None:
        super().__init__(did, saw, fix)
        self.did = did
        self.saw = saw
        self.fix = fix
        self.check = check
        """The check that failed; what it asks becomes part of the text."""

    def __str__(self) -> str:
        asks = ""
        if self.check is not None:
            asks = f" {self.check.contract} ({self.check.spec}) asks: {self.check.asks}."
        return f"Done: {self.did}. Seen: {self.saw}.{asks} What to do: {self.fix}."


def require(holds: bool, did: str, saw: str, fix: str) -> None:
    """Raise `ConformanceFailure(did, saw, fix)` unless `holds`."""
    if not holds:
        raise ConformanceFailure(did, saw, fix)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a subject says of itself after a reset: which checks apply depends on it alone."""

    capabilities: Capabilities
    payload_types: frozenset[str]
    """Payload types of the sensors that the backend offers in the subject's scenario."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A backend to be judged: how to make one, and a scenario that it can run."""

    make: Callable[[], SimulationBackend]
    scenario: ScenarioSpec
    import_path: str | None = None
    """`package.module:Class`, callable without arguments; None if another process cannot make it.
    """

    @contextmanager
    def made(self) -> Iterator[SimulationBackend]:
        """Make a backend that was never reset, and shut it down at the end in any case."""
        backend = self.make()
        try:
            yield backend
        finally:
            # What it raises is for `shutdown_is_idempotent` to judge; here it would mask the news.
            with suppress(Exception):
                backend.shutdown()

    @contextmanager
    def started(self, scenario: ScenarioSpec | None = None, seed: int = SEED) -> Iterator[Bench]:
        """Make a backend and reset it into `scenario` (the subject's own if None).

        A variant of the scenario that the backend refuses with `ConfigError` makes the check not
        applicable, with the backend's words as the reason; its own scenario must run.
        """
        wanted = scenario or self.scenario
        with self.made() as backend:
            try:
                backend.reset(scenario=wanted, seed=seed)
            except ConfigError as error:
                if wanted == self.scenario:
                    raise
                raise NotApplicable(f"the backend refuses the check's scenario: {error}") from error
            yield Bench(backend, wanted)


def probe(subject: Subject) -> Facts:
    """Make and reset one backend, and note what decides which checks apply."""
    with subject.started() as bench:
        types = frozenset(p.spec.payload_type for p in bench.backend.sensors().values())
        return Facts(bench.backend.capabilities, types)


@dataclass(frozen=True, slots=True)
class Check:
    """One check: a plain function of a subject, and the contract that it proves."""

    name: str
    contract: str
    """Id in `docs/contracts/`, for example `C-HAL-1`."""
    spec: str
    """Where the specification or a decision says so."""
    asks: str
    """The contract in one sentence, without a final full stop."""
    needs: tuple[str, ...]
    """Features, payload types and actuator levels without which the check does not apply."""
    run: Callable[[Subject], None]
    summary: str

    def __call__(self, subject: Subject, facts: Facts | None = None) -> None:
        """Judge `subject`. Raises `ConformanceFailure` or `NotApplicable`; returning is passing.

        `facts` saves the check from asking the subject again what it can do.
        """
        if self.needs:
            self._screen(subject, facts or probe(subject))
        try:
            self.run(subject)
        except ConformanceFailure as failure:
            failure.check = self
            raise
        except ConfigError as error:
            if _has_one_run(facts or probe(subject)):
                raise NotApplicable(f"the check asks for another run: {error}") from error
            raise

    def _screen(self, subject: Subject, facts: Facts) -> None:
        levels = {level.name for level in facts.capabilities.actuator_levels}
        if _has_one_run(facts):
            for need in self.needs:
                if need == "command" or need in levels:
                    raise NotApplicable("the backend plays one recorded run: it obeys no command")
        present: Mapping[str, bool] = {
            "ground_truth": facts.capabilities.has_ground_truth,
            "deterministic": facts.capabilities.deterministic,
            "import_path": subject.import_path is not None,
            "command": bool(levels),
        }
        for need in self.needs:
            if need in present:
                if not present[need]:
                    raise NotApplicable(_FEATURES[need])
            elif need in PAYLOAD_TYPES:
                if need not in facts.payload_types:
                    raise NotApplicable(f"the scenario has no sensor of type {need}")
            elif need not in levels:
                raise NotApplicable(f"the backend does not declare the actuator level {need}")


def _has_one_run(facts: Facts) -> bool:
    """Whether the backend is a recording: one scenario, one seed, and no command changes it."""
    return bool(facts.capabilities.extensions.get("fixed_scenario"))


_KNOWN_NEEDS = (
    frozenset(_FEATURES) | frozenset(PAYLOAD_TYPES) | {level.name for level in ActuatorLevel}
)


def check(
    *, contract: str, spec: str, asks: str, needs: tuple[str, ...] = ()
) -> Callable[[Callable[[Subject], None]], Check]:
    """Turn a function of a subject into a `Check` with the function's name and docstring."""
    unknown = set(needs) - _KNOWN_NEEDS
    if unknown:
        raise ValueError(f"needs must be of {sorted(_KNOWN_NEEDS)}, got {sorted(unknown)}")

    def wrap(function: Callable[[Subject], None]) -> Check:
        summary = (function.__doc__ or "").strip().partition("\n")[0]
        if not summary:
            raise ValueError(f"check {function.__name__} needs a docstring that says what it does")
        return Check(function.__name__, contract, spec, asks, needs, function, summary)

    return wrap
