"""What a run comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

__all__ = ["Outcome", "RunResult"]

Vec3 = tuple[float, float, float]


class Outcome(Enum):
    """How a run ended."""

    COMPLETED = "completed"
    """The scenario's duration was reached."""
    INTERRUPTED = "interrupted"
    """Somebody asked it to stop (Ctrl-C)."""
    BACKEND_LOST = "backend_lost"
    """The world went away (D23)."""
    REFUSED = "refused"
    """The duration was reached, but the backend refused every command."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """The account of one run, whole or partial. `to_json` gives the fixed public part."""

    backend: str
    scenario: str
    seed: int
    sim_time_s: float
    wall_time_s: float
    """Host time of the steps, without `reset` and `shutdown`."""
    real_time_factor: float
    steps: int
    samples: Mapping[str, int]
    """Published samples by sensor id; a silent sensor has 0."""
    events: Mapping[str, int]
    """Events on the bus by type."""
    digest: str
    """`ghost.hal.RunDigest` over every sample, truth and ack in publication order."""
    final_pos_enu_m: Vec3 | None
    max_tilt_deg: float | None
    tracking_rmse_m: float | None
    command_rejects: int

    outcome: Outcome = Outcome.COMPLETED
    error: str = ""
    """What was lost, for `BACKEND_LOST`; the last refusal, for `REFUSED`."""
    commands: int = 0
    plan_items: int = 0
    plan_done: int = 0
    plan_timeouts: tuple[str, ...] = ()
    """The plan's items that were given up."""
    crashed: bool = False
    autopilot: str = ""
    """Where the flown state came from, in words."""
    notes: tuple[str, ...] = ()
    """What the backend left out, one line each."""
    lockstep: Mapping[str, int] | None = None
    """Steps in which the autopilot answered in time, late or not at all; None without one."""

    @property
    def failed(self) -> bool:
        """True if the flight went wrong: a crash, an item of the plan that was given up, or
        commands that were all refused."""
        return self.crashed or bool(self.plan_timeouts) or self.outcome is Outcome.REFUSED

    @property
    def trouble(self) -> str:
        """What went wrong with the flight, in words; empty unless `failed`."""
        wrong = ["the vehicle crashed"] if self.crashed else []
        if self.outcome is Outcome.REFUSED:
            count = f"{self.command_rejects} of {self.commands}"
            wrong.append(f"every command was refused ({count}): {self.error}")
        wrong += [f"'{item}' timed out" for item in self.plan_timeouts]
        return "; ".join(wrong)

    @property
    def ran_through(self) -> bool:
        """True if the scenario's duration was reached, whatever came of the flight."""
        return self.outcome in (Outcome.COMPLETED, Outcome.REFUSED)

    def to_json(self) -> dict[str, Any]:
        """Return the public figures, ready for `json.dumps`; what is not known is None."""
        position = self.final_pos_enu_m
        return {
            "backend": self.backend,
            "scenario": self.scenario,
            "seed": self.seed,
            "sim_time_s": self.sim_time_s,
            "wall_time_s": self.wall_time_s,
            "real_time_factor": self.real_time_factor,
            "steps": self.steps,
            "samples": dict(self.samples),
            "events": dict(self.events),
            "digest": self.digest,
            "final_pos_enu_m": None if position is None else list(position),
            "max_tilt_deg": self.max_tilt_deg,
            "tracking_rmse_m": self.tracking_rmse_m,
            "command_rejects": self.command_rejects,
            "lockstep": None if self.lockstep is None else dict(self.lockstep),
        }
