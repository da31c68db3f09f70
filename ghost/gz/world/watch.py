"""Whether the server of a world lives, and what to say when it does not, or does odd things."""

from __future__ import annotations

from ghost.core import BackendLost, Event, EventSeverity, EventSink, EventType
from ghost.gz.transport.types import Node
from ghost.gz.world.survey import WorldServer, clock_publishers

__all__ = ["ServerWatch"]


class ServerWatch:
    """Keeps an eye on one server process, and tells of it."""

    def __init__(self, node: Node, world: str, on_event: EventSink | None) -> None:
        self._node = node
        self._world = world
        self._on_event = on_event
        self.server: WorldServer | None = None
        """The process that was attached to."""
        self.now_ns = -1
        """The last clock, ns; -1 before the first."""

    def alive(self) -> bool:
        """Whether the process still advertises the clock, as far as discovery knows.

        Its entry goes with a broken connection at once, else after 3 s of silence.
        """
        server = self.server
        return server is not None and any(
            info.process_uuid == server.process_uuid
            for info in clock_publishers(self._node, self._world)
        )

    def lost(self, what: str, wait_s: float | None = None) -> BackendLost:
        """The error for a server that is gone, or that did nothing for `wait_s`."""
        where = "" if self.server is None else f" at {self.server.address}"
        clock = f"{self.now_ns / 1e9:.9g} s"
        heard = "no clock was heard" if self.now_ns < 0 else f"its last clock was {clock}"
        why = "is gone" if wait_s is None else f"did not do it within {wait_s:g} s"
        return BackendLost(
            f"{what}: the server of world {self._world!r}{where} {why}; {heard}. "
            "Start it again, then reset()"
        )

    def tell(self, message: str) -> None:
        """Report what was put right, or looks wrong."""
        if self._on_event is not None:
            self._on_event(
                Event(
                    EventType.LOCKSTEP_FAULT,
                    max(self.now_ns, 0),
                    EventSeverity.WARN,
                    f"gz/{self._world}",
                    message,
                )
            )
