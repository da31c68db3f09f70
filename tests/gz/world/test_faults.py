"""Servers that die, hang, jump, lie or are not alone: a clear error in time, and a way back."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from ghost.core import BackendLost, ConfigError, HostClock, UnknownName
from ghost.gz.msgs import Clock
from ghost.gz.msgs import WorldControl as ControlMessage
from ghost.gz.transport import Node, TransportOptions, open_node
from ghost.gz.world import LockstepLost, TwoServers, WorldControl
from ghost.gz.world.stamps import time_ns
from tests.gz_world_server.launch import ServerProcess, random_partition

if TYPE_CHECKING:
    from tests.gz.world.conftest import Heard

Start = Callable[..., ServerProcess]
Control = Callable[..., WorldControl]
Join = Callable[[ServerProcess], Node]

NS = 1_000_000_000


class Watch:
    """How long a block took, s."""

    def __init__(self) -> None:
        self._host = HostClock()
        self._start_ns = self._host.now_ns()

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return (self._host.now_ns() - self._start_ns) / 1e9


def test_a_server_that_dies_amid_a_step(start: Start, control: Control) -> None:
    server = start("--crash-at-ns", "200000000")
    world = control(server)
    world.attach()
    watch = Watch()
    with pytest.raises(BackendLost, match=r"step from .* 'w' at tcp://127.0.0.1:\d+ is gone"):
        world.step(100)
    assert watch.seconds < 2.0
    # Started again, on other ports of course.
    start(partition=server.partition)
    assert world.reset() == 0
    assert world.step().now_ns == 4_000_000


def test_a_server_that_is_killed_while_nothing_happens(start: Start, control: Control) -> None:
    server = start()
    world = control(server)
    world.attach()
    world.step()
    server.kill()
    watch = Watch()
    with pytest.raises(BackendLost, match="is gone"):
        world.step()
    assert watch.seconds < 2.0
    with pytest.raises(BackendLost, match="no Gazebo server is heard"):
        world.reset(timeout_s=0.3)
    world.close()
    world.close()


def test_a_server_that_dies_of_a_reset(start: Start, control: Control) -> None:
    server = start("--crash-on-reset")
    world = control(server)
    world.attach()
    world.step(3)
    watch = Watch()
    with pytest.raises(BackendLost, match=r"reset: .* is gone"):
        world.reset()
    assert watch.seconds < 2.0
    start(partition=server.partition)
    assert world.reset() == 0


def test_a_server_that_freezes_for_a_second_goes_on(start: Start, control: Control) -> None:
    server = start()
    world = control(server)
    world.attach()
    world.step()
    host = HostClock()
    server.signal(signal.SIGSTOP)

    def thaw() -> None:
        host.sleep_until_ns(host.now_ns() + NS)
        server.signal(signal.SIGCONT)

    thread = threading.Thread(target=thaw)
    thread.start()
    try:
        result = world.step()
    finally:
        thread.join()
    # The request was never lost, only late: it must not be made twice.
    assert (result.now_ns, result.resent) == (8_000_000, 0)
    assert world.step().now_ns == 12_000_000


def test_a_server_that_freezes_for_long_ends_at_the_deadline(
    start: Start, control: Control
) -> None:
    server = start()
    world = control(server, deadline_s=0.7)
    world.attach()
    server.signal(signal.SIGSTOP)
    watch = Watch()
    with pytest.raises(BackendLost, match=r"did not do it within 0.7 s; its last clock was 0 s"):
        world.step()
    assert watch.seconds < 1.5
    server.signal(signal.SIGCONT)
    assert world.reset(timeout_s=5.0) == 0
    assert world.step(timeout_s=5.0).now_ns == 4_000_000


def test_silence_tells_before_a_long_deadline(start: Start, control: Control) -> None:
    server = start()
    world = control(server, deadline_s=30.0)
    world.attach()
    server.signal(signal.SIGSTOP)
    watch = Watch()
    with pytest.raises(BackendLost, match="is gone"):
        world.step()
    assert watch.seconds < 8.0


def test_a_mute_server_ends_at_the_deadline(start: Start, control: Control) -> None:
    world = control(start("--mute-at-ns", "8000000"), deadline_s=0.5)
    world.attach()
    world.step()
    with pytest.raises(BackendLost, match=r"did not do it within 0\.5 s"):
        world.step()


def test_a_slow_server_is_waited_for(start: Start, control: Control, heard: Heard) -> None:
    world = control(start("--slow-ms", "300"), deadline_s=2.0)
    world.attach()
    assert world.step(2).now_ns == 8_000_000
    # The deadline is for standing still, not for the whole.
    assert world.step(5, timeout_s=0.9).now_ns == 28_000_000
    assert heard.of("imu0") == [4, 8, 12, 16, 20, 24, 28]


@pytest.mark.parametrize("switch", ["--lose-requests", "--lose-replies"])
def test_a_lost_request_is_made_once(
    start: Start, control: Control, heard: Heard, switch: str
) -> None:
    # Attaching to a paused world needs no request: the second one is the second step.
    world = control(start(switch, "2"))
    world.attach()
    results = [world.step(5), world.step(5), world.step(5)]
    assert [result.now_ns for result in results] == [20_000_000, 40_000_000, 60_000_000]
    lost = 1 if switch == "--lose-requests" else 0
    assert [result.resent for result in results] == [0, lost, 0]
    assert heard.of("imu0") == [4.0 * k for k in range(1, 16)]
    assert [event.message for event in heard.events] == [
        "the request to step from 0.02 s to 0.04 s was lost and is sent again"
    ][:lost]


@pytest.mark.parametrize("switch", ["--lose-requests", "--lose-replies"])
def test_a_lost_reset_is_made_up_for(start: Start, control: Control, switch: str) -> None:
    world = control(start(switch, "2"))
    world.attach()
    world.step(3)
    assert world.reset() == 0
    assert world.step().now_ns == 4_000_000


def test_two_servers_are_refused_by_both_addresses(start: Start, control: Control) -> None:
    first = start()
    start(partition=first.partition)
    world = control(first)
    with pytest.raises(TwoServers, match="GZ_PARTITION") as caught:
        world.attach()
    assert len(set(caught.value.addresses)) == 2
    assert all(address in str(caught.value) for address in caught.value.addresses)


def test_a_second_server_is_noticed_amid_a_run(start: Start, control: Control) -> None:
    first = start()
    world = control(first)
    world.attach()
    world.step()
    second = start(partition=first.partition)

    with pytest.raises(TwoServers):
        _step_on(world, 2000)
    second.kill()
    assert world.reset() == 0


def test_a_world_that_does_not_exist_names_those_that_do(start: Start, join: Join) -> None:
    server = start("--world", "default_field")
    world = WorldControl(join(server), "default_feild")
    watch = Watch()
    with pytest.raises(UnknownName, match=r"did you mean 'default_field'\?") as caught:
        world.attach()
    assert caught.value.known == ("default_field",)
    assert watch.seconds < 4.0


def test_no_server_at_all() -> None:
    with open_node(TransportOptions(partition=random_partition())) as node:
        watch = Watch()
        with pytest.raises(BackendLost, match="start one with 'gz sim -s"):
            WorldControl(node, "w").attach(0.3)
        assert watch.seconds < 1.0


def test_a_clock_that_jumps(start: Start, control: Control) -> None:
    world = control(start("--jump-at-ns", "12000000", "--jump-ns", "500000000"))
    world.attach()
    world.step(2)
    with pytest.raises(LockstepLost, match=r"went to 0.51\d* s where our steps end at 0.0\d+ s"):
        _step_on(world, 3)
    assert world.attach() >= 512_000_000
    assert world.reset() == 0
    assert world.step().now_ns == 4_000_000


def test_somebody_else_who_plays_the_world(start: Start, control: Control, join: Join) -> None:
    server = start()
    world = control(server)
    world.attach()
    world.step()
    other = join(server)
    other.subscribe("/world/w/clock")
    _ask(other, ControlMessage(pause=False))
    # Asked for is not done: a step that came in the same turn would pause it before it moved.
    _wait_until_clock(other, lambda sim_ns: sim_ns > world.now_ns)
    with pytest.raises(LockstepLost, match="somebody else plays or steps it too"):
        _step_on(world, 500)
    assert world.reset() == 0
    assert world.step().now_ns == 4_000_000


def test_somebody_else_who_resets_the_world(start: Start, control: Control, join: Join) -> None:
    server = start()
    world = control(server)
    world.attach()
    world.step(5)
    request = ControlMessage(pause=True)
    request.reset.all = True
    other = join(server)
    other.subscribe("/world/w/clock")
    _ask(other, request)
    _wait_until_clock(other, lambda sim_ns: sim_ns == 0)
    with pytest.raises(LockstepLost, match=r"went back from 0.02 s to 0 s"):
        _step_on(world, 500)


def test_a_sensor_that_stops_is_named_and_does_not_stall(
    start: Start, control: Control, heard: Heard
) -> None:
    world = control(start("--silent-sensor", "mag0", "--silent-at-ns", "60000000"))
    world.attach()
    missing = [world.step().missing for _ in range(30)]
    named = {topic for topics in missing for topic in topics}
    assert {topic.rpartition("/")[2] for topic in named} == {"magnetometer"}
    assert sum(map(len, missing)) == len([k for k in range(15, 31) if k * 4 % 10 < 4])
    assert heard.of("imu0")[-1] == 120.0


def test_a_topic_of_the_wrong_type_is_told_of_once(
    start: Start, control: Control, heard: Heard
) -> None:
    world = control(start("--wrong-type", "baro0"))
    world.attach()
    for _ in range(20):
        world.step()
    assert heard.of("baro0") == []
    assert [event.message for event in heard.events] == [
        "/world/w/model/ghost_x500/link/base_link/sensor/baro0/air_pressure carries "
        "gz.msgs.Double, not gz.msgs.FluidPressure; its messages are ignored"
    ]


def test_every_message_twice_is_not_a_second_clock(
    start: Start, control: Control, heard: Heard
) -> None:
    world = control(start("--double"))
    world.attach()
    for _ in range(20):
        assert world.step().missing == ()
    assert heard.of("imu0") == [4.0 * k for k in range(1, 21)]


def test_bad_arguments(join: Join, start: Start) -> None:
    node = join(start())
    with pytest.raises(ValueError, match="deadline_s"):
        WorldControl(node, "w", deadline_s=0.0)
    world = WorldControl(node, "w")
    world.attach()
    with pytest.raises(ValueError, match="steps"):
        world.step(0)
    with pytest.raises(TypeError, match="steps"):
        world.step(1.5)  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(ValueError, match="either sdf"):
        world.spawn(name="x")
    assert issubclass(TwoServers, ConfigError)


def _step_on(world: WorldControl, count: int) -> None:
    for _ in range(count):
        world.step()


def _ask(node: Node, message: ControlMessage) -> None:
    node.request(
        "/world/w/control",
        message.SerializeToString(),
        "gz.msgs.WorldControl",
        "gz.msgs.Boolean",
        5.0,
    )


def _wait_until_clock(node: Node, done: Callable[[int], bool]) -> None:
    """Read the world's clock until its time, ns, is as asked."""
    deadline = Watch()
    while deadline.seconds < 10.0:
        message = node.receive(1.0)
        if message is not None and done(time_ns(Clock.FromString(message.data).sim)):
            return
    raise AssertionError("the world's clock did not come to what was asked of it")
