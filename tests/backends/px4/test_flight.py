"""Whole flights: the plan of a scenario, flown by PX4 in the embedded world."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ghost.core import Envelope, Event, MessageBus, ScenarioSpec
from ghost.hal import (
    AckReason,
    ActuatorLevel,
    AttitudeCommand,
    BodyRateCommand,
    GroundTruth,
    LockstepState,
    MavlinkTraffic,
    MotorCommand,
    PositionCommand,
    StateEstimate,
    VelocityCommand,
)
from ghost.px4 import hold, land, take_off
from ghost.runtime import Outcome, RecordObserver, ScenarioRun
from tests.backends.px4.conftest import SECOND, MakePx4, fly_up

Hover = Callable[..., ScenarioSpec]


def test_take_off_hover_and_land(any_px4: MakePx4, hover: Hover) -> None:
    bus = MessageBus()
    heights: list[float] = []
    events: list[Event] = []

    def listen(envelope: Envelope) -> None:
        if isinstance(envelope.payload, GroundTruth):
            heights.append(float(envelope.payload.pos_enu_m[2]))
        elif isinstance(envelope.payload, Event):
            events.append(envelope.payload)

    bus.subscribe("/ground_truth", listen)
    bus.subscribe("/events", listen)
    run = ScenarioRun(any_px4(), hover("duration_ns=30000000000"), bus=bus)
    result = run.execute()
    assert result.outcome is Outcome.COMPLETED
    assert not result.failed, (result.trouble, [event.message for event in events])
    assert result.plan_done == 3
    assert max(heights) == pytest.approx(2.0, abs=0.35)
    assert result.final_pos_enu_m is not None
    x, y, z = result.final_pos_enu_m
    assert np.hypot(x, y) < 0.5
    assert z == pytest.approx(heights[0], abs=0.02)
    assert result.command_rejects == 0
    assert result.lockstep is not None
    assert result.lockstep["missing"] == result.lockstep["late"] == 0
    assert result.lockstep["answered"] == result.steps
    said = [event.message for event in events]
    assert any("Disarmed by landing" in text for text in said)
    assert "PX4" in result.autopilot


def test_a_square(any_px4: MakePx4, hover: Hover) -> None:
    bus = MessageBus()
    track: list[np.ndarray[Any, Any]] = []

    def follow(envelope: Envelope) -> None:
        assert isinstance(envelope.payload, GroundTruth)
        track.append(envelope.payload.pos_enu_m)

    bus.subscribe("/ground_truth", follow)
    run = ScenarioRun(any_px4(), hover("duration_ns=50000000000", name="px4_square"), bus=bus)
    result = run.execute()
    assert not result.failed, result.trouble
    assert result.plan_done == result.plan_items
    path = np.array(track)
    for corner in ((4.0, 0.0, 2.0), (4.0, 4.0, 2.0), (0.0, 4.0, 2.0), (0.0, 0.0, 2.0)):
        assert np.linalg.norm(path - np.array(corner), axis=1).min() < 0.5, corner


def test_what_the_backend_says_of_itself(make_px4: MakePx4, hover: Hover) -> None:
    backend = make_px4()
    scenario = hover()
    backend.reset(scenario, 1)
    capabilities = backend.capabilities
    assert not capabilities.deterministic
    assert capabilities.actuator_levels == (
        ActuatorLevel.POSITION,
        ActuatorLevel.VELOCITY,
        ActuatorLevel.ATTITUDE,
        ActuatorLevel.BODY_RATE,
    )
    assert scenario.autopilot is not None
    assert backend.clock.now_ns() >= scenario.autopilot.warmup_ns
    told = capabilities.extensions["autopilot"]
    assert told["link"] == "simulator"
    assert told["ready_sim_s"] == backend.clock.now_ns() / 1e9
    assert told["ready_wall_s"] > 0.0
    assert told["version"].startswith("1.17")
    assert backend.step(scenario.step_ns).lockstep is LockstepState.ANSWERED
    for provider in backend.sensors().values():
        assert all(s.stamp_sim_ns > scenario.autopilot.warmup_ns for s in provider.poll())


def test_every_level_is_flown(make_px4: MakePx4, hover: Hover) -> None:
    backend, scenario = make_px4(), hover()
    backend.reset(scenario, 1)
    fly_up(backend, scenario, 7.0)
    sink = backend.actuators()

    def hold(command: Any, seconds: float) -> np.ndarray[Any, Any]:
        for _ in range(round(seconds * SECOND) // scenario.step_ns):
            ack = sink.send(command, backend.clock.now_ns())
            assert ack.accepted, ack.detail
            backend.step(scenario.step_ns)
        truth = backend.ground_truth()
        assert truth is not None
        return np.concatenate((truth.pos_enu_m, truth.vel_enu_mps, truth.rate_flu_rps))

    state = hold(VelocityCommand(np.array((1.0, -0.5, 0.0)), 0.0), 3.0)
    assert state[3:6] == pytest.approx((1.0, -0.5, 0.0), abs=0.25)
    state = hold(PositionCommand(np.array((1.0, 1.0, 3.0)), 0.5), 6.0)
    assert state[:3] == pytest.approx((1.0, 1.0, 3.0), abs=0.3)
    level = np.array((np.cos(0.25), 0.0, 0.0, np.sin(0.25)))
    state = hold(AttitudeCommand(level, 0.7), 0.5)
    assert state[5] > 0.2
    state = hold(BodyRateCommand(np.array((0.0, 0.0, 0.6)), 0.6), 1.0)
    assert state[8] == pytest.approx(0.6, abs=0.2)
    refused = sink.send(MotorCommand(np.full(4, 0.5)), backend.clock.now_ns())
    assert refused.reason is AckReason.UNSUPPORTED_LEVEL
    assert "PX4" in refused.detail


def test_a_recording_holds_the_estimate_and_both_links(
    make_px4: MakePx4, hover: Hover, tmp_path: Path
) -> None:
    from ghost.backends.replay import open_log  # slow to import

    file = tmp_path / "flight.mcap"
    run = ScenarioRun(
        make_px4(), hover("duration_ns=4000000000"), observers=[RecordObserver(str(file))]
    )
    result = run.execute()
    estimates: list[StateEstimate] = []
    traffic: dict[str, list[MavlinkTraffic]] = {}
    with open_log(str(file)) as reader:
        for topic, _, _, message in reader.messages(["/estimate", "/mavlink/*"]):
            if isinstance(message, StateEstimate):
                estimates.append(message)
            elif isinstance(message, MavlinkTraffic):
                traffic.setdefault(topic, []).append(message)
    assert len(estimates) > 100
    assert set(traffic) == {"/mavlink/simulator", "/mavlink/offboard"}
    assert min(part.stamp_sim_ns for part in traffic["/mavlink/simulator"]) >= 8 * SECOND
    sent = b"".join(part.sent.tobytes() for part in traffic["/mavlink/simulator"])
    answers = b"".join(part.received.tobytes() for part in traffic["/mavlink/simulator"])
    assert sent.count(b"\xfd") >= result.steps - 10  # HIL_SENSOR each step
    assert answers.count(b"\xfd") >= result.steps - 10


def test_estimates_are_in_the_frame_of_the_world(make_px4: MakePx4, hover: Hover) -> None:
    backend, scenario = make_px4(), hover()
    backend.reset(scenario, 1)
    fly_up(backend, scenario, 7.0)
    newest = [m for topic, m in backend.reports() if topic == "/estimate"][-1]
    truth = backend.ground_truth()
    assert isinstance(newest, StateEstimate)
    assert truth is not None
    assert newest.pos_enu_m == pytest.approx(truth.pos_enu_m, abs=0.15)
    assert newest.vel_enu_mps == pytest.approx(truth.vel_enu_mps, abs=0.2)
    assert abs(float(newest.q_enu_flu @ truth.q_enu_flu)) == pytest.approx(1.0, abs=0.005)


def test_two_vehicles_at_once(make_px4: MakePx4, hover: Hover) -> None:
    scenario = hover()
    one, two = make_px4(), make_px4()
    one.reset(scenario, 1)
    two.reset(scenario, 2)
    numbers = {b.capabilities.extensions["autopilot"]["instance"] for b in (one, two)}
    assert len(numbers) == 2
    for backend in (one, two):
        assert backend.arm().accepted
    sinks = one.actuators(), two.actuators()
    for _ in range(7 * SECOND // scenario.step_ns):
        for backend, sink, height in zip((one, two), sinks, (1.5, 3.0), strict=True):
            sink.send(PositionCommand(np.array((0.0, 0.0, height))), backend.clock.now_ns())
            assert backend.step(scenario.step_ns).lockstep is LockstepState.ANSWERED
    for backend, height in ((one, 1.5), (two, 3.0)):
        truth = backend.ground_truth()
        assert truth is not None
        assert truth.pos_enu_m[2] == pytest.approx(height, abs=0.3)


def test_an_ack_comes_at_once_and_arming_steps_the_world(make_px4: MakePx4, hover: Hover) -> None:
    backend, scenario = make_px4(), hover()
    backend.reset(scenario, 1)
    before = backend.clock.now_ns()
    armed = [backend.armed]
    assert backend.arm().accepted
    stepped = (backend.clock.now_ns() - before) // scenario.step_ns
    assert 0 < stepped < 100
    armed.append(backend.armed)
    report = backend.step(scenario.step_ns)
    assert report.steps == stepped + 1  # what arming took is in the account
    ack = backend.actuators().send(
        PositionCommand(np.array((0.0, 0.0, 1.0))), backend.clock.now_ns()
    )
    assert ack.accepted
    assert ack.applied is not None
    assert backend.disarm().accepted
    assert [*armed, backend.armed] == [False, True, False]


def test_px4s_own_modes_as_helpers(make_px4: MakePx4, hover: Hover) -> None:
    backend, scenario = make_px4(), hover()
    backend.reset(scenario, 1)
    assert backend.arm().accepted
    ack = take_off(backend.session, backend.tick, 2.0)
    assert ack.accepted, ack.detail
    truth = backend.ground_truth()
    assert truth is not None
    assert truth.pos_enu_m[2] > 1.5
    assert hold(backend.session, backend.tick).accepted
    ack = land(backend.session, backend.tick)
    assert ack.accepted, ack.detail
    truth = backend.ground_truth()
    assert truth is not None
    assert truth.pos_enu_m[2] < 0.3
    assert backend.step(scenario.step_ns).steps > 1000


def test_a_recorded_flight_replays_to_the_same_digest(
    make_px4: MakePx4, hover: Hover, tmp_path: Path
) -> None:
    from ghost.backends.replay import ReplayBackend  # slow to import
    from ghost.runtime import ReplayRun

    file = tmp_path / "flight.mcap"
    spec = hover("duration_ns=12000000000")
    flown = ScenarioRun(make_px4(), spec, observers=[RecordObserver(str(file))]).execute()
    with ReplayBackend(str(file)) as backend:
        played = ReplayRun(backend).execute()
    assert played.digest == flown.digest
    assert played.sim_time_s == flown.sim_time_s
    assert played.lockstep == flown.lockstep
    assert played.tracking_rmse_m == pytest.approx(flown.tracking_rmse_m)
