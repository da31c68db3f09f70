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


class FileSink:
    """One file: messages in from the thread that publishes, chunks out from the one that writes.

    `add` encodes a message into the current chunk; `pump` and `finish`, in the other thread, write
    what is ready. Encoding is pure Python and cannot run beside the flight anyway (one interpreter
    lock), and two threads that both want the lock cost more than they save: a world that lets go
    of it in each step had to wait for it. Compression, CRC and writing let go of the lock, and so
    do PNG and JPEG, which `pump` makes too.

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
        self._in_chunk = 0
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
            self._fail("cannot be written", error)
            return False
        return True

    def add(self, envelope: Envelope) -> None:
        """Encode a message into the chunk; a full chunk is ready to be written."""
        if self._failed:
            self.lost += 1
            return
        message = envelope.payload
        if self._compressed and type(message) is SensorSample and self._is_compressed(message):
            self._in_bytes += message.payload.image.nbytes
            self._images.append(envelope)
            return
        with self._lock:
            self._encode(envelope, None)

    def pump(self) -> None:
        """Write what is ready, and the current chunk if its first message waited `flush_ns`."""
        for _ in range(len(self._images)):
            self._compress(self._images.popleft())
        if self._in_chunk:
            now_ns = self._host.now_ns()
            if self._chunk_since_ns is None:
                self._chunk_since_ns = now_ns
            elif now_ns - self._chunk_since_ns >= self._limits.flush_ns:
                with self._lock:
                    self._detach()
        for _ in range(len(self._ready)):
            self._write(self._ready.popleft())

    def finish(self, result: Mapping[str, str]) -> None:
        """Write the rest, the result and the summary, and close the file."""
        self.pump()
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

    def _is_compressed(self, sample: SensorSample[Any]) -> bool:
        return sample.sensor_id in self._compressed and type(sample.payload) is RGBImagePayload

    def _encode(self, envelope: Envelope, picture: bytes | None) -> None:
        """Add a message to the chunk; the lock is held."""
        try:
            self._tracks.write(envelope, picture)
        except Exception as error:  # noqa: BLE001 - no message may end a flight or the recording
            self._leave_out(envelope, error)
            return
        self._in_chunk += 1
        if self._chunk.size >= self._limits.chunk_bytes:
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
        size = self._chunk.size
        batch = _Batch(self._chunk.detach(), self._definitions.take(), self._in_chunk, size)
        self._in_chunk = 0
        self._chunk_since_ns = None
        self._in_bytes += size
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

    def _fail(self, what: str, error: OSError) -> None:
        self._failed = True
        if self._file is not None:
            self._file.abandon()
        reason = error.strerror or str(error)
        self._tell(
            SinkFault(
                f"the recording {self._path} {what}: {reason}; "
                f"{self.written} messages are in it, the rest of the run is not recorded",
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


_MEDIA_TYPES = {
    "json": "application/json",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "txt": "text/plain",
    "md": "text/markdown",
}


def _library() -> str:
    return f"ghost/{__version__} {LIBRARY_IDENTIFIER}"
