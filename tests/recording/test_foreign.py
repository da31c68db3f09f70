"""Recordings of other tools, with Foxglove's schemas: mapped as far as they fit."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foxglove_schemas_protobuf.CameraCalibration_pb2 import CameraCalibration
from foxglove_schemas_protobuf.CompressedImage_pb2 import CompressedImage
from foxglove_schemas_protobuf.LocationFix_pb2 import LocationFix
from foxglove_schemas_protobuf.Log_pb2 import Log
from foxglove_schemas_protobuf.PackedElementField_pb2 import PackedElementField
from foxglove_schemas_protobuf.PointCloud_pb2 import PointCloud
from foxglove_schemas_protobuf.Pose_pb2 import Pose
from foxglove_schemas_protobuf.PoseInFrame_pb2 import PoseInFrame
from foxglove_schemas_protobuf.Quaternion_pb2 import Quaternion
from foxglove_schemas_protobuf.RawImage_pb2 import RawImage
from foxglove_schemas_protobuf.Vector3_pb2 import Vector3
from google.protobuf.timestamp_pb2 import Timestamp
from mcap_protobuf.writer import Writer
from PIL import Image

from ghost.hal import (
    DepthImagePayload,
    GpsFix,
    GpsPayload,
    GroundTruth,
    PointCloudPayload,
    RGBImagePayload,
    SensorSample,
)
from ghost.recording import LogReader

STAMP = Timestamp(seconds=3, nanos=5)
PIXELS = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)


def read(path: Path, *messages: tuple[str, Any]) -> tuple[list[Any], Sequence[str]]:
    """Write the messages as another tool would, and return what Ghost makes of them."""
    with path.open("wb") as stream:
        writer = Writer(stream)
        for number, (topic, message) in enumerate(messages):
            writer.write_message(topic, message, log_time=100 + number, publish_time=1)
        writer.finish()  # type: ignore[no-untyped-call]  # unannotated
    with LogReader(str(path)) as reader:
        return [m.message for m in reader.messages()], reader.notes


def raw(encoding: str, data: bytes, step: int) -> RawImage:
    return RawImage(
        timestamp=STAMP, frame_id="lens", width=3, height=2, encoding=encoding, step=step, data=data
    )


@pytest.mark.parametrize(
    ("encoding", "image", "wanted"),
    [
        ("rgb8", PIXELS, PIXELS),
        ("bgr8", PIXELS, PIXELS[:, :, ::-1]),
        ("rgba8", np.dstack([PIXELS, PIXELS[:, :, 0]]), PIXELS),
        ("mono8", PIXELS[:, :, 0], PIXELS[:, :, :1].repeat(3, axis=2)),
    ],
)
def test_colour_images(tmp_path: Path, encoding: str, image: Any, wanted: Any) -> None:
    row = image.reshape(2, -1)
    padded = np.hstack([row, np.zeros((2, 5), np.uint8)])
    for data, step in ((row, row.shape[1]), (padded, padded.shape[1])):
        message = raw(encoding, data.tobytes(), step)
        (sample,), notes = read(tmp_path / "a.mcap", ("/camera/front", message))
        assert isinstance(sample, SensorSample)
        assert isinstance(sample.payload, RGBImagePayload)
        np.testing.assert_array_equal(sample.payload.image, wanted)
        assert sample.sensor_id == "camera/front"
        assert sample.meta.frame_id == "lens"
        assert (sample.stamp_sensor_ns, sample.stamp_sim_ns) == (3_000_000_005, 100)
        assert np.isnan(sample.payload.intrinsics.fx), "there was no calibration"
        assert notes == ()


def test_depth_images(tmp_path: Path) -> None:
    metres = np.array([[1, np.nan, 3], [4, 5, 6]], np.float32)
    millimetres = np.array([[1000, 0, 3], [4, 5, 65535]], np.uint16)
    (first, second), _ = read(
        tmp_path / "a.mcap",
        ("/depth", raw("32FC1", metres.tobytes(), 12)),
        ("/depth", raw("16UC1", millimetres.tobytes(), 6)),
    )
    assert isinstance(first.payload, DepthImagePayload)
    np.testing.assert_array_equal(first.payload.depth_m, metres)
    np.testing.assert_allclose(
        second.payload.depth_m, [[1.0, np.nan, 0.003], [0.004, 0.005, 65.535]], rtol=1e-6
    )
    assert (first.seq, second.seq) == (0, 1)


def test_a_calibration_gives_the_intrinsics(tmp_path: Path) -> None:
    lens = CameraCalibration(
        width=3,
        height=2,
        distortion_model="plumb_bob",
        D=[0.1, 0, 0, 0, 0],
        K=[7, 0, 1.5, 0, 8, 1, 0, 0, 1],
    )
    (sample,), _ = read(
        tmp_path / "a.mcap",
        ("/front/calibration", lens),
        ("/front/image", raw("rgb8", PIXELS.tobytes(), 9)),
    )
    camera = sample.payload.intrinsics
    assert (camera.fx, camera.fy, camera.cx, camera.cy) == (7.0, 8.0, 1.5, 1.0)
    assert camera.distortion_model == "plumb_bob"


@pytest.mark.parametrize("kind", ["png", "jpeg"])
def test_compressed_images(tmp_path: Path, kind: str) -> None:
    out = io.BytesIO()
    Image.fromarray(PIXELS).save(out, kind)
    message = CompressedImage(timestamp=STAMP, data=out.getvalue(), format=kind)
    (sample,), _ = read(tmp_path / "a.mcap", ("/camera", message))
    assert sample.payload.image.shape == (2, 3, 3)
    if kind == "png":
        np.testing.assert_array_equal(sample.payload.image, PIXELS)


@pytest.mark.parametrize(("number", "dtype"), [(7, "<f4"), (8, "<f8")])
def test_point_clouds(tmp_path: Path, number: int, dtype: str) -> None:
    width = np.dtype(dtype).itemsize
    cloud = np.zeros(4, [("z", dtype), ("x", dtype), ("y", dtype), ("pad", "u1", 3)])
    cloud["x"], cloud["y"], cloud["z"] = [1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]
    offsets = {"x": width, "y": 2 * width, "z": 0}
    message = PointCloud(
        timestamp=STAMP,
        frame_id="scanner",
        point_stride=cloud.itemsize,
        data=cloud.tobytes(),
        fields=[
            PackedElementField(name=name, offset=at, type=number)  # type: ignore[arg-type]  # an enum's number
            for name, at in offsets.items()
        ],
    )
    (sample,), _ = read(tmp_path / "a.mcap", ("/points", message))
    assert isinstance(sample.payload, PointCloudPayload)
    assert sample.payload.points_m.tolist() == [[1, 5, 9], [2, 6, 10], [3, 7, 11], [4, 8, 12]]
    assert sample.payload.ring.tolist() == [0, 0, 0, 0]


def test_fixes_and_poses(tmp_path: Path) -> None:
    fix = LocationFix(
        timestamp=STAMP,
        latitude=1.5,
        longitude=2.5,
        altitude=3.5,
        position_covariance=[4, 0, 0, 0, 4, 0, 0, 0, 9],
        position_covariance_type=LocationFix.DIAGONAL_KNOWN,
    )
    pose = PoseInFrame(
        timestamp=STAMP,
        pose=Pose(position=Vector3(x=1, y=2, z=3), orientation=Quaternion(w=0.5, x=0.1)),
    )
    (sample, truth), _ = read(tmp_path / "a.mcap", ("/gps", fix), ("/pose", pose))
    assert isinstance(sample.payload, GpsPayload)
    assert (sample.payload.lat_deg, sample.payload.alt_m) == (1.5, 3.5)
    assert (sample.payload.hacc_m, sample.payload.vacc_m) == (2.0, 3.0)
    assert sample.payload.fix_type is GpsFix.FIX_3D
    assert np.isnan(sample.payload.enu_local_m).all()
    assert isinstance(truth, GroundTruth)
    assert truth.pos_enu_m.tolist() == [1.0, 2.0, 3.0]
    assert truth.q_enu_flu.tolist() == [0.5, 0.1, 0.0, 0.0]
    assert np.isnan(truth.vel_enu_mps).all()


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (raw("yuv422", bytes(99), 9), "the encoding 'yuv422' is not understood"),
        (raw("rgb8", bytes(3), 9), "a message cannot be decoded"),
        (RawImage(width=2**31, height=2**31, encoding="rgb8", step=9), "is not understood"),
        (CompressedImage(data=b"GIF89a", format="gif"), "no readable PNG or JPEG"),
        (PointCloud(data=bytes(9), point_stride=0), "without x, y, z"),
        (Log(message="hello"), "the schema 'foxglove.Log' (protobuf) is unknown"),
    ],
)
def test_what_does_not_fit_is_noted(tmp_path: Path, message: Any, why: str) -> None:
    fix = LocationFix(timestamp=STAMP, latitude=1.5)
    (sample,), notes = read(tmp_path / "a.mcap", ("/x", message), ("/gps", fix))
    assert sample.payload.lat_deg == 1.5
    assert any(why in note and "/x" in note for note in notes), notes
