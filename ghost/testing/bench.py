"""A backend on the bench: what checks do with one all the time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ghost.core import ContractViolation, ScenarioSpec
from ghost.hal import (
    ActuatorCommand,
    CommandAck,
    GroundTruth,
    SensorProvider,
    SensorSample,
    SimulationBackend,
    StepReport,
    digest,
)

__all__ = ["Bench", "Samples", "Trace"]

Samples = dict[str, list[SensorSample[Any]]]
"""Sensor id to its samples, oldest first."""


class Trace:
    """What came out of a flight, each item with a name for people and a digest."""

    def __init__(self) -> None:
        self.items: list[tuple[str, str]] = []

    def add(self, name: str, message: object) -> None:
        """Append one message."""
        self.items.append((name, digest(message)))

    def difference(self, other: Trace) -> str | None:
        """Say where two traces first differ, or None if they agree."""
        for mine, theirs in zip(self.items, other.items, strict=False):
            if mine[0] != theirs[0]:
                return f"one flight has {mine[0]} where the other has {theirs[0]}"
            if mine[1] != theirs[1]:
                digests = f"{mine[1][:12]}… and {theirs[1][:12]}…"
                return f"{mine[0]} has the digests {digests}"
        if len(self.items) != len(other.items):
            return f"one flight gave {len(self.items)} messages, the other {len(other.items)}"
        return None


class Bench:
    """One backend after its reset, with the scenario it runs."""

    def __init__(self, backend: SimulationBackend, scenario: ScenarioSpec) -> None:
        self.backend = backend
        self.scenario = scenario

    @property
    def now_ns(self) -> int:
        """The backend's time."""
        return self.backend.clock.now_ns()

    def step(self) -> StepReport:
        """Make one of the scenario's steps."""
        return self.backend.step(self.scenario.step_ns)

    def steps_in(self, seconds: float) -> int:
        """How many of the scenario's steps come nearest to `seconds`; at least one."""
        return max(1, round(seconds * 1e9 / self.scenario.step_ns))

    def send(self, command: ActuatorCommand) -> CommandAck:
        """Send a command stamped now."""
        return self.backend.actuators().send(command, self.now_ns)

    def poll(self) -> Samples:
        """Poll every sensor once."""
        return {sid: provider.poll() for sid, provider in self.backend.sensors().items()}

    def truth(self) -> GroundTruth:
        """The true state; for checks that need ground truth."""
        truth = self.backend.ground_truth()
        if truth is None:
            raise ContractViolation(
                "ground_truth() gave None though capabilities.has_ground_truth is True"
            )
        return truth

    def provider(self, payload_type: str) -> SensorProvider[Any]:
        """The first sensor of a type, by id; for checks that need it."""
        found = [
            sid for sid, p in self.backend.sensors().items() if p.spec.payload_type == payload_type
        ]
        return self.backend.sensors()[min(found)]

    def run(
        self,
        seconds: float,
        command: Callable[[float], ActuatorCommand] | None = None,
        after_step: Callable[[StepReport], None] | None = None,
    ) -> Samples:
        """Step for `seconds`, polling all after each step; return every sample by sensor.

        `command(t_s)` is sent before each step, with the time since the start of this call.
        """
        gathered: Samples = {sid: [] for sid in self.backend.sensors()}
        start = self.now_ns
        for _ in range(self.steps_in(seconds)):
            if command is not None:
                self.send(command((self.now_ns - start) * 1e-9))
            report = self.step()
            for sid, samples in self.poll().items():
                gathered.setdefault(sid, []).extend(samples)
            if after_step is not None:
                after_step(report)
        return gathered

    def trace(
        self, seconds: float, command: Callable[[float], ActuatorCommand] | None = None
    ) -> Trace:
        """Fly and trace every sample, truth and ack in the order of the run loop.

        Sensors are visited by id, so that the order of `sensors()` does not matter.
        """
        trace = Trace()
        start = self.now_ns
        providers = sorted(self.backend.sensors().items())
        for _ in range(self.steps_in(seconds)):
            if command is not None:
                trace.add(
                    f"the ack at {self.now_ns} ns", self.send(command((self.now_ns - start) * 1e-9))
                )
            self.step()
            for sid, provider in providers:
                for sample in provider.poll():
                    trace.add(f"{sid} seq {sample.seq} at {sample.stamp_sim_ns} ns", sample)
            trace.add(f"the truth at {self.now_ns} ns", self.backend.ground_truth())
        return trace
