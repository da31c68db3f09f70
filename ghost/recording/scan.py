"""What is in an MCAP file and where: from its summary, or else by walking over its records."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

from mcap.opcode import Opcode
from mcap.records import (
    AttachmentIndex,
    Channel,
    ChunkIndex,
    Footer,
    Header,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
)
from mcap.writer import MCAP0_MAGIC

from ghost.recording.errors import RecordingError
from ghost.recording.notes import Notes
from ghost.recording.source import (
    RECORD_HEAD,
    ChunkRef,
    Damaged,
    FileSource,
    parse_chunk_head,
    read_record,
)

__all__ = ["Contents", "scan"]

_MAGIC_SIZE = len(MCAP0_MAGIC)
_FOOTER_SIZE = RECORD_HEAD.size + 8 + 8 + 4
_MAX_SMALL = 64 * 1024 * 1024
"""Schemas, metadata and the like that claim more are not read."""
_MAX_SUMMARY = 1024 * 1024 * 1024
_MAX_ROW = 1024 * 1024
_MAX_ROW_MESSAGES = 100_000
_MESSAGE_STAMP = 2 + 4


@dataclass(slots=True)
class Contents:
    """The table of a file; messages stay on the disk."""

    profile: str = ""
    library: str = ""
    finished: bool = False
    """The file has its end: nothing was cut off."""
    indexed: bool = False
    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    chunks: list[ChunkRef] = field(default_factory=list)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    attachments: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Name to offset and length of the record."""
    statistics: Statistics | None = None
    first_index: dict[int, tuple[int, int]] = field(default_factory=dict)
    last_index: dict[int, tuple[int, int]] = field(default_factory=dict)
    """By channel: time of the chunk that is first (last), and the offset of its message index."""


def scan(source: FileSource, notes: Notes) -> Contents:
    """Read the table of contents; `RecordingError` for a file that is no MCAP at all."""
    if source.size == 0:
        raise RecordingError(f"{source.path}: the file is empty (0 bytes), nothing was recorded")
    if source.size < _MAGIC_SIZE or source.read(0, _MAGIC_SIZE) != MCAP0_MAGIC:
        raise RecordingError(
            f"{source.path}: this is not an MCAP file (it does not begin with the MCAP magic)"
        )
    contents = Contents()
    _read_header(source, contents, notes)
    if not _read_summary(source, contents, notes):
        fresh = Contents(profile=contents.profile, library=contents.library)
        _walk(source, fresh, notes)
        contents = fresh
    contents.chunks.sort(key=lambda ref: (ref.start_ns, ref.offset))
    return contents


def _read_header(source: FileSource, contents: Contents, notes: Notes) -> None:
    try:
        opcode, length = RECORD_HEAD.unpack(source.read(_MAGIC_SIZE, RECORD_HEAD.size))
        if opcode != Opcode.HEADER or length > _MAX_SMALL:
            raise Damaged("the header record is missing")
        body = source.read(_MAGIC_SIZE + RECORD_HEAD.size, length)
        header: Header = read_record(Header, body)
        contents.profile, contents.library = header.profile, header.library
    except Damaged as error:
        notes.add("header", f"the header is damaged: {error}")


def _read_summary(source: FileSource, contents: Contents, notes: Notes) -> bool:
    """Fill `contents` from the summary; False (and a note) where the file has no sound one."""
    end = source.size - _MAGIC_SIZE - _FOOTER_SIZE
    try:
        if end < _MAGIC_SIZE or source.read(source.size - _MAGIC_SIZE, 8) != MCAP0_MAGIC:
            return False  # unfinished; the walk says how far it goes
        tail = source.read(end, _FOOTER_SIZE)
        opcode, length = RECORD_HEAD.unpack_from(tail)
        if opcode != Opcode.FOOTER or length != _FOOTER_SIZE - RECORD_HEAD.size:
            raise Damaged("the footer is damaged")
        footer: Footer = read_record(Footer, tail[RECORD_HEAD.size :])
        start = footer.summary_start
        if start == 0:
            return False
        if not _MAGIC_SIZE <= start <= end or end - start > _MAX_SUMMARY:
            raise Damaged(f"the footer puts the summary at byte {start}")
        data = source.read(start, end - start)
        if footer.summary_crc and zlib.crc32(tail[:-4], zlib.crc32(data)) != footer.summary_crc:
            raise Damaged("the summary fails its CRC")
        _summary_records(source, contents, data)
        if not contents.chunks and (
            contents.statistics is None or contents.statistics.message_count
        ):
            return False  # written without an index
    except Damaged as error:
        notes.add("summary", f"{error}; the file is read from its beginning instead")
        return False
    contents.finished = contents.indexed = True
    return True


