"""The compiled way of writing gives the bytes of the general way, or gives the message up."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.core import Envelope
from ghost.hal import (
    PAYLOAD_TYPES,
    GroundTruth,
    IMUPayload,
    SensorHealth,
    SensorMeta,
    SensorSample,
    StepReport,
)
from ghost.recording.chunks import ChunkBuilder, Definitions
from ghost.recording.encode import MessageEncoder
from ghost.recording.schema import PLAIN_MESSAGES
from ghost.recording.tracks import LEARN_EVERY, Tracks

if TYPE_CHECKING:
    from tests.recording.conftest import Kit

HEAD = struct.Struct("<BQHIQQ")
UNLIKE = (struct.error, TypeError, AttributeError, OverflowError)


def check(encoder: MessageEncoder, example: Any, message: Any, expected: bytes) -> bool:
    """Compare the record of `message` by a function that was made for `example`; False if none."""
    make = encoder.record_maker(example, 300)
    if make is None:
        return False
    try:
        record = make(message, 2**32 + 7, 5)
    except UNLIKE:
        record = None
    if record is None:
        return False
    size = HEAD.size - 9 + len(expected)
    assert record == HEAD.pack(5, size, 300, 7, 5, 5) + expected
    return True


@pytest.mark.parametrize("name", list(PAYLOAD_TYPES))
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_samples(kit: Kit, name: str, data: st.DataObject) -> None:
    first, second = data.draw(kit.samples(name)), data.draw(kit.samples(name))
    encoder = MessageEncoder()
    assert check(encoder, first, first, encoder.sample(first)) or name == "event_camera"
    check(encoder, first, second, encoder.sample(second))


@pytest.mark.parametrize("name", [cls.__name__ for cls in PLAIN_MESSAGES])
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_other_messages(kit: Kit, name: str, data: st.DataObject) -> None:
    first, second = data.draw(kit.plain[name]), data.draw(kit.plain[name])
    encoder = MessageEncoder()
    encode = encoder.plain[type(first)]
    done = check(encoder, first, first, encode(first))
    alike = type(first).__name__ in ("GroundTruth", "CommandRecord", "CommandAck")
    assert done or not alike
    check(encoder, first, second, encode(second))


def imu(seq: int, temperature_c: float | None, meta: SensorMeta) -> SensorSample[IMUPayload]:
    payload = IMUPayload(np.full(3, seq * 1.0), np.zeros(3), temperature_c)
    return SensorSample("imu0", seq, 1, 2, 3, SensorHealth.OK, payload, meta)


def test_what_looks_different_is_given_up() -> None:
    meta = SensorMeta("imu")
    example = imu(1, 20.0, meta)
    make = MessageEncoder().record_maker(example, 1)
    assert make is not None
    assert make(imu(2, 21.0, meta), 0, 0) is not None
    assert make(imu(2, 21.0, SensorMeta("imu")), 0, 0) is None, "other metadata"
    assert make(StepReport(1, 1, {}), 0, 0) is None
    with pytest.raises(struct.error):
        make(imu(2, None, meta), 0, 0)
    for stamp_ns in (-1, 2**63):
        with pytest.raises(struct.error):
            make(example, 0, stamp_ns)


def test_rotors_that_come_and_go_are_learned_again() -> None:
    chunk, wanted = ChunkBuilder(), []
    tracks = Tracks(Definitions(), chunk, {}, ())
    encode = MessageEncoder().plain[GroundTruth]
    envelopes = []
    for k in range(3 * LEARN_EVERY):
        rotors = np.zeros(4 if k < LEARN_EVERY * 3 // 2 else 6)
        vectors: list[Any] = [np.full(n, k * 1.0) for n in (3, 4, 3, 3, 3)]
        truth = GroundTruth(k, *[*vectors, rotors])
        envelopes.append(Envelope("/ground_truth", k, k, truth))
        wanted.append(encode(truth))
    failures: list[object] = []
    tracks.write_all(envelopes, 2**30, lambda: None, lambda *why: failures.append(why))
    assert not failures
    (channel,) = tracks.recorded
    plain = b"".join(chunk.pieces)
    starts = chunk.indexes[channel][1::2]
    for start, body in zip(starts, wanted, strict=True):
        assert plain[start + HEAD.size : start + HEAD.size + len(body)] == body
    assert chunk.indexes[channel][0::2] == list(range(3 * LEARN_EVERY))
    assert chunk.size == len(plain)
