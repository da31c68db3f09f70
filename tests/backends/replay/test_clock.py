"""`ReplayClock`: what is played when, in which order, and what is not (clock spec §7)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.backends.replay.clock import Feed, Logged, NoRandom, ReplayClock
from ghost.core import ContractViolation, Event, RandomStream


def clock_of(stamps: list[int], played: list[tuple[int, int, int]], **options: Any) -> ReplayClock:
    """A clock whose messages note (now, stamp, number) when they are played."""
    items: list[Logged] = [("/t", stamp, n, n) for n, stamp in enumerate(stamps)]
    clock: ReplayClock

    def deliver(item: Logged) -> None:
        played.append((clock.now_ns(), item[1], item[2]))

    clock = ReplayClock(10, Feed(iter(items)), deliver, **options)
    return clock


@given(
    stamps=st.lists(st.integers(0, 200), max_size=40).map(sorted),
    steps=st.lists(st.integers(0, 60), max_size=20),
    run_callbacks=st.booleans(),
)
@settings(deadline=None)
def test_each_advance_plays_exactly_its_interval_in_order(
    stamps: list[int], steps: list[int], run_callbacks: bool
) -> None:
    played: list[tuple[int, int, int]] = []
    clock = clock_of(stamps, played, run_callbacks=run_callbacks)
    now = 0
    for dt in steps:
        before = len(played)
        clock.advance(dt)
        numbers = [n for _, _, n in played[before:]]
        first = now == 0 and before == 0
        expected = [
            n for n, s in enumerate(stamps) if (now < s or (first and s == 0)) and s <= now + dt
        ]
        assert numbers == expected
        now += dt
        assert clock.now_ns() == now
    assert all(at == stamp for at, stamp, _ in played)


def test_callbacks_are_checked_and_never_run() -> None:
    ran: list[str] = []
    clock = clock_of([5, 10], [])
    handle = clock.schedule(5, lambda: ran.append("once"))
    clock.schedule_periodic(5, lambda: ran.append("again"))
    clock.advance(50)
    assert ran == []
    handle.cancel()
    handle.cancel()
    with pytest.raises(ValueError, match="in the past"):
        clock.schedule(3, lambda: None)
    with pytest.raises(TypeError, match="callable"):
        clock.schedule(60, None)  # type: ignore[arg-type]  # what is refused
    with pytest.raises(ValueError, match="period_ns"):
        clock.schedule_periodic(0, lambda: None)


def test_callbacks_run_if_asked_for_and_see_the_messages_of_their_time() -> None:
    played: list[tuple[int, int, int]] = []
    seen: list[tuple[int, int]] = []
    clock = clock_of([4, 10, 10, 11, 25], played, run_callbacks=True)
    clock.schedule_periodic(10, lambda: seen.append((clock.now_ns(), len(played))), 10)
    clock.advance(30)
    assert seen == [(10, 3), (20, 4), (30, 5)]


def test_a_callback_that_raises_becomes_an_event() -> None:
    events: list[Event] = []

    def bad() -> None:
        raise RuntimeError("deliberate")

    clock = clock_of([], [], run_callbacks=True, on_event=events.append)
    clock.schedule(5, bad)
    clock.advance(10)
    assert [event.type.value for event in events] == ["scheduler_callback_failed"]


@pytest.mark.parametrize("run_callbacks", [False, True])
def test_advance_refuses_nonsense_and_reentry(run_callbacks: bool) -> None:
    errors: list[str] = []
    clock: ReplayClock

    def deliver(_: Logged) -> None:
        try:
            clock.advance(1)
        except ContractViolation as error:
            errors.append(str(error))

    clock = ReplayClock(10, Feed(iter([("/t", 5, 0, 0)])), deliver, run_callbacks=run_callbacks)
    with pytest.raises(ValueError, match="negative"):
        clock.advance(-1)
    with pytest.raises(TypeError, match="dt_ns"):
        clock.advance(1.0)  # type: ignore[arg-type]  # what is refused
    clock.advance(10)
    assert len(errors) == 1
    assert "while the clock is advancing" in errors[0]


def test_a_delivery_that_raises_is_not_repeated() -> None:
    seen: list[int] = []

    def deliver(item: Logged) -> None:
        seen.append(item[1])
        if item[1] == 5:
            raise KeyboardInterrupt

    clock = ReplayClock(10, Feed(iter([("/t", n, n, n) for n in (5, 6)])), deliver)
    with pytest.raises(KeyboardInterrupt):
        clock.advance(10)
    assert clock.now_ns() == 5
    clock.advance(5)
    assert seen == [5, 6]


def test_there_is_a_tree_of_labels_and_no_numbers() -> None:
    source = clock_of([], [], seed=7).random_source()
    child = source.child("/sensors/imu0").child("noise")
    assert (child.seed, child.label) == (7, "/sensors/imu0/noise")
    draws: list[Any] = [
        lambda: child.uniform(0.0, 1.0),
        lambda: child.normal(0.0, 1.0, size=3),
        lambda: child.integers(0, 3),
        child.numpy_rng,
    ]
    for draw in draws:
        with pytest.raises(ContractViolation, match=r"imu0/noise.*draws no random numbers"):
            draw()
    with pytest.raises(ValueError, match="label"):
        NoRandom(RandomStream(0)).child("Not A Label")
