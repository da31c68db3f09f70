"""The lockstep: who waits for whom, how long, and what is said about it."""

from __future__ import annotations

import pytest

from ghost.core import BackendLost, Event, VehicleSpec
from ghost.hal import LockstepState, SensorHealth
from ghost.px4.link import Link, Readings
from ghost.px4.outputs import MotorMap
from ghost.px4.simulator_link import SimulatorLink
from tests.px4.link.parts import STEP_NS, Clock, Wire, answer, decoded, imu, sample

NONE, ANSWERED = LockstepState.NONE, LockstepState.ANSWERED
LATE, MISSING = LockstepState.LATE, LockstepState.MISSING
STEP_US = STEP_NS // 1000
ZEROS = (0.0, 0.0, 0.0, 0.0)


def feed(link: SimulatorLink, step: int) -> None:
    link.feed(step * STEP_NS, Readings(imu=sample(imu())))


def say(wire: Wire, step: int, **how: bool | int) -> None:
    """Queue PX4's answer to a step's sample, with a command that tells which it was."""
    wire.queue.append(answer(step * STEP_US, (step / 1000.0,) * 4, **how))  # type: ignore[arg-type]  # bools and an int, by name


def fly(link: SimulatorLink, wire: Wire, first: int, last: int) -> None:
    """Steps that are answered as they should be."""
    for step in range(first, last + 1):
        feed(link, step)
        say(wire, step)
        assert link.await_answer() is ANSWERED


def changes(events: list[Event]) -> list[object]:
    return [event.payload["change"] for event in events]


def test_it_is_a_link(link: SimulatorLink) -> None:
    face: Link = link
    assert face.await_answer() is NONE
    assert face.motors() == ZEROS
    assert (face.connected, face.booted, face.armed, face.silent_ns) == (True, False, False, 0)


def test_boot_then_one_answer_per_sample(link: SimulatorLink, wire: Wire, clock: Clock) -> None:
    for step in (1, 2, 3):
        feed(link, step)
        assert link.await_answer() is NONE
    assert clock.time_ns == 3 * 2_000_000
    assert (link.booted, link.silent_ns) == (False, 0)
    fly(link, wire, 4, 10)
    assert (link.booted, link.armed) == (True, True)
    assert link.motors() == pytest.approx((0.010,) * 4)
    counters = link.counters.to_json()
    assert (counters["booting"], counters["answered"], counters["missing"]) == (3, 7, 0)
    assert clock.time_ns == 3 * 2_000_000
    assert link.events() == []


def test_zeros_while_disarmed(link: SimulatorLink, wire: Wire) -> None:
    fly(link, wire, 1, 1)
    assert link.motors() != ZEROS
    feed(link, 2)
    say(wire, 2, armed=False)
    assert link.await_answer() is ANSWERED
    assert link.motors() == ZEROS
    assert not link.armed


def test_a_missing_answer_costs_one_deadline(link: SimulatorLink, wire: Wire, clock: Clock) -> None:
    fly(link, wire, 1, 3)
    states = []
    for step in range(4, 9):
        feed(link, step)
        states.append(link.await_answer())
    assert states == [MISSING] * 5
    assert clock.time_ns == 1_000_000_000 + 4 * 2_000_000
    assert link.silent_ns == 5 * STEP_NS
    # The last command stands; the one who steps decides when it is too old.
    assert link.motors() == pytest.approx((0.003,) * 4)
    (event,) = link.events()
    assert event.payload == {"change": "missing", "sample_us": 16_000}
    assert event.stamp_sim_ns == 8 * STEP_NS
    assert link.events() == []
    fly(link, wire, 9, 9)
    assert link.silent_ns == 0
    assert changes(link.events()) == ["recovered"]
    assert link.counters.missing == 5
    # And the whole deadline holds again.
    feed(link, 10)
    assert link.await_answer() is MISSING
    assert clock.time_ns == 2_000_000_000 + 4 * 2_000_000


def test_a_late_answer(link: SimulatorLink, wire: Wire) -> None:
    fly(link, wire, 1, 3)
    feed(link, 4)
    assert link.await_answer() is MISSING
    feed(link, 5)
    say(wire, 4)
    assert link.await_answer() is LATE
    feed(link, 6)
    say(wire, 5)
    say(wire, 6)
    assert link.await_answer() is ANSWERED
    counters = link.counters
    assert (counters.answered, counters.late, counters.missing) == (4, 2, 0)
    assert changes(link.events()) == ["missing", "recovered"]
    assert link.motors() == pytest.approx((0.006,) * 4)


def test_a_px4_that_is_one_behind_is_late_once_in_words(link: SimulatorLink, wire: Wire) -> None:
    fly(link, wire, 1, 3)
    feed(link, 4)
    states = [link.await_answer()]
    for step in (5, 6, 7):
        feed(link, step)
        say(wire, step - 1)
        states.append(link.await_answer())
    assert states == [MISSING, LATE, LATE, LATE]
    assert (link.counters.late, link.counters.missing) == (3, 1)
    assert changes(link.events()) == ["missing"]
    fly(link, wire, 8, 8)
    assert changes(link.events()) == ["recovered"]


