"""A stdout that takes nothing: told apart from every other error, and from a closed pipe."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

__all__ = ["StdoutLost", "watched_stdout"]


class StdoutLost(Exception):
    """Stdout cannot be written. No `OSError`: click and rich answer those in their own way."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"stdout cannot be written: {error.strerror or error}")
        self.is_closed_pipe = error.errno == errno.EPIPE
        """Nobody reads any more, as with `| head`: the end of the program, and no error."""


class _Watched:
    """Stdout, whose failures are `StdoutLost`."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, or raise `StdoutLost`."""
        if self._stream is None:
            raise StdoutLost(OSError(errno.EBADF, os.strerror(errno.EBADF)))
        try:
            return self._stream.write(text)
        except OSError as error:
            raise StdoutLost(error) from error

    def flush(self) -> None:
        """Flush, or raise `StdoutLost`."""
        if self._stream is None:
            return
        try:
            self._stream.flush()
        except OSError as error:
            raise StdoutLost(error) from error

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._stream is not None and self._stream.isatty()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def watched_stdout() -> Iterator[None]:
    """While it lasts, and at its end, a stdout that cannot be written raises `StdoutLost`.

    What it could not take is thrown away, so that the interpreter does not fail over it at exit.
    """
    before = cast("TextIO | None", sys.stdout)
    if before is None and os.name == "posix":
        _occupy_descriptor()
    watched = _Watched(before)
    sys.stdout = cast(TextIO, watched)
    try:
        yield
        watched.flush()
    except StdoutLost:
        _throw_away(before)
        raise
    finally:
        sys.stdout = cast(TextIO, before)


def _occupy_descriptor() -> None:
    """Stdout was closed by the caller: no file that is opened later may become descriptor 1."""
    null = os.open(os.devnull, os.O_WRONLY)
    if null != 1:
        # 1 is not the lowest free one, or is open for all that: leave it as it is.
        os.close(null)


def _throw_away(stream: TextIO | None) -> None:
    """Let what waits in the buffer go nowhere."""
    if stream is None or stream is not cast("TextIO | None", sys.__stdout__):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, stream.fileno())
    finally:
        os.close(null)
