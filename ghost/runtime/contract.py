"""What a driver gave against what the contract asks, in the driver's own name."""

from __future__ import annotations

from ghost.core import ContractViolation

__all__ = ["wrong_return"]

_LONGEST = 60


def wrong_return(backend: str, what: str, value: object, expected: str) -> ContractViolation:
    """The error for a `value` of the wrong type; `what` names its source: `step() returned`."""
    shown = repr(value)
    if len(shown) > _LONGEST:
        shown = f"{shown[:_LONGEST]}…"
    kind = "" if value is None else f"{type(value).__name__} "
    article = "an" if expected[0] in "AEIOU" else "a"
    return ContractViolation(
        f"{backend}: {what} {kind}{shown}, expected {article} {expected}; "
        f"`ghost conformance --backend {backend}` shows more"
    )
