"""What Foxglove shows: standard messages that stand beside ours in a recording (D25).

| recorded on | beside it | schema | role |
|---|---|---|---|
| `/sensors/<camera>` | `…/image` | `foxglove.RawImage`, `foxglove.CompressedImage` | bulk |
| | `…/calibration` | `foxglove.CameraCalibration` | display |
| `/sensors/<lidar>` | `…/points` | `foxglove.PointCloud` | bulk |
| `/sensors/<gps>` | `…/fix` | `foxglove.LocationFix` | display |
| `/ground_truth` | `…/pose` | `foxglove.PoseInFrame` | display |
| | `/tf` | `foxglove.FrameTransform` | display |
| `/estimate` | `…/pose` | `foxglove.PoseInFrame` | display |
| `/events` | `…/log` | `foxglove.Log` | display |

A *bulk* message holds the pixels or points themselves, which are stored nowhere else. A *display*
message repeats what ours says more exactly, and a reader of Ghost passes it by.

The image plane of Foxglove looks along z; ours along x (FLU). The frame of an image is therefore
called `<frame>_optical`, and a static transform relates the two.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import lru_cache
from struct import Struct
from typing import Any

import numpy as np
from foxglove_schemas_protobuf.CameraCalibration_pb2 import CameraCalibration
from foxglove_schemas_protobuf.CompressedImage_pb2 import CompressedImage
from foxglove_schemas_protobuf.FrameTransform_pb2 import FrameTransform
from foxglove_schemas_protobuf.LocationFix_pb2 import LocationFix
from foxglove_schemas_protobuf.Log_pb2 import Log
from foxglove_schemas_protobuf.PackedElementField_pb2 import PackedElementField
from foxglove_schemas_protobuf.PointCloud_pb2 import PointCloud
from foxglove_schemas_protobuf.Pose_pb2 import Pose
from foxglove_schemas_protobuf.PoseInFrame_pb2 import PoseInFrame
from foxglove_schemas_protobuf.Quaternion_pb2 import Quaternion
from foxglove_schemas_protobuf.RawImage_pb2 import RawImage
from foxglove_schemas_protobuf.Vector3_pb2 import Vector3
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import Message as ProtoMessage
from google.protobuf.timestamp_pb2 import Timestamp

from ghost.core import Event
from ghost.hal import (
    CameraIntrinsics,
    GpsPayload,
    GroundTruth,
    PointCloudPayload,
    StateEstimate,
)
from ghost.recording.wire import BYTES, field_bytes, key, varint

__all__ = [
    "POINT_DTYPE",
    "StaticTransform",
    "calibration",
    "compressed_image",
    "descriptor_set",
    "estimated_pose",
    "location_fix",
    "log",
    "optical_transform",
    "point_cloud",
    "raw_image",
    "static_transform",
    "vehicle_pose",
]

WORLD, BODY = "world", "base_link"
_OPTICAL = "_optical"
_MODELS = {"none": "plumb_bob", "plumb_bob": "plumb_bob", "equidistant": "kannala_brandt"}

POINT_DTYPE = np.dtype([("xyz", "<f4", 3), ("ring", "<u2")])
"""One point of a cloud as it is packed: x, y, z and the ring, 14 bytes."""

Parts = tuple[bytes | memoryview, ...]
"""The bytes of a message in pieces, so that an image is not copied to put a header before it."""


@dataclass(frozen=True, slots=True)
class StaticTransform:
    """Where a frame sits in another, for the picture in 3D."""

    parent: str
    child: str
    pos_m: tuple[float, float, float]
    q_parent_child: tuple[float, float, float, float]
    """(w, x, y, z), rotates child into parent."""


@lru_cache(maxsize=32)
def descriptor_set(schema: str) -> bytes:
    """Return the `FileDescriptorSet` of one of the Foxglove schemas above."""
    cls = _CLASSES[schema]
    found = FileDescriptorSet()
    seen: set[str] = set()

    def add(file: Any) -> None:
        if file.name not in seen:
            seen.add(file.name)
            for needed in file.dependencies:
                add(needed)
            proto = FileDescriptorProto()
            file.CopyToProto(proto)
            found.file.append(proto)

    add(cls.DESCRIPTOR.file)
    return found.SerializeToString()


def _stamp(stamp_ns: int) -> Timestamp:
    seconds, nanos = divmod(stamp_ns, 1_000_000_000)
    return Timestamp(seconds=seconds, nanos=nanos)


def _with_data(head: ProtoMessage, number: int, data: bytes | memoryview) -> Parts:
    return (head.SerializeToString() + key(number, BYTES) + varint(len(data)), data)


def raw_image(stamp_ns: int, frame_id: str, pixels: np.ndarray[Any, Any]) -> Parts:
    """Return a `foxglove.RawImage` of a (H, W, 3) uint8 or (H, W) float32 array."""
    height, width = pixels.shape[:2]
    colour = pixels.dtype == np.uint8
    head = RawImage(
        timestamp=_stamp(stamp_ns),
        frame_id=frame_id + _OPTICAL,
        width=width,
        height=height,
        encoding="rgb8" if colour else "32FC1",
        step=width * (3 if colour else 4),
    )
    if not colour and sys.byteorder == "big":
        pixels = pixels.astype("<f4")
    flat = np.ascontiguousarray(pixels).reshape(-1).view(np.uint8).data
    return _with_data(head, RawImage.DATA_FIELD_NUMBER, flat)


def compressed_image(stamp_ns: int, frame_id: str, file: bytes, encoding: str) -> Parts:
    """Return a `foxglove.CompressedImage` around a PNG or JPEG file."""
    head = CompressedImage(
        timestamp=_stamp(stamp_ns), frame_id=frame_id + _OPTICAL, format=encoding
    )
    return _with_data(head, CompressedImage.DATA_FIELD_NUMBER, file)


def calibration(stamp_ns: int, frame_id: str, camera: CameraIntrinsics) -> Parts:
    """Return the `foxglove.CameraCalibration` of a camera."""
    fx, fy, cx, cy = camera.fx, camera.fy, camera.cx, camera.cy
    coefficients = camera.distortion_coeffs.tolist() or [0.0] * 5
    message = CameraCalibration(
        timestamp=_stamp(stamp_ns),
        frame_id=frame_id + _OPTICAL,
        width=camera.width,
        height=camera.height,
        distortion_model=_MODELS[camera.distortion_model],
        D=coefficients,
        K=[fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0],
        R=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        P=[fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
    )
    return (message.SerializeToString(),)


def optical_transform(stamp_ns: int, frame_id: str) -> Parts:
    """Return the transform from a camera's frame (x forward) to its image plane (z forward)."""
    # Columns: image right is −y, image down −z, forward x, in the camera's FLU frame.
    half = StaticTransform(frame_id, frame_id + _OPTICAL, (0.0, 0.0, 0.0), (0.5, -0.5, 0.5, -0.5))
    return static_transform(stamp_ns, half)


