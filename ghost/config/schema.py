"""What the specification's dataclasses say about themselves: keys, types, defaults.

The dataclasses of `ghost.core` are the one schema. Validation by pydantic, `--set`, suggestions in
errors and the reference in the documentation are all read from it.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin

__all__ = [
    "Field",
    "Hint",
    "choices_of",
    "child_type",
    "default_of",
    "describe",
    "fields_of",
    "is_mapping_type",
    "item_type",
    "literal_words",
    "placeholder",
    "tagged_union",
    "tuple_length",
    "without_none",
]

Hint = Any
"""A type annotation, evaluated."""


@dataclass(frozen=True, slots=True)
class Field:
    """One key of a mapping."""

    name: str
    hint: Hint
    required: bool


def _origin(hint: Hint) -> Any:
    return get_origin(hint)


@functools.cache
def fields_of(cls: type) -> Mapping[str, Field]:
    """The keys of a dataclass, in order."""
    hints = typing.get_type_hints(cls)
    return {
        f.name: Field(
            f.name,
            hints[f.name],
            f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING,
        )
        for f in dataclasses.fields(cls)
    }


def default_of(cls: type, name: str) -> object:
    """The default of a key that is not required."""
    field = next(f for f in dataclasses.fields(cls) if f.name == name)
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def choices_of(hint: Hint) -> tuple[Hint, ...]:
    """The alternatives of a union without `None`; one if it is no union."""
    if _origin(hint) in (Union, types.UnionType):
        return tuple(arg for arg in get_args(hint) if arg is not type(None))
    return (hint,)


def without_none(hint: Hint) -> Hint:
    """`X` for `X | None`; everything else as it is."""
    choices = choices_of(hint)
    return choices[0] if len(choices) == 1 else hint


def is_mapping_type(hint: Hint) -> bool:
    """Whether a value of this type is written as one kind of mapping."""
    return isinstance(hint, type) and dataclasses.is_dataclass(hint)


def tagged_union(hint: Hint) -> Mapping[str, type]:
    """`action` to class for a union of mappings that are told apart by it; else empty."""
    choices = choices_of(hint)
    if len(choices) < 2 or not all(is_mapping_type(choice) for choice in choices):
        return {}
    return {get_args(fields_of(choice)["action"].hint)[0]: choice for choice in choices}


def literal_words(hint: Hint) -> tuple[str, ...]:
    """The words that a `Literal` allows; else empty."""
    return get_args(hint) if _origin(hint) is Literal else ()


def item_type(hint: Hint) -> Hint | None:
    """Type of the items of a list, or `None` if this is no list."""
    return get_args(hint)[0] if _origin(hint) is tuple else None


def tuple_length(hint: Hint) -> int | None:
    """Number of items of a list of fixed length, else `None`."""
    if _origin(hint) is not tuple or get_args(hint)[-1] is Ellipsis:
        return None
    return len(get_args(hint))


def child_type(hint: Hint, segment: str | int, value: object) -> Hint | None:
    """Type below one step of a path, or `None` if the schema has nothing there.

    `value` is what stands at `hint` (plain data); it tells which member of a tagged union it is.
    """
    hint = without_none(hint)
    tags = tagged_union(hint)
    if tags:
        action = value.get("action") if isinstance(value, Mapping) else None
        hint = tags.get(action) if isinstance(action, str) else None
    if isinstance(segment, int):
        return item_type(hint)
    if is_mapping_type(hint):
        field = fields_of(hint).get(segment)
        return field.hint if field else None
    return None


def describe(hint: Hint, key: str) -> str:
    """What a value of this type is, in words that end "expected …"."""
    hint = without_none(hint)
    words = literal_words(hint)
    length = tuple_length(hint)
    if words:
        return f"one of {', '.join(words)}" if len(words) > 1 else words[0]
    if length is not None:
        return f"a list of {length} numbers"
    if item_type(hint) is not None:
        return "a list"
    if key == "vehicle":
        return "the name of a vehicle, the path of a vehicle file, or a mapping"
    if tagged_union(hint) or is_mapping_type(hint):
        return "a mapping of keys to values"
    if hint is int:
        return "a whole number of nanoseconds" if key.endswith("_ns") else "a whole number"
    return {float: "a number", bool: "true or false", str: "text"}[hint]


def placeholder(hint: Hint) -> Any:
    """Plain data that passes for this type, to look for further problems behind a broken value."""
    hint = without_none(hint)
    tags = tagged_union(hint)
    if tags:
        hint = tags["land"] if "land" in tags else next(iter(tags.values()))
        return {"action": get_args(fields_of(hint)["action"].hint)[0]} | _required(hint)
    words = literal_words(hint)
    length = tuple_length(hint)
    if words:
        return words[0]
    if length is not None:
        return [1.0] * length
    if item_type(hint) is not None:
        return []
    if is_mapping_type(hint):
        return _required(hint)
    return {int: 1, float: 1.0, bool: False, str: "placeholder"}[hint]


def _required(cls: type) -> dict[str, Any]:
    return {f.name: placeholder(f.hint) for f in fields_of(cls).values() if f.required}
