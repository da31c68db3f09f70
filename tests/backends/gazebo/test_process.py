"""A server of our own never outlives us, however we end."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ghost.backends.gazebo import GazeboBackend, GazeboOptions
from ghost.backends.gazebo import process as process_module
from ghost.backends.gazebo.process import ServerProcess, gz_launch
from ghost.config import load_scenario
from ghost.core import HostClock, MissingDependency, ScenarioSpec

ROOT = Path(__file__).resolve().parents[3]

# Prints its own id and that of a child in the same group, then waits for ever.
SERVER = (
    "import os, subprocess, sys, time\n"
    "child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(600)'])\n"
    "print(os.getpid(), child.pid, os.environ['GZ_PARTITION'], flush=True)\n"
    "time.sleep(600)\n"
)
OWNER = (
    "import sys, time\n"
    "sys.path.insert(0, {root!r})\n"
    "from ghost.config import load_scenario\n"
    "from ghost.backends.gazebo.process import ServerProcess\n"
    "def launch(sdf, scenario, seed, partition):\n"
    "    return [sys.executable, '-S', '-c', {server!r}]\n"
    "server = ServerProcess('<sdf/>', load_scenario('hover'), 1, launch)\n"
    "server.start('p', '127.0.0.1')\n"
    "while not server.log_tail():\n"
    "    time.sleep(0.01)\n"
    "print(server.log_tail(), flush=True)\n"
    "time.sleep(600)\n"
)


def _launch(_sdf: Path, _scenario: ScenarioSpec, _seed: int, _partition: str) -> Sequence[str]:
    return [sys.executable, "-S", "-c", SERVER]


def _until(done: Callable[[], bool], seconds: float = 10.0) -> bool:
    host = HostClock()
    end_ns = host.now_ns() + round(seconds * 1e9)
    while not done() and host.now_ns() < end_ns:
        host.sleep_until_ns(host.now_ns() + 5_000_000)
    return done()


def _gone(pid: int) -> bool:
    """Whether a process is no more; a zombie that nobody waited for yet counts as gone."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


def _pids(server: ServerProcess) -> tuple[int, int]:
    assert _until(lambda: bool(server.log_tail()))
    first, second, partition = server.log_tail().split()
    assert partition == "my_partition"
    return int(first), int(second)


def test_stop_ends_the_whole_group() -> None:
    server = ServerProcess("<sdf/>", load_scenario("hover"), 1, _launch)
    server.start("my_partition", "127.0.0.1")
    pids = _pids(server)
    lived = [server.alive]
    server.stop()
    server.stop()
    lived.append(server.alive)
    assert lived == [True, False]
    for pid in pids:
        assert _until(functools.partial(_gone, pid))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_our_own_death_ends_the_server(number: signal.Signals) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER.format(root=str(ROOT), server=SERVER)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert owner.stdout is not None
    first, second, _ = owner.stdout.readline().split()
    owner.send_signal(number)
    owner.wait(10.0)
    owner.stdout.close()
    for pid in (int(first), int(second)):
        assert _until(functools.partial(_gone, pid)), f"{pid} outlives us"


def test_the_exit_and_last_words_of_a_server_are_told() -> None:
    def launch(*_: object) -> Sequence[str]:
        return [sys.executable, "-S", "-c", "print('no such world'); raise SystemExit(7)"]

    server = ServerProcess("<sdf/>", load_scenario("hover"), 1, launch)
    server.start("p", "127.0.0.1")
    assert _until(lambda: not server.alive)
    assert server.exit_code == 7
    assert server.log_tail() == "no such world"
    server.stop()


def test_the_command_of_a_real_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "find_gz", lambda: "/usr/bin/gz")
    plain = gz_launch(Path("w.sdf"), load_scenario("hover"), 2**40 + 3, "p")
    assert plain == ["/usr/bin/gz", "sim", "-s", "-v", "2", "--seed", "3", "w.sdf"]
    seeing = gz_launch(Path("w.sdf"), load_scenario("all_sensors"), 1, "p")
    assert "--headless-rendering" in seeing


def test_without_gz_the_backend_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ghost.backends.gazebo.backend.find_gz", lambda: None)
    with pytest.raises(MissingDependency, match=r"apt-get install gz-harmonic.*gz\.attach"):
        GazeboBackend()
    # To attach none is needed.
    GazeboBackend(GazeboOptions(attach="w")).shutdown()


def test_nothing_of_a_server_is_left_on_disk() -> None:
    server = ServerProcess("<sdf/>", load_scenario("hover"), 1, _launch)
    server.start("my_partition", "127.0.0.1")
    assert server._folder is not None
    folder = Path(server._folder.name)
    assert (folder / "world.sdf").read_text() == "<sdf/>"
    server.stop()
    assert not folder.exists()
    assert not os.path.lexists(folder)
