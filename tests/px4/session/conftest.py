"""A flight with a fake PX4."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.px4.fake_px4 import Flight


@pytest.fixture
def flight() -> Iterator[Flight]:
    """Not connected yet."""
    made = Flight()
    yield made
    made.close()


@pytest.fixture
def connected(flight: Flight) -> Flight:
    """Connected, standing in HOLD, disarmed and ready."""
    flight.connect()
    flight.messages()
    return flight
