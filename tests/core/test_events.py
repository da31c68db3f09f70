from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from ghost.core import Event, EventSeverity, EventType


def make(**changes: Any) -> Event:
    fields: dict[str, Any] = {
        "type": EventType.SENSOR_FAULT,
        "stamp_sim_ns": 5,
        "severity": EventSeverity.WARN,
        "source": "sensors/imu0",
        "message": "gap",
        "payload": {"sensor_id": "imu0", "seqs": [1, 2], "more": {"got": 3}},
    }
    return Event(**{**fields, **changes})


def test_values_are_lower_case_names_and_severities_compare() -> None:
    assert all(kind.value == kind.name.lower() for kind in EventType)
    names = [severity.name for severity in sorted(EventSeverity)]
    assert names == ["DEBUG", "INFO", "WARN", "ERROR", "CRITICAL"]


def test_the_payload_is_a_copy_and_read_only_all_the_way_down() -> None:
    inner: dict[str, Any] = {"got": 3}
    payload: dict[str, Any] = {"more": inner, "seqs": [1, 2]}
    event = make(payload=payload)
    inner["got"] = 4
    payload["seqs"].append(3)
    assert event.as_dict()["payload"] == {"more": {"got": 3}, "seqs": [1, 2]}
    with pytest.raises(TypeError):
        event.payload["more"] = 1  # type: ignore[index]  # the point of the test
    more = event.payload["more"]
    assert isinstance(more, Mapping)
    with pytest.raises(TypeError):
        more["got"] = 1  # type: ignore[index]  # the point of the test
    assert event.payload["seqs"] == (1, 2)


def test_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        make().message = "other"  # type: ignore[misc]  # the point of the test


def test_equality_is_by_value_and_agrees_with_hash() -> None:
    assert make() == make()
    assert hash(make()) == hash(make())
    assert make() != make(payload={"sensor_id": "imu1"})
    assert make() != make(stamp_sim_ns=6)


def test_json_pickle_and_deepcopy() -> None:
    event = make()
    assert json.loads(json.dumps(event.as_dict()))["type"] == "sensor_fault"
    assert pickle.loads(pickle.dumps(event)) == event
    assert copy.deepcopy(event) == event


def test_defaults() -> None:
    event = Event(EventType.CRASH, 1, EventSeverity.CRITICAL, "physics")
    assert event.message == ""
    assert dict(event.payload) == {}


def test_scalar_subclasses_become_plain() -> None:
    payload = make(payload={"x": np.float64(1.5), "s": EventSeverity.WARN, "t": EventType.CRASH})
    assert [type(v) for v in payload.payload.values()] == [float, int, str]
    assert payload.as_dict()["payload"] == {"x": 1.5, "s": 2, "t": "crash"}


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"type": "sensor_fault"}, "type must be an EventType"),
        ({"severity": 2}, "severity must be an EventSeverity"),
        ({"stamp_sim_ns": 1.0}, "stamp_sim_ns must be an integer"),
        ({"payload": [1]}, "payload must be a mapping"),
        ({"payload": {1: 2}}, "payload: keys must be str"),
        ({"payload": {"a": {"b": [0, object()]}}}, r"payload\.a\.b\[1\] must hold JSON values"),
        ({"payload": {"a": np.zeros(2)}}, r"payload\.a must hold JSON values"),
    ],
)
def test_wrong_kinds_are_refused(changes: dict[str, Any], match: str) -> None:
    with pytest.raises(TypeError, match=match):
        make(**changes)
