"""Where pixels and beams look, in FLU axes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.core import CameraSpec, ConfigError, LidarSpec
from ghost.sensing import beam_directions, beam_rings, camera_intrinsics, pixel_rays

CAMERAS = st.builds(
    CameraSpec,
    width=st.integers(min_value=1, max_value=40),
    height=st.integers(min_value=1, max_value=40),
    hfov_deg=st.floats(min_value=1.0, max_value=160.0),
)


@settings(deadline=None)
@given(camera=CAMERAS)
def test_projecting_a_ray_gives_its_pixel(camera: CameraSpec) -> None:
    lens, rays = camera_intrinsics(camera), pixel_rays(camera)
    assert rays.shape == (camera.height, camera.width, 3)
    np.testing.assert_allclose(np.linalg.norm(rays, axis=2), 1.0, rtol=1e-12)
    rows, columns = np.mgrid[: camera.height, : camera.width]
    # FLU: right in the image is −y, down is −z.
    np.testing.assert_allclose(lens.cx - lens.fx * rays[..., 1] / rays[..., 0], columns, atol=1e-6)
    np.testing.assert_allclose(lens.cy - lens.fy * rays[..., 2] / rays[..., 0], rows, atol=1e-6)


def test_camera_by_hand() -> None:
    camera = CameraSpec(width=4, height=2, hfov_deg=90.0)
    lens, rays = camera_intrinsics(camera), pixel_rays(camera)
    assert lens.fx == lens.fy == pytest.approx(2.0)
    assert (lens.cx, lens.cy) == (1.5, 0.5)
    assert lens.distortion_model == "none"
    # Top left looks left (+y) and up (+z).
    np.testing.assert_allclose(rays[0, 0] / rays[0, 0, 0], (1.0, 0.75, 0.25))
    np.testing.assert_allclose(rays[1, 3] / rays[1, 3, 0], (1.0, -0.75, -0.25))
    assert not rays.flags.writeable


def test_the_field_of_view_ends_at_the_outer_pixel_edges() -> None:
    camera = CameraSpec(width=640, height=480, hfov_deg=70.0)
    lens = camera_intrinsics(camera)
    edge = math.degrees(math.atan((lens.cx + 0.5) / lens.fx))
    assert edge == pytest.approx(35.0)


def test_lidar_by_hand() -> None:
    lidar = LidarSpec(columns=4, rows=3, hfov_deg=360.0, vfov_deg=60.0)
    beams = beam_directions(lidar).reshape(3, 4, 3)
    level = [(-1, 0, 0), (0, -1, 0), (1, 0, 0), (0, 1, 0)]
    np.testing.assert_allclose(beams[1], level, atol=1e-15)
    np.testing.assert_allclose(beams[:, 2, 2], (-0.5, 0.0, 0.5), atol=1e-15)
    assert beam_rings(lidar).tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert not beam_directions(lidar).flags.writeable


def test_a_partial_scan_has_a_beam_at_each_end() -> None:
    beams = beam_directions(LidarSpec(columns=3, rows=1, hfov_deg=180.0, vfov_deg=30.0))
    np.testing.assert_allclose(beams, [(0, -1, 0), (1, 0, 0), (0, 1, 0)], atol=1e-15)


@pytest.mark.parametrize("hfov_deg", [360.0, 90.0])
def test_a_single_beam_looks_ahead(hfov_deg: float) -> None:
    beams = beam_directions(LidarSpec(columns=1, rows=1, hfov_deg=hfov_deg))
    np.testing.assert_allclose(beams, [(1, 0, 0)], atol=1e-15)


@settings(deadline=None)
@given(
    columns=st.integers(min_value=1, max_value=90),
    rows=st.integers(min_value=1, max_value=20),
    hfov_deg=st.floats(min_value=1.0, max_value=360.0),
    vfov_deg=st.floats(min_value=0.0, max_value=170.0),
)
def test_beams_are_distinct_unit_vectors(
    columns: int, rows: int, hfov_deg: float, vfov_deg: float
) -> None:
    lidar = LidarSpec(columns=columns, rows=rows, hfov_deg=hfov_deg, vfov_deg=vfov_deg)
    beams, rings = beam_directions(lidar), beam_rings(lidar)
    assert beams.shape == (rows * columns, 3)
    np.testing.assert_allclose(np.linalg.norm(beams, axis=1), 1.0, rtol=1e-12)
    means = [beams[rings == ring, 2].mean() for ring in range(rows)]
    assert means == sorted(means)


def test_more_rings_than_can_be_numbered() -> None:
    with pytest.raises(ConfigError, match="at most 65536 rows, got 70000"):
        beam_rings(LidarSpec(columns=1, rows=70_000))
