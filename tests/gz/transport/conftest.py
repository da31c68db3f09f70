"""A network of its own for every test, on the loopback, and peers in other processes."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghost.gz.transport import TransportOptions
from ghost.gz.transport.identity import new_uuid
from ghost.gz.transport.wire import WireNode

PEER = Path(__file__).with_name("peer.py")
# Debian's ignition-transport-cli and a gz-transport 13, where one is installed.
LIBEXEC = Path("/usr/libexec/ignition/transport11")

NewNode = Callable[..., WireNode]
StartPeer = Callable[..., "subprocess.Popen[str]"]


def free_udp_port() -> int:
    """Return a UDP port that nobody used a moment ago."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def options() -> TransportOptions:
    """A partition and discovery ports that no other test has."""
    msg_port = free_udp_port()
    srv_port = free_udp_port()
    while srv_port == msg_port:
        srv_port = free_udp_port()
    return TransportOptions(partition=f"t{new_uuid()[:8]}", msg_port=msg_port, srv_port=srv_port)


@pytest.fixture
def new_node(options: TransportOptions) -> Iterator[NewNode]:
    """Open nodes of the test's network, or of the options given; all are closed at the end."""
    made: list[WireNode] = []

    def new(other: TransportOptions | None = None) -> WireNode:
        node = WireNode(other or options)
        made.append(node)
        return node

    yield new
    for node in made:
        node.close()


@pytest.fixture
def start_peer(options: TransportOptions) -> Iterator[StartPeer]:
    """Start `peer.py` with a task: another process on the test's network."""
    started: list[subprocess.Popen[str]] = []

    def start(*task: str) -> subprocess.Popen[str]:
        where = (options.partition, str(options.msg_port), str(options.srv_port))
        process = subprocess.Popen(
            [sys.executable, str(PEER), *where, *task],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


class CppPeer:
    """Runs the genuine command-line programs of gz-transport on the test's network."""

    prefix = "ignition.msgs."

    def __init__(self, options: TransportOptions) -> None:
        self.options = options
        self.environ = {
            **os.environ,
            "IGN_PARTITION": options.partition,
            "IGN_IP": options.ip,
            "IGN_DISCOVERY_MULTICAST_IP": options.multicast_ip,
            "IGN_DISCOVERY_MSG_PORT": str(options.msg_port),
            "IGN_DISCOVERY_SRV_PORT": str(options.srv_port),
        }
        self.started: list[subprocess.Popen[str]] = []

    def start(self, program: str, *arguments: str, **environ: str) -> subprocess.Popen[str]:
        """Start `ign-transport-<program>`."""
        process = subprocess.Popen(
            [str(LIBEXEC / f"ign-transport-{program}"), *arguments],
            env={**self.environ, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def run(self, program: str, *arguments: str, **environ: str) -> str:
        """Run it to its end and return what it printed."""
        return self.start(program, *arguments, **environ).communicate(timeout=30)[0]


@pytest.fixture
def cpp(options: TransportOptions) -> Iterator[CppPeer]:
    """The genuine C++ peer, or a skip that says how to get it."""
    if not shutil.which("ign-transport-topic", path=str(LIBEXEC)):
        pytest.skip("no C++ peer: apt-get install ignition-transport-cli")
    peer = CppPeer(options)
    yield peer
    for process in peer.started:
        if process.poll() is None:
            process.kill()
        process.communicate()
