"""Two messages, field by field: which differ, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ghost.hal import canonical_bytes

__all__ = ["FieldDifference", "differences", "show"]

_LEFT_OUT = frozenset({"stamp_wall_ns"})
"""The host's clock is different in every run; `digest` leaves it out as well."""

_MAX_TEXT = 120


class FieldDifference(NamedTuple):
    """One field that is not the same."""

    path: str
    """Such as `payload.accel_mps2[2]`; of an array, its first element that differs."""
    field: str
    """The same without the index: what statistics are kept by."""
    a: Any
    b: Any
    squares: float | None
    """Sum of the squared differences of all elements; None for what is no number."""
    largest: float
    elements: int
    """How many numbers the field has."""


def differences(a: Any, b: Any) -> Iterator[FieldDifference]:
    """Yield the fields in which two messages differ to the bit, wall stamps aside.

    NaN is equal to NaN, and −0.0 is not equal to 0.0, as for `digest`.
    """
    yield from _compare("", a, b)


def _compare(path: str, a: Any, b: Any) -> Iterator[FieldDifference]:
    if type(a) is not type(b):
        yield _plain(path, a, b)
    elif is_dataclass(a):
        for field in fields(a):
            if field.name not in _LEFT_OUT:
                inner = f"{path}.{field.name}" if path else field.name
                yield from _compare(inner, getattr(a, field.name), getattr(b, field.name))
    elif isinstance(a, np.ndarray):
        yield from _arrays(path, a, b)
    elif isinstance(a, Mapping):
        for key in [*a, *(key for key in b if key not in a)]:
            if key not in a or key not in b:
                yield _plain(f"{path}[{key!r}]", a.get(key, MISSING), b.get(key, MISSING))
            else:
                yield from _compare(f"{path}[{key!r}]", a[key], b[key])
    elif isinstance(a, (tuple, list)):
        if len(a) != len(b):
            yield _plain(f"len({path})", len(a), len(b))
        for index, (item, other) in enumerate(zip(a, b, strict=False)):
            yield from _compare(f"{path}[{index}]", item, other)
    elif not _same(a, b):
        yield _plain(path, a, b)


class _Missing:
    def __repr__(self) -> str:
        return "(not there)"


MISSING = _Missing()


def _same(a: Any, b: Any) -> bool:
    try:
        return canonical_bytes(a) == canonical_bytes(b)
    except TypeError:  # opaque objects in extensions have no canonical form
        return bool(a == b)


def _plain(path: str, a: Any, b: Any) -> FieldDifference:
    if _is_number(a) and _is_number(b):
        gap = abs(float(a) - float(b))
        return FieldDifference(path, path, a, b, gap * gap, gap, 1)
    return FieldDifference(path, path, a, b, None, 0.0, 1)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, (bool, Enum))


def _arrays(path: str, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> Iterator[FieldDifference]:
    if a.shape != b.shape or a.dtype != b.dtype:
        what = f"shape({path})"
        yield FieldDifference(what, what, _shape(a), _shape(b), None, 0.0, 1)
        return
    if a.tobytes() == b.tobytes():
        return
    if a.dtype.kind == "f":
        other = (a.view(f"u{a.itemsize}") != b.view(f"u{a.itemsize}")) & ~(
            np.isnan(a) & np.isnan(b)
        )
    else:
        other = a != b
    if not other.any():
        return
    first = tuple(int(i) for i in np.unravel_index(int(other.argmax()), a.shape))
    with np.errstate(over="ignore", invalid="ignore"):  # inf − inf, and squares beyond a double
        gap = np.abs(a.astype(np.float64) - b.astype(np.float64))[other]
        known = gap[np.isfinite(gap)]
        squares = float((known * known).sum())
    index = ",".join(map(str, first))
    yield FieldDifference(
        f"{path}[{index}]",
        path,
        a[first].item(),
        b[first].item(),
        squares,
        float(known.max(initial=0.0)),
        a.size,
    )


def _shape(array: npt.NDArray[Any]) -> str:
    return f"{array.shape} {array.dtype}"


def show(value: Any) -> str:
    """Return a value in few words: floats with all digits, long texts cut."""
    if isinstance(value, Enum):
        text = value.name
    elif is_dataclass(value) and not isinstance(value, type):
        text = type(value).__name__
    else:
        text = repr(value)
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
