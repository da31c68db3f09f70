"""One line of a diagnosis."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Finding", "State", "failure", "fine", "warning"]


class State(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, how it is, and what to do about it."""

    area: str
    name: str
    state: State
    detail: str
    fix: str = ""


def fine(area: str, name: str, detail: str) -> Finding:
    """Nothing to do."""
    return Finding(area, name, State.OK, detail)


def warning(area: str, name: str, detail: str, fix: str) -> Finding:
    """Works, but not as it should, or not for everything."""
    return Finding(area, name, State.WARNING, detail, fix)


def failure(area: str, name: str, detail: str, fix: str) -> Finding:
    """Does not work."""
    return Finding(area, name, State.FAILURE, detail, fix)
