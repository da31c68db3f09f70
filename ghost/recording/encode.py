"""From messages to bytes of `ghost.msg`. The hot path of recording: a sample costs a few µs.

An encoder is built for each class once, from the fields that `schema` gives. What repeats in
every sample of a sensor (its id, its metadata, a camera's intrinsics) is written once and
remembered by identity; such objects are frozen, and the memory holds them, so that an identity
cannot pass to another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from operator import attrgetter
from struct import Struct
from struct import error as StructError
from typing import Any

import numpy as np

from ghost.hal import CameraIntrinsics, SensorMeta, SensorSample
from ghost.recording.compiled import RecordMaker, compile_record
from ghost.recording.errors import CannotRecord
from ghost.recording.schema import (
    COMMANDS,
    PLAIN_MESSAGES,
    Field,
    Kind,
    fields_of,
    payload_classes,
)
from ghost.recording.values import encode_mapping
from ghost.recording.wire import BYTES, FIXED64, VARINT, field_bytes, key, varint

__all__ = ["Encoder", "MessageEncoder"]

Encoder = Callable[[Any], bytes]

_ARRAY_HEADS = 64
_MEMO_SIZE = 1024
_SAMPLE_HEAD = Struct("<cqcqcqcq")
_STAMP_SIM, _STAMP_SENSOR, _STAMP_WALL, _SEQ = (key(n, FIXED64) for n in (1, 2, 3, 4))
_PAYLOAD = key(9, BYTES)
_LENGTHS = tuple(_PAYLOAD + varint(n) for n in range(1024))
_REMEMBERED = (SensorMeta, CameraIntrinsics)


class MessageEncoder:
    """Turns messages into bytes; one per recorder, since it remembers what repeats.

    `sample_encoder` gives one for the samples of a sensor, `plain` holds one for each other class.
    They raise `CannotRecord` for what the schema cannot hold exactly.
    """

    def __init__(self) -> None:
        self._memo: dict[int, tuple[object, bytes]] = {}
        self._built: dict[type[Any], Encoder] = {}
        self.plain: Mapping[type[Any], Encoder] = {c: self._message(c) for c in PLAIN_MESSAGES}
        self.payload: Mapping[type[Any], Encoder] = {c: self._message(c) for c in payload_classes()}

    def sample(self, sample: SensorSample[Any]) -> bytes:
        """Return the sample message without its bulk (pixels, points)."""
        return self.sample_encoder(type(sample.payload))(sample)

    def sample_encoder(self, payload_class: type[Any]) -> Encoder:
        """Return an encoder for the samples of one sensor; `CannotRecord` without a schema."""
        encode_payload = self.payload.get(payload_class)
        if encode_payload is None:
            raise CannotRecord(f"a payload of class {payload_class.__name__} has no schema")
        pack, tail_of, tail = _SAMPLE_HEAD.pack, self._tail, b""
        # What the tail was made from; a sensor seldom changes any of it.
        last_meta: object = None
        last_health: object = None
        last_id, last_version = "", 0

        def encode(sample: SensorSample[Any]) -> bytes:
            nonlocal tail, last_meta, last_health, last_id, last_version
            if (
                sample.meta is not last_meta
                or sample.health is not last_health
                or sample.sensor_id != last_id
                or sample.schema_version != last_version
            ):
                tail = tail_of(sample)
                last_meta, last_health = sample.meta, sample.health
                last_id, last_version = sample.sensor_id, sample.schema_version
            payload = encode_payload(sample.payload)
            size = len(payload)
            try:
                head = pack(
                    _STAMP_SIM,
                    sample.stamp_sim_ns,
                    _STAMP_SENSOR,
                    sample.stamp_sensor_ns,
                    _STAMP_WALL,
                    sample.stamp_wall_ns,
                    _SEQ,
                    sample.seq,
                )
            except StructError as error:
                raise CannotRecord("a stamp or seq does not fit into 64 bits") from error
            # The payload before what repeats: then a reader finds both without parsing.
            before = _LENGTHS[size] if size < 1024 else _PAYLOAD + varint(size)
            return head + before + payload + tail

        return encode

    def _tail(self, sample: SensorSample[Any]) -> bytes:
        return (
            (_text_field(5, sample.sensor_id) if sample.sensor_id else b"")
            + key(6, VARINT)
            + varint(int(sample.health))
            + _number(key(7, FIXED64), sample.schema_version)
            + field_bytes(8, self._message(SensorMeta)(sample.meta))
        )

    def _message(self, cls: type[Any]) -> Encoder:
        encoder = self._built.get(cls)
        if encoder is None:
            encoder = self._build(cls)
            if cls in _REMEMBERED:
                encoder = self._remembering(encoder)
            self._built[cls] = encoder
        return encoder

    def _build(self, cls: type[Any]) -> Encoder:
        specs = fields_of(cls)
        encoders = [self._field(spec) for spec in specs]
        if len(specs) == 1:
            (only,), name = encoders, specs[0].name
            return lambda message: only(getattr(message, name))
        values_of = attrgetter(*[spec.name for spec in specs])
        if len(specs) == 3:  # an IMU sample, the most frequent of all: three calls and no loop
            first, second, third = encoders

            def encode_three(message: object) -> bytes:
                a, b, c = values_of(message)
                return first(a) + second(b) + third(c)

            return encode_three

        def encode(message: object) -> bytes:
            # zip without strict: both have the fields of one class, and this is the hot path.
            return b"".join([enc(v) for enc, v in zip(encoders, values_of(message))])  # noqa: B905 - above

        return encode

    def _remembering(self, encode: Encoder) -> Encoder:
        memo = self._memo

        def encode_once(message: object) -> bytes:
            found = memo.get(id(message))
            if found is not None:
                return found[1]
            data = encode(message)
            if len(memo) >= _MEMO_SIZE:
                memo.clear()
            memo[id(message)] = (message, data)
            return data

        return encode_once

    def record_maker(self, message: object, channel_id: int) -> RecordMaker | None:
        """Return a function that writes whole records of messages that look like this one."""
        return compile_record(message, channel_id, self._field)

    def _field(self, spec: Field) -> Encoder:
        encode = self._required(spec)
        if spec.optional:
            return lambda value: b"" if value is None else encode(value)
        return encode

    def _required(self, spec: Field) -> Encoder:
        number = spec.number
        if spec.kind is Kind.DOUBLE:
            pack, tag = Struct("<cd").pack, key(number, FIXED64)
            return lambda value: pack(tag, value)
        if spec.kind is Kind.SFIXED64:
            tag = key(number, FIXED64)
            return lambda value: _number(tag, value)
        if spec.kind is Kind.BOOL:
            yes, no = key(number, VARINT) + b"\1", key(number, VARINT) + b"\0"
            return lambda value: yes if value else no
        if spec.kind is Kind.TEXT:
            always = spec.optional  # an empty text is not the same as none
            return lambda value: _text_field(number, value) if value or always else b""
        if spec.kind is Kind.ENUM:
            tag = key(number, VARINT)
            return lambda value: tag + varint(int(value))
        if spec.kind is Kind.TEXT_ENUM:
            return _text_enum(number, spec.cls)
        if spec.kind is Kind.MESSAGE:
            encode = self._message(spec.cls)
            return lambda value: field_bytes(number, encode(value))
        if spec.kind is Kind.MESSAGES:
            encode = self._message(spec.cls)
            return lambda values: b"".join([field_bytes(number, encode(v)) for v in values])
        if spec.kind is Kind.COMMAND:
            return self._command(number)
        if spec.kind is Kind.MAPPING:
            return _counts(number) if spec.cls is int else _mapping(number)
        return _array(number, spec.cls)

    def _command(self, number: int) -> Encoder:
        known: dict[type[Any], tuple[int, Encoder]] = {
            cls: (n, self._message(cls)) for n, cls in enumerate(COMMANDS, start=1)
        }

        def encode(command: object) -> bytes:
            found = known.get(type(command))
            if found is None:
                raise CannotRecord(f"a {type(command).__name__} is no command of a known level")
            return field_bytes(number, field_bytes(found[0], found[1](command)))

        return encode


def _number(tag: bytes, value: int) -> bytes:
    try:
        return tag + value.to_bytes(8, "little", signed=True)
    except OverflowError as error:
        raise CannotRecord(f"the integer {value} does not fit into 64 bits") from error


def _text_field(number: int, text: str) -> bytes:
    try:
        return field_bytes(number, text.encode())
    except UnicodeEncodeError as error:
        raise CannotRecord(f"the text {text!r} is not valid Unicode") from error


def _text_enum(number: int, cls: type[Enum]) -> Encoder:
    # By identity: hashing a member calls Python code.
    known = {id(member): field_bytes(number, member.value.encode()) for member in cls}
    return lambda value: known[id(value)]


def _mapping(number: int) -> Encoder:
    return lambda mapping: encode_mapping(number, mapping)


def _counts(number: int) -> Encoder:
    """For the counts of a step report: a few small mappings that come again and again."""
    memo: dict[tuple[tuple[str, int], ...], bytes] = {}

    def encode(mapping: Mapping[str, int]) -> bytes:
        # The class lets only `int` in, so equal items are of one type.
        items = tuple(mapping.items())
        data = memo.get(items)
        if data is None:
            data = encode_mapping(number, mapping)
            if len(memo) >= _MEMO_SIZE:
                memo.clear()
            memo[items] = data
        return data

    return encode


def _array(number: int, scalar: type[np.generic]) -> Encoder:
    little = np.dtype(scalar).newbyteorder("<")
    native = little.isnative
    tag, width = key(number, BYTES), little.itemsize
    heads = tuple(tag + varint(n * width) for n in range(_ARRAY_HEADS))

    def encode(array: Any) -> bytes:
        size = array.size
        head = heads[size] if size < _ARRAY_HEADS else tag + varint(size * width)
        data: bytes = array.tobytes() if native else array.astype(little).tobytes()
        return head + data

    return encode
