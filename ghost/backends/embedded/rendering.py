"""Colour pictures through MuJoCo's renderer, where an OpenGL context can be had."""

from __future__ import annotations

import ctypes
import importlib
import math
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from ghost.backends.embedded.model import VEHICLE_GROUP
from ghost.core import CameraSpec, MissingDependency
from ghost.hal.frames import q_multiply

__all__ = ["FIX", "OffscreenRenderer", "rendering_status"]

FIX = "apt-get install libegl1 libgl1 libgl1-mesa-dri (or libosmesa6)"

# By platform, the shared libraries it needs. They are looked for first, because a platform that
# fails half-way binds PyOpenGL to itself, and no other can be tried in this process.
_PLATFORMS = {"egl": ("libEGL.so.1", "libGL.so.1"), "osmesa": ("libOSMesa.so.8",)}
# An OpenGL camera looks along its −z with y up; ours looks along its x with z up.
_OPTICAL = (0.5, 0.5, -0.5, -0.5)


def _open_context(width: int, height: int) -> tuple[Any, str]:
    """The first OpenGL context that can be had: EGL (no display needed), else OSMesa."""
    failures = []
    for name, libraries in _PLATFORMS.items():
        missing = [library for library in libraries if not _loads(library)]
        if missing:
            failures.append(f"{name}: no {', '.join(missing)}")
            continue
        try:
            module = importlib.import_module(f"mujoco.{name}")
            context = module.GLContext(width, height)
            context.make_current()
        except Exception as error:  # noqa: BLE001 - drivers raise anything; all of it is reported
            failures.append(f"{name}: {type(error).__name__}: {error}")
        else:
            return context, name
    raise MissingDependency(
        f"an OpenGL driver ({'; '.join(failures)})", needed_for="a colour camera", install=FIX
    )


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def rendering_status() -> tuple[bool, str, str]:
    """Whether colour images can be made: (available, which or why not, what to install)."""
    try:
        context, name = _open_context(16, 16)
    except MissingDependency as error:
        return False, str(error), FIX
    context.free()
    return True, name, ""


class OffscreenRenderer:
    """Draws the scene of one model, without the vehicle itself, at any image size."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._context, self.platform = _open_context(
            int(model.vis.global_.offwidth), int(model.vis.global_.offheight)
        )
        self._scene = mujoco.MjvScene(model, maxgeom=2000)
        self._option = mujoco.MjvOption()
        self._option.geomgroup[VEHICLE_GROUP] = 0
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self._mjr = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_150.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._mjr)

    def render(
        self,
        data: mujoco.MjData,
        name: str,
        camera: CameraSpec,
        pos_m: Sequence[float],
        q_world: Sequence[float],
    ) -> npt.NDArray[np.uint8]:
        """Picture (H, W, 3) from a pinhole at `pos_m` that looks along the x axis of `q_world`."""
        model = self._model
        room = model.vis.global_
        if camera.width > room.offwidth or camera.height > room.offheight:
            # OpenGL would leave the rest of the picture as it finds it: memory of someone else's.
            raise ValueError(
                f"a picture of {camera.width}x{camera.height} does not fit into the buffer of "
                f"{room.offwidth}x{room.offheight} that the vehicle's cameras asked for"
            )
        index = model.camera(name).id
        aspect = camera.height / camera.width
        half = math.radians(camera.hfov_deg) / 2.0
        model.cam_fovy[index] = math.degrees(2.0 * math.atan(math.tan(half) * aspect))
        mat = np.empty(9)
        w, x, y, z = q_world
        mujoco.mju_quat2Mat(mat, np.array(q_multiply((w, x, y, z), _OPTICAL)))
        data.cam_xpos[index] = pos_m
        data.cam_xmat[index] = mat
        self._camera.fixedcamid = index
        self._context.make_current()
        mujoco.mjv_updateScene(
            model,
            data,
            self._option,
            None,
            self._camera,
            mujoco.mjtCatBit.mjCAT_ALL.value,
            self._scene,
        )
        viewport = mujoco.MjrRect(0, 0, camera.width, camera.height)
        image = np.empty((camera.height, camera.width, 3), dtype=np.uint8)
        mujoco.mjr_render(viewport, self._scene, self._mjr)
        mujoco.mjr_readPixels(image, None, viewport, self._mjr)
        # OpenGL's row 0 is at the bottom.
        return np.ascontiguousarray(image[::-1])

    def close(self) -> None:
        """Free the context."""
        self._context.make_current()
        self._mjr.free()
        self._context.free()
