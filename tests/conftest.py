"""What all rooms share: tests that need what is not here are skipped, with the reason."""

from __future__ import annotations

import os
from functools import cache

import pytest

from ghost.backends.embedded import rendering_status


@cache
def _rendering() -> tuple[bool, str]:
    """Whether this machine can draw, and what is wrong if not: it does not change in a run."""
    available, detail, _ = rendering_status()
    return available, detail


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("px4") is not None and not os.environ.get("GHOST_TEST_PX4"):
        pytest.skip("no real PX4: name a px4 program with GHOST_TEST_PX4")
    if item.get_closest_marker("gl") is None:
        return
    available, detail = _rendering()
    if not available:
        pytest.skip(detail)
