"""A recording as others see it: through `mcap-protobuf-support` and Foxglove's own classes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from foxglove_schemas_protobuf.CameraCalibration_pb2 import CameraCalibration
from foxglove_schemas_protobuf.CompressedImage_pb2 import CompressedImage
from foxglove_schemas_protobuf.FrameTransform_pb2 import FrameTransform
from foxglove_schemas_protobuf.LocationFix_pb2 import LocationFix
from foxglove_schemas_protobuf.Log_pb2 import Log
from foxglove_schemas_protobuf.PointCloud_pb2 import PointCloud
from foxglove_schemas_protobuf.PoseInFrame_pb2 import PoseInFrame
from foxglove_schemas_protobuf.RawImage_pb2 import RawImage
from mcap.reader import NonSeekingReader, make_reader
from mcap_protobuf.decoder import DecoderFactory

from ghost.core import MessageBus
from ghost.hal import (
    DepthImagePayload,
    GroundTruth,
    PointCloudPayload,
    RGBImagePayload,
    StateEstimate,
)
from ghost.recording import Recorder, StaticTransform

if TYPE_CHECKING:
    from tests.recording.conftest import Kit, Seen

FOXGLOVE = (
    CameraCalibration,
    CompressedImage,
    FrameTransform,
    LocationFix,
    Log,
    PointCloud,
    PoseInFrame,
    RawImage,
)


def decoded(path: Path) -> list[tuple[str, str, Any]]:
    """Topic, schema name and message of everything, by Foxglove's reader library."""
    with path.open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
        return [
            (channel.topic, schema.name if schema else "", message)
            for schema, channel, _, message in reader.iter_decoded_messages()
        ]


@pytest.fixture(scope="module")
def flight(kit: Kit, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], dict[str, Any]]:
    """All messages as decoded, and the originals by topic and order."""
    path = tmp_path_factory.mktemp("foxglove") / "a.mcap"
    bus = MessageBus()
    originals: dict[str, list[Any]] = {}
    mount = StaticTransform("base_link", "cam0_link", (0.1, 0.0, 0.2), (1.0, 0.0, 0.0, 0.0))
    with Recorder(str(path), bus, transforms=[mount]):
        for topic, message in kit.flight(200):
            originals.setdefault(topic, []).append(message)
            bus.publish(topic, message)
    return decoded(path), originals


def of(flight: tuple[list[Any], dict[str, Any]], topic: str) -> list[Any]:
    return [message for name, _, message in flight[0] if name == topic]


def test_the_library_decodes_every_message(recorded: tuple[Path, Seen]) -> None:
    messages = decoded(recorded[0])
    ours = [m for _, name, m in messages if name.startswith("ghost.msg.")]
    assert len(ours) == len(recorded[1])
    with recorded[0].open("rb") as stream:  # from the front, with every CRC
        count = sum(1 for _ in NonSeekingReader(stream, validate_crcs=True).iter_messages())
    assert count == len(messages)


def test_the_schemas_are_foxgloves_own(flight: tuple[list[Any], dict[str, Any]]) -> None:
    classes = {cls.DESCRIPTOR.full_name: cls for cls in FOXGLOVE}
    seen = set()
    for _, name, message in flight[0]:
        if name.startswith("foxglove."):
            theirs = classes[name].DESCRIPTOR
            numbers = {f.name: (f.number, f.type) for f in theirs.fields}
            assert {f.name: (f.number, f.type) for f in message.DESCRIPTOR.fields} == numbers
            seen.add(name)
    assert seen == classes.keys() - {"foxglove.CompressedImage"}


def test_images(flight: tuple[list[Any], dict[str, Any]]) -> None:
    colour: list[RGBImagePayload] = [s.payload for s in flight[1]["/sensors/cam0"]]
    for message, payload in zip(of(flight, "/sensors/cam0/image"), colour, strict=True):
        assert (message.encoding, message.width, message.height) == ("rgb8", 32, 24)
        assert message.step == 32 * 3
        assert message.data == payload.image.tobytes()
        assert message.frame_id == "cam0_link_optical"
    depth: list[DepthImagePayload] = [s.payload for s in flight[1]["/sensors/depth0"]]
    for message, ranges in zip(of(flight, "/sensors/depth0/image"), depth, strict=True):
        assert (message.encoding, message.step) == ("32FC1", 32 * 4)
        assert message.data == ranges.depth_m.tobytes()


def test_calibration(flight: tuple[list[Any], dict[str, Any]]) -> None:
    first = of(flight, "/sensors/depth0/calibration")[0]
    camera = flight[1]["/sensors/depth0"][0].payload.intrinsics
    assert list(first.K) == [20.0, 0.0, 16.0, 0.0, 20.0, 12.0, 0.0, 0.0, 1.0]
    assert list(first.D) == camera.distortion_coeffs.tolist()
    assert (first.distortion_model, first.width, first.height) == ("plumb_bob", 32, 24)
    assert len(first.P) == 12


