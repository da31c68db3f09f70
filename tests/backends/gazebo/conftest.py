"""Backends on the test server, started by the backend itself or attached to."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import ModuleType

import pytest

from ghost.backends.gazebo import GazeboBackend, GazeboOptions
from ghost.config import load_vehicle
from ghost.core import InitialState, ScenarioSpec, WorldSpec
from tests.backends.gazebo.on_test_server import ROOT, launch_with
from tests.gz_world_server.launch import ServerProcess

STEP_NS = 4_000_000

OwnServer = Callable[..., GazeboBackend]
Attach = Callable[..., GazeboBackend]
StartServer = Callable[..., ServerProcess]


@pytest.fixture
def scenario() -> ScenarioSpec:
    """The x500 in the air, one step of the world a step."""
    return ScenarioSpec(
        name="test",
        vehicle=load_vehicle("x500"),
        duration_ns=60_000_000_000,
        step_ns=STEP_NS,
        physics_step_ns=STEP_NS,
        world=WorldSpec(name="w"),
        initial=InitialState(pos_enu_m=(0.0, 0.0, 5.0)),
    )


@pytest.fixture
def own_server() -> Iterator[OwnServer]:
    """Make a backend that starts test servers with these arguments; options by keyword."""
    made: list[GazeboBackend] = []

    def make(*arguments: str, **options: object) -> GazeboBackend:
        told = replace(GazeboOptions(), **options)  # type: ignore[arg-type]  # the test's business
        made.append(GazeboBackend(told, launch=launch_with(*arguments)))
        return made[-1]

    yield make
    for backend in made:
        backend.shutdown()


@pytest.fixture
def start_server() -> Iterator[StartServer]:
    """Start a test server; see `tests/gz_world_server`. Killed at the end."""
    started: list[ServerProcess] = []

    def start(*arguments: str, **more: str) -> ServerProcess:
        started.append(ServerProcess("--step-ns", str(STEP_NS), *arguments, **more))
        return started[-1]

    yield start
    for server in started:
        server.kill()


@pytest.fixture
def attach() -> Iterator[Attach]:
    """Make a backend that attaches to a server; options by keyword."""
    made: list[GazeboBackend] = []

    def make(server: ServerProcess, **options: object) -> GazeboBackend:
        told = GazeboOptions(attach=server.world, network=server.transport)
        told = replace(told, **options)  # type: ignore[arg-type]  # the test's business
        made.append(GazeboBackend(told))
        return made[-1]

    yield make
    for backend in made:
        backend.shutdown()


@pytest.fixture(scope="module")
def parity() -> Iterator[ModuleType]:
    """`tools/parity_report.py`."""
    name = "parity_report_for_gazebo"
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / "parity_report.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[name]
