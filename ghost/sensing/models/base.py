"""What the channel asks of a sensor model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["NAN3", "NON_FINITE", "Reading", "SensorModel", "ToGeodetic", "frozen_floats"]

Reading: TypeAlias = tuple[Any, str | Mapping[str, Any] | None]
"""A payload, and what its sample's `meta.extensions` say.

None: nothing, the sample is OK. A text: what is wrong with it, and the sample is FAULTY (sensor
spec §6). A mapping: what was measured beyond the payload, and the sample is OK.
"""

ToGeodetic: TypeAlias = Callable[[float, float, float], tuple[float, float, float]]
"""World ENU in m → WGS-84 (latitude in degrees, longitude in degrees, ellipsoidal height in m)."""

NON_FINITE = "reading is not finite"


class SensorModel(Protocol):
    """Turns truth into payloads. One instance serves one sensor for one run."""

    def measure(self, k: int, truth: Any) -> Reading | None:
        """Measure sample `k` (>= 1); None if the frame is lost.

        The error of sample `k` depends on `k` alone (D10): indices may be left out.
        """

    def offset(self, payload: Any, value: float) -> Any:
        """Return the payload with `value` added to every measured number (faults, D20)."""

    def invalid(self) -> Any:
        """Return the payload of a corrupt reading: NaN wherever the type has a NaN."""


def frozen_floats(*values: float) -> npt.NDArray[np.float64]:
    """Return (n,) float64, read-only and owning its data, as messages take it without a copy."""
    array = np.array(values, np.float64)
    array.setflags(write=False)
    return array


NAN3 = frozen_floats(math.nan, math.nan, math.nan)
