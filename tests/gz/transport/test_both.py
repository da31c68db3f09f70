"""What both implementations of `Node` promise, on the wire one, on the official bindings where
they are installed, and on a stand-in for these elsewhere."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost.core import ClosedError, HostClock
from ghost.gz.msgs import StringMsg
from ghost.gz.transport import (
    Incoming,
    NameInvalid,
    Node,
    TransportError,
    TransportOptions,
    TransportTimeout,
    open_node,
)
from ghost.gz.transport.bindings import BindingsNode, find_version
from tests.gz.transport.conftest import NewNode

STAND_IN = Path(__file__).with_name("fake_gz")
WAIT_S = 20.0
STRING = "gz.msgs.StringMsg"


def text(words: str) -> bytes:
    """A message that both sides can parse."""
    return StringMsg(data=words).SerializeToString()


BINDINGS = ["stand-in", pytest.param("bindings", marks=pytest.mark.gz_bindings)]


@pytest.fixture(params=["wire", *BINDINGS])
def node(
    request: pytest.FixtureRequest, options: TransportOptions, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Node]:
    """The node under test."""
    kind = request.param
    if kind == "bindings" and find_version() is None:
        pytest.skip("the official bindings are not installed (apt: python3-gz-transport13)")
    if kind == "stand-in":
        monkeypatch.syspath_prepend(STAND_IN)
        monkeypatch.setattr("ghost.gz.transport.bindings.find_version", lambda: "gz.transport13")
    made = open_node(options, "wire" if kind == "wire" else "bindings")
    yield made
    made.close()


def test_it_hears_and_is_heard(node: Node, new_node: NewNode) -> None:
    peer = new_node()
    theirs, ours = peer.advertise("/theirs", STRING), node.advertise("/ours", STRING)
    node.subscribe("/theirs")
    peer.subscribe("/ours")
    assert theirs.wait_for_subscriber(WAIT_S)
    assert ours.wait_for_subscriber(WAIT_S)
    theirs.publish(text("hello"))
    ours.publish(text("world"))
    for receiver, topic, words in ((node, "/theirs", "hello"), (peer, "/ours", "world")):
        incoming = receiver.receive(WAIT_S)
        assert incoming is not None
        assert (incoming.topic, incoming.type, incoming.data) == (topic, STRING, text(words))
    assert node.receive(0.0) is None
    assert ours.topic == "/ours"
    ours.close()
    ours.close()
    with pytest.raises(ClosedError):
        ours.publish(text("late"))


def test_it_loses_and_repeats_nothing(node: Node, new_node: NewNode) -> None:
    publisher = new_node().advertise("/numbers", STRING)
    node.subscribe("numbers")
    assert publisher.wait_for_subscriber(WAIT_S)
    for i in range(5000):
        publisher.publish(text(str(i)))
    for i in range(5000):
        incoming = node.receive(WAIT_S)
        assert incoming is not None
        assert incoming.data == text(str(i))
    assert node.receive(0.05) is None


def test_callbacks(node: Node, new_node: NewNode) -> None:
    publisher = new_node().advertise("/a", STRING)
    got: list[bytes] = []
    done = threading.Event()

    def callback(incoming: Incoming) -> None:
        got.append(incoming.data)
        if len(got) == 1:
            raise RuntimeError("a callback that fails once")
        done.set()

    subscription = node.subscribe("/a", callback)
    assert publisher.wait_for_subscriber(WAIT_S)
    assert subscription.wait_for_publisher(WAIT_S)
    publisher.publish(text("1"))
    publisher.publish(text("2"))
    assert done.wait(WAIT_S)
    assert got == [text("1"), text("2")]
    assert node.statistics()["callback_failed"] == 1
    subscription.unsubscribe()
    subscription.unsubscribe()
    assert node.receive(0.0) is None


def test_it_calls_services(node: Node, new_node: NewNode) -> None:
    peer = new_node()
    peer.offer("/echo", STRING, STRING, lambda request: request)
    for i in range(50):
        assert node.request("/echo", text(str(i)), STRING, STRING, WAIT_S) == text(str(i))
    info = node.wait_for_service("/echo", WAIT_S)
    assert (info.service, info.request_type, info.reply_type) == ("/echo", STRING, STRING)
    assert info in node.services()


def test_requests_go_on_while_topics_come(node: Node, new_node: NewNode) -> None:
    """Where both were in one process, the official bindings came to a standstill after 26."""
    peer = new_node()
    clock, imu = peer.advertise("/clock", STRING), peer.advertise("/imu", STRING)
    node.subscribe("/clock")
    node.subscribe("/imu")
    assert clock.wait_for_subscriber(WAIT_S)
    assert imu.wait_for_subscriber(WAIT_S)

    def step(request: bytes) -> bytes:
        clock.publish(request)
        imu.publish(request)
        return request

    peer.offer("/step", STRING, STRING, step)
    for i in range(100):
        node.request("/step", text(str(i)), STRING, STRING, WAIT_S)
        for topic in ("/clock", "/imu"):
            incoming = node.receive(WAIT_S)
            assert incoming is not None
            assert (incoming.topic, incoming.data) == (topic, text(str(i)))


def test_it_lists_topics_and_waits_for_them(node: Node, new_node: NewNode) -> None:
    new_node().advertise("/a", STRING)
    info = node.wait_for_topic("/a", WAIT_S)
    assert (info.topic, info.type) == ("/a", STRING)
    assert info in node.topics()
    for wait, name in ((node.wait_for_topic, "/no/topic"), (node.wait_for_service, "/no/service")):
        with pytest.raises(TransportTimeout, match=name):
            wait(name, 0.05)
    with pytest.raises(TransportTimeout, match="/no/service"):
        node.request("/no/service", text(""), STRING, STRING, 0.2)


def test_closed_and_badly_named(node: Node) -> None:
    with pytest.raises(NameInvalid):
        node.subscribe("/a b")
    with node as same:
        assert same is node
    node.close()
    for act in (
        lambda: node.advertise("/a", STRING),
        lambda: node.subscribe("/a"),
        lambda: node.receive(1.0),
        lambda: node.topics(),
        lambda: node.request("/s", b"", STRING, STRING, 1.0),
    ):
        with pytest.raises(ClosedError):
            act()


@pytest.mark.parametrize("node", BINDINGS, indirect=True)
def test_what_the_bindings_cannot_do_is_said(node: Node) -> None:
    with pytest.raises(TransportError, match=r"cannot offer.*gz\.transport=wire"):
        node.offer("/s", STRING, STRING, lambda request: request)
    with pytest.raises(TransportError, match=r"one way.*gz\.transport=wire"):
        node.request("/s", b"", STRING, "gz.msgs.Empty", 1.0)


@pytest.mark.parametrize("node", BINDINGS, indirect=True)
def test_a_request_that_hangs_in_the_library_meets_its_deadline(
    node: Node, new_node: NewNode
) -> None:
    host = HostClock()
    start_ns = host.now_ns()
    with pytest.raises(TransportTimeout, match="/hang"):
        node.request("/hang", text(""), STRING, STRING, 0.2)
    assert host.now_ns() - start_ns < 10e9
    new_node().offer("/echo", STRING, STRING, lambda request: request)
    assert node.request("/echo", text("1"), STRING, STRING, WAIT_S) == text("1")


@pytest.mark.parametrize("node", BINDINGS, indirect=True)
def test_a_process_that_dies_is_an_error_and_no_hang(node: Node) -> None:
    assert isinstance(node, BindingsNode)
    os.kill(node._topics._process.pid, signal.SIGKILL)
    with pytest.raises(TransportError, match="process"):
        node.wait_for_topic("/a", WAIT_S)
    node.close()
