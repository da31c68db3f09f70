"""Recordings to play: a real flight of two seconds, and files made by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from ghost.backends.embedded import EmbeddedBackend
from ghost.backends.replay import ReplayBackend
from ghost.config import load_scenario
from ghost.core import FaultSpec, ScenarioSpec
from ghost.runtime import RecordObserver, RunResult, ScenarioRun

SECOND = 1_000_000_000


@dataclass(frozen=True)
class Flight:
    """A recorded run."""

    path: Path
    scenario: ScenarioSpec
    seed: int
    result: RunResult


@pytest.fixture(scope="session")
def flight(tmp_path_factory: pytest.TempPathFactory) -> Flight:
    """Two seconds of `hover` with a sensor that falls silent from 0.8 s to 1.2 s."""
    scenario = replace(
        load_scenario("hover"),
        duration_ns=2 * SECOND,
        faults=(FaultSpec(800_000_000, "baro0", "offline", 400_000_000),),
    )
    path = tmp_path_factory.mktemp("replay") / "flight.mcap"
    recorder = RecordObserver(str(path))
    with EmbeddedBackend() as backend:
        run = ScenarioRun(backend, scenario, backend_name="embedded", seed=5, observers=[recorder])
        result = run.execute()
    assert recorder.problem is None
    return Flight(path, scenario, 5, result)


Play = Callable[..., ReplayBackend]


@pytest.fixture
def play(flight: Flight) -> Iterator[Play]:
    """Makes rewound `ReplayBackend`s of the flight; takes their keyword arguments."""
    made: list[ReplayBackend] = []

    def make(path: Path | None = None, **options: object) -> ReplayBackend:
        backend = ReplayBackend(path or flight.path, **options)  # type: ignore[arg-type]  # as given
        made.append(backend)
        backend.rewind()
        return backend

    yield make
    for backend in made:
        backend.shutdown()
