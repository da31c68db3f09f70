"""From the bytes of a file's channels to messages: ours, with their bulk, and foreign ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from google.protobuf.message import DecodeError

from ghost.recording.decode import DECODE_ERRORS, NO_BULK, Decoder, MessageDecoder
from ghost.recording.foreign import BULK_READERS, ForeignReader, NotMapped
from ghost.recording.notes import Notes
from ghost.recording.scan import Contents
from ghost.recording.schema import BULK, sample_name
from ghost.recording.source import ChunkRef, Entry
from ghost.recording.tracks import LOSSY_KEY, OF_KEY, ROLE_KEY, Role

__all__ = ["Unpacker"]

T = TypeVar("T")
_WITH_BULK = frozenset(sample_name(cls) for cls in BULK)
_DAMAGE = (*DECODE_ERRORS, DecodeError)


@dataclass(frozen=True, slots=True)
class _Channel:
    """What is done with the messages of one channel."""

    topic: str
    schema: str
    decode: Decoder | None = None
    waits_for_bulk: bool = False
    bulk_of: str = ""
    passed_by: bool = False


class Unpacker:
    """Decodes the wanted channels of one pass over a file."""

    def __init__(self, contents: Contents, notes: Notes, topics: Sequence[str] | None) -> None:
        self._contents = contents
        self._notes = notes
        self._topics = None if topics is None else tuple(topics)
        self._decoder = MessageDecoder()
        self._foreign = ForeignReader()
        self._channels: dict[int, _Channel] = {}
        self._waiting: dict[str, tuple[int, int, bytes]] = {}
        self._wanted: dict[int, bool] = {}
        self._samples: dict[str, Decoder] = {}

    def wants(self, ref: ChunkRef) -> bool:
        """Tell whether a chunk may hold something wanted."""
        known = self._contents.channels
        return ref.channels is None or any(
            channel not in known or self.wanted(channel) for channel in ref.channels
        )

    def wanted(self, channel_id: int) -> bool:
        """Tell whether messages of this channel are to be yielded (or go into one that is)."""
        found = self._wanted.get(channel_id)
        if found is None:
            found = self._wanted[channel_id] = self._is_wanted(channel_id)
        return found

    def messages(
        self, entries: Iterator[Entry], make: Callable[[str, int, int, Any], T]
    ) -> Iterator[T]:
        """Yield `make(topic, stamp_ns, sequence, message)` for each message in `entries`."""
        channels, waiting = self._channels, self._waiting
        for stamp_ns, sequence, _, channel_id, data, start, end in entries:
            channel = channels.get(channel_id)
            if channel is None:
                channel = channels[channel_id] = self._channel(channel_id)
            try:
                if channel.bulk_of:
                    message = self._with_bulk(channel, stamp_ns, sequence, data, start, end)
                    if message is not None:
                        yield make(channel.bulk_of, stamp_ns, sequence, message)
                    continue
                body = data[start:end]
                if channel.waits_for_bulk:
                    if channel.topic in waiting:
                        self._note_alone(channel.topic)
                    waiting[channel.topic] = (stamp_ns, sequence, body)
                    continue
                if channel.decode is not None:
                    message = channel.decode(body, NO_BULK)
                else:
                    message = self._foreign.read(channel.schema, channel.topic, stamp_ns, body)
                    if message is None:
                        continue
            except NotMapped as error:
                self._notes.add(
                    f"unmapped {channel.topic}", f"{channel.topic}: {error} is not understood"
                )
                continue
            except _DAMAGE as error:
                self._notes.add(
                    f"damaged {channel.topic}",
                    f"{channel.topic}: a message cannot be decoded and is left out: {error}",
                )
                continue
            yield make(channel.topic, stamp_ns, sequence, message)
        for topic in waiting:
            self._note_alone(topic)
        waiting.clear()

    def _with_bulk(
        self,
        channel: _Channel,
        stamp_ns: int,
        sequence: int,
        data: bytes,
        start: int,
        end: int,
    ) -> Any:
        first = self._waiting.pop(channel.bulk_of, None)
        if first is None or first[:2] != (stamp_ns, sequence):
            self._note_alone(channel.bulk_of)
            return None
        return self._samples[channel.bulk_of](
            first[2], BULK_READERS[channel.schema](data, start, end)
        )

    def _note_alone(self, topic: str) -> None:
        self._notes.add(
            f"alone {topic}", f"{topic}: a sample without its data (or data without its sample)"
        )

    def _is_wanted(self, channel_id: int) -> bool:
        channel = self._contents.channels.get(channel_id)
        if channel is None:
            text = f"messages of channel {channel_id}, which is defined nowhere, are left out"
            self._notes.add(f"channel {channel_id}", text)
            return False
        role = channel.metadata.get(ROLE_KEY)
        if role == Role.DISPLAY:
            return False
        topic = channel.metadata.get(OF_KEY, channel.topic) if role == Role.BULK else channel.topic
        if self._topics is not None and not any(_matches(p, topic) for p in self._topics):
            return False
        return not self._channel(channel_id).passed_by

    def _channel(self, channel_id: int) -> _Channel:
        channel = self._contents.channels[channel_id]
        schema = self._contents.schemas.get(channel.schema_id)
        name = schema.name if schema is not None else ""
        role = channel.metadata.get(ROLE_KEY)
        topic = channel.topic
        if channel.message_encoding == "protobuf" and schema is not None:
            if role == Role.BULK and name in BULK_READERS:
                if channel.metadata.get(LOSSY_KEY):
                    self._notes.add(f"lossy {topic}", f"{topic}: recorded as JPEG, not exact")
                return _Channel(topic, name, bulk_of=channel.metadata.get(OF_KEY, ""))
            decode = self._decoder.by_name.get(name)
            if decode is not None:
                if name in _WITH_BULK:
                    self._samples[topic] = decode
                    return _Channel(topic, name, waits_for_bulk=True)
                return _Channel(topic, name, decode)
            if self._foreign.knows(name):
                return _Channel(topic, name)
        count = self._contents.statistics
        number = "" if count is None else f" {count.channel_message_counts.get(channel_id, 0)}"
        said = name or "none"
        self._notes.add(
            f"schema {channel_id}",
            f"{topic}: the schema {said!r} ({channel.message_encoding or 'no encoding'}) is "
            f"unknown; its{number} messages are left out",
        )
        return _Channel(topic, name, passed_by=True)


def _matches(pattern: str, topic: str) -> bool:
    if pattern.endswith("*"):
        return topic.startswith(pattern[:-1])
    return topic == pattern
