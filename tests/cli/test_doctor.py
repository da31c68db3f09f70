"""`ghost doctor`: it finds what is wrong, and says what to do."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ghost.cli.doctor.finding import Finding, State
from ghost.cli.doctor.machine import Process, check_processes, port_owners, processes
from ghost.cli.doctor.network import check_address, check_multicast, check_ports, interfaces
from ghost.gz.transport import TransportOptions
from tests.gz_world_server.launch import ServerProcess, random_partition

if TYPE_CHECKING:
    from tests.cli.conftest import Answer, Ghost

Doctor = Callable[..., "Answer"]


@pytest.fixture
def doctor(ghost: Ghost, monkeypatch: pytest.MonkeyPatch) -> Doctor:
    """Runs `ghost doctor --json` in a partition."""
    monkeypatch.delenv("GZ_PARTITION", raising=False)
    monkeypatch.delenv("GZ_IP", raising=False)

    def run(partition: str, *args: str) -> Answer:
        return ghost("doctor", "--json", "--wait", "1200ms", "--partition", partition, *args)

    return run


def _of(answer: Answer, name: str) -> dict[str, Any]:
    (found,) = (check for check in answer.json["checks"] if check["name"] == name)
    assert isinstance(found, dict)
    return found


def test_a_good_server_is_well(doctor: Doctor) -> None:
    with ServerProcess() as server:
        answer = doctor(server.partition)
    world = _of(answer, "world w")
    assert world["state"] == "ok"
    assert world["detail"].startswith("paused at 0 s, steps of 4 ms, SDF 1.11, tcp://127.0.0.1:")
    assert _of(answer, "peers")["detail"].startswith("1 process with ")
    assert _of(answer, "multicast 239.255.0.7")["state"] == "ok"
    assert _of(answer, "pyzmq")["state"] == "ok"
    assert not [check for check in answer.json["checks"] if "limiter" in check["name"]]


def test_two_servers_are_a_failure(doctor: Doctor) -> None:
    with ServerProcess() as first, ServerProcess(partition=first.partition):
        answer = doctor(first.partition)
    assert answer.code == 1
    assert answer.json["ok"] is False
    world = _of(answer, "world w")
    assert world["state"] == "failure"
    assert world["detail"].startswith("2 servers of this name, at tcp://")
    assert "GZ_PARTITION" in world["fix"]


def test_a_limiter_and_a_mute_world_are_told_of(doctor: Doctor) -> None:
    with ServerProcess("--real-time-factor", "1") as server:
        limiter = _of(doctor(server.partition), "world w limiter")
    assert limiter["state"] == "warning"
    assert "<real_time_factor>0</real_time_factor>" in limiter["fix"]
    with ServerProcess("--mute-at-ns", "0") as server:
        answer = doctor(server.partition)
    assert answer.code == 1
    assert _of(answer, "world w")["state"] == "failure"
    assert "nothing comes" in _of(answer, "world w")["detail"]


def test_the_wrong_partition_names_the_right_one(doctor: Doctor) -> None:
    with ServerProcess() as server:
        peers = _of(doctor(random_partition()), "peers")
    assert peers["state"] == "warning"
    assert server.partition in peers["detail"]
    assert peers["fix"].startswith("export GZ_PARTITION=")


def test_people_get_lines(ghost: Ghost) -> None:
    answer = ghost("doctor", "--wait", "10ms", "--partition", random_partition())
    assert "multicast 239.255.0.7" in answer.out
    assert "OpenGL" in answer.out
    assert ghost("doctor", "--partition", "a b").code == 2


def test_an_address_of_another_computer_fails() -> None:
    found = interfaces()
    assert "127.0.0.1" in {interface.address for interface in found}
    options = TransportOptions(partition="p", ip="192.0.2.77")
    checks = list(check_address(options, found, {"GZ_IP": "192.0.2.77"}))
    assert checks[-1].state is State.FAILURE
    assert checks[-1].fix.startswith("export GZ_IP=")
    assert check_multicast(options).state is State.FAILURE
    assert check_multicast(TransportOptions(partition="p")).state is State.OK


def test_a_taken_port_names_its_owner() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind(("", 0))
        port = holder.getsockname()[1]
        owner = port_owners()[("udp", port)]
        options = TransportOptions(partition="p", msg_port=port)
        checks = {check.name: check for check in check_ports(options, port_owners())}
    taken = checks[f"port udp {port}"]
    assert "pid" in owner
    assert taken.state is State.FAILURE
    assert owner in taken.detail
    assert "GZ_DISCOVERY_MSG_PORT" in taken.fix
    assert checks["port udp 10318"].state is State.OK


def _proc(root: Path, pid: int, words: list[str], state: str, parent: int, env: str = "") -> None:
    folder = root / str(pid)
    folder.mkdir()
    (folder / "cmdline").write_bytes(b"\0".join(word.encode() for word in words) + b"\0")
    (folder / "stat").write_text(f"{pid} (a name) with ) in it) {state} {parent} 1 1")
    (folder / "environ").write_bytes(env.encode())


def test_processes_of_gazebo_and_px4_are_recognised(tmp_path: Path) -> None:
    _proc(tmp_path, 11, ["ruby", "/usr/bin/gz", "sim", "-s"], "S", 5, "A=1\0GZ_PARTITION=p\0")
    _proc(tmp_path, 12, ["/opt/px4/bin/px4", "-i", "0"], "S", 1)
    _proc(tmp_path, 13, ["gz sim -s /a/b.sdf", "", ""], "T", 5)
    _proc(tmp_path, 14, ["vim", "px4.md"], "S", 5)
    _proc(tmp_path, 17, ["python", "run.py", "env", "gz", "sim"], "S", 5)
    _proc(tmp_path, 15, ["gz", "sim", "-s"], "S", 5, "GZ_PARTITION=other\0")
    (tmp_path / "16").mkdir()
    found = processes(tmp_path)
    assert [(process.pid, process.kind, process.state) for process in found] == [
        (11, "gz", "S"),
        (12, "px4", "S"),
        (13, "gz", "T"),
        (15, "gz", "S"),
    ]
    checks: list[Finding] = list(check_processes(found, "p"))
    assert [check.state for check in checks] == [
        State.OK,
        State.WARNING,
        State.WARNING,
        State.WARNING,
    ]
    assert "kill 12" in checks[1].fix
    assert "kill -CONT 13" in checks[2].fix
    assert "GZ_PARTITION=other" in checks[3].fix


def test_no_process_is_fine_and_a_zombie_is_not() -> None:
    (none,) = check_processes([], "p")
    assert none.state is State.OK
    (dead,) = check_processes([Process(9, "px4", "px4", "Z", 8, None)], "p")
    assert dead.state is State.WARNING