def test_too_old_to_be_late(link: SimulatorLink, wire: Wire) -> None:
    fly(link, wire, 1, 3)
    feed(link, 4)
    link.await_answer()
    fly(link, wire, 5, 5)
    feed(link, 6)
    say(wire, 4)
    assert link.await_answer() is MISSING  # 5 was answered, so the answer to 4 is old news
    assert link.counters.replayed == 1


def test_replayed_answers_are_ignored(link: SimulatorLink, wire: Wire) -> None:
    fly(link, wire, 1, 5)
    feed(link, 6)
    for _ in range(3):
        say(wire, 5)
    say(wire, 2)
    say(wire, 6)
    assert link.await_answer() is ANSWERED
    assert link.counters.replayed == 4
    assert link.counters.answered == 6
    assert link.motors() == pytest.approx((0.006,) * 4)


def test_an_answer_from_the_future_is_ignored(link: SimulatorLink, wire: Wire) -> None:
    fly(link, wire, 1, 2)
    feed(link, 3)
    say(wire, 900)
    say(wire, 3)
    assert link.await_answer() is ANSWERED
    assert link.counters.ahead == 1
    fly(link, wire, 4, 4)


def test_several_packets_in_one_read(link: SimulatorLink, wire: Wire) -> None:
    feed(link, 1)
    whole = answer(STEP_US)
    wire.queue.extend([whole[:40], whole[40:70], whole[70:]])
    assert link.await_answer() is ANSWERED


def test_garbage_and_a_bad_checksum(link: SimulatorLink, wire: Wire) -> None:
    fly(link, wire, 1, 2)
    for step in range(3, 8):
        feed(link, step)
        wrong = bytearray(answer(step * STEP_US, armed=False))
        wrong[30] ^= 0xFF
        wire.queue.append(b"\xfd\x20 what? " + bytes(wrong) + answer(step * STEP_US))
        assert link.await_answer() is ANSWERED
    assert link.armed
    counters = link.counters
    assert counters.garbage_bytes > 0
    assert changes(link.events()) == ["garbage"]
    assert link.events() == []


def test_garbage_for_ever_does_not_hold_the_world(
    link: SimulatorLink, wire: Wire, clock: Clock
) -> None:
    fly(link, wire, 1, 1)

    class Endless(Wire):
        def receive(self, timeout_s: float) -> bytes | None:
            del timeout_s  # there is always something
            clock.time_ns += 100_000_000
            return b"\xfe" * 50

    link._transport = Endless(clock)
    before_ns = clock.time_ns
    feed(link, 2)
    assert link.await_answer() is MISSING
    assert clock.time_ns - before_ns == 1_000_000_000
    link.feed(3 * STEP_NS, Readings())
    assert link.await_answer() is NONE


def test_another_system_is_ignored(wire: Wire, clock: Clock, vehicle: VehicleSpec) -> None:
    link = SimulatorLink(wire, MotorMap(vehicle), host=clock, system_id=2)
    link.open()
    feed(link, 1)
    say(wire, 1, system=1)
    assert link.await_answer() is NONE
    assert not link.booted
    feed(link, 2)
    say(wire, 2, system=1)
    say(wire, 2, system=2)
    assert link.await_answer() is ANSWERED
    assert link.counters.foreign == 2
    (event,) = link.events()
    assert event.payload == {"change": "foreign", "system": 1, "expected": 2}


def test_the_first_system_heard_is_px4(link: SimulatorLink, wire: Wire) -> None:
    feed(link, 1)
    say(wire, 1, system=3)
    assert link.await_answer() is ANSWERED
    feed(link, 2)
    say(wire, 2, system=9, armed=False)
    say(wire, 2, system=3)
    assert link.await_answer() is ANSWERED
    assert link.armed
    assert link.counters.foreign == 1


@pytest.mark.parametrize("health", [None, SensorHealth.FAULTY])
def test_no_imu_sample_no_answer(
    link: SimulatorLink, wire: Wire, clock: Clock, health: SensorHealth | None
) -> None:
    fly(link, wire, 1, 2)
    readings = Readings() if health is None else Readings(imu=sample(imu(), health=health))
    link.feed(3 * STEP_NS, readings)
    (message,) = decoded(wire.sent[-1])
    assert (message.time_usec, message.fields_updated) == (3 * STEP_US, 0)
    before_ns = clock.time_ns
    assert link.await_answer() is NONE
    assert clock.time_ns == before_ns
    # PX4 may say something all the same; that counts as the newest command, not as an answer.
    link.feed(4 * STEP_NS, readings)
    say(wire, 4)
    assert link.await_answer() is NONE
    assert link.motors() == pytest.approx((0.004,) * 4)
    assert (link.counters.answered, link.counters.unasked) == (2, 1)
    fly(link, wire, 5, 6)


def test_time_goes_back(link: SimulatorLink, wire: Wire) -> None:
    fly(link, wire, 1, 5)
    with pytest.raises(BackendLost, match=r"time went back from 0\.02 s to 0\.016 s.*restarted"):
        feed(link, 4)


