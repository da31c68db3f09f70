"""A test server and a node to listen with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from ghost.gz.msgs import Clock
from ghost.gz.msgs import WorldControl as ControlMessage
from ghost.gz.transport import Incoming, Node, open_node
from ghost.gz.world.stamps import time_ns
from tests.gz_world_server.launch import ServerProcess


class Listener:
    """A node that writes down what it receives, and asks for steps."""

    def __init__(self, node: Node, topics: tuple[str, ...]) -> None:
        self.node = node
        self.log: list[Incoming] = []
        for topic in topics:
            node.subscribe(topic)
        node.subscribe("/world/w/clock")
        # A clock that is heard proves that the subscriptions before it are in.
        self.await_clocks(2)
        self.log.clear()

    def next(self) -> Incoming:
        """The next message."""
        message = self.node.receive(5.0)
        assert message is not None, "the server fell silent"
        self.log.append(message)
        return message

    def await_clocks(self, count: int, at_ns: int | None = None) -> int:
        """Listen until `count` clocks (of one time, if given) were heard; return the last."""
        while True:
            message = self.next()
            if message.topic != "/world/w/clock":
                continue
            now_ns = time_ns(Clock.FromString(message.data).sim)
            if at_ns is None or now_ns == at_ns:
                count -= 1
            if not count:
                return now_ns

    def ask(self, request: ControlMessage) -> None:
        """Send a control request; return when it is queued."""
        self.node.request(
            "/world/w/control",
            request.SerializeToString(),
            "gz.msgs.WorldControl",
            "gz.msgs.Boolean",
            5.0,
        )

    def of(self, topic: str) -> list[bytes]:
        """What one topic carried."""
        return [message.data for message in self.log if message.topic == topic]


@pytest.fixture
def listen() -> Iterator[Callable[..., Listener]]:
    """Start a server with arguments, and a listener to topics of it."""
    with ExitStack() as stack:

        def _listen(*arguments: str, topics: tuple[str, ...] = ()) -> Listener:
            server = stack.enter_context(ServerProcess(*arguments))
            return Listener(stack.enter_context(open_node(server.transport)), topics)

        yield _listen
