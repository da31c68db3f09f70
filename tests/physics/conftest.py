"""A vehicle and an engine of a few lines, so that the physics room is tested without any engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from ghost.config import load_vehicle
from ghost.core import CameraSpec, InitialState, MissingDependency, ScenarioSpec, VehicleSpec
from ghost.hal.frames import q_from_rotvec, q_multiply
from ghost.physics import Kinematics, lump, rotation_of


class FreeBody:
    """A rigid body over an endless plain that it cannot touch: semi-implicit Euler in numpy."""

    def __init__(self) -> None:
        self.steps = 0
        self.closed = False

    def reset(self, scenario: ScenarioSpec, start: Kinematics) -> None:
        whole = lump(scenario.vehicle)
        self._mass = whole.mass_kg
        self._com = np.array(whole.com_m)
        ixx, iyy, izz, ixy, ixz, iyz = whole.inertia_kgm2
        self._inertia = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
        self._gravity = np.array([0.0, 0.0, -scenario.world.gravity_mps2])
        self._dt = scenario.physics_step_ns * 1e-9
        self._q = tuple(start[3:7])
        turn = self._turn()
        self._rate = np.array(start[10:13])
        self._pos = np.array(start[:3]) + turn @ self._com
        self._vel = np.array(start[7:10]) + turn @ np.cross(self._rate, self._com)

    def _turn(self) -> npt.NDArray[np.float64]:
        w, x, y, z = self._q
        return np.array(rotation_of(w, x, y, z)).reshape(3, 3)

    def step(
        self, force_world_n: tuple[float, float, float], torque_world_nm: tuple[float, float, float]
    ) -> Kinematics:
        self.steps += 1
        self._vel = self._vel + (np.array(force_world_n) / self._mass + self._gravity) * self._dt
        self._pos = self._pos + self._vel * self._dt
        spin = np.cross(self._rate, self._inertia @ self._rate)
        moment = self._turn().T @ np.array(torque_world_nm) - spin
        self._rate = self._rate + np.linalg.solve(self._inertia, moment) * self._dt
        p, q, r = (self._rate * self._dt).tolist()
        w, x, y, z = self._q
        self._q = q_multiply((w, x, y, z), q_from_rotvec((p, q, r)))
        turn = self._turn()
        place = self._pos - turn @ self._com
        speed = self._vel - turn @ np.cross(self._rate, self._com)
        return [*place.tolist(), *self._q, *speed.tolist(), *self._rate.tolist()]

    def rays(
        self, origin_m: Sequence[float], directions: npt.NDArray[np.float64], max_range_m: float
    ) -> npt.NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            distance = np.asarray(-origin_m[2] / directions[:, 2])
        distance[(distance < 0.0) | (distance > max_range_m)] = math.nan
        return distance

    def image(
        self, camera: CameraSpec, pos_m: Sequence[float], q_world: Sequence[float]
    ) -> npt.NDArray[np.uint8]:
        raise MissingDependency("a renderer")

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def engine() -> FreeBody:
    return FreeBody()


@pytest.fixture
def x500() -> VehicleSpec:
    """The reference quadrotor without sensors."""
    return replace(load_vehicle("x500"), sensors=())


@pytest.fixture
def in_the_air(x500: VehicleSpec) -> ScenarioSpec:
    """Level and at rest, 100 m up."""
    return ScenarioSpec(
        name="air",
        vehicle=x500,
        duration_ns=10**11,
        initial=InitialState(pos_enu_m=(0.0, 0.0, 100.0)),
    )
