"""Opening the recordings that commands are given."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ghost.core.errors import ConfigError

if TYPE_CHECKING:
    from ghost.recording import LogReader

__all__ = ["opened", "tell_notes"]


@contextlib.contextmanager
def opened(path: str) -> Iterator[LogReader]:
    """Open a recording; one that cannot be read at all is bad input (`ConfigError`)."""
    from ghost.recording import LogReader, RecordingError

    try:
        reader = LogReader(path)
    except RecordingError as error:
        raise ConfigError(str(error)) from error
    with reader:
        yield reader


def tell_notes(notes: tuple[str, ...]) -> None:
    """Say on stderr what is wrong with a recording that could be read nevertheless."""
    from ghost.cli.failures import complain

    for note in notes:
        complain(f"note: {note}")
