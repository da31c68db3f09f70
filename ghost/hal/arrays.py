"""Arrays inside messages: checked once, owned by the message, never writable (D11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["frozen_array", "same_value"]

_Shape = tuple[int | None, ...]

_ndarray = np.ndarray
_DTYPES: Mapping[type, np.dtype[Any]] = {
    scalar: np.dtype(scalar)
    for scalar in (np.float64, np.float32, np.uint8, np.uint16, np.int64, np.bool_)
}
"""numpy's own dtype objects of the scalars in use; arrays made by numpy share them."""
_CONTIGUOUS, _OWNED, _WRITEABLE = 0x001, 0x004, 0x400
"""Bits of `ndarray.flags.num`: NPY_ARRAY_C_CONTIGUOUS, _OWNDATA, _WRITEABLE of numpy's C API."""
_LOOK_AT = _CONTIGUOUS | _OWNED | _WRITEABLE
_FROZEN = _CONTIGUOUS | _OWNED


def frozen_array(
    name: str, value: object, dtype: type[np.generic], shape: _Shape
) -> npt.NDArray[Any]:
    """Return `value` as a read-only array of exactly `dtype` and `shape` (None: any length).

    A read-only array that owns its data is taken as it is: whoever made it read-only gave it away.
    Anything else is copied, so that the sender cannot change a message after it was made. Raises
    `TypeError` for a wrong type or dtype and `ValueError` for a wrong shape, naming the field.
    """
    # This runs several times for every sample of a run: the usual case is one pass of cheap tests.
    if (
        type(value) is not _ndarray
        or value.dtype is not _DTYPES.get(dtype)
        or (value.shape != shape and not (len(shape) == 1 == value.ndim and shape[0] is None))
    ):
        value = _checked(name, value, np.dtype(dtype), shape)
    if value.flags.num & _LOOK_AT != _FROZEN:
        value = np.array(value, order="C")
        value.flags.writeable = False
    return value


def _checked(name: str, value: object, wanted: np.dtype[Any], shape: _Shape) -> npt.NDArray[Any]:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{name} must be a numpy array of {wanted}, got {type(value).__name__}")
    if value.dtype != wanted:
        raise TypeError(f"{name} must have dtype {wanted}, got {value.dtype}")
    have = value.shape
    if len(have) != len(shape) or any(
        want is not None and want != got for want, got in zip(shape, have, strict=True)
    ):
        sizes = ", ".join("any" if n is None else str(n) for n in shape)
        text = f"({sizes},)" if len(shape) == 1 else f"({sizes})"
        raise ValueError(f"{name} must have shape {text}, got {have}")
    return value if type(value) is np.ndarray else np.array(value, order="C")


def same_value(a: object, b: object) -> bool:
    """Equality by value: arrays element by element, and NaN equal to NaN."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
            return False
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same_value(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)) and type(a) is type(b) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)
