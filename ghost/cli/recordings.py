"""Opening the recordings that commands are given."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ghost.core.errors import ConfigError

if TYPE_CHECKING:
    from ghost.recording import LogReader

__all__ = ["beside", "check_topics", "opened", "tell_notes"]


@contextlib.contextmanager
def opened(path: str) -> Iterator[LogReader]:
    """Open a recording; one that cannot be read at all is bad input (`ConfigError`)."""
    from ghost.recording import LogReader, RecordingError

    _check_name(path)
    try:
        reader = LogReader(path)
    except RecordingError as error:
        raise ConfigError(str(error)) from error
    with reader:
        yield reader


def beside(path: str, ending: str) -> Path:
    """The folder beside a recording that takes what is made of it, by default."""
    _check_name(path)
    return Path(f"{Path(path).with_suffix('')}_{ending}")


def check_topics(patterns: Sequence[str], *readers: LogReader) -> None:
    """Refuse a pattern that matches no topic of any of the recordings (`ConfigError`)."""
    if not patterns:
        return
    names = sorted(
        {
            topic.topic
            for reader in readers
            for topic in reader.info().topics
            if topic.role in ("record", "foreign")
        }
    )
    for pattern in patterns:
        start = pattern.removesuffix("*")
        if not any(n == pattern or (start != pattern and n.startswith(start)) for n in names):
            known = ", ".join(names) or "none"
            files = " and ".join(dict.fromkeys(reader.path for reader in readers))
            raise ConfigError(
                f"no recorded topic matches {pattern!r}; there are: {known}", file=files
            )


def _check_name(path: str) -> None:
    if not path:
        raise ConfigError("the name of the file is empty")
    if Path(path).is_dir():
        raise ConfigError("is a directory", file=path)


def tell_notes(notes: tuple[str, ...]) -> None:
    """Say on stderr what is wrong with a recording that could be read nevertheless."""
    from ghost.cli.failures import complain

    for note in notes:
        complain(f"note: {note}")