def test_time_that_stands_is_not_told_again(link: SimulatorLink, wire: Wire) -> None:
    fly(link, wire, 1, 2)
    sent = len(wire.sent)
    feed(link, 2)
    link.feed(2 * STEP_NS + 999, Readings(imu=sample(imu())))
    assert len(wire.sent) == sent
    assert link.await_answer() is NONE


def test_open_starts_over(link: SimulatorLink, wire: Wire) -> None:
    fly(link, wire, 1, 5)
    link.open()
    assert link.counters.answered == 0
    assert not link.booted
    fly(link, wire, 1, 2)


def test_px4_hangs_up_and_comes_back(link: SimulatorLink, wire: Wire, clock: Clock) -> None:
    fly(link, wire, 1, 5)
    feed(link, 6)
    wire.queue.append(wire.hang_up)
    assert link.await_answer() is MISSING
    assert clock.time_ns == 0
    assert (link.connected, link.armed, link.motors()) == (False, False, ZEROS)
    for step in (7, 8):
        feed(link, step)
        assert link.await_answer() is NONE
    assert link.silent_ns == 3 * STEP_NS
    assert clock.time_ns == 2 * 2_000_000
    assert changes(link.events()) == ["closed"]

    feed(link, 9)
    wire.queue.append(wire.dial_in)
    assert link.await_answer() is NONE
    assert link.connected
    assert not link.booted
    assert link.silent_ns == 0
    feed(link, 10)
    assert link.await_answer() is NONE
    fly(link, wire, 11, 12)
    assert changes(link.events()) == ["reconnected"]
    counters = link.counters
    assert (counters.reconnects, counters.missing, counters.booting) == (1, 1, 1)


def test_px4_is_replaced_between_two_looks(link: SimulatorLink, wire: Wire) -> None:
    fly(link, wire, 1, 5)
    feed(link, 6)

    def replaced() -> None:
        wire.hang_up()
        wire.dial_in()

    wire.queue.append(replaced)
    assert link.await_answer() is MISSING
    assert not link.booted
    assert link.motors() == ZEROS
    assert changes(link.events()) == ["closed", "reconnected"]


def test_px4_is_gone_when_it_is_told(link: SimulatorLink, wire: Wire) -> None:
    fly(link, wire, 1, 2)
    wire.lost_at_send = True
    feed(link, 3)
    assert link.await_answer() is NONE
    assert changes(link.events()) == ["closed"]


def test_nobody_connected(link: SimulatorLink, wire: Wire, clock: Clock) -> None:
    wire.hang_up()
    feed(link, 1)
    assert link.await_answer() is NONE
    assert wire.sent == []
    assert clock.time_ns == 2_000_000
    assert link.events() == []


def test_a_step_that_could_not_be_sent_awaits_nothing(link: SimulatorLink, wire: Wire) -> None:
    fly(link, wire, 1, 2)
    wire.stuck = True
    feed(link, 3)
    assert link.await_answer() is NONE
    assert link.counters.unsent == 1


def test_hardware_is_taken_as_it_comes(link: SimulatorLink, wire: Wire, clock: Clock) -> None:
    feed(link, 1)
    wire.queue.append(answer(987_654_321, lockstep=False))
    assert link.await_answer() is ANSWERED
    feed(link, 2)
    assert link.await_answer() is NONE
    assert clock.time_ns == 2_000_000
    feed(link, 3)
    wire.queue.append(answer(987_660_000, (0.7,) * 4, lockstep=False))
    assert link.await_answer() is ANSWERED
    assert link.motors() == pytest.approx((0.7,) * 4)
    assert (link.counters.missing, link.counters.answered) == (0, 2)


def test_an_imu_faster_than_px4(link: SimulatorLink, wire: Wire, clock: Clock) -> None:
    fly(link, wire, 1, 4)
    for step in range(5, 41):
        feed(link, step)
        if step % 4 == 0:
            say(wire, step)
        link.await_answer()
    # Three gaps of four samples teach the pace; afterwards nobody waits in vain.
    assert clock.time_ns == 3 * (1_000_000_000 + 2 * 2_000_000)
    counters = link.counters
    assert (counters.answered, counters.missing, counters.unasked) == (4 + 9, 9, 0)
    assert "paced" in changes(link.events())


def test_traffic_is_kept_whole(link: SimulatorLink, wire: Wire) -> None:
    feed(link, 1)
    say(wire, 1)
    wire.queue.appendleft(b"garbage")
    link.await_answer()
    traffic = link.traffic.take(STEP_NS)
    assert traffic is not None
    assert bytes(traffic.sent) == wire.sent[0]
    assert bytes(traffic.received) == answer(STEP_US, (0.001,) * 4)
    assert link.traffic.topic == "/mavlink/simulator"


@pytest.mark.parametrize(
    "wrong",
    [{"answer_deadline_s": 0.0}, {"boot_wait_s": float("nan")}, {"system_id": 0}],
)
def test_impossible_settings(
    wire: Wire, clock: Clock, vehicle: VehicleSpec, wrong: dict[str, float]
) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SimulatorLink(wire, MotorMap(vehicle), host=clock, **wrong)  # type: ignore[arg-type]  # by name
