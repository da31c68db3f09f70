"""Loading the pybullet package, which is optional and prints when it is loaded."""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ghost.core import MissingDependency

__all__ = ["INSTALL", "load_pybullet"]

INSTALL = 'pip install "ghost-hal[pybullet]"'


def load_pybullet() -> Any:
    """Return the module. Raises `MissingDependency` if it is not installed.

    The package writes its build time past Python straight to a standard stream (which one depends
    on the build), where it would stand between what a program prints for people or for another
    program (`ghost run --json`): it is discarded.
    """
    if "pybullet" not in sys.modules:
        try:
            with _discarded_output():
                importlib.import_module("pybullet")
        except ModuleNotFoundError as error:
            raise MissingDependency(
                "pybullet", needed_for="the backend 'pybullet'", install=INSTALL
            ) from error
    return sys.modules["pybullet"]


@contextmanager
def _discarded_output() -> Iterator[None]:
    """Send what C code writes to the standard streams nowhere; Python's own buffers stay."""
    c_library = ctypes.CDLL("ucrtbase" if os.name == "nt" else None)
    # What others left in C's buffers is theirs to keep; what comes now must leave them before the
    # descriptors are put back, for C holds text back until a buffer is full or the process ends.
    c_library.fflush(None)
    with ExitStack() as undo:
        for descriptor in (1, 2):
            try:
                kept = os.dup(descriptor)
            except OSError:  # a closed stream has nothing to keep clean
                continue
            undo.callback(os.close, kept)
            undo.callback(os.dup2, kept, descriptor)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, descriptor)
            os.close(nowhere)
        undo.callback(c_library.fflush, None)
        yield
