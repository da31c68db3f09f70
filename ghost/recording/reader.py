"""Reading a recording: what is in it, and its messages in their total order, one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple, Self

from mcap.opcode import Opcode
from mcap.records import Attachment, MessageIndex, Schema

from ghost.core import as_ns
from ghost.recording.errors import RecordingError
from ghost.recording.notes import Notes
from ghost.recording.scan import read_attachment, scan
from ghost.recording.schema import FORMAT_VERSION
from ghost.recording.sink import END_METADATA, HEADER_METADATA
from ghost.recording.source import (
    RECORD_HEAD,
    ChunkRef,
    Damaged,
    Entry,
    FileSource,
    load_chunk,
    read_record,
    walk,
)
from ghost.recording.tracks import ROLE_KEY
from ghost.recording.unpack import Unpacker

__all__ = ["LogInfo", "LogMessage", "LogReader", "TopicInfo"]

_MAX_HELD = 256 * 1024 * 1024
"""Bytes of chunks that overlap in time and are therefore held at once."""


class LogMessage(NamedTuple):
    """One message of a recording; `(stamp_ns, sequence)` is its place in the total order."""

    topic: str
    stamp_ns: int
    sequence: int
    message: Any


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """One channel of a file."""

    topic: str
    schema: str
    count: int
    first_ns: int | None
    last_ns: int | None
    role: str
    """`record`, `bulk` or `display` in a file of ours; `foreign` in one of another tool."""


@dataclass(frozen=True, slots=True)
class LogInfo:
    """What a file says about itself."""

    path: str
    file_bytes: int
    finished: bool
    """False for a file that was cut off or is still being written."""
    library: str
    topics: tuple[TopicInfo, ...]
    message_count: int
    first_ns: int | None
    last_ns: int | None
    header: Mapping[str, Any]
    """What the recorder was told, and the versions; empty for a file of another tool."""
    result: Mapping[str, Any]
    """What was known at the end (digest, drops); empty for an unfinished file."""
    metadata: Mapping[str, Mapping[str, str]]
    """All metadata records as they are."""
    attachments: tuple[str, ...]
    notes: tuple[str, ...]


class LogReader:
    """Reads an MCAP file: ours, finished or not, or another tool's with Foxglove schemas.

    What is damaged is left out and said in `notes`. Memory does not grow with the file: chunks are
    read when their time comes and dropped after it, and no record can claim more than 256 MiB.

    Raises `RecordingError` for a file that cannot be opened, is empty or is no MCAP.
    """

    def __init__(self, path: str) -> None:
        self.path = str(path)
        self._notes = Notes()
        self._source = FileSource(self.path)
        try:
            self._contents = scan(self._source, self._notes)
        except Damaged as error:  # the file shrank under us
            self._source.close()
            raise RecordingError(f"{self.path}: {error}") from error
        except BaseException:
            self._source.close()
            raise
        self._complete = False
        """Every channel of the file is known."""
        self._counted: dict[int, list[int]] | None = None
        self._header = self._json(HEADER_METADATA)
        version = self._header.get("format")
        if isinstance(version, int) and version > FORMAT_VERSION:
            self._notes.add(
                "version",
                f"written by a newer Ghost ({self._header.get('ghost')}, format {version}; this "
                f"one knows {FORMAT_VERSION}): what is new in it is left out",
            )

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong with the file, as far as it was read."""
        return self._notes.texts()

    def info(self) -> LogInfo:
        """Return what is in the file. A file without an index is read through once for it."""
        contents = self._contents
        counts = self._counts()
        topics = []
        for channel_id, channel in sorted(contents.channels.items()):
            schema = contents.schemas.get(channel.schema_id)
            count, first_ns, last_ns = counts.get(channel_id, (0, None, None))
            role = channel.metadata.get(ROLE_KEY, "foreign")
            name = schema.name if schema is not None else ""
            topics.append(TopicInfo(channel.topic, name, count, first_ns, last_ns, role))
        stamps = [t.first_ns for t in topics if t.first_ns is not None]
        ends = [t.last_ns for t in topics if t.last_ns is not None]
        return LogInfo(
            path=self.path,
            file_bytes=self._source.size,
            finished=contents.finished,
            library=contents.library,
            topics=tuple(topics),
            message_count=sum(t.count for t in topics),
            first_ns=min(stamps, default=None),
            last_ns=max(ends, default=None),
            header=self._header,
            result=self._json(END_METADATA),
            metadata=MappingProxyType(contents.metadata),
            attachments=tuple(contents.attachments),
            notes=self.notes,
        )

    def attachment(self, name: str) -> bytes:
        """Return an attached file. Raises `RecordingError` if there is none or it is damaged."""
        place = self._contents.attachments.get(name)
        if place is None:
            known = ", ".join(self._contents.attachments) or "none"
            raise RecordingError(f"{self.path}: no attachment {name!r} (there are: {known})")
        try:
            record: Attachment = read_attachment(self._source, place)
        except Damaged as error:
            raise RecordingError(f"{self.path}: attachment {name!r}: {error}") from error
        return record.data

    def messages(
        self,
        topics: Sequence[str] | None = None,
        start_ns: int | None = None,
        end_ns: int | None = None,
    ) -> Iterator[LogMessage]:
        """Yield the messages with `start_ns <= stamp < end_ns` in the order (stamp, sequence).

        `topics` are names, or prefixes as on the bus (`/sensors/*`); None is all. In a file of
        another tool, whose sequence counts each channel alone, equal stamps keep the file's order.
        Several iterators may run at once in one thread. Messages of an unknown schema, damaged
        messages and damaged chunks are left out and noted.
        """
        start_ns = None if start_ns is None else as_ns("start_ns", start_ns)
        end_ns = None if end_ns is None else as_ns("end_ns", end_ns)
        unpacker = Unpacker(self._contents, self._notes, topics)
        ordered = self._in_order(unpacker, start_ns, end_ns)
        return unpacker.messages(ordered, LogMessage)

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _json(self, name: str) -> dict[str, Any]:
        values = {}
        for key, text in self._contents.metadata.get(name, {}).items():
            try:
                values[key] = json.loads(text)
            except (ValueError, RecursionError):
                self._notes.add(f"metadata {name}", f"metadata {name}: {key} is no JSON")
        return values

    def _in_order(
        self, unpacker: Unpacker, start_ns: int | None, end_ns: int | None
    ) -> Iterator[Entry]:
        """Merge the chunks by (stamp, sequence), holding only those that overlap in time."""
        contents = self._contents
        by_sequence = contents.profile == "ghost"
        rest: list[Entry] = []
        at = held = 0
        for ref in list(contents.chunks):
            if end_ns is not None and ref.start_ns >= end_ns:
                break
            if (start_ns is not None and ref.end_ns < start_ns) or not unpacker.wants(ref):
                continue
            while at < len(rest) and rest[at][0] < ref.start_ns:
                yield rest[at]
                at += 1
            if at == len(rest):
                held = 0
            elif held > _MAX_HELD:
                self._notes.add("overlap", "chunks overlap too much in time to be put in order")
                yield from rest[at:]
                at, held = len(rest), 0
            entries, size = self._entries(ref, unpacker)
            held += size
            if start_ns is not None:
                entries = [entry for entry in entries if entry[0] >= start_ns]
            if end_ns is not None:
                entries = [entry for entry in entries if entry[0] < end_ns]
            rest = rest[at:] + entries
            at = 0
            rest.sort(key=None if by_sequence else _by_stamp)
        yield from rest[at:]

    def _entries(self, ref: ChunkRef, unpacker: Unpacker | None) -> tuple[list[Entry], int]:
        """Return the wanted messages of a chunk in file order, and its size; note what is wrong."""
        contents, entries, data = self._contents, list[Entry](), b""
        try:
            data = load_chunk(self._source, ref)
            for item in walk(data):
                if isinstance(item, tuple):
                    entries.append(item)
                elif isinstance(item, Schema):
                    contents.schemas.setdefault(item.id, item)
                else:
                    contents.channels.setdefault(item.id, item)
        except Damaged as error:
            if not ref.is_cut:
                self._notes.add(
                    f"chunk {ref.offset}", f"{error}; what cannot be read of it is left out"
                )
        if unpacker is None:
            return entries, len(data)
        present = {entry[3] for entry in entries}
        if not self._complete and not present <= contents.channels.keys():
            self._find_channels()
        wanted = {channel_id for channel_id in present if unpacker.wanted(channel_id)}
        return [entry for entry in entries if entry[3] in wanted], len(data)

    def _find_channels(self) -> None:
        """In a file without an index, a channel may be defined in a chunk that was passed by."""
        self._complete = True
        self._counts()

    def _counts(self) -> dict[int, tuple[int, int | None, int | None]]:
        """Count, first and last stamp by channel: from the index, or else by reading it all."""
        contents = self._contents
        if contents.statistics is not None and contents.indexed and contents.first_index:
            try:
                return self._indexed_counts()
            except Damaged as error:
                self._notes.add("index", f"{error}; the messages were counted instead")
        if self._counted is None:
            counted: dict[int, list[int]] = {}
            for ref in list(contents.chunks):
                for stamp_ns, _, _, channel_id, *_ in self._entries(ref, None)[0]:
                    found = counted.get(channel_id)
                    if found is None:
                        counted[channel_id] = [1, stamp_ns, stamp_ns]
                    else:
                        found[0] += 1
                        found[1] = min(found[1], stamp_ns)
                        found[2] = max(found[2], stamp_ns)
            self._counted, self._complete = counted, True
        return {key: (count, first, last) for key, (count, first, last) in self._counted.items()}

    def _indexed_counts(self) -> dict[int, tuple[int, int | None, int | None]]:
        contents = self._contents
        assert contents.statistics is not None
        counts: dict[int, tuple[int, int | None, int | None]] = {}
        for channel_id, count in contents.statistics.channel_message_counts.items():
            if count and channel_id in contents.first_index:
                first = self._index(contents.first_index[channel_id][1], channel_id)
                last = self._index(contents.last_index[channel_id][1], channel_id)
                counts[channel_id] = (count, min(first), max(last))
            else:
                counts[channel_id] = (count, None, None)
        return counts

    def _index(self, offset: int, channel_id: int) -> list[int]:
        opcode, length = RECORD_HEAD.unpack(self._source.read(offset, RECORD_HEAD.size))
        if opcode != Opcode.MESSAGE_INDEX or length > _MAX_HELD:
            raise Damaged(f"there is no message index at byte {offset}")
        body = self._source.read(offset + RECORD_HEAD.size, length)
        index: MessageIndex = read_record(MessageIndex, body)
        if index.channel_id != channel_id or not index.records:
            raise Damaged(f"the message index at byte {offset} is of another channel")
        return [stamp_ns for stamp_ns, _ in index.records]


def _by_stamp(entry: Entry) -> int:
    return entry[0]
