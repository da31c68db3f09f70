"""A world whose motors an autopilot outside drives, with a stand-in for the autopilot."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest

from ghost.backends.gazebo import GazeboBackend
from ghost.backends.gazebo.outside import bridge_environ
from ghost.backends.gazebo.process import find_gz
from ghost.core import (
    AutopilotSpec,
    ConfigError,
    ContractViolation,
    HostClock,
    InitialState,
    OutputSpec,
    ScenarioSpec,
)
from ghost.gz.msgs import (
    IMU,
    Actuators,
    FluidPressure,
    Magnetometer,
    NavSat,
    gz_type,
)
from ghost.gz.transport import Incoming, Node, TransportOptions, open_node
from ghost.hal import AckReason, MotorCommand, PositionCommand
from ghost.hal.frames import q_rotate_inverse
from tests.gz_world_server.launch import ServerProcess

STEP_NS = 4_000_000
SENSORS = {
    "imu_sensor/imu": 250,
    "air_pressure_sensor/air_pressure": 50,
    "magnetometer_sensor/magnetometer": 100,
    "navsat_sensor/navsat": 30,
}

OwnServer = Callable[..., GazeboBackend]
Attach = Callable[..., GazeboBackend]
StartServer = Callable[..., ServerProcess]


@pytest.fixture
def scenario(scenario: ScenarioSpec) -> ScenarioSpec:
    """The x500 on the ground, left to PX4's bridge."""
    return replace(scenario, initial=InitialState(), autopilot=AutopilotSpec(link="gz_bridge"))


