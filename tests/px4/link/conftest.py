"""A link over a wire in memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ghost.config import load_vehicle
from ghost.core import VehicleSpec
from ghost.px4.outputs import MotorMap
from ghost.px4.simulator_link import SimulatorLink
from tests.px4.link.parts import Clock, Wire


@pytest.fixture
def vehicle() -> VehicleSpec:
    return load_vehicle("x500")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def wire(clock: Clock) -> Wire:
    return Wire(clock)


@pytest.fixture
def link(wire: Wire, clock: Clock, vehicle: VehicleSpec) -> Iterator[SimulatorLink]:
    link = SimulatorLink(wire, MotorMap(vehicle), host=clock)
    link.open()
    yield link
    link.close()
