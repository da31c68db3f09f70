"""`lump` against hand figures and against the matrix form of the parallel axis theorem."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from ghost.core.vehicle import BodySpec, MotorSpec, RotorSpec, VehicleSpec
from ghost.physics.lumped import lump

TURNS: tuple[Literal["ccw", "cw"], ...] = ("ccw", "ccw", "cw", "cw")
BLADE = (3.8464910483993325e-07, 2.6115851691700804e-05, 2.649858234714004e-05)


def vehicle(*places: tuple[float, float, float], masses: tuple[float, ...]) -> VehicleSpec:
    return VehicleSpec(
        name="v",
        body=BodySpec(mass_kg=2.0, inertia_kgm2=(0.0217, 0.022, 0.04), size_m=(0.3, 0.3, 0.1)),
        rotors=tuple(
            RotorSpec(pos_m=place, direction=TURNS[i], mass_kg=mass, inertia_kgm2=BLADE)
            for i, (place, mass) in enumerate(zip(places, masses, strict=True))
        ),
        motor=MotorSpec(1e-5, 0.016, 1000.0, 0.0125, 0.025),
        sensors=(),
    )


def test_symmetric_quad_by_hand() -> None:
    a, h, m = 0.174, 0.06, 0.016
    spec = vehicle((a, -a, h), (-a, a, h), (a, a, h), (-a, -a, h), masses=(m,) * 4)
    body = lump(spec)
    assert body.mass_kg == pytest.approx(2.064)
    assert body.com_m == pytest.approx((0.0, 0.0, 4 * m * h / 2.064))
    # Two point masses h apart: reduced mass times distance squared; plus the arms; plus blades
    # averaged over a revolution.
    reduced = 2.0 * 4 * m / 2.064
    in_plane = 4 * m * a**2 + reduced * h**2 + 2 * (BLADE[0] + BLADE[1])
    izz = 0.04 + 8 * m * a**2 + 4 * BLADE[2]
    assert body.inertia_kgm2[:3] == pytest.approx((0.0217 + in_plane, 0.022 + in_plane, izz))
    assert body.is_diagonal


def test_uneven_rotors_give_products_of_inertia() -> None:
    places = ((0.2, -0.1, 0.05), (-0.1, 0.3, 0.1), (0.15, 0.2, -0.02), (-0.3, -0.2, 0.07))
    masses = (0.05, 0.1, 0.02, 0.07)
    body = lump(vehicle(*places, masses=masses))
    points = np.array([(0.0, 0.0, 0.0), *places])
    weights = np.array([2.0, *masses])
    com = weights @ points / weights.sum()
    assert body.com_m == pytest.approx(com)
    mean = (BLADE[0] + BLADE[1]) / 2
    matrix = np.diag((0.0217 + 4 * mean, 0.022 + 4 * mean, 0.04 + 4 * BLADE[2]))
    for weight, point in zip(weights, points - com, strict=True):
        matrix += weight * (point @ point * np.eye(3) - np.outer(point, point))
    ixx, iyy, izz, ixy, ixz, iyz = body.inertia_kgm2
    expected = [[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]
    np.testing.assert_allclose(matrix, expected, rtol=1e-12, atol=1e-15)
    assert not body.is_diagonal


def test_massless_rotors_leave_the_airframe_as_it_is() -> None:
    places = ((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 2.0, 0.0))
    body = lump(vehicle(*places, masses=(0.0,) * 4))
    assert body.mass_kg == 2.0
    assert body.com_m == (0.0, 0.0, 0.0)
