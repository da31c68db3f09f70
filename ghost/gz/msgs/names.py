"""Gazebo's type names and our classes: `gz.msgs.IMU` is `ghost.gz.IMU`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from google.protobuf.message import Message

from ghost.gz.msgs import base_pb2, discovery_pb2, sensors_pb2, world_pb2

__all__ = ["PREFIXES", "base_name", "gz_type", "known_types", "message_class", "same_type"]

# Fortress and older say ignition.msgs; both prefixes name the same bytes.
PREFIXES = ("gz.msgs.", "ignition.msgs.")


def _table() -> Mapping[str, type[Message]]:
    found: dict[str, type[Message]] = {}
    for module in (base_pb2, discovery_pb2, sensors_pb2, world_pb2):
        for name in module.DESCRIPTOR.message_types_by_name:
            found[name] = getattr(module, name)
    return MappingProxyType(dict(sorted(found.items())))


_CLASSES = _table()


def base_name(type_name: str) -> str:
    """Return `IMU` for `gz.msgs.IMU` or `ignition.msgs.IMU`; other names come back unchanged."""
    for prefix in PREFIXES:
        if type_name.startswith(prefix):
            return type_name[len(prefix) :]
    return type_name


def same_type(one: str, other: str) -> bool:
    """Return whether two type names mean the same message, whatever the release calls it."""
    return base_name(one) == base_name(other)


def message_class(type_name: str) -> type[Message] | None:
    """Return our class for a Gazebo type name (the prefix may be missing), or None."""
    return _CLASSES.get(base_name(type_name))


def gz_type(message: Message | type[Message], prefix: str = "gz.msgs.") -> str:
    """Return the name Gazebo has for one of our messages or classes, for example `gz.msgs.IMU`."""
    return prefix + str(message.DESCRIPTOR.name)


def known_types() -> tuple[str, ...]:
    """Return the names of all messages we can decode, `gz.msgs.…`, sorted."""
    return tuple(PREFIXES[0] + name for name in _CLASSES)
