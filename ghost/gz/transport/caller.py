"""Calling services: the request goes out on the caller's thread and the reply comes in on it."""

from __future__ import annotations

import select
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import zmq

from ghost.core import ClosedError
from ghost.core.clock import HostTime
from ghost.gz.transport.counters import Counters
from ghost.gz.transport.errors import ServiceRefused, TransportError, TransportTimeout
from ghost.gz.transport.identity import new_uuid
from ghost.gz.transport.links import Links
from ghost.gz.transport.options import TransportOptions
from ghost.gz.transport.registry import Entry
from ghost.gz.transport.sockets import bind_any_port, disconnect
from ghost.gz.transport.waker import Waker

__all__ = ["Caller", "Pending"]

# provider's socket id, topic, node uuid, request uuid, reply, result
_REPLY_FRAMES = 6
# A connection that is up but not yet routable, or known as up although it just broke, is tried
# again this often. The handshake's event ends a wait for a new connection, not this.
_ROUTE_RETRY_S = 0.005


@dataclass
class Pending:
    """A request on its way: what came back, or that its provider's connection broke."""

    address: str
    reply: bytes = b""
    result: bytes = b""
    done: bool = False
    broken: bool = field(default=False)


class Caller:
    """The requesting half of a node. Any thread may call `call`; several may at the same time."""

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        options: TransportOptions,
        node_uuid: str,
        counters: Counters,
        host: HostTime,
        on_broken: Callable[[str], None],
    ) -> None:
        self._on_broken = on_broken
        self._node_uuid = node_uuid.encode()
        self._counters = counters
        self._host = host
        self._socket_id = new_uuid().encode()
        self._send_lock = threading.Lock()
        self._connected: set[str] = set()
        self._pending: dict[bytes, Pending] = {}
        self._turn = threading.Condition()
        self._someone_reads = False
        self._closed = False
        self._out: zmq.Socket[bytes] = context.socket(zmq.ROUTER)
        self._out.set(zmq.LINGER, 0)
        self._out.set(zmq.SNDHWM, 0)
        self._out.set(zmq.ROUTER_MANDATORY, 1)
        self._out.set(zmq.RECONNECT_IVL, 50)
        self._in: zmq.Socket[bytes] = context.socket(zmq.ROUTER)
        self._in.set(zmq.LINGER, 0)
        self._in.set(zmq.RCVHWM, 0)
        # A provider whose connection broke and that comes back is the new one, not the old.
        self._in.set(zmq.ROUTER_HANDOVER, 1)
        self._in.set(zmq.ROUTING_ID, self._socket_id)
        try:
            self._address = bind_any_port(self._in, options.ip).encode()
        except TransportError:
            self._out.close(0)
            self._in.close(0)
            raise
        self._waker = Waker()
        self.links = Links(self._out, counters, on_down=self._broke)
        self._poll = select.poll()
        self._poll.register(int(self._in.get(zmq.FD)), select.POLLIN)
        self._poll.register(self._waker.fileno(), select.POLLIN)

    @property
    def reply_address(self) -> str:
        """Where providers send their replies."""
        return self._address.decode()

    @property
    def pending(self) -> int:
        """How many requests wait for their reply."""
        return len(self._pending)

    def call(self, provider: Entry, data: bytes, timeout_s: float, *, one_way: bool) -> bytes:
        """Send a request and return the reply (`b""` at once if `one_way`).

        Raises `TransportTimeout` on timeout, `ServiceRefused` if the provider says it failed, and
        `TransportError` as soon as the provider's connection breaks.
        """
        end_ns = self._host.now_ns() + int(timeout_s * 1e9)
        request_id = new_uuid().encode()
        pending = Pending(provider.address)
        if not one_way:
            self._pending[request_id] = pending
        try:
            self._send(provider, request_id, data, end_ns, timeout_s)
            if one_way:
                return b""
            self._wait(pending, end_ns)
        finally:
            self._pending.pop(request_id, None)
        service = provider.name.rpartition("@")[2]
        if not pending.done:
            if pending.broken:
                raise TransportError(
                    f"the provider of {service} at {provider.address} closed the connection before "
                    "it answered; it may or may not have done what was asked"
                )
            if self._closed:
                raise ClosedError("the node was closed while a request was waiting")
            raise TransportTimeout(
                f"no answer from {service} at {provider.address} within {timeout_s:g} s; the "
                "request was delivered, so the provider is busy, frozen or stopped"
            )
        if pending.result != b"1":
            raise ServiceRefused(service, provider.address)
        return pending.reply

    def _send(
        self, provider: Entry, request_id: bytes, data: bytes, end_ns: int, timeout_s: float
    ) -> None:
        frames = (
            provider.socket_id.encode(),
            provider.name.encode(),
            self._address,
            self._socket_id,
            self._node_uuid,
            request_id,
            data,
            provider.types[0].encode(),
            provider.types[1].encode(),
        )
        while not self._try_send(provider.address, frames):
            left_s = (end_ns - self._host.now_ns()) / 1e9
            if left_s <= 0:
                service = provider.name.rpartition("@")[2]
                raise TransportTimeout(
                    f"could not reach {service} at {provider.address} within {timeout_s:g} s; it "
                    "is advertised, but takes no connection there"
                )
            if self.links.is_up(provider.address):
                self._pause(min(left_s, _ROUTE_RETRY_S))
            else:
                self.links.wait_up(provider.address, left_s)

    def _try_send(self, address: str, frames: tuple[bytes, ...]) -> bool:
        with self._send_lock:
            if self._closed:
                raise ClosedError("the node is closed; it calls no service")
            try:
                if address not in self._connected:
                    self._out.connect(address)
                    self._connected.add(address)
                # Makes the socket take in what its own thread has to tell, such as a new route.
                self._out.get(zmq.EVENTS)
                self._out.send_multipart(frames, zmq.NOBLOCK)
            except zmq.ZMQError as error:
                if error.errno in (zmq.EHOSTUNREACH, zmq.EAGAIN):
                    return False
                raise TransportError(f"cannot send to {address}: {error}") from error
            return True

    def _pause(self, seconds: float) -> None:
        with self._turn:
            self._turn.wait(seconds)

    def _wait(self, pending: Pending, end_ns: int) -> None:
        """Wait for the reply. One of the waiting threads reads, for all of them."""
        while not self._is_over(pending):
            left_ns = end_ns - self._host.now_ns()
            if left_ns <= 0:
                return
            with self._turn:
                if self._is_over(pending):
                    return
                if self._someone_reads:
                    self._turn.wait(left_ns / 1e9)
                    continue
                self._someone_reads = True
            try:
                self._read()
                if not self._is_over(pending):
                    for descriptor, _ in self._poll.poll(left_ns // 1_000_000 + 1):
                        if descriptor == self._waker.fileno():
                            self._waker.clear()
                    self._read()
            finally:
                with self._turn:
                    self._someone_reads = False
                    self._turn.notify_all()

    def _is_over(self, pending: Pending) -> bool:
        return pending.done or pending.broken or self._closed

    def _read(self) -> None:
        while True:
            try:
                frames = self._in.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            if len(frames) != _REPLY_FRAMES:
                self._counters.count("reply_malformed")
                continue
            pending = self._pending.get(frames[3])
            if pending is None or frames[2] != self._node_uuid:
                # Late: the caller gave up. Or not for us at all.
                self._counters.count("reply_not_expected")
                continue
            pending.reply, pending.result, pending.done = frames[4], frames[5], True

    def _broke(self, address: str) -> None:
        """Note that a connection broke (on the thread that reads `links`)."""
        with self._send_lock:
            if address in self._connected:
                self._connected.discard(address)
                disconnect(self._out, address, self._counters)
        self._on_broken(address)
        for pending in tuple(self._pending.values()):
            if pending.address == address:
                pending.broken = True
        self._waker.wake()
        with self._turn:
            self._turn.notify_all()

    def close(self) -> None:
        """Close the sockets; waiting calls raise `ClosedError`. Idempotent."""
        with self._send_lock:
            if self._closed:
                return
            self._closed = True
        self._waker.wake()
        with self._turn:
            self._turn.notify_all()
            self._turn.wait_for(lambda: not self._someone_reads, 1.0)
        with self._send_lock:
            self.links.close()
            self._out.close(0)
            self._in.close(0)
            self._waker.close()
