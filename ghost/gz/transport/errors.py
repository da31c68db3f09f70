"""What can go wrong on the way to Gazebo."""

from __future__ import annotations

from ghost.core import ConfigError, GhostError

__all__ = ["AddressInvalid", "NameInvalid", "ServiceRefused", "TransportError", "TransportTimeout"]


class TransportError(GhostError):
    """The transport could not do what was asked: no socket, no port, a peer that is gone."""


class TransportTimeout(TransportError):
    """Nobody answered within the deadline. The message says who was heard meanwhile."""


class ServiceRefused(TransportError):
    """A service answered that it could not do it (the reply's result is `"0"`)."""

    def __init__(self, service: str, address: str = "") -> None:
        where = f" at {address}" if address else ""
        super().__init__(f"service {service}{where} refused the request (its result was false)")
        self.service = service
        self.address = address


class AddressInvalid(ConfigError, TransportError):
    """The own address is not one of this computer."""


class NameInvalid(ConfigError):
    """A topic, service or partition has a character that gz-transport does not take."""
