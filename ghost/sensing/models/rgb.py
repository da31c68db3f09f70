"""Colour camera: lost frames, motion blur, exposure flicker, read noise."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ghost.core import CameraSpec, ImageNoise, RandomSource, SensorConfig
from ghost.hal import RGBImagePayload
from ghost.sensing.geometry import camera_intrinsics
from ghost.sensing.models.base import Reading
from ghost.sensing.streams import IndexedStream
from ghost.sensing.truth import RgbTruth

__all__ = ["MAX_BLUR_COPIES", "RgbModel", "motion_blur"]

Image = npt.NDArray[np.uint8]

MAX_BLUR_COPIES = 33
"""A longer smear is made of this many copies further apart, to bound the time of one frame.

33·255 also fits the uint16 that the copies are summed in.
"""


def motion_blur(image: Image, smear_px: tuple[float, float]) -> npt.NDArray[np.float32]:
    """Average copies of the image shifted along `smear_px` (right, down), centred on it.

    One copy a pixel, up to `MAX_BLUR_COPIES`; beyond the border the border pixels are repeated.
    Returns (H, W, 3) float32. A smear under half a pixel leaves the image as it is.
    """
    dx, dy = smear_px
    length = max(abs(dx), abs(dy))
    if length < 0.5:
        return image.astype(np.float32)
    copies = min(math.ceil(length) + 1, MAX_BLUR_COPIES)
    height, width = image.shape[:2]
    shifts = []
    for i in range(copies):
        along = i / (copies - 1) - 0.5
        # A shift by the whole image already shows nothing but the border.
        shifts.append(
            (
                min(max(round(along * dy), -height), height),
                min(max(round(along * dx), -width), width),
            )
        )
    down = max(abs(row) for row, _ in shifts)
    right = max(abs(column) for _, column in shifts)
    padded = np.pad(image, ((down, down), (right, right), (0, 0)), mode="edge")
    # Slices of one padded image: ten times as fast as indexing the image for each copy.
    total = np.zeros(image.shape, np.uint16)
    for row, column in shifts:
        total += padded[down - row : down - row + height, right - column : right - column + width]
    return total.astype(np.float32) / np.float32(copies)


class RgbModel:
    """Applies `ImageNoise`: light first (blur, exposure gain), then electronics (read noise)."""

    __slots__ = ("_camera", "_figures", "_intrinsics", "_stream")

    def __init__(self, config: SensorConfig, source: RandomSource) -> None:
        assert config.camera is not None  # SensorConfig demands it for this type
        self._camera: CameraSpec = config.camera
        self._figures = (config.noise.image if config.noise else None) or ImageNoise()
        self._intrinsics = camera_intrinsics(config.camera)
        self._stream = IndexedStream(source)

    def measure(self, k: int, truth: RgbTruth) -> Reading | None:
        """One frame, or None if it is lost."""
        figures = self._figures
        gain = 1.0
        if figures.dropout_ratio or figures.exposure_sigma or figures.read_sigma:
            # The order and number of draws is fixed, so that one figure does not move another.
            self._stream.seek(k)
            lost, flicker = float(self._stream.uniform(1)[0]), float(self._stream.normal(1)[0])
            if lost < figures.dropout_ratio:
                return None
            gain = max(0.0, 1.0 + figures.exposure_sigma * flicker)
        image: Image = truth.image
        smear = (0.0, 0.0)
        if figures.motion_blur:
            exposure_s = self._camera.exposure_ns * 1e-9
            dx, dy = truth.motion_px_per_s
            smear = (dx * exposure_s, dy * exposure_s)
        if gain != 1.0 or figures.read_sigma or max(abs(smear[0]), abs(smear[1])) >= 0.5:
            light = motion_blur(image, smear)
            light *= np.float32(gain)
            if figures.read_sigma:
                noise = self._stream.normal32(*light.shape)
                noise *= np.float32(figures.read_sigma)
                light += noise
            np.clip(light, 0.0, 255.0, out=light)
            image = np.rint(light, out=light).astype(np.uint8)
            image.setflags(write=False)
        # An untouched image is the renderer's own buffer: the payload copies it if it is writable.
        return self._payload(image), None

    def offset(self, payload: RGBImagePayload, value: float) -> RGBImagePayload:
        """Add to every channel, grey levels, saturating at 0 and 255."""
        shifted = np.clip(payload.image.astype(np.float32) + np.float32(value), 0.0, 255.0)
        return self._payload(np.rint(shifted).astype(np.uint8))

    def invalid(self) -> RGBImagePayload:
        """A black frame: an 8-bit image has no NaN."""
        return self._payload(np.zeros((self._camera.height, self._camera.width, 3), np.uint8))

    def _payload(self, image: Image) -> RGBImagePayload:
        return RGBImagePayload(image, self._intrinsics, self._camera.exposure_ns)
