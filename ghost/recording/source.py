"""Bytes of an MCAP file, with a bound on whatever a damaged file claims (mcap.dev/spec)."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from struct import error as StructError
from typing import Any

import zstandard
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Schema

from ghost.recording.errors import RecordingError

__all__ = [
    "MAX_CHUNK_BYTES",
    "RECORD_ERRORS",
    "RECORD_HEAD",
    "ChunkRef",
    "Damaged",
    "FileSource",
    "load_chunk",
    "parse_chunk_head",
]

MAX_CHUNK_BYTES = 256 * 1024 * 1024
"""A chunk that claims more, packed or unpacked, is passed by. Writers use 1 to 4 MB."""

RECORD_HEAD = Struct("<BQ")
_CHUNK_HEAD = Struct("<QQQII")
_MESSAGE_HEAD = Struct("<HIQQ")
_PEEK = 64 * 1024
_MAX_ENDING = 64
_MAX_REASON = 160
RECORD_ERRORS = (McapError, StructError, ValueError, OverflowError, LookupError)
"""What the record classes of `mcap` raise for bytes that make no sense."""

_OP_MESSAGE, _OP_SCHEMA, _OP_CHANNEL = int(Opcode.MESSAGE), int(Opcode.SCHEMA), int(Opcode.CHANNEL)


class Damaged(Exception):
    """A part of the file makes no sense; the rest may."""


class FileSource:
    """Random access to a file, shared by any number of iterators."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._file = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by close()
            self.size = os.fstat(self._file.fileno()).st_size
        except OSError as error:
            reason = error.strerror or str(error)
            raise RecordingError(f"{path}: cannot be read: {reason}") from error
        self._window = b""
        self._window_at = 0

    def read(self, offset: int, length: int) -> bytes:
        """Return exactly `length` bytes at `offset`; `Damaged` if the file has not that many."""
        if offset < 0 or length < 0 or offset + length > self.size:
            raise Damaged(f"{length} bytes at byte {offset} are beyond the end of the file")
        parts, got = [], 0
        while got < length:
            try:
                part = os.pread(self._file.fileno(), length - got, offset + got)
            except OSError as error:
                raise Damaged(f"the disk cannot be read at byte {offset}: {error}") from error
            if not part:
                raise Damaged(f"the file became shorter while it was read, at byte {offset + got}")
            parts.append(part)
            got += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def peek(self, offset: int, length: int) -> bytes:
        """Like `read`, through a window: for walking over many small records."""
        at = offset - self._window_at
        if at < 0 or at + length > len(self._window):
            want = min(max(_PEEK, length), self.size - offset)
            self._window = self.read(offset, max(want, length))
            self._window_at = offset
            at = 0
        return self._window[at : at + length]

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._file.close()


@dataclass(frozen=True, slots=True)
class ChunkRef:
    """Where a chunk is: its content stays on the disk until it is wanted."""

    offset: int
    """Of the record, or of the first of a row of messages outside chunks (`is_row`)."""
    length: int
    start_ns: int
    end_ns: int
    channels: frozenset[int] | None = None
    """What is in it, if an index says so."""
    is_row: bool = False
    is_cut: bool = False
    """The file ends within it."""


@dataclass(frozen=True, slots=True)
class _ChunkHead:
    start_ns: int
    end_ns: int
    plain_size: int
    crc: int
    compression: str
    data_at: int
    data_size: int


def parse_chunk_head(source: FileSource, offset: int, length: int) -> _ChunkHead:
    """Read the fields before the data of the chunk record at `offset`; `Damaged` if they lie."""
    start = offset + RECORD_HEAD.size
    size = min(length, _CHUNK_HEAD.size + _MAX_ENDING + 8, source.size - start)
    body = source.read(start, max(size, 0))
    try:
        start_ns, end_ns, plain_size, crc, name_size = _CHUNK_HEAD.unpack_from(body)
        if name_size > _MAX_ENDING:
            raise Damaged(f"the chunk at byte {offset} has a broken head")
        at = _CHUNK_HEAD.size
        compression = body[at : at + name_size].decode()
        at += name_size
        (data_size,) = Struct("<Q").unpack_from(body, at)
    except (StructError, UnicodeDecodeError) as error:
        raise Damaged(f"the chunk at byte {offset} has a broken head") from error
    data_at = at + 8
    if data_at + data_size > length:
        raise Damaged(f"the chunk at byte {offset} claims {data_size} bytes of data, it has less")
    if plain_size > MAX_CHUNK_BYTES or data_size > MAX_CHUNK_BYTES:
        raise Damaged(
            f"the chunk at byte {offset} claims {max(plain_size, data_size)} bytes; "
            f"more than {MAX_CHUNK_BYTES} are not read"
        )
    place = start + data_at
    return _ChunkHead(start_ns, end_ns, plain_size, crc, compression, place, data_size)


