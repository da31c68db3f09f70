"""A process that holds the official bindings, for `bindings.py`: python -m …bindings_child FD.

The pipe `FD` brings pickled `(number, operation, *arguments)` and takes `("reply", number, ok,
value)` and `("message", topic, type, data)`. The process ends when the pipe does.
"""

from __future__ import annotations

import importlib
import os
import queue
import sys
import threading
from collections.abc import Mapping
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import Any

__all__ = ["main"]


class _Child:
    """The official node, and what was asked of it."""

    def __init__(self, module: str, partition: str) -> None:
        self._gz = importlib.import_module(module)
        options = self._gz.NodeOptions()
        options.partition = partition
        self._node = self._gz.Node(options)
        self._publishers: dict[int, Any] = {}
        self._types: dict[str, str] = {}
        self.events: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()

    def advertise(self, number: int, topic: str, msg_type: str) -> bool:
        # All that the official wrapper reads of a message class is its full name.
        kind = SimpleNamespace(DESCRIPTOR=SimpleNamespace(full_name=msg_type))
        publisher = self._node.advertise(topic, kind, self._gz.AdvertiseMessageOptions())
        if not publisher.valid():
            return False
        self._publishers[number] = publisher
        return True

    def publish(self, number: int, data: bytes, msg_type: str) -> None:
        self._publishers[number].publish_raw(data, msg_type)

    def has_connections(self, number: int) -> bool:
        return bool(self._publishers[number].has_connections())

    def withdraw(self, number: int) -> None:
        self._publishers.pop(number, None)

    def subscribe(self, topic: str) -> bool:
        def callback(data: bytes, _: object) -> None:
            self.events.put(("message", topic, data))

        options = self._gz.SubscribeOptions()
        # The name that means any type.
        return bool(self._node.subscribe_raw(topic, callback, "google.protobuf.Message", options))

    def unsubscribe(self, topic: str) -> bool:
        return bool(self._node.unsubscribe(topic))

    def topics(self) -> list[tuple[str, tuple[str, ...]]]:
        found: list[tuple[str, tuple[str, ...]]] = []
        for topic in self._node.topic_list():
            publishers = self._node.topic_info(topic)[0]
            found += [(topic, (publisher.msg_type_name,)) for publisher in publishers]
        return found

    def services(self) -> list[tuple[str, tuple[str, ...]]]:
        found: list[tuple[str, tuple[str, ...]]] = []
        for service in self._node.service_list():
            for provider in self._node.service_info(service):
                found.append((service, (provider.req_type_name, provider.rep_type_name)))
        return found

    def request(
        self, service: str, data: bytes, request_type: str, reply_type: str, timeout_ms: int
    ) -> tuple[bool, bytes]:
        answered, reply = self._node.request_raw(
            service, data, request_type, reply_type, timeout_ms
        )
        return bool(answered), bytes(reply)

    def type_of(self, topic: str) -> str:
        """Return the type of a topic; the bindings do not tell it with the message."""
        if not self._types.get(topic):
            publishers = self._node.topic_info(topic)[0]
            self._types[topic] = publishers[0].msg_type_name if publishers else ""
        return self._types[topic]

    def close(self) -> None:
        self._publishers.clear()
        del self._node


def _listen(pipe: Connection, events: queue.SimpleQueue[tuple[Any, ...]]) -> None:
    try:
        while True:
            events.put(("order", *pipe.recv()))
    except (EOFError, OSError):
        os._exit(0)  # the parent is gone, and the library's threads never end by themselves


def main(descriptor: int) -> None:
    """Serve the pipe until it ends."""
    pipe: Connection = Connection(descriptor)
    module, partition, environ, path = pipe.recv()
    sys.path[:] = path
    # The library reads its settings from the environment of its process: this one is its own.
    settings: Mapping[str, str] = environ
    os.environ.update(settings)
    child = _Child(module, partition)
    threading.Thread(target=_listen, args=(pipe, child.events), daemon=True).start()
    pipe.send(("reply", 0, True, None))
    while True:
        kind, *rest = child.events.get()
        if kind == "message":
            topic, data = rest
            pipe.send(("message", topic, child.type_of(topic), data))
            continue
        number, operation, *arguments = rest
        try:
            value = getattr(child, operation)(*arguments)
        except Exception as error:  # noqa: BLE001 - told to the parent, who raises it
            pipe.send(("reply", number, False, f"{type(error).__name__}: {error}"))
            continue
        if operation == "close":
            pipe.send(("reply", number, True, None))
            os._exit(0)
        if operation != "publish":
            pipe.send(("reply", number, True, value))


if __name__ == "__main__":
    main(int(sys.argv[1]))
