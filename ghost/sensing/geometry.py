"""Where pixels and beams look, in sensor axes (FLU: x forward, y left, z up).

Physics engines cast their rays along these, and the models build their payloads from them, so the
two cannot disagree.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ghost.core import CameraSpec, ConfigError, LidarSpec
from ghost.hal import CameraIntrinsics

__all__ = ["beam_directions", "beam_rings", "camera_intrinsics", "pixel_rays"]

FloatArray = npt.NDArray[np.float64]


def camera_intrinsics(camera: CameraSpec) -> CameraIntrinsics:
    """Return the ideal pinhole of `camera`: square pixels, no distortion.

    `fx = fy = (W/2) / tan(hfov/2)`. The centre of the top-left pixel is at (0, 0), as in OpenCV, so
    the principal point is at ((W − 1)/2, (H − 1)/2).
    """
    focal = 0.5 * camera.width / math.tan(math.radians(camera.hfov_deg) / 2.0)
    return CameraIntrinsics(
        width=camera.width,
        height=camera.height,
        fx=focal,
        fy=focal,
        cx=(camera.width - 1) / 2.0,
        cy=(camera.height - 1) / 2.0,
        distortion_model="none",
        distortion_coeffs=np.zeros(0),
    )


def pixel_rays(camera: CameraSpec) -> FloatArray:
    """Return the unit vector through the centre of each pixel: (H, W, 3) float64, read-only.

    Row 0 is the top of the image, column 0 its left edge. The x component is the cosine between
    ray and optical axis: `depth along the axis = distance along the ray · x`.
    """
    lens = camera_intrinsics(camera)
    rays = np.empty((camera.height, camera.width, 3))
    rays[..., 0] = 1.0
    rays[..., 1] = (lens.cx - np.arange(camera.width)) / lens.fx
    rays[..., 2] = ((lens.cy - np.arange(camera.height)) / lens.fy)[:, np.newaxis]
    rays /= np.sqrt(np.sum(rays * rays, axis=2, keepdims=True))
    rays.setflags(write=False)
    return rays


def beam_directions(lidar: LidarSpec) -> FloatArray:
    """Return the unit vector of each beam: (rows·columns, 3) float64, read-only.

    Beam `row·columns + column`. Row 0 (ring 0) is the lowest; elevations run evenly from −vfov/2 to
    +vfov/2, a single row lies at 0. Column 0 is at azimuth −hfov/2 and azimuth grows
    counter-clockwise; a full circle has its columns 360°/columns apart, anything less has one at
    each end, and a single column looks straight ahead.
    """
    elevation = _fan(lidar.vfov_deg, lidar.rows)
    if lidar.hfov_deg == 360.0:
        step = 2.0 * math.pi / lidar.columns
        azimuth = -math.pi + step * np.arange(lidar.columns)
        if lidar.columns == 1:
            azimuth = np.zeros(1)
    else:
        azimuth = _fan(lidar.hfov_deg, lidar.columns)
    beams = np.empty((lidar.rows, lidar.columns, 3))
    level = np.cos(elevation)[:, np.newaxis]
    beams[..., 0] = level * np.cos(azimuth)
    beams[..., 1] = level * np.sin(azimuth)
    beams[..., 2] = np.sin(elevation)[:, np.newaxis]
    flat = beams.reshape(-1, 3).copy()
    flat.setflags(write=False)
    return flat


def beam_rings(lidar: LidarSpec) -> npt.NDArray[np.uint16]:
    """Return the ring (elevation row, 0 lowest) of each beam: (rows·columns,) uint16, read-only.

    Raises `ConfigError` for more rows than a uint16 can number.
    """
    if lidar.rows > 65_536:
        raise ConfigError(f"a LiDAR has at most 65536 rows, got {lidar.rows}", key="lidar.rows")
    rings = np.repeat(np.arange(lidar.rows, dtype=np.uint16), lidar.columns)
    rings.setflags(write=False)
    return rings


def _fan(width_deg: float, count: int) -> FloatArray:
    if count == 1:
        return np.zeros(1)
    half = math.radians(width_deg) / 2.0
    return np.linspace(-half, half, count)
