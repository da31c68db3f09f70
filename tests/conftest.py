"""What all rooms share: tests that need what is not here are skipped, with the reason."""

from __future__ import annotations

import os
import shutil
from functools import cache

import pytest

from ghost.backends.embedded import rendering_status


@cache
def _rendering() -> tuple[bool, str]:
    """Whether this machine can draw, and what is wrong if not: it does not change in a run."""
    available, detail, _ = rendering_status()
    return available, detail


def _real_px4() -> str:
    """The px4 program to test with: one that is named, or on the PATH; empty if there is none."""
    named = os.environ.get("GHOST_TEST_PX4") or os.environ.get("PX4_BIN")
    return named or shutil.which("px4") or ""


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("px4") is not None and not _real_px4():
        pytest.skip("no real PX4: name a px4 program with GHOST_TEST_PX4 or PX4_BIN")
    if item.get_closest_marker("gl") is None:
        return
    available, detail = _rendering()
    if not available:
        pytest.skip(detail)
