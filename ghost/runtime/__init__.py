"""Running a scenario: backends by name, the loop, the flight-plan follower, the account."""

from ghost.runtime.comparison import Comparison, Difference
from ghost.runtime.difference import FieldDifference
from ghost.runtime.factories import (
    BACKENDS,
    BackendEntry,
    BackendState,
    FeatureState,
    Requirement,
    backend_path,
    backend_table,
    make_backend,
    split_settings,
)
from ghost.runtime.follower import PlanFollower, describe, levels_of
from ghost.runtime.legs import Limits
from ghost.runtime.loop import ScenarioRun, run_scenario
from ghost.runtime.metrics import FlightMetrics
from ghost.runtime.observer import RunInfo, RunObserver, RunStatus
from ghost.runtime.record import RecordObserver, check_recording
from ghost.runtime.replay import ReplayRun
from ghost.runtime.rerun import RerunReport, rerun
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
    "split_settings",
    # runs
    "Outcome",
    "RunInfo",
    "RunObserver",
    "RunResult",
    "RunStatus",
    "ScenarioRun",
    "run_scenario",
    # recordings
    "Comparison",
    "Difference",
    "FieldDifference",
    "RecordObserver",
    "ReplayRun",
    "RerunReport",
    "check_recording",
    "rerun",
    # flight plan
    "FlightMetrics",
    "Limits",
    "PlanFollower",
    "describe",
    "levels_of",
]
