"""The two kinds of world (HAL spec §2, §3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self

from ghost.core import ScenarioSpec, SimClock, SystemClock
from ghost.hal.actuator import ActuatorSink
from ghost.hal.capabilities import Capabilities
from ghost.hal.ground_truth import GroundTruth
from ghost.hal.report import StepReport
from ghost.hal.sensor import SensorId, SensorProvider

__all__ = ["RuntimeBackend", "SimulationBackend"]


class SimulationBackend(Protocol):
    """A world that moves only when told to.

    Every stamp comes from `clock`; nothing inside reads the host's time. A backend is also a
    context manager that shuts down at the end, and everything but `shutdown()` raises `ClosedError`
    after it, until a new `reset()`.
    """

    capabilities: Capabilities

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        """Put the world into the scenario's start, as if the backend were new, at time 0.

        With an autopilot (`ScenarioSpec.autopilot`) the clock stands where that was ready to arm.
        Deterministic backends give bit-identical samples, truth and acks for the same scenario,
        seed and inputs. Subscribers attached before stay attached. Raises `ConfigError` for a
        scenario this backend cannot run, `BackendLost` if the world cannot be reached.
        """

    def step(self, dt_ns: int) -> StepReport:
        """Advance by `dt_ns`, a positive multiple of `clock.step_ns()`, and return when it is done.

        Raises `TypeError` for a float, `ValueError` for what is not a multiple, `BackendLost`
        within its deadline if the world is gone, `ContractViolation` before the first `reset()`.
        """

    def shutdown(self) -> None:
        """Give everything back. Idempotent; never raises; a later `reset()` starts anew."""

    @property
    def clock(self) -> SimClock:
        """The only source of time."""

    def sensors(self) -> Mapping[SensorId, SensorProvider[Any]]:
        """The providers by id; the same objects for the whole run."""

    def actuators(self) -> ActuatorSink:
        """The sink for commands."""

    def ground_truth(self) -> GroundTruth | None:
        """The true state now, or None where `capabilities.has_ground_truth` is False."""

    def __enter__(self) -> Self:
        """Return the backend itself."""

    def __exit__(self, *exception: object) -> None:
        """Call `shutdown()`, also when the block raised."""


class RuntimeBackend(Protocol):
    """A world that moves by itself, such as real hardware."""

    capabilities: Capabilities

    def start(self) -> None:
        """Connect, within a deadline. Raises `BackendLost` naming what was and was not heard."""

    def stop(self) -> None:
        """Leave the vehicle safe and disconnect. Idempotent; never raises."""

    @property
    def clock(self) -> SystemClock:
        """A monotonic clock."""

    def sensors(self) -> Mapping[SensorId, SensorProvider[Any]]:
        """The providers by id; the same objects for the whole run."""

    def actuators(self) -> ActuatorSink:
        """The sink for commands."""

    def __enter__(self) -> Self:
        """Return the backend itself."""

    def __exit__(self, *exception: object) -> None:
        """Call `stop()`, also when the block raised."""
