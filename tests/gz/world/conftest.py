"""What the tests of world control share: a server process, and a world without one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from ghost.core import Event
from ghost.gz.transport import Incoming, Node, open_node
from ghost.gz.world import SensorTopic, WorldControl, sensor_period_ns
from tests.gz_world_server.launch import ServerProcess

LINK = "/world/w/model/ghost_x500/link/base_link/sensor"
SENSORS = (
    ("imu0/imu", "gz.msgs.IMU", 250.0),
    ("mag0/magnetometer", "gz.msgs.Magnetometer", 100.0),
    ("baro0/air_pressure", "gz.msgs.FluidPressure", 50.0),
    ("altimeter0/altimeter", "gz.msgs.Altimeter", 50.0),
)


class Heard:
    """What a world's sensors said: `(name, stamp in ms)`, and the bytes."""

    def __init__(self) -> None:
        self.stamps: list[tuple[str, float]] = []
        self.data: list[bytes] = []
        self.events: list[Event] = []

    def topics(self) -> tuple[SensorTopic, ...]:
        """The four sensors of the x500 that do not render, with their periods."""
        return tuple(
            SensorTopic(f"{LINK}/{end}", kind, self._note(end), sensor_period_ns(rate))
            for end, kind, rate in SENSORS
        )

    def _note(self, end: str) -> Callable[[Incoming, int], None]:
        name = end.partition("/")[0]

        def note(message: Incoming, stamp_ns: int) -> None:
            self.stamps.append((name, stamp_ns / 1e6))
            self.data.append(message.data)

        return note

    def of(self, name: str) -> list[float]:
        """The stamps of one sensor, ms."""
        return [stamp for who, stamp in self.stamps if who == name]


@pytest.fixture
def heard() -> Heard:
    """A list to hear into."""
    return Heard()


@pytest.fixture
def start() -> Iterator[Callable[..., ServerProcess]]:
    """Start test servers; all are killed at the end."""
    with ExitStack() as stack:

        def _start(*arguments: str, partition: str | None = None) -> ServerProcess:
            return stack.enter_context(ServerProcess(*arguments, partition=partition))

        yield _start


@pytest.fixture
def join() -> Iterator[Callable[[ServerProcess], Node]]:
    """Open nodes in a server's partition; all are closed at the end."""
    with ExitStack() as stack:

        def _join(server: ServerProcess) -> Node:
            return stack.enter_context(open_node(server.transport))

        yield _join


@pytest.fixture
def control(join: Callable[[ServerProcess], Node], heard: Heard) -> Callable[..., WorldControl]:
    """Make a `WorldControl` of a server's world with the four sensors of `heard`."""

    def _control(
        server: ServerProcess,
        *,
        sensors: tuple[SensorTopic, ...] | None = None,
        deadline_s: float = 10.0,
        step_ns: int | None = None,
    ) -> WorldControl:
        return WorldControl(
            join(server),
            server.world,
            sensors=heard.topics() if sensors is None else sensors,
            deadline_s=deadline_s,
            step_ns=step_ns,
            on_event=heard.events.append,
        )

    return _control
