"""Take-off, landing, hold, return: on a PX4 that moves as its mode says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ghost.hal import AckReason, PositionCommand
from ghost.px4 import helpers
from ghost.px4.offboard import OffboardPhase
from tests.px4.fake_px4 import HOLD

_TAKEOFF = 4 << 16 | 2 << 24
_LAND = 4 << 16 | 6 << 24


class _Motion:
    """Height follows the mode, at 2 m/s."""

    def __init__(self, pilot: Any) -> None:
        self.pilot = pilot
        self.height_m = 0.0
        self.goal_m = 0.0
        pilot.each_step.append(self.move)
        pilot.px4.on_command[22] = self._takeoff
        pilot.px4.on_command[21] = lambda _: pilot.change(_LAND)
        self.move(pilot.now_ns)
        pilot.step()

    def _takeoff(self, message: Any) -> None:
        assert math.isnan(message.param5)
        self.goal_m = message.param7 - 488.0
        self.pilot.change(_TAKEOFF)

    def move(self, now_ns: int) -> None:
        px4 = self.pilot.px4
        down = px4.custom_mode in (_LAND, 4 << 16 | 5 << 24)
        aim = 0.0 if down else self.goal_m
        self.height_m += max(-0.008, min(0.008, aim - self.height_m))
        if px4.custom_mode == _TAKEOFF and self.height_m >= self.goal_m - 1e-6:
            self.pilot.change(HOLD)
        px4.position(now_ns // 1_000_000, 0.0, 0.0, -self.height_m, 0.0, 0.0, 0.0)
        px4.send(px4.mav.altitude_encode(0, 0.0, 488.0 + self.height_m, 0.0, 0.0, 0.0, 0.0))
        px4.landed(1 if self.height_m < 0.01 else 2)


def test_take_off_hold_and_land(pilot: Any) -> None:
    motion = _Motion(pilot)
    ack = helpers.take_off(pilot.session, pilot.step, 5.0)
    assert (ack.accepted, ack.reason) == (True, AckReason.OK), ack.detail
    assert motion.goal_m == pytest.approx(5.0, abs=0.01)
    assert motion.height_m == pytest.approx(4.7, abs=0.05)
    assert ack.stamp_ns == pilot.now_ns
    ack = helpers.hold(pilot.session, pilot.step)
    assert ack.accepted
    assert pilot.session.mode == "HOLD"
    ack = helpers.land(pilot.session, pilot.step)
    assert ack.accepted
    assert motion.height_m < 0.02


def test_return_ends_on_the_ground(pilot: Any) -> None:
    motion = _Motion(pilot)
    helpers.take_off(pilot.session, pilot.step, 3.0)
    assert helpers.return_home(pilot.session, pilot.step).accepted
    assert motion.height_m < 0.02
    assert pilot.px4.commands(176)[-1].param3 == 5.0


def test_the_sink_makes_way_and_no_loss_is_told(pilot: Any) -> None:
    _Motion(pilot)
    pilot.sink.send(PositionCommand(np.zeros(3)), pilot.now_ns)
    assert pilot.until(lambda: pilot.sink.phase is OffboardPhase.ACTIVE, 2.0)
    pilot.messages()
    assert helpers.hold(pilot.session, pilot.step, sink=pilot.sink).accepted
    pilot.run(0.1)
    assert pilot.sink.phase is OffboardPhase.IDLE
    assert pilot.messages() == []


def test_a_refused_mode_leaves_the_sink_as_it_was(pilot: Any) -> None:
    _Motion(pilot)
    pilot.sink.send(PositionCommand(np.zeros(3)), pilot.now_ns)
    assert pilot.until(lambda: pilot.sink.phase is OffboardPhase.ACTIVE, 2.0)
    pilot.px4.results[176] = 1
    pilot.px4.after_command[176] = lambda: pilot.px4.text("Switching to Return is not available")
    ack = helpers.return_home(pilot.session, pilot.step, sink=pilot.sink)
    assert ack.reason is AckReason.INVALID_VALUE
    assert "Switching to Return is not available" in ack.detail
    pilot.run(0.1)
    assert pilot.sink.phase is OffboardPhase.ACTIVE


def test_what_does_not_happen_times_out(pilot: Any) -> None:
    _Motion(pilot)
    del pilot.px4.on_command[22]
    begin_ns = pilot.now_ns
    ack = helpers.take_off(pilot.session, pilot.step, 5.0, timeout_s=2.0)
    assert ack.reason is AckReason.TIMEOUT
    assert "it is in HOLD" in ack.detail
    assert pilot.now_ns - begin_ns == 2_000_000_000


def test_take_off_needs_arming_an_altitude_and_a_height(pilot: Any) -> None:
    assert helpers.take_off(pilot.session, pilot.step, 5.0).reason is AckReason.INVALID_VALUE
    pilot.px4.armed = False
    pilot.px4.heartbeat()
    pilot.step()
    assert helpers.take_off(pilot.session, pilot.step, 5.0).reason is AckReason.NOT_ARMED
    for height in (0.0, -1.0, math.nan, 1e6):
        with pytest.raises(ValueError, match="height_m"):
            helpers.take_off(pilot.session, pilot.step, height)


def test_silence_ends_the_wait(pilot: Any) -> None:
    _Motion(pilot)
    pilot.each_step.clear()
    pilot.quiet = True
    pilot.px4.results[21] = None
    ack = helpers.land(pilot.session, pilot.step)
    assert ack.reason is AckReason.AUTOPILOT_OFFLINE
