"""A member of the gz-transport network: topics, services, discovery.

`open_node` gives a `Node`: implementation "wire" needs pip only, "bindings" stands on the official
Python modules where they are installed.
"""

from __future__ import annotations

from ghost.gz.transport.errors import (
    AddressInvalid,
    NameInvalid,
    ServiceRefused,
    TransportError,
    TransportTimeout,
)
from ghost.gz.transport.factory import IMPLEMENTATIONS, open_node
from ghost.gz.transport.identity import new_uuid
from ghost.gz.transport.options import TransportOptions
from ghost.gz.transport.types import (
    Incoming,
    MessageCallback,
    Node,
    Offer,
    Publisher,
    ServiceHandler,
    ServiceInfo,
    Subscription,
    TopicInfo,
)

__all__ = [
    "AddressInvalid",
    "IMPLEMENTATIONS",
    "Incoming",
    "MessageCallback",
    "NameInvalid",
    "Node",
    "Offer",
    "Publisher",
    "ServiceHandler",
    "ServiceInfo",
    "ServiceRefused",
    "Subscription",
    "TopicInfo",
    "TransportError",
    "TransportOptions",
    "TransportTimeout",
    "new_uuid",
    "open_node",
]
