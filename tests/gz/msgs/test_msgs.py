"""Our messages read what the real Gazebo sent, and what has no class is shown by number."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2
from hypothesis import given
from hypothesis import strategies as st

from ghost.gz import msgs
from ghost.gz.msgs import (
    IMU,
    Clock,
    Double,
    Image,
    StringMsg,
    base_name,
    describe,
    gz_type,
    known_types,
    message_class,
    raw_fields,
    same_type,
)
from tools.write_gz_msgs import FOLDER, ROOT, without_guard

FILE = Path(__file__).parents[2] / "data" / "gz_frames.jsonl.gz"


def recorded() -> Iterator[tuple[str, bytes]]:
    """Yield type and bytes of every recorded message, request and reply."""
    with gzip.open(FILE, "rt") as file:
        for line in file:
            item = json.loads(line)
            if "topic" in item:
                yield item["type"], base64.b64decode(item["data"])
            elif "service" in item:
                yield item["req_type"], base64.b64decode(item["req"])
                yield item["rep_type"], base64.b64decode(item["rep"])


def test_every_recorded_message_is_read_and_comes_out_as_it_was() -> None:
    counts: dict[str, int] = {}
    for kind, data in recorded():
        cls = message_class(kind)
        assert cls is not None, kind
        message = cls()
        message.ParseFromString(data)
        # Fields that we do not list are kept, at the end: nothing is lost.
        again = message.SerializeToString()
        assert len(again) == len(data)
        if kind != "gz.msgs.Scene":
            assert again == data
        counts[kind] = counts.get(kind, 0) + 1
    assert len(counts) >= 15
    assert counts["gz.msgs.IMU"] == 300


def test_values_are_where_gazebo_put_them() -> None:
    last: dict[str, bytes] = dict(recorded())
    clock = Clock.FromString(last["gz.msgs.Clock"])
    assert (clock.sim.sec, clock.sim.nsec) == (1, 200_000_000)
    imu = IMU.FromString(last["gz.msgs.IMU"])
    assert imu.linear_acceleration.z == pytest.approx(9.8, abs=0.2)
    assert (imu.header.stamp.sec, imu.header.stamp.nsec) == (1, 200_000_000)
    assert imu.orientation.w == pytest.approx(1.0, abs=1e-3)
    pressure = message_class("gz.msgs.FluidPressure")
    assert pressure is not None
    shown = describe("gz.msgs.FluidPressure", last["gz.msgs.FluidPressure"])
    assert isinstance(shown, dict)
    assert isinstance(shown["pressure"], float)
    assert 90_000 < shown["pressure"] < 102_000
    image = Image.FromString(last["gz.msgs.Image"])
    assert (image.width, image.height) == (64, 48)
    assert len(image.data) == image.step * image.height


def test_names_with_and_without_prefix() -> None:
    assert message_class("gz.msgs.IMU") is message_class("ignition.msgs.IMU") is IMU
    assert message_class("IMU") is IMU
    assert message_class("gz.msgs.NoSuch") is None
    assert gz_type(IMU) == gz_type(IMU()) == "gz.msgs.IMU"
    assert gz_type(IMU, "ignition.msgs.") == "ignition.msgs.IMU"
    assert base_name("other.IMU") == "other.IMU"
    assert same_type("gz.msgs.IMU", "ignition.msgs.IMU")
    assert not same_type("gz.msgs.IMU", "other.IMU")
    assert "gz.msgs.WorldControl" in known_types()
    assert list(known_types()) == sorted(known_types())


def test_every_class_is_at_the_door() -> None:
    for name in known_types():
        assert getattr(msgs, base_name(name)) is message_class(name)
        assert base_name(name) in msgs.__all__


def test_known_types_are_described_by_name() -> None:
    assert describe("gz.msgs.StringMsg", StringMsg(data="hi").SerializeToString()) == {"data": "hi"}
    nan = describe("gz.msgs.Double", Double(data=float("nan")).SerializeToString())
    assert nan == {"data": "NaN"}


def test_unknown_types_are_described_by_number() -> None:
    clock = Clock(sim={"sec": 3, "nsec": 5}).SerializeToString()
    assert describe("my.Own", clock) == {"4": {"1": 3, "2": 5}}
    assert describe("my.Own", Double(data=1.5).SerializeToString()) == {"2": 1.5}
    assert describe("my.Own", b"\x08\x01\x08\x02\x08\x03") == {"1": [1, 2, 3]}
    assert describe("my.Own", b"\x12\x02\xff\xfe") == {"2": "ff fe"}
    assert describe("my.Own", b"\xff" * 40) == ("ff " * 32).strip() + " … (40 bytes)"
    assert describe("my.Own", StringMsg(data="héllo").SerializeToString()) == {"2": "héllo"}
    # Bytes that are no message of the named type are shown as well.
    assert describe("gz.msgs.StringMsg", b"\x12\x05\xff") == "12 05 ff"


@given(st.text(), st.binary(max_size=300))
def test_anything_can_be_described_as_json(kind: str, data: bytes) -> None:
    json.dumps(describe(kind, data), allow_nan=False)
    for name in ("gz.msgs.Image", "gz.msgs.Pose_V"):
        json.dumps(describe(name, data))


@pytest.mark.parametrize(
    "bad", [b"\x00", b"\x08", b"\x0b", b"\x0c", b"\x12\x05ab", b"\x09\x01", b"\x08" + b"\xff" * 11]
)
def test_what_is_no_message_is_refused(bad: bytes) -> None:
    with pytest.raises(ValueError, match=r"byte|number|field|wire"):
        raw_fields(bad)


def test_raw_fields_keep_the_order() -> None:
    assert raw_fields(b"\x10\x96\x01\x0a\x01x\x0d\x00\x00\x80\x3f") == [
        (2, 0, 150),
        (1, 2, b"x"),
        (1, 5, 0x3F800000),
    ]


def test_the_generated_modules_are_those_of_the_proto_files(tmp_path: Path) -> None:
    protoc = pytest.importorskip("grpc_tools.protoc")
    files = sorted(FOLDER.glob("*.proto"))
    assert len(files) == 4
    target = tmp_path / "all.pb"
    arguments = ["protoc", f"-I{ROOT}", f"--descriptor_set_out={target}"]
    assert protoc.main([*arguments, *(str(file.relative_to(ROOT)) for file in files)]) == 0
    wanted = descriptor_pb2.FileDescriptorSet.FromString(target.read_bytes())
    made = {}
    for name in known_types():
        cls = message_class(name)
        assert cls is not None
        made[cls.DESCRIPTOR.file.name] = cls.DESCRIPTOR.file
    assert {file.name for file in wanted.file} == set(made)
    for file in wanted.file:
        compiled = descriptor_pb2.FileDescriptorProto()
        made[file.name].CopyToProto(compiled)
        assert _names(compiled) == _names(file)


def _names(file: descriptor_pb2.FileDescriptorProto) -> str:
    """The file as text, without what only one of the two ways of making it fills in."""
    copy = descriptor_pb2.FileDescriptorProto()
    copy.CopyFrom(file)

    def clean(message: descriptor_pb2.DescriptorProto) -> None:
        for one in message.field:
            one.ClearField("json_name")
        for nested in message.nested_type:
            clean(nested)

    for message in copy.message_type:
        clean(message)
    return str(copy)


def test_the_guard_of_the_generator_is_taken_out() -> None:
    text = (
        "from google.protobuf import descriptor as _descriptor\n"
        "from google.protobuf import runtime_version as _runtime_version\n"
        "_runtime_version.ValidateProtobufRuntimeVersion(\n"
        "    _runtime_version.Domain.PUBLIC,\n    7,\n    35,\n    1,\n    '',\n    'x.proto'\n)\n"
        "rest = 1\n"
    )
    assert without_guard(text) == (
        "from google.protobuf import descriptor as _descriptor\nrest = 1\n"
    )
    for path in FOLDER.glob("*_pb2.py"):
        assert "ValidateProtobufRuntimeVersion" not in path.read_text(encoding="utf-8")
