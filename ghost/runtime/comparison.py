"""Comparing what a run says on the bus with what was recorded, one message at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ghost.core import Envelope, Event, EventType, MessageBus
from ghost.hal import StepReport, canonical_bytes
from ghost.runtime.difference import FieldDifference, field_differences
from ghost.runtime.observer import RunInfo, RunStatus
from ghost.runtime.result import RunResult

__all__ = ["STEP_TOPIC", "Comparison", "Difference"]

STEP_TOPIC = "/step"
_NOT_OF_THE_WORLD = frozenset(
    {
        EventType.RUN_STARTED,
        EventType.RUN_FINISHED,
        EventType.RECORDING_FAULT,
        EventType.SUBSCRIBER_FAILED,
        EventType.SCHEDULER_CALLBACK_FAILED,
        EventType.SCHEDULER_OVERRUN,
    }
)
"""Events that depend on who looked on or how far it went, not on the world."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a run first departs from its recording."""

    index: int
    """How many messages were equal before it."""
    topic: str
    stamp_ns: int
    what: str
    """In words: `differs`, `was recorded and did not come`, `came and was not recorded`."""
    fields: tuple[FieldDifference, ...] = ()


class Comparison:
    """A `RunObserver` that compares what a bus says with recorded messages, one by one.

    A run publishes in steps; what it said in one step is put in the total order, compared, and let
    go. So memory holds one step and one recorded message, however long the recording is.

    Args:
        recorded: topic, stamp, sequence and message of each recorded message, in the total order.
        topics: compare only these; None for all.
        open_ended: the recording may end before the run does (it was cut off).
        stop: called at the first difference, and at the end of an open-ended recording.
    """

    def __init__(
        self,
        recorded: Iterator[tuple[str, int, int, object]],
        *,
        topics: frozenset[str] | None = None,
        skipped: frozenset[str] = frozenset(),
        open_ended: bool = False,
        stop: Callable[[], None] = lambda: None,
    ) -> None:
        self._recorded = recorded
        self._topics = topics
        self._skipped = skipped
        self._open_ended = open_ended
        self.stop = stop
        self._step: list[Envelope] = []
        self.compared = 0
        """Messages that were equal."""
        self.difference: Difference | None = None
        self.exhausted = False
        """The recording is at its end."""

    def attach(self, bus: MessageBus, info: RunInfo) -> None:  # noqa: ARG002 - RunObserver
        """Listen to everything."""
        self._subscription = bus.subscribe("/*", self._take)

    def tick(self, status: RunStatus) -> None:
        """Nothing to do."""

    def close(self, result: RunResult | None) -> None:
        """Compare the last step, and see that the recording has nothing more."""
        self._subscription.unsubscribe()
        self._flush()
        whole = result is not None and result.ran_through
        if whole and self.difference is None and not self.exhausted:
            left = self._next()
            if left is not None:
                self._found(left[0], left[1], "was recorded and did not come")

    def _take(self, envelope: Envelope) -> None:
        if envelope.topic == STEP_TOPIC:
            self._flush()
        self._step.append(envelope)

    def _flush(self) -> None:
        step, self._step = self._step, []
        step.sort(key=_place)
        for envelope in step:
            if self.difference is not None or self.exhausted:
                return
            self._compare(envelope)

    def _compare(self, envelope: Envelope) -> None:
        topic, stamp_ns = envelope.topic, envelope.stamp_sim_ns
        new = self._of_the_world(topic, envelope.payload)
        if new is None:
            return
        item = self._next()
        if item is None:
            self.exhausted = True
            if self._open_ended:
                self.stop()
            else:
                self._found(topic, stamp_ns, "came and was not recorded")
            return
        old_topic, old_ns, old = item
        if (old_topic, old_ns) != (topic, stamp_ns):
            if old_ns < stamp_ns or (old_ns == stamp_ns and old_topic != topic):
                text = f"was recorded; {topic} at {stamp_ns} ns came instead"
                self._found(old_topic, old_ns, text)
            else:
                text = f"came; {old_topic} at {old_ns} ns was recorded instead"
                self._found(topic, stamp_ns, text)
        elif canonical_bytes(old) != canonical_bytes(new):
            self._found(topic, stamp_ns, "differs", field_differences(old, new))
        else:
            self.compared += 1

    def _next(self) -> tuple[str, int, object] | None:
        for topic, stamp_ns, _, message in self._recorded:
            kept = self._of_the_world(topic, message)
            if kept is not None:
                return topic, stamp_ns, kept
        return None

    def _of_the_world(self, topic: str, message: object) -> object | None:
        """The part of a message that a rerun must repeat; None if there is none."""
        if topic in self._skipped or (self._topics is not None and topic not in self._topics):
            return None
        if isinstance(message, Event):
            return None if message.type in _NOT_OF_THE_WORLD else message
        if isinstance(message, StepReport) and message.faults:
            faults = tuple(e for e in message.faults if e.type not in _NOT_OF_THE_WORLD)
            return replace(message, faults=faults)
        return message

    def _found(
        self, topic: str, stamp_ns: int, what: str, parts: tuple[FieldDifference, ...] = ()
    ) -> None:
        self.difference = Difference(self.compared, topic, stamp_ns, what, parts)
        self.stop()


def _place(envelope: Envelope) -> tuple[int, int]:
    return envelope.stamp_sim_ns, envelope.sequence
