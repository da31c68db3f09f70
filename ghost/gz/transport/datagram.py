"""The datagrams of discovery: a little-endian u16 length of the body, then `gz.msgs.Discovery`."""

from __future__ import annotations

import re
import struct

from google.protobuf.message import DecodeError

from ghost.gz.msgs import Discovery
from ghost.gz.transport.errors import TransportError

__all__ = ["MAX_DATAGRAM", "STATISTICS_VERSION", "VERSION", "decode", "encode", "is_address"]

# The wire protocol of gz-transport 8 to 15. Others are ignored, as they ignore us.
VERSION = 10
# The same with GZ_TRANSPORT_TOPIC_STATISTICS=1: those peers send and expect one frame more.
STATISTICS_VERSION = VERSION + 100
MAX_DATAGRAM = 65_507  # the largest UDP payload of IPv4

_LENGTH = struct.Struct("<H")
# Peers always advertise a numeric address. Nothing else is connected to: a host name would make
# the socket library ask a name server for whatever a datagram says.
_ADDRESS = re.compile(r"tcp://((?:\d{1,3}\.){3}\d{1,3}):(\d{1,5})")


def encode(message: Discovery) -> bytes:
    """Return the datagram. Raises `TransportError` if it does not fit into one."""
    body = message.SerializeToString()
    if _LENGTH.size + len(body) > MAX_DATAGRAM:
        name = message.pub.topic or message.sub.topic
        raise TransportError(f"the name {name[:60]!r}… is too long to be announced")
    return _LENGTH.pack(len(body)) + body


def decode(data: bytes, own_uuid: str, version: int = VERSION) -> Discovery | str:
    """Return the message of a datagram, or why it is ignored (a reason to count)."""
    if len(data) < _LENGTH.size or _LENGTH.unpack_from(data)[0] != len(data) - _LENGTH.size:
        return "discovery_wrong_length"
    message = Discovery()
    try:
        message.ParseFromString(data[_LENGTH.size :])
    except DecodeError:
        return "discovery_malformed"
    if message.version != version:
        if message.version in (VERSION, STATISTICS_VERSION):
            return "discovery_other_statistics"
        return "discovery_other_version"
    if message.process_uuid == own_uuid:
        return "discovery_own"
    if not message.process_uuid:
        return "discovery_malformed"
    return message


def is_address(text: str) -> bool:
    """Return whether `text` is a TCP address with a numeric host, like `tcp://127.0.0.1:40001`."""
    match = _ADDRESS.fullmatch(text)
    if match is None:
        return False
    return all(int(part) < 256 for part in match[1].split(".")) and 0 < int(match[2]) < 65_536
