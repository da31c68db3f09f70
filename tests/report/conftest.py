"""What the tests of looking share: a short recorded flight, a hand-made run, small messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ghost.config import load_scenario
from ghost.core import Envelope, Event, EventSeverity, EventType, MessageBus, ScenarioSpec
from ghost.hal import (
    AckReason,
    CameraIntrinsics,
    CommandAck,
    CommandRecord,
    DepthImagePayload,
    EventCameraPayload,
    GroundTruth,
    IMUPayload,
    PointCloudPayload,
    PositionCommand,
    RGBImagePayload,
    SensorHealth,
    SensorMeta,
    SensorSample,
    StepReport,
)
from ghost.recording import Recorder
from ghost.report.survey import Row
from ghost.runtime import RecordObserver, ScenarioRun, run_scenario
from tests.piloted_world import PilotedWorld

MS = 1_000_000
Sample = Callable[..., SensorSample[Any]]


@pytest.fixture(scope="session")
def flight_spec() -> ScenarioSpec:
    """Two seconds of hovering with one fault."""
    return load_scenario(
        "sensor_faults",
        (
            "duration_ns=2_000_000_000",
            "faults=[{at_ns: 500_000_000, for_ns: 300_000_000, sensor: gps0, kind: offline}]",
        ),
    )


@pytest.fixture(scope="session")
def flight(tmp_path_factory: pytest.TempPathFactory, flight_spec: ScenarioSpec) -> Path:
    """A recording of it by `RecordObserver`."""
    path = tmp_path_factory.mktemp("flight") / "flight.mcap"
    run_scenario(flight_spec, observers=[RecordObserver(str(path))])
    return path


@pytest.fixture(scope="session")
def flight_rows(flight_spec: ScenarioSpec) -> list[Row]:
    """The same flight, straight from the bus."""
    rows: list[Row] = []

    def take(envelope: Envelope) -> None:
        rows.append((envelope.topic, envelope.stamp_sim_ns, envelope.sequence, envelope.payload))

    bus = MessageBus()
    bus.subscribe("/*", take)
    run_scenario(flight_spec, bus=bus)
    return rows


@pytest.fixture(scope="session")
def piloted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of six seconds with an autopilot, which begins at 12 s on its clock."""
    path = tmp_path_factory.mktemp("piloted") / "piloted.mcap"
    scenario = load_scenario("px4_hover", ["duration_ns=6_000_000_000"])
    with PilotedWorld() as world:
        ScenarioRun(world, scenario, observers=[RecordObserver(str(path))]).execute()
    return path


@pytest.fixture
def imu() -> Sample:
    """Makes IMU samples: `imu(seq, stamp_ns, accel=…, health=…)`."""

    def make(
        seq: int,
        stamp_ns: int,
        accel: tuple[float, float, float] = (0.0, 0.0, 9.8),
        health: SensorHealth = SensorHealth.OK,
        wall_ns: int = 0,
    ) -> SensorSample[Any]:
        payload = IMUPayload(np.array(accel), np.zeros(3))
        return SensorSample(
            "imu0", seq, stamp_ns, stamp_ns, wall_ns, health, payload, SensorMeta("imu0")
        )

    return make


def camera(width: int, height: int) -> CameraIntrinsics:
    """A pinhole without distortion."""
    return CameraIntrinsics(
        width, height, 10.0, 10.0, width / 2.0, height / 2.0, "none", np.zeros(0)
    )


def truth(stamp_ns: int, pos: tuple[float, float, float] = (0.0, 0.0, 1.0)) -> GroundTruth:
    """A vehicle at rest."""
    return GroundTruth(
        stamp_ns,
        np.array(pos),
        np.array([1.0, 0.0, 0.0, 0.0]),
        np.zeros(3),
        np.zeros(3),
        np.zeros(3),
        np.full(4, 700.0),
    )


def handmade(count: int = 8) -> Iterator[Row]:
    """A run with every kind of message, cameras of a few pixels among them."""
    sequence = 0

    def row(topic: str, stamp_ns: int, message: Any) -> Row:
        nonlocal sequence
        sequence += 1
        return topic, stamp_ns, sequence, message

    yield row(
        "/events",
        0,
        Event(EventType.RUN_STARTED, 0, EventSeverity.INFO, "test", "<script>alert(1)</script>"),
    )
    for k in range(1, count + 1):
        stamp_ns = k * 100 * MS
        yield row("/step", stamp_ns, StepReport(stamp_ns, 1, {"imu0": 1}))
        payloads = {
            "imu0": IMUPayload(np.array([0.0, 0.01 * k, 9.8]), np.array([0.0, 0.0, 0.001 * k])),
            "cam0": RGBImagePayload(
                np.full((4, 6, 3), 10 * k % 256, np.uint8), camera(6, 4), 5 * MS
            ),
            "depth0": DepthImagePayload(
                np.where(np.arange(24).reshape(4, 6) % 5, 0.5 * k, np.nan).astype(np.float32),
                camera(6, 4),
                0.1,
                20.0,
            ),
            "lidar0": PointCloudPayload(
                (np.arange(3 * (k + 2)).reshape(-1, 3) / 4.0).astype(np.float32),
                np.zeros(k + 2, np.uint16),
                0.1,
                30.0,
            ),
            "events0": EventCameraPayload(
                np.arange(k, dtype=np.uint16),
                np.arange(k, dtype=np.uint16),
                np.arange(k, dtype=np.int64),
                np.ones(k, np.bool_),
                camera(6, 4),
            ),
        }
        for name, payload in payloads.items():
            sample = SensorSample(
                name, k - 1, stamp_ns, stamp_ns, k * 7 * MS, SensorHealth.OK, payload,
                SensorMeta(name),
            )  # fmt: skip
            yield row(f"/sensors/{name}", stamp_ns, sample)
        yield row("/ground_truth", stamp_ns, truth(stamp_ns, (0.1 * k, 0.0, 1.0)))
        command = PositionCommand(np.array([0.1 * k, 0.0, 1.2]), 0.3)
        yield row("/actuators/command", stamp_ns, CommandRecord(stamp_ns, command))
        ack = CommandAck(True, AckReason.OK, stamp_ns, command)
        yield row("/actuators/ack", stamp_ns, ack)


def record(path: Path, rows: Iterator[Row] | list[Row], **metadata: object) -> Path:
    """Write rows into a recording."""
    bus = MessageBus()
    with Recorder(str(path), bus, metadata=metadata):
        for topic, stamp_ns, _, message in rows:
            bus.publish(topic, message, stamp_ns)
    return path


@pytest.fixture
def parts() -> SimpleNamespace:
    """The makers above, for tests that build their own run."""
    return SimpleNamespace(camera=camera, truth=truth, handmade=handmade)


@pytest.fixture
def rows_of_all() -> list[Row]:
    """The hand-made run."""
    return list(handmade())


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[..., Path]:
    """Writes rows into a file: `recorded(rows, scenario=…)`."""

    def make(rows: list[Row], name: str = "made.mcap", **metadata: object) -> Path:
        return record(tmp_path / name, rows, **metadata)

    return make


@pytest.fixture
def changed() -> Callable[..., list[Row]]:
    """Copies rows with one field of one message changed."""

    def change(rows: list[Row], at: int, **fields: Any) -> list[Row]:
        topic, stamp_ns, sequence, message = rows[at]
        copy = list(rows)
        copy[at] = (topic, stamp_ns, sequence, _replaced(message, fields))
        return copy

    return change


def _replaced(message: Any, fields: dict[str, Any]) -> Any:
    return replace(message, **fields)
