"""Fakes that behave: a host clock whose sleep moves its own time."""

from __future__ import annotations

import pytest

from ghost.core import RandomStream


class FakeHost:
    """A `HostTime` and `SystemClock` in which only sleeping, or `work`, takes time."""

    def __init__(self, start_ns: int = 1_000) -> None:
        self.time_ns = start_ns
        self.slept_until: list[int] = []

    def now_ns(self) -> int:
        return self.time_ns

    def sleep_until_ns(self, at_ns: int) -> None:
        self.slept_until.append(at_ns)
        self.time_ns = max(self.time_ns, at_ns)

    def work(self, for_ns: int) -> None:
        """Let time pass as a busy machine would."""
        self.time_ns += for_ns

    def random_source(self) -> RandomStream:
        return RandomStream(0)


@pytest.fixture
def host() -> FakeHost:
    return FakeHost()
