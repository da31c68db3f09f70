"""Names of processes, nodes and requests on the network."""

from __future__ import annotations

import uuid

__all__ = ["new_uuid"]


def new_uuid() -> str:
    """Return a new random UUID. It names a peer on the network and enters no result."""
    return str(uuid.uuid4())
