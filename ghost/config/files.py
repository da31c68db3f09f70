"""Reading a configuration file: bounded, UTF-8, and with a clear word for everything else."""

from __future__ import annotations

from pathlib import Path

from ghost.core import ConfigError

__all__ = ["MAX_BYTES", "read_text"]

MAX_BYTES = 4 * 1024 * 1024
"""Largest file that is read."""


def read_text(path: Path, kind: str) -> str:
    """The text of a file. `kind` says what it was meant to be ("scenario"), for the errors.

    Raises `ConfigError` if it is missing, no regular file, too large, unreadable or not UTF-8.
    """
    name = str(path)
    try:
        if path.is_dir():
            raise ConfigError(f"is a directory, expected a {kind} file (YAML)", file=name)
        if not path.exists():
            raise ConfigError(f"no such {kind} file{_similar(path)}", file=name)
        if not path.is_file():  # a pipe could block for ever, a device never end
            raise ConfigError(f"is not a regular file, expected a {kind} file", file=name)
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ConfigError(f"cannot read the {kind} file: {reason}", file=name) from error
    if len(raw) > MAX_BYTES:
        raise ConfigError(
            f"is larger than {MAX_BYTES // 1024 // 1024} MiB: this is no {kind} file", file=name
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"is not UTF-8 text: byte 0x{raw[error.start]:02x} at offset {error.start}; "
            "save it as UTF-8",
            file=name,
            line=raw.count(b"\n", 0, error.start) + 1,
        ) from error


def _similar(path: Path) -> str:
    """A hint at a file beside it whose name is nearly the same."""
    import difflib

    if not path.parent.is_dir():
        return f": there is no folder {str(path.parent)!r}"
    found = sorted(path.parent.iterdir())
    names = {entry.stem: entry.name for entry in found if entry.suffix in (".yaml", ".yml")}
    near = difflib.get_close_matches(path.stem, names, n=1, cutoff=0.6)
    return f"; did you mean {str(path.parent / names[near[0]])!r}?" if near else ""
