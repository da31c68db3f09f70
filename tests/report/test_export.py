"""Tables hold what the messages held, in every format."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from ghost.core import ConfigError, MissingDependency
from ghost.hal import (
    AttitudeCommand,
    CommandRecord,
    MotorCommand,
    PositionCommand,
    SensorSample,
    VelocityCommand,
)
from ghost.report import TableForm, export, flatten
from ghost.report.flatten import Scalar
from ghost.report.spool import Spool
from ghost.report.survey import Row
from ghost.report.tables import write_csv, write_npz, write_parquet

MS = 1_000_000


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_columns_are_named_by_field_unit_and_axis(rows_of_all: list[Row]) -> None:
    by_topic = {topic: flatten(message) for topic, _, _, message in rows_of_all}
    imu = by_topic["/sensors/imu0"]
    assert list(imu) == [
        "stamp_sim_ns", "stamp_sensor_ns", "stamp_wall_ns", "seq", "health", "error",
        "accel_mps2_x", "accel_mps2_y", "accel_mps2_z", "gyro_rps_x", "gyro_rps_y", "gyro_rps_z",
        "temperature_c",
    ]  # fmt: skip
    truth = by_topic["/ground_truth"]
    assert [name for name in truth if name.startswith("q_")] == [
        "q_enu_flu_w", "q_enu_flu_x", "q_enu_flu_y", "q_enu_flu_z",
    ]  # fmt: skip
    assert truth["motor_rps_3"] == 700.0
    ack = by_topic["/actuators/ack"]
    assert (ack["reason"], ack["applied_level"]) == ("ok", "position")
    assert ack["applied_pos_enu_m_z"] == 1.2
    assert json.loads(str(by_topic["/step"]["samples"])) == {"imu0": 1}
    cam = by_topic["/sensors/cam0"]
    assert cam["intrinsics_width"] == 6
    assert "image" not in cam


def test_csv_has_every_digit(rows_of_all: list[Row], tmp_path: Path) -> None:
    export(rows_of_all, tmp_path, "csv")
    rows = read_csv(tmp_path / "sensors_imu0.csv")
    samples = [m for topic, _, _, m in rows_of_all if topic == "/sensors/imu0"]
    assert [float(r["accel_mps2_y"]) for r in rows] == [s.payload.accel_mps2[1] for s in samples]
    assert [int(r["stamp_sim_ns"]) for r in rows] == [s.stamp_sim_ns for s in samples]
    assert {r["temperature_c"] for r in rows} == {""}


def test_npz_and_parquet_agree_with_csv(flight_rows: list[Row], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    forms: tuple[TableForm, ...] = ("csv", "npz", "parquet")
    for form in forms:
        export(flight_rows, tmp_path / form, form)
    names = sorted(path.stem for path in (tmp_path / "csv").iterdir())
    assert "sensors_gps0" in names
    assert "ground_truth" in names
    for name in names:
        rows = read_csv(tmp_path / "csv" / f"{name}.csv")
        npz = np.load(tmp_path / "npz" / f"{name}.npz")
        table = parquet.read_table(tmp_path / "parquet" / f"{name}.parquet")
        assert list(npz.files) == table.column_names == list(rows[0])
        for column in npz.files:
            stored = npz[column]
            other = table.column(column).to_pylist()
            assert len(stored) == len(other) == len(rows)
            for a, b, c in zip(stored.tolist(), other, [r[column] for r in rows], strict=True):
                if isinstance(a, float):
                    assert a == b or (math.isnan(a) and (b is None or math.isnan(b)))
                    assert float(c or "nan") == a or math.isnan(a)
                else:
                    assert a == (b if b is not None else "")
                    assert str(a).lower() == c or str(a) == c


def test_images_and_points_become_arrays(rows_of_all: list[Row], tmp_path: Path) -> None:
    done = export(rows_of_all, tmp_path, "csv")
    messages: dict[str, list[SensorSample[Any]]] = {}
    for topic, _, _, message in rows_of_all:
        messages.setdefault(topic, []).append(message)
    images = np.load(tmp_path / "sensors_cam0.images.npz")
    assert images["image"].shape == (8, 4, 6, 3)
    for stored, sample in zip(images["image"], messages["/sensors/cam0"], strict=True):
        assert np.array_equal(stored, sample.payload.image)
    assert images["stamp_sim_ns"].tolist() == [k * 100 * MS for k in range(1, 9)]
    depth = np.load(tmp_path / "sensors_depth0.images.npz")["depth_m"]
    assert depth.dtype == np.float32
    assert np.array_equal(depth[2], messages["/sensors/depth0"][2].payload.depth_m, equal_nan=True)
    points = np.load(tmp_path / "sensors_lidar0.points.npz")
    offsets = points["points_m_offsets"]
    for i, sample in enumerate(messages["/sensors/lidar0"]):
        scan = points["points_m"][offsets[i] : offsets[i + 1]]
        assert np.array_equal(scan, sample.payload.points_m)
    assert {item.path.name for item in done} == {path.name for path in tmp_path.iterdir()}


def test_images_as_png(rows_of_all: list[Row], tmp_path: Path) -> None:
    export(rows_of_all, tmp_path, "csv", images="png")
    files = sorted((tmp_path / "sensors_cam0").iterdir())
    assert [f.name for f in files][:2] == ["000000_100000000.png", "000001_200000000.png"]
    with Image.open(files[2]) as picture:
        assert np.array_equal(np.array(picture), np.full((4, 6, 3), 30, np.uint8))
    with Image.open(sorted((tmp_path / "sensors_depth0").iterdir())[2]) as picture:
        values = np.array(picture)
    assert set(values.ravel().tolist()) == {0, 1500}
    assert not (tmp_path / "sensors_cam0.images.npz").exists()
    assert (tmp_path / "sensors_lidar0.points.npz").exists()


def test_images_may_be_left_out(rows_of_all: list[Row], tmp_path: Path) -> None:
    export(rows_of_all, tmp_path, "npz", images="none")
    assert not list(tmp_path.glob("*.images.npz"))
    assert not list(tmp_path.glob("*.points.npz"))


def test_images_that_change_their_size(tmp_path: Path, rows_of_all: list[Row]) -> None:
    cams = [row for row in rows_of_all if row[0] == "/sensors/cam0"][:2]
    payload = cams[1][3].payload
    lens = payload.intrinsics
    half = type(lens)(3, 4, lens.fx, lens.fy, lens.cx, lens.cy, "none", np.zeros(0))
    small = type(payload)(payload.image[:, ::2], half, 0)
    sample = cams[1][3]
    cams[1] = (
        "/sensors/cam0", 2, 2,
        SensorSample("cam0", 1, 2, 2, 0, sample.health, small, sample.meta),
    )  # fmt: skip
    export(cams, tmp_path, "npz")
    stored = np.load(tmp_path / "sensors_cam0.images.npz")
    shape = tuple(stored["image_shapes"][1])
    offsets = stored["image_offsets"]
    assert np.array_equal(
        stored["image"][offsets[1] : offsets[2]].reshape(shape), payload.image[:, ::2]
    )


def test_levels_of_commands_share_a_table(tmp_path: Path) -> None:
    commands: list[Any] = [
        PositionCommand(np.array([1.0, 2.0, 3.0]), 0.5),
        VelocityCommand(np.array([4.0, 5.0, 6.0]), 0.1),
        AttitudeCommand(np.array([1.0, 0.0, 0.0, 0.0]), 0.6),
        MotorCommand(np.array([0.1, 0.2, 0.3, 0.4])),
    ]
    rows: list[Row] = [
        ("/actuators/command", k, k, CommandRecord(k, command))
        for k, command in enumerate(commands)
    ]
    export(rows, tmp_path, "csv")
    table = read_csv(tmp_path / "actuators_command.csv")
    assert [row["level"] for row in table] == ["position", "velocity", "attitude", "motor"]
    assert [row["pos_enu_m_x"] for row in table] == ["1.0", "", "", ""]
    assert table[3]["thrust_3"] == "0.4"
    export(rows, tmp_path, "npz")
    stored = np.load(tmp_path / "actuators_command.npz")
    assert stored["vel_enu_mps_y"][1] == 5.0
    assert np.isnan(stored["vel_enu_mps_y"][[0, 2, 3]]).all()


CELLS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=8)
)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.dictionaries(st.sampled_from(["a", "b", "c"]), CELLS, min_size=1), min_size=1))
def test_any_rows_can_be_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Scalar]]
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = tmp_path_factory.mktemp("rows")
    spool = Spool()
    try:
        for row in rows:
            spool.add({"stamp_sim_ns": 1, **row})
        write_csv(folder / "t.csv", spool)
        write_npz(folder / "t.npz", spool)
        write_parquet(folder / "t.parquet", spool)
    finally:
        spool.close()
    assert len(read_csv(folder / "t.csv")) == len(rows)
    with np.load(folder / "t.npz") as stored:
        assert all(len(stored[name]) == len(rows) for name in stored.files)
    assert parquet.read_table(folder / "t.parquet").num_rows == len(rows)


def test_a_missing_library_is_named_before_anything_is_written(
    monkeypatch: pytest.MonkeyPatch, rows_of_all: list[Row], tmp_path: Path
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingDependency, match=r'pip install "ghost-hal\[export\]"'):
        export(rows_of_all, tmp_path / "new", "parquet")
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_made(rows_of_all: list[Row], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"file.*cannot be written"):
        export(rows_of_all, tmp_path / "file", "csv")
    with pytest.raises(ConfigError, match="cannot be written"):
        export(rows_of_all, tmp_path / "file" / "deeper", "csv")
