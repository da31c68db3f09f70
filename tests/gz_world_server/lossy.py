"""A node that loses requests or replies, which no polite implementation can be asked to do."""

from __future__ import annotations

from ghost.gz.transport import TransportOptions
from ghost.gz.transport.server import Server
from ghost.gz.transport.wire import WireNode
from ghost.gz.transport.worker import Worker

from .options import Faults

__all__ = ["LossyNode"]


class _LossyServer(Server):
    """Counts control requests from 1, and drops what the switches say."""

    faults: Faults
    control = 0

    def _handle(self, frames: list[bytes]) -> None:
        if len(frames) < 2 or not frames[1].endswith(b"/control"):
            super()._handle(frames)
            return
        self.control += 1
        if self.control in self.faults.lose_requests:
            return
        super()._handle(frames)
        if self.control in self.faults.lose_replies:
            self._waiting.pop()


class LossyNode(WireNode):
    """A node whose replying half is lossy; all else is the real one."""

    def __init__(self, options: TransportOptions, faults: Faults) -> None:
        self._faults = faults
        super().__init__(options)

    def _working(self) -> Worker:
        worker = super()._working()
        if not isinstance(worker.server, _LossyServer):
            # The base class makes its server itself; this swaps two methods, not the state.
            worker.server.__class__ = _LossyServer
            assert isinstance(worker.server, _LossyServer)
            worker.server.faults = self._faults
        return worker