def static_transform(stamp_ns: int, transform: StaticTransform) -> Parts:
    """Return a `foxglove.FrameTransform`."""
    message = FrameTransform(
        timestamp=_stamp(stamp_ns),
        parent_frame_id=transform.parent,
        child_frame_id=transform.child,
        translation=_vector(transform.pos_m),
        rotation=_quaternion(transform.q_parent_child),
    )
    return (message.SerializeToString(),)


def point_cloud(stamp_ns: int, frame_id: str, cloud: PointCloudPayload) -> Parts:
    """Return a `foxglove.PointCloud` with x, y, z and ring."""
    kinds = PackedElementField
    head = PointCloud(
        timestamp=_stamp(stamp_ns),
        frame_id=frame_id,
        pose=Pose(position=Vector3(), orientation=Quaternion(w=1.0)),
        point_stride=POINT_DTYPE.itemsize,
        fields=[
            kinds(name="x", offset=0, type=kinds.FLOAT32),
            kinds(name="y", offset=4, type=kinds.FLOAT32),
            kinds(name="z", offset=8, type=kinds.FLOAT32),
            kinds(name="ring", offset=12, type=kinds.UINT16),
        ],
    )
    packed = np.empty(len(cloud.points_m), POINT_DTYPE)
    packed["xyz"] = cloud.points_m
    packed["ring"] = cloud.ring
    return _with_data(head, PointCloud.DATA_FIELD_NUMBER, packed.tobytes())


