"""Strategies for every message that is recorded, and a flight that holds one of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import strategies as st

from ghost.core import (
    Envelope,
    Event,
    EventSeverity,
    EventType,
    JsonValue,
    MessageBus,
    RandomStream,
)
from ghost.hal import (
    AckReason,
    AltimeterPayload,
    AttitudeCommand,
    BarometerPayload,
    BodyRateCommand,
    CameraIntrinsics,
    CommandAck,
    CommandRecord,
    DepthImagePayload,
    EventCameraPayload,
    GpsFix,
    GpsPayload,
    GroundTruth,
    IMUPayload,
    LockstepState,
    MagnetometerPayload,
    MavlinkTraffic,
    MotorCommand,
    OpticalFlowPayload,
    PointCloudPayload,
    PositionCommand,
    RGBImagePayload,
    SensorHealth,
    SensorMeta,
    SensorSample,
    StateEstimate,
    StepReport,
    VelocityCommand,
    digest,
)
from ghost.recording import LogReader, Recorder, RecorderLimits

REALS = st.floats(width=64)
INT64 = st.integers(-(2**63), 2**63 - 1)
COUNTS = st.integers(0, 2**63 - 1)
STAMPS = st.integers(0, 2**62)


def doubles(size: int | None = None) -> st.SearchStrategy[Any]:
    """float64 vectors of any values, NaN and infinities among them."""
    low, high = (size, size) if size is not None else (0, 9)
    return st.lists(REALS, min_size=low, max_size=high).map(lambda v: np.array(v, np.float64))


def raw_bits(dtype: str, shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    """Arrays of any bits at all."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return st.binary(min_size=size, max_size=size).map(
        lambda b: np.frombuffer(b, dtype).reshape(shape)
    )


def packets() -> st.SearchStrategy[Any]:
    """Bytes of any number, short and long."""
    return st.binary(max_size=300).map(lambda data: np.frombuffer(data, np.uint8))


MODELS: tuple[tuple[Literal["none", "plumb_bob", "equidistant"], int], ...] = (
    ("none", 0),
    ("plumb_bob", 4),
    ("plumb_bob", 8),
    ("equidistant", 4),
)


@st.composite
def cameras(draw: st.DrawFn) -> CameraIntrinsics:
    """Small cameras of every distortion model."""
    model, size = draw(st.sampled_from(MODELS))
    sides = st.integers(1, 5)
    width, height, focus = draw(sides), draw(sides), [draw(REALS) for _ in range(4)]
    coefficients = draw(doubles(size))
    fx, fy, cx, cy = focus
    return CameraIntrinsics(width, height, fx, fy, cx, cy, model, coefficients)


@st.composite
def rgb(draw: st.DrawFn) -> RGBImagePayload:
    camera = draw(cameras())
    image = draw(raw_bits("u1", (camera.height, camera.width, 3)))
    return RGBImagePayload(image, camera, draw(COUNTS))


@st.composite
def depth(draw: st.DrawFn) -> DepthImagePayload:
    camera = draw(cameras())
    image = draw(raw_bits("f4", (camera.height, camera.width)))
    return DepthImagePayload(image, camera, draw(REALS), draw(REALS))


@st.composite
def lidar(draw: st.DrawFn) -> PointCloudPayload:
    count = draw(st.integers(0, 7))
    points, ring = draw(raw_bits("f4", (count, 3))), draw(raw_bits("u2", (count,)))
    return PointCloudPayload(points, ring, draw(REALS), draw(REALS))


@st.composite
def event_camera(draw: st.DrawFn) -> EventCameraPayload:
    count = draw(st.integers(0, 7))
    x, y = draw(raw_bits("u2", (count,))), draw(raw_bits("u2", (count,)))
    stamps = draw(raw_bits("i8", (count,)))
    polarity = np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), np.bool_)
    return EventCameraPayload(x, y, stamps, polarity, draw(cameras()))


MAYBE = st.none() | REALS
PAYLOADS: Mapping[str, st.SearchStrategy[Any]] = {
    "imu": st.builds(IMUPayload, doubles(3), doubles(3), MAYBE),
    "rgb": rgb(),
    "depth": depth(),
    "gps": st.builds(
        GpsPayload, REALS, REALS, REALS, doubles(3), st.sampled_from(GpsFix), REALS, REALS
    ),
    "altimeter": st.builds(
        AltimeterPayload, REALS, st.sampled_from(("AMSL", "AGL", "LOCAL")), REALS
    ),
    "lidar": lidar(),
    "magnetometer": st.builds(MagnetometerPayload, doubles(3)),
    "barometer": st.builds(BarometerPayload, REALS, MAYBE),
    "optical_flow": st.builds(
        OpticalFlowPayload, doubles(2), doubles(3), COUNTS, REALS, st.integers(0, 255)
    ),
    "event_camera": event_camera(),
}

