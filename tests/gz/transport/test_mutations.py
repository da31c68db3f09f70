"""Broken datagrams and frames: a thousand random changes of each kind, and the node lives on."""

from __future__ import annotations

import base64
import gzip
import json
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zmq

from ghost.core import HostClock, RandomStream
from ghost.gz.msgs import Discovery as Message
from ghost.gz.transport import TransportOptions
from ghost.gz.transport.counters import Counters
from ghost.gz.transport.datagram import VERSION, encode
from ghost.gz.transport.discovery import SILENCE_NS, Discovery, Listener
from ghost.gz.transport.names import full_name
from ghost.gz.transport.wire import WireNode
from tests.gz.transport.conftest import NewNode

FILE = Path(__file__).parents[2] / "data" / "gz_frames.jsonl.gz"
MUTATIONS = 1000
WAIT_S = 20.0
STRING = "gz.msgs.StringMsg"


class Mutator:
    """Changes bytes: a bit, a byte, a piece cut out, doubled, or put in; deterministic."""

    def __init__(self, seed: int) -> None:
        self._random = RandomStream(seed)

    def number(self, below: int) -> int:
        return int(self._random.integers(0, below))

    def bytes_of(self, length: int) -> bytes:
        return bytes(self.number(256) for _ in range(length))

    def mutate(self, data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(1 + self.number(3)):
            at = self.number(len(changed) + 1)
            size = self.number(9)
            what = self.number(5)
            if what == 0 and at < len(changed):
                changed[at] ^= 1 << self.number(8)
            elif what == 1 and at < len(changed):
                changed[at] = self.number(256)
            elif what == 2:
                del changed[at : at + size]
            elif what == 3:
                changed[at:at] = changed[at : at + size]
            else:
                changed[at:at] = self.bytes_of(size)
        return bytes(changed)

    def mutate_frames(self, frames: list[bytes]) -> list[bytes]:
        changed = list(frames)
        what = self.number(4)
        at = self.number(len(changed))
        if what == 0 and len(changed) > 1:
            del changed[at]
        elif what == 1:
            changed.insert(at, self.bytes_of(self.number(20)))
        else:
            changed[at] = self.mutate(changed[at])
        return changed


class FakeHost:
    """A host clock that moves by hand."""

    def __init__(self) -> None:
        self.at_ns = 0

    def now_ns(self) -> int:
        return self.at_ns

    def sleep_until_ns(self, at_ns: int) -> None:
        self.at_ns = at_ns


def recorded_datagrams() -> list[bytes]:
    """Return every different recorded datagram, and one of each type that was not recorded."""
    found: dict[bytes, None] = {}
    with gzip.open(FILE, "rt") as file:
        for line in file:
            item = json.loads(line)
            if "port" in item:
                found[base64.b64decode(item["data"])] = None
    for kind in range(1, 10):
        message = Message(version=VERSION, process_uuid="peer", type=kind)  # type: ignore[arg-type]  # a number is a type's value
        message.pub.topic, message.pub.address = "@/p@/t", "tcp://127.0.0.1:40001"
        message.pub.process_uuid, message.pub.node_uuid = "peer", "node"
        message.pub.msg_pub.msg_type = STRING
        found[encode(message)] = None
    return list(found)


def test_mutated_datagrams_change_nothing_for_long(options: TransportOptions) -> None:
    """No crash, bad ones counted, and after three seconds of silence no memory of any."""
    host, counters = FakeHost(), Counters()
    discovery = Discovery(options, "own", counters, host, Listener())
    mutator = Mutator(1)
    datagrams = recorded_datagrams()
    assert len(datagrams) > 40
    try:
        heard = 0
        for number, datagram in enumerate(datagrams):
            for _ in range(MUTATIONS):
                half = (discovery.topics, discovery.services)[number % 2]
                body = mutator.mutate(datagram[2:])
                # Half of them with the right length, so that what is inside is looked at.
                length = len(body).to_bytes(2, "little") if mutator.number(2) else datagram[:2]
                discovery.handle(half, length + body, "127.0.0.1")
                heard += 1
            host.at_ns += SILENCE_NS * 2
            discovery.upkeep()
        seen = counters.snapshot()
        assert seen["discovery_malformed"] > 1000
        assert seen["discovery_wrong_length"] > 1000
        assert seen["discovery_other_version"] > 100
        ignored = ("wrong_length", "malformed", "other_version", "other_statistics", "own")
        counted = sum(seen.get(f"discovery_{name}", 0) for name in ignored)
        counted += seen["discovery_heard"] + seen.get("discovery_relayed", 0)
        assert counted == heard
        host.at_ns += SILENCE_NS * 2
        discovery.upkeep()
        for half in (discovery.topics, discovery.services):
            assert half.registry.processes() == []
            assert half.registry.all() == []
            assert len(half.channel.relays) <= 64
    finally:
        discovery.close()


def test_mutated_datagrams_do_not_leak(options: TransportOptions) -> None:
    host = FakeHost()
    discovery = Discovery(options, "own", Counters(), host, Listener())
    mutator = Mutator(2)
    datagrams = recorded_datagrams()

    def run(rounds: int) -> None:
        for _ in range(rounds):
            datagram = datagrams[mutator.number(len(datagrams))]
            body = mutator.mutate(datagram[2:])
            discovery.handle(discovery.topics, len(body).to_bytes(2, "little") + body, "127.0.0.1")
        host.at_ns += SILENCE_NS * 2
        discovery.upkeep()

    try:
        run(3000)
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        run(10_000)
        after, _ = tracemalloc.get_traced_memory()
        assert after - before < 100_000
    finally:
        tracemalloc.stop()
        discovery.close()


@pytest.fixture
def raw() -> Iterator[Callable[[int], zmq.Socket[bytes]]]:
    """Make bare ZeroMQ sockets, for peers that do not keep to the protocol."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    all_made: list[zmq.Socket[bytes]] = []

    def make(kind: int) -> zmq.Socket[bytes]:
        made = context.socket(kind)
        all_made.append(made)
        made.set(zmq.LINGER, 0)
        made.set(zmq.SNDHWM, 0)
        made.set(zmq.SNDTIMEO, int(WAIT_S * 1000))
        made.set(zmq.RCVTIMEO, int(WAIT_S * 1000))
        return made

    yield make
    for made in all_made:
        made.close(0)
    context.term()


def until(node: WireNode, reason: str, number: int) -> bool:
    """Wait until a reason was counted so often."""
    host = HostClock()
    end_ns = host.now_ns() + int(WAIT_S * 1e9)
    while node.statistics().get(reason, 0) < number and host.now_ns() < end_ns:
        host.sleep_until_ns(host.now_ns() + 1_000_000)
    return node.statistics().get(reason, 0) >= number


def test_mutated_messages_do_not_hurt(
    new_node: NewNode, options: TransportOptions, raw: Callable[[int], zmq.Socket[bytes]]
) -> None:
    node = new_node()
    node.subscribe("/a")
    publisher = raw(zmq.XPUB)
    publisher.bind("tcp://127.0.0.1:*")
    address = publisher.get(zmq.LAST_ENDPOINT)
    assert isinstance(address, bytes)
    message = Message(version=VERSION, process_uuid="server", type=Message.ADVERTISE)
    pub = message.pub
    pub.topic = full_name(options.partition_path, "/a")
    pub.address = address.decode().rstrip("\0")
    pub.process_uuid, pub.node_uuid, pub.scope = "server", "n", Message.Publisher.ALL
    pub.msg_pub.msg_type = STRING
    node._discovery.handle(node._discovery.topics, encode(message), "127.0.0.1")
    assert publisher.recv()[:1] == b"\1"
    good = [pub.topic.encode(), address, b"\x12\x05hello", STRING.encode()]
    mutator = Mutator(3)
    for statistics in ([], [bytes(16)]):
        for _ in range(MUTATIONS):
            publisher.send_multipart(mutator.mutate_frames([*good, *statistics]))
    publisher.send_multipart([*good[:2], b"the end", good[3]])
    received = 0
    while (incoming := node.receive(WAIT_S)) is not None and incoming.data != b"the end":
        received += 1
        assert incoming.topic == "/a"
    assert incoming is not None
    counts = node.statistics()
    assert counts["message_malformed"] > 100
    assert counts["message_not_subscribed"] > 0
    assert received > 100


def test_mutated_requests_do_not_hurt(
    new_node: NewNode, options: TransportOptions, raw: Callable[[int], zmq.Socket[bytes]]
) -> None:
    server, client = new_node(), new_node()
    server.offer("/double", STRING, STRING, lambda request: request * 2)
    info = client.wait_for_service("/double", WAIT_S)
    before = threading.active_count()
    peer = raw(zmq.DEALER)
    peer.connect(info.address)
    name = full_name(options.partition_path, "/double").encode()
    # Replies go to a port where nobody listens: they must be given up, too.
    good = [name, b"tcp://127.0.0.1:9", b"id", b"node", b"request", b"12", *[STRING.encode()] * 2]
    mutator = Mutator(4)
    for _ in range(MUTATIONS):
        peer.send_multipart(mutator.mutate_frames(good))
    peer.send_multipart([b"the end"])
    assert until(server, "request_malformed", 100)
    assert client.request("/double", b"ab", STRING, STRING, WAIT_S) == b"abab"
    counts = server.statistics()
    assert counts["request_unknown"] > 0
    assert threading.active_count() == before


def test_mutated_replies_do_not_hurt(
    new_node: NewNode, raw: Callable[[int], zmq.Socket[bytes]]
) -> None:
    server, client = new_node(), new_node()
    server.offer("/double", STRING, STRING, lambda request: request * 2)
    assert client.request("/double", b"ab", STRING, STRING, WAIT_S) == b"abab"
    peer = raw(zmq.DEALER)
    peer.connect(client._caller.reply_address)
    node_uuid = client.node_uuid.encode()
    good = [b"@/p@/double", node_uuid, b"no-such-request", b"reply", b"1"]
    mutator = Mutator(5)
    sent = 0
    for _ in range(MUTATIONS):
        peer.send_multipart(mutator.mutate_frames(good))
        sent += 1
    host = HostClock()
    end_ns = host.now_ns() + int(WAIT_S * 1e9)
    seen = 0
    # Replies are read while a request waits for its own, so requests go on meanwhile.
    while seen < sent and host.now_ns() < end_ns:
        assert client.request("/double", b"ab", STRING, STRING, WAIT_S) == b"abab"
        counts = client.statistics()
        seen = counts.get("reply_malformed", 0) + counts.get("reply_not_expected", 0)
    assert seen == sent
    assert client._caller.pending == 0
