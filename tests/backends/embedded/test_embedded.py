"""What is peculiar to the embedded world: MuJoCo's renderer, its log, its own reset."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ghost.backends.embedded import EmbeddedBackend, rendering_status
from ghost.backends.embedded import backend as backend_module
from ghost.backends.embedded.engine import MujocoEngine
from ghost.backends.embedded.model import build_xml
from ghost.config import load_vehicle
from ghost.core import BoxObstacle, CameraSpec, ScenarioSpec, WorldSpec
from ghost.physics import lump


@pytest.fixture
def cameras() -> ScenarioSpec:
    return ScenarioSpec(
        name="cameras", vehicle=load_vehicle("x500_sensors"), duration_ns=1_000_000_000
    )


def test_without_a_renderer_colour_cameras_are_reported_missing(
    monkeypatch: pytest.MonkeyPatch, cameras: ScenarioSpec
) -> None:
    why = "no OpenGL context for colour images"
    monkeypatch.setattr(backend_module, "rendering_status", lambda: (False, why, "apt-get …"))
    backend = EmbeddedBackend()
    backend.reset(cameras, 0)
    assert backend.capabilities.extensions["missing_sensors"] == {"cam_front": why}
    assert "cam_front" not in backend.sensors()
    assert {"depth_front", "lidar0", "imu0"} <= set(backend.sensors())
    backend.step(200_000_000)
    assert backend.sensors()["depth_front"].poll()  # needs no OpenGL
    backend.shutdown()


def test_without_colour_cameras_no_renderer_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> tuple[bool, str, str]:
        raise AssertionError("looked for OpenGL without need")

    monkeypatch.setattr(backend_module, "rendering_status", fail)
    backend = EmbeddedBackend()
    backend.reset(ScenarioSpec(name="plain", vehicle=load_vehicle("x500"), duration_ns=10**9), 0)
    backend.shutdown()


def test_a_diverged_world_leaves_no_log_and_prints_nothing(tmp_path: Path) -> None:
    """MuJoCo would write MUJOCO_LOG.TXT into the folder it runs in, and reset itself in silence."""
    code = textwrap.dedent("""
        from dataclasses import replace
        from ghost.backends.embedded import EmbeddedBackend
        from ghost.config import load_vehicle
        from ghost.core import BackendLost, InitialState, ScenarioSpec
        fast = InitialState(pos_enu_m=(0.0, 0.0, 5.0), vel_enu_mps=(1e3, 0.0, 1e3))
        vehicle = load_vehicle("x500")
        vehicle = replace(vehicle, motor=replace(vehicle.motor, drag_coeff=100.0))
        backend = EmbeddedBackend()
        backend.reset(ScenarioSpec("wild", vehicle, 10**9, initial=fast), 0)
        from ghost.hal import MotorCommand
        import numpy
        backend.actuators().send(MotorCommand(numpy.ones(4)), 0)
        try:
            for _ in range(20):
                backend.step(4_000_000)
        except BackendLost:
            print("lost")
    """)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    assert (done.stdout, done.stderr) == ("lost\n", "")
    assert list(tmp_path.iterdir()) == []


def test_model_has_the_figures_of_the_vehicle(cameras: ScenarioSpec) -> None:
    box = BoxObstacle((1.0, 2.0, 3.0), (0.2, 0.4, 0.6), yaw_deg=90.0, color_rgb=(0.1, 0.2, 0.3))
    scenario = replace(cameras, world=WorldSpec(gravity_mps2=3.7, obstacles=(box,)))
    root = ElementTree.fromstring(build_xml(scenario))

    def figures(path: str, attribute: str) -> list[float]:
        found = root.find(path)
        assert found is not None
        return [float(word) for word in found.attrib[attribute].split()]

    whole = lump(scenario.vehicle)
    inertial = "worldbody/body[@name='vehicle']/inertial"
    assert figures(inertial, "mass") == [whole.mass_kg]
    assert figures(inertial, "pos") == list(whole.com_m)
    assert figures(inertial, "diaginertia") == list(whole.inertia_kgm2[:3])
    assert figures("option", "gravity") == [0.0, 0.0, -3.7]
    assert figures("option", "timestep") == [0.001]
    obstacle = "worldbody/geom[@name='obstacle0']"
    assert figures(obstacle, "pos") == [1.0, 2.0, 3.0]
    assert figures(obstacle, "size") == [0.1, 0.2, 0.3]
    assert figures(obstacle, "quat") == pytest.approx([0.5**0.5, 0.0, 0.0, 0.5**0.5])
    assert figures(obstacle, "rgba") == [0.1, 0.2, 0.3, 1.0]


@pytest.mark.gl
def test_a_picture_too_large_for_the_buffer_is_refused(cameras: ScenarioSpec) -> None:
    """Not filled with whatever the memory held before."""
    available, why, _ = rendering_status()
    if not available:
        pytest.skip(why)
    engine = MujocoEngine()
    engine.reset(cameras, (0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="4096x16 does not fit into the buffer"):
        engine.image(CameraSpec(4096, 16, 60.0), (0.0, 0.0, 2.0), (1.0, 0.0, 0.0, 0.0))
    engine.close()
