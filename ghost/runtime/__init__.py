"""Running a scenario: backends by name, the loop, the flight-plan follower, the account."""

from ghost.runtime.autopilot import autopilot_state, find_autopilot, with_autopilot
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
from ghost.runtime.repeat import MAX_RUNS, Repeater
from ghost.runtime.repeat_report import REPEAT_FORMAT, RepeatReport, RunRecord
from ghost.runtime.replay import ReplayRun
from ghost.runtime.rerun import RerunReport, rerun
from ghost.runtime.result import Outcome, RunResult
from ghost.runtime.spread import Peak, PointSpread, Spread, Track, spread, spread_of_points

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
    "autopilot_state",
    "find_autopilot",
    "with_autopilot",
    # runs
    "Outcome",
    "RunInfo",
    "RunObserver",
    "RunResult",
    "RunStatus",
    "ScenarioRun",
    "run_scenario",
    # many runs
    "MAX_RUNS",
    "REPEAT_FORMAT",
    "Peak",
    "PointSpread",
    "RepeatReport",
    "Repeater",
    "RunRecord",
    "Spread",
    "Track",
    "spread",
    "spread_of_points",
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
