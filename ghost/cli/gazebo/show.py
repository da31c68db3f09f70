"""Decoded messages for people: one value a line, long ones cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["as_lines"]

_TEXT = 80
_ITEMS = 12


def as_lines(value: Any, indent: int = 0) -> Iterator[str]:
    """Yield a JSON value as indented `name: value` lines."""
    pad = "  " * indent
    if isinstance(value, dict):
        for key, item in value.items():
            if _is_flat(item):
                yield f"{pad}{key}: {_flat(item)}"
            else:
                yield f"{pad}{key}:"
                yield from as_lines(item, indent + 1)
        if not value:
            yield f"{pad}(empty)"
    elif isinstance(value, list) and not _is_flat(value):
        for item in value[:_ITEMS]:
            first, *more = as_lines(item, indent + 1)
            yield f"{pad}- {first.lstrip()}"
            yield from more
        if len(value) > _ITEMS:
            yield f"{pad}… ({len(value)} items)"
    else:
        yield pad + _flat(value)


def _is_flat(value: Any) -> bool:
    if isinstance(value, dict):
        return not value
    return not isinstance(value, list) or not any(isinstance(item, (dict, list)) for item in value)


def _flat(value: Any) -> str:
    if isinstance(value, list):
        shown = ", ".join(_flat(item) for item in value[:_ITEMS])
        return f"[{shown}, … ({len(value)} items)]" if len(value) > _ITEMS else f"[{shown}]"
    if isinstance(value, dict):
        return "(empty)"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if not text:
        return "(empty)"
    lines = text.splitlines()
    if len(lines) > 1:
        return "|\n" + text
    return text if len(text) <= _TEXT else f"{text[:_TEXT]}… ({len(text)} characters)"
