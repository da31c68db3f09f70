"""The link and the Gazebo backend on the world server, flown by the double's gz_bridge."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ghost.backends.gazebo import GazeboBackend
from ghost.config import load_vehicle
from ghost.core import (
    AutopilotSpec,
    ConfigError,
    Event,
    EventSeverity,
    HostClock,
    ScenarioSpec,
    WorldSpec,
)
from ghost.hal import LockstepState
from ghost.px4 import choose_instance
from ghost.px4.gz_bridge import GzBridgeLink
from ghost.px4.link import Readings
from tests.backends.gazebo.on_test_server import launch_with
from tests.px4_double.launch import DoubleProcess
from tests.px4_double.station import Station

STEP_NS = 4_000_000
ARM, TAKE_OFF, LAND = 400, 22, 21
READY = 0x10000000


@pytest.fixture
def instance() -> Iterator[int]:
    """A number that nobody uses, claimed for the length of the test, also against other workers."""
    for number in range(200):
        candidate = 20 + (os.getpid() + number) % 200
        try:
            claim = choose_instance(candidate)
        except ConfigError:
            continue
        yield candidate
        claim.release()
        return
    raise RuntimeError("no instance of the autopilot is free")


class Flight:
    """World, link, double and a ground station, stepped together."""

    def __init__(
        self, folder: Path, instance: int, *, deadline_s: float, **switches: object
    ) -> None:
        self.folder, self.instance, self.deadline_s = folder, instance, deadline_s
        self.scenario = ScenarioSpec(
            name="bridge",
            vehicle=load_vehicle("x500"),
            duration_ns=60_000_000_000,
            step_ns=STEP_NS,
            physics_step_ns=STEP_NS,
            world=WorldSpec(name="w"),
            autopilot=AutopilotSpec(link="gz_bridge"),
        )
        self.backend = GazeboBackend(launch=launch_with())
        self.station = Station(instance)
        self.states: Counter[LockstepState] = Counter()
        self.faults: list[Event] = []
        self._double: DoubleProcess | None = None
        self.begin(**switches)

    def begin(self, **switches: object) -> None:
        """Reset the world, then start an autopilot, as every run does."""
        self.end()
        self.backend.reset(self.scenario, 1)
        bridge = self.backend.bridge()
        self.link = GzBridgeLink(bridge, answer_deadline_s=self.deadline_s)
        # PX4's bridge mirrors the field of Gazebo's worlds.
        declination = -math.degrees(math.atan2(6.0, 23.0))
        self._double = DoubleProcess(
            self.folder, self.instance, bridge.environ, declination_deg=declination, **switches
        )

    @property
    def now_s(self) -> float:
        """Simulated time."""
        return self.backend.clock.now_ns() * 1e-9

    def step(self) -> None:
        """One step of 4 ms: the answer to the sample before, then the world."""
        self.states[self.link.await_answer()] += 1
        self.backend.step(STEP_NS)
        now_ns = self.backend.clock.now_ns()
        self.link.feed(now_ns, Readings())
        self.faults += self.link.events()
        if self.link.booted:
            if now_ns % 1_000_000_000 == 0:
                self.station.greet()
                self.station.heartbeat()
            self.station.poll()

    def until(self, condition: Callable[[], bool], limit_s: float) -> None:
        """Step until it holds."""
        end_s = self.now_s + limit_s
        while not condition():
            assert self.now_s < end_s, self.station.texts
            self.step()

    def boot(self) -> None:
        """Step until the double answers; the world must not run off while it starts."""
        host = HostClock()
        end_ns = host.now_ns() + 30_000_000_000
        while not self.link.booted:
            assert host.now_ns() < end_ns
            self.step()

    def ready(self) -> bool:
        """The health bit of the arming check."""
        status = self.station.last.get("SYS_STATUS")
        return status is not None and bool(status.onboard_control_sensors_health & READY)

    def height_m(self) -> float:
        """The true one."""
        return float(self.backend.ground_truth().pos_enu_m[2])

    def end(self) -> None:
        """End the autopilot."""
        if self._double is not None:
            self._double.close()

    def close(self) -> None:
        """End everything."""
        self.end()
        self.station.close()
        self.backend.shutdown()


@pytest.fixture
def fly(tmp_path: Path, instance: int) -> Iterator[Callable[..., Flight]]:
    """Start a flight; keywords are the double's switches."""
    with ExitStack() as stack:

        def start(*, deadline_s: float = 5.0, **switches: object) -> Flight:
            flight = Flight(tmp_path, instance, deadline_s=deadline_s, **switches)
            stack.callback(flight.close)
            return flight

        yield start


