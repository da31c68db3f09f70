"""Every engine sees the same world: rays and pictures."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from ghost.core import CameraSpec, ScenarioSpec
from ghost.hal.frames import q_from_rpy
from ghost.physics import Engine

MakeEngine = Callable[[], Engine]
HIGH = (0.0, 0.0, 50.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def cast(
    engine: Engine,
    origin: tuple[float, float, float],
    *directions: tuple[float, float, float],
    reach: float = 30.0,
) -> list[float]:
    rows = np.array(directions, dtype=np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    distances = engine.rays(origin, rows, reach)
    assert distances.dtype == np.float64
    assert distances.shape == (len(directions),)
    numbers: list[float] = distances.tolist()
    return numbers


def test_rays_against_box_and_ground(make_engine: MakeEngine, scenario: ScenarioSpec) -> None:
    engine = make_engine()
    engine.reset(scenario, HIGH)
    distances = cast(
        engine,
        (0.0, 0.0, 1.0),
        (1, 0, 0),  # the near face of the box
        (0, 0, -1),  # the ground
        (0, 0, 1),  # nothing
        (-1, 0, 0),  # nothing
        (1, 0, -1),  # the ground before the box
        (1, 0.2, 0),  # past the box
        (1, 0.1, 0),  # the near face, aslant
    )
    expected = [4.5, 1.0, math.nan, math.nan, math.sqrt(2.0), math.nan, 4.5 * math.hypot(1, 0.1)]
    assert distances == pytest.approx(expected, rel=1e-9, nan_ok=True)


def test_ray_to_the_top_of_the_box(make_engine: MakeEngine, scenario: ScenarioSpec) -> None:
    engine = make_engine()
    engine.reset(scenario, HIGH)
    assert cast(engine, (5.2, 0.3, 10.0), (0, 0, -1)) == pytest.approx([8.0])
    assert cast(engine, (5.6, 0.3, 10.0), (0, 0, -1)) == pytest.approx([10.0])


def test_reach(make_engine: MakeEngine, scenario: ScenarioSpec) -> None:
    engine = make_engine()
    engine.reset(scenario, HIGH)
    origin = (0.0, 0.0, 1.0)
    assert cast(engine, origin, (1, 0, 0), reach=4.51) == pytest.approx([4.5])
    assert math.isnan(cast(engine, origin, (1, 0, 0), reach=4.49)[0])
    assert cast(engine, (0.0, 0.0, 900.0), (0, 0, -1), reach=1000.0) == pytest.approx([900.0])


def test_the_vehicle_is_transparent(make_engine: MakeEngine, scenario: ScenarioSpec) -> None:
    engine = make_engine()
    beside = (2.0, 0.0, 1.0, *HIGH[3:])
    engine.reset(scenario, beside)
    # Through the vehicle from outside, and out of it from within.
    assert cast(engine, (0.0, 0.0, 1.0), (1, 0, 0)) == pytest.approx([4.5])
    assert cast(engine, (2.0, 0.0, 1.0), (1, 0, 0), (0, 0, -1)) == pytest.approx([2.5, 1.0])


def test_many_rays_are_the_same_as_few(make_engine: MakeEngine, scenario: ScenarioSpec) -> None:
    """More rays than an engine takes at once."""
    engine = make_engine()
    engine.reset(scenario, HIGH)
    angles = np.linspace(-math.pi, math.pi, 40_001)
    down = np.full_like(angles, -0.15)
    rays = np.stack([np.cos(angles), np.sin(angles), down], axis=1)
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    whole = engine.rays((0.0, 0.0, 1.0), rays, 30.0)
    for i in (0, 16383, 16384, 20000, 32767, 32768, 40000):
        one = engine.rays((0.0, 0.0, 1.0), rays[i : i + 1], 30.0)
        assert one[0] == pytest.approx(whole[i], rel=1e-12)
    ground = 1.0 / -rays[:, 2]
    box = np.abs(np.tan(angles)) * 4.5 < 0.499
    box &= np.cos(angles) > 0.0
    miss = np.abs(np.tan(angles)) * 4.5 > 0.62
    miss |= np.cos(angles) < 0.0
    np.testing.assert_allclose(whole[box], 4.5 / rays[box, 0], rtol=1e-9)
    np.testing.assert_allclose(whole[miss], ground[miss], rtol=1e-9)
    assert box.sum() > 1000


def test_no_rays(make_engine: MakeEngine, scenario: ScenarioSpec) -> None:
    engine = make_engine()
    engine.reset(scenario, HIGH)
    assert engine.rays((0.0, 0.0, 1.0), np.empty((0, 3)), 30.0).shape == (0,)


def red(image: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Rows and columns of the pixels that are clearly red."""
    r, g, b = (image[:, :, i].astype(int) for i in range(3))
    rows, columns = np.nonzero((r > 70) & (r > 2 * g) & (r > 2 * b))
    return rows, columns


