"""On a real Gazebo Sim, where `gz` is on the PATH."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from ghost.backends.gazebo import GazeboBackend, GazeboOptions, find_world, models_folder
from ghost.config import load_scenario
from ghost.core import BackendLost, HostClock, InitialState, RandomStream, ScenarioSpec
from ghost.gz.transport import TransportOptions
from ghost.gz.transport.identity import new_uuid
from ghost.hal import MotorCommand, RunDigest

pytestmark = [
    pytest.mark.skipif(
        shutil.which("gz") is None
        or "sim"
        not in subprocess.run(
            ["gz", "--commands"], capture_output=True, text=True, timeout=60, check=False
        ).stdout,
        reason="no Gazebo Sim here: apt-get install gz-harmonic",
    ),
    pytest.mark.slow,
    pytest.mark.timeout(300),
]

STEP_NS = 4_000_000


@pytest.fixture
def backend() -> Iterator[GazeboBackend]:
    made = GazeboBackend()
    yield made
    made.shutdown()


def _fly(backend: GazeboBackend, steps: int) -> None:
    for _ in range(steps):
        backend.step(STEP_NS)


def _digest(backend: GazeboBackend, seconds: float) -> str:
    steps = round(seconds * 1e9 / STEP_NS)
    digest = RunDigest()
    for thrust in np.asarray(RandomStream(5).uniform(0.3, 0.35, size=(steps, 4))):
        digest.update(backend.actuators().send(MotorCommand(thrust), backend.clock.now_ns()))
        backend.step(STEP_NS)
        for _, provider in sorted(backend.sensors().items()):
            for sample in provider.poll():
                digest.update(sample)
        digest.update(backend.ground_truth())
    return digest.hexdigest()


def test_flights_are_one_digest(backend: GazeboBackend, scenario: ScenarioSpec) -> None:
    scenario = replace(scenario, initial=InitialState(pos_enu_m=(0.0, 0.0, 500.0)))
    backend.reset(scenario, 7)
    first = _digest(backend, 5.0)
    backend.reset(scenario, 7)
    assert _digest(backend, 5.0) == first
    backend.shutdown()
    backend.reset(scenario, 7)
    assert _digest(backend, 5.0) == first


def test_the_report_is_current(backend: GazeboBackend, parity: ModuleType) -> None:
    page = parity.REPORT.read_text(encoding="utf-8")
    curve = parity.fly(backend, parity.read_capture())
    lines = parity.section_of(page, "gazebo")
    written = [line.strip("| ").split("|") for line in lines if re.match(r"\| \d", line)]
    assert len(written) > 10
    for t_s, position_mm, attitude_deg, *_ in written:
        flown = parity.at(curve, float(t_s))
        assert flown.position_m * 1e3 == pytest.approx(float(position_mm), abs=0.1)
        assert flown.attitude_deg == pytest.approx(float(attitude_deg), abs=0.01)


def test_images_and_scans_arrive_at_their_time(backend: GazeboBackend) -> None:
    """Also those whose period Gazebo does not keep: the camera's 15 Hz."""
    scenario = load_scenario("all_sensors", [f"physics_step_ns={STEP_NS}"])
    sensors = tuple(replace(s, noise=None, latency_ns=0) for s in scenario.vehicle.sensors)
    scenario = replace(
        scenario,
        vehicle=replace(scenario.vehicle, sensors=sensors),
        initial=InitialState(pos_enu_m=(0.0, 0.0, 1.5)),
    )
    try:
        backend.reset(scenario, 1)
    except BackendLost as error:
        if "its renderer does not work" in str(error):
            pytest.skip("this Gazebo has no renderer")
        raise
    faults = [event for _ in range(50) for event in backend.step(STEP_NS).faults]
    assert not faults
    heard = {name: provider.poll() for name, provider in backend.sensors().items()}
    stamps = {name: [s.stamp_sim_ns // 1_000_000 for s in heard[name]] for name in heard}
    assert stamps["cam_front"] == [68, 136, 200]
    assert stamps["depth_front"] == stamps["lidar0"] == [100, 200]
    # Straight ahead, from the camera 0.19 m before the middle, the red box begins at 5.75 m.
    depth = heard["depth_front"][0].payload.depth_m
    assert float(depth[120, 160]) == pytest.approx(5.75 - 0.19, abs=1e-3)
    red, green, blue = heard["cam_front"][0].payload.image[120, 160].tolist()
    assert red > 1.5 * max(green, blue)


def test_a_shipped_world_is_attached_to(scenario: ScenarioSpec) -> None:
    network = TransportOptions(partition=f"ghost_test_{new_uuid()}")
    server = subprocess.Popen(
        [
            *("env", f"GZ_SIM_RESOURCE_PATH={models_folder() / 'models'}"),
            *(f"GZ_PARTITION={network.partition}", f"GZ_IP={network.ip}"),
            *("gz", "sim", "-s", str(find_world("field"))),
        ],
        start_new_session=True,
    )
    try:
        with GazeboBackend(GazeboOptions(attach="field", network=network, deadline_s=60.0)) as made:
            for height in (5.0, 7.0):
                start = InitialState(pos_enu_m=(1.0, 2.0, height))
                made.reset(replace(scenario, initial=start), 1)
                _fly(made, 5)
                assert made.ground_truth().pos_enu_m == pytest.approx((1.0, 2.0, height), abs=0.01)
            assert made.capabilities.deterministic
            assert made.capabilities.extensions["command_proof"] == "echo"
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def test_a_killed_server_is_lost_and_replaced(
    backend: GazeboBackend, scenario: ScenarioSpec
) -> None:
    backend.reset(scenario, 1)
    _fly(backend, 10)
    session = backend._session
    assert session is not None
    server = session._server
    assert server is not None
    process = server._process
    assert process is not None
    assert process.pid is not None
    os.killpg(process.pid, signal.SIGKILL)
    host = HostClock()
    start_ns = host.now_ns()
    with pytest.raises(BackendLost):
        _fly(backend, 10)
    assert (host.now_ns() - start_ns) * 1e-9 < 12.0
    backend.reset(scenario, 1)
    backend.step(STEP_NS)
    assert len(backend.sensors()["imu0"].poll()) == 1
