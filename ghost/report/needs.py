"""Libraries that only some commands need, imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ghost.core import MissingDependency

__all__ = ["need"]


def need(module: str, *, extra: str, needed_for: str) -> ModuleType:
    """Import `module`; `MissingDependency` names the extra of `ghost-hal` that brings it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        root = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != root:
            raise
        raise MissingDependency(
            root, needed_for=needed_for, install=f'pip install "ghost-hal[{extra}]"'
        ) from error
