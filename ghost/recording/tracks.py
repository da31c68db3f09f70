"""From envelopes to records: which channel, which schema, what goes beside a message."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from struct import error as StructError
from typing import Any

from ghost.core import Envelope, Event
from ghost.hal import (
    CameraIntrinsics,
    DepthImagePayload,
    GpsPayload,
    GroundTruth,
    PointCloudPayload,
    RGBImagePayload,
    SensorSample,
    StateEstimate,
)
from ghost.recording import foxglove
from ghost.recording.chunks import ChunkBuilder, Definitions
from ghost.recording.compiled import RecordMaker
from ghost.recording.descriptor import file_descriptor_set
from ghost.recording.encode import Encoder, MessageEncoder
from ghost.recording.errors import CannotRecord
from ghost.recording.foxglove import Parts, StaticTransform
from ghost.recording.images import ImageEncoding, compress
from ghost.recording.schema import PACKAGE, sample_name

__all__ = ["OF_KEY", "ROLE_KEY", "Role", "Tracks"]

ROLE_KEY, OF_KEY, LOSSY_KEY = "ghost.role", "ghost.of", "ghost.lossy"
"""Keys of a channel's metadata."""

CALIBRATION_PERIOD_NS = 1_000_000_000
POSE_PERIOD_NS = 40_000_000
FIX_PERIOD_NS = 100_000_000
"""Poses for the picture come at 25 Hz at most, positions for the map at 10 Hz; what they repeat is
complete beside them."""

LEARN_EVERY = 200
"""Messages of the bus between two attempts to learn what those of a topic look like. To learn takes
50 µs, so a topic whose messages never look alike costs little more than the general way."""

_MAX_STAMP = 2**63 - 1
_UNLIKE = (StructError, TypeError, AttributeError, OverflowError)
"""What a message raises that looks different; if it is wrong, the general way says so."""


class Role:
    """What a channel of ours is for."""

    RECORD = "record"
    BULK = "bulk"
    DISPLAY = "display"


@dataclass(slots=True)
class _Track:
    """One topic with one class of message."""

    topic: str
    kind: type[Any]
    channel_id: int
    encode: Encoder
    beside: Callable[[_Track, Envelope, Any], None] | None = None
    make: RecordMaker | None = None
    """Writes a whole record, if the message looks like the one it was made for."""
    learn_after: int = -1
    """`make` is made anew for a message that looks different only after this sequence number."""
    quiet_from_ns: int = 0
    quiet_until_ns: int = 0
    """Nothing goes beside messages of this stretch of the run's clock, until its end."""
    shown_ns: int | None = None
    """When the last display message was written, on the clock of the run."""
    intrinsics: CameraIntrinsics | None = None
    channels: dict[str, int] = field(default_factory=dict)
    """Of what is beside it, by topic."""

    def is_loud(self, stamp_ns: int, period_ns: int) -> bool:
        """Tell whether something goes beside the message now; then nothing does for a period."""
        if self.quiet_from_ns <= stamp_ns < self.quiet_until_ns:
            return False
        self.quiet_from_ns, self.quiet_until_ns = stamp_ns, stamp_ns + period_ns
        return True


