"""What every backend on an engine does, whichever the engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from ghost.config import load_vehicle
from ghost.core import (
    BackendLost,
    BoxObstacle,
    CameraSpec,
    ClosedError,
    ContractViolation,
    EventType,
    InitialState,
    LidarSpec,
    MountSpec,
    ScenarioSpec,
    SensorConfig,
    WorldSpec,
)
from ghost.hal import (
    ActuatorLevel,
    AttitudeCommand,
    DepthImagePayload,
    GroundTruth,
    MotorCommand,
    PositionCommand,
    RunDigest,
    SensorHealth,
    VelocityCommand,
)
from ghost.physics import PhysicsBackend

MakeBackend = Callable[[], PhysicsBackend]
STEP_NS = 4_000_000


@pytest.fixture
def hovering() -> ScenarioSpec:
    """The x500 with its sensors, 3 m up, before a wall 6 m to the east."""
    wall = BoxObstacle((6.5, 0.0, 2.5), (1.0, 40.0, 5.0))
    return ScenarioSpec(
        name="hovering",
        vehicle=load_vehicle("x500"),
        duration_ns=10**11,
        initial=InitialState(pos_enu_m=(0.0, 0.0, 3.0)),
        world=WorldSpec(obstacles=(wall,)),
    )


def truth_of(backend: PhysicsBackend) -> GroundTruth:
    truth = backend.ground_truth()
    assert truth is not None
    return truth


def fly(backend: PhysicsBackend, scenario: ScenarioSpec, steps: int, seed: int = 3) -> str:
    """A flight with every sample, truth and ack in one digest."""
    backend.reset(scenario, seed)
    digest = RunDigest()
    for i in range(steps):
        wave = math.sin(0.05 * i)
        command = VelocityCommand(np.array([wave, 0.5, 0.2]), 0.3 * wave)
        digest.update(backend.actuators().send(command, backend.clock.now_ns()))
        backend.step(STEP_NS)
        for _, provider in sorted(backend.sensors().items()):
            for sample in provider.poll():
                digest.update(sample)
        digest.update(truth_of(backend))
    return digest.hexdigest()


def test_capabilities(make_backend: MakeBackend, hovering: ScenarioSpec) -> None:
    backend = make_backend()
    assert backend.capabilities.sensor_ids == ()
    backend.reset(hovering, 0)
    capabilities = backend.capabilities
    assert capabilities.deterministic
    assert capabilities.synchronous_step
    assert capabilities.has_ground_truth
    assert capabilities.actuator_levels == tuple(ActuatorLevel)
    assert capabilities.sensor_ids == ("altimeter0", "baro0", "gps0", "imu0", "mag0")
    assert "missing_sensors" not in capabilities.extensions


def test_reset_equals_new_and_seed_matters(
    make_backend: MakeBackend, hovering: ScenarioSpec
) -> None:
    used = make_backend()
    once = fly(used, hovering, 200)
    assert fly(used, hovering, 200) == once
    assert fly(make_backend(), hovering, 200) == once
    assert fly(used, hovering, 200, seed=4) != once


def test_two_backends_in_one_process(make_backend: MakeBackend, hovering: ScenarioSpec) -> None:
    alone = fly(make_backend(), hovering, 100)
    first, second = make_backend(), make_backend()
    second.reset(replace(hovering, seed=9), 9)
    for _ in range(30):
        second.step(STEP_NS)
    assert fly(first, hovering, 100) == alone
    second.step(STEP_NS)
    second.shutdown()
    assert fly(first, hovering, 100) == alone


def test_steps_of_different_length_give_the_same_flight(
    make_backend: MakeBackend, hovering: ScenarioSpec
) -> None:
    one, ten = make_backend(), make_backend()
    one.reset(hovering, 1)
    ten.reset(hovering, 1)
    command = PositionCommand(np.array([1.0, 1.0, 4.0]), 0.2)
    one.actuators().send(command, 0)
    ten.actuators().send(command, 0)
    reports = [one.step(STEP_NS) for _ in range(50)]
    report = ten.step(50 * STEP_NS)
    assert report.steps == 50
    assert report.now_ns == 50 * STEP_NS
    total = {sid: sum(r.samples.get(sid, 0) for r in reports) for sid in report.samples}
    assert dict(report.samples) == total
    assert truth_of(one) == truth_of(ten)
    for sid, provider in one.sensors().items():
        theirs = ten.sensors()[sid].poll()
        ours = provider.poll()
        assert [s.payload for s in ours] == [s.payload for s in theirs]
        assert [s.stamp_sim_ns for s in ours] == [s.stamp_sim_ns for s in theirs]


def test_command_of_every_level_flies(make_backend: MakeBackend, hovering: ScenarioSpec) -> None:
    """Position, velocity and attitude in one flight; the levels below are in the physics tests."""
    backend = make_backend()
    backend.reset(hovering, 0)
    sink = backend.actuators()
    sink.send(PositionCommand(np.array([1.0, -1.0, 4.0]), 1.0), 0)
    backend.step(10_000_000_000)
    truth = truth_of(backend)
    assert truth.pos_enu_m.tolist() == pytest.approx([1.0, -1.0, 4.0], abs=0.02)
    w, x, y, z = truth.q_enu_flu.tolist()
    assert math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) == pytest.approx(1.0, abs=0.01)
    sink.send(VelocityCommand(np.array([0.0, 1.0, 0.5])), backend.clock.now_ns())
    backend.step(4_000_000_000)
    assert truth_of(backend).vel_enu_mps.tolist() == pytest.approx([0.0, 1.0, 0.5], abs=0.02)
    sink.send(AttitudeCommand(np.array([1.0, 0.0, 0.0, 0.0]), 0.0), backend.clock.now_ns())
    backend.step(500_000_000)
    assert truth_of(backend).acc_enu_mps2[2] < -9.0


def test_before_reset_and_after_shutdown(make_backend: MakeBackend, hovering: ScenarioSpec) -> None:
    backend = make_backend()
    with pytest.raises(ContractViolation, match="reset"):
        backend.step(STEP_NS)
    backend.reset(hovering, 0)
    sink = backend.actuators()
    imu = backend.sensors()["imu0"]
    backend.step(STEP_NS)
    backend.shutdown()
    backend.shutdown()
    with pytest.raises(ClosedError, match="shut down"):
        backend.step(STEP_NS)
    with pytest.raises(ClosedError):
        backend.ground_truth()
    assert imu.health is SensorHealth.OFFLINE
    assert imu.poll() == []
    assert sink.send(MotorCommand(np.zeros(4)), 0).reason.name == "CLOSED"
    backend.reset(hovering, 0)
    assert backend.step(STEP_NS).now_ns == STEP_NS


@pytest.mark.parametrize("dt_ns", [STEP_NS + 1, 1_000_000, STEP_NS // 2])
def test_step_must_be_a_multiple(
    make_backend: MakeBackend, hovering: ScenarioSpec, dt_ns: int
) -> None:
    backend = make_backend()
    backend.reset(hovering, 0)
    with pytest.raises(ValueError, match=f"multiple of the scenario's step_ns {STEP_NS}"):
        backend.step(dt_ns)
    assert backend.clock.now_ns() == 0


@pytest.mark.parametrize("step_ns", [1_000_000, 4_000_000, 40_000_000])
def test_hard_landing_is_one_event(
    make_backend: MakeBackend, hovering: ScenarioSpec, step_ns: int
) -> None:
    backend = make_backend()
    dropped = replace(
        hovering,
        vehicle=replace(hovering.vehicle, sensors=()),
        step_ns=step_ns,
        initial=InitialState(pos_enu_m=(0.0, 0.0, 10.0)),
    )
    backend.reset(dropped, 0)
    events = [
        event for _ in range(3_000_000_000 // step_ns) for event in backend.step(step_ns).faults
    ]
    assert [event.type for event in events] == [EventType.CRASH]
    fall_s = math.sqrt(2.0 * (10.0 - 0.227) / 9.8)
    assert events[0].stamp_sim_ns * 1e-9 == pytest.approx(fall_s, abs=0.02 + step_ns * 1e-9)


def test_lost_world(make_backend: MakeBackend, hovering: ScenarioSpec) -> None:
    """A state that is not finite ends the run in words, and a reset starts anew."""
    backend = make_backend()
    wild = replace(
        hovering,
        initial=InitialState(pos_enu_m=(0.0, 0.0, 500.0), vel_enu_mps=(1e3, 0.0, 1e3)),
        vehicle=replace(
            hovering.vehicle,
            motor=replace(hovering.vehicle.motor, drag_coeff=10.0),
        ),
    )
    backend.reset(wild, 0)
    backend.actuators().send(MotorCommand(np.ones(4)), 0)
    with pytest.raises(BackendLost, match="diverged"):
        backend.step(250 * STEP_NS)
    with pytest.raises(BackendLost):
        backend.step(STEP_NS)
    backend.reset(hovering, 0)
    assert backend.step(STEP_NS).now_ns == STEP_NS


def test_depth_and_lidar_see_the_wall(make_backend: MakeBackend, hovering: ScenarioSpec) -> None:
    front = MountSpec(pos_m=(0.2, 0.0, 0.0))
    sensors = (
        SensorConfig(
            id="depth0",
            type="depth",
            rate_hz=50.0,
            mount=front,
            camera=CameraSpec(64, 48, 60.0, min_range_m=0.1, max_range_m=20.0),
        ),
        SensorConfig(
            id="lidar0",
            type="lidar",
            rate_hz=50.0,
            lidar=LidarSpec(columns=36, rows=1, vfov_deg=0.0, max_range_m=30.0),
        ),
        SensorConfig(id="altimeter0", type="altimeter", rate_hz=50.0),
    )
    vehicle = replace(hovering.vehicle, sensors=sensors)
    backend = make_backend()
    backend.reset(replace(hovering, vehicle=vehicle), 0)
    backend.actuators().send(VelocityCommand(np.zeros(3)), 0)
    backend.step(3_000_000_000)
    truth = truth_of(backend)
    distance = 6.0 - truth.pos_enu_m[0]
    depth = backend.sensors()["depth0"].poll()[-1].payload
    assert isinstance(depth, DepthImagePayload)
    # Depth is along the optical axis: the same over the whole wall.
    wall = depth.depth_m[12:30]
    np.testing.assert_allclose(wall, distance - 0.2, atol=5e-3)
    height = backend.sensors()["altimeter0"].poll()[-1].payload.altitude_m
    assert height == pytest.approx(truth.pos_enu_m[2], abs=1e-6)
    points = backend.sensors()["lidar0"].poll()[-1].payload.points_m
    assert points[:, 0].max() == pytest.approx(distance, abs=5e-3)
    assert len(points) > 10


def test_colour_camera(drawing_backend: PhysicsBackend, hovering: ScenarioSpec) -> None:
    camera = SensorConfig(
        id="cam0",
        type="rgb",
        rate_hz=10.0,
        mount=MountSpec(pos_m=(0.2, 0.0, 0.0)),
        camera=CameraSpec(80, 60, 60.0),
    )
    vehicle = replace(hovering.vehicle, sensors=(camera,))
    drawing_backend.reset(replace(hovering, vehicle=vehicle), 0)
    drawing_backend.step(200_000_000)
    first, second = (sample.payload.image for sample in drawing_backend.sensors()["cam0"].poll())
    assert first.shape == (60, 80, 3)
    middle = first[25:35, 35:45].mean(axis=(0, 1))
    assert middle[0] > 1.5 * middle[1]  # the wall is reddish
    assert second.shape == first.shape


@pytest.mark.parametrize("step_ns", [1_000_000, 4_000_000, 40_000_000])
def test_gentle_landing_is_no_crash(
    make_backend: MakeBackend, hovering: ScenarioSpec, step_ns: int
) -> None:
    """Down at 0.7 m/s: no crash in an engine with soft contacts nor in one with stiff contacts."""
    vehicle = replace(hovering.vehicle, sensors=())
    scenario = replace(
        hovering,
        vehicle=vehicle,
        step_ns=step_ns,
        initial=InitialState(pos_enu_m=(0.0, 0.0, 1.0)),
    )
    backend = make_backend()
    backend.reset(scenario, 0)
    backend.actuators().send(VelocityCommand(np.array([0.0, 0.0, -0.7])), 0)
    report = backend.step(3_000_000_000 // step_ns * step_ns)
    assert report.faults == ()
    assert truth_of(backend).pos_enu_m[2] == pytest.approx(0.227, abs=0.005)


def test_flow_of_the_shipped_vehicle_sees_the_ground(make_backend: MakeBackend) -> None:
    vehicle = load_vehicle("x500_sensors")
    flow = replace(next(s for s in vehicle.sensors if s.type == "optical_flow"), noise=None)
    scenario = ScenarioSpec(
        name="flow",
        vehicle=replace(vehicle, sensors=(flow,)),
        duration_ns=10**11,
        initial=InitialState(pos_enu_m=(0.0, 0.0, 2.0)),
    )
    backend = make_backend()
    backend.reset(scenario, 0)
    backend.actuators().send(VelocityCommand(np.array([1.0, 0.0, 0.0])), 0)
    backend.step(8_000_000_000)
    payload = backend.sensors()[flow.id].poll()[-1].payload
    truth = truth_of(backend)
    height = truth.pos_enu_m[2] + flow.mount.pos_m[2]
    assert payload.distance_m == pytest.approx(height, rel=0.02)
    assert payload.quality == 255
    seconds = payload.integration_ns * 1e-9
    assert payload.flow_rad[1] == pytest.approx(-1.0 / height * seconds, rel=0.05)
