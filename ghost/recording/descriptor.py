"""Protobuf descriptors of `ghost.msg`, and the same as a `.proto` text for people.

Each MCAP schema carries a whole `FileDescriptorSet`, so that any reader can decode a recording
without Ghost (https://mcap.dev/spec/registry#protobuf).
"""

from __future__ import annotations

import textwrap
from functools import lru_cache
from typing import Any

import numpy as np
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

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
from ghost.recording.values import VALUE_FIELDS

__all__ = ["file_descriptor", "file_descriptor_set", "proto_text"]

_F = FieldDescriptorProto
_SCALARS = {
    Kind.DOUBLE: _F.TYPE_DOUBLE,
    Kind.SFIXED64: _F.TYPE_SFIXED64,
    Kind.BOOL: _F.TYPE_BOOL,
    Kind.TEXT: _F.TYPE_STRING,
    Kind.TEXT_ENUM: _F.TYPE_STRING,
}
_ARRAYS = {
    np.float64: _F.TYPE_DOUBLE,
    np.float32: _F.TYPE_FLOAT,
    np.int64: _F.TYPE_SFIXED64,
    np.bool_: _F.TYPE_BOOL,
    np.uint8: _F.TYPE_BYTES,
    np.uint16: _F.TYPE_BYTES,
}
_VALUE_TYPES = {
    "bool_value": _F.TYPE_BOOL,
    "int_value": _F.TYPE_SFIXED64,
    "big_int_value": _F.TYPE_BYTES,
    "double_value": _F.TYPE_DOUBLE,
    "string_value": _F.TYPE_STRING,
    "bytes_value": _F.TYPE_BYTES,
    "list_value": "List",
    "map_value": "Map",
    "array_value": "Array",
}


@lru_cache(maxsize=1)
def file_descriptor() -> FileDescriptorProto:
    """Return the descriptor of `ghost/msg.proto`: a pure function of the message classes."""
    file = FileDescriptorProto(name="ghost/msg.proto", package=PACKAGE, syntax="proto3")
    done: set[type[Any]] = set()
    for cls in PLAIN_MESSAGES:
        _add_message(file, cls, done)
    for cls in payload_classes():
        _add_message(file, cls, done)
        sample = file.message_type.add(name=sample_name(cls).removeprefix(PACKAGE + "."))
        for spec in SAMPLE_FIELDS:
            _add_field(file, sample, spec, done)
        _add_field(file, sample, Field("payload", 9, Kind.MESSAGE, cls=cls), done)
    _add_values(file)
    return file


@lru_cache(maxsize=1)
def file_descriptor_set() -> bytes:
    """Return the serialized `FileDescriptorSet` that goes into each schema of ours."""
    return FileDescriptorSet(file=[file_descriptor()]).SerializeToString()


def _add_message(file: FileDescriptorProto, cls: type[Any], done: set[type[Any]]) -> None:
    if cls in done:
        return
    done.add(cls)
    message = DescriptorProto(name=cls.__name__)
    for spec in fields_of(cls):
        _add_field(file, message, spec, done)
    file.message_type.append(message)


def _add_field(
    file: FileDescriptorProto, message: DescriptorProto, spec: Field, done: set[type[Any]]
) -> None:
    field = message.field.add(name=spec.name, number=spec.number, label=_F.LABEL_OPTIONAL)
    if spec.kind in _SCALARS:
        field.type = _SCALARS[spec.kind]
        if spec.optional:
            field.proto3_optional = True
            field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=f"_{spec.name}")
    elif spec.kind is Kind.ARRAY:
        field.type = _ARRAYS[spec.cls]
        if field.type != _F.TYPE_BYTES:
            field.label = _F.LABEL_REPEATED
    elif spec.kind is Kind.ENUM:
        field.type, field.type_name = _F.TYPE_ENUM, f".{PACKAGE}.{spec.cls.__name__}"
        _add_enum(file, spec.cls, done)
    else:
        field.type, field.type_name = _F.TYPE_MESSAGE, f".{PACKAGE}.{_message_name(spec)}"
        if spec.kind in (Kind.MESSAGES, Kind.MAPPING):
            field.label = _F.LABEL_REPEATED
        if spec.kind is Kind.COMMAND:
            _add_command(file, done)
        elif spec.kind is not Kind.MAPPING:
            _add_message(file, spec.cls, done)


def _message_name(spec: Field) -> str:
    return "Entry" if spec.kind is Kind.MAPPING else spec.cls.__name__


