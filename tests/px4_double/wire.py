"""MAVLink framing, as quick as plain Python allows."""

from __future__ import annotations

from typing import Any, NamedTuple

from fastcrc.crc16 import mcrf4xx

from .formats import BY_ID, Format

__all__ = ["Packet", "Splitter", "Wire"]

_ZEROS = bytes(255)
_START_V1 = 0xFE
_START_V2 = 0xFD
_SIGNED = 0x01


class Wire:
    """The sending side of one link: MAVLink 2, zeros at the end of the payload cut off."""

    def __init__(self, system: int, component: int = 1) -> None:
        self.system = system
        self.component = component
        self._seq = 0

    def pack(self, form: Format, *values: Any) -> bytes:
        """One packet."""
        return self.frame(form, form.body.pack(*values))

    def frame(self, form: Format, payload: bytes) -> bytes:
        """One packet around a payload."""
        payload = payload.rstrip(b"\0") or b"\0"
        seq = self._seq
        self._seq = (seq + 1) & 255
        data = (
            bytes((_START_V2, len(payload), 0, 0, seq, self.system, self.component))
            + form.id_bytes
            + payload
        )
        return data + mcrf4xx(data[1:] + form.extra).to_bytes(2, "little")


class Packet(NamedTuple):
    """One packet received; the payload has its full length again."""

    form: Format
    system: int
    component: int
    payload: bytes

    @property
    def values(self) -> tuple[Any, ...]:
        """The fields in wire order."""
        return self.form.body.unpack(self.payload)


class Splitter:
    """Finds packets in a stream; what is no packet is skipped, unknown messages too.

    `rest` is what waits for its end.
    """

    def __init__(self) -> None:
        self.rest = b""
        self.skipped = 0
        self.bad_crc = 0

    def feed(self, data: bytes) -> list[Packet]:
        """Packets that are complete now."""
        data = self.rest + data if self.rest else data
        packets: list[Packet] = []
        at, end = 0, len(data)
        while at < end:
            start = data[at]
            if start == _START_V2:
                head, ids = 10, 5
            elif start == _START_V1:
                head, ids = 6, 3
            else:
                at += 1
                self.skipped += 1
                continue
            if end - at < head:
                break
            length = data[at + 1]
            stop = at + head + length
            size = stop + 2
            if start == _START_V2:
                msgid = int.from_bytes(data[at + 7 : at + 10], "little")
                size += 13 if data[at + 2] & _SIGNED else 0
            else:
                msgid = data[at + 5]
            form = BY_ID.get(msgid)
            if end < size:
                break
            if form is None:
                at = size
                continue
            if mcrf4xx(data[at + 1 : stop] + form.extra) != data[stop] | data[stop + 1] << 8:
                self.bad_crc += 1
                at += 1
                continue
            full = form.body.size
            payload = data[at + head : stop]
            payload = (payload + _ZEROS[: full - length])[:full] if length != full else payload
            packets.append(Packet(form, data[at + ids], data[at + ids + 1], payload))
            at = size
        self.rest = data[at:]
        return packets
