"""Offering services: requests in, handlers called, replies out, all on one thread."""

from __future__ import annotations

import logging
import threading
from collections import deque
from dataclasses import dataclass

import zmq

from ghost.core.clock import HostTime
from ghost.gz.msgs import base_name, same_type
from ghost.gz.transport.counters import Counters
from ghost.gz.transport.datagram import is_address
from ghost.gz.transport.errors import TransportError
from ghost.gz.transport.identity import new_uuid
from ghost.gz.transport.links import Links
from ghost.gz.transport.options import TransportOptions
from ghost.gz.transport.sockets import bind_any_port, disconnect
from ghost.gz.transport.types import ServiceHandler

__all__ = ["Server"]

_LOG = logging.getLogger("ghost.gz.transport")

# requester's socket id, topic, reply address, reply socket id, node uuid, request uuid, request,
# request type, reply type
_REQUEST_FRAMES = 9
_BATCH = 256
# A caller that cannot be reached for so long has given up.
_REPLY_WITHIN_NS = 5_000_000_000
_RETRY_MS = 5
_IDLE_MS = 500


@dataclass(frozen=True, slots=True)
class _Offered:
    request_type: str
    reply_type: str
    handler: ServiceHandler


@dataclass(slots=True)
class _Reply:
    address: str
    frames: tuple[bytes, ...]
    until_ns: int


class Server:
    """The replying half of a node. `add` and `remove` from any thread, the rest from one."""

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        options: TransportOptions,
        counters: Counters,
        host: HostTime,
    ) -> None:
        self._counters = counters
        self._host = host
        self._lock = threading.Lock()
        self._offered: dict[str, list[_Offered]] = {}
        self._connected: set[str] = set()
        self._waiting: deque[_Reply] = deque()
        self.socket_id = new_uuid()
        self.socket: zmq.Socket[bytes] = context.socket(zmq.ROUTER)
        self.socket.set(zmq.LINGER, 0)
        self.socket.set(zmq.RCVHWM, 0)
        self.socket.set(zmq.SNDHWM, 0)
        self.socket.set(zmq.ROUTER_MANDATORY, 1)
        self.socket.set(zmq.ROUTING_ID, self.socket_id.encode())
        try:
            self.address = bind_any_port(self.socket, options.ip)
        except TransportError:
            self.socket.close(0)
            raise
        self.links = Links(self.socket, counters, on_down=self._broke)

    def add(self, name: str, request_type: str, reply_type: str, handler: ServiceHandler) -> object:
        """Answer requests to a full name from now on. Returns what `remove` takes."""
        offered = _Offered(request_type, reply_type, handler)
        with self._lock:
            self._offered.setdefault(name, []).append(offered)
        return offered

    def remove(self, name: str, token: object) -> None:
        """Answer no more."""
        with self._lock:
            left = [offered for offered in self._offered.pop(name, []) if offered is not token]
            if left:
                self._offered[name] = left

    def serve(self) -> bool:
        """Handle the requests that wait. True if there may be more."""
        for _ in range(_BATCH):
            try:
                frames = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return False
            self._handle(frames)
            self.flush()
        return True

    def _handle(self, frames: list[bytes]) -> None:
        if len(frames) != _REQUEST_FRAMES:
            self._counters.count("request_malformed")
            return
        _, topic, address, reply_id, node_uuid, request_id, data, asked, wanted = frames
        try:
            name, sender = topic.decode(), address.decode()
            request_type, reply_type = asked.decode(), wanted.decode()
        except UnicodeDecodeError:
            self._counters.count("request_malformed")
            return
        offered = self._find(name, request_type, reply_type)
        if offered is None:
            self._counters.count("request_unknown")
            return
        one_way = base_name(reply_type) == "Empty"
        if not one_way and not (is_address(sender) and reply_id):
            self._counters.count("request_malformed")
            return
        reply = self._run(name, offered.handler, data)
        if one_way:
            return
        result = b"0" if reply is None else b"1"
        back = (reply_id, topic, node_uuid, request_id, reply or b"", result)
        until_ns = self._host.now_ns() + _REPLY_WITHIN_NS
        self._waiting.append(_Reply(sender, back, until_ns))

    def _find(self, name: str, request_type: str, reply_type: str) -> _Offered | None:
        with self._lock:
            for offered in self._offered.get(name, ()):
                if same_type(offered.request_type, request_type) and same_type(
                    offered.reply_type, reply_type
                ):
                    return offered
        return None

    def _run(self, name: str, handler: ServiceHandler, data: bytes) -> bytes | None:
        try:
            return handler(data)
        except Exception:  # noqa: BLE001 - a handler's fault is its caller's answer, not our end
            self._counters.count("handler_failed")
            _LOG.exception("the handler of the service %s failed; the request is refused", name)
            return None

    def flush(self) -> None:
        """Send the replies whose caller is connected by now; give up on the oldest."""
        for _ in range(len(self._waiting)):
            reply = self._waiting.popleft()
            if self._sent(reply):
                continue
            if self._host.now_ns() < reply.until_ns:
                self._waiting.append(reply)
            else:
                self._counters.count("reply_undeliverable")
                self._disconnect(reply.address)

    def _sent(self, reply: _Reply) -> bool:
        try:
            if reply.address not in self._connected:
                self.socket.connect(reply.address)
                self._connected.add(reply.address)
            # Makes the socket take in what its own thread has to tell, such as a new route.
            self.socket.get(zmq.EVENTS)
            self.socket.send_multipart(reply.frames, zmq.NOBLOCK)
        except zmq.ZMQError as error:
            if error.errno not in (zmq.EHOSTUNREACH, zmq.EAGAIN):
                self._counters.count("reply_undeliverable")
                return True
            return False
        return True

    def patience_ms(self) -> int:
        """Return how long the thread may sleep before `flush` is worth another try.

        A connection in the making wakes it by its event.
        """
        if not self._waiting:
            return _IDLE_MS
        up = any(self.links.is_up(reply.address) for reply in self._waiting)
        return _RETRY_MS if up else _IDLE_MS

    def _broke(self, address: str) -> None:
        self._disconnect(address)

    def _disconnect(self, address: str) -> None:
        if address in self._connected:
            self._connected.discard(address)
            disconnect(self.socket, address, self._counters)

    @property
    def connections(self) -> int:
        """How many callers are connected."""
        return len(self._connected)

    def close(self) -> None:
        """Close the socket. The serving thread must have ended."""
        self.links.close()
        self.socket.close(0)
