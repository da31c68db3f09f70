"""Commands beside the recorded ones: field by field, with norms, and the summary."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ghost.backends.replay import ReplayBackend
from ghost.backends.replay.actuators import ReplaySink, difference_of
from ghost.hal import (
    AckReason,
    ActuatorCommand,
    ActuatorLevel,
    ActuatorSpec,
    AttitudeCommand,
    BodyRateCommand,
    CommandRecord,
    MotorCommand,
    PositionCommand,
    VelocityCommand,
)
from ghost.recording import LogReader

Play = Callable[..., ReplayBackend]
STEP = 4_000_000


def vector(*numbers: float) -> Any:
    return np.array(numbers, np.float64)


@pytest.mark.parametrize(
    ("new", "recorded", "norms"),
    [
        (
            PositionCommand(vector(3.0, 4.0, 2.0), 3.1),
            PositionCommand(vector(0.0, 0.0, 2.0), -3.1),
            {"pos_enu_m": 5.0, "yaw_rad": 2 * math.pi - 6.2},
        ),
        (
            VelocityCommand(vector(0.0, 0.0, 1.0), 0.5),
            VelocityCommand(vector(0.0, 0.0, 1.0), 0.25),
            {"vel_enu_mps": 0.0, "yaw_rate_rps": 0.25},
        ),
        (
            BodyRateCommand(vector(0.1, 0.0, 0.0), 0.5),
            BodyRateCommand(vector(0.0, 0.0, 0.0), 0.75),
            {"rate_flu_rps": 0.1, "collective": 0.25},
        ),
        (
            AttitudeCommand(vector(math.cos(0.2), math.sin(0.2), 0.0, 0.0), 0.5),
            AttitudeCommand(vector(-1.0, 0.0, 0.0, 0.0), 0.5),
            {"q_enu_flu": 0.4, "collective": 0.0},
        ),
        (
            MotorCommand(vector(0.1, 0.2, 0.3, 0.4)),
            MotorCommand(vector(0.1, 0.2, 0.3, 0.9)),
            {"thrust": 0.5},
        ),
    ],
)
def test_norms_of_each_field(
    new: ActuatorCommand, recorded: ActuatorCommand, norms: dict[str, float]
) -> None:
    assert difference_of(new, recorded) == pytest.approx(norms)
    assert difference_of(new, new) == dict.fromkeys(norms, 0.0)


def sink_at(now: list[int]) -> ReplaySink:
    spec = ActuatorSpec(tuple(ActuatorLevel), 4, 5.0, (4.0, 4.0, 2.0))
    return ReplaySink(spec, lambda: now[0], compare=True)


def test_the_summary_counts_and_sums() -> None:
    now = [0]
    sink = sink_at(now)
    far = VelocityCommand(vector(3.0, 0.0, 0.0))
    assert sink.send(far, 0).detail == "no command was recorded until now"
    sink.recorded(CommandRecord(10, VelocityCommand(vector(0.0, 0.0, 0.0))))
    now[0] = 10
    assert "|Δvel_enu_mps| = 3," in sink.send(far, 10).detail
    now[0] = 20
    near = sink.send(VelocityCommand(vector(0.0, 1.0, 0.0)), 20)
    assert near.reason is AckReason.REPLAY
    assert "the command recorded at 10 ns" in near.detail
    other = sink.send(PositionCommand(vector(0.0, 0.0, 1.0)), 20)
    assert other.detail == "POSITION, but the command recorded at 10 ns is VELOCITY"
    assert sink.send(VelocityCommand(vector(0.0, 0.0, 0.0)), 20).detail.startswith("equal to")
    report = sink.compare_report()
    assert (report.sent, report.equal, report.unmatched, report.other_level) == (5, 1, 1, 1)
    part = report.fields["VELOCITY.vel_enu_mps"]
    assert (part.count, part.max_norm, part.max_at_ns) == (3, 3.0, 10)
    assert part.rms_norm == pytest.approx(math.sqrt(10 / 3))
    assert report.to_json()["fields"]["VELOCITY.vel_enu_mps"]["max_norm"] == 3.0
    sink.reset()
    assert sink.compare_report().sent == 0


def test_the_recorded_commands_equal_themselves(play: Play, flight: Any) -> None:
    backend = play(compare=True)
    with LogReader(str(flight.path)) as reader:
        recorded = [m.message for m in reader.messages(["/actuators/command"])]
    for record in recorded:
        while backend.clock.now_ns() < record.stamp_sim_ns:
            backend.step(STEP)
        ack = backend.actuators().send(record.command, record.stamp_sim_ns)
        assert ack.detail == f"equal to the command recorded at {record.stamp_sim_ns} ns"
    report = backend.compare_report()
    assert report.sent == report.equal == len(recorded) > 0
    assert all(part.max_norm == 0.0 for part in report.fields.values())