def _summary_records(source: FileSource, contents: Contents, data: bytes) -> None:
    at, sets = 0, dict[frozenset[int], frozenset[int]]()
    while at < len(data):
        if at + RECORD_HEAD.size > len(data):
            raise Damaged("the summary is cut off")
        opcode, length = RECORD_HEAD.unpack_from(data, at)
        start = at + RECORD_HEAD.size
        at = start + length
        if at > len(data):
            raise Damaged(f"a record of the summary claims {length} bytes")
        body = data[start:at]
        if opcode == Opcode.CHUNK_INDEX:
            _chunk_index(source, contents, read_record(ChunkIndex, body), sets)
        elif opcode == Opcode.STATISTICS:
            contents.statistics = read_record(Statistics, body)
        elif opcode == Opcode.METADATA_INDEX:
            metadata: MetadataIndex = read_record(MetadataIndex, body)
            _metadata(source, contents, metadata.offset, metadata.length)
        elif opcode == Opcode.ATTACHMENT_INDEX:
            attachment: AttachmentIndex = read_record(AttachmentIndex, body)
            contents.attachments[attachment.name] = (attachment.offset, attachment.length)
        else:
            _definition(contents, opcode, body)


def _definition(contents: Contents, opcode: int, body: bytes) -> None:
    if opcode == Opcode.SCHEMA:
        schema: Schema = read_record(Schema, body)
        contents.schemas[schema.id] = schema
    elif opcode == Opcode.CHANNEL:
        channel: Channel = read_record(Channel, body)
        contents.channels[channel.id] = channel


def _chunk_index(
    source: FileSource,
    contents: Contents,
    index: ChunkIndex,
    sets: dict[frozenset[int], frozenset[int]],
) -> None:
    offset, length = index.chunk_start_offset, index.chunk_length
    if offset + length > source.size or index.message_start_time > index.message_end_time:
        raise Damaged(f"the index puts a chunk at byte {offset}")
    channels = None
    if index.message_index_offsets:
        found = frozenset(index.message_index_offsets)
        channels = sets.setdefault(found, found)
    start_ns, end_ns = index.message_start_time, index.message_end_time
    contents.chunks.append(ChunkRef(offset, length, start_ns, end_ns, channels))
    for channel_id, place in index.message_index_offsets.items():
        first = contents.first_index.get(channel_id)
        if first is None or start_ns < first[0]:
            contents.first_index[channel_id] = (start_ns, place)
        last = contents.last_index.get(channel_id)
        if last is None or end_ns >= last[0]:
            contents.last_index[channel_id] = (end_ns, place)


def _metadata(source: FileSource, contents: Contents, offset: int, length: int) -> None:
    if length > _MAX_SMALL or length < RECORD_HEAD.size:
        raise Damaged(f"the metadata at byte {offset} claims {length} bytes")
    body = source.read(offset, length)[RECORD_HEAD.size :]
    record: Metadata = read_record(Metadata, body)
    contents.metadata[record.name] = record.metadata


