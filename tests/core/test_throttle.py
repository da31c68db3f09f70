from __future__ import annotations

from typing import Protocol

import pytest

from ghost.core import HostClock, HostTime, SteppedClock, SystemClock, Throttle


class Host(HostTime, Protocol):
    time_ns: int
    slept_until: list[int]

    def work(self, for_ns: int) -> None: ...


@pytest.mark.parametrize(("rtf", "expected"), [(1.0, 100), (2.0, 50), (0.5, 200), (4, 25)])
def test_a_step_takes_its_time_over_rtf(host: Host, rtf: float, expected: int) -> None:
    throttle = Throttle(rtf, host)
    start = host.time_ns
    for sim_ns in range(0, 1001, 100):
        throttle.wait(sim_ns)
        assert host.time_ns - start == sim_ns // 100 * expected
    assert len(host.slept_until) == 10


def test_work_between_steps_is_part_of_the_time(host: Host) -> None:
    throttle = Throttle(1.0, host)
    start = host.time_ns
    throttle.wait(0)
    host.work(70)
    throttle.wait(100)
    assert host.time_ns - start == 100


def test_a_short_lag_is_caught_up_and_a_long_one_forgiven(host: Host) -> None:
    throttle = Throttle(1.0, host, max_lag_ns=1000)
    throttle.wait(0)
    start = host.time_ns
    host.work(500)
    throttle.wait(100)
    throttle.wait(700)
    assert host.time_ns - start == 700
    host.work(5_000)
    throttle.wait(800)
    throttle.wait(900)
    assert host.time_ns - start == 5_700 + 100


def test_time_going_back_starts_anew(host: Host) -> None:
    throttle = Throttle(1.0, host)
    throttle.wait(1_000_000)
    before = host.time_ns
    throttle.wait(0)
    assert host.time_ns == before
    throttle.wait(10)
    assert host.time_ns == before + 10


def test_it_changes_no_result(host: Host) -> None:
    def run(throttle: Throttle | None) -> list[int]:
        clock = SteppedClock(10)
        fired: list[int] = []
        clock.schedule_periodic(7, lambda: fired.append(clock.now_ns()))
        for _ in range(20):
            clock.advance(10)
            if throttle:
                throttle.wait(clock.now_ns())
        return fired

    assert run(Throttle(1.0, host)) == run(None)


@pytest.mark.parametrize("rtf", [0, 0.0, -1.0, float("nan"), float("-inf")])
def test_values_that_are_no_pace(host: Host, rtf: float) -> None:
    with pytest.raises(ValueError, match="rtf must be greater than 0"):
        Throttle(rtf, host)


@pytest.mark.parametrize("rtf", [1e-300, 5e-324, 0.0009])
def test_a_pace_too_slow_to_be_meant(host: Host, rtf: float) -> None:
    with pytest.raises(ValueError, match=r"rtf must be at least 0\.001, got"):
        Throttle(rtf, host)


def test_the_slowest_pace_waits_for_the_longest_run(host: Host) -> None:
    throttle = Throttle(1e-3, host)
    throttle.wait(0)
    throttle.wait(2**63 - 1)
    assert host.time_ns > 2**63


def test_a_very_long_sleep_is_taken_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """`time.sleep` cannot take more than 292 years at once."""
    slept: list[float] = []
    monkeypatch.setattr("time.monotonic_ns", lambda: round(sum(slept) * 1e9))
    monkeypatch.setattr("time.sleep", slept.append)
    HostClock().sleep_until_ns(10**16)
    assert sum(slept) == pytest.approx(1e7)
    assert max(slept) <= 86_400.0


@pytest.mark.parametrize("rtf", ["1", None, True])
def test_kinds_that_are_no_pace(host: Host, rtf: float) -> None:
    with pytest.raises(TypeError, match="rtf must be a number"):
        Throttle(rtf, host)


def test_infinite_pace_never_sleeps(host: Host) -> None:
    throttle = Throttle(float("inf"), host)
    start = host.time_ns
    for sim_ns in range(0, 1000, 10):
        throttle.wait(sim_ns)
    assert host.time_ns == start


def test_a_float_is_no_sim_time(host: Host) -> None:
    with pytest.raises(TypeError, match="sim_ns must be an integer"):
        Throttle(1.0, host).wait(1.0)  # type: ignore[arg-type]  # the point of the test


def test_the_host_clock_is_monotonic_and_sleeps_long_enough() -> None:
    clock = HostClock(seed=4)
    face: SystemClock = clock
    times = [clock.now_ns() for _ in range(100)]
    assert times == sorted(times)
    assert all(type(t) is int for t in times)
    target = clock.now_ns() + 1_000_000
    clock.sleep_until_ns(target)
    assert clock.now_ns() >= target
    clock.sleep_until_ns(0)  # long past: returns
    assert face.random_source().seed == 4
    # After 2020 and before 2200: nanoseconds since 1970, not seconds or milliseconds.
    assert 1_577_836_800 * 10**9 < clock.wall_ns() < 7_258_118_400 * 10**9
