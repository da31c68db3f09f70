"""Free-form values (`extensions`, event payloads) as `ghost.msg.Value`, every bit and type kept."""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from types import MappingProxyType
from typing import Any

import numpy as np

from ghost.recording.errors import CannotRecord
from ghost.recording.wire import (
    BYTES,
    FIXED64,
    VARINT,
    WireError,
    field_bytes,
    fields,
    key,
    read_varint,
    varint,
)

__all__ = ["VALUE_FIELDS", "decode_entry", "decode_value", "encode_mapping"]

VALUE_FIELDS = (
    ("bool_value", 1),
    ("int_value", 2),
    ("big_int_value", 3),
    ("double_value", 4),
    ("string_value", 5),
    ("bytes_value", 6),
    ("list_value", 7),
    ("map_value", 8),
    ("array_value", 9),
)
"""The `oneof` of `ghost.msg.Value`; a value with none of them is None."""

_BOOL, _INT, _DOUBLE = key(1, VARINT), key(2, FIXED64), key(4, FIXED64)
_int64 = Struct("<q")
_float64 = Struct("<d")
_MAX_DEPTH = 50
_INT64 = range(-(2**63), 2**63)


def encode_mapping(number: int, mapping: Mapping[str, Any]) -> bytes:
    """Return `mapping` as the repeated field `number` of `ghost.msg.Entry`.

    Raises `CannotRecord` for a value that is no plain data, such as an object of some class.
    """
    return b"".join([field_bytes(number, _entry(name, v, 0)) for name, v in mapping.items()])


def _entry(name: str, value: object, depth: int) -> bytes:
    return field_bytes(1, _text(name)) + field_bytes(2, _value(name, value, depth + 1))


def _text(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise CannotRecord(f"the text {text!r} is not valid Unicode") from error


def _value(name: str, value: object, depth: int) -> bytes:
    if depth > _MAX_DEPTH:
        raise CannotRecord(f"{name!r} is nested deeper than {_MAX_DEPTH}")
    if isinstance(value, np.generic):
        value = value.item()  # `digest` knows it as the Python number, too
    kind = type(value)
    if value is None:
        return b""
    if isinstance(value, bool):
        return _BOOL + (b"\1" if value else b"\0")
    if kind is int and isinstance(value, int):
        if value in _INT64:
            return _INT + _int64.pack(value)
        size = value.bit_length() // 8 + 1
        return field_bytes(3, value.to_bytes(size, "little", signed=True))
    if kind is float and isinstance(value, float):
        return _DOUBLE + _float64.pack(value)
    if kind is str and isinstance(value, str):
        return field_bytes(5, _text(value))
    if isinstance(value, bytes):
        return field_bytes(6, value)
    if kind in (tuple, list) and isinstance(value, (tuple, list)):
        items = b"".join([field_bytes(1, _value(name, item, depth + 1)) for item in value])
        return field_bytes(7, items)
    if isinstance(value, Mapping):
        entries = []
        for inner, item in value.items():
            if type(inner) is not str:
                raise CannotRecord(f"{name!r} has the key {inner!r}, which is no text")
            entries.append(field_bytes(1, _entry(inner, item, depth + 1)))
        return field_bytes(8, b"".join(entries))
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.dtype.itemsize <= 8:
        little = value.astype(value.dtype.newbyteorder("<"), copy=False)
        shape = b"".join([varint(n) for n in value.shape])
        dtype = value.dtype.newbyteorder("<").str
        data = field_bytes(1, dtype.encode()) + field_bytes(2, shape)
        return field_bytes(9, data + field_bytes(3, little.tobytes()))
    raise CannotRecord(f"{name!r} holds a {kind.__name__}, which is no plain data")


def decode_entry(data: bytes, depth: int = 0) -> tuple[str, Any]:
    """Return the name and value of an `Entry`; `WireError` if it is damaged."""
    name, value = "", None
    for tag, _, start, end in fields(data):
        if tag == 1 << 3 | BYTES:
            name = data[start:end].decode()
        elif tag == 2 << 3 | BYTES:
            value = decode_value(data[start:end], depth + 1)
    return name, value


def decode_value(data: bytes, depth: int = 0) -> Any:
    """Return what a `Value` holds; `WireError` if it is damaged."""
    if depth > _MAX_DEPTH + 1:
        raise WireError("values are nested too deep")
    for tag, number, start, end in fields(data):
        inner = data[start:end]
        if tag == 1 << 3 | VARINT:
            return bool(number)
        if tag == 2 << 3 | FIXED64:
            return _int64.unpack(inner)[0]
        if tag == 3 << 3 | BYTES:
            return int.from_bytes(inner, "little", signed=True)
        if tag == 4 << 3 | FIXED64:
            return _float64.unpack(inner)[0]
        if tag == 5 << 3 | BYTES:
            return inner.decode()
        if tag == 6 << 3 | BYTES:
            return inner
        if tag == 7 << 3 | BYTES:
            return tuple(
                [decode_value(inner[a:b], depth + 1) for t, _, a, b in fields(inner) if t == 10]
            )
        if tag == 8 << 3 | BYTES:
            pairs = [decode_entry(inner[a:b], depth + 1) for t, _, a, b in fields(inner) if t == 10]
            return MappingProxyType(dict(pairs))
        if tag == 9 << 3 | BYTES:
            return _array(inner)
    return None


def _array(data: bytes) -> Any:
    dtype, content = "", b""
    shape: tuple[int, ...] = ()
    for tag, _, start, end in fields(data):
        inner = data[start:end]
        if tag == 10:
            dtype = inner.decode()
        elif tag == 18:
            shape = _shape(inner)
        elif tag == 26:
            content = inner
    if len(dtype) > 4 or dtype[1:2] not in ("b", "i", "u", "f"):
        raise WireError(f"an array of {dtype!r} is unknown")
    array = np.frombuffer(content, np.dtype(dtype)).reshape(shape)
    array = array.astype(array.dtype.newbyteorder("="))
    array.flags.writeable = False
    return array


def _shape(data: bytes) -> tuple[int, ...]:
    sizes, at = [], 0
    while at < len(data):
        size, at = read_varint(data, at)
        sizes.append(size)
    return tuple(sizes)
