"""The double as a program called px4: found, started, ended."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ghost.core import HostClock
from tests.px4_double.flight import Flight
from tests.px4_double.launch import ROOT, DoubleProcess, write_px4

Fly = Callable[..., Flight]


def _start(folder: Path, instance: int) -> subprocess.Popen[str]:
    program = write_px4(folder)
    return subprocess.Popen(
        [program, "-i", str(instance), "-d", folder / "etc"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_the_program_looks_like_a_build_of_px4(tmp_path: Path, instance: int) -> None:
    folder = tmp_path / "a build"
    with socket.create_server(("127.0.0.1", 4560 + instance)) as listener:
        listener.settimeout(10.0)
        process = _start(folder, instance)
        try:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(5.0)
                assert connection.recv(1)[0] == 0xFD
                process.terminate()
                output, _ = process.communicate(timeout=5.0)
        finally:
            process.kill()
            process.wait()
    assert process.returncode == 0
    assert (folder / "etc" / "init.d-posix" / "rcS").is_file()
    lines = output.splitlines()
    assert lines[0] == f"INFO  [px4] instance: {instance}"
    assert any("Simulator connected on TCP port" in line for line in lines)
    assert lines[-1] == "PX4 Exiting..."


@pytest.mark.parametrize("how", ["terminate", "interrupt"])
def test_it_ends_when_it_is_told_to(fly: Fly, how: str) -> None:
    flight = fly()
    flight.run(0.5)
    assert getattr(flight.double, how)() == 0


def test_it_ends_while_it_waits_for_a_simulator(tmp_path: Path, instance: int) -> None:
    with DoubleProcess(tmp_path, instance) as double:
        _await(lambda: "Waiting for simulator" in double.log.read_text())
        assert double.terminate() == 0


def test_one_instance_runs_once(tmp_path: Path, instance: int) -> None:
    (tmp_path / "second").mkdir()
    with DoubleProcess(tmp_path, instance) as first:
        _await(lambda: "Waiting for simulator" in first.log.read_text())
        with DoubleProcess(tmp_path / "second", instance) as second:
            assert second.wait() == 255
            assert f"already running for instance {instance}" in second.log.read_text()
        assert first.running


def test_it_may_refuse_to_start(tmp_path: Path, instance: int) -> None:
    with DoubleProcess(tmp_path, instance, exit_at_start=3) as double:
        assert double.wait() == 3


def test_a_missing_folder_is_an_error(tmp_path: Path, instance: int) -> None:
    process = subprocess.run(
        [write_px4(tmp_path), "-i", str(instance), "-d", tmp_path / "nowhere"],
        capture_output=True,
        text=True,
        check=False,
        timeout=10.0,
    )
    assert process.returncode == 255
    assert "nowhere" in process.stdout


def test_it_ends_with_its_parent(tmp_path: Path, instance: int) -> None:
    """A parent that is killed cannot end its child; the child sees to it."""
    script = (
        "import sys; from pathlib import Path; from tests.px4_double.launch import DoubleProcess\n"
        f"double = DoubleProcess(Path({str(tmp_path)!r}), {instance})\n"
        "print(double.pid, flush=True); sys.stdin.read()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    assert parent.stdin is not None
    pid = int(parent.stdout.readline())
    log = tmp_path / f"px4_double_{instance}.log"
    _await(lambda: "Waiting for simulator" in log.read_text())
    parent.kill()
    parent.wait()
    parent.stdin.close()
    parent.stdout.close()
    _await(lambda: "PX4 Exiting" in log.read_text())
    _await(lambda: not _exists(pid))


def _exists(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def _await(condition: Callable[[], bool]) -> None:
    host = HostClock()
    end_ns = host.now_ns() + 10_000_000_000
    while not condition():
        assert host.now_ns() < end_ns
        host.sleep_until_ns(host.now_ns() + 10_000_000)


def test_the_lock_file_goes_with_the_process(fly: Fly, instance: int) -> None:
    flight = fly()
    lock = f"/tmp/px4_lock-{instance}"
    assert os.path.exists(lock)
    flight.double.terminate()
    assert not os.path.exists(lock)
