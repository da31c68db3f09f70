"""Colour pictures through PyBullet's software renderer, without any OpenGL."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ghost.core import CameraSpec, WorldSpec
from ghost.physics import rotation_of

__all__ = ["Drawing"]

_NEAR_M = 0.01
_FAR_M = 200.0
_SKY = (185, 212, 240)
_GRASS = (0.45, 0.55, 0.38, 1.0)
_DARK_GRASS = (0.35, 0.45, 0.3, 1.0)
_TILES = 24
"""The chequered part of the ground reaches this many metres each way."""


class Drawing:
    """What cameras see of a world: ground and obstacles, no vehicle.

    It is a server of its own that holds visual shapes only: a body that can be bumped into is
    always drawn by PyBullet, so a vehicle in the same server would be in its own pictures.
    """

    def __init__(self, bullet: Any, client: int, world: WorldSpec) -> None:
        self._bullet = bullet
        self._client = client
        self._add_box((0.0, 0.0, -0.06), (0.5 * _FAR_M, 0.5 * _FAR_M, 0.05), _GRASS, 0.0)
        self._add_tiles()
        for box in world.obstacles:
            half_sizes = [0.5 * side for side in box.size_m]
            self._add_box(box.pos_m, half_sizes, (*box.color_rgb, 1.0), box.yaw_deg)

    def _add_box(
        self,
        pos_m: Sequence[float],
        half_sizes_m: Sequence[float],
        rgba: Sequence[float],
        yaw_deg: float,
    ) -> None:
        shape = self._bullet.createVisualShape(
            self._bullet.GEOM_BOX,
            halfExtents=half_sizes_m,
            rgbaColor=rgba,
            physicsClientId=self._client,
        )
        half = 0.5 * math.radians(yaw_deg)
        self._add(shape, pos_m, (0.0, 0.0, math.sin(half), math.cos(half)))

    def _add_tiles(self) -> None:
        """Every other square metre in a darker green: a plain ground tells a camera nothing."""
        corners: list[tuple[float, float, float]] = []
        triangles: list[int] = []
        for i in range(-_TILES, _TILES):
            for j in range(-_TILES, _TILES):
                if (i + j) % 2:
                    continue
                n = len(corners)
                corners += [(i, j, 0.0), (i + 1, j, 0.0), (i + 1, j + 1, 0.0), (i, j + 1, 0.0)]
                triangles += [n, n + 1, n + 2, n, n + 2, n + 3]
        shape = self._bullet.createVisualShape(
            self._bullet.GEOM_MESH,
            vertices=corners,
            indices=triangles,
            normals=[(0.0, 0.0, 1.0)] * len(corners),
            rgbaColor=_DARK_GRASS,
            physicsClientId=self._client,
        )
        self._add(shape, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))

    def _add(self, shape: int, pos_m: Sequence[float], q_xyzw: Sequence[float]) -> None:
        self._bullet.createMultiBody(
            0.0,
            -1,
            shape,
            basePosition=pos_m,
            baseOrientation=q_xyzw,
            physicsClientId=self._client,
        )

    def picture(
        self, camera: CameraSpec, pos_m: Sequence[float], q_world: Sequence[float]
    ) -> npt.NDArray[np.uint8]:
        """(H, W, 3) sRGB from a pinhole at `pos_m` that looks along the x axis of `q_world`."""
        w, x, y, z = q_world
        r = rotation_of(w, x, y, z)
        target = (pos_m[0] + r[0], pos_m[1] + r[3], pos_m[2] + r[6])
        view = self._bullet.computeViewMatrix(pos_m, target, (r[2], r[5], r[8]))
        width, height = camera.width, camera.height
        half = math.tan(math.radians(camera.hfov_deg) / 2.0) * height / width
        projection = self._bullet.computeProjectionMatrixFOV(
            math.degrees(2.0 * math.atan(half)), width / height, _NEAR_M, _FAR_M
        )
        _, _, rgba, _, bodies = self._bullet.getCameraImage(
            width,
            height,
            view,
            projection,
            renderer=self._bullet.ER_TINY_RENDERER,
            shadow=0,
            lightDirection=(-0.3, -0.2, 1.0),
            physicsClientId=self._client,
        )
        image = np.asarray(rgba, dtype=np.uint8).reshape(height, width, 4)[:, :, :3].copy()
        image[np.asarray(bodies).reshape(height, width) < 0] = _SKY
        return image

    def close(self) -> None:
        """Give the server back."""
        self._bullet.disconnect(self._client)
