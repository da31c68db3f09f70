"""What lies below a point: the ground and the boxes of the scenario."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ghost.core import BoxObstacle

__all__ = ["Ground"]

_RANGE_M = 1000.0
"""As the altimeter of the embedded worlds, which gives up beyond this height."""


class Ground:
    """A ground at z = 0 with boxes on it or above it."""

    def __init__(self, boxes: Iterable[BoxObstacle]) -> None:
        self._boxes = tuple(
            (
                *box.pos_m,
                *(0.5 * side for side in box.size_m),
                math.cos(math.radians(box.yaw_deg)),
                math.sin(math.radians(box.yaw_deg)),
            )
            for box in boxes
        )

    def height_above(self, x: float, y: float, z: float) -> float:
        """Distance straight down to the first surface, m; NaN below the ground or out of range."""
        top = 0.0 if z >= 0.0 else math.nan
        for bx, by, bz, length, width, height, cosine, sine in self._boxes:
            dx, dy = x - bx, y - by
            along, across = cosine * dx + sine * dy, cosine * dy - sine * dx
            if abs(along) <= length and abs(across) <= width and z >= bz + height > top:
                top = bz + height
        above = z - top
        return above if above <= _RANGE_M else math.nan
