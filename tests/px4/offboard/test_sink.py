"""Set-points: what they become, when they are refused, how OFFBOARD comes and goes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ghost.core import EventSeverity, EventType
from ghost.hal import (
    AckReason,
    ActuatorCommand,
    ActuatorLevel,
    AttitudeCommand,
    BodyRateCommand,
    MotorCommand,
    PositionCommand,
    VelocityCommand,
)
from ghost.hal.frames import q_from_yaw
from ghost.px4.offboard import OffboardPhase
from tests.px4.fake_px4 import HOLD, STEP_NS


def _phase(pilot: Any) -> OffboardPhase:
    phase: OffboardPhase = pilot.sink.phase
    return phase


def _position(x: float = 1.0, y: float = 2.0, z: float = 3.0, yaw: float = 0.0) -> PositionCommand:
    return PositionCommand(np.array([x, y, z]), yaw)


def test_set_points_stream_then_offboard_is_asked_for(pilot: Any) -> None:
    ack = pilot.sink.send(_position(), pilot.now_ns)
    assert ack.accepted
    assert "asked" in ack.detail
    assert _phase(pilot) is OffboardPhase.STREAMING
    pilot.run(0.2)
    assert len(pilot.targets) == 50  # one per step
    assert pilot.px4.commands(176) == []
    assert pilot.until(lambda: _phase(pilot) is OffboardPhase.ACTIVE, 1.0)
    [asked] = pilot.px4.commands(176)
    assert (asked.param1, asked.param2) == (1.0, 6.0)
    assert pilot.messages() == ["OFFBOARD is on"]
    ack = pilot.sink.send(_position(z=4.0), pilot.now_ns)
    assert (ack.accepted, ack.detail) == (True, "")
    before = len(pilot.targets)
    pilot.run(0.4)
    assert len(pilot.targets) - before == 100
    assert pilot.targets[-1].z == -4.0


@pytest.mark.parametrize(
    ("command", "kind", "fields"),
    [
        (
            _position(1.0, 2.0, 3.0, 0.25),
            "SET_POSITION_TARGET_LOCAL_NED",
            {"x": 2.0, "y": 1.0, "z": -3.0, "yaw": math.pi / 2 - 0.25, "type_mask": 0x9F8},
        ),
        (
            VelocityCommand(np.array([1.0, 2.0, 0.5]), 0.3),
            "SET_POSITION_TARGET_LOCAL_NED",
            {"vx": 2.0, "vy": 1.0, "vz": -0.5, "yaw_rate": -0.3, "type_mask": 0x5C7},
        ),
        (
            AttitudeCommand(np.array(q_from_yaw(math.pi / 2)), 0.6),  # nose north
            "SET_ATTITUDE_TARGET",
            {"q": [1.0, 0.0, 0.0, 0.0], "thrust": 0.6, "type_mask": 0x07},
        ),
        (
            BodyRateCommand(np.array([0.1, 0.2, 0.3]), 0.4),
            "SET_ATTITUDE_TARGET",
            {
                "body_roll_rate": 0.1,
                "body_pitch_rate": -0.2,
                "body_yaw_rate": -0.3,
                "thrust": 0.4,
                "type_mask": 0x80,
            },
        ),
    ],
)
def test_each_level_in_px4s_axes(
    pilot: Any, command: ActuatorCommand, kind: str, fields: dict[str, Any]
) -> None:
    ack = pilot.sink.send(command, pilot.now_ns)
    assert ack.accepted
    assert ack.applied is command
    pilot.step()
    target = pilot.targets[-1]
    assert target.get_type() == kind
    assert (target.target_system, target.target_component) == (1, 1)
    assert target.time_boot_ms == pilot.now_ns // 1_000_000
    for name, value in fields.items():
        assert getattr(target, name) == pytest.approx(value, abs=1e-6), name


def test_motors_are_not_offered_and_the_reason_is_given(pilot: Any) -> None:
    assert ActuatorLevel.MOTOR not in pilot.sink.spec.levels
    ack = pilot.sink.send(MotorCommand(np.zeros(4)), pilot.now_ns)
    assert ack.reason is AckReason.UNSUPPORTED_LEVEL
    assert "PX4" in ack.detail
    assert "MAVLink" in ack.detail


def test_a_set_point_with_nan_is_refused_and_changes_nothing(pilot: Any) -> None:
    pilot.sink.send(_position(), pilot.now_ns)
    pilot.step()
    for bad in (
        _position(z=math.nan),
        _position(yaw=math.inf),
        VelocityCommand(np.array([0.0, math.nan, 0.0])),
        BodyRateCommand(np.zeros(3), math.nan),
    ):
        ack = pilot.sink.send(bad, pilot.now_ns)
        assert ack.reason is AckReason.INVALID_VALUE
    pilot.step()
    assert [t.z for t in pilot.targets] == [-3.0, -3.0]


@pytest.mark.parametrize("bad", [None, 3, "up", object()])
def test_whatever_is_sent_is_answered(pilot: Any, bad: Any) -> None:
    ack = pilot.sink.send(bad, pilot.now_ns)
    assert ack.reason is AckReason.INVALID_TYPE


def test_stale_and_future_stamps(pilot: Any) -> None:
    assert pilot.sink.send(_position(), pilot.now_ns).accepted
    assert pilot.sink.send(_position(), pilot.now_ns - 1).reason is AckReason.STALE
    assert pilot.sink.send(_position(), pilot.now_ns + 1).reason is AckReason.OUT_OF_RANGE


def test_disarmed_is_refused_with_px4s_reasons(pilot: Any) -> None:
    pilot.px4.armed = False
    pilot.px4.heartbeat()
    pilot.px4.text("Preflight Fail: heading estimate not stable")
    pilot.step()
    ack = pilot.sink.send(_position(), pilot.now_ns)
    assert ack.reason is AckReason.NOT_ARMED
    assert "heading estimate not stable" in ack.detail
    pilot.run(0.1)
    assert pilot.targets == []


def test_silence_is_refused_as_offline(pilot: Any) -> None:
    pilot.quiet = True
    pilot.run(3.2)
    ack = pilot.sink.send(_position(), pilot.now_ns)
    assert ack.reason is AckReason.AUTOPILOT_OFFLINE


def test_a_px4_that_is_gone_for_good_and_a_closed_sink(pilot: Any) -> None:
    pilot.sink.offline("PX4 ended with signal 9")
    ack = pilot.sink.send(_position(), pilot.now_ns)
    assert (ack.reason, ack.detail) == (AckReason.AUTOPILOT_OFFLINE, "PX4 ended with signal 9")
    pilot.sink.reset()
    assert pilot.sink.send(_position(), pilot.now_ns).accepted
    pilot.sink.close()
    assert pilot.sink.send(_position(), pilot.now_ns).reason is AckReason.CLOSED
    assert _phase(pilot) is OffboardPhase.IDLE


def test_a_refused_offboard_is_told_once_and_asked_again(pilot: Any) -> None:
    pilot.px4.results[176] = 1
    pilot.px4.after_command[176] = lambda: pilot.px4.text(
        "Switching to Offboard is currently not available\t"
    )
    pilot.sink.send(_position(), pilot.now_ns)
    assert pilot.until(lambda: _phase(pilot) is OffboardPhase.REFUSED, 2.0)
    ack = pilot.sink.send(_position(), pilot.now_ns)
    assert ack.reason is AckReason.AUTOPILOT_OFFLINE
    assert "currently not available" in ack.detail
    pilot.run(5.0)
    rejected = [e for e in pilot.session.events() if e.type is EventType.COMMAND_REJECTED]
    assert len(rejected) == 1
    assert 4 <= len(pilot.px4.commands(176)) <= 6
    pilot.px4.results[176] = 0
    assert pilot.until(lambda: _phase(pilot) is OffboardPhase.ACTIVE, 3.0)
    assert pilot.sink.send(_position(), pilot.now_ns).accepted


def test_another_level_is_tried_where_one_was_refused(pilot: Any) -> None:
    pilot.px4.results[176] = 1
    pilot.sink.send(_position(), pilot.now_ns)
    assert pilot.until(lambda: _phase(pilot) is OffboardPhase.REFUSED, 2.0)
    pilot.px4.results[176] = 0
    assert pilot.sink.send(BodyRateCommand(np.zeros(3), 0.5), pilot.now_ns).accepted
    assert pilot.until(lambda: _phase(pilot) is OffboardPhase.ACTIVE, 1.0)


def test_agreed_but_not_done_is_a_refusal(pilot: Any) -> None:
    del pilot.px4.on_command[176]
    pilot.sink.send(_position(), pilot.now_ns)
    assert pilot.until(lambda: _phase(pilot) is OffboardPhase.REFUSED, 4.0)
    assert "stays in HOLD" in pilot.sink.refusal


def _active(pilot: Any) -> None:
    pilot.sink.send(_position(), pilot.now_ns)
    assert pilot.until(lambda: _phase(pilot) is OffboardPhase.ACTIVE, 2.0)
    pilot.messages()


def test_offboard_lost_and_regained(pilot: Any) -> None:
    _active(pilot)
    asked = len(pilot.px4.commands(176))
    pilot.px4.text("Failsafe activated\t")
    pilot.change(HOLD)
    pilot.step()
    assert _phase(pilot) is OffboardPhase.LOST
    events = pilot.session.events()
    lost = events[-1]
    assert (lost.type, lost.severity) == (EventType.SAFETY_VIOLATION, EventSeverity.ERROR)
    assert "HOLD" in lost.message
    assert "Failsafe activated" in lost.message
    ack = pilot.sink.send(_position(z=9.0), pilot.now_ns)
    assert ack.reason is AckReason.AUTOPILOT_OFFLINE
    assert "OFFBOARD lost" in ack.detail
    pilot.run(3.0)
    assert len(pilot.px4.commands(176)) == asked  # whoever took over had a reason
    assert pilot.targets[-1].z == -3.0  # and the set-points go on, unchanged
    pilot.change(6 << 16)
    pilot.step()
    assert _phase(pilot) is OffboardPhase.ACTIVE
    assert pilot.messages() == ["OFFBOARD regained"]
    assert pilot.sink.send(_position(), pilot.now_ns).accepted


def test_release_and_a_new_command_take_offboard_back(pilot: Any) -> None:
    _active(pilot)
    pilot.change(HOLD)
    pilot.step()
    pilot.sink.release()
    before = len(pilot.targets)
    pilot.run(0.1)
    assert len(pilot.targets) == before
    assert pilot.sink.send(_position(), pilot.now_ns).accepted
    assert pilot.until(lambda: _phase(pilot) is OffboardPhase.ACTIVE, 2.0)


def test_a_mode_that_was_asked_for_is_no_loss(pilot: Any) -> None:
    _active(pilot)
    pilot.sink.leave()
    pilot.run(0.1)
    before = len(pilot.targets)
    assert _phase(pilot) is OffboardPhase.ACTIVE
    pilot.change(HOLD)
    pilot.run(0.1)
    assert _phase(pilot) is OffboardPhase.IDLE
    assert len(pilot.targets) <= before + 1
    assert pilot.messages() == []


def test_disarmed_by_landing_is_the_end_and_no_loss(pilot: Any) -> None:
    _active(pilot)
    pilot.px4.armed = False
    pilot.px4.heartbeat()
    pilot.change(HOLD)
    pilot.step()
    assert _phase(pilot) is OffboardPhase.IDLE
    assert pilot.messages() == ["OFFBOARD ends: PX4 is disarmed"]


def test_silence_in_flight_is_a_loss(pilot: Any) -> None:
    _active(pilot)
    pilot.quiet = True
    pilot.run(3.2)
    assert _phase(pilot) is OffboardPhase.LOST
    assert "silent" in pilot.sink.refusal
    pilot.quiet = False
    pilot.run(1.2)
    assert _phase(pilot) is OffboardPhase.ACTIVE


def test_nothing_is_sent_before_a_command(pilot: Any) -> None:
    pilot.run(0.5)
    assert pilot.targets == []
    assert pilot.now_ns % STEP_NS == 0
