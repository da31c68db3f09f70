"""`ghost plot` on the command line; what is in the report is tested in tests/report."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

pytest.importorskip("matplotlib")

Ghost = Callable[..., Any]


@pytest.fixture
def flight(ghost: Ghost, scenario: Path, tmp_path: Path) -> Path:
    path = tmp_path / "flight.mcap"
    options = ("--duration", "300ms", "--quiet", "--record", path)
    assert ghost("run", scenario, *options).code == 0
    return path


def test_report_beside_the_file(ghost: Ghost, flight: Path) -> None:
    answer = ghost("plot", flight)
    assert answer.code == 0
    assert answer.err == ""
    report = flight.with_name("flight_report") / "report.html"
    assert answer.out.strip() == str(report)
    assert "<h1>short</h1>" in report.read_text()
    assert (report.parent / "trajectory.png").is_file()


def test_json_and_open(
    ghost: Ghost, flight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(click, "launch", opened.append)
    answer = ghost("plot", flight, "-o", tmp_path / "out", "--open", "--json")
    assert answer.code == 0
    html = tmp_path / "out" / "report.html"
    assert answer.json["html"] == str(html)
    assert opened == [str(html.resolve())]
    assert all(Path(png).is_file() for png in answer.json["pngs"])


def test_a_truncated_recording_says_so_on_the_page(
    ghost: Ghost, flight: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.mcap"
    data = flight.read_bytes()
    cut.write_bytes(data[: len(data) * 3 // 5])
    answer = ghost("plot", cut)
    assert answer.code == 0
    assert "note: " in answer.err
    page = (tmp_path / "cut_report" / "report.html").read_text()
    assert "recording was cut off" in page
    assert 'class="notes"' in page


def test_without_matplotlib(ghost: Ghost, flight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    answer = ghost("plot", flight)
    assert answer.code == 2
    assert 'pip install "ghost-hal[plot]"' in answer.err
    assert not flight.with_name("flight_report").exists()
