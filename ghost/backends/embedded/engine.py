"""MuJoCo behind the engine face."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
import numpy.typing as npt

from ghost.backends.embedded.model import CAMERA, VEHICLE, build_xml
from ghost.backends.embedded.rendering import OffscreenRenderer
from ghost.core import CameraSpec, ScenarioSpec
from ghost.physics import Kinematics

__all__ = ["MujocoEngine"]


class MujocoEngine:
    """One free body in MuJoCo, semi-implicit Euler.

    MuJoCo's free joint integrates the velocity of the body's origin in world axes and the rate in
    body axes, and turns the attitude by the exponential of the new rate: the order `RotorModel`
    asks for.
    """

    def __init__(self) -> None:
        self._renderer: OffscreenRenderer | None = None

    def reset(self, scenario: ScenarioSpec, start: Kinematics) -> None:
        """See `Engine.reset`."""
        self.close()
        _silence_log()
        model = mujoco.MjModel.from_xml_string(build_xml(scenario))
        data = mujoco.MjData(model)
        data.qpos[:] = start[:7]
        data.qvel[:] = start[7:]
        mujoco.mj_forward(model, data)
        self._model = model
        self._data = data
        self._body = model.body(VEHICLE).id
        self._qpos = data.qpos
        self._qvel = data.qvel
        self._wrench = data.xfrc_applied[self._body]
        self._hit = np.empty(1, dtype=np.int32)
        self._step = mujoco.mj_step

    def step(
        self, force_world_n: tuple[float, float, float], torque_world_nm: tuple[float, float, float]
    ) -> Kinematics:
        """See `Engine.step`."""
        self._wrench[:] = force_world_n + torque_world_nm
        self._step(self._model, self._data)
        state: list[float] = self._qpos.tolist()
        state += self._qvel.tolist()
        return state

    def rays(
        self, origin_m: Sequence[float], directions: npt.NDArray[np.float64], max_range_m: float
    ) -> npt.NDArray[np.float64]:
        """See `Engine.rays`."""
        count = len(directions)
        if count == 1:
            return self._ray(origin_m, directions[0], max_range_m)
        distance = np.empty(count)
        mujoco.mj_multiRay(
            self._model,
            self._data,
            np.array(origin_m, dtype=np.float64),
            np.ascontiguousarray(directions).reshape(-1),
            None,
            True,
            self._body,
            np.empty(count, dtype=np.int32),
            distance,
            None,
            count,
            max_range_m,
        )
        # MuJoCo says −1 for no hit, and culls by bounding volumes rather than at the exact range.
        distance[(distance < 0.0) | (distance > max_range_m)] = np.nan
        return distance

    def _ray(
        self, origin_m: Sequence[float], direction: npt.NDArray[np.float64], max_range_m: float
    ) -> npt.NDArray[np.float64]:
        """One ray: range finders ask for it so often that the set-up of a batch would show."""
        hit: float = mujoco.mj_ray(
            self._model,
            self._data,
            np.array(origin_m, dtype=np.float64),
            direction,
            None,
            True,
            self._body,
            self._hit,
            None,
        )
        return np.array([hit if 0.0 <= hit <= max_range_m else np.nan])

    def image(
        self, camera: CameraSpec, pos_m: Sequence[float], q_world: Sequence[float]
    ) -> npt.NDArray[np.uint8]:
        """See `Engine.image`."""
        if self._renderer is None:
            self._renderer = OffscreenRenderer(self._model)
        return self._renderer.render(self._data, CAMERA, camera, pos_m, q_world)

    def close(self) -> None:
        """See `Engine.close`."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


def _silence_log() -> None:
    """Keep MuJoCo from writing MUJOCO_LOG.TXT into the user's folder and lines onto the terminal.

    What it would say (a state that is not finite) the world finds out and raises by itself.
    """
    config = mujoco.MjLogConfig.get()
    config.logto_console = False
    config.logto_file = False
    config.set()
