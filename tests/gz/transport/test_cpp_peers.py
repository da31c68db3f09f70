"""The genuine C++ command line of gz-transport, both ways (apt: ignition-transport-cli)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ghost.core import HostClock
from ghost.gz.msgs import Boolean, Clock, StringMsg, Time
from ghost.gz.transport import Incoming, TransportOptions, TransportTimeout
from ghost.gz.transport.wire import WireNode
from tests.gz.transport.conftest import CppPeer, NewNode

pytestmark = pytest.mark.gz_cli

WAIT_S = 15.0
STRING = "ignition.msgs.StringMsg"


def heard_from(cpp: CppPeer, node: WireNode, topic: str, word: str, **environ: str) -> Incoming:
    """Let the program publish a word until the node has it.

    It publishes once and exits, and what it then still has to send is lost (it does not linger):
    between two of the genuine programs, too, a part of the words never arrives.
    """
    for _ in range(20):
        cpp.run("topic", "-t", topic, "-m", STRING, "-p", f'data: "{word}"', **environ)
        incoming = node.receive(0.2)
        if incoming is not None:
            assert (incoming.topic, incoming.type) == (topic, STRING)
            assert StringMsg.FromString(incoming.data).data == word
            return incoming
    pytest.fail(f"nothing of 20 words arrived; {node.statistics()}")


def test_it_hears_our_topic(new_node: NewNode, cpp: CppPeer) -> None:
    publisher = new_node().advertise("/words", STRING)
    echo = cpp.start("topic", "-e", "-t", "/words", "-n", "3")
    assert publisher.wait_for_subscriber(WAIT_S)
    for word in ("one", "two", "three"):
        publisher.publish(StringMsg(data=word).SerializeToString())
    out, _ = echo.communicate(timeout=WAIT_S)
    assert out.split() == ["data:", '"one"', "data:", '"two"', "data:", '"three"']


def test_it_decodes_our_messages(new_node: NewNode, cpp: CppPeer) -> None:
    publisher = new_node().advertise("/clock", "ignition.msgs.Clock")
    echo = cpp.start("topic", "-e", "-t", "/clock", "-n", "1")
    assert publisher.wait_for_subscriber(WAIT_S)
    publisher.publish(Clock(sim=Time(sec=12, nsec=345)).SerializeToString())
    out, _ = echo.communicate(timeout=WAIT_S)
    assert out.split() == ["sim", "{", "sec:", "12", "nsec:", "345", "}"]


def test_we_hear_its_topic(new_node: NewNode, cpp: CppPeer) -> None:
    node = new_node()
    node.subscribe("/words")
    heard_from(cpp, node, "/words", "hello")


def test_with_topic_statistics(new_node: NewNode, options: TransportOptions, cpp: CppPeer) -> None:
    node = new_node(replace(options, topic_statistics=True))
    node.subscribe("/words")
    publisher = node.advertise("/back", STRING)
    with_them = {"IGN_TRANSPORT_TOPIC_STATISTICS": "1"}
    heard_from(cpp, node, "/words", "hello", **with_them)
    assert "message_malformed" not in node.statistics()
    echo = cpp.start("topic", "-e", "-t", "/back", "-n", "2", **with_them)
    assert publisher.wait_for_subscriber(WAIT_S)
    for word in ("one", "two"):
        publisher.publish(StringMsg(data=word).SerializeToString())
    assert echo.communicate(timeout=WAIT_S)[0].split() == ["data:", '"one"', "data:", '"two"']


def test_topic_statistics_on_one_side_only_are_explained(new_node: NewNode, cpp: CppPeer) -> None:
    node = new_node()
    cpp.start("topic", "-e", "-t", "/words", IGN_TRANSPORT_TOPIC_STATISTICS="1")
    host = HostClock()
    end_ns = host.now_ns() + int(WAIT_S * 1e9)
    while not node.statistics().get("discovery_other_statistics") and host.now_ns() < end_ns:
        host.sleep_until_ns(host.now_ns() + 1_000_000)
    with pytest.raises(TransportTimeout, match="GZ_TRANSPORT_TOPIC_STATISTICS"):
        node.wait_for_topic("/words", 0.05)


def test_it_calls_our_service(new_node: NewNode, cpp: CppPeer) -> None:
    node = new_node()
    asked: list[str] = []

    def handler(request: bytes) -> bytes | None:
        asked.append(StringMsg.FromString(request).data)
        return Boolean(data=True).SerializeToString() if asked[-1] != "no" else None

    node.offer("/ask", STRING, "ignition.msgs.Boolean", handler)
    arguments = ["-s", "/ask", "--reqtype", STRING, "--reptype", "ignition.msgs.Boolean"]
    for word, answer in (("yes", "data: true"), ("no", "Service call failed")):
        out = cpp.run("service", *arguments, "--timeout", "5000", "-r", f'data: "{word}"')
        assert answer in out
    assert asked == ["yes", "no"]
    assert "reply_undeliverable" not in node.statistics()


def test_it_lists_what_we_offer(new_node: NewNode, cpp: CppPeer) -> None:
    node = new_node()
    node.advertise("/words", STRING)
    node.offer("/ask", STRING, "ignition.msgs.Boolean", lambda request: request)
    assert cpp.run("topic", "-l").split() == ["/words"]
    assert node._outbox.address in cpp.run("topic", "-i", "-t", "/words")
    assert cpp.run("service", "-l").split() == ["/ask"]
    assert STRING in cpp.run("service", "-i", "-s", "/ask")


def test_it_does_not_see_another_partition(new_node: NewNode, cpp: CppPeer) -> None:
    node = new_node()
    node.advertise("/words", STRING)
    assert cpp.run("topic", "-l", IGN_PARTITION="elsewhere").split() == []


def test_through_a_relay(new_node: NewNode, options: TransportOptions, cpp: CppPeer) -> None:
    """Two multicast groups that cannot hear each other; the C++ side knows our address."""
    node = new_node(replace(options, ip="127.0.0.2"))
    node.subscribe("/words")
    publisher = node.advertise("/back", STRING)
    elsewhere = {
        "IGN_IP": "127.0.0.3",
        "IGN_DISCOVERY_MULTICAST_IP": "239.255.0.99",
        "IGN_RELAY": "127.0.0.2",
    }
    echo = cpp.start("topic", "-e", "-t", "/back", "-n", "1", **elsewhere)
    assert publisher.wait_for_subscriber(WAIT_S)
    publisher.publish(StringMsg(data="back").SerializeToString())
    assert echo.communicate(timeout=WAIT_S)[0].split() == ["data:", '"back"']
    incoming = heard_from(cpp, node, "/words", "there", **elsewhere)
    assert incoming.publisher.startswith("tcp://127.0.0.3:")
    assert node.statistics()["discovery_relayed"] > 0


def test_with_a_password(new_node: NewNode, options: TransportOptions, cpp: CppPeer) -> None:
    node = new_node(replace(options, username="ann", password="right"))
    publisher = node.advertise("/words", STRING)
    node.subscribe("/back")
    login = {"IGN_TRANSPORT_USERNAME": "ann", "IGN_TRANSPORT_PASSWORD": "right"}
    echo = cpp.start("topic", "-e", "-t", "/words", "-n", "1", **login)
    assert publisher.wait_for_subscriber(WAIT_S)
    publisher.publish(StringMsg(data="secret").SerializeToString())
    assert echo.communicate(timeout=WAIT_S)[0].split() == ["data:", '"secret"']
    heard_from(cpp, node, "/back", "told", **login)


def test_with_a_wrong_password(new_node: NewNode, options: TransportOptions, cpp: CppPeer) -> None:
    node = new_node(replace(options, username="ann", password="right"))
    publisher = node.advertise("/words", STRING)
    cpp.start(
        "topic", "-e", "-t", "/words", IGN_TRANSPORT_USERNAME="ann", IGN_TRANSPORT_PASSWORD="x"
    )
    host = HostClock()
    end_ns = host.now_ns() + int(WAIT_S * 1e9)
    while not node.statistics().get("authentication_refused") and host.now_ns() < end_ns:
        host.sleep_until_ns(host.now_ns() + 1_000_000)
    assert node.statistics()["authentication_refused"] >= 1
    assert not publisher.wait_for_subscriber(0.1)
