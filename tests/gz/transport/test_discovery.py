"""Discovery, datagram by datagram: what is told and heard, and when somebody counts as gone."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest

from ghost.gz.msgs import Discovery as Message
from ghost.gz.transport import TransportError, TransportOptions
from ghost.gz.transport.counters import Counters
from ghost.gz.transport.datagram import VERSION, decode, encode
from ghost.gz.transport.discovery import HEARTBEAT_NS, SILENCE_NS, Discovery, Half, Listener
from ghost.gz.transport.registry import Entry

OWN, PEER = "own-process", "peer-process"
TOPIC = "@/p@/clock"
ADDRESS = "tcp://127.0.0.1:40001"
PATIENCE_S = 10.0


class FakeHost:
    """A host clock that moves by hand."""

    def __init__(self) -> None:
        self.at_ns = 0

    def now_ns(self) -> int:
        return self.at_ns

    def sleep_until_ns(self, at_ns: int) -> None:
        self.at_ns = max(self.at_ns, at_ns)


class Log(Listener):
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.found_entries: list[Entry] = []
        self.lost_entries: list[Entry] = []

    def found(self, _: Half, entry: Entry) -> None:
        self.found_entries.append(entry)

    def lost(self, _: Half, entry: Entry) -> None:
        self.lost_entries.append(entry)


class Bench:
    """A discovery with a clock of its own, and an ear in its multicast group."""

    def __init__(self, options: TransportOptions) -> None:
        self.host = FakeHost()
        self.log = Log()
        self.counters = Counters()
        self.options = options
        self.discovery = Discovery(options, OWN, self.counters, self.host, self.log)
        self.ear = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.ear.bind((options.multicast_ip, options.msg_port))
        join = socket.inet_aton(options.multicast_ip) + socket.inet_aton(options.ip)
        self.ear.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, join)
        self.ear.settimeout(PATIENCE_S)

    def hear(self, message: Message, sender: str = "127.0.0.1") -> None:
        """Let the discovery of topics hear a message."""
        self.discovery.handle(self.discovery.topics, encode(message), sender)

    def told(self) -> Message:
        """Return the next message that the group got."""
        message = decode(self.ear.recv(65_536), "nobody")
        assert isinstance(message, Message)
        return message

    def names(self) -> list[str]:
        return [entry.name for entry in self.discovery.topics.registry.all()]


@pytest.fixture
def bench(options: TransportOptions) -> Iterator[Bench]:
    made = Bench(options)
    yield made
    made.discovery.close()
    made.ear.close()


def bare(kind: Message.Type, uuid: str = PEER) -> Message:
    """A message without contents."""
    return Message(version=VERSION, process_uuid=uuid, type=kind)


def advertise(topic: str = TOPIC, uuid: str = PEER, node: str = "n") -> Message:
    """An advertisement by a peer."""
    message = bare(Message.ADVERTISE, uuid)
    pub = message.pub
    pub.topic, pub.address, pub.process_uuid, pub.node_uuid = topic, ADDRESS, uuid, node
    pub.scope = Message.Publisher.ALL
    pub.msg_pub.msg_type = "gz.msgs.Clock"
    return message


def own_entry(topic: str = TOPIC) -> Entry:
    """A publisher of ours."""
    return Entry(topic, "tcp://127.0.0.1:50001", OWN, "own-node", ("gz.msgs.Clock",))


def test_an_advertisement_is_news_once(bench: Bench) -> None:
    for _ in range(3):
        bench.hear(advertise())
    assert bench.log.found_entries == [Entry(TOPIC, ADDRESS, PEER, "n", ("gz.msgs.Clock",))]
    assert bench.names() == [TOPIC]


def test_unadvertise_takes_one_node_out(bench: Bench) -> None:
    bench.hear(advertise(node="n"))
    bench.hear(advertise(node="m"))
    gone = advertise(node="n")
    gone.type = Message.UNADVERTISE
    bench.hear(gone)
    assert [entry.node_uuid for entry in bench.log.lost_entries] == ["n"]
    assert bench.names() == [TOPIC]


def test_bye_takes_the_process_out(bench: Bench) -> None:
    bench.hear(advertise())
    bench.hear(advertise("@/p@/stats"))
    bench.hear(advertise(uuid="third"))
    bench.hear(bare(Message.BYE))
    assert [entry.name for entry in bench.log.lost_entries] == [TOPIC, "@/p@/stats"]
    assert bench.names() == [TOPIC]


def test_three_seconds_of_silence_are_a_bye(bench: Bench) -> None:
    bench.hear(advertise())
    bench.host.at_ns = SILENCE_NS
    bench.discovery.upkeep()
    assert bench.names() == [TOPIC]
    bench.host.at_ns = SILENCE_NS + HEARTBEAT_NS
    bench.discovery.upkeep()
    assert bench.names() == []
    assert bench.log.lost_entries == bench.log.found_entries
    bench.hear(advertise())
    assert len(bench.log.found_entries) == 2


def test_a_heartbeat_is_a_sign_of_life(bench: Bench) -> None:
    bench.hear(advertise())
    for second in range(10):
        bench.host.at_ns = second * HEARTBEAT_NS
        bench.hear(bare(Message.HEARTBEAT))
        bench.discovery.upkeep()
    assert bench.names() == [TOPIC]
    assert bench.log.lost_entries == []


def test_a_broken_connection_is_a_bye(bench: Bench) -> None:
    bench.hear(advertise())
    bench.discovery.peer_closed("tcp://127.0.0.1:1")
    assert bench.names() == [TOPIC]
    bench.discovery.peer_closed(ADDRESS)
    assert bench.names() == []


def test_each_second_a_heartbeat_and_what_we_offer(bench: Bench) -> None:
    discovery = bench.discovery
    discovery.announce(discovery.topics, own_entry())
    assert bench.told().type == Message.ADVERTISE
    for second in (0, 1, 2):
        bench.host.at_ns = second * HEARTBEAT_NS
        discovery.upkeep()
        discovery.upkeep()  # a second time within the second: nothing
        kinds = [bench.told().type, bench.told().type]
        assert kinds == [Message.HEARTBEAT, Message.ADVERTISE]
    assert discovery.until_next_s() == pytest.approx(1.0)
    discovery.withdraw(discovery.topics, own_entry())
    told = bench.told()
    assert (told.type, told.pub.topic) == (Message.UNADVERTISE, TOPIC)
    discovery.bye()
    assert bench.told().type == Message.BYE


def test_a_question_is_answered_and_repeated_until_it_is(bench: Bench) -> None:
    discovery = bench.discovery
    discovery.ask(discovery.topics, TOPIC)
    told = bench.told()
    assert (told.type, told.sub.topic) == (Message.SUBSCRIBE, TOPIC)
    discovery.beat()
    assert [bench.told().type, bench.told().type] == [Message.HEARTBEAT, Message.SUBSCRIBE]
    bench.hear(advertise())
    discovery.beat()
    discovery.bye()
    assert [bench.told().type, bench.told().type] == [Message.HEARTBEAT, Message.BYE]

    discovery.announce(discovery.topics, own_entry("@/p@/ours"))
    assert bench.told().type == Message.ADVERTISE
    question = bare(Message.SUBSCRIBE)
    question.sub.topic = "@/p@/ours"
    bench.hear(question)
    told = bench.told()
    assert (told.type, told.pub.topic, told.pub.process_uuid) == (
        Message.ADVERTISE,
        "@/p@/ours",
        OWN,
    )


def test_a_new_connection_names_both_processes(bench: Bench) -> None:
    publisher = Entry(TOPIC, ADDRESS, PEER, "n", ("gz.msgs.Clock",))
    for new, kind in ((True, Message.NEW_CONNECTION), (False, Message.END_CONNECTION)):
        bench.discovery.connection(publisher, "my-node", new=new)
        told = bench.told()
        assert (told.type, told.process_uuid) == (kind, OWN)
        assert (told.pub.topic, told.pub.address) == (TOPIC, ADDRESS)
        assert (told.pub.process_uuid, told.pub.node_uuid) == (OWN, "my-node")
        assert (told.pub.msg_pub.ctrl, told.pub.msg_pub.msg_type) == (PEER, "gz.msgs.Clock")


def test_who_asks_for_subscribers_gets_ours(bench: Bench) -> None:
    bench.discovery.topics.subscribers = lambda: [own_entry()]
    bench.hear(bare(Message.SUBSCRIBERS_REQ))
    told = bench.told()
    assert (told.type, told.pub.topic) == (Message.SUBSCRIBERS_REP, TOPIC)


def test_what_is_ignored_is_counted(bench: Bench) -> None:
    handle = bench.discovery.handle
    topics = bench.discovery.topics
    other = advertise()
    other.version = VERSION + 1
    bench.hear(other)
    bench.hear(advertise(uuid=OWN))
    good = encode(advertise())
    handle(topics, good + b"x", "127.0.0.1")
    handle(topics, good[:-1], "127.0.0.1")
    handle(topics, b"", "127.0.0.1")
    handle(topics, b"\x03\x00\xff\xff\xff", "127.0.0.1")
    bench.hear(bare(Message.ADVERTISE))
    forged = advertise()
    forged.pub.process_uuid = OWN
    bench.hear(forged)
    forged.type = Message.UNADVERTISE
    bench.hear(forged)
    for address in (
        "tcp://example.org:1",
        "ipc:///tmp/x",
        "tcp://1.2.3.400:5",
        "",
        "tcp://1.2.3.4:0",
    ):
        bad = advertise()
        bad.pub.address = address
        bench.hear(bad)
    bench.hear(Message(version=VERSION, process_uuid=PEER, type=Message.UNINITIALIZED))
    nobody = advertise()
    nobody.process_uuid = ""
    bench.hear(nobody)
    assert bench.names() == []
    seen = bench.counters.snapshot()
    seen.pop("discovery_heard")
    assert seen == {
        "discovery_other_version": 1,
        "discovery_own": 1,
        "discovery_wrong_length": 3,
        "discovery_malformed": 2,
        "discovery_bad_advertisement": 8,
        "discovery_unknown_type": 1,
    }


def test_names_too_long_for_a_datagram_do_not_stop_the_heartbeat(bench: Bench) -> None:
    discovery = bench.discovery
    entry = Entry(TOPIC, "tcp://127.0.0.1:50001", OWN, "own-node", ("x" * 65_000,))
    with pytest.raises(TransportError, match="shorter name"):
        discovery.announce(discovery.topics, entry)
    discovery.beat()
    assert bench.told().type == Message.HEARTBEAT
    long = advertise()
    long.pub.msg_pub.msg_type = "x" * 65_000
    bench.hear(long)
    assert bench.names() == []


def test_a_flood_of_peers_fills_no_memory(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ghost.gz.transport.registry._MAX_ENTRIES", 50)
    for i in range(200):
        bench.hear(advertise(f"@/p@/t{i}", uuid=f"peer{i % 60}", node=f"n{i}"))
    assert len(bench.names()) <= 50
    assert len(bench.discovery.topics.registry.processes()) == 50
    counts = bench.counters.snapshot()
    assert counts["discovery_too_many_peers"] > 0
    assert counts["discovery_too_many_entries"] > 0


def test_scopes(bench: Bench) -> None:
    mine = advertise()
    mine.pub.scope = Message.Publisher.PROCESS
    bench.hear(mine)
    host = advertise("@/p@/host")
    host.pub.scope = Message.Publisher.HOST
    bench.hear(host, "10.0.0.9")
    assert bench.names() == []
    bench.hear(host, "127.0.0.1")
    assert bench.names() == ["@/p@/host"]


def test_what_comes_from_a_relay_is_passed_on_and_its_sender_learnt(bench: Bench) -> None:
    relayed = advertise()
    relayed.flags.relay = True
    bench.hear(relayed, "127.0.0.9")
    assert bench.names() == []  # it counts when it comes back through the group
    told = bench.told()
    assert (told.flags.relay, told.flags.no_relay) == (False, True)
    assert told.process_uuid == PEER
    assert bench.discovery.topics.channel.relays == ("127.0.0.9",)
    bench.hear(told)
    assert bench.names() == [TOPIC]


def test_what_the_group_says_goes_to_the_relays(options: TransportOptions) -> None:
    far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    far.bind(("127.0.0.7", options.msg_port))
    far.settimeout(PATIENCE_S)
    bench = Bench(replace(options, relays=("127.0.0.7",)))
    try:
        bench.hear(advertise())
        passed_on = decode(far.recv(65_536), "nobody")
        assert isinstance(passed_on, Message)
        assert (passed_on.flags.relay, passed_on.process_uuid) == (True, PEER)
        unrelayed = advertise()
        unrelayed.flags.no_relay = True
        bench.hear(unrelayed)
        bench.discovery.bye()  # our own news go there, too
        own = decode(far.recv(65_536), "nobody")
        assert isinstance(own, Message)
        assert (own.flags.relay, own.type, own.process_uuid) == (True, Message.BYE, OWN)
    finally:
        bench.discovery.close()
        bench.ear.close()
        far.close()