def load_chunk(source: FileSource, ref: ChunkRef) -> bytes:
    """Return the records inside a chunk; `Damaged` if they cannot be had or fail the CRC.

    Of a chunk that the file ends in, what can be unpacked is returned.
    """
    if ref.is_row:
        return source.read(ref.offset, ref.length)
    opcode, length = RECORD_HEAD.unpack(source.read(ref.offset, RECORD_HEAD.size))
    if opcode != Opcode.CHUNK:
        raise Damaged(f"there is no chunk at byte {ref.offset}, where the index says so")
    head = parse_chunk_head(source, ref.offset, length)
    available = min(head.data_size, source.size - head.data_at)
    if available < head.data_size and not ref.is_cut:
        raise Damaged(f"the chunk at byte {ref.offset} reaches beyond the end of the file")
    data = source.read(head.data_at, max(0, available))
    if available < head.data_size:
        return _unpack_part(head, data)
    plain = _unpack(ref, head, data)
    if len(plain) != head.plain_size:
        raise Damaged(
            f"the chunk at byte {ref.offset} unpacks to {len(plain)} bytes, not {head.plain_size}"
        )
    if head.crc and zlib.crc32(plain) != head.crc:
        raise Damaged(f"the chunk at byte {ref.offset} fails its CRC")
    return plain


def _unpack(ref: ChunkRef, head: _ChunkHead, data: bytes) -> bytes:
    if head.compression == "":
        return data
    try:
        if head.compression == "zstd":
            claimed = zstandard.frame_content_size(data)
            if claimed > head.plain_size:
                raise Damaged(f"the chunk at byte {ref.offset} does not unpack: sizes differ")
            if head.plain_size == 0:
                return b""
            plain: bytes = zstandard.ZstdDecompressor().decompress(
                data, max_output_size=head.plain_size
            )
            return plain
        if head.compression == "lz4":
            return _unpack_lz4(head, data)
    except (zstandard.ZstdError, RuntimeError, ValueError, EOFError) as error:
        raise Damaged(f"the chunk at byte {ref.offset} does not unpack: {error}") from error
    raise Damaged(
        f"the chunk at byte {ref.offset} is packed by {head.compression!r}, which is unknown"
    )


def _unpack_lz4(head: _ChunkHead, data: bytes) -> bytes:
    try:
        import lz4.frame
    except ImportError as error:
        raise Damaged("chunks are packed by lz4; install it with: pip install lz4") from error
    plain: bytes = lz4.frame.LZ4FrameDecompressor().decompress(data, max_length=head.plain_size)
    return plain


def _unpack_part(head: _ChunkHead, data: bytes) -> bytes:
    if head.compression == "":
        return data
    if head.compression != "zstd" or not data:
        return b""
    try:
        stream = zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj()
        part: bytes = stream.decompress(data)
    except zstandard.ZstdError:
        return b""
    return part


Entry = tuple[int, int, int, int, bytes, int, int]
"""Of a message: stamp, sequence, place within the chunk, channel, and where its bytes are."""


def walk(data: bytes) -> Iterator[Entry | Schema | Channel]:
    """Yield the messages, schemas and channels of a chunk; `Damaged` where it makes no sense."""
    at, size = 0, len(data)
    head, message_head = RECORD_HEAD.unpack_from, _MESSAGE_HEAD.unpack_from
    while at < size:
        if at + 9 > size:
            raise Damaged("a record is cut off")
        opcode, length = head(data, at)
        start = at + 9
        at = start + length
        if at > size:
            raise Damaged(f"a record claims {length} bytes, {size - start} are there")
        if opcode == _OP_MESSAGE:
            if length < 22:
                raise Damaged(f"a message of {length} bytes is too short")
            channel_id, sequence, stamp_ns, _ = message_head(data, start)
            yield stamp_ns, sequence, start, channel_id, data, start + 22, at
        elif opcode == _OP_SCHEMA:
            yield read_record(Schema, data[start:at])
        elif opcode == _OP_CHANNEL:
            yield read_record(Channel, data[start:at])


def read_record(cls: Any, body: bytes) -> Any:
    """Read a record of a class of `mcap.records`; `Damaged` if its bytes make no sense."""
    import io

    try:
        return cls.read(ReadDataStream(io.BytesIO(body)))
    except RECORD_ERRORS as error:
        raise Damaged(f"a {cls.__name__} record makes no sense: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """Why, in a few words: the text of an error of decoding may hold the whole record."""
    if isinstance(error, UnicodeDecodeError):
        return f"a text in it is no UTF-8 ({error.reason} at its byte {error.start})"
    text = str(error)[:_MAX_REASON] or "it is too short"
    return f"{type(error).__name__}: {text}"
