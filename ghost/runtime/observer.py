"""Who looks on at a run: progress bars, recorders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ghost.core import MessageBus, ScenarioSpec
from ghost.hal import ActuatorSpec, Capabilities, GroundTruth, SensorSpec
from ghost.runtime.result import RunResult

__all__ = ["RunInfo", "RunObserver", "RunStatus"]


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What is known of a run before its first step."""

    backend: str
    scenario: ScenarioSpec
    seed: int
    capabilities: Capabilities
    sensors: tuple[SensorSpec, ...]
    """In the order in which they are polled."""
    autopilot: str
    """Where the flown state comes from, in words."""
    actuators: ActuatorSpec | None = None
    """What the sink takes."""
    initial_truth: GroundTruth | None = None
    """The true state before the first step."""


@dataclass(frozen=True, slots=True)
class RunStatus:
    """Where a run is."""

    sim_ns: int
    end_ns: int
    real_time_factor: float
    altitude_m: float | None
    """None without ground truth."""
    phase: str
    """What the flight plan is doing."""
    start_ns: int = 0
    """The clock when the run began; not 0 where an autopilot had to get ready."""


class RunObserver(Protocol):
    """Attached before the first publication; none of it may change the run.

    A recorder subscribes to the bus in `attach`. What a subscriber raises is isolated by the bus;
    what these methods raise ends the run.
    """

    def attach(self, bus: MessageBus, info: RunInfo) -> None:
        """Called once, after the backend was reset and before anything is published."""

    def tick(self, status: RunStatus) -> None:
        """Called about every 0.1 s of simulated time, between steps."""

    def close(self, result: RunResult | None) -> None:
        """Called once, whatever happened; None if an unexpected error ended the run."""
