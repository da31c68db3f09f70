"""The recorder: the bus in, an MCAP file out, and a step that never waits for a disk (D24)."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType, TracebackType
from typing import Self

from ghost.core import (
    EVENTS_TOPIC,
    ContractViolation,
    Envelope,
    Event,
    EventSeverity,
    EventType,
    HostClock,
    MessageBus,
    Subscription,
)
from ghost.recording.foxglove import StaticTransform
from ghost.recording.images import ImageEncoding
from ghost.recording.sink import FileSink, SinkFault
from ghost.recording.versions import as_json_values, versions

__all__ = ["Recorder", "RecorderLimits", "RecorderStats"]

_SOURCE = "recording"
CHECK_NS = 5_000_000
"""How often, on the clock of a run in real time, the publishing thread looks after the writing."""


@dataclass(frozen=True, slots=True)
class RecorderLimits:
    """How much may wait, and how long. The defaults aim at a quarter of what D24 allows."""

    flush_ns: int = 30_000_000
    """A message waits in memory for this time plus `tick_ns` twice, on a host that keeps up."""
    tick_ns: int = 20_000_000
    chunk_bytes: int = 1024 * 1024
    """A chunk ends at this size or at `flush_ns`, whichever comes first."""
    queue_bytes: int = 128 * 1024 * 1024
    """How much may wait for the disk, uncompressed."""
    block_ns: int = 250_000_000
    """The longest that a full queue holds up one step; after it messages are dropped."""
    late_ns: int = 100_000_000
    """At real-time speed a step waits, for `block_ns` at most, if more than this stretch of the
    run's own time is not written yet: then a machine that starves the writing thread loses no more
    to a kill than one that does not."""
    close_ns: int = 30_000_000_000
    """How long `close()` waits for a disk that hangs."""


@dataclass(frozen=True, slots=True)
class RecorderStats:
    """What became of the messages."""

    received: int
    written: int
    dropped: int
    """Lost because the queue was full or the file failed."""
    left_out: int
    """Messages that have no form in the file."""
    stalls: int
    """How often the queue was full, or the writing thread late, and the step had to wait."""
    file_bytes: int


class Recorder:
    """Records what a bus says into an MCAP file.

    `start()` opens the file and subscribes; `close()` writes what waits, the summary, and closes.
    As a context manager it does both. In between, the thread that publishes encodes, some µs a
    message, and a thread of the recorder's own compresses and writes. What goes wrong never stops a
    flight: a disk that is full, a folder that vanished or cannot be written, a message without a
    schema, a queue that stayed full for `limits.block_ns` are told once each as
    `Event(RECORDING_FAULT)` on `/events`, published from the thread that publishes, and `fault`
    says why a file ended early.

    A recorder stays subscribed across resets (D22); a run that begins anew at time 0 in the same
    file is then merged by time with the one before, so one file per run is the better habit.

    Args:
        path: the file; one that exists is replaced.
        bus: what to record.
        patterns: topics or prefixes (`/sensors/*`); everything by default.
        metadata: what explains the run: scenario, vehicle, seed, capabilities… Dataclasses, enums,
            mappings, sequences and scalars; each entry is stored as JSON. Versions are added.
        attachments: files to put in, by name: the scenario as the user wrote it.
        encodings: by sensor id, `raw` (the default), `png` (every pixel kept) or `jpeg` (lossy:
            such images do not replay to an equal digest). For colour cameras.
        transforms: where the sensors' frames sit, for the picture in 3D.
        limits: queue and chunk sizes.
        host: the clock of the machine; a test may bring its own.

    Raises `ValueError` for an unknown encoding and `TypeError` for metadata that is no plain data.
    """

    def __init__(
        self,
        path: str,
        bus: MessageBus,
        *,
        patterns: Sequence[str] = ("/*",),
        metadata: Mapping[str, object] = MappingProxyType({}),
        attachments: Mapping[str, str | bytes] = MappingProxyType({}),
        encodings: Mapping[str, ImageEncoding] = MappingProxyType({}),
        transforms: Iterable[StaticTransform] = (),
        limits: RecorderLimits | None = None,
        host: HostClock | None = None,
    ) -> None:
        for sensor_id, encoding in encodings.items():
            if encoding not in ("raw", "png", "jpeg"):
                raise ValueError(
                    f"encodings[{sensor_id!r}] must be raw, png or jpeg, got {encoding!r}"
                )
        self.path = str(path)
        self._bus = bus
        self._patterns = tuple(patterns)
        self._limits = limits if limits is not None else RecorderLimits()
        self._host = host if host is not None else HostClock()
        self._header = {**versions(), **as_json_values(metadata)}
        self._attachments = {
            name: data.encode() if isinstance(data, str) else bytes(data)
            for name, data in attachments.items()
        }
        self._encodings = dict(encodings)
        self._transforms = tuple(transforms)
        self._result: dict[str, str] = {}
        self._subscriptions: list[Subscription] = []
        self._faults: deque[SinkFault] = deque()
        self._sink: FileSink | None = None
        self._thread: threading.Thread | None = None
        self._wake = threading.Event()
        self._room = threading.Condition()
        self._closing = self._closed = False
        self._pending: deque[Envelope] = deque()
        self._batch = 1
        self._dropped = self._stalls = 0
        self._full = self._stall_told = False
        self._last_ns = 0
        self._check_ns = self._checked_ns = 0
        self._anchor: tuple[int, int] | None = None
        self._gave_up_ns: int | None = None
        self.fault: str | None = None
        """Why nothing is written any more; None while all is well."""

    def start(self) -> None:
        """Open the file and record from now on. A file that cannot be opened is an event.

        Raises `ContractViolation` if it was started before.
        """
        if self._sink is not None or self._closed:
            raise ContractViolation("a Recorder is started once; make another for another file")
        header = {**self._header, "created_wall_ns": str(self._host.wall_ns())}
        self._sink = FileSink(
            self.path,
            header=header,
            attachments=self._attachments,
            encodings=self._encodings,
            transforms=self._transforms,
            limits=self._limits,
            host=self._host,
            tell=self._faults.append,
        )
        self._pending = self._sink.pending
        if self._sink.open():
            self._subscriptions = [
                self._bus.subscribe(pattern, self._take) for pattern in self._patterns
            ]
            self._thread = threading.Thread(target=self._work, name="ghost-recorder", daemon=True)
            self._thread.start()
        self._tell_faults()

    def annotate(self, **values: object) -> None:
        """Add results (a digest, an outcome) to the metadata written at the end."""
        self._result.update(as_json_values(values))

    def stats(self) -> RecorderStats:
        """Return what became of the messages so far; exact after `close()`."""
        sink = self._sink
        return RecorderStats(
            received=self._dropped + (sink.taken + len(sink.pending) if sink else 0),
            written=sink.written if sink else 0,
            dropped=self._dropped + (sink.lost if sink else 0),
            left_out=sink.left_out if sink else 0,
            stalls=self._stalls,
            file_bytes=sink.file_bytes if sink else 0,
        )

    def close(self) -> None:
        """Write what waits, finish the file, stop. Idempotent; never raises for the file's sake."""
        if self._closed:
            return
        self._closed = True
        for subscription in self._subscriptions:
            subscription.unsubscribe()
        thread, sink = self._thread, self._sink
        if thread is not None and sink is not None:
            self._closing = True
            self._wake.set()
            thread.join(self._limits.close_ns / 1e9)
            if thread.is_alive():
                text = f"{self.path} did not take the rest within {self._limits.close_ns / 1e9:g} s"
                self._faults.append(SinkFault(text, fatal=True))
        self._tell_faults()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # In the thread that publishes. The bus delivers one message at a time.

    def _take(self, envelope: Envelope) -> None:
        pending, stamp_ns = self._pending, envelope.stamp_sim_ns
        pending.append(envelope)
        if len(pending) >= self._batch or stamp_ns >= self._check_ns:
            self._drain(stamp_ns)

    def _drain(self, stamp_ns: int) -> None:
        """Encode what is pending, or drop it."""
        sink = self._sink
        assert sink is not None
        self._last_ns = stamp_ns
        if sink.waiting_bytes > self._limits.queue_bytes and not self._wait_for_room(sink):
            self._dropped += sink.drop()
        else:
            sink.drain()
        self._batch = 1 if sink.waiting_bytes > self._limits.queue_bytes else sink.batch
        if stamp_ns >= self._check_ns:
            self._check(sink, stamp_ns)
        if self._faults:
            self._tell_faults()

    def _check(self, sink: FileSink, stamp_ns: int) -> None:
        """Look after the writing now and then.

        All of this is the other thread's work, too; here it is done because a starved machine may
        leave that thread without its turn for longer than D24 allows.
        """
        now_ns = self._host.now_ns()
        if sink.flush_if_due(now_ns):
            self._wake.set()
        if self._anchor is None or stamp_ns < self._checked_ns:
            self._anchor = (now_ns, stamp_ns)
        # How fast the run is decides what a stretch of its time means. Its average is taken: a run
        # in real time that was held up goes faster for a while, and that is when most can be lost.
        passed_ns, flown_ns = now_ns - self._anchor[0], stamp_ns - self._anchor[1]
        self._checked_ns, self._check_ns = stamp_ns, stamp_ns + CHECK_NS
        if 2 * flown_ns > 3 * passed_ns:
            self._check_ns += CHECK_NS * flown_ns // max(passed_ns, 1)
        elif flown_ns > self._limits.late_ns:
            self._wait_if_late(sink, stamp_ns)

    def _wait_if_late(self, sink: FileSink, stamp_ns: int) -> None:
        """Hold the step up until all is written, if what waits is old; once if that fails."""
        oldest_ns = sink.oldest_ns()
        if oldest_ns is None or stamp_ns - oldest_ns <= self._limits.late_ns:
            return
        if oldest_ns == self._gave_up_ns:
            return
        self._stalls += 1
        sink.flush()
        self._wake.set()
        with self._room:
            done = self._room.wait_for(lambda: sink.is_written, self._limits.block_ns / 1e9)
        self._gave_up_ns = None if done else oldest_ns

    def _wait_for_room(self, sink: FileSink) -> bool:
        """Hold the step up until the queue is half empty, once; then drop until it is."""
        half = self._limits.queue_bytes // 2
        if self._full:
            self._full = sink.waiting_bytes > half
            return not self._full
        self._stalls += 1
        start_ns = self._host.now_ns()
        self._wake.set()
        with self._room:
            done = self._room.wait_for(
                lambda: sink.waiting_bytes <= half, self._limits.block_ns / 1e9
            )
        if done:
            waited_ms = (self._host.now_ns() - start_ns) / 1e6
            if not self._stall_told:
                self._stall_told = True
                text = f"{self.path} is written too slowly: a step waited {waited_ms:.0f} ms"
                self._faults.append(SinkFault(text, severity=EventSeverity.WARN))
            return True
        self._full = True
        text = (
            f"{self.path} is written too slowly: messages are dropped "
            f"after a wait of {self._limits.block_ns / 1e6:.0f} ms"
        )
        self._faults.append(SinkFault(text))
        return False

    def _tell_faults(self) -> None:
        while self._faults:
            fault = self._faults.popleft()
            if fault.fatal:
                self.fault = fault.message
                for subscription in self._subscriptions:
                    subscription.unsubscribe()
            event = Event(
                type=EventType.RECORDING_FAULT,
                stamp_sim_ns=max(self._last_ns, 0),
                severity=fault.severity,
                source=_SOURCE,
                message=fault.message,
                payload={"file": self.path, "dropped": self.stats().dropped, **fault.details},
            )
            self._bus.publish(EVENTS_TOPIC, event)

    # In the recorder's own thread.

    def _work(self) -> None:
        try:
            self._record()
        except Exception as error:  # noqa: BLE001 - a thread that dies must be heard of
            text = f"the recording {self.path} ended: {type(error).__name__}: {error}"
            self._faults.append(SinkFault(text, fatal=True))

    def _record(self) -> None:
        sink = self._sink
        assert sink is not None
        tick_s = self._limits.tick_ns / 1e9
        while not self._closing:
            self._wake.wait(tick_s)
            self._wake.clear()
            sink.pump()
            self._check_ns = 0
            with self._room:
                self._room.notify_all()
        counts = self.stats()
        self._result.update(
            as_json_values(
                {
                    "received": counts.received,
                    "dropped": counts.dropped,
                    "left_out": counts.left_out,
                    "stalls": counts.stalls,
                }
            )
        )
        sink.finish(self._result)
