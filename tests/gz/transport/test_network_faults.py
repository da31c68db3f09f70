"""Networks that do not work, and peers that must stay outside."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace
from typing import Any

import pytest
import zmq

from ghost.core import HostClock, MissingDependency, UnknownName
from ghost.gz.transport import TransportError, TransportOptions, open_node
from ghost.gz.transport.outbox import Outbox
from tests.gz.transport.conftest import NewNode, StartPeer

WAIT_S = 10.0


def until(true: object, patience_s: float = WAIT_S) -> bool:
    """Look every millisecond whether a condition holds; False when the patience is over."""
    assert callable(true)
    host = HostClock()
    end_ns = host.now_ns() + int(patience_s * 1e9)
    while not true():
        if host.now_ns() > end_ns:
            return False
        host.sleep_until_ns(host.now_ns() + 1_000_000)
    return True


@pytest.mark.parametrize("which", ["msg_port", "srv_port"])
def test_a_taken_port_is_named(options: TransportOptions, which: str) -> None:
    port = getattr(options, which)
    before = threading.active_count()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as selfish:
        selfish.bind(("0.0.0.0", port))
        with pytest.raises(TransportError, match=rf"{port} is taken.*GZ_DISCOVERY"):
            open_node(options)
    assert threading.active_count() == before
    open_node(options).close()


def test_an_address_of_another_computer_is_named(options: TransportOptions) -> None:
    with pytest.raises(TransportError, match=r"GZ_IP: 203\.0\.113\.1 is not an address"):
        open_node(replace(options, ip="203.0.113.1"))


def test_no_interface_for_multicast(
    options: TransportOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoMulticast(socket.socket):
        """A socket on a computer whose interfaces carry no multicast."""

        def setsockopt(self, level: int, name: int, value: Any) -> None:  # type: ignore[override]  # the one form used
            if (level, name) == (socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP):
                raise OSError(19, "No such device")
            super().setsockopt(level, name, value)

    with monkeypatch.context() as patched:
        patched.setattr(socket, "socket", NoMulticast)
        with pytest.raises(TransportError, match=r"carries no multicast.*No such device.*GZ_IP"):
            open_node(options)
    open_node(options).close()


def test_no_route_for_multicast(options: TransportOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    class NoRoute(socket.socket):
        """A socket on a computer that has the interface and no route."""

        def sendto(self, *_: object) -> int:
            raise OSError(101, "Network is unreachable")

    with monkeypatch.context() as patched:
        patched.setattr(socket, "socket", NoRoute)
        with pytest.raises(TransportError, match=r"carries no multicast.*unreachable"):
            open_node(options)
    open_node(options).close()


def test_a_network_that_goes_away_later_is_counted(new_node: NewNode) -> None:
    node = new_node()
    node._discovery.topics.channel.unicast.close()
    publisher = node.advertise("/a", "x")
    publisher.publish(b"1")
    assert node.statistics()["discovery_send_failed"] >= 1


def secured(options: TransportOptions, password: str = "right") -> TransportOptions:
    """The options with a user name and a password."""
    return replace(options, username="ann", password=password)


def test_with_the_right_password_topics_pass(new_node: NewNode, options: TransportOptions) -> None:
    server, client = new_node(secured(options)), new_node(secured(options))
    publisher = server.advertise("/a", "x")
    client.subscribe("/a")
    server.subscribe("/a")
    assert publisher.wait_for_subscriber(WAIT_S, 2)
    publisher.publish(b"1")
    for node in (client, server):
        incoming = node.receive(WAIT_S)
        assert incoming is not None
        assert incoming.data == b"1"


def test_with_a_wrong_password_nothing_passes_and_both_sides_count(
    new_node: NewNode, options: TransportOptions
) -> None:
    server, client = new_node(secured(options)), new_node(secured(options, "wrong"))
    publisher = server.advertise("/a", "x")
    subscription = client.subscribe("/a")
    assert until(lambda: server.statistics().get("authentication_refused", 0) >= 1)
    assert until(lambda: client.statistics().get("handshake_refused", 0) >= 1)
    assert not publisher.wait_for_subscriber(0.05)
    assert not subscription.wait_for_publisher(0.05)
    # The advertisement stays: it is the password that is wrong, not the peer that is gone.
    assert [info.topic for info in client.topics()] == ["/a"]


def test_without_a_password_a_secured_publisher_is_out_of_reach(
    new_node: NewNode, options: TransportOptions
) -> None:
    server, client = new_node(secured(options)), new_node()
    publisher = server.advertise("/a", "x")
    client.subscribe("/a")
    assert until(lambda: client.statistics().get("handshake_refused", 0) >= 1)
    assert not publisher.wait_for_subscriber(0.05)


def test_a_killed_publisher_is_gone_before_its_silence(
    new_node: NewNode, start_peer: StartPeer
) -> None:
    client = new_node()
    client.subscribe("/numbers")
    peer = start_peer("count", "/numbers", "1")
    assert client.receive(WAIT_S) is not None
    assert [info.topic for info in client.topics()] == ["/numbers"]
    peer.kill()
    assert until(lambda: not client.topics(), 2.0)
    assert client.statistics()["discovery_peer_closed"] >= 1
    # Its connection is not tried for ever.
    assert until(lambda: not client._inbox.addresses)


def test_a_publisher_that_comes_back_elsewhere_is_found(
    new_node: NewNode, start_peer: StartPeer
) -> None:
    client = new_node()
    client.subscribe("/numbers")
    for _ in range(3):
        peer = start_peer("count", "/numbers", "2")
        got = [client.receive(WAIT_S), client.receive(WAIT_S)]
        assert [incoming.data for incoming in got if incoming] == [b"0", b"1"]
        peer.kill()


def test_a_listener_on_a_foreign_address_is_refused() -> None:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    with pytest.raises(TransportError, match="GZ_IP"):
        Outbox(context, TransportOptions(ip="203.0.113.1"), HostClock())
    context.term()


def test_an_unknown_implementation_names_the_known(options: TransportOptions) -> None:
    with pytest.raises(UnknownName, match="wire"):
        open_node(options, "wires")


def test_missing_bindings_say_what_brings_them(
    options: TransportOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ghost.gz.transport.bindings.find_version", lambda: None)
    with pytest.raises(MissingDependency, match=r"python3-gz-transport13"):
        open_node(options, "bindings")
