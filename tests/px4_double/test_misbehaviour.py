"""Every switch of the double does what README.md says."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import pytest

from tests.px4_double.flight import Flight
from tests.px4_double.flown_world import STEP_US
from tests.px4_double.options import Faults, faults_of

Fly = Callable[..., Flight]
NAN = math.nan


def _answers(flight: Flight, from_s: float, to_s: float) -> list[int]:
    """Time stamps of all HIL_ACTUATOR_CONTROLS sent, in order, within the times of the samples."""
    return [
        message.time_usec
        for message in flight.world.received
        if message.get_type() == "HIL_ACTUATOR_CONTROLS"
        and from_s * 1e6 < message.time_usec <= to_s * 1e6
    ]


def test_silent(fly: Fly) -> None:
    flight = fly(silent_at_s=1.0, silent_for_s=0.2, strict=False, deadline_s=0.02)
    flight.run(1.1)
    missing = flight.world.missing
    assert missing > 20
    assert "ATTITUDE" in flight.last
    assert flight.last["ATTITUDE"].time_boot_ms > 1050  # the rest of it lives
    flight.run(0.5)
    assert flight.world.missing <= 51
    assert _answers(flight, 1.2, 1.6)


def test_dies(fly: Fly) -> None:
    flight = fly(die_at_s=1.0, die_code=7)
    with pytest.raises(ConnectionError):
        flight.run(2.0)
    assert flight.double.wait() == 7


def test_dies_of_a_signal(fly: Fly) -> None:
    flight = fly(die_at_s=1.0, die_code=-11)
    with pytest.raises(ConnectionError):
        flight.run(2.0)
    assert flight.double.wait() == -11


def test_hangs(fly: Fly) -> None:
    flight = fly(hang_at_s=1.0, deadline_s=0.2)
    with pytest.raises(TimeoutError):
        flight.run(2.0)
    assert flight.time_s == pytest.approx(1.0)
    assert flight.double.running


def test_hangs_up(fly: Fly) -> None:
    flight = fly(hang_up_at_s=1.0)
    with pytest.raises(ConnectionError):
        flight.run(2.0)
    assert flight.double.running
    assert flight.double.terminate() == 0


def test_restarts(fly: Fly) -> None:
    flight = fly(restart_at_s=8.0, settle_s=6.0)
    flight.arm()
    with pytest.raises(ConnectionError):
        flight.run(3.0)
    flight.world.booted = False
    flight.world.accept()
    flight.run(0.2)
    assert not _answers(flight, 8.0, 8.2)  # it boots
    flight.run(0.5)
    assert flight.world.answers[-1].mode == 1
    flight.station.counts.clear()
    flight.run(1.5)
    assert not flight.station.armed
    assert flight.station.counts["HEARTBEAT"] >= 1


def test_garbage_between_answers(fly: Fly) -> None:
    flight = fly(garbage_at_s=1.0, garbage_for_s=0.1)
    flight.run(1.5)
    assert len(_answers(flight, 1.0, 1.5)) == 125
    assert bytes((0x00, 0x55, 0xAA, 0x11)) in bytes(flight.world.raw)


def test_bad_crc(fly: Fly) -> None:
    flight = fly(bad_crc_at_s=1.0, bad_crc_for_s=0.1, strict=False, deadline_s=0.05)
    flight.run(1.5)
    assert flight.world.missing == 25
    assert len(_answers(flight, 0.99, 1.5)) == 103


def test_wrong_system_id(fly: Fly) -> None:
    flight = fly(wrong_sysid_at_s=1.0, wrong_sysid_for_s=0.5)
    flight.station.keep = True
    flight.run(0.9)
    assert flight.world.answers[-1].get_srcSystem() == flight.station.target
    flight.run(0.4)
    assert flight.world.answers[-1].get_srcSystem() == 99
    assert flight.last["ATTITUDE"].get_srcSystem() == 99
    flight.run(0.4)
    assert flight.last["ATTITUDE"].get_srcSystem() == flight.station.target


def test_replayed_answers(fly: Fly) -> None:
    flight = fly(replay_at_s=1.0, replay_for_s=0.1)
    flight.run(1.5)
    stamps = _answers(flight, 0.99, 1.5)
    assert stamps.count(1_000_000 - STEP_US) == 26


def test_late_answers(fly: Fly) -> None:
    flight = fly(late_at_s=1.0, late_for_s=0.01, late_ms=60, strict=False, deadline_s=0.02)
    flight.run(1.5)
    assert flight.world.missing >= 1
    assert len(_answers(flight, 0.0, 1.5)) == len(set(_answers(flight, 0.0, 1.5)))
    assert 1_000_000 in _answers(flight, 0.9, 1.5)


def test_answers_twice(fly: Fly) -> None:
    flight = fly(twice_at_s=1.0, twice_for_s=0.02)
    flight.run(1.5)
    stamps = _answers(flight, 0.9, 1.5)
    assert stamps.count(1_000_000) == 2
    assert stamps.count(1_100_000) == 1


def test_torn_answers(fly: Fly) -> None:
    flight = fly(torn_at_s=1.0, torn_for_s=0.04)
    flight.run(1.2)
    assert len(_answers(flight, 1.0, 1.2)) == 50


def test_a_second_source_of_heartbeats(fly: Fly) -> None:
    flight = fly(second_source_at_s=2.0)
    flight.station.keep = True
    flight.run(5.0)
    systems = {
        message.get_srcSystem()
        for message in flight.station.messages
        if message.get_type() == "HEARTBEAT"
    }
    assert systems == {flight.station.target, 77}


def test_mute_telemetry(fly: Fly) -> None:
    flight = fly(mute_at_s=2.0, mute_for_s=1.0)
    flight.run(2.0)
    flight.station.counts.clear()
    flight.run(0.9)
    assert not flight.station.counts
    flight.run(0.5)
    assert flight.station.counts["ATTITUDE"]


def test_deaf_to_commands(fly: Fly) -> None:
    flight = fly(deaf_at_s=1.0, deaf_for_s=1.0)
    flight.run(1.2)
    flight.station.command(512, 148)
    flight.run(0.5)
    assert not flight.station.acks
    flight.run(0.5)
    assert flight.station.acks == [(512, 0)]  # it was waiting in the socket


def test_another_version(fly: Fly) -> None:
    flight = fly(version="1.12.3")
    flight.run(1.0)
    flight.command(512, 148)
    assert flight.last["AUTOPILOT_VERSION"].flight_sw_version >> 8 == 0x010C03


def test_refuses_arming_with_a_reason(fly: Fly) -> None:
    flight = fly(refuse_arming="Preflight Fail: Compass 0 fault")
    flight.run(8.0)
    assert not flight.ready()
    assert flight.command(400, 1) == 1
    assert "Preflight Fail: Compass 0 fault" in flight.station.texts


def test_offboard_lost(fly: Fly) -> None:
    flight = fly(offboard_lost_at_s=14.0)
    flight.arm()
    assert flight.command(22, *[NAN] * 7) == 0
    hold = partial(flight.station.position, 0.0, 0.0, -2.0)
    flight.run(5.0, hold)
    assert flight.command(176, 1, 6) == 0
    flight.until(lambda: "Failsafe activated\t" in flight.station.texts, 5.0, hold)
    assert flight.time_s == pytest.approx(15.0, abs=0.05)


def test_never_dials(fly: Fly) -> None:
    with pytest.raises(OSError, match="timed out"):
        fly(never_dial=1, dial_limit_s=0.5)


def test_dials_late(fly: Fly) -> None:
    flight = fly(dial_after_s=0.2)
    flight.run(0.5)
    assert flight.world.answers


def test_unknown_switches_are_refused() -> None:
    with pytest.raises(SystemExit, match="PX4_DOUBLE_SILENT_AT"):
        faults_of({"PX4_DOUBLE_SILENT_AT": "3"})
    assert faults_of({"HOME": "x"}) == Faults()
    assert faults_of({"PX4_DOUBLE_NEVER_DIAL": "1"}).never_dial
