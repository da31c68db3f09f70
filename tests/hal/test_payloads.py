"""Arrays in messages: dtype, shape, ownership (C-HAL-11, C-HAL-12)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ghost.hal import (
    AltimeterPayload,
    CameraIntrinsics,
    EventCameraPayload,
    IMUPayload,
    OpticalFlowPayload,
    PointCloudPayload,
    RGBImagePayload,
    frozen_array,
)


def _other_dtype(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(np.float32 if array.dtype != np.float32 else np.float64)


def test_arrays_are_read_only(with_arrays: Any) -> None:
    message = with_arrays.make()
    for name in with_arrays.arrays():
        array = getattr(message, name)
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        assert array.flags.owndata
        assert type(array) is np.ndarray


def test_the_senders_array_is_copied(with_arrays: Any) -> None:
    for name, array in with_arrays.arrays().items():
        message = with_arrays.make(**{name: array})
        before = array.copy()
        array[...] = 0 if array.any() else 1
        assert array.flags.writeable
        np.testing.assert_array_equal(getattr(message, name), before)


def test_a_view_of_the_senders_array_is_copied(with_arrays: Any) -> None:
    for name, array in with_arrays.arrays().items():
        view = array[:]
        view.setflags(write=False)
        message = with_arrays.make(**{name: view})
        before = array.copy()
        array[...] = 0 if array.any() else 1
        np.testing.assert_array_equal(getattr(message, name), before)


def test_a_frozen_array_is_not_copied(with_arrays: Any) -> None:
    for name, array in with_arrays.arrays().items():
        frozen = array.copy()
        frozen.setflags(write=False)
        assert getattr(with_arrays.make(**{name: frozen}), name) is frozen


def test_a_wrong_dtype_names_the_field(with_arrays: Any) -> None:
    for name, array in with_arrays.arrays().items():
        with pytest.raises(TypeError, match=rf"^{name} must have dtype {array.dtype}"):
            with_arrays.make(**{name: _other_dtype(array)})


@pytest.mark.parametrize("wrong", [None, 1.0, "abc", [1.0, 2.0, 3.0], (1.0,), b"123"])
def test_what_is_no_array_names_the_field(with_arrays: Any, wrong: object) -> None:
    for name in with_arrays.arrays():
        with pytest.raises(TypeError, match=rf"^{name} must be a numpy array"):
            with_arrays.make(**{name: wrong})


def test_a_wrong_shape_names_the_field(with_arrays: Any) -> None:
    for name, array in with_arrays.arrays().items():
        for wrong in (array[np.newaxis], array[..., np.newaxis], np.zeros((), array.dtype)):
            with pytest.raises(ValueError, match=rf"^{name} must have shape"):
                with_arrays.make(**{name: wrong})


def test_fixed_lengths_are_held() -> None:
    three, four = np.zeros(3), np.zeros(4)
    with pytest.raises(ValueError, match=r"^gyro_rps must have shape \(3,\), got \(4,\)"):
        IMUPayload(three, four)
    with pytest.raises(ValueError, match=r"^flow_rad must have shape \(2,\)"):
        OpticalFlowPayload(three, three, 1, 1.0, 1)
    with pytest.raises(ValueError, match=r"^points_m must have shape \(any, 3\)"):
        PointCloudPayload(
            np.zeros((5, 4), np.float32), np.zeros(5, np.uint16), min_range_m=0.0, max_range_m=1.0
        )
    with pytest.raises(ValueError, match=r"^ring must have shape \(5,\), got \(4,\)"):
        PointCloudPayload(
            np.zeros((5, 3), np.float32), np.zeros(4, np.uint16), min_range_m=0.0, max_range_m=1.0
        )


def test_images_fit_their_intrinsics() -> None:
    camera = CameraIntrinsics(4, 3, 2.0, 2.0, 2.0, 1.5, "none", np.zeros(0))
    with pytest.raises(ValueError, match=r"^image must have shape \(3, 4, 3\), got \(4, 3, 3\)"):
        RGBImagePayload(np.zeros((4, 3, 3), np.uint8), camera, 0)
    with pytest.raises(TypeError, match=r"^intrinsics must be a CameraIntrinsics, got None"):
        RGBImagePayload(np.zeros((3, 4, 3), np.uint8), None, 0)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ValueError, match=r"^encoding must be 'rgb8', got 'bgr8'"):
        RGBImagePayload(np.zeros((3, 4, 3), np.uint8), camera, 0, "bgr8")  # type: ignore[arg-type]  # wrong on purpose


def test_arrays_of_events_go_together() -> None:
    camera = CameraIntrinsics(4, 3, 2.0, 2.0, 2.0, 1.5, "none", np.zeros(0))
    two, three = np.zeros(2, np.uint16), np.zeros(3, np.uint16)
    with pytest.raises(ValueError, match=r"^y must have shape \(2,\), got \(3,\)"):
        EventCameraPayload(two, three, np.zeros(2, np.int64), np.zeros(2, np.bool_), camera)


@pytest.mark.parametrize(
    ("model", "count", "fits"),
    [
        ("none", 0, True),
        ("none", 4, False),
        ("plumb_bob", 4, True),
        ("plumb_bob", 5, True),
        ("plumb_bob", 8, True),
        ("plumb_bob", 6, False),
        ("equidistant", 4, True),
        ("equidistant", 5, False),
    ],
)
def test_distortion_coefficients_fit_their_model(model: Any, count: int, fits: bool) -> None:
    if fits:
        camera = CameraIntrinsics(4, 3, 2.0, 2.0, 2.0, 1.5, model, np.zeros(count))
        assert camera.distortion_coeffs.shape == (count,)
    else:
        with pytest.raises(ValueError, match=rf"^distortion_coeffs of {model}"):
            CameraIntrinsics(4, 3, 2.0, 2.0, 2.0, 1.5, model, np.zeros(count))


def test_named_choices_are_held() -> None:
    with pytest.raises(ValueError, match=r"^reference must be AMSL, AGL or LOCAL, got 'MSL'"):
        AltimeterPayload(1.0, "MSL", 0.1)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ValueError, match=r"^distortion_model must be one of"):
        CameraIntrinsics(1, 1, 1.0, 1.0, 0.0, 0.0, "fisheye", np.zeros(4))  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ValueError, match=r"^quality must be within 0\.\.255, got 256"):
        OpticalFlowPayload(np.zeros(2), np.zeros(3), 1, 1.0, 256)


def test_a_reading_may_be_nan() -> None:
    nan = float("nan")
    assert np.isnan(IMUPayload(np.full(3, nan), np.zeros(3)).accel_mps2).all()
    assert np.isnan(AltimeterPayload(nan, "AGL", 0.1).altitude_m)


def test_frozen_array_takes_any_layout() -> None:
    column = np.zeros((3, 5))[:, 1]
    assert frozen_array("v", column, np.float64, (3,)).flags.c_contiguous
    big_endian = np.arange(3, dtype=">f8")
    with pytest.raises(TypeError, match=r"^v must have dtype float64, got >f8"):
        frozen_array("v", big_endian, np.float64, (3,))
    masked = np.ma.masked_array(np.arange(3.0), mask=[True, False, False])
    plain = frozen_array("v", masked, np.float64, (3,))
    assert type(plain) is np.ndarray
    assert not plain.flags.writeable


def test_the_same_dtype_under_another_name_is_taken() -> None:
    other = np.dtype("=f8").newbyteorder("<").newbyteorder("=")
    array = np.arange(3.0).astype(other)
    assert frozen_array("v", array, np.float64, (3,)).tolist() == [0.0, 1.0, 2.0]
