"""The Gazebo backend on the test server (`tests/gz_world_server`) instead of a real Gazebo."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from pathlib import Path

from ghost.backends.gazebo import GazeboBackend, GazeboOptions
from ghost.backends.gazebo.process import Launch
from ghost.core import ScenarioSpec

__all__ = ["ROOT", "launch_with", "make"]

ROOT = Path(__file__).resolve().parents[3]


def launch_with(*arguments: str) -> Launch:
    """A launch of the test server with more arguments, such as `--mute-at-ns`."""

    def launch(sdf: Path, scenario: ScenarioSpec, seed: int, partition: str) -> Sequence[str]:
        told = sdf.with_suffix(".pickle")
        told.write_bytes(pickle.dumps(scenario))
        step_ns = str(scenario.physics_step_ns)
        return [
            *("env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "tests.gz_world_server"),
            *("--scenario", str(told), "--partition", partition, "--step-ns", step_ns),
            *("--seed", str(seed), *arguments),
        ]

    return launch


def make(options: GazeboOptions | None = None) -> GazeboBackend:
    """A backend that starts a test server for each world; a subprocess can import it."""
    return GazeboBackend(options, launch=launch_with())
