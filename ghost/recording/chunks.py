"""An MCAP file that grows by whole chunks (https://mcap.dev/spec).

All records are those of the `mcap` library, but for messages and their indexes: the library packs
a message in six small writes, and this file packs it in one, since that is the hot path. What is
written is read in the tests by the library's own reader.

Each chunk goes to the operating system in one piece, unbuffered, so a process that is killed leaves
all chunks it had finished. `fsync` is not called before the end: D24 is about the process, and a
power failure may cost what the system had not written yet, 30 s by default on Linux.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from struct import Struct, pack

import zstandard
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import (
    Attachment,
    AttachmentIndex,
    Channel,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    McapRecord,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
    SummaryOffset,
)
from mcap.writer import MCAP0_MAGIC

__all__ = ["ChunkBuilder", "ChunkedFile", "Definitions"]

_ZSTD_LEVEL = 1
"""The fastest: noise does not compress better at 3, which takes twice as long."""

_OP_MESSAGE = int(Opcode.MESSAGE)
_MESSAGE = Struct("<BQHIQQ")
_MESSAGE_HEAD = 2 + 4 + 8 + 8
_CHUNK = Struct("<BQQQQII4sQ")
_CHUNK_HEAD = 8 + 8 + 8 + 4 + 4 + 4 + 8
_INDEX = Struct("<BQHI")
_INDEX_HEAD = 2 + 4
_SEQUENCE_MASK = 0xFFFFFFFF


class ChunkBuilder:
    """Messages on their way into a chunk; pieces are joined once, when the chunk is sealed.

    The hot path of recording appends a record itself, without a call: to `pieces`; its time and
    the `size` before it to `indexes`, by channel; then it adds its length to `size`.
    """

    __slots__ = ("indexes", "pieces", "size")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything, to begin the next chunk."""
        self.pieces: list[bytes | memoryview] = []
        self.indexes: defaultdict[int, list[int]] = defaultdict(list)
        self.size = 0

    def detach(self) -> ChunkBuilder:
        """Return all this in a builder of its own, and begin anew."""
        other = ChunkBuilder()
        other.pieces, other.indexes, other.size = self.pieces, self.indexes, self.size
        self.clear()
        return other

    def add(
        self,
        channel_id: int,
        stamp_ns: int,
        sequence: int,
        parts: tuple[bytes | memoryview, ...],
    ) -> None:
        """Append a message in pieces. Raises `struct.error` for a stamp outside 0 … 2^64−1."""
        size = sum([len(part) for part in parts])
        head = _MESSAGE.pack(
            _OP_MESSAGE,
            _MESSAGE_HEAD + size,
            channel_id,
            sequence & _SEQUENCE_MASK,
            stamp_ns,
            stamp_ns,
        )
        self.pieces += (head, *parts)
        self.indexes[channel_id] += (stamp_ns, self.size)
        self.size += _MESSAGE.size + size

    def count_of(self, channels: Collection[int]) -> int:
        """How many messages of these channels there are."""
        found = [len(entries) for channel, entries in self.indexes.items() if channel in channels]
        return sum(found) // 2

    def first_ns(self) -> int | None:
        """The stamp of the first message, or an earlier one; None if it is empty."""
        return min((entries[0] for entries in self.indexes.values()), default=None)

    def seal(self, compress: Callable[[bytes], bytes], offset: int) -> Sealed:
        """Return the chunk and its message indexes, to be written at `offset` of the file."""
        plain = b"".join(self.pieces)
        data = compress(plain)
        start_ns = min(min(entries[0::2]) for entries in self.indexes.values())
        end_ns = max(max(entries[0::2]) for entries in self.indexes.values())
        chunk = _CHUNK.pack(
            Opcode.CHUNK,
            _CHUNK_HEAD + len(data),
            start_ns,
            end_ns,
            len(plain),
            zlib.crc32(plain),
            4,
            b"zstd",
            len(data),
        )
        chunk_length = len(chunk) + len(data)
        pieces, at, offsets = [chunk, data], offset + chunk_length, {}
        for channel_id, entries in self.indexes.items():
            body = pack(f"<{len(entries)}Q", *entries)
            head = _INDEX.pack(Opcode.MESSAGE_INDEX, _INDEX_HEAD + len(body), channel_id, len(body))
            offsets[channel_id] = at
            pieces += (head, body)
            at += len(head) + len(body)
        index = ChunkIndex(
            chunk_length=chunk_length,
            chunk_start_offset=offset,
            compression="zstd",
            compressed_size=len(data),
            message_end_time=end_ns,
            message_index_length=at - offset - chunk_length,
            message_index_offsets=offsets,
            message_start_time=start_ns,
            uncompressed_size=len(plain),
        )
        counts = {channel_id: len(entries) // 2 for channel_id, entries in self.indexes.items()}
        return Sealed(b"".join(pieces), index, counts)


@dataclass(frozen=True, slots=True)
class Sealed:
    """A finished chunk with its message indexes."""

    data: bytes
    index: ChunkIndex
    counts: Mapping[int, int]


class Definitions:
    """Schemas and channels with their ids, as they come up, until the file takes them."""

    def __init__(self) -> None:
        self._new: list[Schema | Channel] = []
        self._schemas = self._channels = 0

    def add_schema(self, name: str, encoding: str, data: bytes) -> int:
        """Define a schema and return its id."""
        self._schemas += 1
        self._new.append(Schema(id=self._schemas, data=data, encoding=encoding, name=name))
        return self._schemas

    def add_channel(self, topic: str, schema_id: int, metadata: Mapping[str, str]) -> int:
        """Define a channel of protobuf messages and return its id."""
        self._channels += 1
        self._new.append(
            Channel(
                id=self._channels,
                topic=topic,
                message_encoding="protobuf",
                metadata=dict(metadata),
                schema_id=schema_id,
            )
        )
        return self._channels

    def take(self) -> tuple[Schema | Channel, ...]:
        """Return what was defined since the last call."""
        new, self._new = tuple(self._new), []
        return new


@dataclass(slots=True)
class _Summary:
    schemas: list[Schema] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)
    chunks: list[ChunkIndex] = field(default_factory=list)
    attachments: list[AttachmentIndex] = field(default_factory=list)
    metadata: list[MetadataIndex] = field(default_factory=list)
    counts: dict[int, int] = field(default_factory=dict)


