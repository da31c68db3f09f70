"""`ghost export` on the command line."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Ghost = Callable[..., Any]


@pytest.fixture
def flight(ghost: Ghost, scenario: Path, tmp_path: Path) -> Path:
    path = tmp_path / "flight.mcap"
    options = ("--duration", "300ms", "--quiet", "--record", path)
    assert ghost("run", scenario, *options).code == 0
    return path


def test_csv_beside_the_file(ghost: Ghost, flight: Path) -> None:
    answer = ghost("export", flight, "--to", "csv")
    assert answer.code == 0
    assert answer.err == ""
    folder = flight.with_name("flight_csv")
    with (folder / "sensors_imu0.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 75
    assert "sensors_imu0.csv" in answer.out
    assert float(rows[-1]["accel_mps2_z"]) > 5.0


def test_topics_and_folder(ghost: Ghost, flight: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "tables"
    answer = ghost("export", flight, "--to", "npz", "-o", out, "--topics", "/ground*", "--json")
    assert answer.code == 0
    (file,) = answer.json["files"]
    assert file == {
        "topic": "/ground_truth",
        "path": str(out / "ground_truth.npz"),
        "rows": 75,
        "columns": 21,
    }
    assert np.load(out / "ground_truth.npz")["stamp_sim_ns"][-1] == 300_000_000


def test_parquet(ghost: Ghost, flight: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert ghost("export", flight, "--to", "parquet").code == 0
    table = parquet.read_table(flight.with_name("flight_parquet") / "sensors_baro0.parquet")
    assert str(table.schema.field("stamp_sim_ns").type) == "int64"
    assert str(table.schema.field("pressure_pa").type) == "double"


def test_parquet_without_its_library(
    ghost: Ghost, flight: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    answer = ghost("export", flight, "--to", "parquet")
    assert answer.code == 2
    assert 'pip install "ghost-hal[export]"' in answer.err


def test_a_topic_that_is_not_there(ghost: Ghost, flight: Path) -> None:
    answer = ghost("export", flight, "--to", "csv", "--topics", "/nothing")
    assert answer.code == 2
    assert "no recorded topic matches '/nothing'; there are: /actuators/" in answer.err


@pytest.mark.parametrize("form", ["xlsx", ""])
def test_an_unknown_format(ghost: Ghost, flight: Path, form: str) -> None:
    answer = ghost("export", flight, "--to", form)
    assert answer.code == 2
    assert "'csv', 'parquet', 'npz'" in answer.err


def test_a_folder_that_is_a_file(ghost: Ghost, flight: Path) -> None:
    answer = ghost("export", flight, "--to", "csv", "-o", flight)
    assert answer.code == 2
    assert "cannot be written" in answer.err
    assert len(answer.err.splitlines()) == 1
