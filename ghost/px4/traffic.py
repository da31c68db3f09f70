"""`TrafficLog`: what went over a link, kept until the recorder fetches it."""

from __future__ import annotations

import numpy as np

from ghost.hal import MavlinkTraffic

__all__ = ["TrafficLog"]

_MOST_PACKETS = 20_000
"""Ten simulated seconds of a busy link: nobody who records waits that long."""


class TrafficLog:
    """Whole packets of one connection, each way in order, since the last `take`.

    Where nobody takes them, the oldest are dropped and counted, so that memory stays bounded.
    """

    __slots__ = ("_received", "_sent", "dropped", "topic")

    def __init__(self, topic: str) -> None:
        self.topic = topic
        """Where the packets belong in a recording, such as `/mavlink/simulator`."""
        self.dropped = 0
        """Packets lost because nobody fetched them."""
        self._sent: list[bytes] = []
        self._received: list[bytes] = []

    def sent(self, data: bytes) -> None:
        """Note one or more whole packets that went out."""
        self._sent.append(data)
        if len(self._sent) > _MOST_PACKETS:
            self._drop(self._sent)

    def received(self, data: bytes) -> None:
        """Note one or more whole packets that came in."""
        self._received.append(data)
        if len(self._received) > _MOST_PACKETS:
            self._drop(self._received)

    def take(self, stamp_sim_ns: int) -> MavlinkTraffic | None:
        """What went over since the last call, stamped with the present time; None if nothing."""
        if not (self._sent or self._received):
            return None
        sent, received = b"".join(self._sent), b"".join(self._received)
        self._sent, self._received = [], []
        return MavlinkTraffic(
            stamp_sim_ns, np.frombuffer(sent, np.uint8), np.frombuffer(received, np.uint8)
        )

    def _drop(self, packets: list[bytes]) -> None:
        half = _MOST_PACKETS // 2
        del packets[:half]
        self.dropped += half
