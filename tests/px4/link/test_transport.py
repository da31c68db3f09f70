"""Real sockets and a real pseudo-terminal."""

from __future__ import annotations

import os
import pty
import socket
import termios
from collections.abc import Iterator

import pytest

from ghost.core import ConfigError, HostClock, VehicleSpec
from ghost.hal import LockstepState
from ghost.px4.link import Readings
from ghost.px4.outputs import MotorMap
from ghost.px4.serial import SerialTransport
from ghost.px4.simulator_link import SimulatorLink
from ghost.px4.transport import TcpServerTransport
from tests.px4.link.parts import STEP_NS, answer, decoded, imu, sample

LONG_S = 10.0


@pytest.fixture
def server() -> Iterator[TcpServerTransport]:
    transport = TcpServerTransport(port=0)
    transport.open()
    yield transport
    transport.close()


def dial(server: TcpServerTransport) -> socket.socket:
    return socket.create_connection((server.host, server.port), timeout=LONG_S)


def test_a_peer_comes_talks_and_goes(server: TcpServerTransport) -> None:
    assert server.receive(0.0) is None
    assert not server.connected
    with dial(server) as peer:
        assert server.receive(LONG_S) is None
        assert (server.connected, server.connections) == (True, 1)
        assert server.receive(0.0) is None
        server.send(b"hello")
        assert peer.recv(100) == b"hello"
        peer.sendall(b"answer")
        assert server.receive(LONG_S) == b"answer"
    assert server.receive(LONG_S) is None
    assert not server.connected
    server.send(b"into the void")
    with dial(server):
        server.receive(LONG_S)
        assert (server.connected, server.connections) == (True, 2)


def test_a_second_caller_is_hung_up_on(server: TcpServerTransport) -> None:
    with dial(server) as peer:
        server.receive(LONG_S)
        with dial(server) as second:
            # Nothing came from the peer; what wakes the wait is the caller.
            assert server.receive(LONG_S) is None
            assert server.refused == 1
            assert second.recv(1) == b""
        peer.sendall(b"x")
        assert server.receive(LONG_S) == b"x"
    assert server.connections == 1


def test_a_busy_link_notices_a_second_caller_too(server: TcpServerTransport) -> None:
    with dial(server) as peer:
        server.receive(LONG_S)
        with dial(server) as second:
            for _ in range(300):
                peer.sendall(b"x")
                while server.receive(LONG_S) is None:
                    pass
            assert server.refused == 1
            assert second.recv(1) == b""


def test_a_caller_after_a_dead_peer_is_the_new_peer(server: TcpServerTransport) -> None:
    first = dial(server)
    server.receive(LONG_S)
    first.close()
    with dial(server) as second:
        while server.connections < 2:
            server.receive(LONG_S)
        assert (server.connected, server.refused) == (True, 0)
        server.send(b"welcome")
        assert second.recv(100) == b"welcome"


