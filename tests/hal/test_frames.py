"""Axes, rotations and units (C-HAL-18, C-HAL-19). Golden vectors are worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.hal import frames as fr

S = math.sqrt(0.5)
EAST, NORTH, UP = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
FORWARD, LEFT = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)

_unit = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: sum(c * c for c in q) > 1e-3)
_quats = _unit.map(fr.q_normalise)
_vectors = st.tuples(*[st.floats(-1e3, 1e3)] * 3)
_angles = st.floats(-math.pi, math.pi)


def near(expected: Any, tolerance: float = 1e-12) -> Any:
    return pytest.approx(expected, rel=tolerance, abs=tolerance)


def same_turn(a: fr.Quat, b: fr.Quat) -> bool:
    """q and −q are one attitude."""
    return abs(sum(x * y for x, y in zip(a, b, strict=True))) > 1.0 - 1e-12


# --- golden vectors -------------------------------------------------------------------------------


def test_world_axes() -> None:
    assert fr.enu_to_ned((1.0, 2.0, 3.0)) == (2.0, 1.0, -3.0)
    assert fr.ned_to_enu((2.0, 1.0, -3.0)) == (1.0, 2.0, 3.0)
    assert fr.enu_to_ned((0.0, 0.0, -9.8)) == (0.0, 0.0, 9.8)  # gravity is +z in NED


def test_body_axes() -> None:
    assert fr.flu_to_frd((1.0, 2.0, 3.0)) == (1.0, -2.0, -3.0)
    assert fr.frd_to_flu((1.0, -2.0, -3.0)) == (1.0, 2.0, 3.0)
    assert fr.flu_to_frd((0.0, 0.0, 9.8)) == (0.0, 0.0, -9.8)  # an IMU at rest reads −g in FRD


@pytest.mark.parametrize(
    ("enu_flu", "ned_frd"),
    [
        # level, nose north: yaw 90° in ENU, no turn at all in NED
        ((S, 0.0, 0.0, S), (1.0, 0.0, 0.0, 0.0)),
        # level, nose east: no turn in ENU, heading 90° in NED
        ((1.0, 0.0, 0.0, 0.0), (S, 0.0, 0.0, S)),
        # level, nose west: yaw 180° in ENU, heading −90° in NED
        ((0.0, 0.0, 0.0, 1.0), (S, 0.0, 0.0, -S)),
        # nose north, rolled 90° to the right: about forward in both
        ((0.5, 0.5, 0.5, 0.5), (S, S, 0.0, 0.0)),
        # nose east, pitched straight up: −90° about left in ENU/FLU; in NED/FRD first +90° about
        # right, then heading 90°
        ((S, 0.0, -S, 0.0), (0.5, -0.5, 0.5, 0.5)),
    ],
)
def test_attitudes(enu_flu: fr.Quat, ned_frd: fr.Quat) -> None:
    assert fr.q_enu_flu_to_ned_frd(enu_flu) == near(ned_frd)
    assert fr.q_ned_frd_to_enu_flu(ned_frd) == near(enu_flu)


def test_rotations_of_axes() -> None:
    quarter_left = (S, 0.0, 0.0, S)
    assert fr.q_rotate(quarter_left, FORWARD) == near(NORTH)
    assert fr.q_rotate(quarter_left, LEFT) == near((-1.0, 0.0, 0.0))
    assert fr.q_rotate_inverse(quarter_left, NORTH) == near(FORWARD)
    nose_down = (S, 0.0, S, 0.0)
    assert fr.q_rotate(nose_down, FORWARD) == near((0.0, 0.0, -1.0))
    assert fr.q_to_matrix(quarter_left)[0] == near((0.0, -1.0, 0.0))
    assert fr.q_to_matrix(quarter_left)[1] == near((1.0, 0.0, 0.0))


def test_hamilton_product() -> None:
    i, j, k = (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0)
    assert fr.q_multiply(i, j) == k
    assert fr.q_multiply(j, i) == (0.0, 0.0, 0.0, -1.0)
    assert fr.q_multiply((1.0, 2.0, 3.0, 4.0), (5.0, 6.0, 7.0, 8.0)) == (-60.0, 12.0, 30.0, 24.0)
    assert fr.q_conjugate((1.0, 2.0, 3.0, 4.0)) == (1.0, -2.0, -3.0, -4.0)


@pytest.mark.parametrize(
    ("rpy", "q"),
    [
        ((0.0, 0.0, math.pi / 2), (S, 0.0, 0.0, S)),
        ((math.pi / 2, 0.0, 0.0), (S, S, 0.0, 0.0)),
        ((0.0, math.pi / 2, 0.0), (S, 0.0, S, 0.0)),
        ((math.pi / 2, 0.0, math.pi / 2), (0.5, 0.5, 0.5, 0.5)),
    ],
)
def test_roll_pitch_yaw(rpy: fr.Vec3, q: fr.Quat) -> None:
    assert fr.q_from_rpy(*rpy) == near(q)
    assert fr.q_to_rpy(q) == near(rpy)


def test_signs_of_roll_pitch_yaw() -> None:
    right_side = (0.0, -1.0, 0.0)
    assert fr.q_rotate(fr.q_from_rpy(0.1, 0.0, 0.0), right_side)[2] < 0.0  # roll lowers it
    assert fr.q_rotate(fr.q_from_rpy(0.0, 0.1, 0.0), FORWARD)[2] < 0.0  # pitch lowers the nose
    assert fr.q_rotate(fr.q_from_rpy(0.0, 0.0, 0.1), FORWARD)[1] > 0.0  # yaw turns left


def test_yaw_and_heading() -> None:
    assert fr.q_from_yaw(math.pi / 2) == near((S, 0.0, 0.0, S))
    assert fr.q_to_yaw((S, 0.0, 0.0, S)) == near(math.pi / 2)
    assert fr.enu_yaw_to_ned_yaw(math.pi / 2) == near(0.0)  # north
    assert fr.enu_yaw_to_ned_yaw(0.0) == near(math.pi / 2)  # east
    assert fr.enu_yaw_to_ned_yaw(math.pi) == near(-math.pi / 2)  # west
    assert fr.ned_yaw_to_enu_yaw(-math.pi / 2) == near(math.pi)
    assert fr.wrap_pi(3 * math.pi / 2) == near(-math.pi / 2)
    assert fr.wrap_pi(-7.0) == near(-7.0 + math.tau)


def test_rotation_vectors() -> None:
    assert fr.q_from_rotvec((0.0, 0.0, math.pi / 2)) == near((S, 0.0, 0.0, S))
    assert fr.q_from_rotvec((0.0, 0.0, 0.0)) == (1.0, 0.0, 0.0, 0.0)
    assert fr.q_from_rotvec((2e-9, 0.0, 0.0)) == near((1.0, 1e-9, 0.0, 0.0), 1e-20)


def test_scalar_last() -> None:
    assert fr.q_from_xyzw((1.0, 2.0, 3.0, 4.0)) == (4.0, 1.0, 2.0, 3.0)
    assert fr.q_to_xyzw((4.0, 1.0, 2.0, 3.0)) == (1.0, 2.0, 3.0, 4.0)


def test_units() -> None:
    assert fr.deg_to_dege7(47.397742) == 473_977_420
    assert fr.dege7_to_deg(-1_800_000_000) == -180.0
    assert fr.m_to_mm(488.1234) == 488_123
    assert fr.mm_to_m(-1_500) == -1.5
    assert fr.m_to_cm(-1.239) == -124
    assert fr.cm_to_m(250) == 2.5
    assert fr.rad_to_cdeg(-math.pi / 2) == -9_000
    assert fr.cdeg_to_rad(18_000) == near(math.pi)
    assert fr.rad_to_heading_cdeg(-math.pi / 2) == 27_000
    assert fr.rad_to_heading_cdeg(math.tau) == 0
    assert fr.rad_to_heading_cdeg(-1e-9) == 0
    assert fr.pa_to_hpa(101_325.0) == near(1013.25)
    assert fr.hpa_to_pa(1013.25) == near(101_325.0)
    assert fr.tesla_to_gauss(4.8e-5) == near(0.48)
    assert fr.gauss_to_tesla(0.48) == near(4.8e-5)
    assert fr.ns_to_us(1_999) == 1
    assert fr.us_to_ns(4_000) == 4_000_000


@pytest.mark.parametrize("convert", [fr.deg_to_dege7, fr.m_to_mm, fr.m_to_cm, fr.rad_to_cdeg])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e12])
def test_what_an_integer_cannot_hold_is_refused(convert: Any, value: float) -> None:
    with pytest.raises(ValueError, match="must fit into 32 bits"):
        convert(value)


@pytest.mark.parametrize("q", [(0.0, 0.0, 0.0, 0.0), (math.nan, 0.0, 0.0, 1.0), (math.inf,) * 4])
def test_what_is_no_quaternion_is_refused(q: fr.Quat) -> None:
    with pytest.raises(ValueError, match="finite length above zero"):
        fr.q_normalise(q)


# --- properties -----------------------------------------------------------------------------------


@given(_quats, _vectors)
@settings(deadline=None)
def test_conversion_of_attitude_and_of_vectors_agree(q: fr.Quat, v: fr.Vec3) -> None:
    """Turning a body vector and converting it is converting both and turning."""
    ned = fr.enu_to_ned(fr.q_rotate(q, v))
    assert fr.q_rotate(fr.q_enu_flu_to_ned_frd(q), fr.flu_to_frd(v)) == near(ned, 1e-9)
    assert fr.q_ned_frd_to_enu_flu(fr.q_enu_flu_to_ned_frd(q)) == near(q)


@given(_angles)
@settings(deadline=None)
def test_heading_agrees_with_attitude(yaw: float) -> None:
    heading = fr.q_to_yaw(fr.q_enu_flu_to_ned_frd(fr.q_from_yaw(yaw)))
    assert math.cos(heading - fr.enu_yaw_to_ned_yaw(yaw)) == near(1.0)
    assert math.cos(fr.ned_yaw_to_enu_yaw(heading) - yaw) == near(1.0)


@given(_quats, _quats, _vectors)
@settings(deadline=None)
def test_products_turn_in_order(a: fr.Quat, b: fr.Quat, v: fr.Vec3) -> None:
    both = fr.q_rotate(fr.q_multiply(a, b), v)
    assert both == near(fr.q_rotate(a, fr.q_rotate(b, v)), 1e-9)
    assert fr.q_rotate_inverse(a, fr.q_rotate(a, v)) == near(v, 1e-9)


@given(_angles, st.floats(-math.pi / 2, math.pi / 2) | st.just(math.pi / 2), _angles)
@settings(deadline=None)
def test_roll_pitch_yaw_gives_the_attitude_back(roll: float, pitch: float, yaw: float) -> None:
    q = fr.q_from_rpy(roll, pitch, yaw)
    again = fr.q_to_rpy(q)
    assert same_turn(fr.q_from_rpy(*again), q)
    if abs(pitch) < 1.5:
        assert again[1] == near(pitch, 1e-9)
        assert math.cos(again[0] - roll) == near(1.0)
        assert math.cos(again[2] - yaw) == near(1.0)
        assert fr.q_to_yaw(q) == near(again[2], 1e-9) or abs(again[2]) == near(math.pi, 1e-9)


@given(st.lists(_quats, min_size=1, max_size=4), _vectors)
@settings(deadline=None)
def test_array_forms_agree_with_the_plain_ones(quats: list[fr.Quat], v: fr.Vec3) -> None:
    q, vectors = np.array(quats), np.array([v] * len(quats))
    products = fr.q_multiply_array(q, q[::-1])
    turned, matrices = fr.q_rotate_array(q, vectors), fr.q_to_matrix_array(q)
    assert matrices.shape == (len(quats), 3, 3)
    for i, one in enumerate(quats):
        assert products[i].tolist() == near(list(fr.q_multiply(one, quats[-1 - i])))
        assert turned[i].tolist() == near(list(fr.q_rotate(one, v)), 1e-9)
        assert matrices[i].tolist() == [list(row) for row in fr.q_to_matrix(one)]
    assert fr.enu_to_ned_array(vectors)[0].tolist() == list(fr.enu_to_ned(v))
    assert fr.flu_to_frd_array(vectors)[0].tolist() == list(fr.flu_to_frd(v))
    assert fr.q_rotate_array(q[0], vectors).shape == vectors.shape  # one turn, many vectors


@given(_quats, _quats, _vectors, _angles, st.floats(-1.5, 1.5), _angles)
@settings(deadline=None)
def test_scipy_agrees(
    a: fr.Quat, b: fr.Quat, v: fr.Vec3, roll: float, pitch: float, yaw: float
) -> None:
    rotation: Any = pytest.importorskip("scipy.spatial.transform").Rotation
    first, second = rotation.from_quat(fr.q_to_xyzw(a)), rotation.from_quat(fr.q_to_xyzw(b))
    assert same_turn(fr.q_from_xyzw((first * second).as_quat().tolist()), fr.q_multiply(a, b))
    assert fr.q_rotate(a, v) == near(tuple(first.apply(v)), 1e-9)
    assert np.allclose(fr.q_to_matrix(a), first.as_matrix(), atol=1e-12)
    by_angles = rotation.from_euler("ZYX", [yaw, pitch, roll])
    assert same_turn(fr.q_from_xyzw(by_angles.as_quat().tolist()), fr.q_from_rpy(roll, pitch, yaw))
    turned = rotation.from_rotvec(np.array(v) / 1e2)
    by_vector = fr.q_from_rotvec((v[0] / 1e2, v[1] / 1e2, v[2] / 1e2))
    assert same_turn(fr.q_from_xyzw(turned.as_quat().tolist()), by_vector)
    to_ned = rotation.from_matrix([[0, 1, 0], [1, 0, 0], [0, 0, -1]])
    to_frd = rotation.from_matrix(np.diag([1.0, -1.0, -1.0]))
    ned_frd = to_ned * first * to_frd.inv()
    assert same_turn(fr.q_from_xyzw(ned_frd.as_quat().tolist()), fr.q_enu_flu_to_ned_frd(a))
