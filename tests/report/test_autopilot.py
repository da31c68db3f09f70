"""The report of a run with an autopilot, whose clock does not begin at 0."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ghost.core import Event, EventSeverity, EventType
from ghost.hal import (
    CommandRecord,
    GpsFix,
    GpsPayload,
    MavlinkTraffic,
    PositionCommand,
    SensorHealth,
    SensorMeta,
    SensorSample,
    StateEstimate,
)
from ghost.recording import LogReader
from ghost.report import (
    diff,
    export,
    figures_autopilot,
    figures_flight,
    figures_time,
    flatten,
    write_report,
)
from ghost.report.gather import Gathered, gather
from ghost.report.survey import Row, survey
from tests.piloted_world import WARMUP_NS, packet

pytest.importorskip("matplotlib")
from matplotlib.patches import Rectangle  # only where matplotlib is

SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def run(piloted: Path) -> Gathered:
    with LogReader(str(piloted)) as reader:
        return gather(reader.messages())


def test_the_page_and_its_pictures(piloted: Path, tmp_path: Path) -> None:
    with LogReader(str(piloted)) as reader:
        written = write_report(reader, tmp_path)
    assert {"estimate.png", "mavlink.png"} <= {path.name for path in written.pngs}
    markup = written.html.read_text("utf-8")
    for words in (
        "Autopilot", "Position east, m", "Error of the position, estimate − truth", "set-point",
        "sent by Ghost", "/mavlink/simulator", "LOCAL_POSITION_NED", "#54321", "position distance",
        "velocity up", "attitude z", "1125 answered", "a few lines",
    ):  # fmt: skip
        assert words in markup, words


def test_set_point_estimate_and_truth_of_each_axis(run: Gathered) -> None:
    canvas = figures_autopilot.estimate(run)
    assert canvas is not None
    axes = canvas.figure.axes
    assert len(axes) == 6
    for panel in axes[:3]:
        labels = [line.get_label() for line in panel.get_lines()]
        assert labels == ["set-point", "truth", "estimate"]
    truth, believed = axes[2].get_lines()[1:]
    assert np.asarray(believed.get_ydata())[-1] - np.asarray(truth.get_ydata())[-1] == (
        pytest.approx(0.2, abs=0.02)
    )
    low, high = axes[0].get_xlim()
    assert (low, high) == pytest.approx((12.0, 18.0), abs=0.1)


def test_lanes_of_messages(run: Gathered) -> None:
    canvas = figures_autopilot.mavlink(run)
    assert canvas is not None
    offboard, simulator = canvas.figure.axes
    names = [label.get_text() for label in simulator.get_yticklabels()]
    assert names[1] in ("HIL_ACTUATOR_CONTROLS", "#93")
    assert len(offboard.get_yticks()) == 3
    # The answers stop for a second and a half: no bar covers 14 s to 15 s, a pale one 15 s to 16 s.
    bars = [
        bar
        for bar in simulator.patches
        if isinstance(bar, Rectangle) and abs(bar.get_y() + bar.get_height() / 2.0 - 1.0) < 0.1
    ]

    def shade_at(at_s: float) -> float:
        there = [b for b in bars if b.get_x() < at_s < b.get_x() + b.get_width()]
        return there[0].get_alpha() or 0.0 if there else 0.0

    assert shade_at(14.5) == 0.0
    assert 0.0 < shade_at(15.7) < shade_at(13.5) == 1.0
    assert simulator.get_xlim() == pytest.approx((12.0, 18.0), abs=0.01)


def test_nothing_to_draw_without_an_autopilot(flight_rows: list[Row]) -> None:
    run = gather(flight_rows)
    assert run.estimate is None
    assert not run.mavlink
    assert figures_autopilot.estimate(run) is None
    assert figures_autopilot.mavlink(run) is None


def test_the_time_line_of_a_run_that_begins_late(run: Gathered) -> None:
    canvas = figures_time.timeline(run)
    assert canvas is not None
    lanes = canvas.figure.axes[0]
    assert lanes.get_xlim() == pytest.approx((12.0, 18.0))


@pytest.mark.parametrize("start_s", [0, 12, 5000])
def test_labels_of_events_stand_alike_wherever_the_clock_began(start_s: int) -> None:
    def drawn(offset_s: int) -> list[tuple[Any, ...]]:
        rows: list[Row] = []
        for at_s in (0, 1, 2, 9, 10):
            stamp_ns = (offset_s + at_s) * SECOND
            event = Event(EventType.SENSOR_FAULT, stamp_ns, EventSeverity.WARN, "x", "w" * 40)
            rows.append(("/events", stamp_ns, 0, event))
        canvas = figures_time.timeline(gather(rows))
        assert canvas is not None
        top = canvas.figure.axes[1]
        return [
            (note.xy[0] - offset_s, note.xy[1], note.get_ha())  # type: ignore[attr-defined]  # an Annotation
            for note in top.texts
        ]

    assert drawn(start_s) == drawn(0)


def test_without_truth_the_path_is_the_estimated_one() -> None:
    rows: list[Row] = []
    for k in range(1, 200):
        stamp_ns = WARMUP_NS + k * 20_000_000
        pos = np.array([0.01 * k, 0.0, 1.0])
        level = np.array([1.0, 0.0, 0.0, 0.0])
        rows.append(("/estimate", stamp_ns, k, StateEstimate(stamp_ns, pos, level, np.zeros(3))))
        command = CommandRecord(stamp_ns, PositionCommand(pos, 0.0))
        rows.append(("/actuators/command", stamp_ns, k, command))
    run = gather(rows)
    path = figures_flight.trajectory(run, None)
    assert path is not None
    legend = path.figure.axes[1].get_legend()
    assert legend is not None
    words = [text.get_text() for text in legend.get_texts()]
    assert words[:2] == ["set-point", "estimated"]
    canvas = figures_autopilot.estimate(run)
    assert canvas is not None
    assert len(canvas.figure.axes) == 3  # no errors to show


def test_what_it_holds(piloted: Path) -> None:
    with LogReader(str(piloted)) as reader:
        found = survey(reader.messages())
    assert found.duration_ns == 6 * SECOND
    topics = found.topics
    assert topics["/estimate"].kind == "StateEstimate"
    assert topics["/estimate"].rate_hz == pytest.approx(50.0)
    assert topics["/mavlink/simulator"].kind == "MavlinkTraffic"
    assert topics["/sensors/imu0"].rate_hz == pytest.approx(250.0)
    assert all(topic.first_ns >= WARMUP_NS for topic in topics.values())
    assert all(topic.lost == 0 for topic in topics.values())


def test_tables(piloted: Path, tmp_path: Path) -> None:
    with LogReader(str(piloted)) as reader:
        done = {item.topic: item for item in export(reader.messages(), tmp_path, "csv")}
    assert done["/estimate"].rows == 300
    lines = done["/mavlink/offboard"].path.read_text().splitlines()
    assert lines[0] == "stamp_sim_ns,sent,received"
    table = [line.split(",") for line in lines[1:]]
    assert int(table[0][0]) == WARMUP_NS + 20_000_000
    assert {bytes.fromhex(sent) for _, sent, _ in table} == {b"", packet(0, 9, version=1)}
    assert bytes.fromhex(table[0][2]) == packet(32, 28, signed=True)
    head = done["/sensors/gps0"].path.read_text().splitlines()[0]
    assert head.endswith("vacc_m,vel_enu_mps_x,vel_enu_mps_y,vel_enu_mps_z")


def test_rows_of_packets_and_of_a_receiver() -> None:
    none = np.zeros(0, np.uint8)
    many = np.arange(200, dtype=np.uint8)
    row = flatten(MavlinkTraffic(7, none, many))
    assert row == {"stamp_sim_ns": 7, "sent": "", "received": bytes(range(200)).hex()}
    fix = GpsPayload(47.0, 8.0, 400.0, np.zeros(3), GpsFix.FIX_3D, 1.0, 2.0)

    def sample(extensions: dict[str, Any]) -> SensorSample[GpsPayload]:
        meta = SensorMeta("gps0", None, extensions)
        return SensorSample("gps0", 0, 1, 1, 1, SensorHealth.OK, fix, meta)

    moving = flatten(sample({"vel_enu_mps": (1.0, 2.0, 3.0)}))
    assert [moving[f"vel_enu_mps_{axis}"] for axis in "xyz"] == [1.0, 2.0, 3.0]
    for other in ({}, {"vel_enu_mps": "fast"}, {"vel_enu_mps": (1.0,)}):
        assert not any(name.startswith("vel") for name in flatten(sample(other)))


def test_differences(piloted: Path, changed: Callable[..., list[Row]]) -> None:
    with LogReader(str(piloted)) as reader:
        rows = [tuple(row) for row in reader.messages()]
    assert diff(rows, rows).same
    at = next(i for i, row in enumerate(rows) if row[0] == "/estimate" and i > 500)
    found = diff(rows, changed(rows, at, pos_enu_m=rows[at][3].pos_enu_m + 0.5))
    assert found.first is not None
    assert (found.first.topic, found.first.field) == ("/estimate", "pos_enu_m[0]")
    assert found.topics["/estimate"].fields["pos_enu_m"].largest == pytest.approx(0.5)
    at = next(i for i, row in enumerate(rows) if row[0] == "/mavlink/simulator" and i > 500)
    shorter = rows[at][3].received[:-1].copy()
    found = diff(rows, changed(rows, at, received=shorter))
    assert found.first is not None
    assert (found.first.topic, found.first.field) == ("/mavlink/simulator", "shape(received)")
