"""The min-heap behind `SteppedClock` (clock spec §5, D2, D3, D4).

A heap entry is the tuple `(at_ns, order, item)`. `order` is unique and grows with every insertion,
so equal times fire first in, first out and `item` is never compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace

__all__ = ["Handle", "Item", "Scheduler"]

Callback = Callable[[], None]
Entry = tuple[int, int, "Item"]

# A purge after fewer insertions costs more than the memory is worth.
_PURGE_FROM = 256


@dataclass(frozen=True, slots=True)
class Handle:
    """A registration with the scheduler.

    `cancel()` may be called at any time, from the callback itself, and more than once; it never
    raises (clock spec §3.6).
    """

    cancel: Callable[[], None]


class Item(Handle):
    """One registration, a one-shot, and its own handle.

    `callback` is None once it was cancelled or has run. It is a `Handle` itself because a second
    object per registration would cost a one-shot a third of its speed.
    """

    __slots__ = ("callback",)

    # Those of the frozen base would refuse the bookkeeping, and compare by `cancel`.
    __setattr__ = object.__setattr__
    __delattr__ = object.__delattr__
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self, callback: Callback) -> None:
        self.callback: Callback | None = callback

    def cancel(self) -> None:
        """Never fire (again). Safe at any time, from the callback itself, and twice."""
        self.callback = None  # lets go of what the callback holds, at once


class Periodic(Item):
    """A registration on the grid `phase_ns + k·period_ns`; `k` is that of the entry in the heap."""

    __slots__ = ("k", "period_ns", "phase_ns")

    def __init__(self, callback: Callback, period_ns: int, phase_ns: int, k: int) -> None:
        super().__init__(callback)
        self.period_ns = period_ns
        self.phase_ns = phase_ns
        self.k = k


class Scheduler:
    """A heap of callbacks and the time `now_ns` that they drive.

    One thread owns it. Another thread may only cancel.
    """

    __slots__ = ("_failed", "_heap", "_order", "_purge_at", "now_ns", "running")

    def __init__(self, start_ns: int, failed: Callable[[Callback, int, Exception], None]) -> None:
        """`failed(callback, at_ns, error)` is told of each callback that raised."""
        self.now_ns = start_ns
        self._failed = failed
        self._heap: list[Entry] = []
        self._order = 0
        self._purge_at = _PURGE_FROM
        self.running = False

    def __len__(self) -> int:
        """How many entries the heap holds, cancelled ones that were not purged yet included."""
        return len(self._heap)

    def add_periodic(self, period_ns: int, callback: Callback, phase_ns: int) -> Handle:
        """Insert a callback on the grid `phase + k·period`, first at a grid time `>= now_ns`."""
        k = max(0, -((phase_ns - self.now_ns) // period_ns))  # rounded up, in integers
        item = Periodic(callback, period_ns, phase_ns, k)
        self._order = order = self._order + 1
        heappush(self._heap, (phase_ns + k * period_ns, order, item))
        return item

    def add(self, at_ns: int, callback: Callback) -> Handle:
        """Insert a one-shot, to fire at `at_ns`. The caller has checked that `at_ns >= now_ns`."""
        self._order = order = self._order + 1
        item = Item(callback)
        heappush(self._heap, (at_ns, order, item))
        if order >= self._purge_at:
            self._purge()
        return item

    def run_before(self, end_ns: int) -> None:
        """Fire everything whose time is `< end_ns`, in order, moving `now_ns` along.

        The caller keeps `running` True meanwhile. `now_ns` is left at the last callback's time. A
        `BaseException` that is no `Exception` passes through; its entry counts as fired.
        """
        heap = self._heap
        # Not `while heap`: in CPython 3.11 only an unconditional jump back warms up a function
        # that is called once and loops for long, and this halves its speed.
        while True:
            if not heap:
                break
            # The entry stays on top while its callback runs: whatever is inserted meanwhile
            # has a later (time, order). So a periodic costs one heapreplace, not a pop and a
            # push, and is still re-inserted after its callback ran (D3).
            at_ns, _, item = heap[0]
            if at_ns >= end_ns:
                break
            callback = item.callback
            if callback is None:
                heappop(heap)
                continue
            self.now_ns = at_ns
            raised: BaseException | None = None
            try:
                callback()
            except BaseException as error:  # noqa: BLE001 - raised again or reported, below
                raised = error
            if type(item) is Periodic and item.callback is not None:
                # From k, never from the last time (D2).
                item.k = k = item.k + 1
                self._order = order = self._order + 1
                heapreplace(heap, (item.phase_ns + k * item.period_ns, order, item))
            else:
                heappop(heap)
                item.callback = None
            if raised is not None:
                if not isinstance(raised, Exception):
                    raise raised
                self._failed(callback, at_ns, raised)

    def _purge(self) -> None:
        """Drop cancelled entries; the next purge comes after as many insertions as entries stay.

        So the cost is amortised, and cancelled entries never outnumber the living for long.
        """
        heap = self._heap
        top = heap[0] if self.running else None  # its callback may be running: it stays in place
        heap[:] = [entry for entry in heap if entry[2].callback is not None or entry is top]
        heapify(heap)
        self._purge_at = self._order + max(_PURGE_FROM, len(heap))
