"""The life of a PX4 program, on stand-ins: what it gets, how it ends, what is left."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ghost.core import ConfigError, HostClock
from ghost.px4.instances import ClaimedInstance
from ghost.px4.process import Px4Process, why_it_ended
from ghost.px4.program import find_px4
from tests.px4.process.standins import STUBBORN, MakeProcess, WaitFor, write_px4

_TELLS = (
    "import json, os, sys\n"
    "print(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]), flush=True)\n"
)


def _says(process: Px4Process, wait_for: WaitFor, text: str) -> None:
    wait_for(lambda: text in process.log_tail())


def test_it_gets_instance_scripts_folder_and_environment(
    make_process: MakeProcess, claimed: ClaimedInstance, tmp_path: Path, wait_for: WaitFor
) -> None:
    environ = {
        "HOME": "/home/somebody",
        "PX4_SIM_SPEED_FACTOR": "10",
        "PX4_SIM_MODEL": "gz_plane",
        "PX4_PARAM_NAV_DLL_ACT": "2",
        "PX4_HOME_LAT": "1",
    }
    process = make_process(_TELLS, environ=environ, settings={"PX4_PARAM_COM_OF_LOSS_T": "5"})
    process.start()
    wait_for(lambda: not process.alive)
    folder = process.folder
    assert folder is not None
    arguments, got, where = json.loads((folder / "px4.txt").read_text())
    etc = process.program.etc
    assert arguments == ["-i", str(claimed.number), "-d", str(etc), "-w", str(folder)]
    assert where == str(folder) == str(tmp_path / "work")
    assert {key: value for key, value in got.items() if key != "LC_CTYPE"} == {
        "HOME": "/home/somebody",
        "PX4_SYS_AUTOSTART": "10016",
        "PX4_SIM_MODEL": "none_iris",
        "PX4_PARAM_COM_OF_LOSS_T": "5",
    }


def test_it_runs_until_it_is_stopped_and_again(
    make_process: MakeProcess, wait_for: WaitFor
) -> None:
    process = make_process()
    assert process.describe().endswith(f"instance {process.instance}, does not run")
    pids = []
    for _ in range(2):
        process.start()
        _says(process, wait_for, "waiting")
        assert process.alive
        assert f"runs as process {process.pid}" in process.describe()
        pids.append(process.pid)
        process.stop()
        process.stop()
        assert (process.pid, process.exit_code) == (None, None)
        assert "waiting" in process.log_tail()
    assert pids[0] != pids[1]


def test_starting_what_runs_starts_it_anew(make_process: MakeProcess, wait_for: WaitFor) -> None:
    process = make_process()
    process.start()
    _says(process, wait_for, "waiting")
    first = process.pid
    process.start()
    assert process.alive
    assert process.pid != first
    assert not Path(f"/proc/{first}").exists()


def test_a_temporary_folder_goes_with_it(make_process: MakeProcess) -> None:
    process = make_process(temporary=True)
    process.start()
    folder = process.folder
    assert folder is not None
    assert folder.is_dir()
    process.stop()
    assert not folder.exists()
    assert process.folder is None


def test_a_temporary_folder_is_kept_if_asked(make_process: MakeProcess, tmp_path: Path) -> None:
    process = make_process(temporary=True, keep=True)
    process.start()
    process.stop()
    folder = process.folder
    assert folder is not None
    assert f"its files are in {folder}" in process.describe()
    assert (folder / "px4.txt").is_file()
    folder.rename(tmp_path / "seen")  # removed with the test's own


def test_a_folder_of_a_px4_that_died_is_kept_until_the_next_start(
    make_process: MakeProcess, wait_for: WaitFor
) -> None:
    died = make_process("raise SystemExit(3)", temporary=True)
    died.start()
    wait_for(lambda: not died.alive)
    died.stop()
    folder = died.folder
    assert folder is not None
    assert f"files are in {folder} until this instance is started anew" in died.describe()
    asked = make_process(temporary=True, keep=True)
    asked.start()
    asked.stop()
    assert asked.folder is not None
    again = make_process(temporary=True)
    again.start()
    assert not folder.exists()
    again.stop()
    assert again.folder is None
    assert asked.folder.is_dir()
    shutil.rmtree(asked.folder)


def test_a_folder_that_was_given_is_left_alone(make_process: MakeProcess, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "parameters.bson").write_text("mine")
    process = make_process(folder=folder)
    process.start()
    process.stop()
    assert (folder / "parameters.bson").read_text() == "mine"


def test_one_that_dies_at_once_says_why(make_process: MakeProcess, wait_for: WaitFor) -> None:
    code = (
        "import sys\nprint('\\x1b[31mError: no autostart file found ()\\x1b[0m'); sys.exit(255)\n"
    )
    process = make_process(code)
    process.start()
    wait_for(lambda: not process.alive)
    assert process.exit_code == 255
    text = process.describe()
    assert (
        "ended by itself (exit code 255): it has no such airframe: see autopilot.airframe" in text
    )
    assert "its last lines: Error: no autostart file found ()" in text
    process.stop()
    assert process.exit_code == 255
    assert "exit code 255" in process.describe()


def test_one_that_dies_later_says_with_what(make_process: MakeProcess, wait_for: WaitFor) -> None:
    process = make_process()
    process.start()
    _says(process, wait_for, "waiting")
    assert process.pid is not None
    os.kill(process.pid, signal.SIGSEGV)
    wait_for(lambda: not process.alive)
    assert process.exit_code == 128 + signal.SIGSEGV
    assert "ended by itself (SIGSEGV)" in process.describe()


def test_one_that_ignores_sigint_and_sigterm_is_killed(
    make_process: MakeProcess, wait_for: WaitFor
) -> None:
    process = make_process(STUBBORN)
    process.start()
    _says(process, wait_for, "waiting")
    pid = process.pid
    host = HostClock()
    start_ns = host.now_ns()
    process.stop()
    assert host.now_ns() - start_ns < 5e9
    assert not Path(f"/proc/{pid}").exists()


def test_garbage_in_its_output_is_harmless(make_process: MakeProcess, wait_for: WaitFor) -> None:
    code = (
        "import sys\n"
        "out = sys.stdout.buffer\n"
        "out.write(bytes(range(256)) * 2000 + b'\\nERROR [px4] \\xff\\xfe bad\\n')\n"
        "sys.exit(1)\n"
    )
    process = make_process(code)
    process.start()
    wait_for(lambda: not process.alive)
    text = process.describe()
    assert "ERROR [px4] \ufffd\ufffd bad" in text
    assert text.isprintable()
    assert len(text) < 6000


def test_one_for_another_machine_is_refused(make_process: MakeProcess) -> None:
    process = make_process(temporary=True)
    process.program.binary.write_bytes(b"\x7fELF\x02\x01\x01" + b"\0" * 100)
    with pytest.raises(
        ConfigError, match="Exec format error; is it built for this machine"
    ) as caught:
        process.start()
    assert caught.value.key == "autopilot.binary"
    assert not process.alive
    assert process.folder is None


def test_one_that_was_removed_meanwhile_is_refused(make_process: MakeProcess) -> None:
    process = make_process()
    process.program.binary.unlink()
    with pytest.raises(ConfigError, match="No such file"):
        process.start()


def test_a_folder_that_cannot_be_used_is_refused(
    make_process: MakeProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(ConfigError, match=r"cannot make PX4's working folder .*file"):
        make_process(folder=blocked / "work").start()
    crowded = tmp_path / "crowded"
    crowded.mkdir()
    (crowded / "log").write_text("")
    with pytest.raises(ConfigError, match="has a file 'log' where PX4 needs a folder"):
        make_process(folder=crowded).start()
    # Root may write everywhere: say for it what anybody else would hear.
    read_only = tmp_path / "read_only"
    read_only.mkdir(0o500)
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != read_only and allowed(path, mode))
    with pytest.raises(ConfigError, match="read_only cannot be written to"):
        make_process(folder=read_only).start()


def test_an_airframe_that_it_has_not_is_refused(claimed: ClaimedInstance, tmp_path: Path) -> None:
    program = find_px4(str(write_px4(tmp_path / "build")), {})
    with pytest.raises(ConfigError, match="this PX4 has no airframe 99"):
        Px4Process(program, claimed.number, airframe=99, environ={})


def test_a_second_px4_of_the_same_instance_names_the_first(
    make_process: MakeProcess, claimed: ClaimedInstance, tmp_path: Path, wait_for: WaitFor
) -> None:
    bind = (
        "import socket, sys, time\n"
        "mine = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "try:\n"
        "    mine.bind(('127.0.0.1', 14580 + int(sys.argv[2])))\n"
        "except OSError:\n"
        "    print('INFO  [px4] PX4 server already running for instance', sys.argv[2])\n"
        "    sys.exit(255)\n"
        "print('bound', flush=True)\n"
        "time.sleep(60)\n"
    )
    first = make_process(bind)
    first.start()
    _says(first, wait_for, "bound")
    second = make_process(bind, folder=tmp_path / "second")
    second.start()
    wait_for(lambda: not second.alive)
    text = second.describe()
    assert f"PX4 instance {claimed.number} is in use" in text
    assert f"UDP port {14580 + claimed.number}: held by process {first.pid}" in text
    assert f"kill {first.pid}" in text
    first.stop()
    assert "another PX4 had instance" in second.describe()


def test_leftovers_of_a_killed_px4_go_with_stop(
    make_process: MakeProcess, claimed: ClaimedInstance, wait_for: WaitFor
) -> None:
    # It is PX4 that fixes the names, hence not in a folder of the test's.
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "for name in ('px4_lock', 'px4-sock'):\n"
        "    open(f'/tmp/{name}-{sys.argv[2]}', 'w').close()\n"
        "print('made', flush=True)\n"
        "time.sleep(60)\n"
    )
    process = make_process(code)
    process.start()
    _says(process, wait_for, "made")
    made = [Path(f"/tmp/{name}-{claimed.number}") for name in ("px4_lock", "px4-sock")]
    assert all(path.exists() for path in made)
    process.stop()
    assert not any(path.exists() for path in made)


def test_it_dies_with_us_and_leaves_no_folder(
    tmp_path: Path, claimed: ClaimedInstance, wait_for: WaitFor
) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from tests.px4.process.standins import stand_in\n"
        "process = stand_in(Path(sys.argv[1]), int(sys.argv[2]))\n"
        "process.start()\n"
        "print(process.pid, process.folder, flush=True)\n"
        "sys.stdin.read()\n"
    )
    program = write_px4(tmp_path / "build", STUBBORN)
    owner = subprocess.Popen(
        [sys.executable, "-c", code, str(program), str(claimed.number)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    with owner:
        pid, folder = owner.stdout.readline().split()
        assert Path(folder).is_dir()
        assert Path(f"/proc/{pid}").exists()
        owner.kill()
        owner.wait()
        wait_for(lambda: not Path(f"/proc/{pid}").exists())
        wait_for(lambda: not Path(folder).exists())


@pytest.mark.parametrize(
    ("code", "log", "text"),
    [
        (
            255,
            "ERROR [param] x\n",
            "ended by itself (exit code 255); its last lines: ERROR [param] x",
        ),
        (127, "", "ended by itself (exit code 127); it printed nothing"),
        (134, "", "ended by itself (SIGABRT); it printed nothing"),
        (
            127,
            "px4: error while loading shared libraries: libgz-transport13.so.13: cannot open",
            "a library it needs is missing",
        ),
        (
            255,
            "rcS: replay: not found\nERROR [px4] Startup script returned with return value: 32512",
            "its start script failed (a command that is `not found`",
        ),
        (255, "[mavlink] bind failed: Address already in use", "a port that it needs was taken"),
    ],
)
def test_an_end_is_explained(code: int, log: str, text: str) -> None:
    assert text in why_it_ended(code, log, 240)
