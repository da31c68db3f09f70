"""What Ghost asks of a rigid-body engine; a second engine is one file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ghost.core import CameraSpec, ScenarioSpec

__all__ = ["Engine", "Kinematics"]

Kinematics = Sequence[float]
"""Thirteen floats: position (x, y, z) m and velocity (7..9) m/s of the body frame's origin in world
ENU, quaternion (3..6) wxyz body FLU to world ENU, angular rate (10..12) rad/s in body FLU."""


class Engine(Protocol):
    """One free rigid body among fixed obstacles, over a ground at z = 0.

    All five methods are deterministic: the same calls give the same bits. An engine knows nothing
    of rotors, sensors or time; the world that drives it does (`ghost.physics.world`).
    """

    def reset(self, scenario: ScenarioSpec, start: Kinematics) -> None:
        """Build the scenario's world anew and put the body at `start`.

        Mass, centre of mass and inertia are those of `ghost.physics.lumped.lump(vehicle)`; the
        engine's own step is `scenario.physics_step_ns`. Raises `ConfigError` for what it cannot do.
        """

    def step(
        self, force_world_n: tuple[float, float, float], torque_world_nm: tuple[float, float, float]
    ) -> Kinematics:
        """Apply a force and a torque at the centre of mass, world axes, advance one physics step.

        Gravity and contact are the engine's. Returns the state after the step.
        """

    def rays(
        self, origin_m: Sequence[float], directions: npt.NDArray[np.float64], max_range_m: float
    ) -> npt.NDArray[np.float64]:
        """Distance along each unit direction ((N, 3), world) to the first surface, m.

        (N,) float64, NaN where nothing is within `max_range_m`. The vehicle itself is transparent.
        """

    def image(
        self, camera: CameraSpec, pos_m: Sequence[float], q_world: Sequence[float]
    ) -> npt.NDArray[np.uint8]:
        """Render (H, W, 3) sRGB from a pinhole at `pos_m` looking along the x of `q_world`.

        The vehicle itself is not drawn. Raises `MissingDependency` where no renderer can be had.
        """

    def close(self) -> None:
        """Give everything back. Idempotent."""
