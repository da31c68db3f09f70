"""When is a step done? What proves that nothing of it is still on its way.

One iteration of a Gazebo server publishes the clock, then runs its systems, where sensors publish.
So the clock of T comes before the samples of T. A paused server repeats the clock about once a
millisecond, and all topics of one process leave in order through one socket (measured on Gazebo
Sim 8.14). Hence two proofs that T is complete, below. A third fits the same face: behind a gate
that holds an unpaused world before each step, the first clock of T + dt is the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ghost.gz.world.sensors import DueTimes

__all__ = ["Barrier", "DueSensors", "SecondClock"]


class Barrier(Protocol):
    """Decides when the step to a target time is complete. Used for one step at a time."""

    def start(self, target_ns: int, sensors: Sequence[DueTimes | None], doubt: bool) -> None:
        """A step to `target_ns` begins.

        `sensors` are those subscribed, by index, None where none is awaited. With `doubt`, what
        is due is not known for sure (after attaching, a reset, a new model).
        """

    def clock(self, sim_ns: int) -> bool:
        """A new clock was heard (a repeated message is not one). Return True if complete."""

    def sample(self, index: int, stamp_ns: int) -> bool:
        """The sensor of this index was heard. Return True if complete."""

    @property
    def missing(self) -> Sequence[int]:
        """The sensors that were due at the target and have not been heard."""


class SecondClock:
    """The second clock at the target: every sample that does not come from a renderer is in.

    It needs no knowledge of the sensors, and takes the server one paused turn (about 1 ms) more.
    """

    __slots__ = ("_clocks", "_target_ns")

    def __init__(self) -> None:
        self._target_ns = 0
        self._clocks = 0

    def start(self, target_ns: int, sensors: Sequence[DueTimes | None], doubt: bool) -> None:  # noqa: ARG002 - one face for all
        """See `Barrier.start`."""
        self._target_ns = target_ns
        self._clocks = 0

    def clock(self, sim_ns: int) -> bool:
        """See `Barrier.clock`."""
        if sim_ns == self._target_ns:
            self._clocks += 1
        return self._clocks >= 2

    def sample(self, index: int, stamp_ns: int) -> bool:  # noqa: ARG002 - one face for all
        """See `Barrier.sample`."""
        return False

    @property
    def missing(self) -> Sequence[int]:
        """See `Barrier.missing`: this barrier waits for none."""
        return ()


class DueSensors:
    """Every sensor due at the target has delivered; else the second clock. The default.

    A sensor that stopped costs the wait for the second clock, never a stall. Where no sensor is
    due the second clock is not needed either: the first one says that the step was made.
    """

    __slots__ = ("_clocks", "_doubt", "_pending", "_target_ns")

    def __init__(self) -> None:
        self._target_ns = 0
        self._clocks = 0
        self._doubt = False
        self._pending: set[int] = set()

    def start(self, target_ns: int, sensors: Sequence[DueTimes | None], doubt: bool) -> None:
        """See `Barrier.start`."""
        self._target_ns = target_ns
        self._clocks = 0
        self._doubt = doubt
        self._pending = {
            index
            for index, times in enumerate(sensors)
            if times is not None and times.due(target_ns)
        }

    def clock(self, sim_ns: int) -> bool:
        """See `Barrier.clock`."""
        if sim_ns != self._target_ns:
            return False
        self._clocks += 1
        return self._clocks >= 2 or (not self._pending and not self._doubt)

    def sample(self, index: int, stamp_ns: int) -> bool:
        """See `Barrier.sample`."""
        if stamp_ns != self._target_ns:
            return False
        self._pending.discard(index)
        return not self._pending and self._clocks >= 1 and not self._doubt

    @property
    def missing(self) -> Sequence[int]:
        """See `Barrier.missing`. Nothing is missed where nothing is known to be due."""
        return () if self._doubt else tuple(sorted(self._pending))
