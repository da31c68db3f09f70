"""Any message as plain JSON values: by name where we know the type, by field number elsewhere."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TypeAlias

from google.protobuf import json_format
from google.protobuf.message import DecodeError

from ghost.gz.msgs.names import message_class

__all__ = ["JsonValue", "describe", "raw_fields"]

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

_MAX_DEPTH = 8
_BYTES_SHOWN = 32
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5


def describe(type_name: str, data: bytes) -> JsonValue:
    """Return a message as what `json.dumps` takes.

    A known type gives its field names (`{"data": true}`), unset fields left out. An unknown type,
    or bytes that are not that type, gives field numbers (`{"2": 1}`), repeated ones as lists.
    """
    cls = message_class(type_name)
    if cls is not None:
        message = cls()
        try:
            message.ParseFromString(data)
        except DecodeError:
            return _by_number(data)
        shown: JsonValue = json_format.MessageToDict(message, preserving_proto_field_name=True)
        return shown
    return _by_number(data)


def raw_fields(data: bytes) -> list[tuple[int, int, int | bytes]]:
    """Return `(field number, wire type, value)` of every field in protobuf wire format, in order.

    Values are integers for wire types 0, 1 and 5 and bytes for 2. Raises `ValueError` if `data` is
    not a protobuf message.
    """
    return list(_walk(data))


def _walk(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if not number:
            raise ValueError(f"field number 0 before byte {at}")
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield number, wire, value
            continue
        if wire == _LENGTH:
            size, at = _varint(data, at)
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
        else:
            raise ValueError(f"wire type {wire} before byte {at}")
        if at + size > end:
            raise ValueError(f"field {number} ends {at + size - end} bytes after the message")
        chunk = data[at : at + size]
        at += size
        yield number, wire, chunk if wire == _LENGTH else int.from_bytes(chunk, "little")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise ValueError("the message ends inside a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError(f"a number of more than ten bytes before byte {at}")


def _by_number(data: bytes, depth: int = 0) -> JsonValue:
    try:
        fields = raw_fields(data)
    except ValueError:
        return _bytes(data)
    shown: dict[str, JsonValue] = {}
    for number, wire, value in fields:
        item = _value(wire, value, depth)
        key = str(number)
        if key not in shown:
            shown[key] = item
            continue
        earlier = shown[key]
        if isinstance(earlier, list):
            earlier.append(item)
        else:
            shown[key] = [earlier, item]
    return shown


def _value(wire: int, value: int | bytes, depth: int) -> JsonValue:
    if isinstance(value, bytes):
        return _length_delimited(value, depth)
    # Gazebo's fixed-size fields are doubles and floats, not integers.
    if wire == _FIXED64:
        return _number(struct.unpack("<d", value.to_bytes(8, "little"))[0])
    if wire == _FIXED32:
        return _number(struct.unpack("<f", value.to_bytes(4, "little"))[0])
    return value


def _number(value: float) -> JsonValue:
    # Protobuf's JSON writes NaN and the infinities as strings too.
    return value if value - value == 0.0 else str(value)


def _length_delimited(data: bytes, depth: int) -> JsonValue:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if text and text.isprintable():
        return text
    if data and depth < _MAX_DEPTH:
        return _by_number(data, depth + 1)
    return _bytes(data)


def _bytes(data: bytes) -> JsonValue:
    more = f" … ({len(data)} bytes)" if len(data) > _BYTES_SHOWN else ""
    return data[:_BYTES_SHOWN].hex(" ") + more
