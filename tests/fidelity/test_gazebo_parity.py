"""The recorded Gazebo flight in our worlds, and the report about it."""

from __future__ import annotations

import re
from types import ModuleType

import pytest

from ghost.hal import SimulationBackend

MARK_S = 4.0


def test_recorded_flight_for_four_seconds(backend: SimulationBackend, parity: ModuleType) -> None:
    rows = [row for row in parity.read_capture() if row.t_ns <= MARK_S * 1e9]
    apart = parity.fly(backend, rows)[-1]
    assert apart.t_s == pytest.approx(MARK_S)
    assert apart.position_m < 0.05
    assert apart.attitude_deg < 2.0
    assert apart.accel_mps2 < 0.1
    assert apart.gyro_rps < 0.05


def test_recorded_flight_moves(parity: ModuleType) -> None:
    """The limits above mean something: the recording is a real flight."""
    rows = [row for row in parity.read_capture() if row.t_ns <= MARK_S * 1e9]
    places = [row.pos_enu_m for row in rows if row.pos_enu_m is not None]
    assert max(abs(place[2] - 20.0) for place in places) > 1.0
    assert max(abs(rate) for row in rows for rate in row.gyro_rps) > 0.5
    assert [row.t_ns for row in rows] == list(range(4_000_000, 4_000_000_001, 4_000_000))


def test_a_wrong_world_is_seen(backend: SimulationBackend, parity: ModuleType) -> None:
    """Two per mille more speed is more than the limits allow for."""
    rows = [row for row in parity.read_capture() if row.t_ns <= MARK_S * 1e9]
    stronger = [row._replace(cmd_rad_s=tuple(1.002 * w for w in row.cmd_rad_s)) for row in rows]
    assert parity.fly(backend, stronger)[-1].position_m > 0.05


def test_report_is_current(backend: SimulationBackend, parity: ModuleType) -> None:
    name = "pybullet" if "pybullet" in backend.capabilities.extensions["engine"] else "embedded"
    text = parity.REPORT.read_text(encoding="utf-8")
    section = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    written = [
        [float(cell) for cell in line.strip("| ").split("|")]
        for line in section.splitlines()
        if re.match(r"\| \d", line)
    ]
    assert [line[0] for line in written] == list(parity.TABLE_S)
    curve = parity.fly(backend, parity.read_capture())
    for t_s, position_mm, attitude_deg, accel, gyro in written:
        flown = parity.at(curve, t_s)
        told = "docs/backends/parity.md is old: python tools/parity_report.py --write"
        assert flown.position_m * 1e3 == pytest.approx(position_mm, rel=0.02, abs=2e-3), told
        assert flown.attitude_deg == pytest.approx(attitude_deg, rel=0.02, abs=1e-4), told
        assert flown.accel_mps2 == pytest.approx(accel, rel=0.02, abs=1e-5), told
        assert flown.gyro_rps == pytest.approx(gyro, rel=0.02, abs=1e-5), told
