"""Counts of what was seen and ignored, by reason."""

from __future__ import annotations

import threading
from collections import Counter

__all__ = ["Counters"]


class Counters:
    """A counter for each reason; any thread may count."""

    __slots__ = ("_counts", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def count(self, reason: str, by: int = 1) -> None:
        """Add to the count of `reason`."""
        with self._lock:
            self._counts[reason] += by

    def snapshot(self) -> dict[str, int]:
        """Return a copy of all counts, sorted by reason."""
        with self._lock:
            return dict(sorted(self._counts.items()))
