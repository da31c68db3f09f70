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
    """A rigid body over an endless plain that it cannot touch: semi-implicit Euler, plain floats.

    For vehicles whose body axes are principal axes, with the centre of mass on body z.
    """

    def __init__(self) -> None:
        self.closed = False

    def reset(self, scenario: ScenarioSpec, start: Kinematics) -> None:
        whole = lump(scenario.vehicle)
        assert whole.is_diagonal
        assert whole.com_m[:2] == pytest.approx((0.0, 0.0))
        self._mass = whole.mass_kg
        self._height = whole.com_m[2]
        self._moments = whole.inertia_kgm2[:3]
        self._gravity = scenario.world.gravity_mps2
        self._dt = scenario.physics_step_ns * 1e-9
        px, py, pz, w, x, y, z, vx, vy, vz, *rate = start
        self._q = (w, x, y, z)
        self._rate = rate
        lever = self._lever()
        self._pos = [a + b for a, b in zip((px, py, pz), lever[:3], strict=True)]
        self._vel = [a + b for a, b in zip((vx, vy, vz), lever[3:], strict=True)]

    def _lever(self) -> tuple[float, ...]:
        """Place and velocity of the centre of mass from the origin, world axes."""
        r = rotation_of(*self._q)
        h = self._height
        p, q, _ = self._rate
        up = (r[2] * h, r[5] * h, r[8] * h)
        # rate x (0, 0, h) = (q h, -p h, 0) in body axes
        turn = [(r[i] * q - r[i + 1] * p) * h for i in (0, 3, 6)]
        return (*up, *turn)

    def step(
        self, force_world_n: tuple[float, float, float], torque_world_nm: tuple[float, float, float]
    ) -> Kinematics:
        dt, (ix, iy, iz), (p, q, s) = self._dt, self._moments, self._rate
        r = rotation_of(*self._q)
        fall = (0.0, 0.0, self._gravity)
        for i in range(3):
            self._vel[i] += (force_world_n[i] / self._mass - fall[i]) * dt
            self._pos[i] += self._vel[i] * dt
        tx, ty, tz = (sum(r[3 * k + i] * torque_world_nm[k] for k in range(3)) for i in range(3))
        self._rate = [
            p + (tx - (iz - iy) * q * s) / ix * dt,
            q + (ty - (ix - iz) * s * p) / iy * dt,
            s + (tz - (iy - ix) * p * q) / iz * dt,
        ]
        turned = [rate * dt for rate in self._rate]
        self._q = q_multiply(self._q, q_from_rotvec((turned[0], turned[1], turned[2])))
        lever = self._lever()
        place = [a - b for a, b in zip(self._pos, lever[:3], strict=True)]
        speed = [a - b for a, b in zip(self._vel, lever[3:], strict=True)]
        return [*place, *self._q, *speed, *self._rate]

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
        raise MissingDependency(f"a renderer ({camera.width} at {pos_m}, {q_world})")

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


@pytest.fixture
def in_vacuum(in_the_air: ScenarioSpec) -> ScenarioSpec:
    """The same without air, whose torques a controller without integral does not take away."""
    vehicle = in_the_air.vehicle
    motor = replace(vehicle.motor, drag_coeff=0.0, rolling_moment_coeff=0.0)
    return replace(in_the_air, vehicle=replace(vehicle, motor=motor))
