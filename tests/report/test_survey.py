"""Counts, rates, gaps and health, from messages whose account is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ghost.hal import SensorHealth
from ghost.report import survey
from ghost.report.survey import Row

MS = 1_000_000
Sample = Callable[..., Any]


def rows(imu: Sample, marks: list[tuple[int, int, SensorHealth]]) -> list[Row]:
    return [
        ("/sensors/imu0", stamp, n, imu(seq, stamp, health=health))
        for n, (seq, stamp, health) in enumerate(marks)
    ]


def test_rates_gaps_and_losses(imu: Sample) -> None:
    ok = SensorHealth.OK
    marks = [(0, 0, ok), (1, 10 * MS, ok), (2, 20 * MS, ok), (6, 60 * MS, ok), (7, 70 * MS, ok)]
    found = survey(rows(imu, marks))
    topic = found.topics["/sensors/imu0"]
    assert topic.kind == "IMU"
    assert topic.count == 5
    assert topic.rate_hz == pytest.approx(4 / 0.07)
    assert topic.gap is not None
    assert (topic.gap.start_ns, topic.gap.end_ns) == (20 * MS, 60 * MS)
    assert (topic.lost, topic.largest_loss, topic.largest_loss_ns) == (3, 3, 60 * MS)
    assert found.duration_ns == 70 * MS


def test_changes_of_health(imu: Sample) -> None:
    ok, faulty = SensorHealth.OK, SensorHealth.FAULTY
    found = survey(rows(imu, [(0, 0, ok), (1, MS, faulty), (2, 2 * MS, faulty), (3, 3 * MS, ok)]))
    topic = found.topics["/sensors/imu0"]
    assert topic.health == {ok: 2, faulty: 2}
    assert [(c.stamp_ns, c.before, c.after) for c in topic.changes] == [
        (MS, ok, faulty),
        (3 * MS, faulty, ok),
    ]


def test_a_second_run_in_the_file_is_a_restart_and_no_loss(imu: Sample) -> None:
    ok = SensorHealth.OK
    found = survey(rows(imu, [(0, 0, ok), (1, MS, ok), (0, 2 * MS, ok), (1, 3 * MS, ok)]))
    topic = found.topics["/sensors/imu0"]
    assert (topic.restarts, topic.lost) == (1, 0)


def test_one_message_has_no_rate(imu: Sample) -> None:
    topic = survey(rows(imu, [(4, MS, SensorHealth.OK)])).topics["/sensors/imu0"]
    assert topic.rate_hz is None
    assert topic.gap is None
    assert topic.to_json()["largest_gap"] is None


def test_nothing_at_all() -> None:
    found = survey([])
    assert (found.count, found.duration_ns, found.topics) == (0, 0, {})


def test_an_offline_sensor_shows_as_gap_and_loss(flight_rows: list[Row]) -> None:
    topic = survey(flight_rows).topics["/sensors/gps0"]
    assert topic.gap is not None
    assert topic.gap.length_ns >= 300 * MS
    assert topic.gap.start_ns < 500 * MS < topic.gap.end_ns
    assert 8 <= topic.lost <= 10  # 0.3 s at 30 Hz
