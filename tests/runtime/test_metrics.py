"""Figures of a flight."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ghost.hal import GroundTruth
from ghost.runtime import FlightMetrics

Vec3 = tuple[float, float, float]


def truth(
    pos: tuple[float, float, float], tilt_deg: float = 0.0, yaw_deg: float = 0.0
) -> GroundTruth:
    tilt, yaw = math.radians(tilt_deg) / 2, math.radians(yaw_deg) / 2
    # Yaw about up, then roll: (cos y, 0, 0, sin y) ∘ (cos t, sin t, 0, 0).
    q = (
        math.cos(yaw) * math.cos(tilt),
        math.cos(yaw) * math.sin(tilt),
        math.sin(yaw) * math.sin(tilt),
        math.sin(yaw) * math.cos(tilt),
    )
    zero = np.zeros(3)
    return GroundTruth(0, np.array(pos, float), np.array(q), zero, zero, zero, np.zeros(0))


def test_nothing_is_known_before_the_first_truth() -> None:
    metrics = FlightMetrics()
    assert metrics.max_tilt_deg is None
    assert metrics.tracking_rmse_m is None
    assert metrics.final_pos_enu_m is None
    assert metrics.altitude_m is None


@pytest.mark.parametrize("yaw", [0.0, 90.0, -135.0])
def test_tilt_is_the_largest_and_does_not_see_the_heading(yaw: float) -> None:
    metrics = FlightMetrics()
    for tilt in (0.0, 12.5, -30.0, 4.0):
        metrics.update(truth((0.0, 0.0, 1.0), tilt, yaw), None)
    assert metrics.max_tilt_deg == pytest.approx(30.0)


def test_upside_down_is_180_degrees() -> None:
    metrics = FlightMetrics()
    metrics.update(truth((0.0, 0.0, 1.0), 180.0), None)
    assert metrics.max_tilt_deg == pytest.approx(180.0)


def test_tracking_error_is_the_rms_of_the_distance_while_there_is_a_set_point() -> None:
    metrics = FlightMetrics()
    metrics.update(truth((0.0, 0.0, 0.0)), None)
    metrics.update(truth((3.0, 4.0, 0.0)), (0.0, 0.0, 0.0))
    metrics.update(truth((1.0, 1.0, 1.0)), (1.0, 1.0, 1.0))
    assert metrics.tracking_rmse_m == pytest.approx(math.sqrt(25.0 / 2))
    assert metrics.final_pos_enu_m == (1.0, 1.0, 1.0)


def test_a_world_that_blew_up_gives_no_figures_that_json_cannot_write() -> None:
    metrics = FlightMetrics()
    metrics.update(truth((math.nan, 0.0, 0.0)), (0.0, 0.0, 0.0))
    assert metrics.final_pos_enu_m is None
    assert metrics.tracking_rmse_m is None