def location_fix(stamp_ns: int, frame_id: str, fix: GpsPayload) -> Parts:
    """Return a `foxglove.LocationFix` with the accuracies squared on the diagonal."""
    h, v = fix.hacc_m * fix.hacc_m, fix.vacc_m * fix.vacc_m
    known = math.isfinite(h) and math.isfinite(v)
    kind = LocationFix.DIAGONAL_KNOWN if known else LocationFix.UNKNOWN
    place = _FIX.pack(0x09, fix.lat_deg, 0x11, fix.lon_deg, 0x19, fix.alt_m, 0x22, 72, h, h, v)
    return (place, b"\x28" + varint(kind), _stamp_field(stamp_ns, 6), _text_field(7, frame_id))


_FIX = Struct("<BdBdBdBBd24xd24xd")
"""Latitude, longitude, altitude, and the covariance: nine doubles, of which x are zeros."""


def vehicle_pose(truth: GroundTruth) -> tuple[Parts, Parts]:
    """Return the true pose, as `foxglove.PoseInFrame` and as `FrameTransform` world to body."""
    x, y, z = truth.pos_enu_m.tolist()
    qw, qx, qy, qz = truth.q_enu_flu.tolist()
    turn = _MOVE.pack(_TO_BODY, x, 0x11, y, 0x19, z, _TURN_TO, qx, 0x11, qy, 0x19, qz, 0x21, qw)
    return _pose(truth), (_stamp_field(truth.stamp_sim_ns), turn)


def estimated_pose(estimate: StateEstimate) -> Parts:
    """Return where the autopilot believes to be, as `foxglove.PoseInFrame`.

    No transform goes with it: the body is where the truth says.
    """
    return _pose(estimate)


def _pose(state: GroundTruth | StateEstimate) -> Parts:
    x, y, z = state.pos_enu_m.tolist()
    qw, qx, qy, qz = state.q_enu_flu.tolist()
    pose = _POSE.pack(_IN_WORLD, x, 0x11, y, 0x19, z, _TURN, qx, 0x11, qy, 0x19, qz, 0x21, qw)
    return _stamp_field(state.stamp_sim_ns), pose


# Poses come for all of a run, so their bytes are packed at once: with the library's objects the two
# messages take ten times as long. Vector3 is 27 bytes (three tagged doubles), Quaternion 36.
_VECTOR_HEAD, _TURN_HEAD = bytes((27, 0x09)), bytes((36, 0x09))
_IN_WORLD = (
    field_bytes(2, WORLD.encode())
    + key(3, BYTES)
    + varint(2 + 27 + 2 + 36)
    + key(1, BYTES)
    + _VECTOR_HEAD
)
_TURN = key(2, BYTES) + _TURN_HEAD
_TO_BODY = (
    field_bytes(2, WORLD.encode()) + field_bytes(3, BODY.encode()) + key(4, BYTES) + _VECTOR_HEAD
)
_TURN_TO = key(5, BYTES) + _TURN_HEAD
_POSE = Struct(f"<{len(_IN_WORLD)}sdBdBd{len(_TURN)}sdBdBdBd")
_MOVE = Struct(f"<{len(_TO_BODY)}sdBdBd{len(_TURN_TO)}sdBdBdBd")


@lru_cache(maxsize=256)
def _text_field(number: int, text: str) -> bytes:
    return field_bytes(number, text.encode())


def _stamp_field(stamp_ns: int, number: int = 1) -> bytes:
    """A field with a `google.protobuf.Timestamp`, of a stamp that is not negative."""
    seconds, nanos = divmod(max(stamp_ns, 0), 1_000_000_000)
    return field_bytes(number, b"\x08" + varint(seconds) + b"\x10" + varint(nanos))


def log(event: Event) -> Parts:
    """Return an event as `foxglove.Log`."""
    message = Log(
        timestamp=_stamp(event.stamp_sim_ns),
        level=Log.Level.Value(_LEVELS[int(event.severity)]),
        message=f"{event.type.value}: {event.message}",
        name=event.source,
    )
    return (message.SerializeToString(),)


_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "FATAL")


def _vector(xyz: Any) -> Vector3:
    x, y, z = xyz
    return Vector3(x=x, y=y, z=z)


def _quaternion(wxyz: Any) -> Quaternion:
    w, x, y, z = wxyz
    return Quaternion(w=w, x=x, y=y, z=z)


_CLASSES: dict[str, type[ProtoMessage]] = {
    f"foxglove.{cls.DESCRIPTOR.name}": cls
    for cls in (
        CameraCalibration,
        CompressedImage,
        FrameTransform,
        LocationFix,
        Log,
        PointCloud,
        PoseInFrame,
        RawImage,
    )
}
