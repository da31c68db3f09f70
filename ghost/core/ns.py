"""Integer nanoseconds: the one check that every time argument goes through (D1)."""

from __future__ import annotations

import operator

__all__ = ["as_ns"]


def as_ns(name: str, value: object, *, minimum: int | None = None) -> int:
    """Return `value` as a plain `int` of nanoseconds.

    Accepts what `operator.index` accepts (Python and numpy integers), except `bool`: a flag given
    as a time is a mistake. `name` is how the caller calls the argument; it goes into the error.

    Raises `TypeError` for a float, a bool or anything that is not an integer, and `ValueError` for
    a value below `minimum`.
    """
    if isinstance(value, bool):
        raise TypeError(f"{name} must be an integer of nanoseconds, got the bool {value!r}")
    try:
        ns = operator.index(value)  # type: ignore[arg-type]  # refusing the rest is its job
    except TypeError:
        hint = "; convert it with round() first" if isinstance(value, float) else ""
        raise TypeError(
            f"{name} must be an integer of nanoseconds, got {type(value).__name__} {value!r}{hint}"
        ) from None
    if minimum is not None and ns < minimum:
        raise ValueError(f"{name} must be at least {minimum} ns, got {ns}")
    return ns
