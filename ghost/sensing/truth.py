"""What a physics backend delivers at capture: the exact truth, in the sensor's own FLU axes.

A reader (`Callable[[], truth]`) is called once for each capture and must describe the world at the
present step. It may return None when the world has nothing to give for this capture (a frame that
is not rendered): the sample is lost and shows as a gap in `seq`.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "AltimeterTruth",
    "BaroTruth",
    "DepthTruth",
    "FlowTruth",
    "GnssTruth",
    "ImuTruth",
    "LidarTruth",
    "MagTruth",
    "RgbTruth",
    "Truth",
]


class ImuTruth(NamedTuple):
    """Specific force (m/s²; +g on z at rest) and angular rate (rad/s)."""

    ax: float
    ay: float
    az: float
    gx: float
    gy: float
    gz: float


class MagTruth(NamedTuple):
    """Magnetic flux density, tesla."""

    bx: float
    by: float
    bz: float


class BaroTruth(NamedTuple):
    """Static pressure (Pa) and air temperature (°C)."""

    pressure_pa: float
    temperature_c: float


class GnssTruth(NamedTuple):
    """Position of the antenna in world ENU, m."""

    e: float
    n: float
    u: float
    vel_enu_mps: tuple[float, float, float] | None = None
    """Velocity of the antenna; only read for a receiver that measures it."""


class AltimeterTruth(NamedTuple):
    """Height above the altimeter's reference, m."""

    altitude_m: float


class RgbTruth(NamedTuple):
    """One rendered frame."""

    image: npt.NDArray[np.uint8]
    """(H, W, 3) uint8, row 0 at the top."""
    motion_px_per_s: tuple[float, float] = (0.0, 0.0)
    """How fast the scene moves through the image: (right, down), pixels per second."""


class DepthTruth(NamedTuple):
    """One depth frame."""

    depth_m: npt.NDArray[np.float32]
    """(H, W) float32, m along the optical axis; NaN or inf where nothing is hit."""


class LidarTruth(NamedTuple):
    """One scan, in the order of `beam_directions`."""

    range_m: npt.NDArray[np.float32]
    """(rows·columns,) float32, m along the beam; NaN or inf where nothing is hit."""


class FlowTruth(NamedTuple):
    """Optical flow since the last capture."""

    flow_x: float
    flow_y: float
    """Apparent rotation of the scene about the sensor's x and y axes, rad."""
    gx: float
    gy: float
    gz: float
    """The sensor's own rotation over the same time, rad."""
    integration_ns: int
    distance_m: float
    """To the surface along the optical axis, m; NaN if none is in range."""
    quality: int
    """0 (no flow) to 255."""


Truth: TypeAlias = (
    ImuTruth
    | MagTruth
    | BaroTruth
    | GnssTruth
    | AltimeterTruth
    | RgbTruth
    | DepthTruth
    | LidarTruth
    | FlowTruth
)
