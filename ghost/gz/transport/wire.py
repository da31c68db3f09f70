"""The wire implementation of `Node`: the protocol itself, over pyzmq and UDP, with pip only.

Threads: the caller's (publishing, `receive`, `request`); one for discovery, heartbeats and the
sockets' events; and, from the first callback or offered service on, one that calls those.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from types import TracebackType
from typing import Self

import zmq

from ghost.core import ClosedError, ContractViolation
from ghost.core.clock import HostClock, HostTime
from ghost.gz.msgs import base_name, same_type
from ghost.gz.transport.auth import Doorman
from ghost.gz.transport.caller import Caller
from ghost.gz.transport.counters import Counters
from ghost.gz.transport.discovery import Discovery, Half, Listener
from ghost.gz.transport.errors import TransportError, TransportTimeout
from ghost.gz.transport.handles import WireOffer, WirePublisher, WireSubscription
from ghost.gz.transport.hearsay import hearsay
from ghost.gz.transport.identity import new_uuid
from ghost.gz.transport.inbox import Inbox
from ghost.gz.transport.names import full_name, split_name
from ghost.gz.transport.options import TransportOptions
from ghost.gz.transport.outbox import Outbox
from ghost.gz.transport.registry import Entry
from ghost.gz.transport.server import Server
from ghost.gz.transport.types import (
    Incoming,
    MessageCallback,
    ServiceHandler,
    ServiceInfo,
    TopicInfo,
)
from ghost.gz.transport.waker import Waker
from ghost.gz.transport.worker import Worker

__all__ = ["WireNode"]

_JOIN_S = 5.0


class WireNode(Listener):
    """A member of the network; see `Node`. Raises `TransportError` if it cannot become one."""

    def __init__(self, options: TransportOptions, host: HostTime | None = None) -> None:
        self.options = options
        self.process_uuid = new_uuid()
        self.node_uuid = new_uuid()
        self.counters = Counters()
        self._host = host or HostClock()
        self._partition = options.partition_path
        self._lock = threading.RLock()
        self._closed = False
        self._stop = False
        self._worker: Worker | None = None
        self._subscribed: dict[str, list[Inbox]] = {}
        self._waker = Waker()
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._doorman: Doorman | None = None
        self._thread = threading.Thread(target=self._run, name="ghost-gz-discovery", daemon=True)
        try:
            self._open()
        except BaseException:
            self._waker.close()
            self._context.destroy(0)
            raise
        self._thread.start()

    def _open(self) -> None:
        options, counters, host = self.options, self.counters, self._host
        with ExitStack() as undo:
            if options.username is not None and options.password is not None:
                login = (options.username, options.password)
                self._doorman = Doorman(self._context, *login, counters)
                undo.callback(self._doorman.close)
            self._discovery = Discovery(options, self.process_uuid, counters, host, self)
            undo.callback(self._discovery.close)
            self._discovery.topics.subscribers = self._own_subscribers
            self._outbox = Outbox(self._context, options, host)
            undo.callback(self._outbox.close)
            broken = self._discovery.peer_closed
            self._inbox = Inbox(self._context, options, counters, host, broken)
            undo.callback(self._inbox.close)
            self._caller = Caller(self._context, options, self.node_uuid, counters, host, broken)
            undo.callback(self._caller.close)
            self._discovery.start()
            undo.pop_all()

    # --- topics ----------------------------------------------------------------------------

    def advertise(self, topic: str, msg_type: str) -> WirePublisher:
        """Announce a topic of messages of the type `msg_type`."""
        self._check()
        name = full_name(self._partition, topic)
        entry = Entry(name, self._outbox.address, self.process_uuid, new_uuid(), (msg_type,))
        self._discovery.announce(self._discovery.topics, entry)
        with self._lock:
            for inbox in self._subscribed.get(name, ()):
                inbox.connect(entry.address)

        def withdraw() -> None:
            if not self._closed:
                self._discovery.withdraw(self._discovery.topics, entry)

        return WirePublisher(_short(name), name, msg_type, self._outbox, withdraw)

    def subscribe(self, topic: str, callback: MessageCallback | None = None) -> WireSubscription:
        """Receive a topic, now or as soon as somebody publishes it."""
        self._check()
        name = full_name(self._partition, topic)
        short = _short(name)
        inbox = self._inbox
        if callback is not None:
            worker = self._working()
            worker.add_callback(short, callback)
            inbox = worker.inbox
        with self._lock:
            self._subscribed.setdefault(name, []).append(inbox)
            inbox.subscribe(name)
        half = self._discovery.topics
        self._discovery.ask(half, name)
        for entry in half.registry.of(name):
            self._take_from(inbox, entry)

        def wait(timeout_s: float) -> bool:
            return self._wait_connected(inbox, name, timeout_s)

        def unsubscribe() -> None:
            if not self._closed:
                self._unsubscribe(name, inbox, callback)

        return WireSubscription(short, wait, unsubscribe)

    def _unsubscribe(self, name: str, inbox: Inbox, callback: MessageCallback | None) -> None:
        with self._lock:
            if callback is not None and self._worker is not None:
                self._worker.remove_callback(_short(name), callback)
            users = self._subscribed.get(name, [])
            if inbox in users:
                users.remove(inbox)
            if inbox not in users:
                inbox.unsubscribe(name)
            if users:
                return
            self._subscribed.pop(name, None)
        half = self._discovery.topics
        self._discovery.ask_no_more(half, name)
        for entry in half.registry.of(name):
            if entry.process_uuid != self.process_uuid:
                self._discovery.connection(entry, self.node_uuid, new=False)

    def receive(self, timeout_s: float) -> Incoming | None:
        """Return the next message of all subscriptions without a callback, None on timeout."""
        self._check()
        return self._inbox.receive(timeout_s)

    def topics(self) -> list[TopicInfo]:
        """Return the publishers known now, of this partition."""
        self._check()
        return [
            _topic_info(entry)
            for entry in self._discovery.topics.registry.all()
            if self._is_ours(entry)
        ]

    def wait_for_topic(self, topic: str, timeout_s: float) -> TopicInfo:
        """Return the first publisher of a topic. Raises `TransportTimeout` if none appears."""
        name = full_name(self._partition, topic)
        return _topic_info(self._wait_for(self._discovery.topics, name, timeout_s))

    # --- services --------------------------------------------------------------------------

    def offer(
        self, service: str, request_type: str, reply_type: str, handler: ServiceHandler
    ) -> WireOffer:
        """Provide a service."""
        self._check()
        name = full_name(self._partition, service, kind="service")
        server = self._working().server
        entry = Entry(
            name,
            server.address,
            self.process_uuid,
            new_uuid(),
            (request_type, reply_type),
            server.socket_id,
        )
        token = server.add(name, request_type, reply_type, handler)
        self._discovery.announce(self._discovery.services, entry)

        def withdraw() -> None:
            server.remove(name, token)
            if not self._closed:
                self._discovery.withdraw(self._discovery.services, entry)

        return WireOffer(_short(name), withdraw)

    def request(
        self, service: str, data: bytes, request_type: str, reply_type: str, timeout_s: float
    ) -> bytes:
        """Call a service and return its reply.

        A reply type of `gz.msgs.Empty` makes it a one-way call, as in gz-transport: `b""` comes
        back at once and no reply will. Raises `TransportTimeout` after `timeout_s`,
        `ServiceRefused` when the provider says it failed, and `TransportError` if the provider
        takes other types or its connection breaks.
        """
        end_ns = self._host.now_ns() + int(timeout_s * 1e9)
        name = full_name(self._partition, service, kind="service")
        entries = self._discovery.services.registry.of(name)
        if not entries:
            self._wait_for(self._discovery.services, name, timeout_s)
            entries = self._discovery.services.registry.of(name)
        else:
            self._check()
        for entry in entries:
            if same_type(entry.types[0], request_type) and same_type(entry.types[1], reply_type):
                left_s = (end_ns - self._host.now_ns()) / 1e9
                one_way = base_name(reply_type) == "Empty"
                return self._caller.call(entry, data, left_s, one_way=one_way)
        offered = ", ".join(sorted({" → ".join(entry.types) for entry in entries}))
        raise TransportError(
            f"{_short(name)} takes other types: {offered or 'withdrawn meanwhile'}; asked was "
            f"{request_type} → {reply_type}"
        )

    def services(self) -> list[ServiceInfo]:
        """Return the providers known now, of this partition."""
        self._check()
        return [
            _service_info(entry)
            for entry in self._discovery.services.registry.all()
            if self._is_ours(entry)
        ]

    def wait_for_service(self, service: str, timeout_s: float) -> ServiceInfo:
        """Return the first provider of a service. Raises `TransportTimeout` if none appears."""
        name = full_name(self._partition, service, kind="service")
        return _service_info(self._wait_for(self._discovery.services, name, timeout_s))

    # --- the rest --------------------------------------------------------------------------

    def statistics(self) -> dict[str, int]:
        """Return counts of what was seen and ignored, by reason."""
        return self.counters.snapshot()

    def partitions(self) -> list[str]:
        """Return the partitions that anybody was heard in, sorted, for diagnosis."""
        found = set()
        for half in (self._discovery.topics, self._discovery.services):
            for entry in half.registry.all():
                split = split_name(entry.name)
                if split is not None:
                    found.add(split[0].lstrip("/"))
        return sorted(found)

    def close(self) -> None:
        """Withdraw everything, say bye, close the sockets. Idempotent."""
        with self._lock:
            if self._closed:
                return
            worker = self._worker
            if worker is not None and worker.is_current():
                raise ContractViolation("close() may not be called by a callback of the node")
            self._closed = True
        self._discovery.bye()
        self._stop = True
        self._waker.wake()
        self._thread.join(_JOIN_S)
        if worker is not None:
            worker.close()
        self._caller.close()
        self._inbox.close()
        self._outbox.close()
        if self._doorman is not None:
            self._doorman.close()
        self._discovery.close()
        self._waker.close()
        self._context.term()

    def __enter__(self) -> Self:
        """Return the node itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    # --- what discovery tells --------------------------------------------------------------

    def found(self, half: Half, entry: Entry) -> None:
        """Connect to a new publisher of a topic that we take."""
        if half is self._discovery.topics:
            with self._lock:
                inboxes = set(self._subscribed.get(entry.name, ()))
            for inbox in inboxes:
                self._take_from(inbox, entry)

    def beat(self) -> None:
        """Repeat our subscriptions, and let go of connections that lead nowhere."""
        with self._lock:
            subscribed = {name: set(inboxes) for name, inboxes in self._subscribed.items()}
        wanted: dict[Inbox, set[str]] = {self._inbox: set()}
        if self._worker is not None:
            wanted[self._worker.inbox] = set()
        for name, inboxes in subscribed.items():
            for entry in self._discovery.topics.registry.of(name):
                if entry.process_uuid != self.process_uuid:
                    self._discovery.connection(entry, self.node_uuid, new=True)
                for inbox in inboxes:
                    wanted[inbox].add(entry.address)
        for inbox, addresses in wanted.items():
            inbox.keep_only(addresses)

    def _take_from(self, inbox: Inbox, entry: Entry) -> None:
        if inbox.connect(entry.address) and entry.process_uuid != self.process_uuid:
            self._discovery.connection(entry, self.node_uuid, new=True)

    def _own_subscribers(self) -> list[Entry]:
        with self._lock:
            names = sorted(self._subscribed)
        address = self._outbox.address
        return [
            Entry(name, address, self.process_uuid, self.node_uuid, ("google.protobuf.Message",))
            for name in names
        ]

    # --- inside ----------------------------------------------------------------------------

    def _run(self) -> None:
        discovery = self._discovery
        poller = zmq.Poller()
        halves = {source.fileno(): (source, half) for source, half in discovery.sources()}
        monitors = [self._inbox.links, self._caller.links]
        for descriptor in (*halves, self._waker.fileno()):
            poller.register(descriptor, zmq.POLLIN)
        for links in monitors:
            poller.register(links.monitor, zmq.POLLIN)
        if self._doorman is not None:
            poller.register(self._doorman.socket, zmq.POLLIN)
        worker: Worker | None = None
        while not self._stop:
            if worker is None and self._worker is not None:
                worker = self._worker
                monitors.append(worker.inbox.links)
                poller.register(worker.inbox.links.monitor, zmq.POLLIN)
            ready = dict(poller.poll(int(discovery.until_next_s() * 1000) + 1))
            if self._doorman is not None:
                self._doorman.answer()
            for links in monitors:
                if links.monitor in ready:
                    links.read()
            for descriptor, (source, half) in halves.items():
                if descriptor in ready:
                    discovery.serve(source, half)
            if self._waker.fileno() in ready:
                self._waker.clear()
            discovery.upkeep()

    def _working(self) -> Worker:
        with self._lock:
            if self._worker is None:
                server = Server(self._context, self.options, self.counters, self._host)
                broken = self._discovery.peer_closed
                inbox = Inbox(self._context, self.options, self.counters, self._host, broken)
                self._worker = Worker(server, inbox, self.counters)
                self._worker.start()
                self._waker.wake()
            return self._worker

    def _wait_for(self, half: Half, name: str, timeout_s: float) -> Entry:
        self._check()
        found = half.registry.wait_for(name, 0.0)
        if found is None:
            self._discovery.ask(half, name)
            try:
                found = half.registry.wait_for(name, timeout_s)
            finally:
                with self._lock:
                    if half is not self._discovery.topics or name not in self._subscribed:
                        self._discovery.ask_no_more(half, name)
        if found is None:
            self._check()
            short = _short(name)
            ignored = self.counters.snapshot()
            said = hearsay(half, self.process_uuid, self._partition, short, ignored)
            raise TransportTimeout(
                f"no {half.kind} {short} in the partition {self.options.partition!r} within "
                f"{timeout_s:g} s; {said}"
            )
        return found

    def _wait_connected(self, inbox: Inbox, name: str, timeout_s: float) -> bool:
        end_ns = self._host.now_ns() + int(timeout_s * 1e9)
        entry = self._discovery.topics.registry.wait_for(name, timeout_s)
        if entry is None:
            return False
        return inbox.links.wait_up(entry.address, (end_ns - self._host.now_ns()) / 1e9)

    def _is_ours(self, entry: Entry) -> bool:
        return entry.name.startswith(f"@{self._partition}@")

    def _check(self) -> None:
        if self._closed:
            raise ClosedError("the transport node is closed")


def _short(name: str) -> str:
    return name.rpartition("@")[2]


def _topic_info(entry: Entry) -> TopicInfo:
    return TopicInfo(
        _short(entry.name), entry.types[0], entry.address, entry.process_uuid, entry.node_uuid
    )


def _service_info(entry: Entry) -> ServiceInfo:
    return ServiceInfo(
        _short(entry.name), entry.types[0], entry.types[1], entry.address, entry.process_uuid
    )