def test_picture_shows_the_box_where_it_is(
    drawing_engine: Engine, scenario: ScenarioSpec, camera: CameraSpec
) -> None:
    drawing_engine.reset(scenario, HIGH)
    image = drawing_engine.image(camera, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0))
    assert image.shape == (120, 160, 3)
    assert image.dtype == np.uint8
    focal = 80.0 / math.tan(math.radians(40.0))
    half_width, half_height = focal * 0.5 / 4.5, focal * 1.0 / 4.5
    rows, columns = red(image)
    assert columns.min() == pytest.approx(80.0 - half_width, abs=1.5)
    assert columns.max() + 1 == pytest.approx(80.0 + half_width, abs=1.5)
    assert rows.min() == pytest.approx(60.0 - half_height, abs=1.5)
    assert rows.max() + 1 == pytest.approx(60.0 + half_height, abs=1.5)
    assert len(rows) == pytest.approx(4.0 * half_width * half_height, rel=0.1)
    sky, ground = image[:50, :50].mean(axis=(0, 1)), image[70:, :50].mean(axis=(0, 1))
    assert sky[2] > sky[0] > 100
    assert ground[1] > ground[2]


@pytest.mark.parametrize(
    ("roll", "pitch", "yaw", "row", "column"),
    [
        (0.0, 0.0, 0.3, 60.0, "right"),  # turned left: the box moves to the right
        (0.0, 0.0, -0.3, 60.0, "left"),
        (0.0, -0.2, 0.0, "below", 80.0),  # nose up: the box moves down
        (0.0, 0.2, 0.0, "above", 80.0),
        (math.pi, 0.0, 0.0, 60.0, 80.0),
    ],
)
def test_picture_turns_with_the_camera(
    drawing_engine: Engine,
    scenario: ScenarioSpec,
    camera: CameraSpec,
    roll: float,
    pitch: float,
    yaw: float,
    row: float | str,
    column: float | str,
) -> None:
    drawing_engine.reset(scenario, HIGH)
    image = drawing_engine.image(camera, (0.0, 0.0, 1.0), q_from_rpy(roll, pitch, yaw))
    rows, columns = red(image)
    assert len(rows) > 50
    focal = 80.0 / math.tan(math.radians(40.0))
    shift = focal * math.tan(abs(yaw) or abs(pitch))
    wanted = {"right": 80 + shift, "left": 80 - shift, "below": 60 + shift, "above": 60 - shift}
    middle_row = 0.5 * (rows.min() + rows.max() + 1)
    middle_column = 0.5 * (columns.min() + columns.max() + 1)
    assert middle_row == pytest.approx(wanted[row] if isinstance(row, str) else row, abs=4.0)
    assert middle_column == pytest.approx(
        wanted[column] if isinstance(column, str) else column, abs=4.0
    )
    if roll:
        # Upside down the ground is above.
        assert image[10, 10, 1] > image[10, 10, 2]


def test_picture_without_the_vehicle(
    drawing_engine: Engine, scenario: ScenarioSpec, camera: CameraSpec
) -> None:
    drawing_engine.reset(scenario, HIGH)
    free = drawing_engine.image(camera, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0))
    drawing_engine.reset(scenario, (1.0, 0.0, 1.0, *HIGH[3:]))
    with_vehicle = drawing_engine.image(camera, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0))
    # The vehicle may throw a shadow on the ground; in the upper half it would be in the picture.
    np.testing.assert_array_equal(free[:60], with_vehicle[:60])


def test_same_picture_again(
    drawing_engine: Engine, scenario: ScenarioSpec, camera: CameraSpec
) -> None:
    drawing_engine.reset(scenario, HIGH)
    first = drawing_engine.image(camera, (1.0, 0.5, 1.0), q_from_rpy(0.1, 0.2, 0.3))
    drawing_engine.image(camera, (3.0, 0.5, 2.0), q_from_rpy(0.0, 0.0, 1.0))
    again = drawing_engine.image(camera, (1.0, 0.5, 1.0), q_from_rpy(0.1, 0.2, 0.3))
    drawing_engine.reset(scenario, HIGH)
    after_reset = drawing_engine.image(camera, (1.0, 0.5, 1.0), q_from_rpy(0.1, 0.2, 0.3))
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, after_reset)
