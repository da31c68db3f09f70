"""Two recordings side by side: the first difference, and how far apart they are (`ghost diff`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any

from ghost.hal import canonical_bytes
from ghost.report.compare import differences, show
from ghost.report.survey import Row

__all__ = ["Difference", "FieldStatistics", "LogDiff", "TopicDiff", "diff"]

_MAX_GROUP = 20_000
"""Messages of one stamp that are matched at a time; a run has some tens."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two recordings part."""

    topic: str
    stamp_ns: int
    index: int
    """Number of the message on its topic, from 0."""
    field: str
    """Path within the message; empty where one side has no message."""
    a: str
    b: str

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "topic": self.topic,
            "stamp_ns": self.stamp_ns,
            "index": self.index,
            "field": self.field,
            "a": self.a,
            "b": self.b,
        }


@dataclass(slots=True)
class FieldStatistics:
    """How one field differs over all messages of a topic."""

    differing: int = 0
    """In how many messages."""
    numeric: bool = False
    largest: float = 0.0
    squares: float = 0.0
    elements: int = 0
    """Numbers in one message."""

    def rms(self, matched: int) -> float:
        """Root mean square over all `matched` messages, equal ones included."""
        return math.sqrt(self.squares / (matched * self.elements)) if matched else 0.0


@dataclass(slots=True)
class TopicDiff:
    """One topic in both recordings."""

    topic: str
    count_a: int = 0
    count_b: int = 0
    matched: int = 0
    """Messages that both have at the same stamp."""
    differing: int = 0
    """Of those, the ones that are not equal."""
    fields: dict[str, FieldStatistics] = field(default_factory=dict)

    @property
    def equal(self) -> bool:
        """Whether both have the same messages."""
        return self.count_a == self.count_b == self.matched and not self.differing

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "count_a": self.count_a,
            "count_b": self.count_b,
            "matched": self.matched,
            "differing": self.differing,
            "fields": {
                name: {
                    "differing": f.differing,
                    "rms": f.rms(self.matched) if f.numeric else None,
                    "max": f.largest if f.numeric else None,
                }
                for name, f in self.fields.items()
            },
        }


@dataclass(slots=True)
class LogDiff:
    """What `diff` found."""

    first: Difference | None = None
    topics: dict[str, TopicDiff] = field(default_factory=dict)
    reordered: int = 0
    """Stamps at which both have messages on the same topics, but not in the same order."""

    @property
    def same(self) -> bool:
        """Whether both recordings say the same; another order within a stamp does not count."""
        return self.first is None

    def topic(self, name: str) -> TopicDiff:
        """Return the account of a topic."""
        found = self.topics.get(name)
        if found is None:
            found = self.topics[name] = TopicDiff(name)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "same": self.same,
            "first": None if self.first is None else self.first.to_json(),
            "reordered_stamps": self.reordered,
            "topics": {name: topic.to_json() for name, topic in sorted(self.topics.items())},
        }


def diff(rows_a: Iterable[Row], rows_b: Iterable[Row]) -> LogDiff:
    """Compare two streams, each ordered by stamp. Holds the messages of one stamp at a time.

    Messages are matched by topic, stamp and their order on the topic within the stamp. Their
    sequence on the bus does not count: it differs as soon as one more subscriber publishes.
    `stamp_wall_ns` is left out.
    """
    found = LogDiff()
    groups_a, groups_b = _groups(rows_a), _groups(rows_b)
    a, b = next(groups_a, None), next(groups_b, None)
    while a is not None or b is not None:
        if b is None or (a is not None and a[0] < b[0]):
            assert a is not None
            _match(found, a[0], a[1], [])
            a = next(groups_a, None)
        elif a is None or b[0] < a[0]:
            _match(found, b[0], [], b[1])
            b = next(groups_b, None)
        else:
            _match(found, a[0], a[1], b[1])
            a, b = next(groups_a, None), next(groups_b, None)
    return found


def _groups(rows: Iterable[Row]) -> Iterator[tuple[int, list[Row]]]:
    for stamp_ns, group in groupby(rows, key=lambda row: row[1]):
        while part := list(islice(group, _MAX_GROUP)):
            yield stamp_ns, part


def _match(found: LogDiff, stamp_ns: int, rows_a: list[Row], rows_b: list[Row]) -> None:
    """Compare the messages of one stamp."""
    by_topic: dict[str, list[Any]] = {}
    for topic, _, _, message in rows_b:
        by_topic.setdefault(topic, []).append(message)
    for messages in by_topic.values():
        messages.reverse()
    for topic, _, _, message in rows_a:
        account = found.topic(topic)
        account.count_a += 1
        waiting = by_topic.get(topic)
        if waiting:
            account.count_b += 1
            _pair(found, account, stamp_ns, message, waiting.pop())
        else:
            _tell(found, account.topic, stamp_ns, account.count_a - 1, "", message, None)
    for topic, *_ in rows_b:
        waiting = by_topic[topic]
        if waiting:
            account = found.topic(topic)
            account.count_b += 1
            _tell(found, topic, stamp_ns, account.count_b - 1, "", None, waiting.pop())
    order_a, order_b = [row[0] for row in rows_a], [row[0] for row in rows_b]
    if order_a != order_b and sorted(order_a) == sorted(order_b):
        found.reordered += 1


def _pair(found: LogDiff, account: TopicDiff, stamp_ns: int, a: Any, b: Any) -> None:
    account.matched += 1
    if _equal(a, b):
        return
    other = list(differences(a, b))
    if not other:
        return
    account.differing += 1
    for item in other:
        statistics = account.fields.setdefault(item.field, FieldStatistics())
        statistics.differing += 1
        if item.squares is not None:
            statistics.numeric = True
            statistics.squares += item.squares if math.isfinite(item.squares) else 0.0
            statistics.elements = max(statistics.elements, item.elements)
            if math.isfinite(item.largest):
                statistics.largest = max(statistics.largest, item.largest)
    first = other[0]
    index = account.count_a - 1
    _tell(found, account.topic, stamp_ns, index, first.path, first.a, first.b)


def _equal(a: Any, b: Any) -> bool:
    try:
        return canonical_bytes(a) == canonical_bytes(b)
    except TypeError:  # opaque objects in extensions
        return False


def _tell(found: LogDiff, topic: str, stamp_ns: int, index: int, path: str, a: Any, b: Any) -> None:
    if found.first is None:
        if not path:
            a, b = (("(no message)" if x is None else type(x).__name__) for x in (a, b))
            found.first = Difference(topic, stamp_ns, index, "", a, b)
        else:
            found.first = Difference(topic, stamp_ns, index, path, show(a), show(b))