def _walk(source: FileSource, contents: Contents, notes: Notes) -> None:
    """Walk over all records from the beginning, without unpacking chunks."""
    at = _MAGIC_SIZE
    row = _Row(contents)
    try:
        while at < source.size:
            if at + RECORD_HEAD.size > source.size:
                raise Damaged("the last record is cut off")
            opcode, length = RECORD_HEAD.unpack(source.peek(at, RECORD_HEAD.size))
            start, end = at + RECORD_HEAD.size, at + RECORD_HEAD.size + length
            if opcode == Opcode.DATA_END:
                contents.finished = True
                break
            if opcode == Opcode.CHUNK:
                row.close()
                _chunk(source, contents, notes, at, length)
            if end > source.size:
                raise Damaged(
                    f"the record at byte {at} claims {length} bytes, {source.size - start} are left"
                )
            _plain_record(source, contents, notes, row, opcode, at, length)
            at = end
    except Damaged as error:
        notes.add("walk", f"the file is unfinished or damaged: {error}; all before is read")
    row.close()
    if not contents.finished:
        notes.add("unfinished", "the file has no end: it was cut off or is still being written")
    elif source.peek(source.size - _MAGIC_SIZE, _MAGIC_SIZE) != MCAP0_MAGIC:
        notes.add("summary", "the file is cut off after its messages, which are whole")


def _chunk(source: FileSource, contents: Contents, notes: Notes, at: int, length: int) -> None:
    is_cut = at + RECORD_HEAD.size + length > source.size
    try:
        head = parse_chunk_head(source, at, length)
    except Damaged as error:
        if is_cut:  # its length may be as wrong as the rest
            raise
        notes.add(f"chunk {at}", f"{error}; it is left out")
        return
    size = RECORD_HEAD.size + length
    contents.chunks.append(ChunkRef(at, size, head.start_ns, head.end_ns, is_cut=is_cut))


def _plain_record(
    source: FileSource,
    contents: Contents,
    notes: Notes,
    row: _Row,
    opcode: int,
    at: int,
    length: int,
) -> None:
    start = at + RECORD_HEAD.size
    if opcode == Opcode.MESSAGE:
        if length < 22:
            raise Damaged(f"the message at byte {at} is too short")
        stamp = source.peek(start + _MESSAGE_STAMP, 8)
        row.add(at, start + length, int.from_bytes(stamp, "little"))
    elif opcode in (Opcode.SCHEMA, Opcode.CHANNEL, Opcode.METADATA):
        if length > _MAX_SMALL:
            notes.add(f"record {at}", f"the record at byte {at} claims {length} bytes: left out")
            return
        try:
            if opcode == Opcode.METADATA:
                _metadata(source, contents, at, RECORD_HEAD.size + length)
            else:
                _definition(contents, opcode, source.read(start, length))
        except Damaged as error:
            notes.add(f"record {at}", f"at byte {at}: {error}; left out")
    elif opcode == Opcode.ATTACHMENT:
        name = _attachment_name(source.peek(start, min(length, 1024)))
        contents.attachments[name] = (at, RECORD_HEAD.size + length)


def _attachment_name(body: bytes) -> str:
    size = int.from_bytes(body[16:20], "little")
    return body[20 : 20 + size].decode("utf-8", "replace")


class _Row:
    """Messages outside chunks, taken together: each row is then read like a chunk."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._start = self._end = 0
        self._stamps: list[int] = []

    def add(self, at: int, end: int, stamp_ns: int) -> None:
        if self._stamps and (
            at != self._end
            or end - self._start > _MAX_ROW
            or len(self._stamps) >= _MAX_ROW_MESSAGES
        ):
            self.close()
        if not self._stamps:
            self._start = at
        self._stamps.append(stamp_ns)
        self._end = end

    def close(self) -> None:
        if self._stamps:
            first, last = min(self._stamps), max(self._stamps)
            length = self._end - self._start
            self._contents.chunks.append(ChunkRef(self._start, length, first, last, is_row=True))
            self._stamps = []


def read_attachment(source: FileSource, place: tuple[int, int]) -> Any:
    """Return the attachment record at `place`; `Damaged` if it cannot be read."""
    from mcap.records import Attachment

    offset, length = place
    if not RECORD_HEAD.size <= length <= _MAX_SMALL:
        raise Damaged(f"the attachment at byte {offset} claims {length} bytes")
    return read_record(Attachment, source.read(offset, length)[RECORD_HEAD.size :])
