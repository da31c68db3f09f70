"""What goes wrong with a server: nothing hangs, the error says what, and a reset works again."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from ghost.backends.gazebo import GazeboBackend
from ghost.core import (
    BackendLost,
    ConfigError,
    EventType,
    HostClock,
    ScenarioSpec,
    SensorConfig,
    UnknownName,
    VehicleSpec,
)
from ghost.gz.world import TwoServers
from ghost.hal import MotorCommand, SensorHealth
from tests.gz_world_server.launch import ServerProcess, random_partition

STEP_NS = 4_000_000
DEADLINE_S = 2.0

OwnServer = Callable[..., GazeboBackend]
Attach = Callable[..., GazeboBackend]
StartServer = Callable[..., ServerProcess]


def _fly(backend: GazeboBackend, steps: int = 5) -> None:
    for _ in range(steps):
        backend.step(STEP_NS)


def _lost_within(seconds: float, use: Callable[[], object]) -> str:
    """`use` raises `BackendLost` in time; return what it says."""
    host = HostClock()
    start_ns = host.now_ns()
    with pytest.raises(BackendLost) as caught:
        use()
    assert (host.now_ns() - start_ns) * 1e-9 < seconds
    return str(caught.value)


def _works_again(backend: GazeboBackend, scenario: ScenarioSpec) -> None:
    backend.reset(scenario, 1)
    _fly(backend)
    assert backend.clock.now_ns() == 5 * STEP_NS
    assert all(p.health is SensorHealth.OK for p in backend.sensors().values())


def test_our_server_crashes_while_stepping(own_server: OwnServer, scenario: ScenarioSpec) -> None:
    backend = own_server("--crash-at-ns", str(20 * STEP_NS), deadline_s=5.0)
    backend.reset(scenario, 1)
    sensors = dict(backend.sensors())
    said = _lost_within(6.0, lambda: _fly(backend, 40))
    assert "'w'" in said
    assert all(p.health is SensorHealth.OFFLINE for p in sensors.values())
    assert all(p.poll() == [] for p in sensors.values())
    assert "reset" in _lost_within(0.1, lambda: backend.step(STEP_NS))
    _works_again(backend, scenario)
    backend.shutdown()
    backend.shutdown()


def test_a_server_killed_while_idle(
    start_server: StartServer, attach: Attach, scenario: ScenarioSpec
) -> None:
    server = start_server()
    backend = attach(server, deadline_s=DEADLINE_S)
    backend.reset(scenario, 1)
    _fly(backend)
    server.kill()
    _lost_within(DEADLINE_S + 1.0, lambda: backend.step(STEP_NS))
    # Nobody there: the reset says so in time, too.
    said = _lost_within(2.0 * DEADLINE_S + 2.0, lambda: backend.reset(scenario, 1))
    assert "w" in said
    # Restarted, on other ports.
    start_server(partition=server.partition)
    _works_again(backend, scenario)


def test_a_server_killed_while_resetting(own_server: OwnServer, scenario: ScenarioSpec) -> None:
    backend = own_server("--crash-on-reset", deadline_s=5.0)
    backend.reset(scenario, 1)
    _fly(backend)
    # The crash is met in the reset itself, which takes a fresh server.
    _works_again(backend, scenario)


def test_a_server_that_never_starts(own_server: OwnServer, scenario: ScenarioSpec) -> None:
    backend = own_server("--no-such-option")
    said = _lost_within(20.0, lambda: backend.reset(scenario, 1))
    assert "code 2" in said
    assert "--no-such-option" in said, "the server's own words are told"
    backend.shutdown()


def test_a_frozen_server_for_a_second_is_waited_for(
    start_server: StartServer, attach: Attach, scenario: ScenarioSpec
) -> None:
    server = start_server()
    backend = attach(server, deadline_s=10.0)
    backend.reset(scenario, 1)
    _fly(backend)
    server.signal(signal.SIGSTOP)

    def thaw_later() -> None:
        host = HostClock()
        host.sleep_until_ns(host.now_ns() + 1_000_000_000)
        server.signal(signal.SIGCONT)

    thaw = threading.Thread(target=thaw_later)
    thaw.start()
    _fly(backend, 20)
    thaw.join()
    assert backend.clock.now_ns() == 25 * STEP_NS
    assert len(backend.sensors()["imu0"].poll()) == 25


def test_a_frozen_server_for_long_is_lost(
    start_server: StartServer, attach: Attach, scenario: ScenarioSpec
) -> None:
    server = start_server()
    backend = attach(server, deadline_s=DEADLINE_S)
    backend.reset(scenario, 1)
    _fly(backend)
    server.signal(signal.SIGSTOP)
    _lost_within(DEADLINE_S + 1.0, lambda: backend.step(STEP_NS))
    _lost_within(2.0 * DEADLINE_S + 2.0, lambda: backend.reset(scenario, 1))
    server.signal(signal.SIGCONT)
    _works_again(backend, scenario)


def test_a_mute_server_is_lost(own_server: OwnServer, scenario: ScenarioSpec) -> None:
    backend = own_server("--mute-at-ns", str(10 * STEP_NS), deadline_s=DEADLINE_S)
    backend.reset(scenario, 1)
    _lost_within(DEADLINE_S + 1.0, lambda: _fly(backend, 20))
    backend.shutdown()


def test_two_servers_are_refused(
    start_server: StartServer, attach: Attach, scenario: ScenarioSpec
) -> None:
    partition = random_partition()
    server = start_server(partition=partition)
    start_server(partition=partition)
    backend = attach(server)
    with pytest.raises(TwoServers) as caught:
        backend.reset(scenario, 1)
    assert len(caught.value.addresses) == 2
    backend.shutdown()


def test_a_second_server_amid_a_run_is_a_loss(
    start_server: StartServer, attach: Attach, scenario: ScenarioSpec
) -> None:
    server = start_server()
    backend = attach(server)
    backend.reset(scenario, 1)
    _fly(backend)
    second = start_server(partition=server.partition)
    said = _lost_within(20.0, lambda: _fly(backend, 5000))
    assert "2 servers" in said
    second.kill()
    # It said no good-bye, so it counts until it has been silent for three seconds.
    HostClock().sleep_until_ns(HostClock().now_ns() + 3_500_000_000)
    _works_again(backend, scenario)


def test_a_wrong_world_names_those_there_are(
    start_server: StartServer, attach: Attach, scenario: ScenarioSpec
) -> None:
    server = start_server("--world", "field", world="field")
    backend = attach(server, attach="fields", deadline_s=DEADLINE_S)
    with pytest.raises(UnknownName) as caught:
        backend.reset(scenario, 1)
    assert caught.value.nearest == ("field",)
    backend.shutdown()


def test_a_wrong_model_names_those_there_are(
    start_server: StartServer, attach: Attach, scenario: ScenarioSpec
) -> None:
    backend = attach(start_server(), model="ghost_x50")
    with pytest.raises(UnknownName) as caught:
        backend.reset(scenario, 1)
    assert "ghost_x500" in caught.value.nearest
    backend.shutdown()


def test_a_missing_sensor_topic_is_named(
    start_server: StartServer, attach: Attach, scenario: ScenarioSpec
) -> None:
    backend = attach(start_server())
    extra = SensorConfig("imu7", "imu", 100.0)
    vehicle = replace(scenario.vehicle, sensors=(*scenario.vehicle.sensors, extra))
    with pytest.raises(ConfigError, match=r"sensor/imu7/imu \(sensor 'imu7'\).*imu0"):
        backend.reset(replace(scenario, vehicle=vehicle), 1)
    # The vehicle that is there still flies.
    _works_again(backend, scenario)


def test_a_topic_of_another_name_is_taken_when_told(
    start_server: StartServer, attach: Attach, scenario: ScenarioSpec
) -> None:
    server = start_server()
    there = "/world/w/model/ghost_x500/link/base_link/sensor/imu0/imu"
    backend = attach(server, topics={"gyro": there})
    vehicle = replace(scenario.vehicle, sensors=(SensorConfig("gyro", "imu", 250.0),))
    backend.reset(replace(scenario, vehicle=vehicle), 1)
    _fly(backend)
    assert len(backend.sensors()["gyro"].poll()) == 5


def test_a_sensor_that_stops(own_server: OwnServer, scenario: ScenarioSpec) -> None:
    backend = own_server("--silent-sensor", "baro0", "--silent-at-ns", str(15 * STEP_NS))
    backend.reset(scenario, 1)
    events = [event for _ in range(50) for event in backend.step(STEP_NS).faults]
    faults = [event for event in events if event.type is EventType.SENSOR_FAULT]
    assert [event.source for event in faults] == ["sensors/baro0"], "one event, not one a poll"
    assert "air_pressure" in faults[0].message
    sensors = backend.sensors()
    assert sensors["baro0"].health is SensorHealth.OFFLINE
    assert sensors["baro0"].poll() == []
    assert len(sensors["imu0"].poll()) == 50, "the others go on"


def test_messages_of_the_wrong_type(own_server: OwnServer, scenario: ScenarioSpec) -> None:
    backend = own_server("--wrong-type", "mag0")
    backend.reset(scenario, 1)
    events = [event for _ in range(20) for event in backend.step(STEP_NS).faults]
    assert any("gz.msgs.Double" in event.message for event in events)
    assert backend.sensors()["mag0"].health is SensorHealth.OFFLINE
    assert len(backend.sensors()["imu0"].poll()) == 20


def test_a_clock_that_jumps(own_server: OwnServer, scenario: ScenarioSpec) -> None:
    backend = own_server("--jump-at-ns", str(10 * STEP_NS))
    backend.reset(scenario, 1)
    said = _lost_within(12.0, lambda: _fly(backend, 20))
    assert "clock" in said or "moves" in said
    backend.shutdown()


def test_a_world_of_another_step(
    start_server: StartServer, attach: Attach, scenario: ScenarioSpec
) -> None:
    backend = attach(start_server())
    odd = replace(scenario, step_ns=6_000_000, physics_step_ns=6_000_000, vehicle=_slow(scenario))
    with pytest.raises(ConfigError, match="no multiple of the step of world 'w', 4000000 ns"):
        backend.reset(odd, 1)


def _slow(scenario: ScenarioSpec) -> VehicleSpec:
    sensors = tuple(replace(s, rate_hz=10.0) for s in scenario.vehicle.sensors)
    control = replace(scenario.vehicle.control, rate_hz=100.0)
    return replace(scenario.vehicle, sensors=sensors, control=control)


def test_moving_at_the_start_is_refused(own_server: OwnServer, scenario: ScenarioSpec) -> None:
    moving = replace(scenario, initial=replace(scenario.initial, vel_enu_mps=(1.0, 0.0, 0.0)))
    with pytest.raises(ConfigError) as caught:
        own_server().reset(moving, 1)
    assert caught.value.key == "initial.vel_enu_mps"


def test_commands_hold_and_are_proven(own_server: OwnServer, scenario: ScenarioSpec) -> None:
    """The rotors that Ghost tells of are those that the world really turns: it flies level."""
    backend = own_server()
    backend.reset(scenario, 1)
    weight = scenario.vehicle.mass_kg * scenario.world.gravity_mps2
    motor = scenario.vehicle.motor
    part = weight / (4.0 * motor.thrust_coeff * motor.max_rad_s**2)
    sink = backend.actuators()
    assert backend.capabilities.extensions["command_proof"] == "echo"
    assert sink.send(MotorCommand(np.full(4, part)), 0).accepted
    _fly(backend, 250)
    truth = backend.ground_truth()
    assert truth.motor_rps == pytest.approx(motor.max_rad_s * part**0.5, rel=1e-6)
    assert abs(float(truth.acc_enu_mps2[2])) < 1e-3
