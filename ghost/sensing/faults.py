"""Which scenario faults act on one sensor now (D20).

A fault acts on captures at `at_ns <= T < at_ns + for_ns`; with `for_ns` 0, until the run ends.
"""

from __future__ import annotations

from collections.abc import Iterable

from ghost.core import FaultSpec

__all__ = ["NEVER_NS", "SPIKE_EVERY", "FaultSchedule"]

NEVER_NS = 2**63 - 1
"""A time that no clock reaches."""

SPIKE_EVERY = 10
"""A spike hits the first sample captured during the fault and every tenth after it."""


class FaultSchedule:
    """The faults of one sensor along the run; `advance` moves it to a step's time.

    Faults of different kinds add up, and so do several of one kind: offsets and delays are summed,
    the largest of the lost fractions counts.
    """

    __slots__ = (
        "_active",
        "_edges",
        "_next",
        "any_active",
        "bias",
        "delay_ns",
        "drop_ratio",
        "freeze",
        "nan",
        "next_edge_ns",
        "offline",
        "spikes",
    )

    def __init__(self, faults: Iterable[FaultSpec]) -> None:
        edges: list[tuple[int, int, bool, FaultSpec]] = []
        ordered = sorted(faults, key=lambda f: (f.at_ns, f.kind, f.for_ns, f.value or 0.0))
        for number, fault in enumerate(ordered):
            edges.append((fault.at_ns, number, True, fault))
            if fault.for_ns:
                edges.append((fault.at_ns + fault.for_ns, number, False, fault))
        # At one time, what ends comes before what begins.
        self._edges = sorted(edges, key=lambda edge: (edge[0], edge[2], edge[1]))
        self._next = 0
        self._active: dict[int, tuple[FaultSpec, int]] = {}
        self.next_edge_ns = self._edges[0][0] if self._edges else NEVER_NS
        self._recompute()

    def advance(self, now_ns: int, next_k: int) -> list[tuple[FaultSpec, bool]]:
        """Move to `now_ns`; return what began (True) and ended (False) since, in order.

        `next_k` is the index of the sensor's next sample, from which spikes are counted.
        """
        changes: list[tuple[FaultSpec, bool]] = []
        while self._next < len(self._edges) and self._edges[self._next][0] <= now_ns:
            _, number, begins, fault = self._edges[self._next]
            self._next += 1
            if begins:
                self._active[number] = (fault, next_k)
            else:
                del self._active[number]
            changes.append((fault, begins))
        done = self._next == len(self._edges)
        self.next_edge_ns = NEVER_NS if done else self._edges[self._next][0]
        self._recompute()
        return changes

    def spike(self, k: int) -> float:
        """The sum of the spikes that hit sample `k`; 0 for most."""
        return sum((value for first, value in self.spikes if (k - first) % SPIKE_EVERY == 0), 0.0)

    def _recompute(self) -> None:
        active = [self._active[number] for number in sorted(self._active)]

        def values(kind: str) -> list[float]:
            return [f.value for f, _ in active if f.kind == kind and f.value is not None]

        self.any_active = bool(active)
        self.offline = any(f.kind == "offline" for f, _ in active)
        self.freeze = any(f.kind == "freeze" for f, _ in active)
        self.nan = any(f.kind == "nan" for f, _ in active)
        self.bias = sum(values("bias"), 0.0)
        self.drop_ratio = max(values("drop"), default=0.0)
        self.delay_ns = sum(round(value) for value in values("delay"))
        self.spikes = [
            (first, f.value) for f, first in active if f.kind == "spike" and f.value is not None
        ]