class ChunkedFile:
    """The file: open, grow by chunks, finish. Every method may raise `OSError`.

    After an error the file is cut back to the last whole record, as far as the system lets us.
    """

    def __init__(self, path: str, library: str) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        self._offset = 0
        self._summary = _Summary()
        self._compress = zstandard.ZstdCompressor(level=_ZSTD_LEVEL).compress
        self._open = True
        try:
            builder = RecordBuilder()
            Header("ghost", library).write(builder)
            self._write(MCAP0_MAGIC + _taken(builder))
        except OSError:
            self.abandon()
            raise

    @property
    def size(self) -> int:
        """How many bytes were written."""
        return self._offset

    def is_gone(self) -> bool:
        """Tell whether the file was deleted under us: what we write then goes nowhere."""
        return os.fstat(self._fd).st_nlink == 0

    def add_metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Write a metadata record."""
        offset = self._offset
        length = self._record(Metadata(name=name, metadata=dict(values)))
        self._summary.metadata.append(MetadataIndex(offset=offset, length=length, name=name))

    def add_attachment(self, name: str, media_type: str, data: bytes) -> None:
        """Write an attachment."""
        offset = self._offset
        attachment = Attachment(
            create_time=0, log_time=0, name=name, media_type=media_type, data=data
        )
        length = self._record(attachment)
        self._summary.attachments.append(
            AttachmentIndex(
                offset=offset,
                length=length,
                log_time=0,
                create_time=0,
                data_size=len(data),
                name=name,
                media_type=media_type,
            )
        )

    def write_chunk(
        self, chunk: ChunkBuilder, definitions: Sequence[Schema | Channel] = ()
    ) -> None:
        """Write new definitions and what `chunk` holds, in one piece; nothing if there is none."""
        # Definitions stand outside the chunks: a damaged chunk then makes no other unreadable.
        builder = RecordBuilder()
        for definition in definitions:
            definition.write(builder)
        data = _taken(builder)
        summary = self._summary
        if chunk.size:
            sealed = chunk.seal(self._compress, self._offset + len(data))
            self._write(data + sealed.data)
            summary.chunks.append(sealed.index)
            for channel_id, count in sealed.counts.items():
                summary.counts[channel_id] = summary.counts.get(channel_id, 0) + count
        elif data:
            self._write(data)
        for definition in definitions:
            if isinstance(definition, Schema):
                summary.schemas.append(definition)
            else:
                summary.channels.append(definition)

    def finish(self) -> None:
        """Write the summary and the footer, hand everything to the disk, and close."""
        summary = self._summary
        self._record(DataEnd(0))
        start = self._offset
        builder = RecordBuilder()
        groups: list[tuple[Opcode, list[McapRecord]]] = [
            (Opcode.SCHEMA, [*summary.schemas]),
            (Opcode.CHANNEL, [*summary.channels]),
            (Opcode.STATISTICS, [self._statistics()]),
            (Opcode.CHUNK_INDEX, [*summary.chunks]),
            (Opcode.ATTACHMENT_INDEX, [*summary.attachments]),
            (Opcode.METADATA_INDEX, [*summary.metadata]),
        ]
        offsets = []
        for opcode, records in groups:
            group_start = builder.count
            for record in records:
                record.write(builder)
            if records:
                length = builder.count - group_start
                offsets.append(SummaryOffset(opcode, start + group_start, length))
        offset_start = start + builder.count
        for offset in offsets:
            offset.write(builder)
        data = _taken(builder)
        footer_head = _FOOTER_HEAD.pack(Opcode.FOOTER, _FOOTER_SIZE, start, offset_start)
        crc = zlib.crc32(footer_head, zlib.crc32(data))
        Footer(summary_start=start, summary_offset_start=offset_start, summary_crc=crc).write(
            builder
        )
        self._write(data + _taken(builder) + MCAP0_MAGIC)
        os.fsync(self._fd)
        self._close()

    def abandon(self) -> None:
        """Close the file as it is, without a summary. Idempotent."""
        if self._open:
            self._close()

    def _statistics(self) -> Statistics:
        summary = self._summary
        return Statistics(
            attachment_count=len(summary.attachments),
            channel_count=len(summary.channels),
            channel_message_counts=dict(summary.counts),
            chunk_count=len(summary.chunks),
            message_count=sum(summary.counts.values()),
            metadata_count=len(summary.metadata),
            message_start_time=min((c.message_start_time for c in summary.chunks), default=0),
            message_end_time=max((c.message_end_time for c in summary.chunks), default=0),
            schema_count=len(summary.schemas),
        )

    def _record(self, record: McapRecord) -> int:
        builder = RecordBuilder()
        record.write(builder)
        data = _taken(builder)
        self._write(data)
        return len(data)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError:
            with contextlib.suppress(OSError):  # the first error is the one to tell
                os.ftruncate(self._fd, self._offset)
            raise
        self._offset += len(data)

    def _close(self) -> None:
        self._open = False
        os.close(self._fd)


def _taken(builder: RecordBuilder) -> bytes:
    data: bytes = builder.end()  # type: ignore[no-untyped-call]  # mcap leaves it unannotated
    return data


_FOOTER_SIZE = 8 + 8 + 4
_FOOTER_HEAD = Struct("<BQQQ")
