"""Numbers as people read them."""

from __future__ import annotations

import math

__all__ = ["bytes_text", "number", "seconds"]


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with so many significant digits; `–` for none."""
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{value:.{digits}g}"
    if "e" in text and 1e-4 <= abs(value) < 1e6:
        text = f"{value:.0f}"
    mantissa, exponent, power = text.partition("e")
    if exponent:
        mantissa = mantissa.replace("-", "−")
        return f"{mantissa}·10{''.join(_RAISED[c] for c in str(int(power)))}"
    return text.replace("-", "−")


_RAISED = dict(zip("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹", strict=True))


def seconds(time_ns: int | None, digits: int = 3) -> str:
    """Return a time in seconds, or in milliseconds below one; `–` for none."""
    if time_ns is None:
        return "–"
    if abs(time_ns) < 1_000_000_000:
        return f"{time_ns / 1e6:.{digits}g} ms" if time_ns else "0 s"
    return f"{time_ns / 1e9:.{digits}f} s"


def bytes_text(size: int) -> str:
    """Return a size in the unit that fits."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} bytes"
