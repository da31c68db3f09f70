"""Body frames and back, for vehicles of any mass distribution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.backends.pybullet.frames import BodyFrames
from ghost.physics import LumpedBody, rotation_of

numbers = st.floats(-3.0, 3.0)
quaternions = st.tuples(numbers, numbers, numbers, numbers).filter(lambda q: math.hypot(*q) > 0.1)


def symmetric(figures: tuple[float, ...]) -> LumpedBody:
    """A real body: the inertia of four point masses."""
    points = np.array(figures).reshape(4, 3)
    points -= points.mean(axis=0)
    tensor = sum(0.5 * (p @ p * np.eye(3) - np.outer(p, p)) for p in points) + 0.01 * np.eye(3)
    ixx, iyy, izz = (float(tensor[i][i]) for i in range(3))
    return LumpedBody(
        2.0,
        (0.02, -0.01, 0.03),
        (ixx, iyy, izz, float(tensor[0][1]), float(tensor[0][2]), float(tensor[1][2])),
    )


@settings(deadline=None)
@given(st.tuples(*[st.floats(-0.5, 0.5)] * 12), quaternions, st.tuples(*[numbers] * 9))
def test_there_and_back(
    figures: tuple[float, ...],
    quaternion: tuple[float, float, float, float],
    rest: tuple[float, ...],
) -> None:
    frames = BodyFrames(symmetric(figures))
    norm = math.hypot(*quaternion)
    state = (*rest[:3], *(c / norm for c in quaternion), *rest[3:6], *rest[6:9])
    com, attitude, velocity, rate = frames.to_bullet(state)
    assert frames.to_kinematics(com, attitude, velocity, rate) == pytest.approx(state, abs=1e-9)
    # The same attitude with the other sign is the same state, sign included.
    x, y, z, w = attitude
    other = frames.to_kinematics(com, (-x, -y, -z, -w), velocity, rate)
    assert other == pytest.approx(state, abs=1e-9)


@settings(deadline=None)
@given(st.tuples(*[st.floats(-0.5, 0.5)] * 12))
def test_principal_axes(figures: tuple[float, ...]) -> None:
    """Turning the moments back by the axes' rotation gives the tensor; boxes turn with it."""
    whole = symmetric(figures)
    frames = BodyFrames(whole)
    _, (x, y, z, w) = frames.shape_pose((0.0, 0.0, 0.0))
    # shape_pose turns body axes into principal axes: its inverse turns principal into body axes.
    turn = np.array(rotation_of(w, -x, -y, -z)).reshape(3, 3)
    ixx, iyy, izz, ixy, ixz, iyz = whole.inertia_kgm2
    tensor = [[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]
    np.testing.assert_allclose(turn @ np.diag(frames.moments_kgm2) @ turn.T, tensor, atol=1e-12)


def test_box_of_a_plain_body_is_only_shifted() -> None:
    frames = BodyFrames(LumpedBody(2.0, (0.0, 0.0, 0.01), (0.02, 0.03, 0.04, 0.0, 0.0, 0.0)))
    place, turn = frames.shape_pose((0.1, 0.0, -0.05))
    assert place == pytest.approx((0.1, 0.0, -0.06))
    assert turn == pytest.approx((0.0, 0.0, 0.0, 1.0))
    assert frames.moments_kgm2 == (0.02, 0.03, 0.04)
