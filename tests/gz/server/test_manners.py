"""What a client of a Gazebo server must live with, the test server does as well."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from ghost.core import HostClock
from ghost.gz.msgs import (
    IMU,
    Actuators,
    Altimeter,
    Boolean,
    Clock,
    FluidPressure,
    Magnetometer,
    NavSat,
    Odometry,
    Pose,
    Pose_V,
    StringMsg_V,
    WorldStatistics,
)
from ghost.gz.msgs import WorldControl as ControlMessage
from ghost.gz.world.stamps import time_ns

if TYPE_CHECKING:
    from tests.gz.server.conftest import Listener

Listen = Callable[..., "Listener"]

STEP_NS = 4_000_000
LINK = "/world/w/model/ghost_x500/link/base_link/sensor"
MOTORS = "/ghost_x500/command/motor_speed"
HOVER_RAD_S = math.sqrt(2.0643077 * 9.8 / 4.0 / 8.54858e-06)


def _steps(count: int) -> ControlMessage:
    return ControlMessage(pause=True, multi_step=count)


def test_a_reply_comes_before_the_steps(listen: Listen) -> None:
    listener = listen("--slow-ms", "2")
    listener.ask(_steps(50))
    # The reply is here; the first clocks that follow are still of the time before.
    assert listener.await_clocks(1) < 50 * STEP_NS
    assert listener.await_clocks(1, 50 * STEP_NS) == 50 * STEP_NS


def test_requests_add_up(listen: Listen) -> None:
    listener = listen()
    for _ in range(3):
        listener.ask(_steps(2))
    listener.await_clocks(5, 6 * STEP_NS)
    sims = [time_ns(Clock.FromString(data).sim) for data in listener.of("/world/w/clock")]
    assert max(sims) == 6 * STEP_NS


def test_steps_without_a_pause_are_not_heeded(listen: Listen) -> None:
    listener = listen()
    listener.ask(ControlMessage(multi_step=2))
    assert listener.await_clocks(20) > 2 * STEP_NS


def test_a_run_to_a_time_stops_there(listen: Listen) -> None:
    listener = listen()
    request = ControlMessage()
    request.run_to_sim_time.nsec = 10 * STEP_NS
    listener.ask(request)
    listener.await_clocks(5, 10 * STEP_NS)
    sims = [time_ns(Clock.FromString(data).sim) for data in listener.of("/world/w/clock")]
    assert max(sims) == 10 * STEP_NS


def test_a_paused_world_repeats_its_clock_each_millisecond(listen: Listen) -> None:
    listener = listen()
    host = HostClock()
    start_ns = host.now_ns()
    listener.await_clocks(101)
    took_ms = (host.now_ns() - start_ns) / 1e6
    # Never faster; how much slower is the machine's affair.
    assert took_ms > 80.0
    assert len(set(listener.of("/world/w/clock"))) == 101


def test_statistics_and_poses_are_held_to_wall_time(listen: Listen) -> None:
    topics = ("/world/w/stats", "/world/w/pose/info", "/stats")
    listener = listen(topics=topics)
    host = HostClock()
    start_ns = host.now_ns()
    for call in range(1, 101):
        listener.ask(_steps(5))
        listener.await_clocks(2, call * 5 * STEP_NS)
    took_s = (host.now_ns() - start_ns) / 1e9
    assert len(listener.of("/world/w/stats")) <= took_s * 10.0 + 2.0
    assert len(listener.of("/world/w/pose/info")) <= took_s * 60.0 + 2.0
    assert len(listener.of("/stats")) >= 500
    stepping = [WorldStatistics.FromString(data) for data in listener.of("/stats")]
    assert {bool(stats.stepping) for stats in stepping} == {True, False}


def test_truth_is_paced_in_simulated_time(listen: Listen) -> None:
    topics = ("/model/ghost_x500/pose", "/model/ghost_x500/odometry")
    listener = listen("--start", "1", "2", "3", "--base-link-z", "0.24", topics=topics)
    listener.ask(_steps(10))
    listener.await_clocks(2, 10 * STEP_NS)
    poses = [Pose.FromString(data) for data in listener.of(topics[0])]
    assert [time_ns(pose.header.stamp) for pose in poses] == [k * STEP_NS for k in range(1, 11)]
    assert poses[0].position.x == pytest.approx(1.0, abs=1e-3)
    # The model's frame lies below the body, which starts at 3 m.
    assert poses[0].position.z == pytest.approx(2.76, abs=1e-3)
    odometry = Odometry.FromString(listener.of(topics[1])[-1])
    assert odometry.twist.linear.z == pytest.approx(-9.8 * 0.04, rel=0.02)


def test_motors_move_the_vehicle_and_each_command_is_echoed(listen: Listen) -> None:
    pose, ack = "/model/ghost_x500/pose", "/ghost_x500/command/ack"
    listener = listen("--start", "0", "0", "5", topics=(pose, ack))
    node = listener.node
    motors = node.advertise(MOTORS, "gz.msgs.Actuators")
    assert motors.wait_for_subscriber(5.0)
    for k in range(1, 101):
        command = Actuators(velocity=[HOVER_RAD_S * 1.1] * 4)
        command.header.stamp.sec = 1
        motors.publish(command.SerializeToString())
        while len(listener.of(ack)) < k:
            listener.next()
        listener.ask(_steps(1))
        listener.await_clocks(2, k * STEP_NS)
    assert [Boolean.FromString(data).data for data in listener.of(ack)] == [True] * 100
    assert Pose.FromString(listener.of(pose)[-1]).position.z > 5.05


def test_a_command_of_the_wrong_size_changes_nothing(listen: Listen) -> None:
    pose = "/model/ghost_x500/pose"
    listener = listen(topics=(pose,))
    motors = listener.node.advertise(MOTORS, "gz.msgs.Actuators")
    assert motors.wait_for_subscriber(5.0)
    motors.publish(Actuators(velocity=[900.0, 900.0]).SerializeToString())
    motors.publish(Actuators(velocity=[math.nan] * 4).SerializeToString())
    listener.ask(_steps(100))
    listener.await_clocks(2, 100 * STEP_NS)
    assert Pose.FromString(listener.of(pose)[-1]).position.z == pytest.approx(0.227, abs=0.01)


def test_what_the_sensors_say_on_the_ground(listen: Listen) -> None:
    ends = ("imu0/imu", "mag0/magnetometer", "baro0/air_pressure", "gps0/navsat")
    topics = (*(f"{LINK}/{end}" for end in ends), f"{LINK}/altimeter0/altimeter")
    listener = listen(topics=topics)
    listener.ask(_steps(100))
    listener.await_clocks(2, 100 * STEP_NS)
    imu, mag, baro, gps, altimeter = (listener.of(topic)[-1] for topic in topics)
    assert IMU.FromString(imu).linear_acceleration.z == pytest.approx(9.8, abs=0.05)
    field = Magnetometer.FromString(mag).field_tesla
    assert (field.x, field.y, field.z) == pytest.approx((6e-6, 2.3e-5, -4.2e-5), rel=1e-3)
    assert 90_000.0 < FluidPressure.FromString(baro).pressure < 101_400.0
    fix = NavSat.FromString(gps)
    assert fix.frame_id == "base_link"
    assert abs(fix.velocity_up) < 0.01
    height = Altimeter.FromString(altimeter)
    assert height.vertical_reference == pytest.approx(0.227, abs=0.01)
    assert height.vertical_position == pytest.approx(0.0, abs=0.01)


def test_harmonics_compass_is_left_handed_and_in_gauss(listen: Listen) -> None:
    topic = "/world/w/model/x500_0/link/base_link/sensor/magnetometer_sensor/magnetometer"
    listener = listen("--layout", "px4", topics=(topic,))
    listener.ask(_steps(1))
    listener.await_clocks(2, STEP_NS)
    field = Magnetometer.FromString(listener.of(topic)[0]).field_tesla
    # Looking east, the recording has (north, east, down) on (x, y, z).
    assert (field.x, field.y, field.z) == pytest.approx((0.23, 0.06, 0.42), rel=1e-3)


def test_worlds_and_poses_are_told(listen: Listen) -> None:
    listener = listen("--scenario", "square", topics=("/world/w/pose/info",))
    reply = listener.node.request(
        "/gazebo/worlds", b"", "gz.msgs.Empty", "gz.msgs.StringMsg_V", 5.0
    )
    assert StringMsg_V.FromString(reply).data == ["w"]
    while not listener.of("/world/w/pose/info"):
        listener.next()
    names = [pose.name for pose in Pose_V.FromString(listener.of("/world/w/pose/info")[0]).pose]
    assert names[0] == "ground"
    assert "ghost_x500" in names
