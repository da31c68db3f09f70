"""What an autopilot believed, against the truth."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from ghost.hal import StateEstimate
from ghost.hal.frames import q_from_rotvec, q_from_rpy, q_multiply
from ghost.recording import LogReader
from ghost.report.estimate import EstimateLog
from ghost.report.gather import Gatherer, gather
from ghost.report.truth import TruthTrack
from tests.piloted_world import BIAS_M, WARMUP_NS

MS = 1_000_000
LEVEL = (1.0, 0.0, 0.0, 0.0)


def estimate(
    stamp_ns: int,
    pos: tuple[float, ...] = (0.0, 0.0, 1.0),
    q: tuple[float, ...] = LEVEL,
    vel: tuple[float, ...] = (0.0, 0.0, 0.0),
) -> StateEstimate:
    return StateEstimate(stamp_ns, np.array(pos), np.array(q), np.array(vel))


def test_errors_are_estimate_minus_truth(parts: SimpleNamespace) -> None:
    log, truth = EstimateLog(), TruthTrack()
    turn = (0.02, -0.03, 0.05)
    for k in range(1, 6):
        truth.add(parts.truth(k * 4 * MS))
        believed = estimate(k * 4 * MS, (0.1, 0.2, 0.7), q_from_rotvec(turn), (0.0, 0.5, 0.0))
        log.add(believed, truth)
    assert log.count == 5
    assert log.position_error.moments.count.tolist() == [5, 5, 5]
    assert log.position_error.moments.mean == pytest.approx((0.1, 0.2, -0.3))
    assert log.velocity_error.moments.mean == pytest.approx((0.0, 0.5, 0.0))
    assert log.attitude_error.moments.mean == pytest.approx(np.degrees(turn))
    assert log.distance.moments.mean == pytest.approx(math.hypot(0.1, 0.2, 0.3))


def test_the_turn_goes_the_short_way_and_ignores_the_sign(parts: SimpleNamespace) -> None:
    q = q_from_rpy(0.0, 0.0, math.radians(-170.0))
    for sign in (1.0, -1.0):
        log, truth = EstimateLog(), TruthTrack()
        truth.add(parts.truth(4 * MS))
        log.add(estimate(4 * MS, q=tuple(sign * x for x in q)), truth)
        assert log.attitude_error.moments.mean == pytest.approx((0.0, 0.0, -170.0))


def test_the_error_is_about_body_axes(parts: SimpleNamespace) -> None:
    """A roll error of a vehicle that looks north is one about x, though the world's y turns."""
    heading = q_from_rpy(0.0, 0.0, math.pi / 2.0)
    state = parts.truth(4 * MS)
    tilted = type(state)(
        state.stamp_sim_ns,
        state.pos_enu_m,
        np.array(heading),
        state.vel_enu_mps,
        state.rate_flu_rps,
        state.acc_enu_mps2,
        state.motor_rps,
    )
    log, truth = EstimateLog(), TruthTrack()
    truth.add(tilted)
    log.add(estimate(4 * MS, q=q_multiply(heading, q_from_rpy(0.1, 0.0, 0.0))), truth)
    assert log.attitude_error.moments.mean == pytest.approx((math.degrees(0.1), 0.0, 0.0))


def test_it_waits_for_the_truth_of_its_time(parts: SimpleNamespace) -> None:
    log, truth = EstimateLog(), TruthTrack()
    truth.add(parts.truth(4 * MS, (0.0, 0.0, 1.0)))
    log.add(estimate(6 * MS, (0.0, 0.0, 1.5)), truth)
    assert log.position_error.moments.count[0] == 0
    truth.add(parts.truth(8 * MS, (1.0, 0.0, 1.0)))
    log.compare(truth)
    assert log.position_error.moments.mean == pytest.approx((-0.5, 0.0, 0.5))  # half way


def test_without_truth_there_is_no_error() -> None:
    gatherer = Gatherer()
    for k in range(1, 500):
        gatherer.add("/estimate", k * MS, estimate(k * MS))
    run = gatherer.finish()
    assert run.estimate is not None
    assert run.estimate.count == 499
    assert len(run.estimate.position.curve()) > 100
    assert run.estimate.position_error.moments.count[0] == 0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e300])
def test_an_autopilot_that_does_not_know(parts: SimpleNamespace, bad: float) -> None:
    log, truth = EstimateLog(), TruthTrack()
    truth.add(parts.truth(4 * MS))
    log.add(estimate(4 * MS, (bad,) * 3, (bad,) * 4, (bad,) * 3), truth)
    assert log.count == 1
    for series in (log.position, log.position_error, log.velocity_error, log.distance):
        assert not np.isfinite(series.curve().mid).any()


def test_yaw_does_not_jump() -> None:
    log, truth = EstimateLog(), TruthTrack()
    for k in range(100):
        log.add(estimate(k * MS, q=q_from_rpy(0.0, 0.0, 0.1 * k)), truth)
    assert log.attitude.moments.high[2] == pytest.approx(math.degrees(9.9))


def test_a_recorded_flight(piloted: object) -> None:
    with LogReader(str(piloted)) as reader:
        run = gather(reader.messages())
    log = run.estimate
    assert log is not None
    assert run.survey.first_ns == WARMUP_NS
    assert log.position_error.moments.mean == pytest.approx(BIAS_M)
    assert log.position_error.moments.sigma == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)
    assert log.attitude_error.moments.mean == pytest.approx((0.0, 0.0, math.degrees(0.02)))
    assert set(run.mavlink) == {"/mavlink/simulator", "/mavlink/offboard"}
    answered = run.mavlink["/mavlink/simulator"].rates[False, 93]
    assert answered.count == 1500 - 375
    assert run.lockstep == {"answered": 1125, "missing": 375}
