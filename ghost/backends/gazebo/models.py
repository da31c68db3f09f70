"""Where the SDF files lie that travel with Ghost (`gz_models/`)."""

from __future__ import annotations

import importlib.resources
from pathlib import Path

from ghost.core import ConfigError, UnknownName

__all__ = ["find_world", "models_folder"]


def models_folder() -> Path:
    """The folder with `models/` and `worlds/`.

    Inside an installed wheel `ghost/_data/gz_models`, in a checkout `gz_models` beside `ghost`.
    """
    package = Path(str(importlib.resources.files("ghost")))
    for root in (package / "_data" / "gz_models", package.parent / "gz_models"):
        if (root / "worlds").is_dir():
            return root
    raise ConfigError("this installation of Ghost lacks its gz_models: install it again")


def find_world(name: str) -> Path:
    """The shipped world of this name. Raises `UnknownName` with the nearest names."""
    known = {path.stem: path for path in sorted((models_folder() / "worlds").glob("*.sdf"))}
    if name not in known:
        raise UnknownName("Gazebo world", name, known)
    return known[name]
