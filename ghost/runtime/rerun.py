"""Running a recording's scenario again, and comparing what comes out with what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from ghost.core import (
    ConfigError,
    HostClock,
    ScenarioSpec,
)
from ghost.hal import CommandRecord, GroundTruth, SimulationBackend
from ghost.runtime.autopilot import with_autopilot
from ghost.runtime.comparison import STEP_TOPIC, Comparison, Difference
from ghost.runtime.factories import make_backend
from ghost.runtime.loop import ScenarioRun
from ghost.runtime.observer import RunObserver
from ghost.runtime.result import Outcome, RunResult

if TYPE_CHECKING:
    from ghost.backends.replay import RecordedRun
    from ghost.recording import LogReader

__all__ = ["RerunReport", "rerun"]

_NEVER_NS = 2**63
_COMMANDS = "/actuators/command"


@dataclass(frozen=True, slots=True)
class RerunReport:
    """What a rerun found."""

    file: str
    backend: str
    scenario: str
    seed: int
    equal: bool
    compared: int
    """Messages that were compared and equal."""
    until_ns: int
    """How far it went, ns of simulated time."""
    recorded_digest: str | None
    """None if the file does not say (it was never finished)."""
    digest: str | None
    """Of the new run; None if it was stopped at a difference."""
    difference: Difference | None
    notes: tuple[str, ...]
    interrupted: bool = False
    """Somebody stopped it: `equal` is about the part that ran."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return asdict(self)


class _CommandedRun(ScenarioRun):
    """A run without a plan of its own: the recorded commands are sent at their stamps."""

    def __init__(
        self,
        backend: SimulationBackend,
        scenario: ScenarioSpec,
        commands: Iterator[CommandRecord],
        **options: Any,
    ) -> None:
        super().__init__(backend, scenario, **options)
        self._logged = commands
        self._due = next(commands, None)

    def _steps_until(self, until_ns: int) -> None:
        self._command(self._now_ns, None)
        super()._steps_until(until_ns)

    def _command(self, now_ns: int, truth: GroundTruth | None) -> None:  # noqa: ARG002 - as the base
        while self._due is not None and self._due.stamp_sim_ns <= now_ns:
            self._send(self._due.command, self._due.stamp_sim_ns)
            self._due = next(self._logged, None)
        self._follower.due_ns = _NEVER_NS if self._due is None else self._due.stamp_sim_ns


def rerun(
    path: str,
    *,
    backend: str | None = None,
    observers: Sequence[RunObserver] = (),
    on_run: Callable[[ScenarioRun], None] = lambda _: None,
    host: HostClock | None = None,
) -> RerunReport:
    """Run the scenario inside the recording at `path` again and compare message by message.

    It runs on the recorded backend (or on `backend`) with the recorded seed, up to the last
    recorded step, and stops at the first difference. The flight plan flies, as it did; without one,
    the recorded commands are sent at their stamps. `stamp_wall_ns`, events about the run and its
    onlookers, and images recorded as JPEG are not compared.

    A recorded backend that is no name of the table but a path to somebody's code is not imported on
    the word of a file: `backend` must name it.

    `on_run` is given the run before it starts, to stop it from outside. Raises `ConfigError` for a
    file that is no recording, or lacks what is needed to run it again, and what `make_backend` and
    `ScenarioRun.execute` raise.
    """
    from ghost.backends.replay import open_log, read_run

    with open_log(path) as reader:
        recorded = read_run(reader)
        scenario = _scenario(recorded)
        header = reader.info().header
        notes = [*recorded.notes, *_version_notes(header)]
        if scenario.autopilot is not None:
            notes.append("an autopilot is not deterministic: ghost repeat measures the spread")
        lossy = frozenset(
            f"/sensors/{sensor_id}"
            for sensor_id, encoding in _mapping(header.get("encodings")).items()
            if encoding == "jpeg"
        )
        if lossy:
            notes.append(f"not compared, recorded as JPEG: {', '.join(sorted(lossy))}")
        topics = frozenset(topic.topic for topic in recorded.topics)
        comparison = Comparison(
            iter(reader.messages()),
            # Where steps were recorded, everything was.
            topics=None if STEP_TOPIC in topics else topics,
            skipped=lossy,
            open_ended=not recorded.finished,
        )
        name = recorded.backend if backend is None else backend
        if backend is None and ":" in name:
            raise ConfigError(
                f"it was recorded on {name!r}, which is no backend of Ghost; to run that code, say "
                f"--backend {name}",
                file=path,
            )
        world = with_autopilot(make_backend(name), scenario)
        try:
            options: dict[str, Any] = {
                "backend_name": name,
                "seed": recorded.seed,
                "observers": (comparison, *observers),
                "host": host,
            }
            if scenario.plan.items or _COMMANDS not in topics:
                run = ScenarioRun(world, scenario, **options)
            else:
                run = _CommandedRun(world, scenario, _commands(reader), **options)
            comparison.stop = run.stop
            on_run(run)
            result = run.execute()
        finally:
            world.shutdown()
        return _report(recorded, comparison, result, tuple(dict.fromkeys((*notes, *reader.notes))))


