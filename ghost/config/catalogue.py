"""The scenarios and vehicles that travel with Ghost, and how a name or path leads to a file."""

from __future__ import annotations

import importlib.resources
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ghost.config.files import read_text
from ghost.config.problems import Mark
from ghost.config.tree import parse, plain
from ghost.core import ConfigError, UnknownName

__all__ = ["CatalogueEntry", "Kind", "find", "list_scenarios", "list_vehicles"]

Kind = Literal["scenario", "vehicle"]


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One shipped file."""

    name: str
    description: str
    path: Path


def list_scenarios() -> tuple[CatalogueEntry, ...]:
    """The shipped scenarios, by name."""
    return _entries("scenario")


def list_vehicles() -> tuple[CatalogueEntry, ...]:
    """The shipped vehicles, by name."""
    return _entries("vehicle")


def find(kind: Kind, name: str, relative_to: Path | None = None) -> Path:
    """The file that `name` means.

    An existing file, or whatever has a folder in it or ends in `.yaml` or `.yml`, is a path
    (relative to `relative_to`, else to the working directory) and is returned whether it exists or
    not; anything else is the name of a shipped file. Raises `UnknownName` with the nearest names.
    """
    path = Path(name) if relative_to is None else relative_to / name
    if name.endswith((".yaml", ".yml")) or "/" in name or "\\" in name:
        return path
    known = _files(kind)
    if name in known:
        return known[name]
    try:
        if path.is_file():
            return path
        folder = bool(name) and path.is_dir()
    except (OSError, ValueError):  # too long or with a NUL: no path, so a wrong name
        folder = False
    if folder:
        raise ConfigError(f"is a directory, expected a {kind} file or name", file=str(path))
    raise UnknownName(kind, name, known)


def _folder(kind: Kind) -> Path:
    """Inside an installed wheel `ghost/_data/configs`, in a checkout `configs` beside `ghost`."""
    package = Path(str(importlib.resources.files("ghost")))
    for root in (package / "_data" / "configs", package.parent / "configs"):
        if (root / f"{kind}s").is_dir():
            return root / f"{kind}s"
    raise ConfigError(
        f"this installation of Ghost lacks its {kind}s (configs/{kind}s): install it again"
    )


def _files(kind: Kind) -> dict[str, Path]:
    return {path.stem: path for path in sorted(_folder(kind).glob("*.yaml"))}


def _entries(kind: Kind) -> tuple[CatalogueEntry, ...]:
    entries = []
    for name, path in _files(kind).items():
        data = plain(parse(read_text(path, kind), Mark(str(path)), []))
        description = data.get("description", "") if isinstance(data, dict) else ""
        entries.append(CatalogueEntry(name, str(description), path))
    return tuple(entries)
