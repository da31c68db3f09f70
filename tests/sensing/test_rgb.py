"""The colour camera's imperfections: simple, but measurable (sensor spec §3.2)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

from ghost.core import CameraSpec, ImageNoise, NoiseModel, RandomStream
from ghost.sensing import RgbTruth, make_model
from ghost.sensing.models.rgb import MAX_BLUR_COPIES, motion_blur

if TYPE_CHECKING:
    from tests.sensing.conftest import Kit

CAMERA = CameraSpec(width=80, height=60, hfov_deg=60.0, exposure_ns=20_000_000)
Image = npt.NDArray[np.uint8]


def model_of(kit: Kit, **figures: Any) -> Any:
    config = kit.sensor("rgb", noise=NoiseModel(image=ImageNoise(**figures)), camera=CAMERA)
    return make_model(config, RandomStream(3).child("/sensors/cam/noise"), kit.to_geodetic)


def grey(level: int = 128) -> Image:
    return np.full((60, 80, 3), level, np.uint8)


def line() -> Image:
    image = grey(0)
    image[:, 40] = 200
    return image


def test_an_ideal_camera_gives_the_rendered_image(kit: Kit) -> None:
    rendered = line()
    payload, error = model_of(kit).measure(1, RgbTruth(rendered, (900.0, 0.0)))
    assert error is None
    np.testing.assert_array_equal(payload.image, rendered)
    rendered[:] = 7
    assert payload.image[0, 40, 0] == 200
    assert not payload.image.flags.writeable
    assert payload.exposure_ns == 20_000_000
    assert payload.encoding == "rgb8"
    assert (payload.intrinsics.width, payload.intrinsics.height) == (80, 60)


def test_read_noise(kit: Kit) -> None:
    image = model_of(kit, read_sigma=5.0).measure(1, RgbTruth(grey()))[0].image
    assert image.mean() == pytest.approx(128.0, abs=4 * 5.0 / math.sqrt(14_400))
    # Rounding to whole levels adds a variance of 1/12.
    assert image.std() == pytest.approx(math.sqrt(25.0 + 1 / 12), rel=0.03)


def test_noise_does_not_wrap_around(kit: Kit) -> None:
    model = model_of(kit, read_sigma=10.0)
    dark, bright = (model.measure(1, RgbTruth(grey(v)))[0].image for v in (0, 255))
    assert dark.max() < 80
    assert bright.min() > 175


def test_exposure_flicker(kit: Kit) -> None:
    model = model_of(kit, exposure_sigma=0.05)
    frames = [model.measure(k, RgbTruth(grey()))[0].image for k in range(1, 1001)]
    assert all(np.ptp(frame) == 0 for frame in frames)
    gains = np.array([frame[0, 0, 0] for frame in frames]) / 128.0
    assert gains.mean() == pytest.approx(1.0, abs=4 * 0.05 / math.sqrt(1000))
    assert gains.std() == pytest.approx(0.05, rel=0.10)


def test_lost_frames(kit: Kit) -> None:
    model = model_of(kit, dropout_ratio=0.2)
    lost = sum(model.measure(k, RgbTruth(grey())) is None for k in range(1, 2001))
    assert lost / 2000 == pytest.approx(0.2, abs=4 * math.sqrt(0.16 / 2000))


def test_one_figure_does_not_move_another(kit: Kit) -> None:
    plain, lossy = model_of(kit, read_sigma=5.0), model_of(kit, read_sigma=5.0, dropout_ratio=0.5)
    kept = 0
    for k in range(1, 31):
        reading = lossy.measure(k, RgbTruth(grey()))
        if reading is not None:
            kept += 1
            assert reading[0] == plain.measure(k, RgbTruth(grey()))[0]
    assert 5 < kept < 25


@pytest.mark.parametrize("motion", [(500.0, 0.0), (-500.0, 0.0)])
def test_motion_smears_along_itself(kit: Kit, motion: tuple[float, float]) -> None:
    image = model_of(kit, motion_blur=True).measure(1, RgbTruth(line(), motion))[0].image
    # 500 px/s for 20 ms are 10 px: 11 copies of a 200-grey line, centred on where it is.
    row = image[30, :, 0].astype(int)
    assert np.flatnonzero(row).tolist() == list(range(35, 46))
    assert set(row[35:46]) == {round(200 / 11)}


def test_motion_across_a_line_or_along_it(kit: Kit) -> None:
    along = model_of(kit, motion_blur=True).measure(1, RgbTruth(line(), (0.0, 500.0)))[0].image
    np.testing.assert_array_equal(along, line())
    image = grey(0)
    image[30] = 200
    down = model_of(kit, motion_blur=True).measure(1, RgbTruth(image, (0.0, 500.0)))[0].image
    assert np.flatnonzero(down[:, 0, 0]).tolist() == list(range(25, 36))


def test_blur_off_or_tiny_leaves_the_image(kit: Kit) -> None:
    for model, motion in ((model_of(kit), 5000.0), (model_of(kit, motion_blur=True), 20.0)):
        image = model.measure(1, RgbTruth(line(), (motion, 0.0)))[0].image
        np.testing.assert_array_equal(image, line())


def test_blur_keeps_light_and_bounds_its_work() -> None:
    flat = grey(91)
    np.testing.assert_allclose(motion_blur(flat, (400.0, 300.0)), 91.0, rtol=1e-6)
    narrow = np.zeros((3, 2000, 3), np.uint8)
    narrow[:, 1000] = 255
    blurred = motion_blur(narrow, (1000.0, 0.0))
    assert np.count_nonzero(blurred[0, :, 0]) == MAX_BLUR_COPIES
    assert blurred[0, :, 0].sum() == pytest.approx(255.0, rel=1e-5)


@pytest.mark.parametrize("smear", [(7.3, -4.6), (-90.0, 3.0), (1e9, 0.0), (0.0, -1e9), (1.0, 1.0)])
def test_blur_against_shifting_by_index(smear: tuple[float, float]) -> None:
    rows, columns = np.mgrid[:60, :80]
    image = np.stack([rows * 3, columns * 2, rows + columns], axis=2).astype(np.uint8)
    copies = min(math.ceil(max(abs(smear[0]), abs(smear[1]))) + 1, MAX_BLUR_COPIES)
    total = np.zeros(image.shape)
    for i in range(copies):
        along = i / (copies - 1) - 0.5
        r = np.clip(rows - round(along * smear[1]), 0, 59)
        c = np.clip(columns - round(along * smear[0]), 0, 79)
        total += image[r, c]
    np.testing.assert_allclose(motion_blur(image, smear), total / copies, rtol=1e-6)
