"""What is in a stream of messages: counts, rates, gaps, health (`ghost info`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ghost.hal import SensorHealth, SensorSample

__all__ = ["GapInfo", "HealthChange", "Survey", "TopicSurvey", "survey"]

Row = tuple[str, int, int, Any]
"""(topic, stamp_ns, sequence, message), as `LogReader.messages` yields them."""

_MAX_CHANGES = 200


@dataclass(frozen=True, slots=True)
class GapInfo:
    """A hole in a topic: from the message before it to the message after it."""

    start_ns: int
    end_ns: int

    @property
    def length_ns(self) -> int:
        """How long nothing came."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class HealthChange:
    """A sensor's samples changed their health."""

    stamp_ns: int
    before: SensorHealth
    after: SensorHealth


@dataclass(slots=True)
class TopicSurvey:
    """One topic, taken note of message by message."""

    topic: str
    kind: str
    """Class of the payload, or of the message where it has none."""
    count: int = 0
    first_ns: int = 0
    last_ns: int = 0
    gap: GapInfo | None = None
    """The longest time between two messages."""
    lost: int = 0
    """Samples whose `seq` never came."""
    largest_loss: int = 0
    """The most that were lost in a row."""
    largest_loss_ns: int | None = None
    """Stamp of the sample after them."""
    restarts: int = 0
    """How often `seq` or the time went back: another run in the same file."""
    health: dict[SensorHealth, int] = field(default_factory=dict)
    changes: list[HealthChange] = field(default_factory=list)
    """The first few hundred; `health` counts all samples."""
    _seq: int | None = None
    _last_health: SensorHealth | None = None

    def add(self, stamp_ns: int, message: Any) -> None:
        """Take the next message of the topic."""
        if self.count == 0:
            self.first_ns = self.last_ns = stamp_ns
        else:
            length = stamp_ns - self.last_ns
            if length < 0:
                self.restarts += 1
            elif self.gap is None or length > self.gap.length_ns:
                self.gap = GapInfo(self.last_ns, stamp_ns)
            self.last_ns = max(self.last_ns, stamp_ns)
        self.count += 1
        if isinstance(message, SensorSample):
            self._sample(stamp_ns, message)

    def _sample(self, stamp_ns: int, sample: SensorSample[Any]) -> None:
        if self._seq is not None:
            missing = sample.seq - self._seq - 1
            if missing < 0:
                self.restarts += 1
            elif missing:
                self.lost += missing
                if missing > self.largest_loss:
                    self.largest_loss, self.largest_loss_ns = missing, stamp_ns
        self._seq = sample.seq
        health = sample.health
        self.health[health] = self.health.get(health, 0) + 1
        before = self._last_health
        if before is not None and before is not health and len(self.changes) < _MAX_CHANGES:
            self.changes.append(HealthChange(stamp_ns, before, health))
        self._last_health = health

    @property
    def rate_hz(self) -> float | None:
        """Mean rate from the first to the last message; None for fewer than two."""
        length = self.last_ns - self.first_ns
        return (self.count - 1) * 1e9 / length if self.count > 1 and length > 0 else None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        gap = self.gap
        return {
            "topic": self.topic,
            "type": self.kind,
            "count": self.count,
            "first_ns": self.first_ns,
            "last_ns": self.last_ns,
            "rate_hz": self.rate_hz,
            "largest_gap": None
            if gap is None
            else {"start_ns": gap.start_ns, "end_ns": gap.end_ns, "length_ns": gap.length_ns},
            "seq_lost": self.lost,
            "seq_largest_loss": self.largest_loss,
            "seq_largest_loss_ns": self.largest_loss_ns,
            "restarts": self.restarts,
            "health": {health.name: count for health, count in sorted(self.health.items())},
            "health_changes": [
                {"stamp_ns": c.stamp_ns, "before": c.before.name, "after": c.after.name}
                for c in self.changes
            ],
        }


class Survey:
    """All topics of a stream; memory grows with the number of topics alone."""

    def __init__(self) -> None:
        self.topics: dict[str, TopicSurvey] = {}
        self.count = 0
        self.first_ns: int | None = None
        self.last_ns: int | None = None

    def add(self, topic: str, stamp_ns: int, message: Any) -> TopicSurvey:
        """Take the next message and return its topic's account."""
        found = self.topics.get(topic)
        if found is None:
            found = self.topics[topic] = TopicSurvey(topic, kind_of(message))
        found.add(stamp_ns, message)
        self.count += 1
        if self.first_ns is None or stamp_ns < self.first_ns:
            self.first_ns = stamp_ns
        if self.last_ns is None or stamp_ns > self.last_ns:
            self.last_ns = stamp_ns
        return found

    @property
    def duration_ns(self) -> int:
        """From the first to the last stamp."""
        return 0 if self.first_ns is None or self.last_ns is None else self.last_ns - self.first_ns


def kind_of(message: Any) -> str:
    """Return what a message is called in tables: the payload's class for samples."""
    payload = message.payload if isinstance(message, SensorSample) else message
    return type(payload).__name__.removesuffix("Payload")


def survey(rows: Iterable[Row]) -> Survey:
    """Take note of a whole stream."""
    found = Survey()
    for topic, stamp_ns, _sequence, message in rows:
        found.add(topic, stamp_ns, message)
    return found
