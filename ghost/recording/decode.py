"""From bytes of `ghost.msg` back to messages, equal to the last bit (D25).

Every class checks its fields at construction, so what comes out of a damaged file is either a
sound message or one of `DECODE_ERRORS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from struct import Struct
from struct import error as StructError
from types import MappingProxyType
from typing import Any

import numpy as np

from ghost.hal import CameraIntrinsics, SensorHealth, SensorMeta, SensorSample
from ghost.recording.layout import FieldReader, Layout, Place
from ghost.recording.schema import (
    COMMANDS,
    PACKAGE,
    PLAIN_MESSAGES,
    SAMPLE_FIELDS,
    Field,
    Kind,
    fields_of,
    payload_classes,
    sample_name,
)
from ghost.recording.values import decode_entry
from ghost.recording.wire import BYTES, FIXED64, VARINT, WireError, fields, read_varint

__all__ = ["DECODE_ERRORS", "NO_BULK", "Decoder", "MessageDecoder"]

Decoder = Callable[[bytes, Mapping[str, Any]], Any]
"""Takes the bytes and the bulk fields (pixels, points) that travelled beside them."""

DECODE_ERRORS = (
    ValueError,  # WireError, UnicodeDecodeError
    TypeError,
    LookupError,
    OverflowError,
    RecursionError,
    StructError,
)
"""What decoding damaged bytes may raise."""

NO_BULK: Mapping[str, Any] = MappingProxyType({})

_MEMO_SIZE = 1024
_SHORT_ENTRY = 64
_REMEMBERED = (SensorMeta, CameraIntrinsics)
_HEAD = Struct("<cqcqcqcqc")
_HEAD_TAGS = (b"\x09", b"\x11", b"\x19", b"\x21", b"\x4a")
_PAYLOAD_AT = _HEAD.size
_int64 = Struct("<q").unpack
_float64 = Struct("<d").unpack

_MAX_LAYOUTS = 64


class MessageDecoder:
    """Decoders by schema name (`ghost.msg.IMUSample`); one per pass: it remembers what repeats."""

    def __init__(self) -> None:
        self._built: dict[type[Any], Decoder] = {}
        by_name: dict[str, Decoder] = {}
        for cls in PLAIN_MESSAGES:
            by_name[f"{PACKAGE}.{cls.__name__}"] = self._message(cls)
        for cls in payload_classes():
            by_name[sample_name(cls)] = self._sample(cls)
        self.by_name: Mapping[str, Decoder] = by_name

    def _sample(self, payload_class: type[Any]) -> Decoder:
        decode_payload = self._message(payload_class)
        readers = {spec.number: (spec.name, self._reader(spec)) for spec in SAMPLE_FIELDS}
        tails: dict[bytes, tuple[str, SensorHealth, int, SensorMeta]] = {}

        def rest_of(data: bytes) -> dict[str, Any]:
            values: dict[str, Any] = {
                "stamp_sim_ns": 0,
                "stamp_sensor_ns": 0,
                "stamp_wall_ns": 0,
                "seq": 0,
                "sensor_id": "",
                "health": SensorHealth.OK,
                "schema_version": 0,
                "payload": b"",
            }
            for tag, number, start, end in fields(data):
                known = readers.get(tag >> 3)
                if known is not None:
                    values[known[0]] = known[1](data[start:end], number)
                elif tag == 9 << 3 | BYTES:
                    values["payload"] = data[start:end]
            return values

        def decode(data: bytes, bulk: Mapping[str, Any]) -> SensorSample[Any]:
            # As Ghost writes it: the stamps, the payload, then what repeats in every sample.
            if len(data) > _PAYLOAD_AT:
                a, sim_ns, b, sensor_ns, c, wall_ns, d, seq, e = _HEAD.unpack_from(data)
                if (a, b, c, d, e) == _HEAD_TAGS:
                    size, start = read_varint(data, _PAYLOAD_AT)
                    end = start + size
                    if end <= len(data):
                        tail = data[end:]
                        known = tails.get(tail)
                        if known is None:
                            known = remember(tail)
                        sensor_id, health, version, meta = known
                        payload = decode_payload(data[start:end], bulk)
                        return SensorSample(
                            sensor_id,
                            seq,
                            sensor_ns,
                            sim_ns,
                            wall_ns,
                            health,
                            payload,
                            meta,
                            version,
                        )
            values = rest_of(data)
            values["payload"] = decode_payload(values["payload"], bulk)
            return SensorSample(**values)

        def remember(tail: bytes) -> tuple[str, SensorHealth, int, SensorMeta]:
            values = rest_of(tail)
            if values["seq"] or values["payload"] or values["stamp_sim_ns"]:
                raise WireError("a field occurs twice")
            known = (
                values["sensor_id"],
                values["health"],
                values["schema_version"],
                values["meta"],
            )
            if len(tails) >= _MEMO_SIZE:
                tails.clear()
            tails[tail] = known
            return known

        return decode

    def _message(self, cls: type[Any]) -> Decoder:
        decoder = self._built.get(cls)
        if decoder is None:
            decoder = self._build(cls)
            if cls in _REMEMBERED:
                decoder = _remembering(decoder)
            self._built[cls] = decoder
        return decoder

    def _build(self, cls: type[Any]) -> Decoder:
        specs = fields_of(cls)
        defaults = {spec.name: _default(spec) for spec in specs}
        many = {spec.number for spec in specs if spec.kind in (Kind.MESSAGES, Kind.MAPPING)}
        readers = {
            spec.number << 3 | _wire_type(spec): (spec, self._reader(spec)) for spec in specs
        }

        mappings = [spec.name for spec in specs if spec.kind is Kind.MAPPING]
        absent = {**defaults, **dict.fromkeys(mappings, NO_BULK)}
        layouts: dict[int, Layout] = {}

        def decode(data: bytes, bulk: Mapping[str, Any]) -> Any:
            layout = layouts.get(len(data))
            if layout is not None:
                parts = layout.unpack(data)
                if parts[0::2] == layout.between:
                    return layout.make(parts[1::2], bulk)
            values = defaults.copy()
            places: list[Place] = []
            for tag, number, start, end in fields(data):
                known = readers.get(tag)
                if known is None:
                    continue  # a field that a newer Ghost added
                spec, read = known
                value = read(data[start:end], number)
                if tag >> 3 in many:
                    values[spec.name] = (*values[spec.name], value)
                else:
                    values[spec.name] = value
                places.append((spec, read, start, end))
            for name in mappings:
                values[name] = dict(values[name])
            message = cls(**values, **bulk)
            if len(layouts) < _MAX_LAYOUTS:
                layout = Layout.of(cls, data, places, absent, bulk)
                if layout is not None:
                    layouts[len(data)] = layout
            return message

        return decode

    def _reader(self, spec: Field) -> FieldReader:
        if spec.kind is Kind.DOUBLE:
            return lambda data, _: _float64(data)[0]
        if spec.kind is Kind.SFIXED64:
            return lambda data, _: _int64(data)[0]
        if spec.kind is Kind.BOOL:
            return lambda _, number: number != 0
        if spec.kind is Kind.TEXT:
            return lambda data, _: data.decode()
        if spec.kind is Kind.ENUM:
            members = {member.value: member for member in spec.cls}
            return lambda _, number: members[number]
        if spec.kind is Kind.TEXT_ENUM:
            named = {member.value.encode(): member for member in spec.cls}
            return lambda data, _: named[data]
        if spec.kind in (Kind.MESSAGE, Kind.MESSAGES):
            decode = self._message(spec.cls)
            return lambda data, _: decode(data, NO_BULK)
        if spec.kind is Kind.COMMAND:
            return self._command()
        if spec.kind is Kind.MAPPING:
            return _entries()
        return _array(spec.cls)

    def _command(self) -> FieldReader:
        known = {n << 3 | BYTES: self._message(cls) for n, cls in enumerate(COMMANDS, start=1)}

        def read(data: bytes, _: int) -> Any:
            size = len(data) - 2
            if 0 <= size < 128 and data[1] == size and data[0] in known:
                return known[data[0]](data[2:], NO_BULK)
            for tag, _number, start, end in fields(data):
                if tag in known:
                    return known[tag](data[start:end], NO_BULK)
            raise WireError("a command of an unknown level")

        return read


def _entries() -> FieldReader:
    """Reads entries of a mapping; the small ones, counts of a step report, come again and again."""
    memo: dict[bytes, tuple[str, Any]] = {}

    def read(data: bytes, _: int) -> tuple[str, Any]:
        found = memo.get(data)
        if found is None:
            found = decode_entry(data)
            if len(data) <= _SHORT_ENTRY:
                if len(memo) >= _MEMO_SIZE:
                    memo.clear()
                memo[data] = found
        return found

    return read


def _remembering(decode: Decoder) -> Decoder:
    memo: dict[bytes, Any] = {}

    def decode_once(data: bytes, bulk: Mapping[str, Any]) -> Any:
        found = memo.get(data)
        if found is None:
            found = decode(data, bulk)
            if len(memo) >= _MEMO_SIZE:
                memo.clear()
            memo[data] = found
        return found

    return decode_once


def _wire_type(spec: Field) -> int:
    if spec.kind in (Kind.DOUBLE, Kind.SFIXED64):
        return FIXED64
    return VARINT if spec.kind in (Kind.BOOL, Kind.ENUM) else BYTES


def _default(spec: Field) -> Any:
    """The value of a field that is not there: proto3 leaves out what is zero or empty."""
    if spec.optional:
        return None
    if spec.kind is Kind.ENUM:
        return next(iter(spec.cls))  # type: ignore[call-overload]  # the class of an enum
    if spec.kind is Kind.ARRAY:
        return np.empty(0, spec.cls)
    plain = {Kind.DOUBLE: 0.0, Kind.SFIXED64: 0, Kind.BOOL: False, Kind.TEXT: ""}
    return plain.get(spec.kind, () if spec.kind in (Kind.MESSAGES, Kind.MAPPING) else None)


def _array(scalar: type[np.generic]) -> FieldReader:
    native = np.dtype(scalar)
    little = native.newbyteorder("<")
    if little.isnative:
        little = native  # numpy's own object, which messages and digests know by identity
    if scalar is np.bool_:  # a byte of a damaged file may be neither 0 nor 1
        return lambda data, _: np.frombuffer(data, np.uint8) != 0

    def read(data: bytes, _: int) -> Any:
        # A read-only array that owns its data: the message takes it as it is.
        array = np.frombuffer(data, little)
        array = array.copy() if little is native else array.astype(native)
        array.setflags(write=False)
        return array

    return read
