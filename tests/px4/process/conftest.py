"""Stand-in processes on an instance of our own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from ghost.core import ConfigError, HostClock
from ghost.px4.instances import ClaimedInstance, choose_instance
from ghost.px4.process import Px4Process
from tests.px4.process.standins import WAITS, MakeProcess, WaitFor, stand_in, write_px4


@pytest.fixture
def claimed() -> Iterator[ClaimedInstance]:
    """An instance far from those that anybody flies."""
    for number in range(100):
        try:
            # Test runs beside us begin elsewhere.
            claim = choose_instance(150 + (number + os.getpid() * 7) % 100)
        except ConfigError:
            continue
        yield claim
        claim.release()
        return
    pytest.fail("no free instance in 150..249")


@pytest.fixture
def make_process(claimed: ClaimedInstance, tmp_path: Path) -> Iterator[MakeProcess]:
    """Processes that work in a folder of the test's, or in a temporary one; ended at the end."""
    made: list[Px4Process] = []

    def make(
        code: str = WAITS,
        *,
        environ: Mapping[str, str] | None = None,
        settings: Mapping[str, str] | None = None,
        temporary: bool = False,
        keep: bool = False,
        folder: Path | None = None,
    ) -> Px4Process:
        process = stand_in(
            write_px4(tmp_path / f"build{len(made)}", code),
            claimed.number,
            environ=environ,
            settings=settings,
            folder=None if temporary else folder or tmp_path / "work",
            keep=keep,
        )
        made.append(process)
        return process

    yield make
    for process in made:
        process.stop()


@pytest.fixture
def wait_for() -> WaitFor:
    """Waits until something is true, 20 s at most."""
    host = HostClock()

    def wait(condition: Callable[[], object]) -> None:
        end_ns = host.now_ns() + 20_000_000_000
        while not condition():
            assert host.now_ns() < end_ns, "waited 20 s in vain"
            host.sleep_until_ns(host.now_ns() + 5_000_000)

    return wait
