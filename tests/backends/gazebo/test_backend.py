"""The Gazebo backend on the test server: what the conformance suite does not ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from ghost.backends.embedded import EmbeddedBackend
from ghost.backends.gazebo import GazeboBackend
from ghost.config import load_scenario
from ghost.core import (
    EventType,
    FaultSpec,
    GnssNoise,
    HostClock,
    InitialState,
    MountSpec,
    NoiseModel,
    RandomStream,
    ScenarioSpec,
    SensorConfig,
)
from ghost.hal import MotorCommand, RunDigest, SensorHealth, SimulationBackend
from ghost.runtime import BACKENDS, make_backend
from tests.gz_world_server.launch import ServerProcess

STEP_NS = 4_000_000

OwnServer = Callable[..., GazeboBackend]
Attach = Callable[..., GazeboBackend]
StartServer = Callable[..., ServerProcess]


def _commands(steps: int) -> list[MotorCommand]:
    thrusts = np.asarray(RandomStream(5).uniform(0.28, 0.32, size=(steps, 4)))
    return [MotorCommand(thrust) for thrust in thrusts]


def _digest(backend: SimulationBackend, steps: int = 250) -> str:
    digest = RunDigest()
    for command in _commands(steps):
        digest.update(backend.actuators().send(command, backend.clock.now_ns()))
        backend.step(STEP_NS)
        for _, provider in sorted(backend.sensors().items()):
            for sample in provider.poll():
                digest.update(sample)
        digest.update(backend.ground_truth())
    return digest.hexdigest()


def test_motor_flights_are_one_digest(own_server: OwnServer, scenario: ScenarioSpec) -> None:
    """On one server with a reset between, and on a fresh one."""
    backend = own_server()
    backend.reset(scenario, 7)
    first = _digest(backend)
    backend.reset(scenario, 7)
    assert _digest(backend) == first
    fresh = own_server()
    fresh.reset(scenario, 7)
    assert _digest(fresh) == first
    fresh.reset(scenario, 8)
    assert _digest(fresh) != first, "another seed, other noise"


def test_a_reset_keeps_the_server_unless_told(
    own_server: OwnServer, scenario: ScenarioSpec
) -> None:
    backend = own_server()
    backend.reset(scenario, 1)
    session = backend._session
    backend.step(STEP_NS)
    backend.reset(replace(scenario, faults=(FaultSpec(0, "imu0", "nan"),)), 2)
    assert backend._session is session, "faults and seeds are ours"
    backend.reset(replace(scenario, initial=InitialState(pos_enu_m=(0.0, 0.0, 9.0))), 2)
    assert backend._session is not session, "another start is another world file"
    restarting = own_server(reset="restart")
    restarting.reset(scenario, 1)
    session = restarting._session
    restarting.reset(scenario, 1)
    assert restarting._session is not session


def test_attached_the_vehicle_is_put_at_its_start(
    start_server: StartServer, attach: Attach, scenario: ScenarioSpec
) -> None:
    backend = attach(start_server())
    for start in ((1.0, -2.0, 6.0), (-3.0, 0.5, 4.0)):
        initial = InitialState(pos_enu_m=start, rpy_deg=(0.0, 0.0, 50.0))
        backend.reset(replace(scenario, initial=initial), 1)
        truth = backend.ground_truth()
        assert truth.pos_enu_m == pytest.approx(start)
        backend.step(STEP_NS)
        truth = backend.ground_truth()
        assert truth.pos_enu_m == pytest.approx(start, abs=1e-3)
        assert 2.0 * np.arccos(truth.q_enu_flu[0]) == pytest.approx(np.radians(50.0), abs=1e-3)


def test_worlds_agree_on_what_they_measure(own_server: OwnServer, scenario: ScenarioSpec) -> None:
    """Ideal sensors, the same motor commands: sample by sample the embedded world's.

    The second receiver measures the velocity of its antenna, which stands on a mast.
    """
    sensors = tuple(replace(s, noise=None) for s in scenario.vehicle.sensors)
    (gps,) = (s for s in sensors if s.type == "gps")
    moving = NoiseModel(gnss=GnssNoise(velocity_sigma_mps=0.0))
    mast = MountSpec(pos_m=(0.1, -0.2, 0.3))
    sensors = (*sensors, replace(gps, id="gps1", noise=moving, mount=mast))
    scenario = replace(scenario, vehicle=replace(scenario.vehicle, sensors=sensors))
    embedded, gazebo = EmbeddedBackend(), own_server()
    for backend in (embedded, gazebo):
        backend.reset(scenario, 1)
    for command in _commands(125):
        for backend in (embedded, gazebo):
            backend.actuators().send(command, backend.clock.now_ns())
            backend.step(STEP_NS)
    embedded_truth, gazebo_truth = embedded.ground_truth(), gazebo.ground_truth()
    for name in ("pos_enu_m", "vel_enu_mps", "rate_flu_rps", "motor_rps"):
        ours, theirs = getattr(embedded_truth, name), getattr(gazebo_truth, name)
        assert theirs == pytest.approx(ours, abs=1e-6), name
    limits = {"imu0": 1e-6, "mag0": 1e-12, "baro0": 1.0, "altimeter0": 1e-6, "gps0": 1e-5}
    for sensor_id, limit in limits.items():
        ours = embedded.sensors()[sensor_id].poll()
        theirs = gazebo.sensors()[sensor_id].poll()
        assert [s.stamp_sim_ns for s in ours] == [s.stamp_sim_ns for s in theirs], sensor_id
        for a, b in zip(ours, theirs, strict=True):
            assert _numbers(b.payload) == pytest.approx(_numbers(a.payload), abs=limit), sensor_id
            assert not a.meta.extensions
            assert not b.meta.extensions
    mine, other = (
        np.array([s.meta.extensions["vel_enu_mps"] for s in world.sensors()["gps1"].poll()])
        for world in (embedded, gazebo)
    )
    assert len(mine) > 10
    np.testing.assert_allclose(other, mine, atol=1e-6)
    assert np.ptp(mine, axis=0).min() > 0.01
    embedded.shutdown()


def _numbers(payload: object) -> list[float]:
    for names in (("accel_mps2", "gyro_rps"), ("field_t",), ("enu_local_m",)):
        if hasattr(payload, names[0]):
            return [float(x) for name in names for x in getattr(payload, name)]
    for name in ("pressure_pa", "altitude_m"):
        if hasattr(payload, name):
            return [float(getattr(payload, name))]
    raise AssertionError(payload)


def test_the_recorded_flight_again(own_server: OwnServer, parity: ModuleType) -> None:
    """Five seconds of the recorded commands stay within 5 cm and 2 degrees of the recording."""
    rows = [row for row in parity.read_capture() if row.t_ns <= 5_000_000_000]
    apart = parity.fly(own_server(), rows)[-1]
    assert apart.t_s == pytest.approx(5.0)
    assert apart.position_m < 0.05
    assert apart.attitude_deg < 2.0


def test_the_report_keeps_gazebos_part_where_there_is_none(parity: ModuleType) -> None:
    page = parity.REPORT.read_text(encoding="utf-8")
    rows = [row for row in parity.read_capture() if row.t_ns <= 4_000_000]
    assert rows
    old = parity.section_of(page, "gazebo")
    assert any("Gazebo Sim" in line for line in old)
    assert parity.section_of(parity.report({}, None, page), "gazebo") == old
    assert "## gazebo" not in parity.report({}, None, "")


@pytest.mark.gl
def test_images_and_scans_arrive_at_their_time(
    own_server: OwnServer, scenario: ScenarioSpec
) -> None:
    vehicle = replace(
        scenario.vehicle,
        sensors=tuple(
            replace(s, rate_hz=20.0, latency_ns=0)
            for s in load_scenario("all_sensors").vehicle.sensors
            if s.type in ("imu", "rgb", "depth", "lidar", "optical_flow")
        ),
    )
    boxes = load_scenario("all_sensors").world.obstacles
    backend = own_server("--render-ms", "8")
    seeing = replace(scenario, vehicle=vehicle, world=replace(scenario.world, obstacles=boxes))
    backend.reset(seeing, 1)
    missing = backend.capabilities.extensions["missing_sensors"]
    assert list(missing) == ["flow0"]
    faults = [event for _ in range(40) for event in backend.step(STEP_NS).faults]
    assert not faults
    for sensor_id in ("cam_front", "depth_front", "lidar0"):
        samples = backend.sensors()[sensor_id].poll()
        assert [s.stamp_sim_ns for s in samples] == [52_000_000, 100_000_000, 152_000_000]
        assert all(s.health is SensorHealth.OK for s in samples)


@pytest.mark.gl
def test_a_renderer_that_is_too_slow_degrades_and_never_stalls(
    own_server: OwnServer, scenario: ScenarioSpec
) -> None:
    camera = next(s for s in load_scenario("all_sensors").vehicle.sensors if s.type == "rgb")
    camera = replace(camera, rate_hz=25.0, latency_ns=0, noise=None)
    vehicle = replace(scenario.vehicle, sensors=(camera, scenario.vehicle.sensors[0]))
    backend = own_server("--render-ms", "4000", image_deadline_s=0.1)
    backend.reset(replace(scenario, vehicle=vehicle), 1)
    host = HostClock()
    start_ns = host.now_ns()
    events = [event for _ in range(25) for event in backend.step(STEP_NS).faults]
    assert (host.now_ns() - start_ns) * 1e-9 < 6.0
    assert [event.type for event in events] == [EventType.SENSOR_FAULT]
    assert backend.sensors()["cam_front"].health is SensorHealth.DEGRADED
    assert len(backend.sensors()["imu0"].poll()) == 25


def test_a_tilted_sensor_is_tilted(own_server: OwnServer, scenario: ScenarioSpec) -> None:
    imu = SensorConfig("imu0", "imu", 250.0, mount=MountSpec(rpy_deg=(180.0, 0.0, 0.0)))
    vehicle = replace(scenario.vehicle, sensors=(imu,))
    standing = replace(scenario, vehicle=vehicle, initial=InitialState())
    backend = own_server()
    backend.reset(standing, 1)
    backend.step(250 * STEP_NS)
    sample = backend.sensors()["imu0"].poll()[-1]
    assert sample.payload.accel_mps2 == pytest.approx([0.0, 0.0, -9.8], abs=0.02)


def test_the_table_of_backends_has_it() -> None:
    (entry,) = [entry for entry in BACKENDS if entry.name == "gazebo"]
    assert entry.prefix == "gz"
    backend = make_backend("gazebo", {"gz.attach": "somewhere", "gz.deadline_s": "1"})
    assert isinstance(backend, GazeboBackend)
    assert backend.capabilities.deterministic
    backend.shutdown()
