"""The report: whole, self-contained, safe, and drawn for whatever is in the file."""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from ghost.core import ConfigError, MissingDependency
from ghost.hal import (
    AltimeterPayload,
    BarometerPayload,
    CommandRecord,
    DepthImagePayload,
    GpsFix,
    GpsPayload,
    GroundTruth,
    IMUPayload,
    MagnetometerPayload,
    PointCloudPayload,
    PositionCommand,
    SensorHealth,
    SensorMeta,
    SensorSample,
)
from ghost.recording import LogReader
from ghost.report import Written, write_report
from ghost.report.survey import Row
from ghost.report.theme import DARK, LIGHT

pytest.importorskip("matplotlib")

Recorded = Callable[..., Path]
VOID = {"meta", "img", "br", "hr", "link"}


class Page(HTMLParser):
    """Reads a page and remembers what could go wrong in it."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.tags: set[str] = set()
        self.words: list[str] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name in ("src", "href", "xlink:href") and value:
                self.references.append(value)
            assert not name.startswith("on"), "a script in an attribute"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.words.append(data.strip())


def report(path: Path, folder: Path) -> tuple[Written, str, Page]:
    with LogReader(str(path)) as reader:
        written = write_report(reader, folder)
    markup = written.html.read_text(encoding="utf-8")
    page = Page(markup)
    assert page.open == []
    return written, markup, page


@pytest.fixture(scope="module")
def of_flight(flight: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Written, str, Page]:
    return report(flight, tmp_path_factory.mktemp("report"))


def test_it_asks_no_network_for_anything(of_flight: tuple[Written, str, Page]) -> None:
    _, markup, page = of_flight
    assert "script" not in page.tags
    assert "link" not in page.tags
    for reference in page.references:
        assert reference.startswith(("#", "data:")), reference
    assert not re.search(r"url\((?!#)", markup)
    assert "@import" not in markup
    assert "default-src 'none'" in markup


def test_it_shows_what_was_asked_for(of_flight: tuple[Written, str, Page]) -> None:
    written, _, page = of_flight
    words = " ".join(page.words)
    for wanted in (
        "Trajectory", "Plan view", "Height above the world's origin", "Attitude", "Velocity",
        "Body rates", "Rotor speeds", "Measured − truth", "Real-time factor",
        "Health of each sensor", "imu0", "gps0", "baro0", "mag0", "altimeter0", "sensor_faults",
        "x500", "embedded", "offline", "largest gap", "digest",
    ):  # fmt: skip
        assert wanted in words, wanted
    names = {path.name for path in written.pngs}
    assert {"trajectory.png", "motion.png", "timeline.png", "sensor_imu0.png"} <= names
    for path in written.pngs:
        assert path.read_bytes().startswith(b"\x89PNG")


def test_ids_are_unique_and_every_link_leads_somewhere(
    of_flight: tuple[Written, str, Page],
) -> None:
    _, markup, page = of_flight
    assert len(page.ids) == len(set(page.ids))
    inner = [r[1:] for r in page.references if r.startswith("#")]
    inner += re.findall(r"url\(#([^)]+)\)", markup)
    assert inner
    assert set(inner) <= set(page.ids)


def test_figures_follow_the_colours_of_the_page(of_flight: tuple[Written, str, Page]) -> None:
    _, markup, _ = of_flight
    figures = re.findall(r"<svg .*?</svg>", markup, re.DOTALL)
    assert len(figures) > 8
    for figure in figures:
        assert "var(--ink)" in figure
        for colour in LIGHT.values():
            assert colour not in figure
        ElementTree.fromstring(figure)
    assert set(LIGHT) == set(DARK)
    assert "prefers-color-scheme:dark" in markup


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_texts_can_be_read(theme: dict[str, str]) -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255.0 for at in (1, 3, 5)]
        # WCAG 2.2, relative luminance.
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    def contrast(a: str, b: str) -> float:
        low, high = sorted((luminance(a), luminance(b)))
        return (high + 0.05) / (low + 0.05)

    assert contrast(theme["ink"], theme["surface"]) > 7.0
    assert contrast(theme["muted"], theme["surface"]) > 4.5
    for role in ("x", "y", "z", "w", "target", "bad"):
        assert contrast(theme[role], theme["surface"]) > 3.0, role


def test_cameras_and_lidar(rows_of_all: list[Row], recorded: Recorded, tmp_path: Path) -> None:
    written, markup, page = report(recorded(rows_of_all), tmp_path / "report")
    names = {path.name for path in written.pngs}
    assert {
        "contact_sheet_cam0.png", "contact_sheet_depth0.png", "top_view_lidar0.png",
    } <= names  # fmt: skip
    images = [r for r in page.references if r.startswith("data:image/jpeg")]
    assert len(images) == 16
    assert base64.b64decode(images[0].partition(",")[2]).startswith(b"\xff\xd8")
    assert "0.10 s" in page.words
    assert "script" not in page.tags, "what a file says is text, never markup"
    assert "&lt;script&gt;" in markup


def test_texts_of_a_file_are_escaped(
    rows_of_all: list[Row], recorded: Recorded, tmp_path: Path
) -> None:
    path = recorded(
        rows_of_all[:20],
        scenario={"name": "<b>bold</b>", "description": '"&<'},
        backend="<img src=x onerror=alert(1)>",
    )
    written, _, page = report(path, tmp_path / "report")
    assert "img" not in page.tags or all(r.startswith(("data:", "#")) for r in page.references)
    assert "b" in page.tags
    assert "<b>bold</b>" in page.words
    assert any("not understood" in note for note in written.notes)


@pytest.mark.parametrize("topics", [[], ["/events"], ["/ground_truth"], ["/sensors/imu0"]])
def test_a_file_with_little_in_it(
    rows_of_all: list[Row], recorded: Recorded, tmp_path: Path, topics: list[str]
) -> None:
    rows = [row for row in rows_of_all if row[0] in topics]
    _, _, page = report(recorded(rows), tmp_path / "report")
    assert "made" in page.words


def test_one_message_of_each(rows_of_all: list[Row], recorded: Recorded, tmp_path: Path) -> None:
    report(recorded(rows_of_all[:12]), tmp_path / "report")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_values_that_no_axis_holds(
    recorded: Recorded, tmp_path: Path, value: float, parts: Any
) -> None:
    three, four = np.full(3, value), np.full(4, value)
    rows: list[Row] = []
    for k in range(1, 20):
        stamp_ns = k * 10_000_000
        payloads = {
            "imu0": IMUPayload(three, three),
            "mag0": MagnetometerPayload(three),
            "baro0": BarometerPayload(value),
            "gps0": GpsPayload(0.0, 0.0, 0.0, three, GpsFix.NO_FIX, value, value),
            "alt0": AltimeterPayload(value, "AGL", value),
            "lidar0": PointCloudPayload(
                np.full((3, 3), value, np.float32)
                if value < 1e30 or value != value
                else np.full((3, 3), np.inf, np.float32),
                np.zeros(3, np.uint16),
                0.1,
                9.0,
            ),
            "depth0": DepthImagePayload(
                np.full((4, 6), np.nan, np.float32), parts.camera(6, 4), 0.1, 9.0
            ),
        }
        for name, payload in payloads.items():
            sample = SensorSample(
                name, k, stamp_ns, stamp_ns, 0, SensorHealth.FAULTY, payload, SensorMeta(name)
            )
            rows.append((f"/sensors/{name}", stamp_ns, k, sample))
        state = GroundTruth(stamp_ns, three, four, three, three, three, four)
        rows.append(("/ground_truth", stamp_ns, k, state))
        command = CommandRecord(stamp_ns, PositionCommand(three, value))
        rows.append(("/actuators/command", stamp_ns, k, command))
    _, _, page = report(recorded(rows), tmp_path / "report")
    assert "133 samples not ok" in page.words


def test_two_reports_of_one_file_are_equal(
    rows_of_all: list[Row], recorded: Recorded, tmp_path: Path
) -> None:
    path = recorded(rows_of_all)
    first, markup, _ = report(path, tmp_path / "a")
    second, other, _ = report(path, tmp_path / "b")
    assert markup == other
    for one, two in zip(first.pngs, second.pngs, strict=True):
        assert one.read_bytes() == two.read_bytes()


def test_matplotlib_is_asked_for_by_name(
    flight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with (
        LogReader(str(flight)) as reader,
        pytest.raises(MissingDependency, match=r'pip install "ghost-hal\[plot\]"'),
    ):
        write_report(reader, tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_a_folder_that_cannot_be_made(flight: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        LogReader(str(flight)) as reader,
        pytest.raises(ConfigError, match=r"file: cannot be written"),
    ):
        write_report(reader, tmp_path / "file")
