"""ENU to WGS-84 against pymap3d, and at the places where formulas fail."""

from __future__ import annotations

import math

import pymap3d
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.core import OriginSpec
from ghost.physics.geodesy import EnuToGeodetic

metres = st.floats(-20_000.0, 20_000.0)


@settings(deadline=None)
@given(
    st.floats(-89.0, 89.0),
    st.floats(-180.0, 180.0),
    st.floats(-400.0, 9_000.0),
    metres,
    metres,
    metres,
)
def test_agrees_with_the_library(
    lat: float, lon: float, alt: float, east: float, north: float, up: float
) -> None:
    ours = EnuToGeodetic(OriginSpec(lat, lon, alt))(east, north, up)
    theirs = [float(x) for x in pymap3d.enu2geodetic(east, north, up, lat, lon, alt)]
    assert ours[0] == pytest.approx(theirs[0], abs=1e-11)
    turn = math.remainder(ours[1] - theirs[1], 360.0)
    assert turn * math.cos(math.radians(ours[0])) == pytest.approx(0.0, abs=1e-11)
    assert ours[2] == pytest.approx(theirs[2], abs=1e-7)


@pytest.mark.parametrize("lat", [-90.0, -45.0, 0.0, 45.0, 90.0])
def test_straight_up(lat: float) -> None:
    at = EnuToGeodetic(OriginSpec(lat, 10.0, 100.0))(0.0, 0.0, 5.0)
    assert at == pytest.approx((lat, 10.0, 105.0), abs=1e-7)


def test_a_step_north_and_east() -> None:
    """Radii of curvature: M = a(1−e²)/(1−e² sin²φ)^1.5 to the north, N·cos φ to the east."""
    lat, e2, a = math.radians(47.0), 6.69437999014e-3, 6378137.0
    w = 1.0 - e2 * math.sin(lat) ** 2
    turn = EnuToGeodetic(OriginSpec(47.0, 8.0, 0.0))
    north = math.radians(turn(0.0, 1.0, 0.0)[0] - 47.0)
    east = math.radians(turn(1.0, 0.0, 0.0)[1] - 8.0)
    assert 1.0 / north == pytest.approx(a * (1.0 - e2) / w**1.5, rel=1e-6)
    assert 1.0 / east == pytest.approx(a / math.sqrt(w) * math.cos(lat), rel=1e-6)