def test_a_peer_that_does_not_read(server: TcpServerTransport) -> None:
    with dial(server) as peer:
        server.receive(LONG_S)
        # Numbered blocks: what arrives must be whole blocks, in order.
        block = 65_000
        count = 0
        while server.unsent == 0:
            server.send(count.to_bytes(4, "big") * (block // 4))
            count += 1
            assert count < 10_000
        arrived = bytearray()
        while len(arrived) < (count - 1) * block:
            server.send(b"")
            arrived += peer.recv(1 << 20)
        assert len(arrived) == (count - 1) * block
        for number in range(count - 1):
            piece = arrived[number * block : (number + 1) * block]
            assert piece == number.to_bytes(4, "big") * (block // 4)


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        with pytest.raises(ConfigError) as caught:
            TcpServerTransport(port=port).open()
    text = str(caught.value)
    assert f"TCP port {port} on 127.0.0.1 is taken" in text
    assert f"process {os.getpid()}" in text
    assert "autopilot.instance" in text


def test_addresses_that_cannot_be() -> None:
    with pytest.raises(ConfigError, match=r"0\.\.65535, got 70000"):
        TcpServerTransport(port=70_000)
    with pytest.raises(ConfigError, match=r"192\.0\.2\.1"):
        TcpServerTransport("192.0.2.1", 0).open()


def test_close_twice_and_open_again(server: TcpServerTransport) -> None:
    server.close()
    server.close()
    assert server.receive(0.0) is None
    server.open()
    with dial(server):
        server.receive(LONG_S)
        assert server.connected


def step(link: SimulatorLink, number: int) -> None:
    link.feed(number * STEP_NS, Readings(imu=sample(imu())))


def test_two_links_on_two_ports(vehicle: VehicleSpec) -> None:
    servers = [TcpServerTransport(port=0) for _ in range(2)]
    links = [SimulatorLink(server, MotorMap(vehicle), host=HostClock()) for server in servers]
    try:
        for link in links:
            link.open()
        assert servers[0].port != servers[1].port
        with dial(servers[0]) as one, dial(servers[1]) as two:
            for link in links:
                while not link.connected:
                    link.await_answer()
            for number in range(1, 20):
                for link, peer, thrust in zip(links, (one, two), (0.25, 0.75), strict=True):
                    step(link, number)
                    (message,) = decoded(peer.recv(4096))
                    peer.sendall(answer(message.time_usec, (thrust,) * 4, system=1))
                for link in links:
                    assert link.await_answer() is LockstepState.ANSWERED
        assert [link.motors()[0] for link in links] == [0.25, 0.75]
        assert [link.counters.answered for link in links] == [19, 19]
    finally:
        for link in links:
            link.close()


def open_pty() -> tuple[int, int]:
    """Both ends of a pseudo terminal, where the machine has any (a bare chroot has none)."""
    try:
        return pty.openpty()
    except OSError as error:
        pytest.skip(f"no pseudo terminal here: {error}")


def test_the_link_over_a_serial_line(vehicle: VehicleSpec) -> None:
    ours, theirs = open_pty()
    try:
        transport = SerialTransport(os.ttyname(theirs), 921_600)
        link = SimulatorLink(transport, MotorMap(vehicle), host=HostClock(), boot_wait_s=LONG_S)
        link.open()
        assert termios.tcgetattr(theirs)[4] == termios.B921600
        for number in range(1, 6):
            step(link, number)
            os.write(ours, answer(1_000_000 + number, (0.1 * number,) * 4, lockstep=False))
            assert link.await_answer() is LockstepState.ANSWERED
            (message,) = decoded(os.read(ours, 4096))
            assert message.time_usec == number * STEP_NS // 1000
        assert link.motors() == pytest.approx((0.5,) * 4)
        os.close(ours)
        step(link, 6)
        assert not link.connected
        assert link.motors() == (0.0, 0.0, 0.0, 0.0)
        link.close()
    finally:
        os.close(theirs)


def test_raw_bytes_pass_a_serial_line_unchanged() -> None:
    ours, theirs = open_pty()
    try:
        transport = SerialTransport(os.ttyname(theirs), 57_600)
        transport.open()
        every = bytes(range(256))
        transport.send(every)
        assert os.read(ours, 1000) == every
        os.write(ours, every)
        got = b""
        while len(got) < 256:
            got += transport.receive(LONG_S) or b""
        assert got == every
        assert transport.receive(0.0) is None
        assert transport.connected
        transport.close()
        transport.close()
        assert transport.receive(0.0) is None
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_serial_line_that_is_slow() -> None:
    ours, theirs = open_pty()
    try:
        transport = SerialTransport(os.ttyname(theirs))
        transport.open()
        for _ in range(1000):
            transport.send(b"x" * 500)
        assert transport.unsent > 0
        assert transport.connected
        transport.close()
    finally:
        os.close(ours)
        os.close(theirs)


def test_serial_mistakes(tmp_path: os.PathLike[str]) -> None:
    with pytest.raises(ConfigError, match=r"baud must be one of .*115200.*, got 12345"):
        SerialTransport("/dev/null", 12_345)
    with pytest.raises(ConfigError, match=r"nowhere at 921600 baud.*plugged in"):
        SerialTransport(os.path.join(tmp_path, "nowhere")).open()
    with pytest.raises(ConfigError, match="cannot open serial /dev/null"):
        SerialTransport("/dev/null").open()
