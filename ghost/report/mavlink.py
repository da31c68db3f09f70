"""What went over a MAVLink connection: which messages, each way, and how often."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from ghost.hal import MavlinkTraffic

__all__ = ["MavlinkLog", "MessageRate", "message_ids", "message_name"]

_MOST_BINS = 240
_FIRST_BIN_NS = 1_000_000_000
_V1, _V2 = 0xFE, 0xFD
_SIGNED = 0x01
_SIGNATURE_BYTES = 13


def message_ids(data: bytes) -> Iterator[int]:
    """Yield the id of each packet of a MAVLink 1 or 2 stream (mavlink.io, "Packet Serialization").

    Bytes that begin no packet, and a packet that is cut off, are passed by. CRCs are not checked:
    whoever recorded the packets did.
    """
    at, end = 0, len(data)
    while at < end:
        magic = data[at]
        if magic == _V2 and at + 10 <= end:
            size = 12 + data[at + 1]
            if data[at + 2] & _SIGNED:
                size += _SIGNATURE_BYTES
            number = int.from_bytes(data[at + 7 : at + 10], "little")
        elif magic == _V1 and at + 6 <= end:
            size, number = 8 + data[at + 1], data[at + 5]
        else:
            at += 1
            continue
        if at + size > end:
            return
        yield number
        at += size


@dataclass(slots=True)
class MessageRate:
    """One kind of message in one direction."""

    sent: bool
    """From Ghost to the autopilot."""
    number: int
    count: int = 0
    bins: dict[int, int] = field(default_factory=dict)
    """How many came, by the number of the bin of time."""

    @property
    def name(self) -> str:
        """The message's name, or its id where no names are known."""
        return message_name(self.number)


@dataclass(slots=True)
class MavlinkLog:
    """All traffic of one connection, in bounded memory: bins of time widen as the run grows."""

    topic: str
    rates: dict[tuple[bool, int], MessageRate] = field(default_factory=dict)
    bytes_sent: int = 0
    bytes_received: int = 0
    first_ns: int | None = None
    last_ns: int | None = None
    bin_ns: int = _FIRST_BIN_NS
    """Bin `b` holds the messages stamped in `b·bin_ns … (b + 1)·bin_ns`."""

    def add(self, traffic: MavlinkTraffic) -> None:
        """Take what went over since the report before."""
        stamp_ns = traffic.stamp_sim_ns
        first_ns, last_ns = self.first_ns, self.last_ns
        self.first_ns = first_ns = stamp_ns if first_ns is None else min(first_ns, stamp_ns)
        self.last_ns = last_ns = stamp_ns if last_ns is None else max(last_ns, stamp_ns)
        while last_ns // self.bin_ns - first_ns // self.bin_ns >= _MOST_BINS:
            self._widen()
        self.bytes_sent += traffic.sent.size
        self.bytes_received += traffic.received.size
        at, rates = stamp_ns // self.bin_ns, self.rates
        for sent, array in ((True, traffic.sent), (False, traffic.received)):
            for number in message_ids(array.tobytes()):
                rate = rates.get((sent, number))
                if rate is None:
                    rate = rates[sent, number] = MessageRate(sent, number)
                rate.count += 1
                rate.bins[at] = rate.bins.get(at, 0) + 1

    @property
    def length_s(self) -> float:
        """From the first report to the last."""
        if self.first_ns is None or self.last_ns is None:
            return 0.0
        return (self.last_ns - self.first_ns) * 1e-9

    def mean_hz(self, rate: MessageRate) -> float | None:
        """Messages per simulated second on the whole; None for a single report."""
        return rate.count / self.length_s if self.length_s > 0.0 else None

    def ordered(self) -> list[MessageRate]:
        """What was sent and then what was received, each with the most frequent first."""
        return sorted(self.rates.values(), key=lambda r: (not r.sent, -r.count, r.number))

    def per_second(self, rate: MessageRate) -> list[tuple[float, float, float]]:
        """Begin and end of each bin within the run, s, and messages per second in it, 0 included.

        The bins at both ends are as long as the run reached into them.
        """
        if self.first_ns is None or self.last_ns is None:
            return []
        width, out = self.bin_ns, []
        for at in range(self.first_ns // width, self.last_ns // width + 1):
            begin, end = max(at * width, self.first_ns), min((at + 1) * width, self.last_ns)
            if end > begin:
                rate_hz = rate.bins.get(at, 0) * 1e9 / (end - begin)
                out.append((begin * 1e-9, end * 1e-9, rate_hz))
        return out

    def _widen(self) -> None:
        self.bin_ns *= 2
        for rate in self.rates.values():
            wider: dict[int, int] = {}
            for at, count in rate.bins.items():
                wider[at // 2] = wider.get(at // 2, 0) + count
            rate.bins = wider


def message_name(number: int) -> str:
    """Return a message's name in MAVLink's development set, which PX4 speaks in simulation.

    `#93` for one that is not in it, or without pymavlink.
    """
    return _names().get(number, f"#{number}")


@lru_cache(maxsize=1)
def _names() -> Mapping[int, str]:
    """Names by id; none where pymavlink, which no report needs, is not installed."""
    try:
        from pymavlink.dialects.v20 import development
    except ImportError:
        return {}
    return {number: cls.msgname for number, cls in development.mavlink_map.items()}