def test_estimates_are_poses_without_a_transform(
    flight: tuple[list[Any], dict[str, Any]],
) -> None:
    estimates = {e.stamp_sim_ns: e for e in flight[1]["/estimate"]}
    poses = of(flight, "/estimate/pose")
    assert len(poses) == 5  # 25 Hz of the 250 Hz that come
    for pose in poses:
        estimate = estimates[pose.timestamp.seconds * 10**9 + pose.timestamp.nanos]
        position, turn = pose.pose.position, pose.pose.orientation
        assert [position.x, position.y, position.z] == estimate.pos_enu_m.tolist()
        assert [turn.w, turn.x, turn.y, turn.z] == estimate.q_enu_flu.tolist()
        assert pose.frame_id == "world"
    truth_stamps = {truth.stamp_sim_ns for truth in flight[1]["/ground_truth"]}
    moves = [m for m in of(flight, "/tf") if m.child_frame_id == "base_link"]
    assert len(moves) == len(of(flight, "/ground_truth/pose"))
    assert {m.timestamp.seconds * 10**9 + m.timestamp.nanos for m in moves} <= truth_stamps


def test_an_unknown_position_is_not_shown(tmp_path: Path) -> None:
    bus, nowhere, level = MessageBus(), np.full(3, np.nan), np.array([1.0, 0.0, 0.0, 0.0])
    known = np.array([1.0, 2.0, 3.0])
    with Recorder(str(tmp_path / "a.mcap"), bus):
        bus.publish("/estimate", StateEstimate(4_000_000, nowhere, level, nowhere))
        bus.publish("/estimate", StateEstimate(8_000_000, known, level, nowhere))
    messages = decoded(tmp_path / "a.mcap")
    assert len([m for topic, _, m in messages if topic == "/estimate"]) == 2
    (pose,) = [m for topic, _, m in messages if topic == "/estimate/pose"]
    assert (pose.timestamp.nanos, pose.pose.position.z) == (8_000_000, 3.0)


def test_poses(flight: tuple[list[Any], dict[str, Any]]) -> None:
    truths: dict[int, GroundTruth] = {t.stamp_sim_ns: t for t in flight[1]["/ground_truth"]}
    poses = of(flight, "/ground_truth/pose")
    assert len(poses) == 5
    for pose in poses:
        truth = truths[pose.timestamp.seconds * 10**9 + pose.timestamp.nanos]
        position, turn = pose.pose.position, pose.pose.orientation
        assert [position.x, position.y, position.z] == truth.pos_enu_m.tolist()
        assert [turn.w, turn.x, turn.y, turn.z] == truth.q_enu_flu.tolist()
        assert pose.frame_id == "world"
    frames = {(m.parent_frame_id, m.child_frame_id) for m in of(flight, "/tf")}
    assert {("world", "base_link"), ("base_link", "cam0_link")} <= frames
    assert ("cam0_link", "cam0_link_optical") in frames


def test_point_clouds(flight: tuple[list[Any], dict[str, Any]]) -> None:
    clouds: list[PointCloudPayload] = [s.payload for s in flight[1]["/sensors/lidar0"]]
    for message, cloud in zip(of(flight, "/sensors/lidar0/points"), clouds, strict=True):
        assert [(f.name, f.offset, f.type) for f in message.fields] == [
            ("x", 0, 7),
            ("y", 4, 7),
            ("z", 8, 7),
            ("ring", 12, 3),
        ]
        assert message.point_stride == 14
        packed = np.frombuffer(message.data, [("xyz", "<f4", 3), ("ring", "<u2")])
        np.testing.assert_array_equal(packed["xyz"], cloud.points_m)
        np.testing.assert_array_equal(packed["ring"], cloud.ring)
        assert message.pose.orientation.w == 1.0


def test_fixes_and_logs(flight: tuple[list[Any], dict[str, Any]]) -> None:
    fix = of(flight, "/sensors/gps0/fix")[0]
    assert (fix.latitude, fix.longitude, fix.altitude) == (47.1, 8.2, 400.0)
    assert list(fix.position_covariance)[::4] == [2.25, 2.25, 6.25]
    log = of(flight, "/events/log")[0]
    assert (log.message, log.name, log.level) == ("sensor_fault: gone", "sensors/x", 3)


@pytest.mark.parametrize("encoding", ["png", "jpeg"])
def test_compressed_images_are_files_of_their_kind(kit: Kit, tmp_path: Path, encoding: str) -> None:
    options: dict[str, Any] = {"encodings": {"cam0": encoding}}
    kit.record(tmp_path / "a.mcap", 50, **options)
    images = [m for _, name, m in decoded(tmp_path / "a.mcap") if "CompressedImage" in name]
    assert images[0].format == encoding
    magic = {"png": b"\x89PNG\r\n", "jpeg": b"\xff\xd8\xff"}
    assert images[0].data.startswith(magic[encoding])
