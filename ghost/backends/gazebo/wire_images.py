"""Pictures and scans out of the bytes of a message, without copying what is large.

Protobuf would copy an image twice before anybody sees it. These readers walk the few fields of the
message and give a view of the pixels where they are; the frozen payload makes the one copy.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from ghost.gz.msgs import PixelFormatType, PointCloudPacked

__all__ = ["depth_view", "rgb_view", "scan_ranges", "packed_ranges"]

_LENGTH = 2


def rgb_view(data: bytes) -> npt.NDArray[np.uint8]:
    """The (H, W, 3) uint8 pixels of a `gz.msgs.Image`, a read-only view.

    Raises `ValueError` for a format other than RGB_INT8 or L_INT8, or for a wrong size.
    """
    width, height, step, kind, start, size = _image(data)
    if kind == PixelFormatType.L_INT8:
        grey = _pixels(data, np.uint8, height, width, step, start, size)
        return np.repeat(grey[:, :, np.newaxis], 3, axis=2)
    if kind != PixelFormatType.RGB_INT8:
        raise ValueError(f"the image has pixel format {kind}, not RGB_INT8: set format R8G8B8")
    return _pixels(data, np.uint8, height, width * 3, step, start, size).reshape(height, width, 3)


def depth_view(data: bytes) -> npt.NDArray[np.float32]:
    """The (H, W) float32 metres of a `gz.msgs.Image`, a read-only view; inf where nothing is."""
    width, height, step, kind, start, size = _image(data)
    if kind != PixelFormatType.R_FLOAT32:
        raise ValueError(f"the image has pixel format {kind}, not R_FLOAT32: set format R_FLOAT32")
    return _pixels(data, np.float32, height, width, step, start, size)


def scan_ranges(data: bytes) -> npt.NDArray[np.float32]:
    """The (rows·columns,) float32 ranges of a `gz.msgs.LaserScan`, lowest row first, m."""
    count, rows, parts = 0, 1, []
    for number, wire, start, end in _fields(data):
        if number == 9 and wire == 0:
            count = _varint(data, start)[0]
        elif number == 13 and wire == 0:
            rows = _varint(data, start)[0]
        elif number == 14 and wire == _LENGTH:
            parts.append(np.frombuffer(data, "<f8", (end - start) // 8, start))
    ranges = np.concatenate(parts) if parts else np.zeros(0)
    if len(ranges) != count * max(rows, 1):
        raise ValueError(f"the scan has {len(ranges)} ranges, not {count}·{rows}")
    return ranges.astype(np.float32)


def packed_ranges(data: bytes) -> npt.NDArray[np.float32]:
    """The same, out of the points of a `gz.msgs.PointCloudPacked` (x, y, z float32)."""
    cloud = PointCloudPacked.FromString(data)
    offsets = {field.name: field.offset for field in cloud.field}
    if not {"x", "y", "z"} <= offsets.keys() or cloud.is_bigendian:
        raise ValueError(f"the cloud has the fields {sorted(offsets)}, x, y and z are needed")
    layout = np.dtype(
        {
            "names": ["x", "y", "z"],
            "formats": ["<f4"] * 3,
            "offsets": [offsets[axis] for axis in "xyz"],
            "itemsize": cloud.point_step,
        }
    )
    points = np.frombuffer(cloud.data, layout, cloud.height * cloud.width)
    x, y, z = (points[axis].astype(np.float64) for axis in "xyz")
    return np.sqrt(x * x + y * y + z * z).astype(np.float32)


def _pixels(
    data: bytes, kind: type[np.generic], height: int, width: int, step: int, start: int, size: int
) -> npt.NDArray[Any]:
    """Rows of `width` values, `step` bytes apart (0: packed), as a view of `data`."""
    each = np.dtype(kind).itemsize
    step = step or width * each
    if size < height * step or step < width * each:
        raise ValueError(f"the image has {size} bytes for {height} rows of {step} bytes")
    rows = np.frombuffer(data, np.uint8, height * step, start).reshape(height, step)
    # A view of floats need not be aligned: bytes inside a message are where they are.
    return rows[:, : width * each].view(kind)


def _image(data: bytes) -> tuple[int, int, int, int, int, int]:
    """Width, height, step, format, and where the pixels are: (start, size)."""
    values = {2: 0, 3: 0, 4: 0, 6: 0}
    start = size = 0
    for number, wire, begin, end in _fields(data):
        if number in values and wire == 0:
            values[number] = _varint(data, begin)[0]
        elif number == 5 and wire == _LENGTH:
            start, size = begin, end - begin
    return values[2], values[3], values[4], values[6], start, size


def _fields(data: bytes) -> list[tuple[int, int, int, int]]:
    """Number, wire type, and the place of each field. Raises `ValueError` if it is no message."""
    found = []
    at, total = 0, len(data)
    try:
        while at < total:
            tag, at = _varint(data, at)
            wire = tag & 7
            if wire == 0:
                end = _varint(data, at)[1]
            elif wire == _LENGTH:
                size, at = _varint(data, at)
                end = at + size
            elif wire in (1, 5):
                end = at + struct.calcsize("d" if wire == 1 else "f")
            else:
                raise ValueError(f"wire type {wire} at byte {at}")
            if end > total:
                raise ValueError(f"a field ends {end - total} bytes after the message")
            found.append((tag >> 3, wire, at, end))
            at = end
    except IndexError:
        raise ValueError("the message ends inside a number") from None
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than ten bytes")
