"""A few frames and scans, spread evenly over a run of unknown length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ghost.hal import RGBImagePayload

__all__ = ["Cloud", "Frame", "Sampled", "shrunk"]

_T = TypeVar("_T")

_MAX_SIDE = 480
"""Pictures are kept this wide at most."""
MAX_POINTS = 8_000


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture."""

    stamp_ns: int
    pixels: npt.NDArray[Any]
    """(H, W, 3) uint8, or (H, W) float32 in m."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """One scan in the world."""

    stamp_ns: int
    points_enu_m: npt.NDArray[Any]
    """(N, 3)."""
    origin_enu_m: tuple[float, float, float]


class Sampled(Generic[_T]):
    """Keeps every k-th item, between `most` and twice as many, whatever comes.

    Ask `wants()`, then call `keep` or `pass_by` once for each item.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._every = 1
        self._seen = 0
        self._kept: list[_T] = []

    def wants(self) -> bool:
        """Tell whether the next item will be kept."""
        return self._seen % self._every == 0

    def pass_by(self) -> None:
        """Count an item that is not kept."""
        self._seen += 1

    def keep(self, item: _T) -> None:
        """Keep an item."""
        self._seen += 1
        self._kept.append(item)
        if len(self._kept) >= 2 * self._most:
            self._kept = self._kept[::2]
            self._every *= 2

    def items(self) -> list[_T]:
        """Return at most `most` of them, from the first to the last that was kept."""
        kept = self._kept
        if len(kept) <= self._most:
            return kept
        places = np.linspace(0, len(kept) - 1, self._most).round().astype(int)
        return [kept[place] for place in places]


def shrunk(payload: Any) -> npt.NDArray[Any]:
    """Return the picture of a camera's payload, every n-th pixel of it if it is large."""
    pixels = payload.image if isinstance(payload, RGBImagePayload) else payload.depth_m
    step = max(1, -(-max(pixels.shape[:2]) // _MAX_SIDE))
    return np.array(pixels[::step, ::step])
