"""Checks that the configuration dataclasses share.

A message starts with the key it is about (relative to the object that is checked, dotted if it is
deeper) and names every other key it depends on. `ghost.config` relies on both: it turns the first
word into a file position, and it does not believe a check about a key that it had to patch.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

from ghost.core.ns import as_ns

__all__ = [
    "MAX_GAIN",
    "MAX_MASS_KG",
    "MAX_NS",
    "MAX_POS_M",
    "MAX_SIZE_M",
    "MAX_SPEED_MPS",
    "MIN_STEP_NS",
    "Vec3",
    "check_choice",
    "check_finite",
    "check_int",
    "check_ns",
    "check_text",
]

Vec3 = tuple[float, float, float]

MAX_NS = 2**63 - 1
"""Largest time anybody may configure, ns (292 years): what a signed 64-bit field can hold."""

# Far beyond any multirotor, and near enough that an engine still computes: a slip in a unit or an
# exponent gets a word instead of a vehicle that falls through the ground.
MAX_POS_M = 1e6
MAX_SIZE_M = 1e3
MAX_SPEED_MPS = 1e3
MAX_MASS_KG = 1e4
MAX_GAIN = 1e6
MIN_STEP_NS = 10_000
"""Shortest step of a clock or an engine, ns: 100 kHz."""


def check_finite(
    owner: object, *names: str, minimum: float | None = None, maximum: float | None = None
) -> None:
    """Raise `ValueError` if a number (or one of a tuple of numbers) is not finite or out of range.

    A field that is `None` is skipped. `minimum` and `maximum` are inclusive.
    """
    for name in names:
        value = getattr(owner, name)
        if value is None:
            continue
        for number in value if isinstance(value, tuple) else (value,):
            try:
                finite = math.isfinite(number)
            except OverflowError:  # an int that no float can hold
                finite = False
            if not finite:
                raise ValueError(f"{name} must be finite, got {number!r}")
            if minimum is not None and number < minimum:
                raise ValueError(f"{name} must be at least {minimum:g}, got {number!r}")
            if maximum is not None and number > maximum:
                raise ValueError(f"{name} must be at most {maximum:g}, got {number!r}")


def check_ns(owner: object, *names: str, minimum: int) -> None:
    """Raise if a field is not a whole number of nanoseconds in `minimum..MAX_NS` (D1).

    `TypeError` for a float or a bool, `ValueError` for a number out of range.
    """
    for name in names:
        value = as_ns(name, getattr(owner, name), minimum=minimum)
        if value > MAX_NS:
            raise ValueError(f"{name} must be at most {MAX_NS} ns (292 years), got {value}")


def check_choice(owner: object, name: str, choices: Sequence[str]) -> None:
    """Raise `ValueError` if a field is not one of the given words."""
    value = getattr(owner, name)
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")


def check_int(owner: object, *names: str, minimum: int, maximum: int) -> None:
    """Raise if a field is not a whole number in `minimum..maximum`, both inclusive.

    A field that is `None` is skipped. `TypeError` for a float or a bool, `ValueError` for a number
    out of range.
    """
    for name in names:
        value = getattr(owner, name)
        if value is None:
            continue
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"{name} must be a whole number, got {value!r}") from None
        if isinstance(value, bool):
            raise TypeError(f"{name} must be a whole number, got {value!r}")
        if not minimum <= number <= maximum:
            raise ValueError(f"{name} must be within {minimum}..{maximum}, got {number}")


def check_text(owner: object, *names: str) -> None:
    """Raise `TypeError` if a field is not a text, `ValueError` if it has a line break or a NUL."""
    for name in names:
        value = getattr(owner, name)
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a text, got {value!r}")
        if any(character in value for character in "\n\r\0"):
            raise ValueError(f"{name} must be one line without a NUL, got {value!r}")
