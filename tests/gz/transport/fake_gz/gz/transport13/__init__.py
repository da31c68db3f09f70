"""A stand-in for the official bindings, with their names, manners and limits, on a wire node.

It lets the process handling of `BindingsNode` be tested where the real module is not installed;
the same tests run on the real one where it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ghost.gz.transport import Incoming, TransportError, TransportOptions
from ghost.gz.transport.wire import WireNode


class NodeOptions:
    """Only the partition is an option; the rest comes from the environment, as in the library."""

    partition = ""


class AdvertiseMessageOptions:
    """Has nothing to set here."""


class SubscribeOptions:
    """Has nothing to set here."""


class MessagePublisher:
    """What is told about a publisher."""

    def __init__(self, msg_type_name: str) -> None:
        self.msg_type_name = msg_type_name


class ServicePublisher:
    """What is told about a provider."""

    def __init__(self, req_type_name: str, rep_type_name: str) -> None:
        self.req_type_name = req_type_name
        self.rep_type_name = rep_type_name


class Publisher:
    """An advertised topic."""

    def __init__(self, made: Any) -> None:
        self._made = made

    def valid(self) -> bool:
        return True

    def publish_raw(self, msg_data: bytes, msg_type: str) -> bool:
        self._made.publish(msg_data)
        return bool(msg_type)

    def has_connections(self) -> bool:
        return bool(self._made.wait_for_subscriber(0.0))


class Node:
    """The raw interface of the official node."""

    def __init__(self, options: NodeOptions) -> None:
        settings = TransportOptions.from_environ(os.environ)
        assert settings.partition == options.partition
        self._node = WireNode(settings)
        self._subscriptions: dict[str, Any] = {}

    def advertise(self, topic: str, msg_type: Any, options: AdvertiseMessageOptions) -> Publisher:
        assert isinstance(options, AdvertiseMessageOptions)
        return Publisher(self._node.advertise(topic, msg_type.DESCRIPTOR.full_name))

    def subscribe_raw(
        self,
        topic: str,
        callback: Callable[[bytes, object], None],
        msg_type: str,
        options: SubscribeOptions,
    ) -> bool:
        assert isinstance(options, SubscribeOptions)

        def deliver(incoming: Incoming) -> None:
            callback(incoming.data, None)

        self._subscriptions[topic] = self._node.subscribe(topic, deliver)
        return msg_type == "google.protobuf.Message"

    def unsubscribe(self, topic: str) -> bool:
        self._subscriptions.pop(topic).unsubscribe()
        return True

    def topic_list(self) -> list[str]:
        return sorted({info.topic for info in self._node.topics()})

    def topic_info(self, topic: str) -> tuple[list[MessagePublisher], list[MessagePublisher]]:
        infos = [info for info in self._node.topics() if info.topic == topic]
        return [MessagePublisher(info.type) for info in infos], []

    def service_list(self) -> list[str]:
        return sorted({info.service for info in self._node.services()})

    def service_info(self, service: str) -> list[ServicePublisher]:
        infos = [info for info in self._node.services() if info.service == service]
        return [ServicePublisher(info.request_type, info.reply_type) for info in infos]

    def request_raw(
        self, topic: str, request: bytes, request_type: str, response_type: str, timeout: int
    ) -> tuple[bool, bytes]:
        if topic == "/hang":  # what the library was seen to do: it never comes back
            os.read(os.pipe()[0], 1)
        try:
            reply = self._node.request(topic, request, request_type, response_type, timeout / 1e3)
        except TransportError as error:
            return "refused" in str(error), b""
        return True, reply
