"""The session and all that is on top of it, with a PX4 in another process that boots and flies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from ghost.config import load_vehicle
from ghost.core import HostClock
from ghost.hal import PositionCommand, VelocityCommand
from ghost.px4 import helpers
from ghost.px4.arming import Arming
from ghost.px4.instances import choose_instance
from ghost.px4.offboard import OffboardPhase, OffboardSink
from ghost.px4.params import load_params
from ghost.px4.readback import ParamReadback
from ghost.px4.session import Px4Session
from tests.px4_double.flown_world import FlownWorld
from tests.px4_double.launch import DoubleProcess


class _Loop:
    """World, PX4 and session, stepped together."""

    def __init__(self, world: FlownWorld, session: Px4Session) -> None:
        self.world = world
        self.session = session
        self.sink = OffboardSink(session, load_vehicle("x500"), lambda: self.now_ns)
        self.now_ns = 0

    def step(self) -> int:
        self.world.step()
        self.now_ns = self.world.time_us * 1000
        self.session.poll(self.now_ns)
        self.sink.step(self.now_ns)
        return self.now_ns

    def until(self, condition: Callable[[], bool], seconds: float) -> bool:
        end_ns = self.now_ns + round(seconds * 1e9)
        while not condition() and self.now_ns < end_ns:
            self.step()
        return condition()


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[_Loop]:
    claimed = choose_instance(-1)
    environ = load_params("sitl_lockstep").environment()
    session = Px4Session(local_port=claimed.ports.offboard, host=HostClock())
    try:
        session.open()
        with (
            FlownWorld(claimed.ports.simulator) as world,
            DoubleProcess(tmp_path, claimed.number, environ),
        ):
            world.accept()
            yield _Loop(world, session)
    finally:
        session.close()
        claimed.release()


def test_a_whole_flight(loop: _Loop) -> None:
    session, world = loop.session, loop.world
    arming = Arming(session)
    assert loop.until(lambda: session.connected, 5.0)

    early = arming.arm()
    assert loop.until(lambda: early.done, 10.0)
    assert not early.accepted
    assert "Preflight Fail" in early.text
    assert "Resolve system health" not in early.text

    assert loop.until(lambda: session.ready_to_arm, 30.0), session.reasons
    assert loop.until(lambda: session.version is not None, 5.0)
    session.anchor(world.position)
    wanted = load_params("sitl_lockstep").values
    readback = ParamReadback(session, wanted)
    assert loop.until(lambda: readback.done, 15.0)
    assert readback.report.differing == ()
    assert len(readback.report.ok) >= len(wanted) - 2  # the double knows what it needs

    request = arming.arm()
    assert loop.until(lambda: request.done, 5.0)
    assert request.accepted, request.text
    assert loop.sink.send(PositionCommand(np.array([0.0, 0.0, 2.0])), loop.now_ns).accepted
    assert loop.until(lambda: abs(world.position[2] - 2.0) < 0.2, 20.0), world.position
    assert loop.sink.phase is OffboardPhase.ACTIVE

    assert loop.sink.send(VelocityCommand(np.array([1.0, 0.0, 0.0])), loop.now_ns).accepted
    assert loop.until(lambda: world.position[0] > 2.0, 10.0), world.position
    assert abs(world.position[1]) < 0.7

    estimate = session.estimate(loop.now_ns)
    assert estimate is not None
    np.testing.assert_allclose(estimate.pos_enu_m, world.position, atol=0.5)

    refused = arming.disarm()
    assert loop.until(lambda: refused.done, 3.0)
    assert not refused.accepted
    assert "not landed" in refused.text

    assert helpers.hold(session, loop.step, sink=loop.sink).accepted
    ack = helpers.land(session, loop.step, sink=loop.sink)
    assert ack.accepted, ack.detail
    assert world.position[2] < 0.4
    assert loop.until(lambda: not session.armed, 10.0)
    assert not any(event.message.startswith("OFFBOARD lost") for event in session.events())
