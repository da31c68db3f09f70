"""Running a scenario: backends by name, the loop, the flight-plan follower, the account."""

from ghost.runtime.factories import (
    BACKENDS,
    BackendEntry,
    BackendState,
    FeatureState,
    Requirement,
    backend_path,
    backend_table,
    make_backend,
)
from ghost.runtime.follower import PlanFollower, describe, levels_of
from ghost.runtime.legs import Limits
from ghost.runtime.loop import ScenarioRun, run_scenario
from ghost.runtime.metrics import FlightMetrics
from ghost.runtime.observer import RunInfo, RunObserver, RunStatus
from ghost.runtime.result import Outcome, RunResult

__all__ = [
    # backends
    "BACKENDS",
    "BackendEntry",
    "BackendState",
    "FeatureState",
    "Requirement",
    "backend_path",
    "backend_table",
    "make_backend",
    # runs
    "Outcome",
    "RunInfo",
    "RunObserver",
    "RunResult",
    "RunStatus",
    "ScenarioRun",
    "run_scenario",
    # flight plan
    "FlightMetrics",
    "Limits",
    "PlanFollower",
    "describe",
    "levels_of",
]
