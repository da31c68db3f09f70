"""Time: the protocols of the clock spec (§2), the simulated clock, the host's clock, the throttle.

`HostClock` is the only class of Ghost that reads the clock of the machine (D8).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Protocol

from ghost.core.errors import ContractViolation
from ghost.core.failures import EventSink, callback_failed, callback_name, emit
from ghost.core.ns import as_ns
from ghost.core.random import RandomSource, RandomStream
from ghost.core.scheduler import Handle, Scheduler

__all__ = ["Handle", "HostClock", "HostTime", "SimClock", "SteppedClock", "SystemClock", "Throttle"]


_LONGEST_SLEEP_S = 86_400.0  # `time.sleep` overflows at 292 years
_SLOWEST_RTF = 1e-3


class SimClock(Protocol):
    """A clock that moves only when its owner, a simulation backend, says so (clock spec §2)."""

    def now_ns(self) -> int:
        """Return the simulated time in ns; it never goes back."""

    def step_ns(self) -> int:
        """Return the step of the backend in ns (D6)."""

    def advance(self, dt_ns: int) -> None:
        """Move time on by `dt_ns`, firing what falls due. Only the backend calls this."""

    def schedule(self, at_ns: int, cb: Callable[[], None]) -> Handle:
        """Fire `cb` once at `at_ns`."""

    def schedule_periodic(
        self, period_ns: int, cb: Callable[[], None], phase_ns: int = 0
    ) -> Handle:
        """Fire `cb` at the times `phase_ns + k·period_ns`."""

    def random_source(self) -> RandomSource:
        """Return the root of the random tree of this run."""


class SystemClock(Protocol):
    """A clock that runs by itself: hardware, or a free-running simulator (clock spec §2)."""

    def now_ns(self) -> int:
        """Return the time in ns; it never goes back."""

    def random_source(self) -> RandomSource:
        """Return the root of the random tree of this run."""


class HostTime(Protocol):
    """What waits: the face of `HostClock` that loops use and that a test can imitate."""

    def now_ns(self) -> int:
        """Return the time in ns; it never goes back."""

    def sleep_until_ns(self, at_ns: int) -> None:
        """Return when `now_ns() >= at_ns`, at once if it already is."""


class SteppedClock:
    """The `SimClock`: integer time, a min-heap of callbacks, one order (clock spec §3, §5).

    `advance(dt_ns)` runs the callbacks due before `now + dt_ns`, each at its own time; moves to
    that target; calls `arrive()`, where a backend samples its sensors; then runs the callbacks due
    at the target itself. So a controller that ticks at T sees the samples stamped T. Without
    `arrive` this is the flow of clock spec §5 to the letter.

    Equal times fire in the order of insertion, and a periodic is inserted again after its callback
    ran (D3). With periods 2 and 3 registered in that order, both at phase 0, time 0 fires (2, 3)
    and time 6 fires (3, 2): the one of period 3 was put back at time 3, the other at time 4.

    A callback that raises an `Exception` becomes `Event(SCHEDULER_CALLBACK_FAILED)`, given to
    `on_event`, and the rest goes on; without `on_event` it is logged. A `BaseException` (Ctrl-C)
    passes through, leaves the clock at the callback's time, and a later `advance` carries on (D4).

    A callback that keeps scheduling for the present keeps the present from ending: clock spec §5
    runs everything due within the same `advance`.

    Args:
        step_ns: the step of the scenario, > 0 (D6). The clock itself advances by any `dt_ns >= 0`.
        seed: the seed of `random_source()`.
        start_ns: the time to begin with.
        on_event: told of failures; usually publishes on `/events`.
        arrive: called once in each `advance`, with the clock at the target. What it raises
            passes through to the caller of `advance`.
    """

    __slots__ = ("_arrive", "_on_event", "_random", "_scheduler", "_step_ns")

    def __init__(
        self,
        step_ns: int,
        *,
        seed: int = 0,
        start_ns: int = 0,
        on_event: EventSink | None = None,
        arrive: Callable[[], None] | None = None,
    ) -> None:
        self._step_ns = as_ns("step_ns", step_ns, minimum=1)
        self._random = RandomStream(seed)
        self._on_event = on_event
        self._arrive = arrive
        self._scheduler = Scheduler(as_ns("start_ns", start_ns), self._callback_failed)

    def now_ns(self) -> int:
        """Return the simulated time in ns; it never goes back."""
        return self._scheduler.now_ns

    def step_ns(self) -> int:
        """Return the step of the scenario in ns."""
        return self._step_ns

    def advance(self, dt_ns: int) -> None:
        """Move time on by `dt_ns` and fire what falls due; `advance(0)` fires what is due now.

        Raises `TypeError` for a `dt_ns` that is no integer, `ValueError` if it is negative, and
        `ContractViolation` from inside a callback or `arrive`.
        """
        if type(dt_ns) is not int:
            dt_ns = as_ns("dt_ns", dt_ns)
        if dt_ns < 0:
            raise ValueError(f"dt_ns must not be negative, got {dt_ns}")
        scheduler = self._scheduler
        if scheduler.running:
            raise ContractViolation(
                "advance() was called while the clock is advancing (from a callback or arrive); "
                "use schedule() to do something later"
            )
        target_ns = scheduler.now_ns + dt_ns
        scheduler.running = True
        try:
            if self._arrive is not None:
                scheduler.run_before(target_ns)
                scheduler.now_ns = target_ns
                self._arrive()
            scheduler.run_before(target_ns + 1)
            scheduler.now_ns = target_ns
        finally:
            scheduler.running = False

    def schedule(self, at_ns: int, cb: Callable[[], None]) -> Handle:
        """Fire `cb` once at `at_ns`.

        `at_ns` may be the present: then it fires in the next `advance`, or in the running one if
        called from a callback.

        Raises `TypeError` if `at_ns` is no integer or `cb` not callable, `ValueError` if `at_ns`
        is in the past.
        """
        scheduler = self._scheduler
        if type(at_ns) is not int:
            at_ns = as_ns("at_ns", at_ns)
        if at_ns < scheduler.now_ns:
            raise ValueError(f"at_ns {at_ns} is in the past, the clock is at {scheduler.now_ns}")
        if not callable(cb):
            raise TypeError(f"cb must be callable, got {cb!r}")
        return scheduler.add(at_ns, cb)

    def schedule_periodic(
        self, period_ns: int, cb: Callable[[], None], phase_ns: int = 0
    ) -> Handle:
        """Fire `cb` at `phase_ns + k·period_ns`, k = 0, 1, …, from the first time `>= now` (D2).

        Raises `TypeError` if a time is no integer or `cb` not callable, `ValueError` if the period
        is not positive.
        """
        period_ns = as_ns("period_ns", period_ns, minimum=1)
        phase_ns = as_ns("phase_ns", phase_ns)
        if not callable(cb):
            raise TypeError(f"cb must be callable, got {cb!r}")
        return self._scheduler.add_periodic(period_ns, cb, phase_ns)

    def random_source(self) -> RandomStream:
        """Return the root of the random tree; take a `child` of it, one per purpose."""
        return self._random

    def _callback_failed(self, callback: Callable[[], None], at_ns: int, error: Exception) -> None:
        emit(callback_failed("scheduler", callback_name(callback), at_ns, error), self._on_event)


class HostClock:
    """The `SystemClock` of the machine Ghost runs on, and the only reader of its clocks (D8).

    `seed` is that of `random_source()`: on hardware, too, chance comes from the scenario's seed.
    """

    __slots__ = ("_random",)

    def __init__(self, *, seed: int = 0) -> None:
        self._random = RandomStream(seed)

    def now_ns(self) -> int:
        """Return the monotonic time in ns; its zero is arbitrary."""
        return time.monotonic_ns()

    def wall_ns(self) -> int:
        """Return ns since the Unix epoch, for `stamp_wall_ns`. It may jump."""
        return time.time_ns()

    def sleep_until_ns(self, at_ns: int) -> None:
        """Return when `now_ns() >= at_ns`, at once if it already is."""
        while (left_ns := at_ns - time.monotonic_ns()) > 0:
            time.sleep(min(left_ns / 1e9, _LONGEST_SLEEP_S))

    def random_source(self) -> RandomStream:
        """Return the root of the random tree."""
        return self._random


class Throttle:
    """Holds a simulation back to `rtf` times real time by sleeping between steps (D7).

    It reads no simulation state and changes none, so results are those of an unthrottled run.
    A world that falls behind catches up, but by `max_lag_ns` at most: after a longer stall the
    schedule starts anew, rather than racing through what was missed.

    Raises `TypeError` if `rtf` is no number, `ValueError` if it is NaN or below 0.001.
    """

    __slots__ = ("_host", "_max_lag_ns", "_rtf", "_start_host_ns", "_start_sim_ns")

    def __init__(self, rtf: float, host: HostTime, *, max_lag_ns: int = 200_000_000) -> None:
        if isinstance(rtf, bool) or not isinstance(rtf, (int, float)):
            raise TypeError(f"rtf must be a number, got {rtf!r}")
        if math.isnan(rtf) or rtf <= 0:
            raise ValueError(f"rtf must be greater than 0, got {rtf!r}")
        if rtf < _SLOWEST_RTF:
            raise ValueError(f"rtf must be at least {_SLOWEST_RTF:g}, got {rtf!r}")
        self._rtf = rtf
        self._host = host
        self._max_lag_ns = as_ns("max_lag_ns", max_lag_ns, minimum=0)
        self._start_sim_ns: int | None = None
        self._start_host_ns = 0

    def wait(self, sim_ns: int) -> None:
        """Sleep until the host's time for `sim_ns` has come. The first call sets the origin.

        Call it between steps. A `sim_ns` that went back (a reset) sets a new origin.
        """
        sim_ns = as_ns("sim_ns", sim_ns)
        now_ns = self._host.now_ns()
        if self._start_sim_ns is None or sim_ns < self._start_sim_ns:
            self._restart(sim_ns, now_ns)
            return
        due_ns = self._start_host_ns + round((sim_ns - self._start_sim_ns) / self._rtf)
        if now_ns - due_ns > self._max_lag_ns:
            self._restart(sim_ns, now_ns)
        else:
            self._host.sleep_until_ns(due_ns)

    def _restart(self, sim_ns: int, host_ns: int) -> None:
        self._start_sim_ns = sim_ns
        self._start_host_ns = host_ns
