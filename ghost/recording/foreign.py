"""From Foxglove messages to our payloads: bulk data of our own files, and files of other tools.

What a foreign message does not say is not made up: intrinsics without a calibration, a local
position without an origin, a velocity beside a pose are NaN.

| schema | becomes |
|---|---|
| `RawImage` rgb8, bgr8, rgba8, bgra8, mono8 (also 8UC1, 8UC3) | `rgb` sample |
| `RawImage` 32FC1 (m), 16UC1 and mono16 (mm) | `depth` sample |
| `CompressedImage` png, jpeg | `rgb` sample |
| `PointCloud` with x, y, z (float32 or float64), perhaps ring | `lidar` sample |
| `LocationFix` | `gps` sample |
| `PoseInFrame` | `GroundTruth` |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from foxglove_schemas_protobuf.CameraCalibration_pb2 import CameraCalibration
from foxglove_schemas_protobuf.CompressedImage_pb2 import CompressedImage
from foxglove_schemas_protobuf.LocationFix_pb2 import LocationFix
from foxglove_schemas_protobuf.PackedElementField_pb2 import PackedElementField
from foxglove_schemas_protobuf.PointCloud_pb2 import PointCloud
from foxglove_schemas_protobuf.PoseInFrame_pb2 import PoseInFrame
from foxglove_schemas_protobuf.RawImage_pb2 import RawImage

from ghost.hal import (
    CameraIntrinsics,
    DepthImagePayload,
    GpsFix,
    GpsPayload,
    GroundTruth,
    PointCloudPayload,
    RGBImagePayload,
    SensorHealth,
    SensorMeta,
    SensorSample,
)
from ghost.recording.foxglove import POINT_DTYPE
from ghost.recording.images import MAX_PIXELS, decompress
from ghost.recording.wire import BYTES, fields

__all__ = ["BULK_READERS", "ForeignReader", "NotMapped"]

Bulk = Mapping[str, npt.NDArray[Any]]
NAN = math.nan


class NotMapped(ValueError):
    """A message of a known schema that has no place in our payloads."""


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only array that owns its data, so that a message takes it without a copy."""
    if not array.flags.owndata or not array.flags.c_contiguous:
        array = np.array(array, order="C")
    array.setflags(write=False)
    return array


def _split(data: bytes, start: int, end: int, number: int) -> tuple[bytes, int, int]:
    """Cut a message in two: its small fields, and where the bytes of field `number` are.

    So the pixels are copied once, into the array, and not before that.
    """
    small, at, stop, done = [], start, start, start
    for tag, _, first, last in fields(data, start, end):
        if tag == number << 3 | BYTES:
            at, stop = first, last
        else:
            small.append(data[done:last])
        done = last
    return b"".join(small), at, stop


def _pixels(
    message: RawImage, data: bytes, start: int, end: int, dtype: str, channels: int
) -> npt.NDArray[Any]:
    """The pixels `data[start:end]` as (height, width, channels), rows cut out of their step."""
    width, height = message.width, message.height
    if not 0 < width * height <= MAX_PIXELS:
        raise NotMapped(f"an image of {width}x{height} pixels")
    item = np.dtype(dtype)
    row, step = width * channels * item.itemsize, message.step
    if step < row or end - start < step * (height - 1) + row:
        raise ValueError(f"{end - start} bytes are too few for {width}x{height}")
    flat = np.frombuffer(data, np.uint8, end - start, start)
    if step == row:
        rows = flat[: row * height].reshape(height, row)
    else:
        rows = np.lib.stride_tricks.as_strided(flat, (height, row), (step, 1), writeable=False)
        rows = np.ascontiguousarray(rows)
    return rows.view(item).reshape(height, width, channels)


def _raw_bulk(data: bytes, start: int, end: int) -> Bulk:
    head, first, last = _split(data, start, end, RawImage.DATA_FIELD_NUMBER)
    message = RawImage.FromString(head)
    if message.encoding == "rgb8":
        return {"image": _frozen(_pixels(message, data, first, last, "u1", 3))}
    depth = _pixels(message, data, first, last, "<f4", 1)[:, :, 0]
    return {"depth_m": _frozen(depth.astype(np.float32))}


def _compressed_bulk(data: bytes, start: int, end: int) -> Bulk:
    return {"image": decompress(CompressedImage.FromString(data[start:end]).data)}


