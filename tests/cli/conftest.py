"""What the tests of the command line share: an in-process `ghost`, a scenario, some drivers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ghost.cli import cli

SCENARIO = """\
name: short
vehicle: x500
duration_ns: 1_000_000_000
seed: 5
plan:
  items:
    - action: takeoff
      altitude_m: 1.0
"""

DRIVERS = """
import os
import signal

from ghost.backends.embedded import EmbeddedBackend
from ghost.core import BackendLost, Event, EventSeverity, EventType
from dataclasses import replace


class Mine(EmbeddedBackend):
    steps = 0

    def step(self, dt_ns):
        self.steps += 1
        self.at(self.steps)
        return super().step(dt_ns)

    def at(self, step):
        pass


class Lost(Mine):
    def at(self, step):
        if step == 51:
            raise BackendLost("the simulator's socket was closed")


class Unreachable(Mine):
    def reset(self, scenario, seed):
        raise BackendLost("nobody answers on port 14540")


class Interrupted(Mine):
    def at(self, step):
        if step == 51:
            os.kill(os.getpid(), signal.SIGINT)


class Hanging(Mine):
    def at(self, step):
        if step == 51:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)


class Buggy(Mine):
    def at(self, step):
        if step == 51:
            raise ZeroDivisionError("a bug in a driver")


class Chatty(Mine):
    def at(self, step):
        if step == 51:
            print("chatter from Python")
            os.write(1, b"chatter from C\\n")


class Crashing(Mine):
    def step(self, dt_ns):
        report = super().step(dt_ns)
        if self.steps != 51:
            return report
        crash = Event(EventType.CRASH, report.now_ns, EventSeverity.ERROR, "test", "ouch")
        return replace(report, faults=(crash,))


class Deaf(Mine):
    def sensors(self):
        return {}


class Nothing:
    pass
"""


@dataclass(frozen=True)
class Answer:
    """What a command gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object on stdout; fails if there is anything else."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


Ghost = Callable[..., Answer]


@pytest.fixture
def ghost() -> Ghost:
    """Runs `ghost ARGS…` in this process."""

    def run(*args: object) -> Answer:
        result = CliRunner().invoke(cli, [str(arg) for arg in args])
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return Answer(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def ghost_process() -> Ghost:
    """Runs `python -m ghost ARGS…` in a process of its own, in the folder `cwd`."""

    def run(*args: object, cwd: Path | None = None) -> Answer:
        done = subprocess.run(
            [sys.executable, "-m", "ghost", *(str(arg) for arg in args)],
            capture_output=True,
            text=True,
            check=False,
            cwd=cwd,
            timeout=100,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scenario file of one second."""
    path = tmp_path / "short.yaml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module with drivers that go wrong, in the current folder."""
    name = f"drivers_of_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(DRIVERS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield name
    sys.modules.pop(name, None)


class NoPybullet:
    """Finds no pybullet, as on a machine without it."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "pybullet":
            raise ModuleNotFoundError("No module named 'pybullet'", name="pybullet")


@pytest.fixture
def without_pybullet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the optional package away, whether it is installed or not."""
    monkeypatch.delitem(sys.modules, "pybullet", raising=False)
    monkeypatch.setattr(sys, "meta_path", [NoPybullet(), *sys.meta_path])