_SCALARS = st.none() | st.booleans() | st.integers() | REALS | st.text() | st.binary()
_ARRAYS = raw_bits("f4", (2, 2)) | raw_bits("i2", (3,)) | doubles()
EXTENSIONS = st.dictionaries(
    st.text(),
    st.recursive(
        _SCALARS | _ARRAYS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=6,
    ),
    max_size=3,
)
METAS = st.builds(SensorMeta, st.text(), st.none() | st.text(), EXTENSIONS)


def samples(payload: str) -> st.SearchStrategy[SensorSample[Any]]:
    """Samples of one payload type, with any metadata."""
    return st.builds(
        SensorSample,
        sensor_id=st.text(),
        seq=COUNTS,
        stamp_sensor_ns=INT64,
        stamp_sim_ns=INT64,
        stamp_wall_ns=INT64,
        health=st.sampled_from(SensorHealth),
        payload=PAYLOADS[payload],
        meta=METAS,
        schema_version=INT64,
    )


COMMANDS = (
    st.builds(MotorCommand, doubles())
    | st.builds(BodyRateCommand, doubles(3), REALS)
    | st.builds(AttitudeCommand, doubles(4), REALS)
    | st.builds(VelocityCommand, doubles(3), REALS)
    | st.builds(PositionCommand, doubles(3), REALS)
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | REALS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
EVENTS = st.builds(
    Event,
    st.sampled_from(EventType),
    INT64,
    st.sampled_from(EventSeverity),
    st.text(),
    st.text(),
    st.dictionaries(st.text(), _JSON, max_size=3),
)
_REFUSALS = st.sampled_from([r for r in AckReason if r not in (AckReason.OK, AckReason.REPLAY)])
PLAIN: Mapping[str, st.SearchStrategy[Any]] = {
    "GroundTruth": st.builds(
        GroundTruth,
        INT64,
        doubles(3),
        doubles(4),
        doubles(3),
        doubles(3),
        doubles(3),
        doubles(),
    ),
    "StateEstimate": st.builds(StateEstimate, INT64, doubles(3), doubles(4), doubles(3)),
    "MavlinkTraffic": st.builds(MavlinkTraffic, INT64, packets(), packets()),
    "CommandRecord": st.builds(CommandRecord, INT64, COMMANDS),
    "CommandAck": st.builds(
        CommandAck, st.just(True), st.just(AckReason.OK), INT64, st.none() | COMMANDS, st.text()
    )
    | st.builds(CommandAck, st.just(False), _REFUSALS, INT64, st.none(), st.text()),
    "Event": EVENTS,
    "StepReport": st.builds(
        StepReport,
        COUNTS,
        COUNTS,
        st.dictionaries(st.text(), COUNTS, max_size=3),
        st.lists(EVENTS, max_size=2).map(tuple),
        st.sampled_from(LockstepState),
    ),
}


def flight(steps: int = 200, seed: int = 1) -> Iterator[tuple[str, Any]]:
    """Yield topic and message: truth and IMU at each of `steps` ms, all else now and then."""
    rng = RandomStream(seed).numpy_rng()
    vector = rng.normal
    empty = np.empty(0)
    camera = CameraIntrinsics(32, 24, 20.0, 20.0, 16.0, 12.0, "none", empty)
    lens = CameraIntrinsics(32, 24, 20.0, 20.0, 16.0, 12.0, "plumb_bob", vector(size=5))
    metas: dict[str, SensorMeta] = {}

    def sample(name: str, k: int, stamp: int, payload: Any) -> tuple[str, Any]:
        meta = metas.setdefault(name, SensorMeta(f"{name}_link", None, {"of": name}))
        health = SensorHealth.FAULTY if k % 7 == 0 else SensorHealth.OK
        message = SensorSample(name, k, stamp - 5, stamp, stamp + 9, health, payload, meta)
        return f"/sensors/{name}", message

    for k in range(1, steps + 1):
        t = k * 1_000_000
        yield "/step", StepReport(t, 1, {"imu0": 1})
        yield sample("imu0", k, t, IMUPayload(vector(size=3), vector(size=3), 20.0))
        truth = [vector(size=n) for n in (3, 4, 3, 3, 3, 4)]
        yield "/ground_truth", GroundTruth(t, *truth)
        if k % 4 == 0:
            yield "/estimate", StateEstimate(t, vector(size=3), vector(size=4), vector(size=3))
            sent, received = rng.bytes(64), rng.bytes(int(rng.integers(0, 400)))
            traffic = (np.frombuffer(data, np.uint8) for data in (sent, received))
            yield "/mavlink/simulator", MavlinkTraffic(t, *traffic)
        if k % 5 == 0:
            command = VelocityCommand(vector(size=3), 0.1)
            yield "/actuators/command", CommandRecord(t, command)
            yield "/actuators/ack", CommandAck(True, AckReason.OK, t, command)
        if k % 40 == 0:
            image = rng.integers(0, 255, (24, 32, 3), dtype=np.uint8)
            yield sample("cam0", k, t, RGBImagePayload(image, camera, 100))
            depth_m = vector(size=(24, 32)).astype(np.float32)
            depth_m[3, 4] = np.nan
            yield sample("depth0", k, t, DepthImagePayload(depth_m, lens, 0.1, 20.0))
            points = vector(size=(50, 3)).astype(np.float32)
            ring = np.arange(50, dtype=np.uint16)
            yield sample("lidar0", k, t, PointCloudPayload(points, ring, 0.1, 30.0))
            fix = GpsPayload(47.1, 8.2, 400.0, vector(size=3), GpsFix.FIX_3D, 1.5, 2.5)
            yield sample("gps0", k, t, fix)
            yield sample("mag0", k, t, MagnetometerPayload(vector(size=3)))
            yield sample("baro0", k, t, BarometerPayload(101325.0))
            yield sample("alt0", k, t, AltimeterPayload(1.0, "AGL", 0.1))
            flow = OpticalFlowPayload(vector(size=2), vector(size=3), 1000, np.nan, 7)
            yield sample("flow0", k, t, flow)
            spikes = EventCameraPayload(
                ring[:5], ring[:5], np.arange(5, dtype=np.int64), ring[:5] > 2, camera
            )
            yield sample("dvs0", k, t, spikes)
        if k % 100 == 0:
            payload: Mapping[str, JsonValue] = {"at": [1, 2.5, None], "why": {"a": True}}
            yield (
                "/events",
                Event(EventType.SENSOR_FAULT, t, EventSeverity.WARN, "sensors/x", "gone", payload),
            )


Seen = list[tuple[str, int, int, str]]


def listen(bus: MessageBus) -> Seen:
    """Return a list that fills with topic, stamp, sequence and digest of what is published."""
    seen: Seen = []

    def note(envelope: Envelope) -> None:
        seen.append(
            (
                envelope.topic,
                envelope.stamp_sim_ns,
                envelope.sequence,
                digest(envelope.payload),
            )
        )

    bus.subscribe("/*", note)
    return seen


def read(path: Path, **window: Any) -> Seen:
    """Return what a recording holds, in the form of `listen`."""
    with LogReader(str(path)) as reader:
        return [
            (m.topic, m.stamp_ns, m.sequence, digest(m.message)) for m in reader.messages(**window)
        ]


class Kit:
    """What the tests of this room share; reached through the fixture `kit`."""

    payloads = PAYLOADS
    plain = PLAIN
    samples = staticmethod(samples)
    metas = METAS
    flight = staticmethod(flight)
    listen = staticmethod(listen)
    read = staticmethod(read)

    def record(self, path: Path, steps: int = 200, **options: Any) -> Seen:
        """Record a flight and return what was published."""
        bus = MessageBus()
        seen = listen(bus)
        with Recorder(str(path), bus, **options):
            for topic, message in flight(steps):
                bus.publish(topic, message)
        return seen


@pytest.fixture(scope="session")
def kit() -> Kit:
    """The shared strategies and functions."""
    return Kit()


@pytest.fixture(scope="session")
def recorded(kit: Kit, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Seen]:
    """A finished recording of a flight, in several chunks, and what was published."""
    path = tmp_path_factory.mktemp("recorded") / "run.mcap"
    limits = RecorderLimits(chunk_bytes=8192)
    header = {"scenario": {"name": "made_up", "seed": 7}, "seed": 7}
    files = {"scenario.yaml": "name: made_up\n"}
    seen = kit.record(path, 400, limits=limits, metadata=header, attachments=files)
    return path, seen
