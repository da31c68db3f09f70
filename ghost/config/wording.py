"""The words of an error: what was found, what was expected, and the likely slip behind it."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence

from ghost.config.schema import Hint, describe, literal_words, tuple_length, without_none

__all__ = ["missing", "nearest_key", "show", "unknown_key", "unknown_word", "wrong_type"]

_UNITS = {
    "ns": "nanoseconds",
    "s": "seconds",
    "m": "metres",
    "kg": "kilograms",
    "kgm2": "kg·m²",
    "deg": "degrees",
    "dps": "degrees per second",
    "rps": "radians per second",
    "rad": "radians",
    "hz": "hertz",
    "mps": "metres per second",
    "mps2": "m/s²",
    "t": "tesla",
    "pa": "pascal",
    "c": "degrees Celsius",
    "ppm": "parts per million",
}
# Units that people write and the specification does not use, so that `mass_g` leads to `mass_kg`.
_FOREIGN = (
    "ms us sec secs msec usec seconds min cm mm km g grams gauss ut nt hpa mbar kmh khz mhz f k"
)
_SUFFIXES = {*_UNITS, *_FOREIGN.split()}
_TO_NS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "sec": 10**9,
    "min": 6 * 10**10,
}
_WITH_UNIT = re.compile(
    r"\s*([-+]?[0-9][0-9_]*\.?[0-9]*(?:[eE][-+]?[0-9]+)?)\s*([^\s0-9].{0,15})?\s*"
)
_LONGEST = 40


def show(value: object) -> str:
    """A value as it stands in an error: short, on one line, in the words of the file format."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]!r}… ({len(value)} characters)"
    return repr(value)


def _stem(key: str) -> str:
    head, _, tail = key.rpartition("_")
    return head if head and tail.lower() in _SUFFIXES else key


def nearest_key(key: str, known: Iterable[str]) -> str | None:
    """The known key that was probably meant: the same in another unit, or a typing slip."""
    known = list(known)
    lower = key.lower().replace("-", "_")
    for same in known:
        if same == lower or (_stem(same) == _stem(lower) and _stem(same) != same):
            return same
    for longer in known:
        if longer.startswith(f"{_stem(lower)}_"):
            return longer
    close = difflib.get_close_matches(lower, known, n=1, cutoff=0.6)
    return close[0] if close else None


def unknown_key(key: str, known: Sequence[str]) -> str:
    """The message for a key that the schema does not have."""
    near = nearest_key(key, known)
    if near is None:
        return f"unknown key, expected one of {', '.join(known)}"
    unit = near.rpartition("_")[2]
    in_unit = f", in {_UNITS[unit]}" if unit in _UNITS and _stem(near) != near else ""
    return f"unknown key, did you mean '{near}'{in_unit}?"


def unknown_word(value: object, words: Sequence[str]) -> str:
    """The message for a word that is not one of those allowed."""
    text = f"expected one of {', '.join(words)}" if len(words) > 1 else f"expected {words[0]}"
    text += f", got {show(value)}"
    if isinstance(value, str):
        by_lower = {word.lower(): word for word in words}
        near = difflib.get_close_matches(value.lower(), by_lower, n=1, cutoff=0.6)
        if near:
            text += f"; did you mean '{by_lower[near[0]]}'?"
    return text


def missing(hint: Hint, key: str) -> str:
    """The message for a required key that is not there."""
    return f"is missing, expected {describe(hint, key)}"


def wrong_type(hint: Hint, key: str, value: object) -> str:
    """The message for a value of the wrong type."""
    hint = without_none(hint)
    if literal_words(hint):
        return unknown_word(value, literal_words(hint))
    text = f"expected {describe(hint, key)}, got {show(value)}"
    length = tuple_length(hint)
    if length is not None and isinstance(value, list):
        return f"expected {describe(hint, key)}, got {len(value)}"
    if hint is int and key.endswith("_ns"):
        return text + _ns_advice(value)
    if hint is int and isinstance(value, float):
        return text + (f": write {int(value)}" if value.is_integer() else "")
    if hint in (int, float) and isinstance(value, str):
        match = _WITH_UNIT.fullmatch(value)
        if match and match[2]:
            return f"{text}: write the number alone, in the unit that the key names"
        if match:
            return f"{text}: take the quotes away"
    if hint is bool and isinstance(value, str) and value.lower() in ("yes", "no", "on", "off"):
        return f"{text}: write {'true' if value.lower() in ('yes', 'on') else 'false'}"
    if hint is str and isinstance(value, int | float):
        return f"{text}: put it in quotes"
    return text


def _ns_advice(value: object) -> str:
    """How to write a time that was given as `0.004` or `4ms`."""
    if isinstance(value, float):
        if not math.isfinite(value) or abs(value) > 1e18:
            return ""
        if value.is_integer() and value:
            return f": nanoseconds are whole numbers, write {int(value):_}"
        seconds = f"; if these are seconds, write {round(value * 1e9):_}" if value else ""
        return f": nanoseconds are whole numbers{seconds}"
    if not isinstance(value, str):
        return ""
    match = _WITH_UNIT.fullmatch(value)
    scale = _TO_NS.get(match[2].strip().lower()) if match and match[2] else None
    if match and match[2] is None:
        return ": take the quotes away"
    if match is None or scale is None:
        return ", e.g. 4_000_000 for 4 ms"
    number = float(match[1].replace("_", ""))
    example = round(number * scale) if abs(number) < 1e9 else 4_000_000
    return f": write an integer of nanoseconds, e.g. {example:_}"
