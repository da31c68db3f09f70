"""Periodic work on a clock that runs by itself: a thread on a drift-free grid (clock spec §8.3)."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ghost.core.clock import HostClock, HostTime, SystemClock
from ghost.core.events import Event, EventSeverity, EventType
from ghost.core.failures import EventSink, callback_failed, callback_name, emit
from ghost.core.ns import as_ns

__all__ = ["PeriodicThread", "schedule_periodic_thread"]

# A sleeping thread looks this often whether it was told to stop.
_LOOK_EVERY_NS = 50_000_000


class PeriodicThread:
    """A running periodic; made by `schedule_periodic_thread`. Also a context manager.

    `firings` counts the calls, `overruns` the grid times that were skipped because a call, or the
    machine, took too long.
    """

    def __init__(
        self,
        period_ns: int,
        cb: Callable[[], None],
        clock: SystemClock,
        host: HostTime,
        phase_ns: int,
        on_event: EventSink | None,
    ) -> None:
        self.firings = 0
        self.overruns = 0
        self._period_ns = period_ns
        self._phase_ns = phase_ns
        self._callback = cb
        self._name = callback_name(cb)
        self._clock = clock
        self._host = host
        self._on_event = on_event
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name=f"ghost-periodic-{self._name}", daemon=True
        )
        self._thread.start()

    def __enter__(self) -> PeriodicThread:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def cancel(self) -> None:
        """Ask the thread to end and return at once. Safe at any time and twice, like `Handle`."""
        self._stop.set()

    def stop(self, timeout: float | None = None) -> bool:
        """End the thread and wait for it, at most `timeout` seconds. Idempotent.

        Returns whether the thread has ended. From inside the callback it cannot wait for itself:
        it returns False and the thread ends after the callback.
        """
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        k = self._next_k(self._clock.now_ns())
        while self._wait_until(self._phase_ns + k * self._period_ns):
            self.firings += 1
            try:
                self._callback()
            except Exception as error:  # noqa: BLE001 - D4: any failure becomes an event
                failure = callback_failed("periodic", self._name, self._clock.now_ns(), error)
                emit(failure, self._on_event)
            # Always from the grid, so that a late call delays itself and nothing after it.
            now_ns = self._clock.now_ns()
            due_k = max(k + 1, self._next_k(now_ns))
            if due_k > k + 1:
                self._report_overrun(k, due_k - k - 1, now_ns)
            k = due_k

    def _next_k(self, now_ns: int) -> int:
        """Return the k of the first grid time `>= now_ns` (D2)."""
        return max(0, -((self._phase_ns - now_ns) // self._period_ns))

    def _wait_until(self, at_ns: int) -> bool:
        """Sleep until the clock shows `at_ns`; return False if the thread is to end instead."""
        # The clock need not run at the host's pace (a paused simulator), hence short sleeps.
        while not self._stop.is_set():
            left_ns = at_ns - self._clock.now_ns()
            if left_ns <= 0:
                return True
            self._host.sleep_until_ns(self._host.now_ns() + min(left_ns, _LOOK_EVERY_NS))
        return False

    def _report_overrun(self, k: int, skipped: int, now_ns: int) -> None:
        self.overruns += skipped
        grid_ns = self._phase_ns + k * self._period_ns
        emit(
            Event(
                type=EventType.SCHEDULER_OVERRUN,
                stamp_sim_ns=now_ns,
                severity=EventSeverity.WARN,
                source="periodic",
                message=f"{self._name} ended {now_ns - grid_ns} ns after its time with a period "
                f"of {self._period_ns} ns; {skipped} firing(s) skipped",
                payload={
                    "callback": self._name,
                    "grid_ns": grid_ns,
                    "late_ns": now_ns - grid_ns,
                    "skipped": skipped,
                    "overruns": self.overruns,
                },
            ),
            self._on_event,
        )


def schedule_periodic_thread(
    period_ns: int,
    cb: Callable[[], None],
    clock: SystemClock,
    *,
    phase_ns: int = 0,
    on_event: EventSink | None = None,
    host: HostTime | None = None,
) -> PeriodicThread:
    """Call `cb` in a thread of its own at the times `phase_ns + k·period_ns` of `clock`.

    The grid never drifts. Grid times that pass while `cb` still runs are skipped, counted and
    reported as `Event(SCHEDULER_OVERRUN)`; an `Exception` of `cb` becomes
    `Event(SCHEDULER_CALLBACK_FAILED)` and the loop goes on. Events go to `on_event`, in that
    thread, or to the log. `host` is what sleeps; by default a `HostClock`.

    Raises `TypeError` if a time is no integer or `cb` not callable, `ValueError` if the period is
    not positive.
    """
    period_ns = as_ns("period_ns", period_ns, minimum=1)
    phase_ns = as_ns("phase_ns", phase_ns)
    if not callable(cb):
        raise TypeError(f"cb must be callable, got {cb!r}")
    return PeriodicThread(period_ns, cb, clock, host or HostClock(), phase_ns, on_event)
