"""Discovery: who is there and what they offer, told and heard by datagrams.

One `Discovery` has two halves that work alike, one for topics and one for services, each with its
own port. Everything received is dispatched on the thread that calls `serve`.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass, field

from ghost.core.clock import HostTime
from ghost.gz.msgs import Discovery as Message
from ghost.gz.transport.counters import Counters
from ghost.gz.transport.datagram import (
    MAX_DATAGRAM,
    STATISTICS_VERSION,
    VERSION,
    decode,
    encode,
    is_address,
)
from ghost.gz.transport.errors import TransportError
from ghost.gz.transport.names import split_name
from ghost.gz.transport.options import TransportOptions
from ghost.gz.transport.registry import Entry, Registry
from ghost.gz.transport.udp import Channel

__all__ = ["HEARTBEAT_NS", "SILENCE_NS", "Discovery", "Half", "Listener"]

HEARTBEAT_NS = 1_000_000_000
SILENCE_NS = 3_000_000_000
# Datagrams handled in one go, so that a flood cannot keep the heartbeat from its turn.
_BATCH = 512
# Room for what relays and later messages about the same entry add.
_SPARE = 1024
# Names of real topics have a tenth of it; memory is not for strangers to fill.
_MAX_TEXT = 4096


class Listener:
    """What the owner of a `Discovery` is told, on the serving thread. Methods do nothing here."""

    def found(self, half: Half, entry: Entry) -> None:
        """A publisher or provider is new, or advertises again after it was gone."""

    def lost(self, half: Half, entry: Entry) -> None:
        """A publisher or provider was withdrawn, said bye or fell silent."""

    def beat(self) -> None:
        """A heartbeat was sent."""


@dataclass
class Half:
    """Discovery of topics or of services."""

    kind: str
    channel: Channel
    registry: Registry
    own: dict[tuple[str, str], Entry] = field(default_factory=dict)
    wanted: set[str] = field(default_factory=set)
    subscribers: Callable[[], list[Entry]] = list


class Discovery:
    """Tells the network about our entries and keeps the registries of everybody's."""

    def __init__(
        self,
        options: TransportOptions,
        process_uuid: str,
        counters: Counters,
        host: HostTime,
        listener: Listener,
    ) -> None:
        self.process_uuid = process_uuid
        self._version = STATISTICS_VERSION if options.topic_statistics else VERSION
        ip, group, relays = options.ip, options.multicast_ip, options.relays
        topics = Channel(ip, group, options.msg_port, relays, counters)
        try:
            services = Channel(ip, group, options.srv_port, relays, counters)
        except TransportError:
            topics.close()
            raise
        self.topics = Half("topic", topics, Registry(SILENCE_NS))
        self.services = Half("service", services, Registry(SILENCE_NS))
        self._halves = (self.topics, self.services)
        self._counters = counters
        self._host = host
        self._listener = listener
        self._next_beat_ns = host.now_ns()

    # --- telling ---------------------------------------------------------------------------

    def start(self) -> None:
        """Send the first heartbeat. Raises `TransportError` if the network cannot carry it."""
        for half in self._halves:
            half.channel.first_to_group(self._datagram(Message.HEARTBEAT))
        self.beat()

    def announce(self, half: Half, entry: Entry) -> None:
        """Offer something: now, and again with every heartbeat.

        Raises `TransportError` if its names are too long to be announced.
        """
        message = self._message(Message.ADVERTISE, entry)
        if message.ByteSize() > MAX_DATAGRAM - _SPARE:
            raise TransportError(
                f"the {half.kind} {entry.name[:60]}… of the type {entry.types[0][:60]}… does not "
                "fit into a datagram; give it a shorter name"
            )
        half.own[entry.name, entry.node_uuid] = entry
        half.registry.add(entry)
        self.send(half, message)

    def withdraw(self, half: Half, entry: Entry) -> None:
        """Offer something no longer."""
        half.own.pop((entry.name, entry.node_uuid), None)
        half.registry.remove(entry.name, entry.process_uuid, entry.node_uuid)
        self.send(half, self._message(Message.UNADVERTISE, entry))

    def ask(self, half: Half, name: str) -> None:
        """Ask who offers a name: now, and with every heartbeat until somebody does."""
        half.wanted.add(name)
        self._ask(half, name)

    def ask_no_more(self, half: Half, name: str) -> None:
        """Take back an `ask`."""
        half.wanted.discard(name)

    def connection(self, publisher: Entry, node_uuid: str, *, new: bool) -> None:
        """Tell a publisher that we take its topic from now on, or no longer."""
        kind = Message.NEW_CONNECTION if new else Message.END_CONNECTION
        message = self._message(kind, publisher)
        message.pub.process_uuid = self.process_uuid
        message.pub.node_uuid = node_uuid
        message.pub.msg_pub.ctrl = publisher.process_uuid
        self.send(self.topics, message)

    def send(self, half: Half, message: Message) -> None:
        """Send to the group and, marked as relayed, to the relays."""
        half.channel.to_group(encode(message))
        if half.channel.relays:
            message.flags.relay = True
            half.channel.to_relays(encode(message))

    def beat(self) -> None:
        """Send the heartbeats, repeat what we offer and ask again for what nobody offers."""
        self._next_beat_ns = self._host.now_ns() + HEARTBEAT_NS
        for half in self._halves:
            self.send(half, self._bare(Message.HEARTBEAT))
            for entry in tuple(half.own.values()):
                self.send(half, self._message(Message.ADVERTISE, entry))
            for name in tuple(half.wanted):
                if not half.registry.of(name):
                    self._ask(half, name)
        self._listener.beat()

    def bye(self) -> None:
        """Tell everybody that we are gone."""
        for half in self._halves:
            self.send(half, self._bare(Message.BYE))

    def _ask(self, half: Half, name: str) -> None:
        message = self._bare(Message.SUBSCRIBE)
        message.sub.topic = name
        self.send(half, message)

    def _bare(self, kind: Message.Type) -> Message:
        return Message(version=self._version, process_uuid=self.process_uuid, type=kind)

    def _datagram(self, kind: Message.Type) -> bytes:
        return encode(self._bare(kind))

    def _message(self, kind: Message.Type, entry: Entry) -> Message:
        message = self._bare(kind)
        pub = message.pub
        pub.topic = entry.name
        pub.address = entry.address
        pub.process_uuid = entry.process_uuid
        pub.node_uuid = entry.node_uuid
        pub.scope = Message.Publisher.ALL
        if entry.socket_id:
            pub.srv_pub.socket_id = entry.socket_id
            pub.srv_pub.request_type, pub.srv_pub.response_type = entry.types
        else:
            pub.msg_pub.msg_type = entry.types[0]
        return message

    # --- hearing ---------------------------------------------------------------------------

    def sources(self) -> list[tuple[socket.socket, Half]]:
        """Return the sockets to poll for reading."""
        return [
            (source, half)
            for half in self._halves
            for source in (half.channel.multicast, half.channel.unicast)
        ]

    def until_next_s(self) -> float:
        """Return the seconds until `upkeep` has something to do."""
        return max(0.0, (self._next_beat_ns - self._host.now_ns()) / 1e9)

    def upkeep(self) -> None:
        """Send the heartbeat if it is due, and drop the processes that fell silent."""
        now_ns = self._host.now_ns()
        if now_ns < self._next_beat_ns:
            return
        self.beat()
        for half in self._halves:
            for process_uuid in half.registry.silent(now_ns):
                self._counters.count("discovery_peer_silent")
                self._drop(half, process_uuid)

    def serve(self, source: socket.socket, half: Half) -> None:
        """Handle what a readable socket holds."""
        for _ in range(_BATCH):
            received = half.channel.receive(source)
            if received is None:
                return
            self.handle(half, *received)

    def handle(self, half: Half, data: bytes, sender: str) -> None:
        """Handle one datagram. Whatever is in it, nothing is raised: bad ones are counted."""
        message = decode(data, self.process_uuid, self._version)
        if isinstance(message, str):
            self._counters.count(message)
            return
        try:
            if self._relay(half, message, sender):
                return
        except TransportError:
            # The flag made it longer than a datagram; no real peer sends one near that size.
            self._counters.count("discovery_wrong_length")
            return
        if not half.registry.heard(message.process_uuid, self._host.now_ns()):
            self._counters.count("discovery_too_many_peers")
            return
        self._counters.count("discovery_heard")
        self._dispatch(half, message, sender)

    def _relay(self, half: Half, message: Message, sender: str) -> bool:
        if message.flags.relay:
            # Comes from a relay: pass it on to our group, where we hear it ourselves, too.
            message.flags.relay = False
            message.flags.no_relay = True
            half.channel.to_group(encode(message))
            half.channel.add_relay(sender)
            self._counters.count("discovery_relayed")
            return True
        if half.channel.relays and not message.flags.no_relay:
            onward = Message()
            onward.CopyFrom(message)
            onward.flags.relay = True
            half.channel.to_relays(encode(onward))
        return False

    def peer_closed(self, address: str) -> None:
        """A peer's connection broke: forget its process until it advertises again."""
        uuids = {uuid for half in self._halves for uuid in half.registry.processes_at(address)}
        for uuid in uuids - {self.process_uuid}:
            self._counters.count("discovery_peer_closed")
            for half in self._halves:
                self._drop(half, uuid)

    def _dispatch(self, half: Half, message: Message, sender: str) -> None:
        kind = message.type
        if kind in (Message.HEARTBEAT, Message.SUBSCRIBERS_REP):
            return
        if kind == Message.BYE:
            self._drop(half, message.process_uuid)
        elif kind == Message.SUBSCRIBE:
            for (name, _), entry in tuple(half.own.items()):
                if name == message.sub.topic:
                    self.send(half, self._message(Message.ADVERTISE, entry))
        elif kind == Message.SUBSCRIBERS_REQ:
            for entry in half.subscribers():
                self.send(half, self._message(Message.SUBSCRIBERS_REP, entry))
        elif kind == Message.ADVERTISE:
            self._advertised(half, message, sender)
        elif kind == Message.UNADVERTISE:
            pub = message.pub
            if pub.process_uuid == self.process_uuid:
                self._counters.count("discovery_bad_advertisement")
                return
            gone = half.registry.remove(pub.topic, pub.process_uuid, pub.node_uuid)
            if gone is not None:
                self._listener.lost(half, gone)
        elif kind in (Message.NEW_CONNECTION, Message.END_CONNECTION):
            # What our publishers send is decided by the subscriptions that arrive on their
            # socket, not by these.
            self._counters.count("discovery_connections_heard")
        else:
            self._counters.count("discovery_unknown_type")

    def _advertised(self, half: Half, message: Message, sender: str) -> None:
        pub = message.pub
        if half is self.topics:
            types: tuple[str, ...] = (pub.msg_pub.msg_type,)
            complete = pub.HasField("msg_pub")
        else:
            types = (pub.srv_pub.request_type, pub.srv_pub.response_type)
            complete = bool(pub.srv_pub.socket_id)
        if not (
            complete
            and pub.process_uuid
            and pub.process_uuid != self.process_uuid
            and split_name(pub.topic)
            and is_address(pub.address)
            and max(map(len, (pub.topic, pub.node_uuid, pub.srv_pub.socket_id, *types)))
            <= _MAX_TEXT
        ):
            self._counters.count("discovery_bad_advertisement")
            return
        if pub.scope == Message.Publisher.PROCESS:
            return
        if pub.scope == Message.Publisher.HOST and not half.channel.is_local(sender):
            return
        socket_id = pub.srv_pub.socket_id
        entry = Entry(pub.topic, pub.address, pub.process_uuid, pub.node_uuid, types, socket_id)
        if not half.registry.heard(pub.process_uuid, self._host.now_ns()):
            self._counters.count("discovery_too_many_peers")
            return
        news = half.registry.add(entry)
        if news is None:
            self._counters.count("discovery_too_many_entries")
        elif news:
            self._listener.found(half, entry)

    def _drop(self, half: Half, process_uuid: str) -> None:
        if process_uuid == self.process_uuid:
            return
        for entry in half.registry.remove_process(process_uuid):
            self._listener.lost(half, entry)

    def close(self) -> None:
        """Close the sockets. Idempotent."""
        for half in self._halves:
            half.channel.close()