class Pilot:
    """What an autopilot is to Gazebo: it finds its model by the environment, and sets motors."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.node: Node = open_node(TransportOptions.from_environ(environ))
        world, self.model = environ["PX4_GZ_WORLD"], environ["PX4_GZ_MODEL_NAME"]
        self.link = f"/world/{world}/model/{self.model}/link/base_link/sensor"
        topic = f"/{self.model}/command/motor_speed"
        self.publisher = self.node.advertise(topic, gz_type(Actuators))

    def say(self, *speeds: float) -> None:
        """One message, without a header, as PX4 sends it."""
        self.publisher.publish(Actuators(velocity=speeds).SerializeToString())

    def read(self) -> dict[str, list[Incoming]]:
        """What its sensors have said, by the end of the topic."""
        heard: dict[str, list[Incoming]] = {end: [] for end in SENSORS}
        while (message := self.node.receive(0.05)) is not None:
            heard[message.topic.removeprefix(f"{self.link}/")].append(message)
        return heard

    def subscribe(self) -> None:
        """Listen to the sensors, from now on."""
        for end in SENSORS:
            assert self.node.subscribe(f"{self.link}/{end}").wait_for_publisher(5.0)


@pytest.fixture
def board() -> Iterator[Callable[[GazeboBackend], Pilot]]:
    """A pilot for the model of a backend, heard by the world and by the backend."""
    pilots: list[Pilot] = []

    def take(backend: GazeboBackend) -> Pilot:
        ears = backend.bridge()
        pilots.append(Pilot(ears.environ))
        # Both have to be connected: a step and a message, until the message is heard as echoed.
        host = HostClock()
        end_ns = host.now_ns() + 20_000_000_000
        while True:
            assert host.now_ns() < end_ns
            backend.step(STEP_NS)
            pilots[-1].say(0.0, 0.0, 0.0, 0.0)
            if ears.receive_motors(0.05) is not None:
                return pilots[-1]

    yield take
    for pilot in pilots:
        pilot.node.close()


def test_the_rotors_turn_as_the_autopilot_says(
    own_server: OwnServer, scenario: ScenarioSpec, board: Callable[[GazeboBackend], Pilot]
) -> None:
    _lift(own_server(), scenario, board)


@pytest.mark.skipif(find_gz() is None, reason="no Gazebo Sim here: apt-get install gz-harmonic")
@pytest.mark.slow
def test_so_they_do_in_a_real_gazebo(
    scenario: ScenarioSpec, board: Callable[[GazeboBackend], Pilot]
) -> None:
    with GazeboBackend() as backend:
        _lift(backend, scenario, board)
        assert backend.capabilities.extensions["command_proof"] == "echo"


def _lift(
    backend: GazeboBackend, scenario: ScenarioSpec, board: Callable[[GazeboBackend], Pilot]
) -> None:
    backend.reset(scenario, 1)
    pilot = board(backend)
    ears = backend.bridge()
    for step in range(150):
        speeds = (800.0 + step, 800.0 + step, 1234.0, 1234.0)
        pilot.say(*speeds)
        assert ears.receive_motors(5.0) == speeds
        backend.step(STEP_NS)
        assert ears.receive_motors(0.0) is None, "one message, one answer"
    truth = backend.ground_truth()
    top = scenario.vehicle.motor.max_rad_s
    assert truth.motor_rps[2:] == pytest.approx([top, top], abs=0.5)
    assert 940.0 < truth.motor_rps[0] < 949.0, "they follow, with their lag"
    assert truth.motor_rps[1] == truth.motor_rps[0]
    assert truth.pos_enu_m[2] > 0.3, "and they lift it"
    assert ears.unusable == 0


def test_a_message_of_the_step_before_is_not_the_answer_to_this_one(
    own_server: OwnServer, scenario: ScenarioSpec, board: Callable[[GazeboBackend], Pilot]
) -> None:
    backend = own_server()
    backend.reset(scenario, 1)
    pilot = board(backend)
    ears = backend.bridge()
    backend.step(STEP_NS)
    before = ears.passed_over
    pilot.say(500.0, 500.0, 500.0, 500.0)
    while ears.speeds_rad_s[0] != 500.0:
        backend.step(STEP_NS)
    assert ears.receive_motors(0.05) is None
    assert ears.passed_over == before + 1
    pilot.say(600.0, 600.0, 600.0, 600.0)
    pilot.say(700.0, 700.0, 700.0, 700.0)
    assert [ears.receive_motors(5.0), ears.receive_motors(5.0)] == [(600.0,) * 4, (700.0,) * 4]
    assert ears.receive_motors(0.0) is None


def test_what_is_no_command_for_the_vehicle_is_counted_and_left_alone(
    own_server: OwnServer, scenario: ScenarioSpec, board: Callable[[GazeboBackend], Pilot]
) -> None:
    backend = own_server()
    backend.reset(scenario, 1)
    pilot = board(backend)
    ears = backend.bridge()
    backend.step(STEP_NS)
    pilot.publisher.publish(b"\xff\xff\xff")
    pilot.say(300.0, 300.0)
    pilot.say(400.0, 400.0, 400.0, 400.0)
    assert ears.receive_motors(5.0) == (400.0,) * 4
    assert ears.unusable == 2


def test_every_other_command_is_refused_and_says_why(
    own_server: OwnServer, scenario: ScenarioSpec
) -> None:
    backend = own_server()
    backend.reset(scenario, 1)
    sink = backend.actuators()
    for command in (MotorCommand(np.full(4, 0.5)), PositionCommand(np.zeros(3))):
        ack = sink.send(command, 0)
        assert ack.reason is AckReason.UNSUPPORTED_LEVEL
        assert "gz_bridge" in ack.detail
    assert sink.spec.levels == backend.capabilities.actuator_levels == ()
    assert not backend.capabilities.deterministic
    for _ in range(5):
        backend.step(STEP_NS)
    assert backend.ground_truth().motor_rps.tolist() == [0.0] * 4
    backend.shutdown()
    assert sink.send(PositionCommand(np.zeros(3)), 0).reason is AckReason.CLOSED


def test_ghosts_own_world_has_no_bridge_and_the_same_sink(
    own_server: OwnServer, scenario: ScenarioSpec
) -> None:
    backend = own_server()
    backend.reset(scenario, 1)
    sink = backend.actuators()
    backend.reset(replace(scenario, autopilot=None), 1)
    assert backend.actuators() is sink
    assert sink.send(PositionCommand(np.zeros(3)), 0).accepted
    backend.step(3 * STEP_NS)
    with pytest.raises(ContractViolation, match="gz_bridge"):
        backend.bridge()
    simulated = replace(scenario, autopilot=AutopilotSpec(link="simulator"))
    with pytest.raises(ConfigError, match="autopilot"):
        backend.reset(simulated, 1)  # Px4Backend carries the motors there


def test_one_step_at_a_time(own_server: OwnServer, scenario: ScenarioSpec) -> None:
    backend = own_server()
    backend.reset(scenario, 1)
    with pytest.raises(ContractViolation, match="one step at a time"):
        backend.step(2 * STEP_NS)
    assert backend.step(STEP_NS).now_ns == STEP_NS


def test_a_reset_is_one_of_the_world(
    own_server: OwnServer, scenario: ScenarioSpec, board: Callable[[GazeboBackend], Pilot]
) -> None:
    backend = own_server()
    backend.reset(scenario, 1)
    session = backend._session
    pilot = board(backend)
    pilot.say(900.0, 900.0, 900.0, 900.0)
    assert backend.bridge().receive_motors(5.0) is not None
    for _ in range(100):
        backend.step(STEP_NS)
    assert backend.ground_truth().pos_enu_m[2] > 0.3
    pilot.node.close()
    backend.reset(scenario, 2)
    assert backend._session is session
    assert not backend.bridge().speeds_rad_s[0]
    for _ in range(100):
        backend.step(STEP_NS)
    truth = backend.ground_truth()
    assert truth.motor_rps.tolist() == [0.0] * 4
    assert truth.vel_enu_mps == pytest.approx([0.0] * 3, abs=1e-3), "it stands again"
    other = AutopilotSpec(link="gz_bridge", airframe=4010)
    backend.reset(replace(scenario, autopilot=other), 2)
    assert backend.bridge().environ["PX4_SYS_AUTOSTART"] == "4010"


def test_the_sensors_of_the_bridge(
    own_server: OwnServer, scenario: ScenarioSpec, board: Callable[[GazeboBackend], Pilot]
) -> None:
    """Their names, rates and axes are PX4's; they have noise, and Ghost's own have none."""
    vehicle = scenario.vehicle
    ideal = tuple(replace(sensor, noise=None) for sensor in vehicle.sensors)
    turned = InitialState(rpy_deg=(0.0, 0.0, 30.0))
    scenario = replace(scenario, vehicle=replace(vehicle, sensors=ideal), initial=turned)
    backend = own_server()
    backend.reset(scenario, 1)
    pilot = board(backend)
    pilot.subscribe()
    for _ in range(260):
        backend.step(STEP_NS)
    heard = pilot.read()
    for end, rate_hz in SENSORS.items():
        assert len(heard[end]) == pytest.approx(1.04 * rate_hz, abs=3), end
    imus = [IMU.FromString(message.data) for message in heard["imu_sensor/imu"][-100:]]
    force = np.array([[m.linear_acceleration.x, m.linear_acceleration.z] for m in imus])
    assert force.mean(axis=0) == pytest.approx([0.0, 9.8], abs=0.01)
    assert 0.003 < force[:, 0].std() < 0.012
    fields = [
        Magnetometer.FromString(message.data).field_tesla
        for message in heard["magnetometer_sensor/magnetometer"]
    ]
    # PX4's bridge takes (-y, -x, z) for front, right, down, in gauss.
    front, right, down = np.mean([(-m.y, -m.x, m.z) for m in fields], axis=0)
    truth = backend.ground_truth()
    x, y, z = q_rotate_inverse(truth.q_enu_flu.tolist(), scenario.world.magnetic_field_enu_t)
    assert (down, math.hypot(front, right)) == pytest.approx(
        (-1e4 * z, 1e4 * math.hypot(x, y)), abs=1e-3
    )
    assert len({m.x for m in fields}) > 50
    pressures = [
        FluidPressure.FromString(message.data).pressure
        for message in heard["air_pressure_sensor/air_pressure"]
    ]
    assert len(set(pressures)) > 25
    fix = NavSat.FromString(heard["navsat_sensor/navsat"][-1].data)
    origin = scenario.world.origin
    assert (fix.latitude_deg, fix.longitude_deg) == pytest.approx((origin.lat_deg, origin.lon_deg))
    ghosts = [sample.payload.accel_mps2[2] for sample in backend.sensors()["imu0"].poll()][-50:]
    assert np.std(ghosts) < 1e-6


def test_the_environment_leads_to_the_model(own_server: OwnServer, scenario: ScenarioSpec) -> None:
    backend = own_server()
    backend.reset(scenario, 1)
    ears = backend.bridge()
    assert (ears.world, ears.model) == ("w", "ghost_x500")
    wanted = {
        "PX4_GZ_STANDALONE": "1",
        "PX4_GZ_WORLD": "w",
        "PX4_GZ_MODEL_NAME": "ghost_x500",
        "PX4_SIM_MODEL": "gz_x500",
        "PX4_SYS_AUTOSTART": "4001",
        "GZ_IP": "127.0.0.1",
    }
    assert wanted.items() <= ears.environ.items()
    session = backend._session
    assert session is not None
    assert TransportOptions.from_environ(ears.environ) == session._network


def test_the_environment_has_all_of_the_network() -> None:
    network = TransportOptions(
        partition="p",
        ip="127.0.0.2",
        multicast_ip="239.1.2.3",
        msg_port=11000,
        srv_port=11001,
        relays=("127.0.0.3", "127.0.0.4"),
        username="u",
        password="secret",
        topic_statistics=True,
    )
    environ = bridge_environ(AutopilotSpec(link="gz_bridge", airframe=4019), network, "w", "m")
    assert TransportOptions.from_environ(environ) == network
    assert environ["PX4_SYS_AUTOSTART"] == "4019"


def test_nobody_is_connected_until_somebody_is(
    own_server: OwnServer, scenario: ScenarioSpec, board: Callable[[GazeboBackend], Pilot]
) -> None:
    backend = own_server()
    backend.reset(scenario, 1)
    pilot = board(backend)
    assert backend.bridge().connected
    pilot.node.close()
    host = HostClock()
    end_ns = host.now_ns() + 10_000_000_000
    while backend.bridge().connected:
        assert host.now_ns() < end_ns
        backend.step(STEP_NS)


def test_an_attached_world_needs_the_sensors_of_the_bridge(
    start_server: StartServer, attach: Attach, scenario: ScenarioSpec
) -> None:
    with pytest.raises(ConfigError, match="PX4's imu_sensor"):
        attach(start_server()).reset(scenario, 1)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (
            lambda s: replace(
                s,
                step_ns=2_000_000,
                physics_step_ns=2_000_000,
                vehicle=replace(
                    s.vehicle,
                    sensors=(
                        replace(s.vehicle.sensors[0], rate_hz=500.0),
                        *s.vehicle.sensors[1:],
                    ),
                ),
            ),
            "step_ns",
        ),
        (
            lambda s: replace(
                s,
                vehicle=replace(
                    s.vehicle,
                    outputs=tuple(OutputSpec(n, rotor=n, reversed=n == 2) for n in range(4)),
                ),
            ),
            "vehicle.outputs.2.reversed",
        ),
        (
            lambda s: replace(
                s,
                vehicle=replace(
                    s.vehicle,
                    sensors=(
                        *s.vehicle.sensors,
                        replace(s.vehicle.sensors[0], id="navsat_sensor"),
                    ),
                ),
            ),
            "vehicle.sensors",
        ),
    ],
)
def test_what_the_bridge_cannot_do_is_refused(
    own_server: OwnServer,
    scenario: ScenarioSpec,
    change: Callable[[ScenarioSpec], ScenarioSpec],
    key: str,
) -> None:
    with pytest.raises(ConfigError) as caught:
        own_server().reset(change(scenario), 1)
    assert caught.value.key == key
