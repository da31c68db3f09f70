"""Talking to Gazebo, knowing nothing of drones: the transport, the messages, world control.

Import from the doors inside: `ghost.gz.transport`, `ghost.gz.msgs`, `ghost.gz.world`.
"""

from __future__ import annotations

__all__: list[str] = []
