"""The true state between two messages, and only as far back as it is needed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ghost.hal import GroundTruth
from ghost.report.truth import TruthTrack

MS = 1_000_000


def state(stamp_ns: int, x: float, yaw: float = 0.0, rate_z: float = 0.0) -> GroundTruth:
    q = np.array([math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)])
    pos, rate = np.array([x, 0.0, 1.0]), np.array([0.0, 0.0, rate_z])
    return GroundTruth(stamp_ns, pos, q, np.zeros(3), rate, np.zeros(3), np.zeros(0))


def test_between_two_states() -> None:
    track = TruthTrack()
    track.add(state(0, 0.0, 0.0, 1.0))
    track.add(state(4 * MS, 4.0, 0.2, 3.0))
    half = track.at(2 * MS)
    assert half is not None
    assert half.pos == (2.0, 0.0, 1.0)
    assert 2.0 * math.atan2(half.q[3], half.q[0]) == pytest.approx(0.1)
    assert math.hypot(*half.q) == pytest.approx(1.0)
    assert half.alpha[2] == pytest.approx(2.0 / 0.004)
    exact = track.at(4 * MS)
    assert exact is not None
    assert exact.pos == (4.0, 0.0, 1.0)


def test_the_other_sign_of_a_quaternion_is_the_same_attitude() -> None:
    track = TruthTrack()
    track.add(state(0, 0.0, 0.0))
    turned = state(4 * MS, 0.0, 0.2)
    flipped = GroundTruth(
        turned.stamp_sim_ns, turned.pos_enu_m, -turned.q_enu_flu, turned.vel_enu_mps,
        turned.rate_flu_rps, turned.acc_enu_mps2, turned.motor_rps,
    )  # fmt: skip
    track.add(flipped)
    half = track.at(2 * MS)
    assert half is not None
    assert 2.0 * math.atan2(half.q[3], half.q[0]) == pytest.approx(0.1)


def test_nothing_is_known_outside() -> None:
    track = TruthTrack()
    assert track.at(0) is None
    assert track.last_ns is None
    track.add(state(10 * MS, 0.0))
    track.add(state(14 * MS, 0.0))
    assert track.at(9 * MS) is None
    assert track.at(15 * MS) is None


def test_time_that_goes_back_begins_anew() -> None:
    track = TruthTrack()
    track.add(state(100 * MS, 0.0))
    track.add(state(4 * MS, 5.0))
    assert track.last_ns == 4 * MS
    assert track.at(50 * MS) is None


def test_it_keeps_seconds_not_hours() -> None:
    track = TruthTrack()
    for k in range(20_000):
        track.add(state(k * 4 * MS, float(k)))
    newest = 19_999 * 4 * MS
    assert track.at(newest - 2_900 * MS) is not None
    assert len(track._stamps) < 8_000
