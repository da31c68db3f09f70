"""Stepping a Gazebo world in lockstep: world control, its barriers, and what may go wrong."""

from ghost.gz.world.barriers import Barrier, DueSensors, SecondClock
from ghost.gz.world.control import StepResult, WorldControl
from ghost.gz.world.errors import EntityRefused, LockstepLost, StepMismatch, TwoServers
from ghost.gz.world.sensors import DueTimes, SensorTopic, sensor_period_ns
from ghost.gz.world.stamps import header_stamp_ns
from ghost.gz.world.survey import (
    LIMITER_FIX,
    Pacing,
    WorldServer,
    WorldSighting,
    ask_worlds,
    pacing_of,
    read_pacing,
    sightings,
)

__all__ = [
    # stepping
    "Barrier",
    "DueSensors",
    "DueTimes",
    "SecondClock",
    "SensorTopic",
    "StepResult",
    "WorldControl",
    "header_stamp_ns",
    "sensor_period_ns",
    # looking around
    "LIMITER_FIX",
    "Pacing",
    "WorldServer",
    "WorldSighting",
    "ask_worlds",
    "pacing_of",
    "read_pacing",
    "sightings",
    # errors
    "EntityRefused",
    "LockstepLost",
    "StepMismatch",
    "TwoServers",
]
