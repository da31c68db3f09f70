"""Framing: equal to pymavlink's byte for byte, and never confused by what comes."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymavlink.dialects.v20 import common

from ghost.px4 import codec
from ghost.px4.codec import Framer, MessageId, Packet, Splitter, common_crc_extras, x25
from ghost.px4.outputs import unpack_answer
from tests.px4.link.parts import answer

SENT = ("HIL_SENSOR", "HIL_GPS", "HIL_OPTICAL_FLOW", "HIL_STATE_QUATERNION", "DISTANCE_SENSOR")
f32 = st.floats(width=32)


def kind_of(name: str) -> Any:
    return common.mavlink_map[getattr(MessageId, name)]


def numbers(code: str) -> st.SearchStrategy[float]:
    """Values that a field of this format takes; zeros often, as truncation depends on them."""
    if code == "f":
        return st.just(0.0) | f32
    bits = 8 * struct.calcsize(code)
    low, high = (0, 2**bits - 1) if code.isupper() else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return st.just(0) | st.integers(low, high)


@st.composite
def messages(draw: st.DrawFn) -> tuple[Any, bytes, int]:
    """A message of pymavlink, and its payload and id for our framer."""
    name = draw(st.sampled_from(SENT))
    kind = kind_of(name)
    fields: dict[str, Any] = {}
    flat: list[float] = []
    for position, field in enumerate(kind.ordered_fieldnames):
        code = {
            "uint64_t": "Q",
            "uint32_t": "I",
            "int32_t": "i",
            "uint16_t": "H",
            "int16_t": "h",
            "uint8_t": "B",
            "float": "f",
        }[kind.fieldtypes[kind.fieldnames.index(field)]]
        count = kind.array_lengths[position]
        if count:
            fields[field] = draw(st.lists(numbers(code), min_size=count, max_size=count))
            flat += fields[field]
        else:
            fields[field] = draw(numbers(code))
            flat.append(fields[field])
    layout = getattr(codec, name)
    return kind(**fields), layout.pack(*flat), kind.id


def test_checksum_of_the_catalogue() -> None:
    # The check value of CRC-16/MCRF4XX in the catalogue of parametrised CRC algorithms.
    assert x25(b"123456789") == 0x6F91


def test_crc_extras_are_pymavlinks() -> None:
    framer = Framer(1, 200)
    for name in SENT:
        packet = framer.frame(getattr(MessageId, name), b"\x01")
        assert Splitter().feed(packet)[0].msgid == kind_of(name).id
    assert common_crc_extras()[MessageId.HIL_ACTUATOR_CONTROLS] == 47


@pytest.mark.parametrize("name", [*SENT, "HIL_ACTUATOR_CONTROLS"])
def test_layouts_are_pymavlinks(name: str) -> None:
    kind, layout = kind_of(name), getattr(codec, name)
    assert layout.size == kind.unpacker.size
    values = range(1, len(kind.unpacker.unpack(bytes(layout.size))) + 1)
    assert layout.pack(*values) == kind.unpacker.pack(*values)


@given(messages(), st.integers(0, 3), st.integers(1, 255), st.integers(0, 255))
@settings(deadline=None, max_examples=300)
def test_packets_are_pymavlinks(
    message: tuple[Any, bytes, int], before: int, system: int, component: int
) -> None:
    theirs, payload, msgid = message
    sender = common.MAVLink(None, srcSystem=system, srcComponent=component)
    sender.seq = before
    framer = Framer(system, component)
    for _ in range(before):
        framer.frame(MessageId.HIL_SENSOR, b"x")
    assert framer.frame(msgid, payload) == theirs.pack(sender)


def test_sequence_numbers_wrap() -> None:
    framer = Framer(1, 1)
    seqs = [framer.frame(MessageId.HIL_GPS, b"a")[4] for _ in range(258)]
    assert seqs[:2] == [0, 1]
    assert seqs[254:] == [254, 255, 0, 1]


def test_a_message_that_is_not_sent_is_refused() -> None:
    with pytest.raises(KeyError):
        Framer(1, 1).frame(MessageId.HEARTBEAT, b"")


@given(
    st.integers(0, 2**64 - 1),
    st.lists(f32.filter(lambda x: x == x), min_size=16, max_size=16),
    st.booleans(),
    st.booleans(),
)
@settings(deadline=None)
def test_answers_are_read_as_pymavlink_wrote_them(
    time_us: int, controls: list[float], armed: bool, lockstep: bool
) -> None:
    raw = answer(time_us, tuple(controls), armed=armed, lockstep=lockstep)
    (packet,) = Splitter().feed(raw)
    assert packet.raw == raw
    assert packet.system == 1
    assert unpack_answer(packet.payload) == (time_us, armed, lockstep, tuple(controls))


def test_a_cut_and_an_extended_answer_are_read() -> None:
    assert unpack_answer(b"\x07").time_us == 7
    assert unpack_answer(b"\x07").controls == (0.0,) * 16
    assert unpack_answer(bytes(81) + b"\xff\xff").armed is False


def heartbeat(seq: int = 0, *, v1: bool = False) -> bytes:
    dialect = common.MAVLink(None, srcSystem=7, srcComponent=8)
    dialect.seq = seq
    return bytes(
        common.MAVLink_heartbeat_message(2, 12, 0, 0, 4, 3).pack(dialect, force_mavlink1=v1)
    )


def signed(seq: int = 0) -> bytes:
    dialect = common.MAVLink(None, srcSystem=7, srcComponent=8)
    dialect.seq = seq
    dialect.signing.secret_key = b"k" * 32
    dialect.signing.sign_outgoing = True
    return bytes(common.MAVLink_heartbeat_message(2, 12, 0, 0, 4, 3).pack(dialect))


GOOD = st.one_of(
    st.builds(answer, st.integers(1, 2**40)),
    st.builds(heartbeat, st.integers(0, 255)),
    st.builds(lambda seq: heartbeat(seq, v1=True), st.integers(0, 255)),
    st.builds(signed, st.integers(0, 255)),
)
# Bytes that look like beginnings of packets are what could confuse it.
GARBAGE = st.binary(max_size=40) | st.lists(
    st.sampled_from([b"\xfd", b"\xfe", b"\x09", b"\x00", b"\xff", b"\xfd\xff\x00\x00"]), max_size=12
).map(b"".join)


@given(st.lists(st.tuples(GARBAGE, GOOD), max_size=8), GARBAGE, st.data())
@settings(deadline=None, max_examples=400)
def test_the_good_are_found_among_garbage(
    parts: list[tuple[bytes, bytes]], last: bytes, data: st.DataObject
) -> None:
    stream = b"".join(garbage + good for garbage, good in parts) + last
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    splitter = Splitter()
    found: list[Packet] = []
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += splitter.feed(stream[begin:end])
    assert [packet.raw for packet in found] == [good for _, good in parts]


@given(st.lists(st.binary(max_size=600), max_size=6))
@settings(deadline=None, max_examples=300)
def test_nothing_makes_it_raise_and_every_byte_is_accounted_for(pieces: list[bytes]) -> None:
    splitter = Splitter()
    found = [packet for piece in pieces for packet in splitter.feed(piece)]
    whole = sum(len(packet.raw) for packet in found)
    assert whole + splitter.garbage_bytes <= sum(map(len, pieces))
    assert len(splitter._rest) < 300


@pytest.mark.parametrize("raw", [heartbeat(3), heartbeat(3, v1=True), signed(3)])
def test_headers_of_all_kinds(raw: bytes) -> None:
    splitter = Splitter()
    (packet,) = splitter.feed(raw)
    assert packet[:4] == (0, 7, 8, 3)
    assert packet.payload == struct.pack("<IBBBBB", 0, 2, 12, 0, 4, 3)
    assert splitter.garbage_bytes == splitter.bad_crc == splitter.unknown == 0


def test_a_packet_comes_byte_by_byte() -> None:
    splitter = Splitter()
    raw = answer(4_000)
    assert [len(splitter.feed(raw[i : i + 1])) for i in range(len(raw))] == [0] * 92 + [1]


def test_a_false_beginning_does_not_hold_a_packet_back() -> None:
    splitter = Splitter()
    # A header that announces 255 bytes: the packet after it is whole long before those are there.
    assert [p.msgid for p in splitter.feed(b"\xfd\xff\x00\x00\x01\x01" + answer(4_000))] == [93]
    assert splitter.garbage_bytes == 6


def test_counters() -> None:
    splitter = Splitter({93: 47})
    raw = answer(4_000)
    wrong = bytearray(raw)
    wrong[20] ^= 0x55
    assert splitter.feed(bytes(wrong)) == []
    assert (splitter.bad_crc, splitter.unknown, splitter.garbage_bytes) == (1, 0, 0)
    assert len(splitter.feed(bytes(wrong) + raw)) == 1
    assert (splitter.bad_crc, splitter.unknown, splitter.garbage_bytes) == (2, 0, 0)
    assert len(splitter.feed(heartbeat() + raw)) == 1
    assert (splitter.bad_crc, splitter.unknown, splitter.garbage_bytes) == (2, 1, 0)
    assert len(splitter.feed(b"hello" + raw)) == 1
    assert (splitter.bad_crc, splitter.unknown, splitter.garbage_bytes) == (2, 1, 5)


def test_an_unknown_incompatibility_flag_is_no_packet() -> None:
    raw = bytearray(answer(4_000))
    raw[2] = 0x02
    crc = x25(bytes(raw[1:-2]) + b"\x2f")
    raw[-2:] = crc.to_bytes(2, "little")
    assert Splitter().feed(bytes(raw)) == []


def test_clear_forgets_half_a_packet() -> None:
    splitter = Splitter()
    raw = answer(4_000)
    splitter.feed(raw[:50])
    splitter.clear()
    assert len(splitter.feed(raw)) == 1
