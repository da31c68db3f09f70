"""The protobuf wire format, as far as Ghost's own messages use it.

Ghost writes and reads its messages without the generated classes: a sample is then one
`struct.pack` and a join, and a float is copied bit by bit, which `digest` equality demands.
Format: https://protobuf.dev/programming-guides/encoding/. The tests decode what is written here
with the protobuf library, and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

__all__ = [
    "BYTES",
    "FIXED32",
    "FIXED64",
    "VARINT",
    "WireError",
    "field_bytes",
    "fields",
    "key",
    "read_varint",
    "varint",
    "zigzag",
]

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_MAX_VARINT = 10

_SHORT = tuple(bytes((n,)) for n in range(128))
_double = Struct("<d")
_sfixed64 = Struct("<q")


class WireError(ValueError):
    """The bytes are no message of the wire format."""


def varint(value: int) -> bytes:
    """Return `value` (0 … 2^64−1) as a varint."""
    if value < 128:
        return _SHORT[value]
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value: int) -> int:
    """Return the integer that a zig-zag varint stands for."""
    return (value >> 1) ^ -(value & 1)


def key(number: int, wire_type: int) -> bytes:
    """Return the tag before a field."""
    return varint(number << 3 | wire_type)


def field_bytes(number: int, data: bytes) -> bytes:
    """Return a length-delimited field: a text, bytes, a sub-message or a packed array."""
    return key(number, BYTES) + varint(len(data)) + data


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the varint at `at` and the place after it; `WireError` if there is none."""
    try:
        byte = data[at]
        if byte < 128:
            return byte, at + 1
        value, shift = byte & 127, 7
        for place in range(at + 1, at + _MAX_VARINT):
            byte = data[place]
            value |= (byte & 127) << shift
            if byte < 128:
                return value & 0xFFFFFFFFFFFFFFFF, place + 1
            shift += 7
    except IndexError:
        raise WireError("a number is cut off") from None
    raise WireError("a number is longer than 10 bytes")


def fields(
    data: bytes, start: int = 0, stop: int | None = None
) -> Iterator[tuple[int, int, int, int]]:
    """Walk the message in `data[start:stop]`: yield `(tag, value, start, end)` for each field.

    `tag` is number << 3 | wire type. A varint's number is in `value`; the bytes of all other kinds
    are `data[start:end]`. Raises `WireError` where the bytes make no sense.
    """
    at, size = start, len(data) if stop is None else stop
    while at < size:
        tag, at = read_varint(data, at)
        kind = tag & 7
        value = 0
        if kind == BYTES:
            length, at = read_varint(data, at)
            end = at + length
        elif kind == FIXED64:
            end = at + 8
        elif kind == VARINT:
            first = at
            value, at = read_varint(data, at)
            yield tag, value, first, at
            continue
        elif kind == FIXED32:
            end = at + 4
        else:
            raise WireError(f"wire type {kind} is unknown")
        if end > size:
            raise WireError(f"field {tag >> 3} reaches beyond the message")
        yield tag, value, at, end
        at = end
