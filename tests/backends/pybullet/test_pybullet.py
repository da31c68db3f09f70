"""What is peculiar to PyBullet: an optional package that prints when it is loaded."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
from dataclasses import replace
from importlib.util import find_spec

import pytest

from ghost.backends.pybullet import PyBulletBackend
from ghost.config import load_vehicle
from ghost.core import MissingDependency, ScenarioSpec, SensorConfig

needs_pybullet = pytest.mark.skipif(
    find_spec("pybullet") is None, reason="pybullet is not installed"
)


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_missing_package_says_which_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pybullet", raising=False)
    real = importlib.import_module

    def refuse(name: str, package: str | None = None) -> object:
        if name == "pybullet":
            raise ModuleNotFoundError("No module named 'pybullet'", name="pybullet")
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(MissingDependency) as caught:
        PyBulletBackend()
    assert str(caught.value) == (
        "the backend 'pybullet' needs pybullet, which is not installed; "
        'install it with: pip install "ghost-hal[pybullet]"'
    )


def test_import_of_the_room_does_not_load_the_package() -> None:
    done = run_python("""
        import sys
        import ghost.backends.pybullet
        print("pybullet" in sys.modules)
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "False\n", "")


@needs_pybullet
@pytest.mark.pybullet
def test_nothing_but_our_own_output() -> None:
    """Neither stream has a word of the package's, and what we print still arrives, in order."""
    done = run_python("""
        import sys
        from ghost.backends.pybullet import PyBulletBackend
        from ghost.config import load_scenario
        print("before")
        backend = PyBulletBackend()
        scenario = load_scenario("hover")
        backend.reset(scenario, 0)
        backend.step(scenario.step_ns)
        backend.shutdown()
        print("after")
        print("error", file=sys.stderr)
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "before\nafter\n", "error\n")


@needs_pybullet
@pytest.mark.pybullet
def test_closed_standard_output_is_no_obstacle() -> None:
    done = run_python("""
        import os, sys
        os.close(1)
        from ghost.backends.pybullet import PyBulletBackend
        print(PyBulletBackend().capabilities.extensions["engine"].split()[0], file=sys.stderr)
    """)
    assert "pybullet\n" in done.stderr


@needs_pybullet
@pytest.mark.pybullet
def test_event_camera_is_reported_missing() -> None:
    vehicle = load_vehicle("x500")
    sensors = (*vehicle.sensors, SensorConfig(id="event0", type="event_camera", rate_hz=10.0))
    scenario = ScenarioSpec(
        name="events", vehicle=replace(vehicle, sensors=sensors), duration_ns=10**9
    )
    backend = PyBulletBackend()
    backend.reset(scenario, 0)
    assert "event0" not in backend.sensors()
    missing = backend.capabilities.extensions["missing_sensors"]
    assert missing == {"event0": "this world has no event camera"}
    backend.shutdown()
