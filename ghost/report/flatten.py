"""Messages as flat rows of named numbers, for tables.

| in the message | columns |
|---|---|
| `accel_mps2` (3,) | `accel_mps2_x`, `accel_mps2_y`, `accel_mps2_z` |
| `q_enu_flu` (4,) | `q_enu_flu_w`, `…_x`, `…_y`, `…_z` |
| `motor_rps` (n,) | `motor_rps_0` … |
| `sent` (n,) uint8 | `sent`, hexadecimal |
| `intrinsics` | `intrinsics_width` … |
| an enum | its name, in lower case |
| a mapping, a list of events | JSON |
| a command | `level` and its fields |

Pixels, points and camera events are *bulk*: no columns, but arrays of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ghost.core import Event
from ghost.hal import (
    ActuatorCommand,
    DepthImagePayload,
    EventCameraPayload,
    PointCloudPayload,
    RGBImagePayload,
    SensorSample,
)

__all__ = ["BULK_FIELDS", "Scalar", "bulk_of", "flatten"]

Scalar: TypeAlias = int | float | bool | str | None

BULK_FIELDS: Mapping[type, tuple[str, ...]] = {
    RGBImagePayload: ("image",),
    DepthImagePayload: ("depth_m",),
    PointCloudPayload: ("points_m", "ring"),
    EventCameraPayload: ("x", "y", "stamp_ns", "polarity"),
}
"""Arrays of a payload that are no columns."""

_SAMPLE_FIRST = ("stamp_sim_ns", "stamp_sensor_ns", "stamp_wall_ns", "seq", "health")
_AXES = {2: "xy", 3: "xyz"}
_MAX_COLUMNS = 64
"""A vector that is longer becomes JSON."""


def flatten(message: Any) -> dict[str, Scalar]:
    """Return one row: names to numbers, texts, flags or None."""
    row: dict[str, Scalar] = {}
    if isinstance(message, SensorSample):
        for name in _SAMPLE_FIRST:
            _put(row, name, getattr(message, name))
        extensions = message.meta.extensions
        _put(row, "error", extensions.get("error"))
        _fields(row, "", message.payload)
        velocity = extensions.get("vel_enu_mps")
        if type(velocity) is tuple and len(velocity) == 3:  # a receiver that measures it
            _put(row, "vel_enu_mps", np.array(velocity))
        return row
    if isinstance(message, Event):
        _put(row, "stamp_sim_ns", message.stamp_sim_ns)
    _fields(row, "", message)
    return row


def bulk_of(message: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the bulk arrays of a message by field; empty for most messages."""
    payload = message.payload if isinstance(message, SensorSample) else message
    return {name: getattr(payload, name) for name in BULK_FIELDS.get(type(payload), ())}


def _fields(row: dict[str, Scalar], prefix: str, message: Any) -> None:
    left_out = BULK_FIELDS.get(type(message), ())
    for name in _names(type(message)):
        if name not in left_out:
            _put(row, prefix + name, getattr(message, name))


def _names(cls: type[Any]) -> tuple[str, ...]:
    found = _NAMES.get(cls)
    if found is None:
        found = _NAMES[cls] = tuple(field.name for field in fields(cls))
    return found


_NAMES: dict[type[Any], tuple[str, ...]] = {}
"""A pure function of the class, remembered."""


def _put(row: dict[str, Scalar], name: str, value: Any) -> None:
    if type(value) is np.ndarray:
        _vector(row, name, value)
    elif isinstance(value, Enum):
        row[name] = value.name.lower()
    elif value is None or isinstance(value, (bool, int, float, str)):
        row[name] = value
    elif isinstance(value, ActuatorCommand):
        prefix = "" if name == "command" else f"{name}_"
        row[f"{prefix}level"] = value.level.value
        _fields(row, prefix, value)
    elif is_dataclass(value) and not isinstance(value, type):
        _fields(row, f"{name}_", value)
    else:
        row[name] = _json(value)


def _vector(row: dict[str, Scalar], name: str, array: npt.NDArray[Any]) -> None:
    if array.dtype == np.uint8:  # bytes, such as packets
        row[name] = array.tobytes().hex()
        return
    if array.ndim != 1 or array.size > _MAX_COLUMNS:
        row[name] = _json(array.tolist())
        return
    size = array.size
    names: Any = "wxyz" if size == 4 and name.rpartition(".")[2].startswith("q_") else None
    names = names or _AXES.get(size) or range(size)
    for part, value in zip(names, array.tolist(), strict=True):
        row[f"{name}_{part}"] = value


def _json(value: Any) -> str:
    return json.dumps(value, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """What `json` does not know: read-only mappings, events, arrays, opaque objects."""
    for kind, convert in _PLAIN:
        if isinstance(value, kind):
            return convert(value)
    return repr(value)


_PLAIN: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (Mapping, dict),
    (Event, Event.as_dict),
    (np.ndarray, lambda array: array.tolist()),
    (np.generic, lambda number: number.item()),
    (Enum, lambda member: member.name.lower()),
)