class Tracks:
    """Writes envelopes into the current chunk; registers schemas and channels as they come.

    Raises `CannotRecord` for a message that has no exact form in the file; nothing of it is
    written then. `OSError` passes through.
    """

    def __init__(
        self,
        definitions: Definitions,
        chunk: ChunkBuilder,
        encodings: Mapping[str, ImageEncoding],
        transforms: Iterable[StaticTransform],
    ) -> None:
        self._definitions = definitions
        self._chunk = chunk
        self._encodings = encodings
        self._transforms = tuple(transforms)
        self._encoder = MessageEncoder()
        self._tracks: dict[str, _Track] = {}
        self._all: dict[tuple[str, type[Any]], _Track] = {}
        self._schemas: dict[str, int] = {}
        self._topics: dict[str, int] = {}
        self._picture: bytes | None = None
        self.recorded: set[int] = set()
        """The channels that hold the messages themselves."""
        self._beside: Mapping[type[Any], Callable[[_Track, Envelope, Any], None]] = {
            RGBImagePayload: self._image,
            DepthImagePayload: self._image,
            PointCloudPayload: self._points,
            GpsPayload: self._fix,
            GroundTruth: self._pose,
            StateEstimate: self._estimate,
            Event: self._log,
        }

    def write_all(
        self,
        envelopes: list[Envelope],
        limit: int,
        full: Callable[[], None],
        failed: Callable[[Envelope, Exception], None],
    ) -> None:
        """Write messages; call `full` when the chunk is `limit` large, for it to be detached.

        What is raised for a message goes to `failed`, and nothing of that message is written.
        """
        # The hot path of recording: what is written out here would be five calls a message.
        find, chunk = self._tracks.get, self._chunk
        append, indexes, size = chunk.pieces.append, chunk.indexes, chunk.size
        for envelope in envelopes:
            stamp_ns, track = envelope.stamp_sim_ns, find(envelope.topic)
            record = None
            if track is not None and track.make is not None:
                try:
                    record = track.make(envelope.payload, envelope.sequence, stamp_ns)
                except _UNLIKE:
                    record = None
            if track is not None and record is not None:
                index = indexes[track.channel_id]
                index.append(stamp_ns)
                index.append(size)
                append(record)
                size += len(record)
                beside = track.beside
                if (
                    beside is not None
                    and not track.quiet_from_ns <= stamp_ns < track.quiet_until_ns
                ):
                    chunk.size = size
                    self._picture = None
                    try:
                        beside(track, envelope, envelope.payload)
                    except Exception as error:  # noqa: BLE001 - as below
                        failed(envelope, error)
                    size = chunk.size
            else:
                chunk.size = size
                try:
                    self.write(envelope)
                except Exception as error:  # noqa: BLE001 - no message may end the recording
                    failed(envelope, error)
                size = chunk.size
            if size >= limit:
                chunk.size = size
                full()
                append, indexes, size = chunk.pieces.append, chunk.indexes, chunk.size
        chunk.size = size

    def write(self, envelope: Envelope, picture: bytes | None = None) -> int:
        """Add a message, and what goes beside it, to the chunk; return the size of the chunk.

        `picture` is the image already compressed, if that was done elsewhere. This is the general
        way, which also learns what messages of a topic look like.
        """
        self._picture = picture
        message = envelope.payload
        kind: type[Any] = type(message)
        if kind is SensorSample:
            kind = type(message.payload)  # type: ignore[attr-defined]  # it is a sample
        track = self._tracks.get(envelope.topic)
        if track is None or track.kind is not kind:
            track = self._track(envelope, kind)
        stamp_ns, sequence = envelope.stamp_sim_ns, envelope.sequence
        if not 0 <= stamp_ns <= _MAX_STAMP:
            raise CannotRecord(f"the stamp {stamp_ns} is outside 0 … 2^63−1")
        data = track.encode(message)
        if sequence > track.learn_after:
            track.learn_after = sequence + LEARN_EVERY
            track.make = self._encoder.record_maker(message, track.channel_id)
        self._chunk.add(track.channel_id, stamp_ns, sequence, (data,))
        if track.beside is not None:
            track.beside(track, envelope, message)
        return self._chunk.size

    def _track(self, envelope: Envelope, kind: type[Any]) -> _Track:
        """Find or begin the track of a topic and class; nearly always a topic has one class."""
        found = self._all.get((envelope.topic, kind))
        if found is None:
            found = self._all[envelope.topic, kind] = self._begin(envelope, kind)
            if self._transforms:
                transforms, self._transforms = self._transforms, ()
                for transform in transforms:
                    parts = foxglove.static_transform(max(0, envelope.stamp_sim_ns), transform)
                    name = "foxglove.FrameTransform"
                    self._add(found, "/tf", name, Role.DISPLAY, envelope, parts)
        self._tracks[envelope.topic] = found
        return found

    def _begin(self, envelope: Envelope, kind: type[Any]) -> _Track:
        if type(envelope.payload) is SensorSample:
            encode = self._encoder.sample_encoder(kind)
            name = sample_name(kind)
        else:
            found = self._encoder.plain.get(kind)
            if found is None:
                raise CannotRecord(f"a message of class {kind.__name__} has no schema")
            encode, name = found, f"{PACKAGE}.{kind.__name__}"
        channel_id = self._channel(envelope.topic, name, {ROLE_KEY: Role.RECORD})
        self.recorded.add(channel_id)
        return _Track(envelope.topic, kind, channel_id, encode, self._beside.get(kind))

    def _channel(self, topic: str, schema: str, metadata: Mapping[str, str]) -> int:
        schema_id = self._schemas.get(schema)
        if schema_id is None:
            ours = schema.startswith(PACKAGE)
            data = file_descriptor_set() if ours else foxglove.descriptor_set(schema)
            schema_id = self._schemas[schema] = self._definitions.add_schema(
                schema, "protobuf", data
            )
        return self._definitions.add_channel(topic, schema_id, metadata)

    def _add(
        self,
        track: _Track,
        topic: str,
        schema: str,
        role: str,
        envelope: Envelope,
        parts: Parts,
        extra: Mapping[str, str] | None = None,
    ) -> None:
        channels = self._topics if topic == "/tf" else track.channels
        channel_id = channels.get(topic)
        if channel_id is None:
            metadata = {ROLE_KEY: role, OF_KEY: track.topic, **(extra or {})}
            channel_id = channels[topic] = self._channel(topic, schema, metadata)
        self._chunk.add(channel_id, envelope.stamp_sim_ns, envelope.sequence, parts)

    def _is_due(self, track: _Track, stamp_ns: int, period_ns: int) -> bool:
        shown_ns = track.shown_ns
        if shown_ns is not None and shown_ns <= stamp_ns < shown_ns + period_ns:
            return False
        track.shown_ns = stamp_ns
        return True

    def _image(self, track: _Track, envelope: Envelope, sample: SensorSample[Any]) -> None:
        payload, frame_id, stamp_ns = sample.payload, sample.meta.frame_id, envelope.stamp_sim_ns
        colour = isinstance(payload, RGBImagePayload)
        pixels = payload.image if colour else payload.depth_m
        encoding = self._encodings.get(sample.sensor_id, "raw") if colour else "raw"
        extra = None
        if encoding == "raw":
            schema = "foxglove.RawImage"
            parts = foxglove.raw_image(stamp_ns, frame_id, pixels)
        else:
            schema = "foxglove.CompressedImage"
            file = self._picture
            if file is None:
                file = compress(pixels, encoding)
            parts = foxglove.compressed_image(stamp_ns, frame_id, file, encoding)
            extra = {LOSSY_KEY: "true"} if encoding == "jpeg" else None
        topic = track.topic
        self._add(track, f"{topic}/image", schema, Role.BULK, envelope, parts, extra)
        due = self._is_due(track, stamp_ns, CALIBRATION_PERIOD_NS)
        if due or track.intrinsics is not payload.intrinsics:
            track.intrinsics = payload.intrinsics
            parts = foxglove.calibration(stamp_ns, frame_id, payload.intrinsics)
            schema = "foxglove.CameraCalibration"
            self._add(track, f"{topic}/calibration", schema, Role.DISPLAY, envelope, parts)
            parts = foxglove.optical_transform(stamp_ns, frame_id)
            self._add(track, "/tf", "foxglove.FrameTransform", Role.DISPLAY, envelope, parts)

    def _points(self, track: _Track, envelope: Envelope, sample: SensorSample[Any]) -> None:
        frame_id, stamp_ns = sample.meta.frame_id, envelope.stamp_sim_ns
        parts = foxglove.point_cloud(stamp_ns, frame_id, sample.payload)
        topic = f"{track.topic}/points"
        self._add(track, topic, "foxglove.PointCloud", Role.BULK, envelope, parts)

    def _fix(self, track: _Track, envelope: Envelope, sample: SensorSample[Any]) -> None:
        frame_id, stamp_ns = sample.meta.frame_id, envelope.stamp_sim_ns
        if not track.is_loud(stamp_ns, FIX_PERIOD_NS):
            return
        parts = foxglove.location_fix(stamp_ns, frame_id, sample.payload)
        topic = f"{track.topic}/fix"
        self._add(track, topic, "foxglove.LocationFix", Role.DISPLAY, envelope, parts)

    def _pose(self, track: _Track, envelope: Envelope, truth: GroundTruth) -> None:
        if not track.is_loud(envelope.stamp_sim_ns, POSE_PERIOD_NS):
            return
        pose, transform = foxglove.vehicle_pose(truth)
        topic = f"{track.topic}/pose"
        self._add(track, topic, "foxglove.PoseInFrame", Role.DISPLAY, envelope, pose)
        self._add(track, "/tf", "foxglove.FrameTransform", Role.DISPLAY, envelope, transform)

    def _estimate(self, track: _Track, envelope: Envelope, estimate: StateEstimate) -> None:
        # An autopilot that boots knows its attitude before its place.
        if math.isnan(estimate.pos_enu_m[0]) or math.isnan(estimate.q_enu_flu[0]):
            return
        if not track.is_loud(envelope.stamp_sim_ns, POSE_PERIOD_NS):
            return
        topic, pose = f"{track.topic}/pose", foxglove.estimated_pose(estimate)
        self._add(track, topic, "foxglove.PoseInFrame", Role.DISPLAY, envelope, pose)

    def _log(self, track: _Track, envelope: Envelope, event: Event) -> None:
        topic, parts = f"{track.topic}/log", foxglove.log(event)
        self._add(track, topic, "foxglove.Log", Role.DISPLAY, envelope, parts)
