"""Decoding: texts in parts, reasons, checksums, and whatever else may come."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymavlink.dialects.v20 import common, development

from ghost.px4.mailbox import Mailbox
from ghost.px4.modes import mode_name, nav_bit
from ghost.px4.reasons import GENERAL_REFUSAL, ReasonBook, event_id
from ghost.px4.strangers import Strangers
from ghost.px4.telemetry import CRC_EXTRAS, Telemetry
from ghost.px4.traffic import TrafficLog
from tests.px4.fake_px4 import Flight

_HOLD = 1 << 4
_OFFBOARD = 1 << 14


def test_checksum_seeds_are_pymavlinks() -> None:
    known = {**common.mavlink_map, **development.mavlink_map}
    for msgid, extra in CRC_EXTRAS.items():
        if msgid != 410:  # EVENT is in neither dialect
            assert known[msgid].crc_extra == extra, msgid


def test_a_text_in_parts_is_put_together(connected: Flight) -> None:
    text = "Preflight Fail: " + "x" * 70
    connected.px4.text(text, number=3)
    connected.step()
    assert connected.messages() == [text]


def test_a_text_of_exactly_fifty_is_taken_after_a_while(connected: Flight) -> None:
    text = "Arming denied: ".ljust(50, "y")
    connected.px4.text(text, number=4)
    connected.step()
    assert connected.messages() == []
    connected.run(0.2)
    assert connected.messages() == [text]


def test_a_text_whose_end_is_lost_is_told_as_far_as_it_came(connected: Flight) -> None:
    px4 = connected.px4
    px4.send(px4.mav.statustext_encode(4, b"a" * 50, 5, 0))
    px4.text("next", number=6)
    connected.step()
    assert connected.messages() == ["a" * 50, "next"]


def test_a_part_without_its_beginning_is_told(connected: Flight) -> None:
    px4 = connected.px4
    px4.send(px4.mav.statustext_encode(4, b"the end", 5, 1))
    connected.step()
    assert connected.messages() == ["the end"]


def test_reasons_come_from_texts_and_events(connected: Flight) -> None:
    px4, session = connected.px4, connected.session
    px4.summary(0)
    px4.event("check_modes_global_pos", _HOLD)
    px4.event("check_modes_offboard_signal", _OFFBOARD)
    px4.text("Preflight Fail: heading estimate not stable", severity=4)
    connected.step()
    before = session.reasons
    assert before == (
        "Navigation error: No valid global position estimate",
        "Preflight Fail: heading estimate not stable",
    )
    connected.run(1.0)
    px4.summary(_HOLD)
    connected.step()
    assert session.reasons == ()


def test_a_text_a_little_before_its_report_is_kept() -> None:
    book = ReasonBook()
    book.text("Preflight Fail: old", 0)
    book.text("Preflight Fail: new", 2_000_000_000)
    book.event(event_id("commander_arming_check_summary"), 0, bytes(25), 2_100_000_000)
    assert book.current("HOLD") == ("Preflight Fail: new",)


def test_reasons_are_not_repeated_and_bounded() -> None:
    book = ReasonBook()
    for index in range(100):
        book.text("Preflight Fail: same", index)
        book.text(f"Preflight Fail: {index}", index)
    reasons = book.current("HOLD")
    assert len(reasons) <= 32
    assert len(set(reasons)) == len(reasons)
    assert reasons[-1] == "Preflight Fail: 99"
    book.text("Takeoff detected", 1000)
    assert book.current("HOLD") == reasons


def test_a_remark_is_a_reason_only_if_nothing_else_is() -> None:
    def book(*extra: str) -> ReasonBook:
        made = ReasonBook()
        summary = struct.pack("<BQQII", 0, 0, 0, 0, 0)
        made.event(event_id("commander_arming_check_summary"), 0x88, summary, 0)
        made.event(event_id("check_modes_mission"), 0x66, struct.pack("<I", 0xFFFFFFFF), 0)
        for text in (GENERAL_REFUSAL, *extra):
            made.text(text, 0)
        return made

    assert book().current("HOLD") == ("No valid mission available",)
    assert book("Preflight Fail: x").current("HOLD") == (GENERAL_REFUSAL, "Preflight Fail: x")


def test_event_numbers_are_px4s() -> None:
    # From the recorded arming of PX4 v1.17: FNV-1a of the name, 24 bits, component 1.
    assert event_id("a") == 0x01_0C292C
    assert event_id("check_modes_mission") >> 24 == 1


@pytest.mark.parametrize(
    ("number", "name"),
    [(0x06000000 >> 8, "OFFBOARD"), (4 << 16 | 5 << 24, "RETURN"), (9 << 16, "MODE_9_0")],
)
def test_modes_have_names(number: int, name: str) -> None:
    assert mode_name(number) == name


def test_mode_bits() -> None:
    assert nav_bit("OFFBOARD") == _OFFBOARD
    assert nav_bit("MODE_9_0") == 0xFFFFFFFF


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.tuples(st.sampled_from([*CRC_EXTRAS, 99999]), st.binary(max_size=255)), max_size=20)
)
def test_no_payload_breaks_a_decoder(payloads: list[tuple[int, bytes]]) -> None:
    telemetry = Telemetry()
    for now_ns, (msgid, payload) in enumerate(payloads):
        telemetry.take(msgid, payload, now_ns)
        telemetry.settle(now_ns, 1)
    for number in (*(telemetry.position_ned or ()), *(telemetry.q_ned_frd or ())):
        assert abs(number) < float("inf")
    assert isinstance(telemetry.book.current(telemetry.mode), tuple)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.binary(max_size=300), max_size=20))
def test_no_datagram_breaks_the_mailbox(datagrams: list[bytes]) -> None:
    telemetry, strangers = Telemetry(), Strangers()
    passed: list[bytes] = []
    mailbox = Mailbox(
        ("127.0.0.1", 0),
        telemetry,
        TrafficLog("/mavlink/test"),
        strangers,
        wanted=None,
        passed_on=frozenset({0}),
        pass_on=passed.append,
    )
    for data in datagrams:
        mailbox._odd(data, ("127.0.0.1", 1), 0)
    assert mailbox.system == 0 or passed
