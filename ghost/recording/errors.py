"""The errors of this room."""

from __future__ import annotations

from ghost.core import GhostError

__all__ = ["CannotRecord", "RecordingError"]


class RecordingError(GhostError):
    """A recording cannot be read or written: says which file, where in it, and why."""


class CannotRecord(RecordingError):
    """One message has no exact form in the file, so it is left out (and an event says so)."""
