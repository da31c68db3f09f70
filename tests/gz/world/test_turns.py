"""Rare timings, turn by turn: a world without processes, sockets or wall time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import pytest

from ghost.core import BackendLost, Event
from ghost.gz.msgs import Boolean, Clock, StringMsg
from ghost.gz.msgs import WorldControl as ControlMessage
from ghost.gz.transport import (
    Incoming,
    Node,
    Offer,
    Publisher,
    ServiceInfo,
    Subscription,
    TopicInfo,
    TransportTimeout,
)
from ghost.gz.world import LockstepLost, WorldControl
from ghost.gz.world.stamps import fill_time
from tests.gz_world_server.state import WorldTime

STEP_NS = 4_000_000
TURN_NS = 1_000_000
SDF = (
    "<sdf version='1.11'><world name='w'><physics><max_step_size>0.004</max_step_size>"
    "<real_time_factor>0</real_time_factor></physics></world></sdf>"
)


class Quiet:
    """A subscription that ends without a word."""

    topic = ""

    def unsubscribe(self) -> None:
        """Nothing to do."""

    def wait_for_publisher(self, timeout_s: float) -> bool:
        """It is always there."""
        return timeout_s >= 0.0


class TurnNode:
    """A node whose server turns once each time nothing is left to receive.

    It is its own host clock: a turn takes a millisecond, a timeout what it says. `request_fate`
    decides what becomes of each control request.
    """

    def __init__(self) -> None:
        self.time = WorldTime(STEP_NS, paused=True)
        self.host_ns = 0
        self.alive = True
        self.turning = True
        self.requests = 0
        self.request_fate: Callable[[int], str] = lambda _: "served"
        self.at_turn: Callable[[TurnNode], None] = lambda _: None
        self._queue: deque[Incoming] = deque()

    # What the host's clock does.
    def now_ns(self) -> int:
        """Host time."""
        return self.host_ns

    def sleep_until_ns(self, at_ns: int) -> None:
        """Sleep."""
        self.host_ns = max(self.host_ns, at_ns)

    # What the node does.
    def receive(self, timeout_s: float) -> Incoming | None:
        """Next message; the world turns while one waits for it."""
        if not self._queue and timeout_s > 0.0:
            if not (self.alive and self.turning):
                self.host_ns += round(timeout_s * 1e9)
                return None
            self.turn()
        return self._queue.popleft() if self._queue else None

    def turn(self) -> None:
        """One iteration: the clock, then the requests."""
        self.host_ns += TURN_NS
        turn = self.time.begin()
        clock = Clock()
        fill_time(clock.system, self.host_ns)
        fill_time(clock.sim, turn.sim_ns)
        data = clock.SerializeToString()
        self._queue.append(Incoming("/world/w/clock", "gz.msgs.Clock", data, "tcp://a:1"))
        self.at_turn(self)
        self.time.end()

    def request(
        self, service: str, data: bytes, request_type: str, reply_type: str, timeout_s: float
    ) -> bytes:
        """Serve a request, or let it meet its fate."""
        del request_type, reply_type
        if service != "/world/w/control":
            if self.turning:
                return StringMsg(data=SDF).SerializeToString()
            self.host_ns += round(timeout_s * 1e9)
            raise TransportTimeout("no answer")
        self.requests += 1
        fate = self.request_fate(self.requests)
        if fate == "slow":
            # The client's host is busy: many turns pass before it reads the reply.
            for _ in range(80):
                self.turn()
            self.time.ask(ControlMessage.FromString(data))
            return Boolean(data=True).SerializeToString()
        if fate in ("served", "reply lost"):
            self.time.ask(ControlMessage.FromString(data))
        if fate != "served":
            self.host_ns += round(timeout_s * 1e9)
            raise TransportTimeout("no answer")
        return Boolean(data=True).SerializeToString()

    def subscribe(self, topic: str, callback: object = None) -> Subscription:
        """Everything is received."""
        del topic, callback
        return Quiet()

    def topics(self) -> list[TopicInfo]:
        """The clock, while the server lives."""
        info = TopicInfo("/world/w/clock", "gz.msgs.Clock", "tcp://a:1", "p", "n")
        return [info] if self.alive else []

    def services(self) -> list[ServiceInfo]:
        """The services, while the server lives."""
        names = ("control", "generate_world_sdf")
        found = [ServiceInfo(f"/world/w/{name}", "", "", "tcp://a:2", "p") for name in names]
        return found if self.alive else []

    def wait_for_topic(self, topic: str, timeout_s: float) -> TopicInfo:
        """It is there, or never."""
        del topic
        if not self.alive:
            self.host_ns += round(timeout_s * 1e9)
            raise TransportTimeout("nobody was heard")
        return self.topics()[0]

    def wait_for_service(self, service: str, timeout_s: float) -> ServiceInfo:
        """It is there."""
        del service, timeout_s
        return self.services()[0]

    def advertise(self, topic: str, msg_type: str) -> Publisher:
        """Not of this world."""
        raise NotImplementedError((topic, msg_type))

    def offer(self, service: str, request_type: str, reply_type: str, handler: object) -> Offer:
        """Not of this world."""
        raise NotImplementedError((service, request_type, reply_type, handler))

    def statistics(self) -> dict[str, int]:
        """Nothing is counted."""
        return {}

    def close(self) -> None:
        """Nothing is open."""

    def __enter__(self) -> TurnNode:
        return self

    def __exit__(self, *_: object) -> None:
        return None


@pytest.fixture
def node() -> TurnNode:
    """A fresh world."""
    return TurnNode()


@pytest.fixture
def events() -> list[Event]:
    """What was told."""
    return []


@pytest.fixture
def world(node: TurnNode, events: list[Event]) -> WorldControl:
    """Attached to the world of `node`."""
    face: Node = node
    made = WorldControl(face, "w", host=node, on_event=events.append)
    made.attach()
    return made


def test_a_pause_amid_our_steps_is_undone(
    node: TurnNode, world: WorldControl, events: list[Event]
) -> None:
    def pause_at_five(turning: TurnNode) -> None:
        if turning.time.sim_ns == 5 * STEP_NS and not events and not turning.time.paused:
            turning.time.ask(ControlMessage(pause=True))

    node.at_turn = pause_at_five
    result = world.step(20)
    assert (result.now_ns, result.resumed) == (20 * STEP_NS, 1)
    assert [event.message for event in events] == [
        "somebody paused the world during the step from 0 s to 0.08 s; it goes on"
    ]
    # No steps are left over from it.
    assert world.step().now_ns == 21 * STEP_NS


def test_clocks_that_piled_up_before_the_reply_are_no_pause(
    node: TurnNode, world: WorldControl, events: list[Event]
) -> None:
    node.request_fate = lambda _: "slow"
    assert [world.step(3).now_ns for _ in range(3)] == [k * 3 * STEP_NS for k in (1, 2, 3)]
    assert events == []
    assert node.requests == 3


def test_a_pause_before_our_first_step_is_undone(node: TurnNode, world: WorldControl) -> None:
    def pause_at_once(turning: TurnNode) -> None:
        if turning.requests == 1 and turning.time.sim_ns == 0:
            turning.time.ask(ControlMessage(pause=True))

    node.at_turn = pause_at_once
    assert world.step(3).now_ns == 3 * STEP_NS
    assert world.step().now_ns == 4 * STEP_NS


@pytest.mark.parametrize("fate", ["lost", "reply lost"])
@pytest.mark.parametrize("which", [1, 2, 3])
def test_whatever_is_lost_is_done_once(
    node: TurnNode, world: WorldControl, fate: str, which: int
) -> None:
    node.request_fate = lambda number: fate if number == which else "served"
    for k in range(1, 5):
        assert world.step().now_ns == k * STEP_NS
    assert world.reset() == 0
    assert world.step(2).now_ns == 2 * STEP_NS


def test_a_request_lost_again_and_again_ends_at_the_deadline(
    node: TurnNode, world: WorldControl, events: list[Event]
) -> None:
    node.request_fate = lambda _: "lost"
    before_ns = node.host_ns
    with pytest.raises(BackendLost, match=r"did not do it within 10 s; its last clock was 0 s"):
        world.step()
    assert node.host_ns - before_ns < 11_000_000_000
    assert len(events) > 3
    node.request_fate = lambda _: "served"
    assert world.reset() == 0
    assert world.step().now_ns == STEP_NS


def test_a_request_without_reply_is_not_repeated_while_nobody_answers(
    node: TurnNode, world: WorldControl
) -> None:
    # The server hangs with our request in its socket, and takes it up when it wakes.
    asleep: list[ControlMessage] = []

    def hang(number: int) -> str:
        if number == 1:
            node.turning = False
            asleep.append(ControlMessage(pause=True, multi_step=1))
            return "lost"
        return "served"

    node.request_fate = hang
    waited: list[float] = []
    receive = node.receive

    def wake(timeout_s: float) -> Incoming | None:
        waited.append(timeout_s)
        if len(waited) == 10:
            node.turning = True
            node.time.ask(asleep.pop())
        return receive(timeout_s)

    node.receive = wake  # type: ignore[method-assign]  # a server that wakes at the tenth look
    result = world.step()
    assert (result.now_ns, result.resent) == (STEP_NS, 0)
    assert node.requests == 1


def test_steps_left_over_from_somebody_else(node: TurnNode, world: WorldControl) -> None:
    node.time.ask(ControlMessage(pause=True, multi_step=3))
    node.time.ask(ControlMessage(pause=True))
    # Three steps are queued behind a pause; ours sets them free.
    with pytest.raises(LockstepLost, match="steps left over"):
        world.step()
    assert world.attach() == 4 * STEP_NS
    assert world.step().now_ns == 5 * STEP_NS


def test_a_reset_in_one_turn_with_a_step_would_be_cancelled(
    node: TurnNode, world: WorldControl
) -> None:
    # Gazebo lets the last request of a turn decide on a reset, so each must be seen through.
    world.step(5)
    assert world.reset() == 0
    assert node.time.sim_ns == 0
    assert world.step().now_ns == STEP_NS


def test_pause_and_play_lost_and_found(node: TurnNode, world: WorldControl) -> None:
    node.request_fate = lambda number: "lost" if number in (1, 3) else "served"
    assert world.play() > 0
    stood_ns = world.pause()
    assert node.time.paused
    assert world.step().now_ns == stood_ns + STEP_NS


def test_a_server_that_vanishes_during_each_wait(node: TurnNode, world: WorldControl) -> None:
    node.alive = False
    for act in (world.step, world.reset, world.attach):
        with pytest.raises(BackendLost):
            act()
    node.alive = True
    # The step that was asked for when it vanished may have been made.
    now_ns = world.attach()
    assert now_ns in (0, STEP_NS)
    assert world.step().now_ns == now_ns + STEP_NS
