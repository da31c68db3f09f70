"""Canonical bytes and fingerprints (C-HAL-15, C-HAL-57)."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum, Flag
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.core import Event, EventSeverity, EventType
from ghost.hal import (
    AckReason,
    CameraIntrinsics,
    CommandAck,
    DepthImagePayload,
    GroundTruth,
    IMUPayload,
    Message,
    RunDigest,
    SensorHealth,
    SensorMeta,
    SensorSample,
    canonical_bytes,
    digest,
)

NAN = float("nan")
OTHER_NAN = struct.unpack("<d", b"\x01\x00\x00\x00\x00\x00\xf8\xff")[0]

IMU_DIGEST = "403d80aac4c9898f908610bf45f111affe52c2941ceef761fc4617ef04eec5f9"
TRUTH_DIGEST = "827bfdbd1b9988e586484633194d40a2e98246ce36ed604cefc5528695021816"


def _text(value: str) -> bytes:
    return b"s" + len(value.encode()).to_bytes(4, "little") + value.encode()


def _int(value: int) -> bytes:
    return b"i" + value.to_bytes(8, "little", signed=True)


def _vector(*values: float) -> bytes:
    head = b"a" + _text("<f8") + b"\x01\x00\x00\x00" + len(values).to_bytes(8, "little")
    return head + struct.pack(f"<{len(values)}d", *values)


def _imu_sample(**changed: Any) -> SensorSample[IMUPayload]:
    payload = IMUPayload(np.array([0.5, -0.25, 9.75]), np.array([0.0, -0.0, 2.0]), None)
    values: dict[str, Any] = {
        "sensor_id": "imu0",
        "seq": 3,
        "stamp_sensor_ns": 4_000_001,
        "stamp_sim_ns": 4_000_000,
        "stamp_wall_ns": 99,
        "health": SensorHealth.DEGRADED,
        "payload": payload,
        "meta": SensorMeta("imu_link", None, {"b": 2, "a": "x"}),
    }
    return SensorSample(**{**values, **changed})


def _truth() -> GroundTruth:
    three = np.array([1.0, 2.0, 3.0])
    return GroundTruth(
        2_000_000, three, np.array([1.0, 0.0, 0.0, 0.0]), three, three, three, np.zeros(0)
    )


def test_a_sample_is_written_as_documented() -> None:
    payload = (
        b"d" + _text("IMUPayload") + b"\x03\x00\x00\x00"
        + _vector(0.5, -0.25, 9.75) + _vector(0.0, -0.0, 2.0) + b"N"
    )  # fmt: skip
    extensions = (
        b"m" + b"\x02\x00\x00\x00" + _text("a") + _text("x") + _text("b") + _int(2)
    )  # fmt: skip
    meta = (
        b"d" + _text("SensorMeta") + b"\x03\x00\x00\x00" + _text("imu_link") + b"N" + extensions
    )  # fmt: skip
    expected = (
        b"d" + _text("SensorSample") + b"\x08\x00\x00\x00"
        + _text("imu0") + _int(3) + _int(4_000_001) + _int(4_000_000)
        + b"e" + _text("SensorHealth") + _int(1)
        + payload + meta + _int(1)
    )  # fmt: skip
    assert canonical_bytes(_imu_sample()) == expected
    assert digest(_imu_sample()) == hashlib.sha256(expected).hexdigest()


def test_golden_digests() -> None:
    """If these change, logs recorded earlier no longer verify: that needs a decision."""
    assert digest(_imu_sample()) == IMU_DIGEST
    assert digest(_truth()) == TRUTH_DIGEST


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, b"N"),
        (True, b"T"),
        (False, b"F"),
        (np.bool_(True), b"T"),
        (0, _int(0)),
        (-1, _int(-1)),
        (np.uint16(7), _int(7)),
        (2**63 - 1, b"i" + b"\xff" * 7 + b"\x7f"),
        (2**63, b"I\x09\x00\x00\x00" + b"\x00" * 7 + b"\x80\x00"),
        (-(2**63), b"i" + b"\x00" * 7 + b"\x80"),
        (-(2**63) - 1, b"I\x09\x00\x00\x00" + b"\xff" * 7 + b"\x7f\xff"),
        (1.5, b"f" + struct.pack("<d", 1.5)),
        (np.float32(1.5), b"f" + struct.pack("<d", 1.5)),
        (NAN, b"f\x00\x00\x00\x00\x00\x00\xf8\x7f"),
        (OTHER_NAN, b"f\x00\x00\x00\x00\x00\x00\xf8\x7f"),
        ("é", b"s\x02\x00\x00\x00\xc3\xa9"),
        ("\ud800", b"s\x03\x00\x00\x00\xed\xa0\x80"),
        (b"\x00s", b"b\x02\x00\x00\x00\x00s"),
        ((1, "a"), b"t\x02\x00\x00\x00" + _int(1) + _text("a")),
        ([], b"t\x00\x00\x00\x00"),
        ({}, b"m\x00\x00\x00\x00"),
        (MappingProxyType({"k": None}), b"m\x01\x00\x00\x00" + _text("k") + b"N"),
        (AckReason.STALE, b"e" + _text("AckReason") + _text("stale")),
        (EventSeverity.WARN, b"e" + _text("EventSeverity") + _int(2)),
    ],
)
def test_plain_values_are_written_as_documented(value: object, expected: bytes) -> None:
    assert canonical_bytes(value) == expected


def test_arrays_are_written_as_documented() -> None:
    image = np.arange(6, dtype=np.uint8).reshape(2, 3)
    head = b"a" + _text("|u1") + b"\x02\x00\x00\x00" + b"\x02" + b"\x00" * 7 + b"\x03" + b"\x00" * 7
    assert canonical_bytes(image) == head + bytes(range(6))
    assert canonical_bytes(image.T.copy().T) == canonical_bytes(image)  # data in C order
    assert canonical_bytes(np.zeros((0, 3))) != canonical_bytes(np.zeros((3, 0)))
    assert canonical_bytes(np.array([1.0, 2.0], dtype=">f8")) == _vector(1.0, 2.0)
    assert canonical_bytes(np.array([1, 2], dtype=">u2"))[-4:] == b"\x01\x00\x02\x00"


@pytest.mark.parametrize("size", [1, 3, 31, 32, 33, 500])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_nan_in_an_array_is_one_nan(size: int, dtype: type[np.floating[Any]]) -> None:
    usual = np.ones(size, dtype)
    usual[-1] = np.nan
    other = usual.copy()
    bits: np.ndarray[Any, Any] = other.view(np.uint64 if dtype is np.float64 else np.uint32)
    bits[-1] |= 1 | 1 << (8 * bits.itemsize - 1)  # another payload, and the sign
    assert other.tobytes() != usual.tobytes()
    assert canonical_bytes(other) == canonical_bytes(usual)
    assert canonical_bytes(np.nan_to_num(usual)) != canonical_bytes(usual)
    assert other.view(bits.dtype)[-1] == bits[-1]  # the caller's array is left as it was


def test_infinities_that_cancel_are_no_nan() -> None:
    both = np.array([np.inf, -np.inf, 1.0])
    assert canonical_bytes(both) == _vector(np.inf, -np.inf, 1.0)


def test_both_zeros_are_kept_apart() -> None:
    assert canonical_bytes(0.0) != canonical_bytes(-0.0)
    assert canonical_bytes(np.zeros(3)) != canonical_bytes(-np.zeros(3))
    assert _imu_sample() == _imu_sample()


def _key(value: object) -> object:
    """What makes two plain values the same data: type and exact text; order of keys aside."""
    if isinstance(value, dict):
        return ("map", tuple(sorted((repr(k), _key(v)) for k, v in value.items())))
    if isinstance(value, tuple):
        return ("seq", tuple(_key(item) for item in value))
    return (type(value).__name__, repr(value))


_plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.integers()
    | st.sampled_from([0.0, -0.0, 1.0, NAN, OTHER_NAN, float("inf"), 5e-324])
    | st.text("ab\x00sé", max_size=3)
    | st.binary(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text("ab", max_size=2), inner)
    ),
    max_leaves=6,
)


@given(_plain, _plain)
@settings(deadline=None, max_examples=300)
def test_the_form_is_unambiguous(a: object, b: object) -> None:
    ours, theirs = canonical_bytes(a), canonical_bytes(b)
    assert (ours == theirs) == (_key(a) == _key(b))
    if ours != theirs:  # nor is one the beginning of the other: messages in a row stay apart
        assert not ours.startswith(theirs)
        assert not theirs.startswith(ours)


@given(st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=6))
@settings(deadline=None)
def test_the_order_of_a_mapping_is_irrelevant(extensions: dict[str, Any]) -> None:
    backwards = dict(reversed(list(extensions.items())))
    assert digest(SensorMeta("f", None, extensions)) == digest(SensorMeta("f", None, backwards))


def _changed(value: Any) -> Any:
    """Another value of the same kind that differs as little as it can."""
    if value is None:
        return 0
    if isinstance(value, bool):
        return not value
    if isinstance(value, Enum):
        return next(member for member in type(value) if member is not value)
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return float(np.nextafter(value, np.inf))
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, np.ndarray):
        other = value.copy()
        flat = other.reshape(-1)
        if other.dtype.kind == "f":
            flat[-1] = np.nextafter(flat[-1], other.dtype.type(np.inf))
        else:
            flat[-1] = not flat[-1] if other.dtype == np.bool_ else flat[-1] + 1
        return other
    if isinstance(value, Mapping):
        return {**value, "new": 1}
    if isinstance(value, tuple):
        return (*value[:-1], _changed(value[-1]))
    name = fields(value)[0].name
    twin = type(value)(**{field.name: getattr(value, field.name) for field in fields(value)})
    object.__setattr__(twin, name, _changed(getattr(twin, name)))
    return twin


def test_a_change_of_any_field_shows(example: Any) -> None:
    original = digest(example.make())
    for field in fields(example.cls):
        message = example.make()
        object.__setattr__(message, field.name, _changed(getattr(message, field.name)))
        assert (digest(message) == original) == (field.name == "stamp_wall_ns"), field.name


def test_equal_messages_have_equal_digests(example: Any) -> None:
    assert digest(example.make()) == digest(example.make())


def test_the_class_is_part_of_the_form() -> None:
    @dataclass(frozen=True)
    class One:
        value: int

    @dataclass(frozen=True)
    class Two:
        value: int

    @dataclass(frozen=True)
    class Empty:
        pass

    assert canonical_bytes(One(1)) != canonical_bytes(Two(1))
    assert canonical_bytes(One(1)) == b"d" + _text("One") + b"\x01\x00\x00\x00" + _int(1)
    assert canonical_bytes(Empty()) == b"d" + _text("Empty") + b"\x00\x00\x00\x00"


def test_combined_flags_have_a_form() -> None:
    class Colour(Flag):
        RED = 1
        BLUE = 2

    both = Colour.RED | Colour.BLUE
    assert canonical_bytes(both) == b"e" + _text("Colour") + _int(3)


def test_events_have_a_digest() -> None:
    def event(gap: int) -> Event:
        return Event(EventType.SENSOR_FAULT, 1, EventSeverity.WARN, "s", "gap", {"gap": gap})

    assert digest(event(1)) == digest(event(1))
    assert digest(event(1)) != digest(event(2))


@pytest.mark.parametrize(
    "value",
    [object(), {1, 2}, 1j, np.zeros(2, np.complex128), np.array(["a"]), np.zeros(1, object)],
)
def test_what_has_no_form_is_named(value: object) -> None:
    with pytest.raises(TypeError, match="no canonical form"):
        canonical_bytes(SensorMeta("f", None, {"x": value}))


def test_metadata_that_could_change_is_not_remembered() -> None:
    class Mutable(list[int]):
        pass

    inside = Mutable([1])  # a subclass is opaque to the message, so it is not copied
    meta = SensorMeta("f", None, {"x": inside})
    before = digest(meta)
    inside.append(2)
    assert digest(meta) != before


def test_remembered_metadata_is_told_apart() -> None:
    """Many short-lived objects reuse each other's identity; none may get another's bytes."""
    for number in range(3000):
        meta = SensorMeta("f", None, {"n": number})
        expected = b"m\x01\x00\x00\x00" + _text("n") + _int(number)
        assert canonical_bytes(meta).endswith(expected)
        assert canonical_bytes(meta).endswith(expected)


def test_the_digest_of_a_run() -> None:
    messages: list[Message] = [_imu_sample(), _truth(), CommandAck(True, AckReason.OK, 5)]
    run = RunDigest()
    assert (run.count, run.hexdigest()) == (0, hashlib.sha256().hexdigest())
    for message in messages:
        run.update(message)
    assert run.count == 3
    expected = hashlib.sha256(b"".join(canonical_bytes(message) for message in messages))
    assert run.hexdigest() == expected.hexdigest()
    with pytest.raises(TypeError):
        run.update(object())
    assert (run.count, run.hexdigest()) == (3, expected.hexdigest())
    other_order = RunDigest()
    for message in reversed(messages):
        other_order.update(message)
    assert other_order.hexdigest() != run.hexdigest()


def test_wall_time_is_left_out() -> None:
    assert digest(_imu_sample(stamp_wall_ns=1)) == digest(_imu_sample(stamp_wall_ns=2))
    assert _imu_sample(stamp_wall_ns=1) != _imu_sample(stamp_wall_ns=2)


def test_depth_images_with_nan() -> None:
    camera = CameraIntrinsics(2, 2, 1.0, 1.0, 1.0, 1.0, "none", np.zeros(0))
    depth = np.array([[1.0, np.nan], [np.nan, 2.0]], dtype=np.float32)
    assert digest(DepthImagePayload(depth, camera, 0.1, 9.0)) == digest(
        DepthImagePayload(np.where(np.isnan(depth), -depth, depth), camera, 0.1, 9.0)
    )


def test_another_process_agrees() -> None:
    code = (
        "from ghost.hal import *\n"
        "print(digest(SensorMeta('f', 'c', {'b': (1, 2.5, None), 'a': {'y': True, 'x': 'é'}})))"
    )
    here = digest(SensorMeta("f", "c", {"a": {"x": "é", "y": True}, "b": (1, 2.5, None)}))
    for seed in ("1", "2"):
        result = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stdout.strip() == here
