"""Two recordings: equal to the bit, or the first field that is not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.hal import IMUPayload, SensorHealth, SensorMeta, SensorSample, digest
from ghost.report import diff
from ghost.report.compare import differences
from ghost.report.survey import Row

MS = 1_000_000
Changed = Callable[..., list[Row]]


def sample(value: float, *, wall_ns: int = 0, stamp_ns: int = MS) -> SensorSample[Any]:
    payload = IMUPayload(np.array([0.0, value, 0.0]), np.zeros(3))
    return SensorSample(
        "imu0", 0, stamp_ns, stamp_ns, wall_ns, SensorHealth.OK, payload, SensorMeta("imu0")
    )


def test_a_run_is_equal_to_itself(rows_of_all: list[Row], flight_rows: list[Row]) -> None:
    for rows in (rows_of_all, flight_rows):
        found = diff(rows, rows)
        assert found.same
        assert found.reordered == 0
        assert all(topic.equal for topic in found.topics.values())
        assert sum(topic.matched for topic in found.topics.values()) == len(rows)


def test_the_first_difference_has_topic_stamp_field_and_values() -> None:
    rows_a = [("/sensors/imu0", k * MS, k, sample(0.0, stamp_ns=k * MS)) for k in range(5)]
    rows_b = list(rows_a)
    rows_b[3] = ("/sensors/imu0", 3 * MS, 3, sample(0.25, stamp_ns=3 * MS))
    found = diff(rows_a, rows_b)
    assert found.first is not None
    assert found.first.to_json() == {
        "topic": "/sensors/imu0",
        "stamp_ns": 3 * MS,
        "index": 3,
        "field": "payload.accel_mps2[1]",
        "a": "0.0",
        "b": "0.25",
    }
    topic = found.topics["/sensors/imu0"]
    assert (topic.matched, topic.differing) == (5, 1)
    part = topic.fields["payload.accel_mps2"]
    assert part.largest == 0.25
    assert part.rms(topic.matched) == pytest.approx(math.sqrt(0.25**2 / 15))


def test_wall_stamps_do_not_count() -> None:
    a, b = sample(1.0, wall_ns=5), sample(1.0, wall_ns=6)
    assert list(differences(a, b)) == []
    assert diff([("/s", MS, 0, a)], [("/s", MS, 0, b)]).same


def test_nan_is_equal_to_nan_and_zero_is_not_minus_zero() -> None:
    nan, zero, minus = sample(math.nan), sample(0.0), sample(-0.0)
    assert diff([("/s", MS, 0, nan)], [("/s", MS, 0, sample(math.nan))]).same
    found = diff([("/s", MS, 0, zero)], [("/s", MS, 0, minus)])
    assert found.first is not None
    assert (found.first.a, found.first.b) == ("0.0", "-0.0")


@settings(deadline=None, max_examples=80)
@given(st.floats(width=64), st.floats(width=64))
def test_it_is_of_one_mind_with_the_digest(x: float, y: float) -> None:
    a, b = sample(x), sample(y)
    assert bool(list(differences(a, b))) == (digest(a) != digest(b))


def test_order_within_a_stamp_does_not_count() -> None:
    rows_a: list[Row] = [("/a", MS, 0, sample(1.0)), ("/b", MS, 1, sample(2.0))]
    rows_b: list[Row] = [("/b", MS, 0, sample(2.0)), ("/a", MS, 1, sample(1.0))]
    found = diff(rows_a, rows_b)
    assert found.same
    assert found.reordered == 1


def test_order_on_one_topic_counts() -> None:
    one, two = sample(1.0), sample(2.0)
    rows_a: list[Row] = [("/a", MS, 0, one), ("/a", MS, 1, two)]
    found = diff(rows_a, [rows_a[1], rows_a[0]])
    assert not found.same


@pytest.mark.parametrize("swap", [False, True])
def test_a_message_that_one_side_lacks(rows_of_all: list[Row], swap: bool) -> None:
    missing = next(n for n, row in enumerate(rows_of_all) if row[0] == "/sensors/cam0")
    fewer = rows_of_all[:missing] + rows_of_all[missing + 1 :]
    pair = (fewer, rows_of_all) if swap else (rows_of_all, fewer)
    found = diff(*pair)
    assert found.first is not None
    assert found.first.topic == "/sensors/cam0"
    assert found.first.field == ""
    assert "(no message)" in (found.first.a, found.first.b)
    topic = found.topics["/sensors/cam0"]
    assert {topic.count_a, topic.count_b} == {7, 8}
    assert topic.matched == 7
    assert topic.differing == 0


def test_one_side_ends_early(rows_of_all: list[Row]) -> None:
    found = diff(rows_of_all, rows_of_all[:20])
    assert not found.same
    assert sum(topic.count_b for topic in found.topics.values()) == 20
    assert diff([], []).same
    assert not diff([], rows_of_all).same


def test_pixels_differ(rows_of_all: list[Row], changed: Changed) -> None:
    at = next(n for n, row in enumerate(rows_of_all) if row[0] == "/sensors/cam0")
    payload = rows_of_all[at][3].payload
    image = payload.image.copy()
    image[2, 3, 1] += 7
    other = type(payload)(image, payload.intrinsics, payload.exposure_ns)
    found = diff(rows_of_all, changed(rows_of_all, at, payload=other))
    assert found.first is not None
    assert found.first.field == "payload.image[2,3,1]"
    assert found.topics["/sensors/cam0"].fields["payload.image"].largest == 7.0


def test_another_class_shape_and_mapping() -> None:
    meta_a, meta_b = SensorMeta("f", None, {"error": "x"}), SensorMeta("f", None, {"other": 1})
    paths = {item.path for item in differences(meta_a, meta_b)}
    assert paths == {"extensions['error']", "extensions['other']"}
    (item,) = differences(np.zeros(3), np.zeros(4))
    assert item.path == "shape()"
    assert [d.path for d in differences(meta_a, sample(0.0))] == [""]


def test_memory_holds_one_stamp_at_a_time() -> None:
    alive, most = 0, 0

    class Counted:
        def __init__(self) -> None:
            nonlocal alive, most
            alive += 1
            most = max(most, alive)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Counted)

        __hash__ = None  # type: ignore[assignment]  # compared, never hashed

    def rows() -> Iterator[Row]:
        for k in range(2000):
            yield "/a", k * MS, k, Counted()

    assert diff(rows(), rows()).same
    assert most <= 8
