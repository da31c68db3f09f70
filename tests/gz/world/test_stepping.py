"""Stepping a server process, its sensors in hand when the step returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from ghost.core import ContractViolation
from ghost.gz.msgs import Image, Pose
from ghost.gz.transport import Incoming, Node
from ghost.gz.world import (
    LIMITER_FIX,
    EntityRefused,
    SecondClock,
    SensorTopic,
    StepMismatch,
    WorldControl,
)
from tests.gz_world_server.launch import ServerProcess

if TYPE_CHECKING:
    from tests.gz.world.conftest import Heard

Start = Callable[..., ServerProcess]
Control = Callable[..., WorldControl]


def test_a_step_returns_with_every_sensor_of_its_time(
    start: Start, control: Control, heard: Heard
) -> None:
    world = control(start())
    assert world.attach() == 0
    assert world.step_ns == 4_000_000
    for step in range(1, 51):
        result = world.step()
        now_ms = step * 4.0
        assert result.now_ns == world.now_ns == step * 4_000_000
        assert result.missing == ()
        # Gazebo's grid: the first step that reaches a multiple of the period, and the very first.
        due = {"imu0"} | {
            name
            for name, period in (("mag0", 10.0), ("baro0", 20.0), ("altimeter0", 20.0))
            if now_ms % period < 4.0 or step == 1
        }
        assert {name for name, stamp in heard.stamps if stamp == now_ms} == due
    assert heard.events == []


def test_several_steps_at_once_lose_nothing(start: Start, control: Control, heard: Heard) -> None:
    world = control(start())
    world.attach()
    assert world.step(25).now_ns == 100_000_000
    assert heard.of("imu0") == [4.0 * k for k in range(1, 26)]
    assert heard.of("mag0") == [4, 12, 20, 32, 40, 52, 60, 72, 80, 92, 100]
    assert heard.of("baro0") == [4, 20, 40, 60, 80, 100]


def test_the_second_clock_needs_to_know_no_sensor(
    start: Start, join: Callable[[ServerProcess], Node], heard: Heard
) -> None:
    server = start()
    topics = [
        SensorTopic(sensor.topic, sensor.type, sensor.on_message) for sensor in heard.topics()
    ]
    world = WorldControl(join(server), "w", sensors=topics, barrier=SecondClock())
    world.attach()
    for _ in range(10):
        world.step()
    assert heard.of("imu0") == [4.0 * k for k in range(1, 11)]
    assert heard.of("mag0") == [4, 12, 20, 32, 40]


def test_a_reset_begins_the_same_flight_again(start: Start, control: Control, heard: Heard) -> None:
    world = control(start())
    world.attach()
    world.step(30)
    first = list(heard.data)
    heard.data.clear()
    assert world.reset() == world.now_ns == 0
    assert heard.data == []
    world.step(30)
    assert sorted(heard.data) == sorted(first)
    # And at time 0, where no clock can go back.
    world.reset()
    assert world.reset() == 0


def test_a_reset_does_not_seed_the_servers_noise_again(
    start: Start, control: Control, heard: Heard
) -> None:
    world = control(start("--noise"))
    world.attach()
    world.step(10)
    first = list(heard.data)
    heard.data.clear()
    world.reset()
    world.step(10)
    assert len(heard.data) == len(first)
    assert sorted(heard.data) != sorted(first)


def test_two_servers_in_two_processes_fly_alike(
    start: Start, control: Control, heard: Heard
) -> None:
    runs = []
    for _ in range(2):
        heard.data.clear()
        world = control(start("--start", "0", "0", "5"))
        world.attach()
        world.step(30)
        runs.append(sorted(heard.data))
    assert runs[0] == runs[1]


def test_play_and_pause_are_confirmed(start: Start, control: Control, heard: Heard) -> None:
    world = control(start())
    world.attach()
    moved_ns = world.play()
    assert moved_ns > 0
    with pytest.raises(ContractViolation, match="pause"):
        world.step()
    stood_ns = world.pause()
    assert stood_ns >= moved_ns
    heard.stamps.clear()
    assert world.step().now_ns == stood_ns + 4_000_000
    assert (stood_ns + 4_000_000) / 1e6 in heard.of("imu0")


def test_a_running_world_is_stopped_when_attached_to(start: Start, control: Control) -> None:
    world = control(start("--running"))
    now_ns = world.attach()
    assert now_ns > 0
    assert world.step().now_ns == now_ns + 4_000_000


def test_nothing_is_stepped_before_attach(start: Start, control: Control) -> None:
    world = control(start())
    with pytest.raises(ContractViolation, match="attach"):
        world.step()


def test_a_limiter_is_told_of_with_the_line_to_change(
    start: Start, control: Control, heard: Heard
) -> None:
    world = control(start("--real-time-factor", "1"))
    world.attach()
    assert world.pacing is not None
    assert world.pacing.limited
    assert len(heard.events) == 1
    assert LIMITER_FIX in heard.events[0].message


def test_another_step_than_the_worlds_is_refused(start: Start, control: Control) -> None:
    world = control(start("--step-ns", "2000000"), step_ns=4_000_000)
    with pytest.raises(StepMismatch, match=r"<max_step_size>0.004</max_step_size>"):
        world.attach()


def test_models_come_and_go_and_move(start: Start, control: Control) -> None:
    world = control(start(), sensors=())
    world.attach()
    assert world.models() == ("ground", "ghost_x500")
    pose = Pose()
    pose.position.x = 3.0
    world.spawn(sdf="<sdf version='1.9'><model name='box'/></sdf>", name="box", pose=pose)
    assert "box" in world.models()
    with pytest.raises(EntityRefused, match="already has a model 'box'"):
        world.spawn(sdf="<sdf version='1.9'><model name='box'/></sdf>", name="box")
    world.set_pose("box", (1.0, 2.0, 3.0), (0.0, 0.0, 0.0, 1.0))
    world.set_pose("ghost_x500", (0.0, 0.0, 7.0))
    world.remove("box")
    assert "box" not in world.models()
    with pytest.raises(EntityRefused, match="no model 'box'"):
        world.remove("box")
    with pytest.raises(EntityRefused, match="its log says why"):
        world.spawn(sdf="no sdf at all", name="nothing", timeout_s=0.2)
    assert world.step().steps == 1
    world.reset()
    assert world.models() == ("ground", "ghost_x500")


@pytest.mark.gl
def test_pictures_come_late_and_are_awaited_by_their_stamp(
    start: Start, join: Callable[[ServerProcess], Node]
) -> None:
    server = start("--vehicle", "x500_sensors", "--model", "m", "--render-ms", "30")
    stamps: list[int] = []
    sizes: list[tuple[int, int, int]] = []

    def note(message: Incoming, stamp_ns: int) -> None:
        image = Image.FromString(message.data)
        stamps.append(stamp_ns)
        sizes.append((image.width, image.height, len(image.data)))

    topic = "/world/w/model/m/link/base_link/sensor/depth_front/depth_image"
    depth = SensorTopic(topic, "gz.msgs.Image", note, 100_000_000, rendered=True)
    world = WorldControl(join(server), "w", sensors=[depth])
    world.attach()
    result = world.step(25)
    assert result.missing == ()
    assert world.await_stamp(topic, 100_000_000, 5.0)
    assert stamps == [100_000_000]
    assert sizes == [(320, 240, 320 * 240 * 4)]
    assert not world.await_stamp(topic, 200_000_000, 0.05)
    with pytest.raises(KeyError):
        world.await_stamp("/nothing", 0, 1.0)
