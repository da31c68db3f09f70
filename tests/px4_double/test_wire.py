"""The double's MAVLink against pymavlink's."""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymavlink.dialects.v20 import common as mavlink

from tests.px4_double import formats
from tests.px4_double.wire import Splitter, Wire

# pymavlink cuts these messages' texts at the first zero.
_TEXTS = {20, 22, 23, 253}
_KNOWN = sorted(msgid for msgid in formats.BY_ID if msgid in mavlink.mavlink_map)


def _message(msgid: int, payload: bytes) -> Any:
    """pymavlink's message with the fields of a payload."""
    kind = mavlink.mavlink_map[msgid]
    parser = mavlink.MAVLink(None)
    parser.robust_parsing = True
    packet = Wire(7, 3).frame(formats.BY_ID[msgid], payload)
    (message,) = parser.parse_buffer(packet) or []
    assert isinstance(message, kind)
    return message


@pytest.mark.parametrize("msgid", _KNOWN)
def test_layouts_are_those_of_pymavlink(msgid: int) -> None:
    ours, theirs = formats.BY_ID[msgid], mavlink.mavlink_map[msgid]
    assert ours.name == theirs.msgname
    assert ours.extra == bytes([theirs.crc_extra])
    assert ours.body.size == theirs.unpacker.size


@pytest.mark.parametrize("msgid", [msgid for msgid in _KNOWN if msgid not in _TEXTS])
def test_packets_are_those_of_pymavlink(msgid: int) -> None:
    """What pymavlink reads in our packet it writes again as the same bytes."""
    form = formats.BY_ID[msgid]
    payload = hashlib.shake_128(form.name.encode()).digest(form.body.size)
    # A NaN would not survive pymavlink.
    values = [3.5 if value != value else value for value in form.body.unpack(payload)]
    payload = form.body.pack(*values)
    message = _message(msgid, payload)
    theirs = mavlink.MAVLink(None, srcSystem=7, srcComponent=3)
    theirs.seq = 0
    assert bytes(message.pack(theirs)) == Wire(7, 3).frame(form, payload)


def test_few_messages_are_unknown_to_pymavlink() -> None:
    assert {formats.BY_ID[msgid].name for msgid in set(formats.BY_ID) - set(_KNOWN)} <= {
        "CURRENT_MODE"
    }


def test_zeros_at_the_end_are_cut_and_come_back() -> None:
    packet = Wire(1).pack(formats.HIL_ACTUATOR_CONTROLS, 4000, 1, *[0.0] * 16, 0)
    assert len(packet) == 12 + 9  # time, and the one byte of flags that is not zero
    (back,) = Splitter().feed(packet)
    assert back.values == (4000, 1, *[0.0] * 16, 0)


@given(st.lists(st.integers(1, 60), max_size=20), st.binary(max_size=30))
def test_packets_are_found_in_any_pieces(cuts: list[int], noise: bytes) -> None:
    wire = Wire(9)
    noise = noise.replace(b"\xfd", b"\x01").replace(b"\xfe", b"\x01")
    packets = [wire.pack(formats.HEARTBEAT, 0x2000000 + n, 2, 12, 81, 4, 3) for n in range(6)]
    stream = noise.join([b"", *packets])
    splitter, found = Splitter(), []
    for cut in cuts:
        found += splitter.feed(stream[:cut])
        stream = stream[cut:]
    found += splitter.feed(stream)
    assert [packet.values[0] for packet in found] == [0x2000000 + n for n in range(6)]
    assert all(packet.system == 9 and packet.component == 1 for packet in found)
    assert splitter.skipped == 6 * len(noise)
    assert not splitter.rest


def test_a_packet_with_a_wrong_crc_is_left_out() -> None:
    wire, splitter = Wire(1), Splitter()
    bad = bytearray(wire.pack(formats.ATTITUDE, 1, *[0.5] * 6))
    bad[-1] ^= 0xFF
    good = wire.pack(formats.ATTITUDE, 2, *[0.5] * 6)
    found = splitter.feed(bytes(bad) + good)
    assert [packet.values[0] for packet in found] == [2]
    assert splitter.bad_crc == 1


def test_mavlink_1_and_signed_packets_are_read() -> None:
    old = mavlink.MAVLink(None, srcSystem=255, srcComponent=190)
    beat = bytes(old.heartbeat_encode(6, 8, 0, 0, 4).pack(old, force_mavlink1=True))
    new = mavlink.MAVLink(None, srcSystem=254, srcComponent=190)
    new.signing.secret_key = bytes(32)
    new.signing.sign_outgoing = True
    signed = bytes(new.heartbeat_encode(6, 8, 0, 0, 4).pack(new))
    assert beat[0] == 0xFE
    assert signed[2] & 1
    assert [packet.system for packet in Splitter().feed(beat + signed + beat)] == [255, 254, 255]


def test_unknown_messages_are_passed_over() -> None:
    theirs = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
    unknown = bytes(theirs.play_tune_encode(1, 1, b"AB", b"").pack(theirs))
    beat = Wire(1).pack(formats.HEARTBEAT, 0, 2, 12, 0, 3, 3)
    assert [packet.form.name for packet in Splitter().feed(unknown + beat)] == ["HEARTBEAT"]


def test_integers_of_parameters_go_byte_by_byte() -> None:
    packet = Wire(1).pack(formats.PARAM_VALUE, struct.pack("<i", 3), 10, 2, b"NAV_DLL_ACT", 6)
    (message,) = mavlink.MAVLink(None).parse_buffer(packet) or []
    assert struct.unpack("<i", struct.pack("<f", message.param_value)) == (3,)
    assert message.param_type == mavlink.MAV_PARAM_TYPE_INT32
