"""SteppedClock: time, the grid of periodics, ties, cancellation (clock spec §3 and §5, D1–D3)."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.core import ContractViolation, Handle, RandomStream, SimClock, SteppedClock

Log = list[tuple[int, str]]


def nothing() -> None:
    """Be a callback."""


def note(clock: SteppedClock, log: Log, name: str) -> Callable[[], None]:
    return lambda: log.append((clock.now_ns(), name))


def test_it_is_a_sim_clock() -> None:
    def step_of(clock: SimClock) -> int:
        return clock.step_ns()

    clock = SteppedClock(1_000_000, seed=9, start_ns=5)
    assert step_of(clock) == 1_000_000
    assert clock.now_ns() == 5
    assert isinstance(clock.random_source(), RandomStream)
    assert clock.random_source().seed == 9
    assert clock.random_source() is clock.random_source()


def test_advance_goes_to_the_target_exactly() -> None:
    clock = SteppedClock(3)
    for _ in range(1000):
        clock.advance(1)
    assert clock.now_ns() == 1000
    clock.advance(np.int64(7))  # type: ignore[arg-type]  # any integer will do (D1)
    assert clock.now_ns() == 1007
    assert type(clock.now_ns()) is int


@pytest.mark.parametrize("bad", [1.0, True, "1", None, np.float64(2.0)])
def test_no_float_is_a_time(bad: object) -> None:
    clock = SteppedClock(1)
    calls: list[tuple[str, Callable[[], object]]] = [
        ("dt_ns", lambda: clock.advance(bad)),  # type: ignore[arg-type]  # the point
        ("at_ns", lambda: clock.schedule(bad, nothing)),  # type: ignore[arg-type]  # the point
        ("period_ns", lambda: clock.schedule_periodic(bad, nothing)),  # type: ignore[arg-type]  # same
        ("phase_ns", lambda: clock.schedule_periodic(1, nothing, bad)),  # type: ignore[arg-type]  # same
        ("step_ns", lambda: SteppedClock(bad)),  # type: ignore[arg-type]  # the point
        ("start_ns", lambda: SteppedClock(1, start_ns=bad)),  # type: ignore[arg-type]  # same
    ]
    for name, call in calls:
        with pytest.raises(TypeError, match=f"{name} must be an integer"):
            call()
    assert clock.now_ns() == 0


def test_values_out_of_range() -> None:
    clock = SteppedClock(1, start_ns=10)
    with pytest.raises(ValueError, match="dt_ns must not be negative, got -1"):
        clock.advance(-1)
    with pytest.raises(ValueError, match="at_ns 9 is in the past, the clock is at 10"):
        clock.schedule(9, nothing)
    for period in (0, -5):
        with pytest.raises(ValueError, match="period_ns must be at least 1"):
            clock.schedule_periodic(period, nothing)
    with pytest.raises(ValueError, match="step_ns must be at least 1"):
        SteppedClock(0)
    for register in (clock.schedule, clock.schedule_periodic):
        with pytest.raises(TypeError, match="cb must be callable"):
            register(20, None)  # type: ignore[arg-type]  # the point of the test
    clock.advance(100)
    assert clock.now_ns() == 110


@given(
    start=st.integers(0, 50),
    period=st.integers(1, 20),
    phase=st.integers(-30, 60),
    steps=st.lists(st.integers(0, 17), max_size=20),
)
def test_a_periodic_fires_on_its_grid_and_nowhere_else(
    start: int, period: int, phase: int, steps: list[int]
) -> None:
    clock = SteppedClock(1, start_ns=start)
    fired: list[int] = []
    clock.schedule_periodic(period, lambda: fired.append(clock.now_ns()), phase)
    for dt in steps:
        clock.advance(dt)
    end = clock.now_ns()
    grid = range(phase, end + 1, period)
    assert fired == [t for t in grid if t >= start and steps]


def test_a_grid_of_an_hour_does_not_drift() -> None:
    clock = SteppedClock(1)
    period = 33_333_333
    fired: list[int] = []
    clock.schedule_periodic(period, lambda: fired.append(clock.now_ns()), 7)
    clock.advance(3_600_000_000_000)
    assert fired[-1] == 7 + (len(fired) - 1) * period
    assert len(fired) == (3_600_000_000_000 - 7) // period + 1


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(0, 8)), min_size=1, max_size=5),
    st.lists(st.integers(0, 30), max_size=8),
    st.lists(st.integers(1, 10), min_size=1, max_size=10),
)
@settings(deadline=None)
def test_the_order_is_that_of_the_specifications_flow(
    periodics: list[tuple[int, int]], shots: list[int], steps: list[int]
) -> None:
    """Compares with the pseudo-flow of clock spec §5, written down as naively as it stands."""
    clock = SteppedClock(1)
    log: Log = []
    heap: list[tuple[int, int, str, int]] = []  # at, insertion, name, period
    for i, (period, phase) in enumerate(periodics):
        clock.schedule_periodic(period, note(clock, log, f"p{i}"), phase)
        heap.append((phase, len(heap), f"p{i}", period))
    for i, at in enumerate(shots):
        clock.schedule(at, note(clock, log, f"s{i}"))
        heap.append((at, len(heap), f"s{i}", 0))
    inserted, now, expected = len(heap), 0, []
    for dt in steps:
        clock.advance(dt)
        target = now + dt
        while heap and min(heap)[0] <= target:
            at, _, name, period = min(heap)
            heap.remove(min(heap))
            expected.append((at, name))
            if period:
                heap.append((at + period, inserted, name, period))
                inserted += 1
        now = target
    assert log == expected
    assert [at for at, _ in log] == sorted(at for at, _ in log)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12))
def test_cutting_an_advance_into_pieces_changes_nothing(pieces: list[int]) -> None:
    def run(steps: list[int]) -> Log:
        clock = SteppedClock(1)
        log: Log = []
        clock.schedule_periodic(2, note(clock, log, "two"))
        clock.schedule_periodic(3, note(clock, log, "three"))
        clock.schedule_periodic(3, note(clock, log, "late"), 1)
        for dt in steps:
            clock.advance(dt)
        return log

    assert run(pieces) == run([sum(pieces)])


def test_ties_fire_first_in_first_out_and_a_periodic_goes_to_the_back() -> None:
    clock = SteppedClock(1)
    log: Log = []
    clock.schedule_periodic(2, note(clock, log, "two"))
    clock.schedule_periodic(3, note(clock, log, "three"))
    clock.advance(6)
    assert log[:2] == [(0, "two"), (0, "three")]
    assert log[-2:] == [(6, "three"), (6, "two")]


def test_what_a_callback_schedules_runs_in_the_same_advance_if_due() -> None:
    clock = SteppedClock(1)
    log: Log = []

    def first() -> None:
        log.append((clock.now_ns(), "first"))
        clock.schedule(clock.now_ns(), note(clock, log, "now"))
        clock.schedule(clock.now_ns() + 3, note(clock, log, "soon"))
        clock.schedule(11, note(clock, log, "later"))
        clock.schedule_periodic(4, note(clock, log, "grid"), 2)

    clock.schedule(2, first)
    clock.schedule(2, note(clock, log, "second"))
    clock.advance(10)
    assert log == [
        (2, "first"),
        (2, "second"),
        (2, "now"),
        (2, "grid"),
        (5, "soon"),
        (6, "grid"),
        (10, "grid"),
    ]
    clock.advance(1)
    assert log[-1] == (11, "later")


def test_scheduling_for_now_from_outside_fires_in_the_next_advance() -> None:
    clock = SteppedClock(1, start_ns=5)
    log: Log = []
    clock.schedule(5, note(clock, log, "now"))
    clock.advance(0)
    assert log == [(5, "now")]


def test_arrive_stands_between_the_callbacks_before_and_at_the_target() -> None:
    log: Log = []
    clock: SteppedClock = SteppedClock(10, arrive=lambda: arrive())

    def arrive() -> None:
        log.append((clock.now_ns(), "arrive"))
        if clock.now_ns() == 20:
            clock.schedule(20, note(clock, log, "from arrive"))

    clock.schedule_periodic(5, note(clock, log, "tick"))
    clock.advance(10)
    clock.advance(10)
    assert log == [
        (0, "tick"),
        (5, "tick"),
        (10, "arrive"),
        (10, "tick"),
        (15, "tick"),
        (20, "arrive"),
        (20, "tick"),
        (20, "from arrive"),
    ]


def test_an_error_of_arrive_reaches_the_backend_and_the_clock_goes_on() -> None:
    log: Log = []
    failures = [OSError("server gone")]

    def arrive() -> None:
        if failures:
            raise failures.pop()

    clock = SteppedClock(10, arrive=arrive)
    clock.schedule_periodic(5, note(clock, log, "tick"))
    with pytest.raises(OSError, match="server gone"):
        clock.advance(10)
    assert clock.now_ns() == 10
    clock.advance(10)
    assert log == [(0, "tick"), (5, "tick"), (10, "tick"), (15, "tick"), (20, "tick")]


def test_advance_inside_a_callback_or_arrive_is_a_violation() -> None:
    seen: list[str] = []

    def nested() -> None:
        with pytest.raises(ContractViolation, match="while the clock is advancing"):
            clock.advance(1)
        seen.append("refused")

    clock = SteppedClock(1, arrive=nested)
    clock.schedule(3, nested)
    clock.advance(5)
    assert seen == ["refused", "refused"]
    assert clock.now_ns() == 5


def test_cancel_before_during_after_and_twice() -> None:
    clock = SteppedClock(1)
    log: Log = []
    never = clock.schedule(1, note(clock, log, "never"))
    done = clock.schedule(2, note(clock, log, "done"))

    def once() -> None:
        log.append((clock.now_ns(), "once"))
        itself.cancel()
        neighbour.cancel()

    itself = clock.schedule_periodic(3, once, 3)
    neighbour = clock.schedule(3, note(clock, log, "neighbour"))
    assert isinstance(never, Handle)
    never.cancel()
    never.cancel()
    clock.advance(20)
    for handle in (done, itself, neighbour, never):
        handle.cancel()
    clock.advance(20)
    assert log == [(2, "done"), (3, "once")]


@given(
    st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=200),
    st.randoms(use_true_random=False),
)
def test_cancellation_never_disturbs_the_others(items: list[tuple[int, bool]], rng: object) -> None:
    """Some cancel themselves or others while running; the survivors fire as if alone."""
    del rng
    clock = SteppedClock(1)
    log: Log = []
    handles: list[Handle] = []

    def killer() -> None:
        for handle, (_, doomed) in zip(handles, items, strict=True):
            if doomed:
                handle.cancel()
        # Pushing makes the heap purge itself, here in the middle of a run.
        clock.schedule(clock.now_ns(), lambda: None)

    for i, (period, _) in enumerate(items):
        handles.append(clock.schedule_periodic(period, note(clock, log, str(i)), 6))
    clock.schedule(5, killer)
    clock.advance(20)
    survivors = SteppedClock(1)
    expected: Log = []
    for i, (period, doomed) in enumerate(items):
        if not doomed:
            survivors.schedule_periodic(period, note(survivors, expected, str(i)), 6)
    survivors.advance(20)
    assert log == expected


def test_a_purge_while_the_cancelled_callback_still_runs_takes_nobody_elses_place() -> None:
    clock = SteppedClock(1)
    log: Log = []

    def tick() -> None:
        log.append((clock.now_ns(), "tick"))
        for handle in (itself, *others):
            handle.cancel()
        clock.schedule(2, note(clock, log, "new"))  # purges: nearly all entries are dead

    itself = clock.schedule_periodic(1, tick, 1)
    others = [clock.schedule(50, nothing) for _ in range(200)]
    clock.schedule(3, note(clock, log, "old"))
    clock.advance(100)
    assert log == [(1, "tick"), (2, "new"), (3, "old")]
    assert len(clock._scheduler) == 0


class Heavy:
    def tick(self) -> None:
        raise AssertionError("was cancelled")


def test_cancelling_lets_go_of_the_callback_and_the_heap_shrinks() -> None:
    clock = SteppedClock(1)
    heavy = Heavy()
    watch = weakref.ref(heavy)
    handle = clock.schedule(10**9, heavy.tick)
    handle.cancel()
    del heavy
    gc.collect()
    assert watch() is None
    for i in range(10_000):
        clock.schedule(10**9 + i, lambda: None).cancel()
    assert len(clock._scheduler) < 300  # purged every 256 insertions
    handles = [clock.schedule(10**9 + i, lambda: None) for i in range(10_000)]
    for handle in handles:
        handle.cancel()
    for i in range(20_000):  # a purge comes after as many insertions as there were entries
        clock.schedule(10**9 + i, lambda: None).cancel()
    assert len(clock._scheduler) < 300


def test_one_long_advance_that_schedules_and_cancels_stays_small() -> None:
    clock = SteppedClock(1)
    sizes: list[int] = []

    def churn() -> None:
        clock.schedule(10**12, lambda: None).cancel()
        sizes.append(len(clock._scheduler))

    clock.schedule_periodic(1, churn)
    clock.advance(5_000)
    assert len(sizes) == 5_001
    assert max(sizes) < 300


def test_a_one_shot_that_ran_is_let_go() -> None:
    clock = SteppedClock(1)

    class Job:
        def run(self) -> None: ...

    job = Job()
    watch = weakref.ref(job)
    handle = clock.schedule(1, job.run)
    del job
    clock.advance(1)
    gc.collect()
    assert watch() is None
    handle.cancel()
    assert len(clock._scheduler) == 0
