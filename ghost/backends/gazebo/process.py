"""A Gazebo server of our own: started for a world, kept, and never left behind."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from ghost.core import MissingDependency, ScenarioSpec

__all__ = ["INSTALL", "Launch", "ServerProcess", "find_gz", "gz_launch"]

INSTALL = (
    "apt-get install gz-harmonic (see gazebosim.org/docs/harmonic/install), or conda install -c "
    "conda-forge gz-sim8; or use a server that runs elsewhere: --set gz.attach=WORLD"
)

_KEEPER = Path(__file__).with_name("keeper.py")
_TAIL_LINES = 15
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

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
        self._keeper: subprocess.Popen[bytes] | None = None
        self._log = Path()

    def start(self, partition: str, ip: str) -> None:
        """Start the server in a partition of its own."""
        self._folder = tempfile.TemporaryDirectory(prefix="ghost_gz_")
        folder = Path(self._folder.name)
        sdf = folder / "world.sdf"
        sdf.write_text(self._sdf_text, encoding="utf-8")
        self._log = folder / "server.log"
        command = self._launch(sdf, self._scenario, self._seed, partition)
        # `env` adds to our environment what the server needs to be found; it keeps the rest.
        settings = [f"{prefix}_PARTITION={partition}" for prefix in ("GZ", "IGN")]
        settings += [f"{prefix}_IP={ip}" for prefix in ("GZ", "IGN")]
        with self._log.open("wb") as log:
            self._keeper = subprocess.Popen(
                [sys.executable, "-S", str(_KEEPER), "env", *settings, *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._keeper is not None and self._keeper.poll() is None

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs or before it was started."""
        return None if self._keeper is None else self._keeper.poll()

    def log_tail(self) -> str:
        """The last lines of what it printed, on one line."""
        if not self._log.is_file():
            return ""
        text = self._log.read_text(encoding="utf-8", errors="replace")
        lines = _COLOUR.sub("", text).splitlines()
        return " | ".join(line.strip() for line in lines[-_TAIL_LINES:] if line.strip())

    def stop(self) -> None:
        """End it. Idempotent; never raises."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            if keeper.stdin is not None:
                with contextlib.suppress(OSError):
                    keeper.stdin.close()
            try:
                keeper.wait(10.0)
            except subprocess.TimeoutExpired:
                # Its child dies with it.
                keeper.kill()
                keeper.wait()
        if self._folder is not None:
            with contextlib.suppress(OSError):
                self._folder.cleanup()
            self._folder = None
