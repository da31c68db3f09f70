"""The writing side of a recorder: one file, its current chunk, and what becomes of errors."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcap.records import Channel, Schema
from mcap.writer import LIBRARY_IDENTIFIER

from ghost import __version__
from ghost.core import Envelope, EventSeverity, HostClock, JsonValue
from ghost.hal import RGBImagePayload, SensorSample
from ghost.recording.chunks import ChunkBuilder, ChunkedFile, Definitions
from ghost.recording.foxglove import StaticTransform
from ghost.recording.images import ImageEncoding, compress
from ghost.recording.tracks import Tracks

if TYPE_CHECKING:
    from ghost.recording.recorder import RecorderLimits

__all__ = ["END_METADATA", "HEADER_METADATA", "FileSink", "SinkFault"]

HEADER_METADATA, END_METADATA = "ghost", "ghost.end"
BATCH = 64
"""Messages that are encoded in a row. More of them are no faster, and hold more memory."""


@dataclass(frozen=True, slots=True)
class SinkFault:
    """Something to tell; `fatal` if nothing is written any more."""

    message: str
    severity: EventSeverity = EventSeverity.ERROR
    fatal: bool = False
    details: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Batch:
    """A chunk that is ready to be written."""

    chunk: ChunkBuilder
    definitions: tuple[Schema | Channel, ...]
    messages: int
    size: int
    first_ns: int | None
    """The stamp of its first message."""


class FileSink:
    """One file: messages in from the thread that publishes, chunks out from the one that writes.

    The publishing thread appends to `pending` and calls `drain` when `batch` of them wait: encoded
    in a row they take two thirds of what they take one by one between the steps of a world. `pump`
    and `finish`, in the other thread, write what is ready, and drain only what a flight that
    publishes little has left. Encoding is pure Python and cannot run beside the flight anyway (one
    interpreter lock), and two threads that both want the lock cost more than they save: a world
    that lets go of it in each step had to wait for it. Compression, CRC and writing let go of the
    lock, and so do PNG and JPEG, which `pump` makes too.

    Faults go to `tell`, each kind once.
    """

    def __init__(
        self,
        path: str,
        *,
        header: Mapping[str, str],
        attachments: Mapping[str, bytes],
        encodings: Mapping[str, ImageEncoding],
        transforms: Iterable[StaticTransform],
        limits: RecorderLimits,
        host: HostClock,
        tell: Callable[[SinkFault], None],
    ) -> None:
        self._path = path
        self._header = header
        self._attachments = attachments
        self._compressed = {sid: how for sid, how in encodings.items() if how != "raw"}
        self._limits = limits
        self._host = host
        self._tell = tell
        self._file: ChunkedFile | None = None
        self._lock = threading.Lock()
        self._definitions = Definitions()
        self._chunk = ChunkBuilder()
        self._tracks = Tracks(self._definitions, self._chunk, encodings, transforms)
        self.pending: deque[Envelope] = deque()
        """Messages that were not looked at yet."""
        self.batch = 1
        """How many may be pending: few while they are large."""
        self.taken = 0
        """Messages that left `pending`."""
        self._taken_before = 0
        self._chunk_since_ns: int | None = None
        self._ready: deque[_Batch] = deque()
        self._images: deque[Envelope] = deque()
        self._unwritable: set[tuple[str, str]] = set()
        self._failed = False
        self._in_bytes = self._out_bytes = 0
        self.written = 0
        """Messages that are in the file."""
        self.lost = 0
        """Messages that came too late or were in a chunk that could not be written."""
        self.left_out = 0

    @property
    def file_bytes(self) -> int:
        """The size of the file so far."""
        return self._file.size if self._file is not None else 0

    @property
    def waiting_bytes(self) -> int:
        """How much waits to be compressed and written, beside the chunk that is being filled."""
        return self._in_bytes - self._out_bytes

    def open(self) -> bool:
        """Create the file with its header; False (and a fault) if that fails."""
        try:
            self._file = ChunkedFile(self._path, _library())
            self._file.add_metadata(HEADER_METADATA, self._header)
            for name, data in self._attachments.items():
                self._file.add_attachment(name, _media_type(name), data)
        except OSError as error:
            self._fail("cannot be written", error, "")
            return False
        return True

    def drain(self) -> None:
        """Encode what is pending into the chunk; full chunks are ready to be written."""
        with self._lock:
            self._drain()

    def drop(self) -> int:
        """Throw away what is pending; return how many messages it was."""
        with self._lock:
            count = len(self.pending)
            self.pending.clear()
            return count

    def pump(self) -> None:
        """Write what is ready, and the current chunk if its first message waited `flush_ns`."""
        for _ in range(len(self._images)):
            self._compress(self._images.popleft())
        if self.taken == self._taken_before and self.pending:
            self.drain()
        self._taken_before = self.taken
        if self._chunk.size:
            now_ns = self._host.now_ns()
            if self._chunk_since_ns is None:
                self._chunk_since_ns = now_ns
            elif now_ns - self._chunk_since_ns >= self._limits.flush_ns:
                with self._lock:
                    self._detach()
        for _ in range(len(self._ready)):
            self._write(self._ready[0])
            self._ready.popleft()

    def flush_if_due(self, now_ns: int) -> bool:
        """Make the chunk ready if it is old; tell whether it was. For the publishing thread."""
        with self._lock:
            since_ns = self._chunk_since_ns
            if not self._chunk.size or (
                since_ns is not None and now_ns - since_ns < self._limits.flush_ns
            ):
                return False
            if since_ns is None:
                self._chunk_since_ns = now_ns
                return False
            self._detach()
            return True

    def flush(self) -> None:
        """Make what there is ready to be written. For the publishing thread."""
        with self._lock:
            if self._chunk.size:
                self._detach()

    def oldest_ns(self) -> int | None:
        """The stamp of the first message that was encoded and is not in the file."""
        with self._lock:
            first = self._ready[0].first_ns if self._ready else None
            return self._chunk.first_ns() if first is None else first

    @property
    def is_written(self) -> bool:
        """Whether all that was ready is in the file."""
        return not self._ready

    def finish(self, result: Mapping[str, str]) -> None:
        """Write the rest, the result and the summary, and close the file."""
        self.pump()
        with self._lock:
            self._drain()
        for _ in range(len(self._images)):
            self._compress(self._images.popleft())
        with self._lock:
            self._detach()
        self.pump()
        if self._file is None or self._failed:
            return
        try:
            self._file.add_metadata(END_METADATA, result)
            self._file.finish()
        except OSError as error:
            self._fail("could not be finished", error)
        self._failed = True

    def _drain(self) -> None:
        """Encode what is pending; the lock is held."""
        take, limit = self.pending.popleft, self._limits.chunk_bytes
        envelopes = [take() for _ in range(len(self.pending))]
        count = len(envelopes)
        if not count:
            return
        self.taken += count
        if self._failed:
            self.lost += count
            return
        before = self._in_bytes + self._chunk.size
        if self._compressed:
            for envelope in envelopes:
                if not self._postpone(envelope):
                    self._encode(envelope, None)
        else:
            self._tracks.write_all(envelopes, limit, self._detach, self._leave_out)
        each = (self._in_bytes + self._chunk.size - before) // count + 1
        self.batch = max(1, min(BATCH, 8 * self.batch, limit // each // 4))

    def _postpone(self, envelope: Envelope) -> bool:
        """Leave an image to be compressed to the other thread; False if it is none."""
        sample: Any = envelope.payload
        if (
            type(sample) is not SensorSample
            or sample.sensor_id not in self._compressed
            or type(sample.payload) is not RGBImagePayload
        ):
            return False
        self._in_bytes += sample.payload.image.nbytes
        self._images.append(envelope)
        return True

    def _encode(self, envelope: Envelope, picture: bytes | None) -> None:
        """Add a message to the chunk; the lock is held."""
        try:
            size = self._tracks.write(envelope, picture)
        except Exception as error:  # noqa: BLE001 - no message may end a flight or the recording
            self._leave_out(envelope, error)
            return
        if size >= self._limits.chunk_bytes:
            self._detach()

    def _compress(self, envelope: Envelope) -> None:
        sample: Any = envelope.payload
        size = sample.payload.image.nbytes
        try:
            picture = compress(sample.payload.image, self._compressed[sample.sensor_id])
        except Exception as error:  # noqa: BLE001 - as in `_encode`
            self._leave_out(envelope, error)
        else:
            with self._lock:
                self._encode(envelope, picture)
        self._out_bytes += size

    def _detach(self) -> None:
        """Make the chunk ready; the lock is held."""
        chunk = self._chunk.detach()
        messages = chunk.count_of(self._tracks.recorded)
        batch = _Batch(chunk, self._definitions.take(), messages, chunk.size, chunk.first_ns())
        self._chunk_since_ns = None
        self._in_bytes += chunk.size
        self._ready.append(batch)

    def _write(self, batch: _Batch) -> None:
        file = self._file
        if file is None or self._failed:
            self.lost += batch.messages
        else:
            try:
                if file.is_gone():
                    raise FileNotFoundError(2, "the file or its folder was deleted", self._path)
                file.write_chunk(batch.chunk, batch.definitions)
                self.written += batch.messages
            except OSError as error:
                self.lost += batch.messages
                self._fail("cannot be written any more", error)
        self._out_bytes += batch.size

    def _fail(self, what: str, error: OSError, ending: str | None = None) -> None:
        self._failed = True
        if self._file is not None:
            self._file.abandon()
        reason = error.strerror or str(error)
        if ending is None:
            ending = f"; {self.written} messages are in it, the rest of the run is not recorded"
        self._tell(
            SinkFault(
                f"the recording {self._path} {what}: {reason}{ending}",
                fatal=True,
                details={"errno": error.errno, "written": self.written},
            )
        )

    def _leave_out(self, envelope: Envelope, error: Exception) -> None:
        self.left_out += 1
        kind = type(envelope.payload).__name__
        if (envelope.topic, kind) in self._unwritable:
            return
        self._unwritable.add((envelope.topic, kind))
        self._tell(
            SinkFault(
                f"messages of {envelope.topic} are left out of the recording {self._path}: {error}",
                severity=EventSeverity.WARN,
                details={"topic": envelope.topic, "class": kind},
            )
        )


def _media_type(name: str) -> str:
    ending = name.rpartition(".")[2].lower()
    types = {"json": "application/json", "yaml": "application/yaml", "yml": "application/yaml"}
    return types.get(
        ending, "text/plain" if ending in ("txt", "md") else "application/octet-stream"
    )


def _library() -> str:
    return f"ghost/{__version__} {LIBRARY_IDENTIFIER}"