def _scenario(recorded: RecordedRun) -> ScenarioSpec:
    """The recorded scenario, up to the last recorded step."""
    if recorded.scenario is None or not recorded.backend:
        lacks = "scenario" if recorded.scenario is None else "name of the backend"
        why = next((note for note in recorded.notes if "recorded scenario" in note), "")
        raise ConfigError(
            f"the recording cannot be run again: it has no {lacks} in it"
            f"{f' ({why})' if why else ''}; record with: ghost run SCENARIO --record FILE",
            file=recorded.path,
        )
    steps = [t.last_ns for t in recorded.topics if t.topic == STEP_TOPIC and t.last_ns is not None]
    end_ns = max(steps, default=recorded.end_ns)
    return replace(recorded.scenario, duration_ns=max(1, end_ns - recorded.start_ns))


def _commands(reader: LogReader) -> Iterator[CommandRecord]:
    for _, _, _, message in reader.messages([_COMMANDS]):
        if isinstance(message, CommandRecord):
            yield message


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _version_notes(header: Mapping[str, Any]) -> list[str]:
    """What was another version when it was recorded, and may compute other numbers."""
    then = dict(_mapping(header.get("engines")))
    packages = _mapping(header.get("packages"))
    if "numpy" in packages:
        then["numpy"] = packages["numpy"]
    notes = []
    for name, before in then.items():
        try:
            now = version(name)
        except PackageNotFoundError:
            now = "not installed"
        if now != before:
            notes.append(f"recorded with {name} {before}, here it is {now}")
    return notes


def _report(
    recorded: RecordedRun, comparison: Comparison, result: RunResult, notes: tuple[str, ...]
) -> RerunReport:
    ran_through = result.ran_through and comparison.difference is None
    stopped = (
        result.outcome is Outcome.INTERRUPTED
        and comparison.difference is None
        and not comparison.exhausted
    )
    digest = result.digest if ran_through else None
    equal = comparison.difference is None and result.outcome is not Outcome.BACKEND_LOST
    if equal and digest is not None and recorded.digest not in (None, digest):
        equal = False
        notes = (*notes, "every recorded message is equal, but the digests are not")
    if result.outcome is Outcome.BACKEND_LOST:
        notes = (*notes, f"the backend was lost: {result.error}")
    return RerunReport(
        file=recorded.path,
        backend=result.backend,
        scenario=result.scenario,
        seed=result.seed,
        equal=equal,
        compared=comparison.compared,
        until_ns=round(result.sim_time_s * 1e9),
        recorded_digest=recorded.digest,
        digest=digest,
        difference=comparison.difference,
        notes=notes,
        interrupted=stopped,
    )
