"""`GzBridgeLink` on a scripted world: what it waits for, what it counts, what it says."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ghost.core import BackendLost, EventSeverity, EventType
from ghost.hal import LockstepState
from ghost.px4.gz_bridge import GzBridgeLink
from ghost.px4.link import Link, Readings

STEP_NS = 4_000_000
SPEEDS = (700.0, 700.0, 700.0, 700.0)


class ScriptedWorld:
    """A `BridgeWorld`: `answers` says what the coming waits find."""

    def __init__(self) -> None:
        self.model = "ghost_x500"
        self.world = "w"
        self.environ: Mapping[str, str] = {}
        self.connected = True
        self.passed_over = 0
        self.answers = True
        self.waits_s: list[float] = []

    def receive_motors(self, timeout_s: float) -> tuple[float, ...] | None:
        """At once, or never."""
        self.waits_s.append(timeout_s)
        return SPEEDS if self.answers else None


class Loop:
    """Steps as a backend does: the answer to the step before, then the step."""

    def __init__(self, world: ScriptedWorld) -> None:
        self.world = world
        self.link = GzBridgeLink(world, answer_deadline_s=0.7, boot_wait_s=0.002)
        self.link.open()
        self.now_ns = 0

    def run(self, steps: int) -> list[LockstepState]:
        """The states that were seen."""
        states = []
        for _ in range(steps):
            states.append(self.link.await_answer())
            self.now_ns += STEP_NS
            self.link.feed(self.now_ns, Readings())
        return states


@pytest.fixture
def world() -> ScriptedWorld:
    return ScriptedWorld()


@pytest.fixture
def loop(world: ScriptedWorld) -> Loop:
    return Loop(world)


@pytest.fixture
def flying(loop: Loop) -> Loop:
    """One that has been answered for a while."""
    loop.run(100)
    assert loop.link.events() == []
    return loop


def _state(link: GzBridgeLink) -> tuple[bool, bool]:
    return link.booted, link.connected


def test_it_is_a_link(world: ScriptedWorld) -> None:
    link: Link = GzBridgeLink(world)
    assert link.motors() is None
    assert link.armed is False
    assert link.traffic.take(0) is None


def test_nothing_is_awaited_before_the_first_step(loop: Loop) -> None:
    assert loop.run(1) == [LockstepState.NONE]
    assert loop.world.waits_s == []


def test_while_it_boots_steps_are_paced_and_never_held_up(loop: Loop) -> None:
    loop.world.answers = loop.world.connected = False
    assert set(loop.run(1000)) == {LockstepState.NONE}
    link = loop.link
    assert set(loop.world.waits_s) == {0.002}
    assert (link.counters.booting, link.counters.missing) == (999, 0)
    assert _state(link) == (False, False)
    assert link.silent_ns == 0
    assert link.events() == []
    loop.world.answers = True
    assert loop.run(1) == [LockstepState.ANSWERED]
    assert _state(link) == (True, True)


def test_a_sample_skipped_right_after_boot_is_not_waited_for(loop: Loop) -> None:
    loop.run(10)
    loop.world.answers = False
    assert loop.run(1) == [LockstepState.NONE]
    assert loop.world.waits_s[-1] <= 0.05
    loop.world.answers = True
    loop.run(60)
    counters = loop.link.counters
    assert (counters.booting, counters.missing, counters.late) == (1, 0, 0)
    assert loop.world.waits_s[-1] == 0.7
    assert loop.link.events() == []


def test_each_step_is_answered(flying: Loop) -> None:
    assert set(flying.run(50)) == {LockstepState.ANSWERED}
    counters = flying.link.counters
    assert counters.answered == 149
    assert (counters.missing, counters.late, counters.reconnects) == (0, 0, 0)
    assert flying.link.silent_ns == STEP_NS
    assert flying.world.waits_s[-1] == 0.7


def test_once_one_is_missing_the_loop_does_not_crawl(flying: Loop) -> None:
    flying.world.answers = False
    flying.world.waits_s.clear()
    assert set(flying.run(20)) == {LockstepState.MISSING}
    assert flying.world.waits_s == [0.7] + [0.002] * 19
    link = flying.link
    assert link.counters.missing == 20
    assert link.silent_ns == 21 * STEP_NS
    (event,) = link.events()
    assert event.type is EventType.LOCKSTEP_FAULT
    assert event.severity is EventSeverity.ERROR
    assert "400000000 ns" in event.message
    flying.world.answers = True
    assert set(flying.run(5)) == {LockstepState.ANSWERED}
    assert flying.world.waits_s[-4:] == [0.7] * 4
    (event,) = link.events()
    assert event.severity is EventSeverity.INFO
    assert "20 IMU samples" in event.message


def test_an_answer_after_the_step_was_late_not_missing(flying: Loop) -> None:
    world, counters = flying.world, flying.link.counters
    world.answers = False
    flying.run(2)
    assert (counters.missing, counters.late) == (2, 0)
    world.passed_over += 2
    assert flying.run(1) == [LockstepState.LATE]
    assert (counters.missing, counters.late) == (1, 2)
    world.passed_over += 1
    world.answers = True
    assert flying.run(1) == [LockstepState.ANSWERED]
    assert (counters.missing, counters.late) == (0, 3)


def test_messages_that_nobody_owed_are_none_of_its_business(flying: Loop) -> None:
    flying.world.passed_over += 7
    assert set(flying.run(3)) == {LockstepState.ANSWERED}
    assert flying.link.counters.late == 0


def test_gone_and_back(flying: Loop) -> None:
    world, link = flying.world, flying.link
    world.answers = world.connected = False
    assert flying.run(30) == [LockstepState.MISSING] + [LockstepState.NONE] * 29
    assert _state(link) == (False, False)
    assert link.silent_ns == 31 * STEP_NS
    assert [event.severity for event in link.events()] == [EventSeverity.ERROR] * 2
    world.connected = True
    assert _state(link) == (False, True)
    flying.run(30)
    assert link.silent_ns == 0, "it boots"
    world.answers = True
    flying.run(60)
    assert _state(link) == (True, True)
    assert link.counters.reconnects == 1
    (event,) = link.events()
    assert "restarted" in event.message


def test_time_going_back_needs_a_restart(flying: Loop) -> None:
    with pytest.raises(BackendLost, match="cannot follow"):
        flying.link.feed(STEP_NS, Readings())


def test_opened_again_it_begins_anew(flying: Loop) -> None:
    flying.link.open()
    flying.link.feed(0, Readings())
    assert flying.link.counters.answered == 0
    assert not flying.link.booted


def test_close_is_idempotent(flying: Loop) -> None:
    flying.link.close()
    flying.link.close()
    assert flying.link.await_answer() is LockstepState.NONE
    assert not flying.link.booted


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_waits_are_finite_and_above_zero(world: ScriptedWorld, value: float) -> None:
    with pytest.raises(ValueError, match="answer_deadline_s"):
        GzBridgeLink(world, answer_deadline_s=value)
    with pytest.raises(ValueError, match="boot_wait_s"):
        GzBridgeLink(world, boot_wait_s=value)
