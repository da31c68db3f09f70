"""A program that is kept ends when it is told to, and when we end, however we do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghost.core import HostClock, KeptProcess
from ghost.core.kept_process import tail_of

_WAITS = "import time; print('up', flush=True); time.sleep(600)"
_STUBBORN = "import signal; signal.signal(2, signal.SIG_IGN); " + _WAITS
# Starts a child of its own, says its number, and waits.
_PARENT = (
    "import subprocess, time; "
    "print(subprocess.Popen(['sleep', '600']).pid, flush=True); time.sleep(600)"
)


@pytest.fixture
def keep(tmp_path: Path) -> Iterator[Callable[[str], KeptProcess]]:
    """Makes kept processes of Python source; ends them."""
    made: list[KeptProcess] = []

    def make(code: str) -> KeptProcess:
        command = [sys.executable, "-S", "-c", code]
        made.append(KeptProcess(command, log=tmp_path / "log.txt", grace_s=0.2))
        return made[-1]

    yield make
    for process in made:
        process.stop()


def _wait(condition: Callable[[], object]) -> None:
    host = HostClock()
    end_ns = host.now_ns() + 20_000_000_000
    while not condition():
        assert host.now_ns() < end_ns, "waited 20 s in vain"
        host.sleep_until_ns(host.now_ns() + 5_000_000)


def _running(pid: int) -> bool:
    """Whether a process is there and not just waiting to be buried."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_runs_until_it_is_stopped(keep: Callable[[str], KeptProcess]) -> None:
    process = keep(_WAITS)
    assert (process.alive, process.pid, process.exit_code) == (False, None, None)
    process.start()
    pid = process.pid
    assert pid is not None
    assert process.alive
    assert os.getpgid(pid) == pid
    _wait(lambda: process.log_tail() == "up")
    with pytest.raises(RuntimeError, match="runs already"):
        process.start()
    process.stop()
    process.stop()
    assert not _running(pid)
    assert (process.pid, process.exit_code) == (None, None)


def test_an_exit_code_is_told_and_outlives_stop(keep: Callable[[str], KeptProcess]) -> None:
    process = keep("import sys; print('bye'); sys.exit(7)")
    process.start()
    assert process.wait(20.0)
    assert not process.alive
    assert process.exit_code == 7
    process.stop()
    assert process.exit_code == 7
    assert process.log_tail() == "bye"


def test_a_signal_is_an_exit_code(keep: Callable[[str], KeptProcess]) -> None:
    process = keep("import os; os.kill(os.getpid(), 11)")
    process.start()
    assert process.wait(20.0)
    assert process.exit_code == 128 + signal.SIGSEGV


def test_it_can_be_started_anew(keep: Callable[[str], KeptProcess]) -> None:
    process = keep("print('once')")
    for _ in range(2):
        process.start()
        assert process.wait(20.0)
        assert process.exit_code == 0
    assert process.log_tail() == "once"


def test_who_ignores_sigint_is_killed_after_its_grace(keep: Callable[[str], KeptProcess]) -> None:
    process = keep(_STUBBORN)
    process.start()
    _wait(lambda: process.log_tail() == "up")
    pid = process.pid
    assert pid is not None
    host = HostClock()
    start_ns = host.now_ns()
    process.stop()
    assert 0.2e9 <= host.now_ns() - start_ns < 5e9
    assert not _running(pid)


@pytest.mark.parametrize("end", ["stop", "die", "keeper"])
def test_what_it_started_ends_too(keep: Callable[[str], KeptProcess], end: str) -> None:
    process = keep(_PARENT)
    process.start()
    _wait(lambda: process.log_tail())
    grandchild = int(process.log_tail())
    assert _running(grandchild)
    assert process.pid is not None
    if end == "die":
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait(20.0)
        assert process.exit_code == 128 + signal.SIGKILL
    elif end == "keeper":
        pid = process.pid
        assert process._keeper is not None
        process._keeper.kill()
        _wait(lambda: not _running(pid))
        assert process.exit_code == 128 + signal.SIGKILL
    process.stop()
    _wait(lambda: not _running(grandchild))


_OWNER = """
import os, sys
from pathlib import Path
from ghost.core import KeptProcess
folder = Path(sys.argv[1])
process = KeptProcess([sys.executable, "-S", "-c", {code!r}], log=folder / "log.txt",
                      grace_s=0.2, folder=folder)
process.start()
if {fork}:
    # A process that has our end of the keeper's input, and does not go with us.
    if os.fork() == 0:
        os.read(0, 1)
        os._exit(0)
print(process.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("fork", [False, True])
@pytest.mark.parametrize("code", [_WAITS, _STUBBORN])
def test_our_own_kill_ends_it_and_removes_its_folder(tmp_path: Path, code: str, fork: bool) -> None:
    folder = tmp_path / "its"
    folder.mkdir()
    (folder / "kept").symlink_to(tmp_path)
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER.format(code=code, fork=fork), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdin is not None
    assert owner.stdout is not None
    with owner:
        pid = int(owner.stdout.readline())
        assert _running(pid)
        owner.kill()
        owner.wait()
        _wait(lambda: not _running(pid))
        _wait(lambda: not folder.exists())
    assert tmp_path.exists()


def test_its_environment_and_folder_are_those_given(tmp_path: Path) -> None:
    process = KeptProcess(
        [sys.executable, "-S", "-c", "import os; print(os.getcwd(), sorted(os.environ))"],
        log=tmp_path / "log.txt",
        environ={"ONLY": "this", "LC_CTYPE": "C"},
        cwd=tmp_path,
    )
    process.start()
    assert process.wait(20.0)
    assert process.log_tail() == f"{tmp_path} ['LC_CTYPE', 'ONLY']"
    process.stop()


def test_who_cannot_be_run_is_an_os_error_at_once(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_bytes(b"\x00\x01\x02 no program")
    for program, error in (
        (tmp_path / "none", FileNotFoundError),
        (text, PermissionError),
        (tmp_path, PermissionError),
    ):
        process = KeptProcess([str(program)], log=tmp_path / "log.txt")
        with pytest.raises(error):
            process.start()
        assert not process.alive
        assert process.exit_code is None
    text.chmod(0o755)
    with pytest.raises(OSError, match="Exec format error"):
        KeptProcess([str(text)], log=tmp_path / "log.txt").start()


def test_a_log_that_cannot_be_written_is_an_os_error(tmp_path: Path) -> None:
    process = KeptProcess(["true"], log=tmp_path / "none" / "log.txt")
    with pytest.raises(FileNotFoundError):
        process.start()
    process.stop()
    assert process.log_tail() == ""


def test_only_the_end_of_a_long_log_is_read(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("first\n" + "x" * 200_000 + "\nlast\n")
    process = KeptProcess(["true"], log=log)
    assert len(process.log_text()) == 65536
    assert process.log_tail().endswith("x | last")
    assert len(process.log_tail()) < 400


def test_a_tail_is_the_lines_that_say_something() -> None:
    noise = "\x1b[31mred\x1b[0m\n\n\x00\x07\r\n" + bytes(range(128, 256)).decode("latin-1") + "\n"
    assert tail_of(noise + "one\n two \n", lines=2) == "one | two"
    assert tail_of(noise).startswith("red | ")
    assert tail_of("") == ""
    assert tail_of("\n".join(map(str, range(50)))) == " | ".join(map(str, range(35, 50)))
