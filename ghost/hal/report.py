"""What one `step()` did (D17)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from ghost.core import Event
from ghost.hal.message import Message, check_class, check_ints, freeze_mapping

__all__ = ["LockstepState", "StepReport"]


class LockstepState(Enum):
    """Whether the autopilot answered within the step."""

    NONE = "none"
    """There is no autopilot to wait for."""
    ANSWERED = "answered"
    LATE = "late"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, eq=False)
class StepReport(Message):
    """The account of one `step()`."""

    now_ns: int
    """The clock after the step."""
    steps: int
    """How many of the scenario's steps were made."""
    samples: Mapping[str, int]
    """How many samples each sensor published; sensors with none are left out."""
    faults: tuple[Event, ...] = ()
    """Events raised during the step."""
    lockstep: LockstepState = LockstepState.NONE

    def __post_init__(self) -> None:
        check_ints(self, "now_ns", "steps", minimum=0)
        object.__setattr__(self, "samples", freeze_mapping("samples", self.samples))
        for sensor_id, count in self.samples.items():
            if type(count) is not int or count < 0:
                raise TypeError(f"samples[{sensor_id!r}] must be a count, got {count!r}")
        if type(self.faults) is not tuple:
            object.__setattr__(self, "faults", tuple(self.faults))
        for fault in self.faults:
            check_class("faults", fault, Event)
        check_class("lockstep", self.lockstep, LockstepState)

    @property
    def stamp_sim_ns(self) -> int:
        """The same as `now_ns`, under the name the bus orders by."""
        return self.now_ns
