"""Which instance is free, and who has the others, by the sockets and locks of real processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ghost.core import ConfigError
from ghost.px4.instances import (
    ClaimedInstance,
    Holder,
    Ports,
    RunningInstance,
    choose_instance,
    instance_holders,
    remove_leftovers,
    stale_instances,
)

_LOCKS = (
    "import fcntl, sys\n"
    "file = open(sys.argv[1], 'w')\n"
    "fcntl.lockf(file, fcntl.LOCK_EX)\n"
    "print('locked', flush=True)\n"
    "sys.stdin.read()\n"
)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Another process that holds a lock as PX4 does; gives its number."""
    with subprocess.Popen(
        [sys.executable, "-S", "-c", _LOCKS, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        yield process.pid
        process.terminate()


def test_ports_count_from_the_instance() -> None:
    ports = Ports(3)
    assert (ports.simulator, ports.offboard, ports.offboard_px4, ports.ground_station) == (
        *(4563, 14543),
        *(14583, 18573),
    )
    # Above 9 PX4 sends to one port for all.
    assert Ports(9).offboard == Ports(10).offboard == Ports(249).offboard == 14549


def test_a_claim_is_exclusive_until_it_is_released(
    claimed: ClaimedInstance, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="held by this process itself") as caught:
        choose_instance(claimed.number, tmp=tmp_path)
    assert caught.value.key == "autopilot.instance"
    claimed.release()
    claimed.release()
    again = choose_instance(claimed.number, tmp=tmp_path)
    assert again.number == claimed.number
    assert again.ports == Ports(claimed.number)
    again.release()


def test_a_claim_goes_with_its_process(claimed: ClaimedInstance, tmp_path: Path) -> None:
    claimed.release()
    code = (
        "import sys\n"
        "from ghost.px4.instances import choose_instance\n"
        "claim = choose_instance(int(sys.argv[1]))\n"
        "print(claim.number, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(claimed.number)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert int(other.stdout.readline()) == claimed.number
        with pytest.raises(ConfigError, match=f"held by process {other.pid} "):
            choose_instance(claimed.number, tmp=tmp_path)
        other.kill()
        other.wait()
        choose_instance(claimed.number, tmp=tmp_path).release()


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (socket.SOCK_STREAM, "simulator"),
        (socket.SOCK_DGRAM, "offboard_px4"),
        (socket.SOCK_DGRAM, "ground_station"),
    ],
)
@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "::1"])
def test_a_port_that_is_taken_is_found_and_its_holder_named(
    claimed: ClaimedInstance, tmp_path: Path, kind: socket.SocketKind, name: str, address: str
) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    port = getattr(claimed.ports, name)
    claimed.release()
    with socket.socket(family, kind) as taken:
        try:
            taken.bind((address, port))
        except OSError as error:
            pytest.skip(f"no {address} here: {error}")
        if kind == socket.SOCK_STREAM:
            taken.listen()
        (holder,) = instance_holders(claimed.number, tmp=tmp_path)
        assert holder.pid == os.getpid()
        assert holder.age_s is not None
        assert 0.0 <= holder.age_s < 86_400.0
        protocol = "TCP" if kind == socket.SOCK_STREAM else "UDP"
        with pytest.raises(ConfigError, match=f"{protocol} port {port}: held by this process"):
            choose_instance(claimed.number, tmp=tmp_path)
    choose_instance(claimed.number, tmp=tmp_path).release()


def test_a_lock_is_found_and_its_holder_named(claimed: ClaimedInstance, tmp_path: Path) -> None:
    claimed.release()
    lock = tmp_path / f"px4_lock-{claimed.number}"
    with _locked(lock) as pid:
        (holder,) = instance_holders(claimed.number, tmp=tmp_path)
        assert (holder.pid, holder.held) == (pid, (str(lock),))
        assert "fcntl.lockf" in holder.command or sys.executable in holder.command
        with pytest.raises(ConfigError, match=f"held by process {pid} .* kill {pid} "):
            choose_instance(claimed.number, tmp=tmp_path)
        remove_leftovers(claimed.number, tmp=tmp_path)
        assert lock.exists()
        (stale,) = [each for each in stale_instances(tmp=tmp_path) if each.number == claimed.number]
        assert f"kill {pid}" in stale.describe()
    # What a killed PX4 leaves is in nobody's way, and is removed.
    choose_instance(claimed.number, tmp=tmp_path).release()
    remove_leftovers(claimed.number, tmp=tmp_path)
    assert not lock.exists()


def test_a_server_socket_is_found(claimed: ClaimedInstance, tmp_path: Path) -> None:
    path = tmp_path / f"px4-sock-{claimed.number}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
        server.listen()
        (holder,) = instance_holders(claimed.number, tmp=tmp_path, claims=False)
        assert (holder.pid, holder.held) == (os.getpid(), (str(path),))
        remove_leftovers(claimed.number, tmp=tmp_path)
        assert path.exists()
    remove_leftovers(claimed.number, tmp=tmp_path)
    assert not path.exists()


def test_a_lock_that_may_not_be_opened_counts_as_taken(
    claimed: ClaimedInstance, tmp_path: Path
) -> None:
    (tmp_path / f"px4_lock-{claimed.number}").mkdir()  # refused to everybody, root included
    claimed.release()
    with pytest.raises(ConfigError, match="held by a process that is not ours to see"):
        choose_instance(claimed.number, tmp=tmp_path)


def test_the_first_free_one_is_taken_of_ten(tmp_path: Path) -> None:
    with _locked(tmp_path / "px4_lock-0"):
        # Others may fly on this machine: what is asked is that no two get the same, and not 0.
        claims: list[ClaimedInstance] = []

        def claim_all() -> None:
            for _ in range(10):
                claims.append(choose_instance(tmp=tmp_path))

        try:
            with pytest.raises(ConfigError, match=r"no free PX4 instance: .*instance 0 is in use"):
                claim_all()
            numbers = [claim.number for claim in claims]
            assert 0 not in numbers
            assert numbers == sorted(set(numbers))
        finally:
            for claim in claims:
                claim.release()


@pytest.mark.parametrize("number", [-2, 250, 100_000])
def test_a_number_out_of_range_is_refused(number: int) -> None:
    with pytest.raises(ConfigError, match=r"must be -1 .* or 0\.\.249"):
        choose_instance(number)


def test_holders_are_described() -> None:
    old = Holder(4242, ("UDP port 14580",), "px4 -i 0 -d", 11_520.0, orphan=True)
    text = RunningInstance(0, (old, Holder(None, ("/tmp/px4_lock-0",)))).describe()
    assert text == (
        "PX4 instance 0 is in use: UDP port 14580: held by process 4242 (`px4 -i 0 -d`, running "
        "for 3 h 12 min, whose parent is gone); /tmp/px4_lock-0: held by a process that is not "
        "ours to see; if nobody needs it, end it with: kill 4242 (kill -9 if it stays)"
    )
    ages = [Holder(1, ("x",), "", age).describe() for age in (5.0, 600.0, 400_000.0)]
    assert [age.split("running for ")[1] for age in ages] == ["5 s)", "10 min)", "4 days)"]


def test_no_proc_means_nobody_is_found(tmp_path: Path) -> None:
    assert instance_holders(7, proc=tmp_path, tmp=tmp_path) == ()
