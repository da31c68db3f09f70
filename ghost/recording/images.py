"""Compressed images, by Pillow: PNG keeps every pixel, JPEG does not.

Pillow is imported with the first such image: most recordings have none.
"""

from __future__ import annotations

import io
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["MAX_PIXELS", "ImageEncoding", "compress", "decompress"]

ImageEncoding = Literal["raw", "png", "jpeg"]

MAX_PIXELS = 64 * 1024 * 1024
"""An image that claims more is refused: a damaged header must not fill the memory."""

_JPEG_QUALITY = 90
_PNG_LEVEL = 1
"""zlib's fastest; level 6 takes four times as long for a tenth less on rendered scenes."""


def compress(image: npt.NDArray[np.uint8], encoding: ImageEncoding) -> bytes:
    """Return the (H, W, 3) uint8 image as a PNG or JPEG file."""
    from PIL import Image

    out = io.BytesIO()
    picture = Image.fromarray(image)
    if encoding == "png":
        picture.save(out, "PNG", compress_level=_PNG_LEVEL)
    elif encoding == "jpeg":
        picture.save(out, "JPEG", quality=_JPEG_QUALITY)
    else:
        raise ValueError(f"encoding must be png or jpeg, got {encoding!r}")
    return out.getvalue()


def decompress(data: bytes) -> npt.NDArray[np.uint8]:
    """Return a PNG or JPEG as a read-only (H, W, 3) uint8 array; `ValueError` if it is none."""
    from PIL import Image, UnidentifiedImageError

    try:
        # Only these two parsers ever see the bytes of a file that may come from anywhere.
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as picture:
            width, height = picture.size
            if width * height > MAX_PIXELS:
                raise ValueError(f"an image of {width}x{height} pixels is too large")
            pixels: npt.NDArray[Any] = np.array(picture.convert("RGB"), dtype=np.uint8)
    except (UnidentifiedImageError, OSError, SyntaxError, EOFError) as error:
        # Pillow's PNG parser raises SyntaxError for a broken chunk.
        raise ValueError(f"no readable PNG or JPEG: {error}") from error
    except Image.DecompressionBombError as error:
        raise ValueError(f"the image is too large: {error}") from error
    pixels.setflags(write=False)
    return pixels
