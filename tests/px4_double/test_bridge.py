"""gz_bridge: the double flies the test world server's x500 over gz-transport."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghost.core import HostClock
from ghost.gz.msgs import Actuators, Boolean, Pose, WorldControl, gz_type
from ghost.gz.transport import Node, open_node
from tests.gz_world_server.launch import ServerProcess
from tests.px4_double.launch import DoubleProcess
from tests.px4_double.station import Station

NAN = math.nan
_STEP_NS = 4_000_000


class BridgeFlight:
    """The world server, the double, a station; a step waits for the motors' message."""

    def __init__(self, folder: Path, instance: int, **switches: object) -> None:
        self.server = ServerProcess("--layout", "px4", "--noise", "--step-ns", str(_STEP_NS))
        environ = {
            "PX4_SYS_AUTOSTART": "4001",
            "PX4_SIM_MODEL": "gz_x500",
            "PX4_GZ_STANDALONE": "1",
            "PX4_GZ_WORLD": self.server.world,
            "PX4_GZ_MODEL_NAME": "x500_0",
            "GZ_PARTITION": self.server.partition,
        }
        # The server's field is that of Gazebo's worlds, and PX4's bridge mirrors it.
        declination = -math.degrees(math.atan2(6.0, 23.0))
        self.double = DoubleProcess(
            folder, instance, environ, declination_deg=declination, **switches
        )
        self.station = Station(instance)
        self.node: Node = open_node(self.server.transport)
        self._motors = "/x500_0/command/motor_speed"
        self._pose = "/model/x500_0/pose"
        for topic in (self._motors, self._pose):
            self.node.subscribe(topic)
        self.speeds: list[tuple[float, ...]] = []
        self.height_m = 0.0
        self.steps = 0
        self._greeted = False
        try:
            self._meet()
        except BaseException:
            self.close()  # the fixture has nothing to close yet
            raise

    def _meet(self) -> None:
        """Wait until the double publishes and listens, and the world hears it."""
        host = HostClock()
        end_ns = host.now_ns() + 20_000_000_000
        while self._motors not in {info.topic for info in self.node.topics()}:
            assert host.now_ns() < end_ns
            host.sleep_until_ns(host.now_ns() + 20_000_000)

    def step(self) -> None:
        """One step; after the first message of the motors it takes one for its IMU sample."""
        request = WorldControl(pause=True, multi_step=1)
        self.node.request(
            f"/world/{self.server.world}/control",
            request.SerializeToString(),
            gz_type(WorldControl),
            gz_type(Boolean),
            5.0,
        )
        self.steps += 1
        awaits_motors = bool(self.speeds)
        moved = answered = False
        while not moved or (awaits_motors and not answered):
            incoming = self.node.receive(5.0)
            assert incoming is not None, f"no answer after {self.steps} steps"
            if incoming.topic == self._pose:
                moved = True
                self.height_m = Pose.FromString(incoming.data).position.z
            else:
                answered = True
                self.speeds.append(tuple(Actuators.FromString(incoming.data).velocity))
        if self.speeds and not self._greeted:
            self._greeted = True
            self.station.greet()
        if self._greeted and self.steps % 250 == 0:
            self.station.heartbeat()
        self.station.poll()

    def until(self, condition: Callable[[], bool], limit_s: float) -> None:
        """Step until it holds."""
        end = self.steps + round(limit_s * 1e9 / _STEP_NS)
        while not condition():
            assert self.steps < end, self.station.texts
            self.step()

    def close(self) -> None:
        """End everything."""
        self.node.close()
        self.double.close()
        self.station.close()
        self.server.kill()


@pytest.fixture
def bridge(tmp_path: Path, instance: int) -> Iterator[BridgeFlight]:
    flight = BridgeFlight(tmp_path, instance)
    yield flight
    flight.close()


def test_it_flies_over_gz_transport(bridge: BridgeFlight) -> None:
    flight = bridge
    station = flight.station

    def ready() -> bool:
        status = station.last.get("SYS_STATUS")
        return status is not None and bool(status.onboard_control_sensors_health & 0x10000000)

    # It counts from the first sample that reached it, which need not be the world's first.
    flight.until(lambda: bool(flight.speeds), 5.0)
    assert flight.steps * _STEP_NS >= 3_600_000_000
    flight.until(ready, 10.0)
    assert set(flight.speeds) == {(0.0, 0.0, 0.0, 0.0)}
    count, steps = len(flight.speeds), flight.steps
    station.command(400, 1)
    flight.until(lambda: bool(station.acks), 1.0)
    assert station.acks == [(400, 0)]
    station.command(22, *[NAN] * 7)
    flight.until(lambda: flight.height_m > 2.4, 10.0)
    # One message per IMU sample; the newest of the two countings may have been on its way.
    assert abs(len(flight.speeds) - count - (flight.steps - steps)) <= 1
    assert all(150.0 <= speed <= 1000.0 and speed == round(speed) for speed in flight.speeds[-1])
    station.command(21)
    flight.until(lambda: "Disarmed by landing\t" in station.texts, 15.0)
    assert flight.height_m < 0.4
