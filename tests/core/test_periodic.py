"""Hardware loops, on a host whose time is ours (clock spec §8.3)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Protocol

import pytest

from ghost.core import (
    Event,
    EventType,
    HostTime,
    PeriodicThread,
    RandomStream,
    SystemClock,
    schedule_periodic_thread,
)

MS = 1_000_000


class Host(HostTime, SystemClock, Protocol):
    time_ns: int
    slept_until: list[int]

    def work(self, for_ns: int) -> None: ...


def run(
    host: Host,
    firings: int,
    body: Callable[[int], None] = lambda _: None,
    *,
    period_ns: int = 10 * MS,
    phase_ns: int = 0,
    on_event: Callable[[Event], None] | None = None,
) -> tuple[list[int], PeriodicThread]:
    """Let a periodic thread fire `firings` times; return its times. No wall clock is involved."""
    times: list[int] = []
    ready = threading.Event()

    def tick() -> None:
        ready.wait(10)
        times.append(host.now_ns())
        if len(times) == firings:
            thread.cancel()
        body(len(times) - 1)

    thread = schedule_periodic_thread(
        period_ns, tick, host, phase_ns=phase_ns, on_event=on_event, host=host
    )
    ready.set()  # `thread` is bound now
    thread._thread.join(10)
    assert thread.stop(10)
    return times, thread


def test_it_fires_on_the_grid_whatever_the_callback_takes(host: Host) -> None:
    times, thread = run(host, 100, lambda i: host.work(i % 9 * MS), phase_ns=3)
    assert times == [3 + k * 10 * MS for k in range(1, 101)]
    assert (thread.firings, thread.overruns) == (100, 0)


def test_a_late_wake_up_does_not_shift_the_grid(host: Host) -> None:
    exact = host.sleep_until_ns

    def late(at_ns: int) -> None:
        exact(at_ns + 60_000)

    host.sleep_until_ns = late  # type: ignore[method-assign]  # a scheduler with jitter
    times, thread = run(host, 50)
    assert times == [10 * MS * k + 60_000 for k in range(1, 51)]
    assert thread.overruns == 0


def test_an_overrun_skips_grid_times_and_is_reported(host: Host) -> None:
    events: list[Event] = []
    times, thread = run(
        host, 4, lambda i: host.work(35 * MS if i == 1 else 0), on_event=events.append
    )
    assert [t // MS for t in times] == [10, 20, 60, 70]
    assert thread.overruns == 3
    (event,) = events
    assert event.type is EventType.SCHEDULER_OVERRUN
    assert event.stamp_sim_ns == 55 * MS
    assert event.payload["grid_ns"] == 20 * MS
    assert event.payload["late_ns"] == 35 * MS
    assert event.payload["skipped"] == 3
    assert event.payload["overruns"] == 3


def test_an_end_exactly_on_the_grid_is_no_overrun(host: Host) -> None:
    events: list[Event] = []
    times, thread = run(host, 5, lambda _: host.work(10 * MS), on_event=events.append)
    assert [t // MS for t in times] == [10, 20, 30, 40, 50]
    assert events == []
    assert thread.overruns == 0


def test_an_exception_becomes_an_event_and_the_loop_goes_on(host: Host) -> None:
    events: list[Event] = []

    def body(i: int) -> None:
        if i == 1:
            raise RuntimeError("link lost")

    times, _ = run(host, 4, body, on_event=events.append)
    assert len(times) == 4
    (event,) = events
    assert event.type is EventType.SCHEDULER_CALLBACK_FAILED
    assert event.source == "periodic"
    assert "link lost" in str(event.payload["traceback"])


def test_without_a_listener_it_is_logged(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    def body(_: int) -> None:
        raise RuntimeError("link lost")

    with caplog.at_level(logging.ERROR, logger="ghost.core"):
        run(host, 1, body)
    assert "link lost" in caplog.text


def test_a_clock_that_stands_still_is_waited_for(host: Host) -> None:
    class Paused:
        """A simulator that is paused for the first five looks."""

        looks = 0

        def now_ns(self) -> int:
            self.looks += 1
            return 1 if self.looks < 5 else 10 * MS

        def random_source(self) -> RandomStream:
            return RandomStream(0)

    fired: list[int] = []
    bound = threading.Event()

    def tick() -> None:
        bound.wait(10)
        fired.append(clock.looks)
        thread.cancel()

    clock = Paused()
    thread = schedule_periodic_thread(10 * MS, tick, clock, host=host)
    bound.set()
    thread._thread.join(10)
    assert fired == [5]
    assert len(host.slept_until) == 3


def test_a_long_sleep_is_cut_up_so_that_stop_is_heard(host: Host) -> None:
    run(host, 1, period_ns=1_000 * MS)
    assert len(host.slept_until) == 20
    steps = [b - a for a, b in zip(host.slept_until, host.slept_until[1:], strict=False)]
    assert max(steps) <= 50 * MS


def test_stop_is_idempotent_also_from_inside(host: Host) -> None:
    answers: list[bool] = []
    times, thread = run(host, 3, lambda i: answers.append(thread_of().stop()) if i == 2 else None)
    del times
    assert answers == [False]
    assert thread.stop()
    assert thread.stop(0)
    thread.cancel()


def thread_of() -> PeriodicThread:
    """Return the periodic whose thread we are in."""
    target = threading.current_thread()._target  # type: ignore[attr-defined]  # private of threading
    owner = target.__self__
    assert isinstance(owner, PeriodicThread)
    return owner


def test_as_a_context_manager_with_the_real_host() -> None:
    from ghost.core import HostClock

    fired = threading.Event()
    with schedule_periodic_thread(MS, fired.set, HostClock()) as thread:
        assert fired.wait(10)
    assert thread.stop(0)
    assert thread.firings >= 1


def test_wrong_arguments(host: Host) -> None:
    with pytest.raises(TypeError, match="period_ns must be an integer"):
        schedule_periodic_thread(1e6, lambda: None, host)  # type: ignore[arg-type]  # the point
    with pytest.raises(ValueError, match="period_ns must be at least 1"):
        schedule_periodic_thread(0, lambda: None, host)
    with pytest.raises(TypeError, match="phase_ns must be an integer"):
        schedule_periodic_thread(1, lambda: None, host, phase_ns=0.5)  # type: ignore[arg-type]  # same
    with pytest.raises(TypeError, match="cb must be callable"):
        schedule_periodic_thread(1, None, host)  # type: ignore[arg-type]  # the point
