"""Messages to bytes and back: equal to the last bit, and readable by the protobuf library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.core import Event, EventSeverity, EventType
from ghost.hal import (
    PAYLOAD_TYPES,
    GroundTruth,
    IMUPayload,
    SensorHealth,
    SensorMeta,
    SensorSample,
    StepReport,
    digest,
)
from ghost.recording.decode import DECODE_ERRORS, NO_BULK, MessageDecoder
from ghost.recording.descriptor import file_descriptor_set
from ghost.recording.encode import MessageEncoder
from ghost.recording.errors import CannotRecord
from ghost.recording.schema import BULK, PLAIN_MESSAGES, sample_name

if TYPE_CHECKING:
    from tests.recording.conftest import Kit

PLAIN_NAMES = [cls.__name__ for cls in PLAIN_MESSAGES]


def library_class(name: str) -> Any:
    """The message class that the protobuf library makes of the recorded descriptor set."""
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(file_descriptor_set()).file:
        pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName(name))


def bulk_of(payload: Any) -> dict[str, Any]:
    return {name: getattr(payload, name) for name in BULK.get(type(payload), ())}


@pytest.mark.parametrize("name", list(PAYLOAD_TYPES))
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_samples_come_back_equal(kit: Kit, name: str, data: st.DataObject) -> None:
    samples = [data.draw(kit.samples(name)) for _ in range(2)]
    encoder, decoder = MessageEncoder(), MessageDecoder()
    decode = decoder.by_name[sample_name(PAYLOAD_TYPES[name])]
    # Twice each: the second time the short cuts are taken that were learned from the first.
    for sample in [*samples, *samples]:
        back = decode(encoder.sample(sample), bulk_of(sample.payload))
        assert back == sample
        assert digest(back) == digest(sample)
        assert back.stamp_wall_ns == sample.stamp_wall_ns


@pytest.mark.parametrize("name", PLAIN_NAMES)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_other_messages_come_back_equal(kit: Kit, name: str, data: st.DataObject) -> None:
    messages = [data.draw(kit.plain[name]) for _ in range(2)]
    encoder, decode = MessageEncoder(), MessageDecoder().by_name[f"ghost.msg.{name}"]
    for message in [*messages, *messages]:
        back = decode(encoder.plain[type(message)](message), NO_BULK)
        assert digest(back) == digest(message)


@pytest.mark.parametrize("name", list(PAYLOAD_TYPES))
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_the_protobuf_library_reads_samples_and_writes_them_again(
    kit: Kit, name: str, data: st.DataObject
) -> None:
    sample = data.draw(kit.samples(name))
    full_name = sample_name(PAYLOAD_TYPES[name])
    message = library_class(full_name).FromString(MessageEncoder().sample(sample))
    assert message.sensor_id == sample.sensor_id
    assert message.seq == sample.seq
    assert message.health == sample.health
    assert message.stamp_sim_ns == sample.stamp_sim_ns
    assert message.meta.frame_id == sample.meta.frame_id
    # The library orders fields its own way and leaves zeros out; that must be read as well.
    back = MessageDecoder().by_name[full_name](message.SerializeToString(), bulk_of(sample.payload))
    assert digest(back) == digest(sample)


@pytest.mark.parametrize("name", PLAIN_NAMES)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_the_protobuf_library_reads_other_messages(
    kit: Kit, name: str, data: st.DataObject
) -> None:
    original = data.draw(kit.plain[name])
    full_name = f"ghost.msg.{name}"
    bytes_of = MessageEncoder().plain[type(original)](original)
    message = library_class(full_name).FromString(bytes_of)
    back = MessageDecoder().by_name[full_name](message.SerializeToString(), NO_BULK)
    assert digest(back) == digest(original)


def test_plain_numbers_are_where_a_person_looks_for_them() -> None:
    payload = IMUPayload(np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]), 21.5)
    meta = SensorMeta("imu_link", "cal-7")
    sample = SensorSample("imu0", 9, 1, 2, 3, SensorHealth.DEGRADED, payload, meta)
    message = library_class("ghost.msg.IMUSample").FromString(MessageEncoder().sample(sample))
    assert list(message.payload.accel_mps2) == [1.0, 2.0, 3.0]
    assert list(message.payload.gyro_rps) == [4.0, 5.0, 6.0]
    assert message.payload.temperature_c == 21.5
    assert message.meta.calibration_id == "cal-7"
    assert not library_class("ghost.msg.SensorMeta")().HasField("calibration_id")


@given(junk=st.binary(max_size=200), at=st.integers(0, 150))
@settings(max_examples=300, deadline=None)
def test_junk_gives_a_message_or_a_known_error(junk: bytes, at: int) -> None:
    truth = GroundTruth(5, *[np.ones(n) for n in (3, 4, 3, 3, 3, 4)])
    good = MessageEncoder().plain[GroundTruth](truth)
    for decode in MessageDecoder().by_name.values():
        for data in (junk, good[:at] + junk, good[: at // 2] + junk[:3] + good[at // 2 + 3 :]):
            try:
                decode(data, NO_BULK)
            except DECODE_ERRORS:
                continue


class Opaque:
    """An object with no place in a file."""


@pytest.mark.parametrize(
    "sample",
    [
        pytest.param({"meta": SensorMeta("f", None, {"x": Opaque()})}, id="opaque extension"),
        pytest.param({"meta": SensorMeta("f", None, {"x": SensorHealth.OK})}, id="enum"),
        pytest.param({"meta": SensorMeta("\ud800")}, id="lone surrogate"),
        pytest.param({"seq": 2**63}, id="seq beyond 64 bits"),
        pytest.param({"schema_version": 2**63}, id="version beyond 64 bits"),
    ],
)
def test_what_has_no_exact_form_is_refused(sample: dict[str, Any]) -> None:
    payload = IMUPayload(np.zeros(3), np.zeros(3))
    fields: dict[str, Any] = {"seq": 0, "meta": SensorMeta("f"), "schema_version": 1, **sample}
    message = SensorSample(
        sensor_id="imu0",
        stamp_sensor_ns=0,
        stamp_sim_ns=0,
        stamp_wall_ns=0,
        health=SensorHealth.OK,
        payload=payload,
        **fields,
    )
    with pytest.raises(CannotRecord):
        MessageEncoder().sample(message)


def test_equal_counts_of_other_types_do_not_mix() -> None:
    encoder, decode = MessageEncoder(), MessageDecoder().by_name["ghost.msg.Event"]
    for value in (1, True, 1.0):
        kinds = (EventType.CRASH, 0, EventSeverity.INFO)
        event = Event(*kinds, "s", "m", {"a": value})
        back = decode(encoder.plain[Event](event), NO_BULK)
        assert type(back.payload["a"]) is type(value)
    report = StepReport(1, 1, {"a": 1})
    assert (
        MessageDecoder().by_name["ghost.msg.StepReport"](encoder.plain[StepReport](report), NO_BULK)
        == report
    )
