"""A Gazebo server of our own: started for a world, kept, and never left behind."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from ghost.core import KeptProcess, MissingDependency, ScenarioSpec

__all__ = ["INSTALL", "Launch", "ServerProcess", "find_gz", "gz_launch"]

INSTALL = (
    "apt-get install gz-harmonic (see gazebosim.org/docs/harmonic/install), or conda install -c "
    "conda-forge gz-sim8; or use a server that runs elsewhere: --set gz.attach=WORLD"
)

Launch = Callable[[Path, ScenarioSpec, int, str], Sequence[str]]
"""SDF file, scenario, seed and partition → what serves the world, paused, in the foreground."""


def find_gz() -> str | None:
    """The path of the `gz` command, or None."""
    return shutil.which("gz")


def gz_launch(sdf: Path, scenario: ScenarioSpec, seed: int, _partition: str) -> Sequence[str]:
    """`gz sim -s`: the real server, without a window. Its environment says the partition.

    `--seed` is for whatever noise a world of somebody else's has; ours have none. Raises
    `MissingDependency` without `gz` on the PATH.
    """
    gz = find_gz()
    if gz is None:
        raise MissingDependency("gz", needed_for="the backend 'gazebo'", install=INSTALL)
    command = [gz, "sim", "-s", "-v", "2", "--seed", str(seed % 2**31)]
    if any(sensor.camera or sensor.lidar for sensor in scenario.vehicle.sensors):
        command.append("--headless-rendering")
    return [*command, str(sdf)]


class ServerProcess:
    """One running server. `stop` ends it with everything it started; so does our own death."""

    def __init__(self, sdf_text: str, scenario: ScenarioSpec, seed: int, launch: Launch) -> None:
        self._launch = launch
        self._seed = seed
        self._scenario = scenario
        self._sdf_text = sdf_text
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._process: KeptProcess | None = None

    def start(self, partition: str, ip: str) -> None:
        """Start the server in a partition of its own."""
        self._folder = tempfile.TemporaryDirectory(prefix="ghost_gz_")
        folder = Path(self._folder.name)
        sdf = folder / "world.sdf"
        sdf.write_text(self._sdf_text, encoding="utf-8")
        command = self._launch(sdf, self._scenario, self._seed, partition)
        # `env` adds to our environment what the server needs to be found; it keeps the rest.
        settings = [f"{prefix}_PARTITION={partition}" for prefix in ("GZ", "IGN")]
        settings += [f"{prefix}_IP={ip}" for prefix in ("GZ", "IGN")]
        self._process = KeptProcess(
            ["env", *settings, *command], log=folder / "server.log", folder=folder
        )
        self._process.start()

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.alive

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs or before it was started."""
        return None if self._process is None else self._process.exit_code

    def log_tail(self) -> str:
        """The last lines of what it printed, on one line."""
        return "" if self._process is None else self._process.log_tail()

    def stop(self) -> None:
        """End it. Idempotent; never raises."""
        process, self._process = self._process, None
        if process is not None:
            process.stop()
        if self._folder is not None:
            with contextlib.suppress(OSError):
                self._folder.cleanup()
            self._folder = None
