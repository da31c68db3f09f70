"""Flying a plan, in the small world of conftest."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from ghost.core import (
    ConfigError,
    Envelope,
    Event,
    EventType,
    GoTo,
    Hold,
    Land,
    MessageBus,
    ScenarioSpec,
    TakeOff,
    VelocityFor,
)
from ghost.hal import ActuatorLevel, GroundTruth, PositionCommand, VelocityCommand
from ghost.runtime import RunResult, ScenarioRun

Maker = Callable[..., Any]
SECOND = 1_000_000_000
SQUARE = (
    TakeOff(2.0),
    GoTo((3.0, 0.0, 2.0), yaw_deg=90.0),
    GoTo((3.0, 3.0, 2.0), yaw_deg=180.0),
    GoTo((0.0, 0.0, 2.0)),
    Hold(2 * SECOND),
    Land(),
)


def fly(world: Any, scenario: ScenarioSpec) -> tuple[RunResult, list[GroundTruth], list[Event]]:
    bus = MessageBus()
    path: list[GroundTruth] = []
    events: list[Event] = []

    def see(envelope: Envelope) -> None:
        if isinstance(envelope.payload, GroundTruth):
            path.append(envelope.payload)
        elif isinstance(envelope.payload, Event):
            events.append(envelope.payload)

    bus.subscribe("/*", see)
    return ScenarioRun(world, scenario, bus=bus).execute(), path, events


@pytest.mark.parametrize("level", ["POSITION", "VELOCITY"])
def test_a_square_is_flown_to_its_corners_and_landed(
    level: str, make_world: Maker, make_scenario: Maker
) -> None:
    result, path, _ = fly(make_world(), make_scenario(*SQUARE, duration_s=40.0, level=level))
    assert result.plan_done == result.plan_items == 6
    assert not result.failed
    for corner in ((3.0, 0.0, 2.0), (3.0, 3.0, 2.0), (0.0, 0.0, 2.0)):
        nearest = min(math.dist(corner, truth.pos_enu_m.tolist()) for truth in path)
        assert nearest <= 0.3
    assert result.final_pos_enu_m == pytest.approx((0.0, 0.0, 0.0), abs=0.05)
    speeds = [math.hypot(*truth.vel_enu_mps.tolist()) for truth in path]
    assert 1.5 < max(speeds) < 3.6
    assert result.tracking_rmse_m is not None
    assert 0.0 < result.tracking_rmse_m < 1.2


@pytest.mark.parametrize(
    ("level", "command"), [("POSITION", PositionCommand), ("VELOCITY", VelocityCommand)]
)
def test_commands_are_of_the_plans_level_at_the_plans_rate(
    level: str, command: type, make_world: Maker, make_scenario: Maker
) -> None:
    world = make_world()
    scenario = make_scenario(TakeOff(1.0), level=level, duration_s=10.0, command_rate_hz=30.0)
    result, _, _ = fly(world, scenario)
    assert {type(cmd) for _, cmd in world.log} == {command}
    # The first step gets one, then the first step at or after each k/30 s (the step is 4 ms).
    assert [now for now, _ in world.log] == [4_000_000] + [
        -(-k * SECOND // 30 // 4_000_000) * 4_000_000 for k in range(1, 301)
    ]
    assert result.commands == len(world.log)


def test_at_the_rate_of_the_steps_every_step_commands(
    make_world: Maker, make_scenario: Maker
) -> None:
    scenario = make_scenario(TakeOff(1.0), duration_s=1.0, command_rate_hz=250.0)
    result, _, _ = fly(make_world(), scenario)
    assert result.commands == result.steps == 250


def test_heading_follows_the_waypoint(make_world: Maker, make_scenario: Maker) -> None:
    for level in ("POSITION", "VELOCITY"):
        plan = (TakeOff(1.0), GoTo((0.0, 0.0, 1.0), yaw_deg=-120.0), Hold(4 * SECOND))
        _, path, _ = fly(make_world(), make_scenario(*plan, duration_s=12.0, level=level))
        w, _, _, z = path[-1].q_enu_flu.tolist()
        assert math.degrees(2 * math.atan2(z, w)) % 360 == pytest.approx(240.0, abs=1.0)


def test_no_plan_sends_nothing(make_world: Maker, make_scenario: Maker) -> None:
    world = make_world()
    result, _, _ = fly(world, make_scenario(duration_s=1.0))
    assert world.log == []
    assert result.tracking_rmse_m is None
    assert "no flight plan" in result.autopilot


def test_waiting_on_the_ground_keeps_the_motors_still(
    make_world: Maker, make_scenario: Maker
) -> None:
    world = make_world()
    fly(world, make_scenario(Hold(2 * SECOND), TakeOff(1.0), duration_s=4.0))
    assert world.log[0][0] >= 2 * SECOND


def test_starting_in_the_air_holds_from_the_first_step(
    make_world: Maker, make_scenario: Maker
) -> None:
    world = make_world()
    start = (1.0, 2.0, 3.0)
    result, _, _ = fly(world, make_scenario(Hold(SECOND), duration_s=2.0, start=start))
    assert world.log[0][1].pos_enu_m.tolist() == list(start)
    assert result.tracking_rmse_m == pytest.approx(0.0, abs=1e-9)


def test_after_the_plan_it_goes_on_holding(make_world: Maker, make_scenario: Maker) -> None:
    world = make_world()
    result, _, _ = fly(world, make_scenario(TakeOff(2.0), duration_s=20.0))
    assert world.log[-1][0] > 19 * SECOND
    assert world.log[-1][1].pos_enu_m.tolist() == [0.0, 0.0, 2.0]
    assert result.final_pos_enu_m == pytest.approx((0.0, 0.0, 2.0), abs=1e-6)


def test_landing_is_seen_by_the_truth_and_it_stays_down(
    make_world: Maker, make_scenario: Maker
) -> None:
    plan = (TakeOff(2.0), Land(speed_mps=1.0), Hold(2 * SECOND))
    result, path, events = fly(make_world(), make_scenario(*plan, duration_s=12.0))
    assert result.plan_done == 3
    touched = next(t.stamp_sim_ns for t in path[1000:] if t.pos_enu_m[2] < 0.01)
    assert touched < 7 * SECOND
    assert all(t.pos_enu_m[2] < 0.01 for t in path if t.stamp_sim_ns > touched + SECOND)
    assert [event.type for event in events] == [EventType.RUN_STARTED, EventType.RUN_FINISHED]


def test_it_can_take_off_again_after_landing(make_world: Maker, make_scenario: Maker) -> None:
    plan = (TakeOff(2.0), Land(), TakeOff(1.5))
    result, path, _ = fly(make_world(), make_scenario(*plan, duration_s=25.0))
    assert result.plan_done == 3
    assert path[-1].pos_enu_m.tolist() == pytest.approx([0.0, 0.0, 1.5], abs=0.01)


def test_a_velocity_item_flies_a_velocity_and_the_next_starts_where_it_led(
    make_world: Maker, make_scenario: Maker
) -> None:
    world = make_world()
    plan = (TakeOff(2.0), VelocityFor((1.0, -0.5, 0.0), 4 * SECOND, 10.0), Hold(SECOND))
    result, path, _ = fly(world, make_scenario(*plan, duration_s=15.0))
    sent = [cmd for _, cmd in world.log if isinstance(cmd, VelocityCommand)]
    assert len(sent) == 200
    assert all(cmd.vel_enu_mps.tolist() == [1.0, -0.5, 0.0] for cmd in sent)
    assert sent[0].yaw_rate_rps == pytest.approx(math.radians(10.0))
    # The take-off counts as done 0.2 m below its goal, and a velocity holds no height.
    assert path[-1].pos_enu_m.tolist() == pytest.approx([4.0, -2.0, 1.8], abs=0.05)
    assert result.plan_done == 3


def test_an_item_that_takes_too_long_is_an_event_and_the_plan_goes_on(
    make_world: Maker, make_scenario: Maker
) -> None:
    plan = (TakeOff(2.0, timeout_ns=3 * SECOND), Hold(SECOND), Land(timeout_ns=2 * SECOND))
    result, _, events = fly(make_world(stuck=True), make_scenario(*plan, duration_s=10.0))
    late = [event for event in events if event.type is EventType.PLAN_TIMEOUT]
    assert [event.payload["item"] for event in late] == [0]
    assert "takeoff to 2 m" in late[0].message
    assert "(0.00, 0.00, 0.00)" in late[0].message
    assert late[0].stamp_sim_ns == pytest.approx(3 * SECOND, abs=SECOND // 10)
    assert result.plan_timeouts == ("takeoff to 2 m",)
    assert result.plan_done == 3
    assert result.failed
    assert result.events["plan_timeout"] == 1


def test_without_truth_it_flies_by_the_clock_and_says_so(
    make_world: Maker, make_scenario: Maker
) -> None:
    for level in ("POSITION", "VELOCITY"):
        world = make_world(has_truth=False)
        result, path, _ = fly(world, make_scenario(*SQUARE, duration_s=45.0, level=level))
        assert result.plan_done == 6
        assert path == []
        assert "no ground truth" in result.autopilot
        assert result.final_pos_enu_m is None
        assert result.max_tilt_deg is None
        assert result.tracking_rmse_m is None
        # It did fly: the world itself knows where it went.
        assert world._pos.tolist() == pytest.approx([0.0, 0.0, 0.0], abs=0.2)


def test_a_level_the_backend_does_not_take_is_refused_before_the_first_step(
    make_world: Maker, make_scenario: Maker
) -> None:
    world = make_world(levels=(ActuatorLevel.VELOCITY,))
    with pytest.raises(ConfigError, match="commands POSITION, but the backend takes VELOCITY"):
        fly(world, make_scenario(TakeOff(1.0)))
    world = make_world(levels=(ActuatorLevel.POSITION,))
    with pytest.raises(ConfigError, match="commands VELOCITY, but the backend takes POSITION"):
        fly(world, make_scenario(VelocityFor((1.0, 0.0, 0.0), SECOND)))
