"""The time stamp of a message, read from its bytes.

Every sensor message of Gazebo starts with `header = 1 {stamp = 1 {sec = 1, nsec = 2}}`. World
control needs the stamp alone, of images too, and must not pay for decoding the rest.
"""

from __future__ import annotations

from ghost.gz.msgs import Clock, Time

__all__ = ["ClockReader", "fill_time", "header_stamp_ns", "time_ns"]

_FIRST_FIELD = 0x0A
"""Tag of field 1, length-delimited: the header in a message, the stamp in a header."""


def header_stamp_ns(data: bytes) -> int | None:
    """Return `header.stamp` in ns; None if there is none where Gazebo puts it.

    A stamp of zero is an empty `Time`: present, without fields.
    """
    try:
        if data[0] != _FIRST_FIELD:
            return None
        size, at = _varint(data, 1)
        if not size or data[at] != _FIRST_FIELD or at + size > len(data):
            return None
        size, at = _varint(data, at + 1)
        end = at + size
        if end > len(data):
            return None
        sec = nsec = 0
        while at < end:
            tag = data[at]
            value, at = _varint(data, at + 1)
            if tag == 0x08:
                sec = value
            elif tag == 0x10:
                nsec = value
            else:
                return None
        return sec * 1_000_000_000 + nsec if at == end else None
    except IndexError:
        return None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    at += 1
    if byte < 0x80:
        return byte, at
    value = byte & 0x7F
    shift = 7
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise IndexError


def time_ns(time: Time) -> int:
    """Return a `gz.msgs.Time` in ns."""
    return time.sec * 1_000_000_000 + time.nsec


def fill_time(time: Time, ns: int) -> None:
    """Write `ns` into a `gz.msgs.Time`."""
    time.sec, time.nsec = divmod(ns, 1_000_000_000)


class ClockReader:
    """Reads `gz.msgs.Clock` without a new object each time."""

    __slots__ = ("_clock",)

    def __init__(self) -> None:
        self._clock = Clock()

    def sim_ns(self, data: bytes) -> int:
        """Return the simulated time in ns. Raises `DecodeError` for bytes that are no message."""
        clock = self._clock
        clock.ParseFromString(data)
        sim = clock.sim
        return sim.sec * 1_000_000_000 + sim.nsec
