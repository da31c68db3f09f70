"""Worlds in which a closed form holds: no air drag, ideal sensors."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from ghost.config import load_vehicle
from ghost.core import BodyDragSpec, InitialState, ScenarioSpec, VehicleSpec
from ghost.hal import SimulationBackend
from ghost.runtime import make_backend

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=["embedded", pytest.param("pybullet", marks=pytest.mark.pybullet)])
def backend(request: pytest.FixtureRequest) -> Iterator[SimulationBackend]:
    """Each world in turn."""
    name: str = request.param
    if name == "pybullet" and find_spec("pybullet") is None:
        pytest.skip("pybullet is not installed")
    made = make_backend(name)
    yield made
    made.shutdown()


@pytest.fixture
def vacuum_x500() -> VehicleSpec:
    """The x500 without drag of any kind and without sensors."""
    vehicle = load_vehicle("x500")
    return replace(
        vehicle,
        sensors=(),
        motor=replace(vehicle.motor, drag_coeff=0.0, rolling_moment_coeff=0.0),
        body_drag=BodyDragSpec(),
    )


@pytest.fixture
def vacuum(vacuum_x500: VehicleSpec) -> ScenarioSpec:
    """High above the ground, at rest."""
    return ScenarioSpec(
        name="vacuum",
        vehicle=vacuum_x500,
        duration_ns=60_000_000_000,
        initial=InitialState(pos_enu_m=(0.0, 0.0, 500.0)),
    )


@pytest.fixture(scope="session")
def parity() -> Iterator[ModuleType]:
    """`tools/parity_report.py`."""
    name = "parity_report"
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[name]
