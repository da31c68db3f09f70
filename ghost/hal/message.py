"""The base that every message shares: frozen, slotted, equal by value, checked fields (D11)."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

import numpy as np

from ghost.hal.arrays import same_value

__all__ = [
    "Message",
    "check_flags",
    "check_ints",
    "check_class",
    "check_reals",
    "check_texts",
    "empty_mapping",
    "freeze_mapping",
]

_EMPTY: Mapping[str, Any] = MappingProxyType({})
_ATOMS = frozenset({str, int, float, bool, bytes, type(None)})
_REAL = (int, float, np.integer, np.floating)


class Message:
    """Base of all messages; subclasses are `@dataclass(frozen=True, slots=True, eq=False)`.

    Two messages are equal when they are of one class and every field is equal by value: arrays
    element by element, NaN equal to NaN. Messages are not hashable by design (they hold arrays);
    use `ghost.hal.digest` for a fingerprint. Every subclass checks its fields at construction:
    `TypeError` for a wrong type, `ValueError` for a wrong value, both naming the field.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # unhashable on purpose; mypy wants a method

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(
            same_value(getattr(self, f.name), getattr(other, f.name))
            for f in fields(self)  # type: ignore[arg-type]  # subclasses are dataclasses
        )

    def __reduce__(self) -> tuple[type[Message], tuple[object, ...]]:
        """Copy and pickle through the constructor, which checks and freezes again."""
        names = [f.name for f in fields(self)]  # type: ignore[arg-type]  # as in __eq__
        return type(self), tuple([_thaw(getattr(self, name)) for name in names])


def check_reals(message: Message, *names: str) -> None:
    """Store the named fields as `float`; `TypeError` naming the field for what is no real number.

    A bool is not a number here. NaN and infinity are: a faulty sensor publishes them.
    """
    for name in names:
        value = getattr(message, name)
        if type(value) is float:
            continue
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, _REAL):
            raise TypeError(f"{name} must be a real number, got {type(value).__name__}")
        try:
            object.__setattr__(message, name, float(value))
        except OverflowError:
            raise ValueError(f"{name} must fit into a float, got a larger integer") from None


def check_ints(message: Message, *names: str, minimum: int | None = None) -> None:
    """Store the named fields as `int`, taking what `operator.index` takes except a bool (D1).

    Raises `TypeError` for anything else and `ValueError` below `minimum`, naming the field.
    """
    for name in names:
        value = getattr(message, name)
        if type(value) is not int:
            if isinstance(value, (bool, np.bool_)):
                raise TypeError(f"{name} must be an integer, got the bool {value!r}")
            try:
                value = operator.index(value)
            except TypeError:
                kind = type(value).__name__
                raise TypeError(f"{name} must be an integer, got {kind} {value!r}") from None
            object.__setattr__(message, name, value)
        if minimum is not None and value < minimum:
            raise ValueError(f"{name} must be at least {minimum}, got {value}")


def check_texts(message: Message, *names: str) -> None:
    """Raise `TypeError` naming the field if one of the named fields is not a text."""
    for name in names:
        value = getattr(message, name)
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a text, got {type(value).__name__} {value!r}")


def check_flags(message: Message, *names: str) -> None:
    """Store the named fields as `bool`; `TypeError` naming the field for anything else."""
    for name in names:
        value = getattr(message, name)
        if type(value) is bool:
            continue
        if not isinstance(value, np.bool_):
            raise TypeError(f"{name} must be True or False, got {type(value).__name__} {value!r}")
        object.__setattr__(message, name, bool(value))


def check_class(name: str, value: object, *classes: type) -> None:
    """Raise `TypeError` naming the field if `value` is of none of the classes."""
    if not isinstance(value, classes):
        wanted = " or ".join("None" if c is type(None) else c.__name__ for c in classes)
        raise TypeError(f"{name} must be a {wanted}, got {type(value).__name__} {value!r}")


def empty_mapping() -> Mapping[str, Any]:
    """Return the one empty mapping that messages share, since it cannot be changed."""
    return _EMPTY


def freeze_mapping(name: str, value: object) -> Mapping[str, Any]:
    """Copy a mapping with text keys into a read-only one, all the way down.

    Lists and tuples become tuples, mappings read-only mappings, arrays read-only copies and
    bytearrays bytes; any other object is opaque and kept. `TypeError` names the field.
    """
    if value is _EMPTY:
        return _EMPTY
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a mapping, got {type(value).__name__}")
    if not value:
        return _EMPTY
    frozen: dict[str, Any] = {}
    for key, item in value.items():
        if type(key) is not str:
            raise TypeError(f"{name} must have text keys, got {key!r}")
        frozen[key] = item if type(item) in _ATOMS else _freeze(f"{name}[{key!r}]", item)
    return MappingProxyType(frozen)


def _freeze(name: str, value: object) -> object:
    if isinstance(value, Mapping):
        return freeze_mapping(name, value)
    # Named tuples and other subclasses are opaque: they may mean more than their items.
    if type(value) in (list, tuple) and isinstance(value, (list, tuple)):
        return tuple([_freeze(f"{name}[{i}]", item) for i, item in enumerate(value)])
    if isinstance(value, np.ndarray):
        copy = np.array(value, order="C")
        copy.setflags(write=False)
        return copy
    if isinstance(value, bytearray):
        return bytes(value)
    return value


def _thaw(value: object) -> object:
    """Read-only mappings cannot be pickled; the constructor freezes them again."""
    if isinstance(value, MappingProxyType):
        return {key: _thaw(item) for key, item in value.items()}
    if type(value) is tuple and isinstance(value, tuple):
        return tuple([_thaw(item) for item in value])
    return value
