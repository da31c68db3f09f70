"""The schema: written down, complete, and understood by the protobuf library."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool

import ghost.recording
from ghost.hal import PAYLOAD_TYPES, SensorSample
from ghost.recording.descriptor import file_descriptor_set, proto_text
from ghost.recording.schema import PLAIN_MESSAGES, fields_of, sample_name


def test_the_proto_file_is_up_to_date() -> None:
    written = Path(ghost.recording.__file__).with_name("ghost_msg.proto").read_text("utf-8")
    assert written == proto_text(), "run: python tools/write_ghost_proto.py, and read what changed"


def test_the_descriptor_set_stands_alone_and_has_every_message() -> None:
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(file_descriptor_set()).file:
        pool.Add(file)
    for cls in PAYLOAD_TYPES.values():
        sample = pool.FindMessageTypeByName(sample_name(cls))
        assert sample.fields_by_name["payload"].number == 9
    for cls in PLAIN_MESSAGES:
        names = [
            field.name for field in pool.FindMessageTypeByName(f"ghost.msg.{cls.__name__}").fields
        ]
        assert names == [field.name for field in fields_of(cls)]


def test_a_class_without_a_place_is_refused() -> None:
    with pytest.raises(TypeError, match="no plain message class"):
        fields_of(SensorSample)
    with pytest.raises(TypeError, match="no plain message class"):
        fields_of(int)
