"""Fixtures of the double's own tests."""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.px4_double.flight import Flight

_NUMBERS = itertools.count(os.getpid())


def _free(port: int, kind: socket.SocketKind) -> bool:
    with socket.socket(socket.AF_INET, kind) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@pytest.fixture
def instance() -> int:
    """A number whose ports nobody has. System ids are one byte, so there are not many."""
    for number in itertools.islice(_NUMBERS, 200):
        candidate = 20 + number % 200
        if _free(4560 + candidate, socket.SOCK_STREAM) and _free(
            14580 + candidate, socket.SOCK_DGRAM
        ):
            return candidate
    raise RuntimeError("no instance of the autopilot is free")


@pytest.fixture
def fly(tmp_path: Path, instance: int) -> Iterator[Callable[..., Flight]]:
    """Starts a double in the air of a scratch world; keywords are those of `Flight`."""
    with ExitStack() as stack:
        yield lambda **keywords: stack.enter_context(Flight(tmp_path, instance, **keywords))
