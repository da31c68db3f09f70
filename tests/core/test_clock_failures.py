"""Callbacks that raise (clock spec §5, D4)."""

from __future__ import annotations

import logging

import pytest

from ghost.core import Event, EventSeverity, EventType, SteppedClock


def fails() -> None:
    raise RuntimeError("no fix")


def test_an_exception_becomes_an_event_and_time_goes_on() -> None:
    events: list[Event] = []
    ticks: list[int] = []
    clock = SteppedClock(1, on_event=events.append)
    clock.schedule_periodic(4, fails, 2)
    clock.schedule_periodic(4, lambda: ticks.append(clock.now_ns()), 2)
    clock.schedule(3, fails)
    clock.advance(10)
    assert ticks == [2, 6, 10]
    assert [event.stamp_sim_ns for event in events] == [2, 3, 6, 10]
    event = events[0]
    assert event.type is EventType.SCHEDULER_CALLBACK_FAILED
    assert event.severity is EventSeverity.ERROR
    assert event.source == "scheduler"
    assert str(event.payload["callback"]).endswith("test_clock_failures.fails")
    assert event.payload["at_ns"] == 2
    assert "RuntimeError: no fix" in event.message
    trace = str(event.payload["traceback"])
    assert trace.startswith("Traceback")
    assert 'raise RuntimeError("no fix")' in trace
    assert "RuntimeError: no fix" in trace


def test_a_callable_without_a_name_is_named_by_its_repr() -> None:
    class Tick:
        def __call__(self) -> None:
            raise ValueError

        def __repr__(self) -> str:
            return "<Tick>"

    events: list[Event] = []
    clock = SteppedClock(1, on_event=events.append)
    clock.schedule(0, Tick())
    clock.advance(1)
    assert events[0].payload["callback"] == "<Tick>"


def test_without_a_listener_it_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    clock = SteppedClock(1)
    clock.schedule(3, fails)
    with caplog.at_level(logging.ERROR, logger="ghost.core"):
        clock.advance(5)
    assert "scheduler at 3 ns" in caplog.text
    assert "RuntimeError: no fix" in caplog.text


def test_a_listener_that_raises_is_logged_too(caplog: pytest.LogCaptureFixture) -> None:
    def listener(_: Event) -> None:
        raise KeyError("listener")

    clock = SteppedClock(1, on_event=listener)
    clock.schedule(3, fails)
    with caplog.at_level(logging.ERROR, logger="ghost.core"):
        clock.advance(5)
    assert clock.now_ns() == 5
    assert "RuntimeError: no fix" in caplog.text
    assert "KeyError: 'listener'" in caplog.text


def test_ctrl_c_passes_with_the_clock_at_the_callbacks_time() -> None:
    log: list[tuple[int, str]] = []
    interrupts = [KeyboardInterrupt()]

    def interrupted() -> None:
        log.append((clock.now_ns(), "interrupted"))
        if interrupts:
            raise interrupts.pop()

    events: list[Event] = []
    clock = SteppedClock(1, on_event=events.append)
    clock.schedule_periodic(4, interrupted, 2)
    clock.schedule(2, lambda: log.append((clock.now_ns(), "same time")))
    clock.schedule(5, lambda: log.append((clock.now_ns(), "later")))
    with pytest.raises(KeyboardInterrupt):
        clock.advance(10)
    assert clock.now_ns() == 2
    assert events == []
    clock.advance(8)
    assert clock.now_ns() == 10
    assert log == [
        (2, "interrupted"),
        (2, "same time"),
        (5, "later"),
        (6, "interrupted"),
        (10, "interrupted"),
    ]


def test_an_interrupted_one_shot_does_not_run_again() -> None:
    calls: list[int] = []

    def once() -> None:
        calls.append(clock.now_ns())
        raise SystemExit(1)

    clock = SteppedClock(1)
    handle = clock.schedule(2, once)
    with pytest.raises(SystemExit):
        clock.advance(10)
    handle.cancel()
    clock.advance(10)
    assert calls == [2]
    assert len(clock._scheduler) == 0


def test_a_callback_that_cancels_itself_and_raises_is_gone() -> None:
    events: list[Event] = []

    def tick() -> None:
        handle.cancel()
        raise RuntimeError

    clock = SteppedClock(1, on_event=events.append)
    handle = clock.schedule_periodic(2, tick)
    clock.advance(10)
    assert len(events) == 1
    assert len(clock._scheduler) == 0
