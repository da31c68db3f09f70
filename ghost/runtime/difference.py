"""Two messages side by side: which fields differ, and by what values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from itertools import islice
from typing import Any

import numpy as np

from ghost.hal import canonical_bytes

__all__ = ["FieldDifference", "field_differences"]

_LEFT_OUT = "stamp_wall_ns"
"""Host time: for debugging, different in each run (D7)."""
_MOST = 20


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """One value that is not the same. `path` is such as `payload.accel_mps2[2]`."""

    path: str
    recorded: str
    new: str


def field_differences(recorded: object, new: object) -> tuple[FieldDifference, ...]:
    """Return the first differences of two messages, in the order of their fields.

    Equal means equal bytes in `canonical_bytes`, so NaN equals NaN, and 0.0 is not −0.0.
    """
    return tuple(islice(_walk("", recorded, new), _MOST))


def _walk(path: str, old: Any, new: Any) -> Iterator[FieldDifference]:
    if type(old) is not type(new):
        yield FieldDifference(path or "class", _class(old), _class(new))
    elif isinstance(old, np.ndarray):
        yield from _arrays(path, old, new)
    elif is_dataclass(old) and not isinstance(old, type):
        for field in fields(old):
            if field.name != _LEFT_OUT:
                name = f"{path}.{field.name}" if path else field.name
                yield from _walk(name, getattr(old, field.name), getattr(new, field.name))
    elif isinstance(old, Mapping):
        for key in dict.fromkeys((*old, *new)):
            name = f"{path}[{key!r}]"
            if key not in old or key not in new:
                yield FieldDifference(name, _text(old, key), _text(new, key))
            else:
                yield from _walk(name, old[key], new[key])
    elif isinstance(old, (tuple, list)):
        if len(old) != len(new):
            yield FieldDifference(f"len({path})", str(len(old)), str(len(new)))
        for index, (mine, theirs) in enumerate(zip(old, new, strict=False)):
            yield from _walk(f"{path}[{index}]", mine, theirs)
    elif canonical_bytes(old) != canonical_bytes(new):
        yield FieldDifference(path, repr(old), repr(new))


def _arrays(path: str, old: Any, new: Any) -> Iterator[FieldDifference]:
    if old.shape != new.shape or old.dtype != new.dtype:
        yield FieldDifference(path, f"{old.dtype}{old.shape}", f"{new.dtype}{new.shape}")
        return
    if canonical_bytes(old) == canonical_bytes(new):
        return
    differ = old != new
    if old.dtype.kind == "f":
        differ &= ~(np.isnan(old) & np.isnan(new))
        differ |= (old == 0) & (new == 0) & (np.signbit(old) != np.signbit(new))
    places = np.argwhere(differ)
    if len(places) > 3:
        count = f"{len(places)} of {differ.size} differ"
        yield FieldDifference(f"{path} ({count})", _range(old[differ]), _range(new[differ]))
    for place in places[:3]:
        at = tuple(int(index) for index in place)
        name = f"{path}[{', '.join(map(str, at))}]"
        yield FieldDifference(name, repr(old[at].item()), repr(new[at].item()))


def _range(values: Any) -> str:
    return f"{values.min()!s}..{values.max()!s}"


def _class(value: object) -> str:
    if isinstance(value, (type(None), bool, int, float, str)):
        return f"{value!r} ({type(value).__name__})"
    return type(value).__name__


def _text(mapping: Mapping[Any, Any], key: object) -> str:
    return repr(mapping[key]) if key in mapping else "(not there)"
