"""Fixtures of the double's own tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ghost.core import ConfigError
from ghost.px4 import choose_instance
from tests.px4_double.flight import Flight


@pytest.fixture
def instance() -> Iterator[int]:
    """A number that nobody uses, claimed for the length of the test, also against other workers.

    System ids are one byte, so there are not many.
    """
    for number in range(200):
        candidate = 20 + (os.getpid() + number) % 200
        try:
            claim = choose_instance(candidate)
        except ConfigError:
            continue
        yield candidate
        claim.release()
        return
    raise RuntimeError("no instance of the autopilot is free")


@pytest.fixture
def fly(tmp_path: Path, instance: int) -> Iterator[Callable[..., Flight]]:
    """Starts a double in the air of a scratch world; keywords are those of `Flight`."""
    with ExitStack() as stack:
        yield lambda **keywords: stack.enter_context(Flight(tmp_path, instance, **keywords))
