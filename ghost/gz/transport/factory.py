"""Opens a node by the name of its implementation."""

from __future__ import annotations

from ghost.core import UnknownName
from ghost.gz.transport.options import TransportOptions
from ghost.gz.transport.types import Node

__all__ = ["IMPLEMENTATIONS", "open_node"]

IMPLEMENTATIONS = ("wire", "bindings")


def open_node(options: TransportOptions, implementation: str = "wire") -> Node:
    """Return a node of the network that `options` describe.

    Raises `TransportError` if the network cannot be joined, `MissingDependency` if the official
    bindings are asked for and not installed, `UnknownName` for another implementation.
    """
    if implementation == "wire":
        from ghost.gz.transport.wire import WireNode

        return WireNode(options)
    if implementation == "bindings":
        from ghost.gz.transport.bindings import BindingsNode

        return BindingsNode(options)
    raise UnknownName("transport", implementation, IMPLEMENTATIONS, key="gz.transport")
