"""Running a scenario several times over, and measuring how far apart the runs are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ghost.core import (
    ConfigError,
    GhostError,
    HostClock,
    MissingDependency,
    ScenarioSpec,
    as_ns,
)
from ghost.hal import SimulationBackend
from ghost.runtime.loop import ScenarioRun
from ghost.runtime.observer import RunObserver
from ghost.runtime.repeat_report import RepeatReport, RunRecord
from ghost.runtime.result import Outcome, RunResult
from ghost.runtime.track import TrackObserver, period_of

__all__ = ["MAX_RUNS", "Repeater"]

MAX_RUNS = 1000
_POINTS = 2000
"""Positions kept of a run."""
_FEWEST_POINTS = 200
_PAIRS = 100_000_000
"""Of positions that are compared, at most: with many runs each keeps fewer."""


class Repeater:
    """Runs a scenario `runs` times, each with the same seed, and keeps the account.

    A run that fails, or whose backend is lost, is part of the account, and the next one follows.

    Args:
        make: makes a backend.
        scenario: what to run.
        runs: how often, 2 to `MAX_RUNS`.
        backend_name: how the account calls the backend.
        seed: instead of the scenario's.
        reuse: make one backend and reset it for each run, instead of a new one each time.
        observers: attached to every run.
        on_start: told the number of a run (from 1) before its backend is made.
        on_end: given the record of a run when it is over.
        host: the host's clock.

    Raises `TypeError` and `ValueError` for a number of runs that cannot be meant.
    """

    def __init__(
        self,
        make: Callable[[], SimulationBackend],
        scenario: ScenarioSpec,
        *,
        runs: int,
        backend_name: str = "",
        seed: int | None = None,
        reuse: bool = False,
        observers: Sequence[RunObserver] = (),
        on_start: Callable[[int], None] = lambda _: None,
        on_end: Callable[[RunRecord], None] = lambda _: None,
        host: HostClock | None = None,
    ) -> None:
        self.runs = as_ns("runs", runs, minimum=2)
        if self.runs > MAX_RUNS:
            raise ValueError(f"runs must be at most {MAX_RUNS}, got {runs}")
        self.records: list[RunRecord] = []
        self._make = make
        self._scenario = scenario
        self._name = backend_name
        self._seed = scenario.seed if seed is None else seed
        self._reuse = reuse
        self._observers = tuple(observers)
        self._on_start = on_start
        self._on_end = on_end
        self._host = host if host is not None else HostClock()
        points = max(_FEWEST_POINTS, min(_POINTS, _PAIRS // self.runs**2))
        self._period_ns = period_of(scenario, points)
        self._world: SimulationBackend | None = None
        self._run: ScenarioRun | None = None
        self._stop = False

    def stop(self) -> None:
        """End the present run after its present step, and begin no other. Safe from a signal."""
        self._stop = True
        if self._run is not None:
            self._run.stop()

    def execute(self) -> RepeatReport:
        """Make the runs and return the account; `stop()` and Ctrl-C give that of the runs made.

        Raises `ConfigError` and `MissingDependency` if the first run cannot even begin: the others
        could not either. What is no `GhostError`, a bug, passes through; `report` has the account
        of the runs before.
        """
        try:
            for number in range(1, self.runs + 1):
                if self._stop:
                    break
                self._on_start(number)
                record = self._fly(number)
                self.records.append(record)
                self._on_end(record)
                self._stop = self._stop or record.outcome == Outcome.INTERRUPTED.value
        except KeyboardInterrupt:
            self._stop = True
        finally:
            self._close()
        return self.report()

    def report(self) -> RepeatReport:
        """Return the account of the runs made so far."""
        return RepeatReport(
            scenario=self._scenario.name,
            backend=self._name,
            seed=self._seed,
            asked=self.runs,
            reused=self._reuse,
            interrupted=(self._stop and len(self.records) < self.runs)
            or any(r.outcome == Outcome.INTERRUPTED.value for r in self.records),
            period_ns=self._period_ns,
            records=tuple(self.records),
        )

    def _fly(self, number: int) -> RunRecord:
        watch = TrackObserver(self._period_ns)
        timer = _Timer(self._host)
        result: RunResult | None = None
        error: GhostError | None = None
        try:
            try:
                if self._world is None:
                    self._world = self._make()
                self._run = ScenarioRun(
                    self._world,
                    self._scenario,
                    backend_name=self._name,
                    seed=self._seed,
                    observers=(watch, *self._observers),
                    host=self._host,
                )
                if self._stop:
                    self._run.stop()
                result = self._run.execute()
            finally:
                self._run = None
                timer.stop(result)
                if not self._reuse:
                    self._close()
        except (ConfigError, MissingDependency) as wrong:
            if number == 1:
                raise
            error = wrong
        except GhostError as wrong:
            error = wrong
        return RunRecord.of(number, result, error, watch, timer.setup_s)

    def _close(self) -> None:
        world, self._world = self._world, None
        if world is not None:
            world.shutdown()


class _Timer:
    """Host time of a run that is not the run itself: making the backend and resetting it."""

    def __init__(self, host: HostClock) -> None:
        self._host = host
        self._begin_ns = host.now_ns()
        self.setup_s = 0.0

    def stop(self, result: RunResult | None) -> None:
        """Take the time, less that of the run."""
        whole_s = (self._host.now_ns() - self._begin_ns) / 1e9
        self.setup_s = max(0.0, whole_s - (0.0 if result is None else result.wall_time_s))
