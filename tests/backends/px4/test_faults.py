"""What goes wrong with PX4: the loop never hangs, the error says what happened, reset recovers."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ghost.backends.embedded import EmbeddedBackend
from ghost.backends.px4 import Px4Backend
from ghost.core import BackendLost, ClosedError, ConfigError, MissingDependency, ScenarioSpec
from ghost.hal import AckReason, LockstepState, PositionCommand
from ghost.px4 import choose_instance
from ghost.runtime import ScenarioRun
from tests.backends.px4.conftest import SECOND, MakePx4, fly_up, messages, refusals

Hover = Callable[..., ScenarioSpec]
UP = PositionCommand(np.array((0.0, 0.0, 2.0)))
SOON_S = 11
"""The run begins at 8 s; faults of the double come a little later."""


def step_until_lost(backend: Px4Backend, scenario: ScenarioSpec, seconds: float) -> str:
    """Step until PX4 is lost, and return what the error says."""
    with pytest.raises(BackendLost) as lost:
        backend.step(round(seconds * SECOND) // scenario.step_ns * scenario.step_ns)
    return str(lost.value)


def test_no_px4_anywhere(hover: Hover) -> None:
    with (
        Px4Backend(EmbeddedBackend(), {"PATH": "/nowhere"}) as backend,
        pytest.raises(MissingDependency, match="px4"),
    ):
        backend.reset(hover(), 1)


def test_a_binary_that_is_none(hover: Hover, tmp_path: Path) -> None:
    spec = hover(f"autopilot.binary={tmp_path}/px4")
    with (
        Px4Backend(EmbeddedBackend(), {}) as backend,
        pytest.raises(ConfigError, match=r"autopilot\.binary"),
    ):
        backend.reset(spec, 1)


def test_a_scenario_without_an_autopilot(make_px4: MakePx4, hover: Hover) -> None:
    with pytest.raises(ConfigError, match="no autopilot"):
        make_px4().reset(replace(hover(), autopilot=None), 1)


def test_a_world_alone_refuses_a_scenario_with_one(hover: Hover) -> None:
    with EmbeddedBackend() as world, pytest.raises(ConfigError, match="autopilot"):
        world.reset(hover(), 1)


def test_the_bridge_needs_gazebo(make_px4: MakePx4, hover: Hover) -> None:
    spec = hover(name="px4_gazebo_hover")
    with pytest.raises(ConfigError, match="gazebo"):
        make_px4().reset(spec, 1)


def test_a_version_that_is_too_old(make_px4: MakePx4, hover: Hover) -> None:
    with pytest.raises(ConfigError, match=r"1\.12"):
        make_px4(version="1.12.3").reset(hover(), 1)


@pytest.mark.parametrize("first", [4560, 14540])
def test_a_port_that_is_taken(make_px4: MakePx4, hover: Hover, first: int) -> None:
    claim = choose_instance()
    number = claim.number
    kind = socket.SOCK_STREAM if first == 4560 else socket.SOCK_DGRAM
    with socket.socket(socket.AF_INET, kind) as squatter:
        squatter.bind(("127.0.0.1", first + number))
        if first == 4560:
            squatter.listen()
        claim.release()
        with pytest.raises(ConfigError, match=str(first + number)):
            make_px4().reset(hover(f"autopilot.instance={number}"), 1)


def test_it_ends_at_once(make_px4: MakePx4, hover: Hover) -> None:
    with pytest.raises(BackendLost, match="ended by itself"):
        make_px4(exit_at_start=3).reset(hover(), 1)


def test_it_never_connects(make_px4: MakePx4, hover: Hover) -> None:
    spec = hover("autopilot.start_timeout_ns=500000000")
    with pytest.raises(BackendLost, match="not connected within"):
        make_px4(never_dial=1).reset(spec, 1)


def test_it_never_gets_ready(make_px4: MakePx4, hover: Hover) -> None:
    spec = hover("autopilot.warmup_ns=0", "autopilot.ready_timeout_ns=8000000000")
    with pytest.raises(BackendLost, match="not ready to arm"):
        make_px4(settle_s=100).reset(spec, 1)


def test_it_dies_in_flight(make_px4: MakePx4, hover: Hover) -> None:
    backend, scenario = make_px4(die_at_s=SOON_S, die_code=7), hover()
    backend.reset(scenario, 1)
    fly_up(backend, scenario, 1.0)
    sink = backend.actuators()
    text = step_until_lost(backend, scenario, 4.0)
    assert "exit code 7" in text
    with pytest.raises(BackendLost, match=r"reset\(scenario, seed\)"):
        backend.step(scenario.step_ns)
    assert not sink.send(UP, 0).accepted
    assert backend.arm().reason is AckReason.AUTOPILOT_OFFLINE
    backend.shutdown()


def test_reset_recovers_after_a_death(make_px4: MakePx4, hover: Hover) -> None:
    backend, scenario = make_px4(die_at_s=SOON_S), hover()
    backend.reset(scenario, 1)
    step_until_lost(backend, scenario, 4.0)
    backend.reset(scenario, 1)
    assert backend.step(scenario.step_ns).lockstep is LockstepState.ANSWERED
    assert backend.arm().accepted


def test_it_hangs_in_flight(make_px4: MakePx4, hover: Hover) -> None:
    spec = hover("autopilot.answer_deadline_ns=100000000")
    backend = make_px4(hang_at_s=SOON_S)
    backend.reset(spec, 1)
    reports = fly_up(backend, spec, 2.5)
    text = step_until_lost(backend, spec, 4.0)
    assert "has not answered for" in text
    assert all(report.lockstep is LockstepState.ANSWERED for report in reports)


def test_a_silence_that_ends(make_px4: MakePx4, hover: Hover) -> None:
    spec = hover("autopilot.answer_deadline_ns=50000000")
    backend = make_px4(silent_at_s=SOON_S, silent_for_s=0.5)
    backend.reset(spec, 1)
    reports = [backend.step(spec.step_ns) for _ in range(5 * SECOND // spec.step_ns)]
    states = [report.lockstep for report in reports]
    assert LockstepState.MISSING in states
    assert states[-1] is LockstepState.ANSWERED
    faults = [e for report in reports for e in report.faults if e.type == "lockstep_fault"]
    assert 1 <= len(faults) <= 4  # told when it changes, not at every step


def test_it_hangs_up_in_flight(make_px4: MakePx4, hover: Hover) -> None:
    backend, scenario = make_px4(hang_up_at_s=SOON_S), hover()
    backend.reset(scenario, 1)
    fly_up(backend, scenario, 1.0)
    text = step_until_lost(backend, scenario, 14.0)
    assert "hung up" in text


def test_it_restarts_in_flight(make_px4: MakePx4, hover: Hover) -> None:
    backend, scenario = make_px4(restart_at_s=SOON_S), hover()
    backend.reset(scenario, 1)
    reports = fly_up(backend, scenario, 2.5)
    acks = []
    for index in range(9 * SECOND // scenario.step_ns):
        if index % 25 == 0:
            acks.append(backend.actuators().send(UP, backend.clock.now_ns()))
        reports.append(backend.step(scenario.step_ns))
    assert reports[-1].lockstep is LockstepState.ANSWERED
    assert not backend.armed
    assert refusals(acks) & {"NOT_ARMED", "AUTOPILOT_OFFLINE"}
    assert any("restarted" in text or "again" in text for text in messages(reports))
    backend.reset(scenario, 1)
    assert backend.arm().accepted


@pytest.mark.parametrize("switch", ["garbage", "bad_crc", "torn", "replay", "twice", "late"])
def test_a_disturbed_link_is_flown_through(make_px4: MakePx4, hover: Hover, switch: str) -> None:
    spec = hover("autopilot.answer_deadline_ns=50000000")
    backend = make_px4(**{f"{switch}_at_s": SOON_S, f"{switch}_for_s": 0.2})
    backend.reset(spec, 1)
    reports = fly_up(backend, spec, 7.0)
    assert reports[-1].lockstep is LockstepState.ANSWERED
    truth = backend.ground_truth()
    assert truth is not None
    assert truth.pos_enu_m[2] == pytest.approx(2.0, abs=0.4)


def test_a_wrong_system_is_not_obeyed(make_px4: MakePx4, hover: Hover) -> None:
    spec = hover("autopilot.answer_deadline_ns=50000000")
    backend = make_px4(wrong_sysid_at_s=SOON_S, wrong_sysid_for_s=0.2)
    backend.reset(spec, 1)
    reports = [backend.step(spec.step_ns) for _ in range(4 * SECOND // spec.step_ns)]
    assert LockstepState.MISSING in {report.lockstep for report in reports}
    assert any("99" in text for text in messages(reports))


def test_a_second_source_is_told_once(make_px4: MakePx4, hover: Hover) -> None:
    backend, scenario = make_px4(second_source_at_s=9), hover()
    backend.reset(scenario, 1)
    reports = fly_up(backend, scenario, 6.0)
    assert sum("77" in text for text in messages(reports)) == 1
    truth = backend.ground_truth()
    assert truth is not None
    assert truth.pos_enu_m[2] == pytest.approx(2.0, abs=0.4)


def test_a_set_point_with_nan(make_px4: MakePx4, hover: Hover) -> None:
    backend, scenario = make_px4(), hover()
    backend.reset(scenario, 1)
    fly_up(backend, scenario, 6.0)
    ack = backend.actuators().send(
        PositionCommand(np.array((0.0, np.nan, 2.0))), backend.clock.now_ns()
    )
    assert ack.reason is AckReason.INVALID_VALUE
    for _ in range(100):
        backend.step(scenario.step_ns)
    truth = backend.ground_truth()
    assert truth is not None
    assert truth.pos_enu_m[2] == pytest.approx(2.0, abs=0.4)


def test_set_points_before_arming(make_px4: MakePx4, hover: Hover) -> None:
    backend, scenario = make_px4(), hover()
    backend.reset(scenario, 1)
    assert backend.actuators().send(UP, backend.clock.now_ns()).reason is AckReason.NOT_ARMED


def test_arming_refused_reaches_the_user(make_px4: MakePx4, hover: Hover) -> None:
    run = ScenarioRun(
        make_px4(refuse_arming="Preflight Fail: the double says so"),
        hover("duration_ns=4000000000", "autopilot.ready_timeout_ns=10000000000"),
    )
    with pytest.raises(BackendLost, match=r"not ready to arm.*the double says so"):
        run.execute()


def test_offboard_lost(make_px4: MakePx4, hover: Hover) -> None:
    backend = make_px4(offboard_lost_at_s=14, offboard_lost_for_s=4)
    scenario = hover()
    backend.reset(scenario, 1)
    reports = fly_up(backend, scenario, 5.0)
    acks = []
    for index in range(4 * SECOND // scenario.step_ns):
        if index % 5 == 0:
            acks.append(backend.actuators().send(UP, backend.clock.now_ns()))
        reports.append(backend.step(scenario.step_ns))
    assert any("OFFBOARD lost" in text for text in messages(reports))
    lost = [ack for ack in acks if ack.reason is AckReason.AUTOPILOT_OFFLINE]
    assert lost
    assert "OFFBOARD lost" in lost[0].detail


def test_time_that_goes_back_is_a_new_px4(make_px4: MakePx4, hover: Hover) -> None:
    backend, scenario = make_px4(), hover()
    backend.reset(scenario, 1)
    backend.step(5 * scenario.step_ns)
    first = backend.capabilities.extensions["autopilot"]["program"]
    backend.reset(scenario, 1)
    assert backend.capabilities.extensions["autopilot"]["program"] != first
    assert backend.step(scenario.step_ns).lockstep is LockstepState.ANSWERED


def test_after_shutdown(make_px4: MakePx4, hover: Hover) -> None:
    backend, scenario = make_px4(), hover()
    backend.reset(scenario, 1)
    sink = backend.actuators()
    backend.shutdown()
    backend.shutdown()
    assert sink.send(UP, 0).reason is AckReason.CLOSED
    assert backend.arm().reason is AckReason.CLOSED
    with pytest.raises(ClosedError):
        backend.step(scenario.step_ns)
