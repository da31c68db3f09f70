"""Topics between nodes, in one process and in two."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from ghost.core import ClosedError, ContractViolation
from ghost.gz.transport import Incoming, NameInvalid, TransportOptions, TransportTimeout
from tests.gz.transport.conftest import NewNode, StartPeer

WAIT_S = 10.0


def test_a_message_travels_with_topic_type_and_publisher(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    publisher = server.advertise("/clock", "gz.msgs.Clock")
    client.subscribe("clock")
    assert publisher.wait_for_subscriber(WAIT_S)
    publisher.publish(b"tick")
    info = client.wait_for_topic("/clock", WAIT_S)
    assert client.receive(WAIT_S) == Incoming("/clock", "gz.msgs.Clock", b"tick", info.address)
    assert info.process_uuid == server.process_uuid
    assert client.receive(0.0) is None


def test_a_subscriber_may_be_first(new_node: NewNode) -> None:
    client = new_node()
    subscription = client.subscribe("/late")
    assert not subscription.wait_for_publisher(0.05)
    publisher = new_node().advertise("/late", "x")
    assert publisher.wait_for_subscriber(WAIT_S)
    assert subscription.wait_for_publisher(WAIT_S)
    publisher.publish(b"1")
    incoming = client.receive(WAIT_S)
    assert incoming is not None
    assert incoming.data == b"1"


def test_a_node_hears_itself(new_node: NewNode) -> None:
    node = new_node()
    before = node.subscribe("/before")
    one, two = node.advertise("/before", "x"), node.advertise("/after", "x")
    node.subscribe("/after")
    assert before.wait_for_publisher(WAIT_S)
    assert one.wait_for_subscriber(WAIT_S)
    assert two.wait_for_subscriber(WAIT_S)
    one.publish(b"1")
    two.publish(b"2")
    got = [node.receive(WAIT_S), node.receive(WAIT_S)]
    assert [incoming.data for incoming in got if incoming] == [b"1", b"2"]


def test_topics_of_one_server_come_in_its_order(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    topics = [f"/t{i}" for i in range(5)]
    publishers = [server.advertise(topic, "x") for topic in topics]
    for topic in reversed(topics):
        client.subscribe(topic)
    for publisher in publishers:
        assert publisher.wait_for_subscriber(WAIT_S)
    for i in range(500):
        publishers[i * 7 % 5].publish(b"%d" % i)
    for i in range(500):
        incoming = client.receive(WAIT_S)
        assert incoming is not None
        assert (incoming.topic, incoming.data) == (topics[i * 7 % 5], b"%d" % i)


def test_a_topic_is_not_its_prefix(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    longer = server.advertise("/clock2", "x")
    shorter = server.advertise("/clock", "x")
    client.subscribe("/clock")
    assert shorter.wait_for_subscriber(WAIT_S)
    longer.publish(b"no")
    shorter.publish(b"yes")
    incoming = client.receive(WAIT_S)
    assert incoming is not None
    assert incoming.data == b"yes"
    assert client.statistics()["message_not_subscribed"] == 1


def test_partitions_do_not_mix(new_node: NewNode, options: TransportOptions) -> None:
    here, there = new_node(), new_node(replace(options, partition="other"))
    ours, theirs = here.advertise("/a", "ours"), there.advertise("/a", "theirs")
    here.subscribe("/a")
    there.subscribe("/a")
    assert ours.wait_for_subscriber(WAIT_S)
    assert theirs.wait_for_subscriber(WAIT_S)
    theirs.publish(b"theirs")
    ours.publish(b"ours")
    for node, text in ((here, "ours"), (there, "theirs")):
        incoming = node.receive(WAIT_S)
        assert incoming is not None
        assert incoming.type == text
        assert [info.type for info in node.topics()] == [text]
    with pytest.raises(TransportTimeout, match=r"GZ_PARTITION"):
        there.advertise("/only", "x") and here.wait_for_topic("/only", 0.3)


def test_callbacks_run_on_a_thread_of_the_node(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    got: list[tuple[bytes, str]] = []
    three = threading.Event()

    def callback(incoming: Incoming) -> None:
        got.append((incoming.data, threading.current_thread().name))
        if len(got) == 3:
            three.set()
        if len(got) == 1:
            raise RuntimeError("a callback that fails once")

    subscription = client.subscribe("/a", callback)
    publisher = server.advertise("/a", "x")
    assert publisher.wait_for_subscriber(WAIT_S)
    for i in range(3):
        publisher.publish(b"%d" % i)
    assert three.wait(WAIT_S)
    assert got == [(b"%d" % i, "ghost-gz-work") for i in range(3)]
    assert client.statistics()["callback_failed"] == 1
    assert client.receive(0.0) is None
    subscription.unsubscribe()
    subscription.unsubscribe()


def test_two_subscriptions_of_one_topic(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    heard: list[bytes] = []
    done = threading.Event()
    publisher = server.advertise("/a", "x")

    def callback(incoming: Incoming) -> None:
        heard.append(incoming.data)
        done.set()

    client.subscribe("/a", callback)
    first, second = client.subscribe("/a"), client.subscribe("/a")
    assert first.wait_for_publisher(WAIT_S)
    assert publisher.wait_for_subscriber(WAIT_S, 2)  # one socket for callbacks, one without
    second.unsubscribe()
    publisher.publish(b"1")
    incoming = client.receive(WAIT_S)
    assert incoming is not None
    assert incoming.data == b"1"
    assert client.receive(0.0) is None
    assert done.wait(WAIT_S)
    assert heard == [b"1"]


def test_after_unsubscribing_nothing_comes(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    publisher, marker = server.advertise("/a", "x"), server.advertise("/b", "x")
    subscription = client.subscribe("/a")
    client.subscribe("/b")
    assert publisher.wait_for_subscriber(WAIT_S)
    assert marker.wait_for_subscriber(WAIT_S)
    publisher.publish(b"1")
    assert client.receive(WAIT_S) is not None
    publisher.publish(b"2")
    subscription.unsubscribe()
    marker.publish(b"3")
    incoming = client.receive(WAIT_S)
    assert incoming is not None
    assert incoming.topic == "/b"


def test_another_process_publishes(new_node: NewNode, start_peer: StartPeer) -> None:
    client = new_node()
    client.subscribe("/numbers")
    start_peer("count", "/numbers", "1000")
    for i in range(1000):
        incoming = client.receive(WAIT_S)
        assert incoming is not None
        assert incoming.data == b"%d" % i
    assert client.receive(0.0) is None


def test_another_process_subscribes(new_node: NewNode, start_peer: StartPeer) -> None:
    publisher = new_node().advertise("/words", "gz.msgs.StringMsg")
    peer = start_peer("gather", "/words", "2")
    assert publisher.wait_for_subscriber(WAIT_S)
    publisher.publish(b"hello")
    publisher.publish(b"world")
    out, _ = peer.communicate(timeout=WAIT_S)
    assert out.split() == ["ready", "hello", "world"]


def test_who_waits_in_vain_is_told_who_was_heard(
    new_node: NewNode, options: TransportOptions
) -> None:
    client = new_node()
    with pytest.raises(TransportTimeout, match="nobody was heard at all"):
        client.wait_for_topic("/world/w/clock", 0.05)
    server = new_node()
    server.advertise("/world/v/clock", "gz.msgs.Clock")
    client.wait_for_topic("/world/v/clock", WAIT_S)
    with pytest.raises(TransportTimeout, match="/world/v/clock") as caught:
        client.wait_for_topic("/world/w/clock", 0.05)
    assert "/world/w/clock" in str(caught.value)
    assert options.partition in str(caught.value)


def test_lists_are_sorted_and_follow_what_is_withdrawn(new_node: NewNode) -> None:
    server, client = new_node(), new_node()
    second, first = server.advertise("/b", "x"), server.advertise("/a", "x")
    client.wait_for_topic("/a", WAIT_S)
    client.wait_for_topic("/b", WAIT_S)
    assert [info.topic for info in client.topics()] == ["/a", "/b"]
    assert [info.topic for info in server.topics()] == ["/a", "/b"]
    first.close()
    first.close()
    assert [info.topic for info in server.topics()] == ["/b"]
    with pytest.raises(ClosedError, match="/a"):
        first.publish(b"1")
    second.close()


def test_a_closed_node_says_so(new_node: NewNode) -> None:
    node = new_node()
    publisher = node.advertise("/a", "x")
    subscription = node.subscribe("/a")
    node.close()
    node.close()
    for act in (
        lambda: node.advertise("/b", "x"),
        lambda: node.subscribe("/b"),
        lambda: node.receive(1.0),
        lambda: node.request("/s", b"", "a", "b", 1.0),
        lambda: node.offer("/s", "a", "b", lambda data: data),
        lambda: node.topics(),
        lambda: node.wait_for_service("/s", 1.0),
        lambda: publisher.publish(b"1"),
        lambda: publisher.wait_for_subscriber(1.0),
    ):
        with pytest.raises(ClosedError):
            act()
    subscription.unsubscribe()
    publisher.close()


def test_a_callback_cannot_close_its_node(new_node: NewNode) -> None:
    node = new_node()
    seen: list[BaseException] = []
    done = threading.Event()

    def close(_: Incoming) -> None:
        try:
            node.close()
        except ContractViolation as error:
            seen.append(error)
        done.set()

    node.subscribe("/a", close)
    publisher = node.advertise("/a", "x")
    assert publisher.wait_for_subscriber(WAIT_S)
    publisher.publish(b"1")
    assert done.wait(WAIT_S)
    assert len(seen) == 1


def test_bad_names_are_refused_at_once(new_node: NewNode) -> None:
    node = new_node()
    with pytest.raises(NameInvalid):
        node.advertise("/a b", "x")
    with pytest.raises(NameInvalid):
        node.subscribe("")
    with pytest.raises(NameInvalid):
        node.request("/a@b", b"", "a", "b", 1.0)
