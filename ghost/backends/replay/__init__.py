"""A recorded run as a world: `ReplayBackend` (clock spec §7)."""

from ghost.backends.replay.actuators import CompareReport, LevelDifference
from ghost.backends.replay.backend import ReplayBackend
from ghost.backends.replay.clock import NoRandom, ReplayClock
from ghost.backends.replay.log import RecordedRun, open_log, read_run

__all__ = [
    "CompareReport",
    "LevelDifference",
    "NoRandom",
    "RecordedRun",
    "ReplayBackend",
    "ReplayClock",
    "open_log",
    "read_run",
]