def test_take_off_hover_and_land_without_one_answer_late(fly: Callable[..., Flight]) -> None:
    flight = fly()
    flight.boot()
    flight.until(flight.ready, 15.0)
    flight.station.command(ARM, 1)
    flight.until(lambda: flight.station.armed, 3.0)
    flight.station.command(TAKE_OFF, *[math.nan] * 7)
    flight.until(lambda: flight.height_m() > 2.4, 10.0)
    assert min(flight.backend.ground_truth().motor_rps) > 600.0
    flight.station.command(LAND)
    flight.until(lambda: "Disarmed by landing\t" in flight.station.texts, 20.0)
    assert flight.height_m() < 0.4
    counters = flight.link.counters
    assert (counters.missing, counters.late, counters.reconnects) == (0, 0, 0)
    assert counters.answered > 2000
    assert flight.states[LockstepState.ANSWERED] == counters.answered
    assert not flight.faults


def test_a_reset_takes_a_new_autopilot(fly: Callable[..., Flight]) -> None:
    flight = fly()
    flight.boot()
    flight.until(lambda: flight.link.counters.answered >= 50, 1.0)
    flight.begin()
    assert flight.now_s == 0.0
    assert not flight.link.booted
    flight.boot()
    assert flight.now_s > 3.5
    assert not flight.faults


def test_an_autopilot_that_dies_is_noticed_and_the_world_goes_on(
    fly: Callable[..., Flight],
) -> None:
    flight = fly()
    flight.boot()
    flight.until(lambda: flight.link.counters.answered >= 60, 1.0)
    flight.end()
    flight.until(lambda: not flight.link.booted, 60.0)
    assert flight.link.counters.missing >= 1
    assert not flight.link.connected
    assert [event.severity for event in flight.faults] == [EventSeverity.ERROR] * 2
    assert flight.link.silent_ns > 0


def test_a_silence_is_counted_and_over_when_it_is_over(fly: Callable[..., Flight]) -> None:
    flight = fly(deadline_s=0.3, silent_at_s=7.0, silent_for_s=0.2)
    flight.boot()
    flight.until(lambda: flight.now_s > 8.0, 5.0)
    counters = flight.link.counters
    assert 40 <= counters.missing <= 50
    assert flight.states[LockstepState.MISSING] == counters.missing
    assert [event.severity for event in flight.faults] == [EventSeverity.ERROR, EventSeverity.INFO]
    assert flight.link.booted
    assert flight.link.silent_ns == STEP_NS


def test_two_messages_for_one_sample_are_one_answer(fly: Callable[..., Flight]) -> None:
    flight = fly(twice_at_s=7.0, twice_for_s=0.3)
    flight.boot()
    flight.until(lambda: flight.now_s > 8.0, 5.0)
    counters = flight.link.counters
    assert (counters.missing, counters.late) == (0, 0)
    assert flight.backend.bridge().passed_over >= 50
    assert not flight.faults


def test_garbage_on_the_topic_hides_no_answer(fly: Callable[..., Flight]) -> None:
    flight = fly(garbage_at_s=7.0, garbage_for_s=0.3)
    flight.boot()
    flight.until(lambda: flight.now_s > 8.0, 5.0)
    assert flight.link.counters.missing == 0
    assert flight.backend.bridge().unusable >= 50
    assert not flight.faults


def test_a_restart_in_flight_is_a_silence_while_it_boots(fly: Callable[..., Flight]) -> None:
    flight = fly(deadline_s=0.3, restart_at_s=7.0)
    flight.boot()
    flight.until(lambda: flight.link.counters.missing > 0, 5.0)
    flight.until(lambda: flight.link.silent_ns > 3_000_000_000, 4.0)
    flight.until(lambda: flight.link.silent_ns == STEP_NS, 20.0)
    assert "answers again" in flight.faults[-1].message
    answered = flight.link.counters.answered
    flight.until(lambda: flight.link.counters.answered > answered + 50, 1.0)
