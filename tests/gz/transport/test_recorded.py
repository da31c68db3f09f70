"""What the real Gazebo sent (tests/data/gz_frames.jsonl.gz), replayed to a node as it was."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zmq

from ghost.core import HostClock
from ghost.gz.msgs import Discovery as Message
from ghost.gz.transport import TransportOptions
from ghost.gz.transport.counters import Counters
from ghost.gz.transport.datagram import decode, encode
from ghost.gz.transport.discovery import Discovery, Listener
from ghost.gz.transport.names import full_name, split_name
from ghost.gz.transport.registry import Entry
from tests.gz.transport.conftest import NewNode

FILE = Path(__file__).parents[2] / "data" / "gz_frames.jsonl.gz"
PORTS = (10317, 10318)
WAIT_S = 10.0


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    """All lines, bytes decoded."""
    read = []
    with gzip.open(FILE, "rt") as file:
        for line in file:
            item = json.loads(line)
            for key in ("data", "req", "rep"):
                if key in item:
                    item[key] = base64.b64decode(item[key])
            read.append(item)
    return read


@pytest.fixture
def discovery(options: TransportOptions) -> Iterator[Discovery]:
    """A discovery that hears what it is given."""
    made = Discovery(options, "own", Counters(), HostClock(), Listener())
    yield made
    made.close()


def test_every_datagram_is_understood(lines: list[dict[str, Any]]) -> None:
    datagrams = [line["data"] for line in lines if "port" in line]
    assert len(datagrams) == 119
    kinds = set()
    for datagram in datagrams:
        message = decode(datagram, "own")
        assert isinstance(message, Message)
        # Nothing was in it that our message does not know: it goes out as it came in.
        assert encode(message) == datagram
        kinds.add(message.type)
    assert {Message.ADVERTISE, Message.SUBSCRIBE, Message.HEARTBEAT} <= kinds


def test_the_datagrams_give_the_topics_and_services_of_the_world(
    lines: list[dict[str, Any]], discovery: Discovery
) -> None:
    for line in lines:
        if "port" in line:
            half = discovery.topics if line["port"] == PORTS[0] else discovery.services
            discovery.handle(half, line["data"], "127.0.0.1")
    topics = _by_topic(discovery.topics.registry.all())
    services = _by_topic(discovery.services.registry.all())
    assert topics["/world/w/clock"] == ("gz.msgs.Clock",)
    assert services["/world/w/control"] == ("gz.msgs.WorldControl", "gz.msgs.Boolean")
    for line in lines:
        if "topic" in line:
            assert topics[line["topic"]] == (line["type"],)
        if "service" in line:
            assert services[line["service"]] == (line["req_type"], line["rep_type"])


def _by_topic(entries: list[Entry]) -> dict[str, tuple[str, ...]]:
    found = {}
    for entry in entries:
        split = split_name(entry.name)
        assert split is not None
        found[split[1]] = entry.types
    return found


def test_the_messages_arrive_as_they_were_sent(
    lines: list[dict[str, Any]], new_node: NewNode, options: TransportOptions
) -> None:
    """A bare PUB socket sends the recorded frames, and a recorded advertisement announces it."""
    node = new_node()
    messages = [line for line in lines if "topic" in line]
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    publisher = context.socket(zmq.XPUB)
    publisher.set(zmq.SNDHWM, 0)
    publisher.set(zmq.LINGER, 0)
    publisher.set(zmq.RCVTIMEO, int(WAIT_S * 1000))
    publisher.bind("tcp://127.0.0.1:*")
    address = publisher.get(zmq.LAST_ENDPOINT)
    assert isinstance(address, bytes)
    try:
        topics = sorted({line["topic"] for line in messages})
        for topic in topics:
            node.subscribe(topic)
            kind = next(line["type"] for line in messages if line["topic"] == topic)
            message = Message(version=10, process_uuid="server", type=Message.ADVERTISE)
            pub = message.pub
            pub.topic = full_name(options.partition_path, topic)
            pub.address = address.decode().rstrip("\0")
            pub.process_uuid, pub.node_uuid = "server", "n"
            pub.scope = Message.Publisher.ALL
            pub.msg_pub.msg_type = kind
            node._discovery.handle(node._discovery.topics, encode(message), "127.0.0.1")
        for _ in topics:
            assert publisher.recv()[:1] == b"\1"
        for line in messages:
            name = full_name(options.partition_path, line["topic"]).encode()
            publisher.send_multipart([name, address, line["data"], line["type"].encode()])
        for line in messages:
            incoming = node.receive(WAIT_S)
            assert incoming is not None
            assert (incoming.topic, incoming.type, incoming.data) == (
                line["topic"],
                line["type"],
                line["data"],
            )
    finally:
        publisher.close()
        context.term()


def test_the_service_calls_are_answered_as_they_were(
    lines: list[dict[str, Any]], new_node: NewNode, options: TransportOptions
) -> None:
    calls = [line for line in lines if "service" in line]
    server, client = new_node(), new_node(replace(options))
    replies = {(line["service"], line["req"]): line["rep"] for line in calls}

    def answer(service: str) -> Callable[[bytes], bytes]:
        return lambda request: replies[service, request]

    for service, req_type, rep_type in {
        (line["service"], line["req_type"], line["rep_type"]) for line in calls
    }:
        server.offer(service, req_type, rep_type, answer(service))
    for line in calls:
        reply = client.request(
            line["service"], line["req"], line["req_type"], line["rep_type"], WAIT_S
        )
        assert reply == line["rep"]