def _points_bulk(data: bytes, start: int, end: int) -> Bulk:
    _, first, last = _split(data, start, end, PointCloud.DATA_FIELD_NUMBER)
    count, rest = divmod(last - first, POINT_DTYPE.itemsize)
    if rest:
        raise ValueError(f"{last - first} bytes are no whole number of points")
    packed = np.frombuffer(data, POINT_DTYPE, count, first)
    return {
        "points_m": _frozen(packed["xyz"].astype(np.float32)),
        "ring": _frozen(packed["ring"].astype(np.uint16)),
    }


BULK_READERS: Mapping[str, Callable[[bytes, int, int], Bulk]] = {
    "foxglove.RawImage": _raw_bulk,
    "foxglove.CompressedImage": _compressed_bulk,
    "foxglove.PointCloud": _points_bulk,
}
"""What stands beside a sample of ours, by schema: from the message in `data[start:end]`."""

_COLOURS = {
    "rgb8": (3, (0, 1, 2)),
    "8UC3": (3, (2, 1, 0)),
    "bgr8": (3, (2, 1, 0)),
    "rgba8": (4, (0, 1, 2)),
    "bgra8": (4, (2, 1, 0)),
    "mono8": (1, (0, 0, 0)),
    "8UC1": (1, (0, 0, 0)),
}
"""Channels, and which of them are red, green, blue (8UC3 is OpenCV's: blue first)."""
_MODELS = {"plumb_bob": "plumb_bob", "kannala_brandt": "equidistant", "": "none"}
_NUMBERS = {
    PackedElementField.UINT8: "u1",
    PackedElementField.INT8: "i1",
    PackedElementField.UINT16: "<u2",
    PackedElementField.INT16: "<i2",
    PackedElementField.UINT32: "<u4",
    PackedElementField.INT32: "<i4",
    PackedElementField.FLOAT32: "<f4",
    PackedElementField.FLOAT64: "<f8",
}


