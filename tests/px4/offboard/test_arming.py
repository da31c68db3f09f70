"""Arming and disarming, and PX4's reasons."""

from __future__ import annotations

from typing import Any

from ghost.px4.arming import Arming
from tests.px4.fake_px4 import HOLD, OFFBOARD

_HOLD_BIT = 1 << 4


def _disarmed(pilot: Any) -> Arming:
    pilot.px4.armed = False
    pilot.px4.heartbeat()
    pilot.step()
    return Arming(pilot.session)


def test_arm_and_disarm(pilot: Any) -> None:
    arming = _disarmed(pilot)
    assert arming.ready
    assert not pilot.session.armed
    request = arming.arm()
    assert pilot.px4.commands(400) == []
    assert pilot.until(lambda: request.done, 0.2)
    assert request.accepted
    assert arming.armed  # although no heartbeat has said so yet
    request = arming.disarm()
    assert pilot.until(lambda: request.done, 0.2)
    assert request.accepted
    assert not pilot.session.armed
    assert [c.param1 for c in pilot.px4.commands(400)] == [1.0, 0.0]
    assert pilot.px4.commands(401) == []


def test_a_refusal_brings_the_checks_that_failed(pilot: Any) -> None:
    arming = _disarmed(pilot)
    px4 = pilot.px4
    px4.results[400] = 1
    px4.after_command[400] = lambda: px4.text(
        "Arming denied: Resolve system health failures first\t"
    )

    def report() -> None:
        px4.summary(0)
        px4.event("check_modes_global_pos", _HOLD_BIT)
        px4.text("Preflight Fail: No connection to the GCS", severity=4)

    px4.after_command[401] = report
    request = arming.arm()
    assert pilot.until(lambda: request.done, 3.0)
    assert not request.accepted
    assert request.text == (
        "Navigation error: No valid global position estimate; "
        "Preflight Fail: No connection to the GCS"
    )
    assert len(px4.commands(401)) == 1
    assert not arming.armed


def test_a_refusal_that_nobody_explains_has_at_least_px4s_text(pilot: Any) -> None:
    arming = _disarmed(pilot)
    pilot.px4.results[400] = 1
    pilot.px4.after_command[400] = lambda: pilot.px4.text("Arming denied: calibrating\t")
    request = arming.arm()
    assert pilot.until(lambda: request.done, 3.0)
    assert request.text == "Arming denied: calibrating"


def test_a_refused_disarming(pilot: Any) -> None:
    arming = Arming(pilot.session)
    pilot.px4.results[400] = 1
    pilot.px4.after_command[400] = lambda: pilot.px4.text("Disarming denied: not landed\t")
    request = arming.disarm()
    assert pilot.until(lambda: request.done, 1.0)
    assert request.text == "Disarming denied: not landed"
    assert arming.armed
    pilot.px4.results[400] = 0
    request = arming.disarm(in_the_air=True)
    assert pilot.until(lambda: request.done, 1.0)
    assert pilot.px4.commands(400)[-1].param2 == 21196.0


def test_no_answer_is_said(pilot: Any) -> None:
    arming = _disarmed(pilot)
    pilot.px4.results[400] = None
    request = arming.arm()
    assert pilot.until(lambda: request.done, 10.0)
    assert not request.accepted
    assert request.result is None
    assert "did not answer" in request.text


def test_after_an_offboard_flight_it_is_put_into_hold_first(pilot: Any) -> None:
    pilot.change(OFFBOARD)
    arming = _disarmed(pilot)
    assert pilot.session.mode == "OFFBOARD"
    request = arming.arm()
    assert pilot.until(lambda: request.done, 2.0)
    assert request.accepted
    assert pilot.px4.custom_mode == HOLD
    kinds = [c.command for c in pilot.px4.all("COMMAND_LONG") if c.command in (176, 400)]
    assert kinds == [176, 400]
