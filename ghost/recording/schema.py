"""The schema `ghost.msg`, derived from the message classes of `ghost.hal`.

Each class becomes one protobuf message; the fields are numbered in the order of the dataclass. A
sample becomes `<Payload>Sample`: the fields of `SensorSample` with the payload inside. The result
is written down in `ghost_msg.proto` beside this file; a test compares the two, so a change of a
class that would change the format is seen in review. New fields go to the end of a class, and then
old files stay readable.

| Python | protobuf |
|---|---|
| `float`, `float or None` | `double`, `optional double` |
| `int` | `sfixed64` |
| `bool`, `str`, `Literal` | `bool`, `string` |
| `IntEnum` | `enum`; other enums are their value as `string` |
| a dataclass | a message; `ActuatorCommand` a `oneof` of the five |
| array of float64, float32, int64, bool | `repeated`, packed |
| array of uint8, uint16 | `bytes`, little-endian |
| mapping | `repeated Entry`, whose `Value` keeps type and every bit |

Pixels and points are not in here: they travel beside the sample in a Foxglove message (`BULK`).
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum, IntEnum
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from ghost.core import Event
from ghost.hal import (
    PAYLOAD_TYPES,
    ActuatorCommand,
    AttitudeCommand,
    BodyRateCommand,
    CommandAck,
    CommandRecord,
    DepthImagePayload,
    GroundTruth,
    MavlinkTraffic,
    MotorCommand,
    PointCloudPayload,
    PositionCommand,
    RGBImagePayload,
    SensorHealth,
    SensorMeta,
    SensorSample,
    StateEstimate,
    StepReport,
    VelocityCommand,
)

__all__ = [
    "BULK",
    "COMMANDS",
    "FORMAT_VERSION",
    "PACKAGE",
    "PLAIN_MESSAGES",
    "SAMPLE_FIELDS",
    "Field",
    "Kind",
    "fields_of",
    "sample_name",
]

PACKAGE = "ghost.msg"
FORMAT_VERSION = 1
"""Raised when files of this version can no longer be read by the code of the one before."""

BULK: Mapping[type, frozenset[str]] = {
    RGBImagePayload: frozenset({"image"}),
    DepthImagePayload: frozenset({"depth_m"}),
    PointCloudPayload: frozenset({"points_m", "ring"}),
}
"""Fields that the Foxglove message beside the sample holds."""

COMMANDS: tuple[type[ActuatorCommand], ...] = (
    MotorCommand,
    BodyRateCommand,
    AttitudeCommand,
    VelocityCommand,
    PositionCommand,
)
"""The alternatives of `ghost.msg.ActuatorCommand`, numbered from 1."""

PLAIN_MESSAGES: tuple[type, ...] = (
    GroundTruth,
    CommandRecord,
    CommandAck,
    Event,
    StepReport,
    StateEstimate,
    MavlinkTraffic,
)
"""What is recorded besides samples."""


class Kind(Enum):
    """How a field is written."""

    DOUBLE = "double"
    SFIXED64 = "sfixed64"
    BOOL = "bool"
    TEXT = "string"
    ENUM = "enum"
    TEXT_ENUM = "text enum"
    MESSAGE = "message"
    MESSAGES = "messages"
    COMMAND = "command"
    ARRAY = "array"
    MAPPING = "mapping"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message. `cls` is the enum, message class or scalar type of an array.

    Of a mapping it is `int` if the class makes sure that all its values are.
    """

    name: str
    number: int
    kind: Kind
    optional: bool = False
    cls: type[Any] = object


SAMPLE_FIELDS: tuple[Field, ...] = (
    Field("stamp_sim_ns", 1, Kind.SFIXED64),
    Field("stamp_sensor_ns", 2, Kind.SFIXED64),
    Field("stamp_wall_ns", 3, Kind.SFIXED64),
    Field("seq", 4, Kind.SFIXED64),
    Field("sensor_id", 5, Kind.TEXT),
    Field("health", 6, Kind.ENUM, cls=SensorHealth),
    Field("schema_version", 7, Kind.SFIXED64),
    Field("meta", 8, Kind.MESSAGE, cls=SensorMeta),
)
"""Every sample message; its payload is field 9."""


def sample_name(payload_class: type) -> str:
    """Return the name of the sample message of a payload: `ghost.msg.IMUSample`."""
    return f"{PACKAGE}.{payload_class.__name__.removesuffix('Payload')}Sample"


def fields_of(cls: type[Any]) -> tuple[Field, ...]:
    """Return the fields of a message class in order; `TypeError` for one that has no kind."""
    return _fields_of(cls)  # type: ignore[arg-type]  # classes are hashable; a stub says no


@lru_cache(maxsize=256)
def _fields_of(cls: Callable[..., Any]) -> tuple[Field, ...]:
    # Resolving the annotations of a class takes 0.1 ms, and each recorder asks for all of them.
    assert isinstance(cls, type)
    if cls is SensorSample or not is_dataclass(cls):
        raise TypeError(f"{cls.__name__} is no plain message class")
    hints = typing.get_type_hints(cls)
    left_out = BULK.get(cls, frozenset())
    return tuple(
        _field(cls, field.name, number, hints[field.name])
        for number, field in enumerate(fields(cls), start=1)
        if field.name not in left_out
    )


def _field(cls: type[Any], name: str, number: int, hint: Any) -> Field:
    optional = False
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        rest = [option for option in typing.get_args(hint) if option is not type(None)]
        if len(rest) != 1:
            raise TypeError(f"{cls.__name__}.{name}: {hint} has no place in the schema")
        hint, optional = rest[0], True
    origin = typing.get_origin(hint)
    simple = {float: Kind.DOUBLE, int: Kind.SFIXED64, bool: Kind.BOOL, str: Kind.TEXT}
    if hint in simple:
        return Field(name, number, simple[hint], optional)
    if origin is Literal:
        return Field(name, number, Kind.TEXT, optional)
    if origin is np.ndarray:
        (scalar,) = typing.get_args(typing.get_args(hint)[1])
        return Field(name, number, Kind.ARRAY, optional, scalar)
    if origin is not None and issubclass(origin, Mapping):
        value_type = typing.get_args(hint)[1]
        return Field(name, number, Kind.MAPPING, optional, int if value_type is int else object)
    if origin is tuple:
        return Field(name, number, Kind.MESSAGES, optional, typing.get_args(hint)[0])
    if hint is ActuatorCommand:
        return Field(name, number, Kind.COMMAND, optional, ActuatorCommand)
    if isinstance(hint, type) and issubclass(hint, IntEnum):
        return Field(name, number, Kind.ENUM, optional, hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Field(name, number, Kind.TEXT_ENUM, optional, hint)
    if isinstance(hint, type) and is_dataclass(hint):
        return Field(name, number, Kind.MESSAGE, optional, hint)
    raise TypeError(f"{cls.__name__}.{name}: {hint} has no place in the schema")


def payload_classes() -> tuple[type[Any], ...]:
    """Return the payload classes in the order of the registry."""
    return tuple(PAYLOAD_TYPES.values())