def _add_enum(file: FileDescriptorProto, cls: type[Any], done: set[type[Any]]) -> None:
    if cls in done:
        return
    done.add(cls)
    enum = file.enum_type.add(name=cls.__name__)
    words = "".join(f"_{c}" if c.isupper() and i else c for i, c in enumerate(cls.__name__))
    for member in cls:
        enum.value.add(name=f"{words.upper()}_{member.name}", number=member.value)


def _add_command(file: FileDescriptorProto, done: set[type[Any]]) -> None:
    if any(message.name == "ActuatorCommand" for message in file.message_type):
        return
    union = DescriptorProto(name="ActuatorCommand")
    union.oneof_decl.add(name="command")
    for number, cls in enumerate(COMMANDS, start=1):
        _add_message(file, cls, done)
        union.field.add(
            name=cls.level.value,
            number=number,
            label=_F.LABEL_OPTIONAL,
            type=_F.TYPE_MESSAGE,
            type_name=f".{PACKAGE}.{cls.__name__}",
            oneof_index=0,
        )
    file.message_type.append(union)


def _add_values(file: FileDescriptorProto) -> None:
    """`Entry` and `Value`: free-form data as `ghost.recording.values` writes it."""

    def add(message: DescriptorProto, name: str, number: int, kind: Any, many: bool = False) -> Any:
        label = _F.LABEL_REPEATED if many else _F.LABEL_OPTIONAL
        field = message.field.add(name=name, number=number, label=label)
        if isinstance(kind, str):
            field.type, field.type_name = _F.TYPE_MESSAGE, f".{PACKAGE}.{kind}"
        else:
            field.type = kind
        return field

    entry = file.message_type.add(name="Entry")
    add(entry, "key", 1, _F.TYPE_STRING)
    add(entry, "value", 2, "Value")
    value = file.message_type.add(name="Value")
    value.oneof_decl.add(name="kind")
    for name, number in VALUE_FIELDS:
        add(value, name, number, _VALUE_TYPES[name]).oneof_index = 0
    add(file.message_type.add(name="List"), "items", 1, "Value", many=True)
    add(file.message_type.add(name="Map"), "entries", 1, "Entry", many=True)
    array = file.message_type.add(name="Array")
    add(array, "dtype", 1, _F.TYPE_STRING)
    add(array, "shape", 2, _F.TYPE_UINT64, many=True)
    add(array, "data", 3, _F.TYPE_BYTES)


_PROTO_HEAD = """\
// Messages of Ghost in its recordings, derived from the classes of ghost.hal.
// Written by `python tools/write_ghost_proto.py`; a test compares. Arrays of uint16 are bytes,
// little-endian. stamp_*_ns are nanoseconds. The pixels of an image sample and the points of a
// LiDAR sample are in the Foxglove message beside it.
syntax = "proto3";

package ghost.msg;
"""
_TYPE_NAMES = {
    _F.TYPE_DOUBLE: "double",
    _F.TYPE_FLOAT: "float",
    _F.TYPE_SFIXED64: "sfixed64",
    _F.TYPE_UINT64: "uint64",
    _F.TYPE_BOOL: "bool",
    _F.TYPE_STRING: "string",
    _F.TYPE_BYTES: "bytes",
}


def proto_text() -> str:
    """Return the schema as the text of a `.proto` file."""
    blocks = [_PROTO_HEAD]
    file = file_descriptor()
    for enum in file.enum_type:
        lines = [f"  {value.name} = {value.number};" for value in enum.value]
        blocks.append("\n".join([f"enum {enum.name} {{", *lines, "}\n"]))
    for message in file.message_type:
        plain: list[str] = []
        united: list[str] = []
        for field in message.field:
            named = _TYPE_NAMES.get(field.type) or field.type_name.removeprefix(f".{PACKAGE}.")
            line = f"  {named} {field.name} = {field.number};"
            if field.label == _F.LABEL_REPEATED:
                line = f"  repeated {line.strip()}"
            elif field.proto3_optional:
                line = f"  optional {line.strip()}"
            in_oneof = field.HasField("oneof_index") and not field.proto3_optional
            (united if in_oneof else plain).append(line)
        if united:
            inner = textwrap.indent("\n".join(united), "  ")
            plain.append(f"  oneof {message.oneof_decl[0].name} {{\n{inner}\n  }}")
        blocks.append("\n".join([f"message {message.name} {{", *plain, "}\n"]))
    return "\n".join(blocks)
