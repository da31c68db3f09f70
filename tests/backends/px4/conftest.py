"""Worlds that the autopilot double flies, or, where there is one, a real PX4."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ghost.backends.embedded import EmbeddedBackend
from ghost.backends.px4 import Px4Backend
from ghost.config import load_scenario
from ghost.core import ScenarioSpec
from ghost.hal import CommandAck, PositionCommand, SimulationBackend, StepReport
from tests.px4_double.launch import write_px4

SECOND = 1_000_000_000

MakePx4 = Callable[..., Px4Backend]


@pytest.fixture
def double_bin(tmp_path: Path) -> Path:
    """The double as a program called px4."""
    return write_px4(tmp_path / "double")


@pytest.fixture
def make_px4(double_bin: Path) -> Iterator[MakePx4]:
    """Make a backend with the double in it; keywords are its switches, `world` another world."""
    made: list[Px4Backend] = []

    def make(*, world: SimulationBackend | None = None, **switches: object) -> Px4Backend:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("PX4_")}
        environ["PX4_BIN"] = str(double_bin)
        environ |= {f"PX4_DOUBLE_{name.upper()}": str(value) for name, value in switches.items()}
        made.append(Px4Backend(world or EmbeddedBackend(), environ))
        return made[-1]

    yield make
    for backend in made:
        backend.shutdown()


@pytest.fixture(params=["double", pytest.param("px4", marks=pytest.mark.px4)])
def any_px4(request: pytest.FixtureRequest) -> Iterator[MakePx4]:
    """Make a backend with the double, and once more with a real PX4."""
    if request.param == "double":
        yield request.getfixturevalue("make_px4")
        return
    made: list[Px4Backend] = []

    def make_real(*, world: SimulationBackend | None = None) -> Px4Backend:
        # What ghost run would take, unless a PX4 for tests is named.
        environ = dict(os.environ)
        if named := environ.get("GHOST_TEST_PX4"):
            environ["PX4_BIN"] = named
        made.append(Px4Backend(world or EmbeddedBackend(), environ))
        return made[-1]

    yield make_real
    for backend in made:
        backend.shutdown()


@pytest.fixture
def hover() -> Callable[..., ScenarioSpec]:
    """The shipped px4_hover, ready as soon as the double is, with what `--set` would change."""

    def load(*changes: str, name: str = "px4_hover") -> ScenarioSpec:
        return load_scenario(name, ("autopilot.warmup_ns=8000000000", *changes))

    return load


def fly_up(backend: SimulationBackend, scenario: ScenarioSpec, seconds: float = 6.0) -> list[Any]:
    """Arm, and hold 2 m above the start for a while; returns the reports."""
    import numpy as np

    assert isinstance(backend, Px4Backend)
    ack = backend.arm()
    assert ack.accepted, ack.detail
    reports: list[StepReport] = []
    sink = backend.actuators()
    for index in range(round(seconds * SECOND) // scenario.step_ns):
        if index % 5 == 0:
            sink.send(PositionCommand(np.array((0.0, 0.0, 2.0))), backend.clock.now_ns())
        reports.append(backend.step(scenario.step_ns))
    return reports


def messages(reports: Sequence[StepReport]) -> list[str]:
    """What the events of these reports say."""
    return [event.message for report in reports for event in report.faults]


def refusals(acks: Sequence[CommandAck]) -> set[str]:
    """Names of the reasons for which commands were refused."""
    return {ack.reason.name for ack in acks if not ack.accepted}