class ForeignReader:
    """Turns Foxglove messages of other tools into ours; remembers calibrations and counts.

    `read` raises `NotMapped` for what has no place, and what protobuf and numpy raise for damage.
    """

    def __init__(self) -> None:
        self._cameras: dict[str, CameraIntrinsics] = {}
        self._counts: dict[str, int] = {}
        self._readers: Mapping[str, Callable[[str, int, bytes], Any]] = {
            "foxglove.RawImage": self._raw_image,
            "foxglove.CompressedImage": self._compressed_image,
            "foxglove.CameraCalibration": self._calibration,
            "foxglove.PointCloud": self._point_cloud,
            "foxglove.LocationFix": self._location_fix,
            "foxglove.PoseInFrame": self._pose,
        }

    def knows(self, schema: str) -> bool:
        """Tell whether messages of this schema can be read."""
        return schema in self._readers

    def read(self, schema: str, topic: str, stamp_ns: int, data: bytes) -> Any:
        """Return our message, or None for one that is only remembered (a calibration)."""
        return self._readers[schema](topic, stamp_ns, data)

    def _sample(self, topic: str, stamp_ns: int, message: Any, payload: Any) -> SensorSample[Any]:
        seq = self._counts.get(topic, 0)
        self._counts[topic] = seq + 1
        stamp = message.timestamp
        return SensorSample(
            sensor_id=topic.strip("/") or "sensor",
            seq=seq,
            stamp_sensor_ns=stamp.seconds * 1_000_000_000 + stamp.nanos,
            stamp_sim_ns=stamp_ns,
            stamp_wall_ns=0,
            health=SensorHealth.OK,
            payload=payload,
            meta=SensorMeta(message.frame_id),
        )

    def _camera(self, topic: str, width: int, height: int) -> CameraIntrinsics:
        known = self._cameras.get(topic.rpartition("/")[0])
        if known is not None and (known.width, known.height) == (width, height):
            return known
        none = np.empty(0, np.float64)
        return CameraIntrinsics(width, height, NAN, NAN, NAN, NAN, "none", none)

    def _calibration(self, topic: str, _: int, data: bytes) -> None:
        message = CameraCalibration.FromString(data)
        if len(message.K) != 9 or message.distortion_model not in _MODELS:
            raise NotMapped(f"a camera model {message.distortion_model!r}")
        coefficients = np.array(message.D, dtype=np.float64)
        model: Any = _MODELS[message.distortion_model]
        if not coefficients.any():
            model, coefficients = "none", np.empty(0, np.float64)
        k = message.K
        camera = CameraIntrinsics(
            message.width, message.height, k[0], k[4], k[2], k[5], model, coefficients
        )
        self._cameras[topic.rpartition("/")[0]] = camera

    def _raw_image(self, topic: str, stamp_ns: int, data: bytes) -> SensorSample[Any]:
        head, first, last = _split(data, 0, len(data), RawImage.DATA_FIELD_NUMBER)
        message = RawImage.FromString(head)
        place = (data, first, last)
        camera = self._camera(topic, message.width, message.height)
        colours = _COLOURS.get(message.encoding)
        if colours is not None:
            pixels = _pixels(message, *place, "u1", colours[0])[:, :, list(colours[1])]
            payload: Any = RGBImagePayload(_frozen(pixels), camera, 0)
        elif message.encoding == "32FC1":
            depth = _pixels(message, *place, "<f4", 1)[:, :, 0].astype(np.float32)
            payload = DepthImagePayload(_frozen(depth), camera, NAN, NAN)
        elif message.encoding in ("16UC1", "mono16"):
            millimetres = _pixels(message, *place, "<u2", 1)[:, :, 0]
            depth = np.where(millimetres == 0, np.float32(NAN), millimetres * np.float32(1e-3))
            payload = DepthImagePayload(_frozen(depth.astype(np.float32)), camera, NAN, NAN)
        else:
            raise NotMapped(f"the encoding {message.encoding!r}")
        return self._sample(topic, stamp_ns, message, payload)

    def _compressed_image(self, topic: str, stamp_ns: int, data: bytes) -> SensorSample[Any]:
        message = CompressedImage.FromString(data)
        pixels = decompress(message.data)
        camera = self._camera(topic, pixels.shape[1], pixels.shape[0])
        return self._sample(topic, stamp_ns, message, RGBImagePayload(pixels, camera, 0))

    def _point_cloud(self, topic: str, stamp_ns: int, data: bytes) -> SensorSample[Any]:
        message = PointCloud.FromString(data)
        stride = message.point_stride
        fields = {field.name: field for field in message.fields}
        if not {"x", "y", "z"} <= fields.keys():
            raise NotMapped("a point cloud without x, y, z")
        names, formats, offsets = [], [], []
        for name in ("x", "y", "z", "ring"):
            if name in fields:
                names.append(name)
                formats.append(_NUMBERS.get(fields[name].type, ""))
                offsets.append(fields[name].offset)
        if "" in formats:
            raise NotMapped("a point cloud of an unknown number type")
        dtype = np.dtype(
            {"names": names, "formats": formats, "offsets": offsets, "itemsize": stride}
        )
        count = len(message.data) // stride
        cloud = np.frombuffer(message.data, dtype, count)
        points = np.stack([cloud[axis] for axis in "xyz"], axis=1).astype(np.float32)
        ring = cloud["ring"].astype(np.uint16) if "ring" in names else np.zeros(count, np.uint16)
        payload = PointCloudPayload(_frozen(points), _frozen(ring), NAN, NAN)
        return self._sample(topic, stamp_ns, message, payload)

    def _location_fix(self, topic: str, stamp_ns: int, data: bytes) -> SensorSample[Any]:
        message = LocationFix.FromString(data)
        covariance = list(message.position_covariance)
        known = len(covariance) == 9 and message.position_covariance_type != LocationFix.UNKNOWN
        horizontal, vertical = NAN, NAN
        if known:
            horizontal = max(covariance[0], covariance[4], 0.0) ** 0.5
            vertical = max(covariance[8], 0.0) ** 0.5
        payload = GpsPayload(
            lat_deg=message.latitude,
            lon_deg=message.longitude,
            alt_m=message.altitude,
            enu_local_m=np.full(3, NAN),
            fix_type=GpsFix.FIX_3D,
            hacc_m=horizontal,
            vacc_m=vertical,
        )
        return self._sample(topic, stamp_ns, message, payload)

    def _pose(self, _: str, stamp_ns: int, data: bytes) -> GroundTruth:
        message = PoseInFrame.FromString(data)
        position, turn = message.pose.position, message.pose.orientation
        unknown = np.full(3, NAN)
        return GroundTruth(
            stamp_sim_ns=stamp_ns,
            pos_enu_m=np.array([position.x, position.y, position.z]),
            q_enu_flu=np.array([turn.w, turn.x, turn.y, turn.z]),
            vel_enu_mps=unknown,
            rate_flu_rps=unknown,
            acc_enu_mps2=unknown,
            motor_rps=np.empty(0),
        )
