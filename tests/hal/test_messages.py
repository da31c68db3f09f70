"""What holds for every message: frozen, equal by value, checked (C-HAL-10, 13, 14, 16)."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, fields, is_dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from ghost import hal
from ghost.hal import (
    ActuatorCommand,
    AttitudeCommand,
    BarometerPayload,
    Capabilities,
    GpsPayload,
    GroundTruth,
    IMUPayload,
    Message,
    PositionCommand,
    SensorHealth,
    SensorMeta,
    SensorSample,
    SensorSpec,
    StepReport,
)


def _fields(example: Any, kind: str) -> list[str]:
    return [field.name for field in fields(example.cls) if str(field.type) == kind]


def test_every_message_of_the_door_has_an_example(examples: Mapping[str, Any]) -> None:
    public = {
        name
        for name in hal.__all__
        if isinstance(getattr(hal, name), type) and issubclass(getattr(hal, name), Message)
    }
    assert public - {"Message", "ActuatorCommand"} == set(examples)


def test_fields_cannot_be_set_deleted_or_added(example: Any) -> None:
    message = example.make()
    for field in fields(message):
        with pytest.raises(FrozenInstanceError):
            setattr(message, field.name, getattr(message, field.name))
        with pytest.raises(FrozenInstanceError):
            delattr(message, field.name)
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        message.something_new = 1
    assert not hasattr(message, "__dict__")


def test_messages_are_dataclasses_with_a_docstring(example: Any) -> None:
    name, text = example.cls.__name__, str(example.cls.__doc__)
    assert is_dataclass(example.cls)
    assert text != "None"
    assert not text.startswith(f"{name}(")  # what dataclass puts where there is none


def test_equal_by_value_and_not_hashable(example: Any) -> None:
    assert example.make() == example.make()
    assert example.make() != object()
    with pytest.raises(TypeError, match="unhashable"):
        hash(example.make())


def test_one_other_array_element_makes_a_difference(with_arrays: Any) -> None:
    for name, array in with_arrays.arrays().items():
        flat = array.reshape(-1)
        flat[-1] = not flat[-1] if array.dtype == np.bool_ else flat[-1] + 1
        assert with_arrays.make(**{name: array}) != with_arrays.make()


def test_nan_is_equal_to_nan() -> None:
    nan = float("nan")
    other_nan = -nan
    assert IMUPayload(np.full(3, nan), np.zeros(3), nan) == IMUPayload(
        np.full(3, other_nan), np.zeros(3), other_nan
    )
    assert BarometerPayload(nan) == BarometerPayload(other_nan)
    assert SensorMeta("a", None, {"x": (nan, np.full(2, nan))}) == SensorMeta(
        "a", None, {"x": [other_nan, np.full(2, nan)]}
    )
    assert BarometerPayload(nan) != BarometerPayload(0.0)


def test_messages_of_two_classes_differ() -> None:
    assert PositionCommand(np.zeros(3), 0.0) != hal.VelocityCommand(np.zeros(3), 0.0)


def test_real_fields_hold_floats_and_name_themselves(example: Any) -> None:
    for name in _fields(example, "float") + _fields(example, "float | None"):
        for value in (2, np.float32(2.0), np.int16(2)):
            stored = getattr(example.make(**{name: value}), name)
            assert type(stored) is float
            assert stored == 2.0
        for wrong in ("2", True, 2 + 0j, np.array([2.0])):
            with pytest.raises(TypeError, match=rf"^{name} must be a real number"):
                example.make(**{name: wrong})
        with pytest.raises(ValueError, match=rf"^{name} must fit into a float"):
            example.make(**{name: 10**400})


def test_integer_fields_hold_ints_and_name_themselves(example: Any) -> None:
    for name in _fields(example, "int"):
        value = operator.index(example.arguments()[name])
        stored = getattr(example.make(**{name: np.int64(value)}), name)
        assert type(stored) is int
        assert stored == value
        for wrong in (2.0, "2", True, None):
            with pytest.raises(TypeError, match=rf"^{name} must be an integer"):
                example.make(**{name: wrong})


def test_text_fields_name_themselves(example: Any) -> None:
    for name in _fields(example, "str") + _fields(example, "SensorId"):
        for wrong in (b"x", 1, None):
            with pytest.raises(TypeError, match=rf"^{name} must be a text"):
                example.make(**{name: wrong})


def test_flags_name_themselves(example: Any) -> None:
    for name in _fields(example, "bool"):
        for wrong in (1, "yes", None):
            with pytest.raises(TypeError, match=rf"^{name} must be True or False"):
                example.make(**{name: wrong})


def test_mapping_fields_are_read_only_copies(example: Any) -> None:
    for field in fields(example.cls):
        if "Mapping" not in str(field.type):
            continue
        value = 1 if field.name == "samples" else "x"
        given = {"b": value, "a": value}
        for source in (given, MappingProxyType(given)):
            stored = getattr(example.make(**{field.name: source}), field.name)
            given["c"] = value
            assert set(stored) == {"a", "b"}
            del given["c"]
            with pytest.raises(TypeError):
                stored["d"] = value
        with pytest.raises(TypeError, match=f"^{field.name} must be a mapping"):
            example.make(**{field.name: [("a", 1)]})
        with pytest.raises(TypeError, match=f"^{field.name} must have text keys, got 1"):
            example.make(**{field.name: {1: value}})


def test_extensions_are_frozen_all_the_way_down() -> None:
    inner = [1, {"deep": [2]}]
    array = np.arange(3)
    raw = bytearray(b"ab")
    opaque = object()
    meta = SensorMeta("f", None, {"list": inner, "array": array, "raw": raw, "opaque": opaque})
    inner.append(3)
    array[0] = 9
    raw[0] = 0
    assert meta.extensions["list"] == (1, {"deep": (2,)})
    assert meta.extensions["array"].tolist() == [0, 1, 2]
    assert not meta.extensions["array"].flags.writeable
    assert meta.extensions["raw"] == b"ab"
    assert meta.extensions["opaque"] is opaque
    with pytest.raises(TypeError):
        meta.extensions["list"][1]["deep"] = 1
    with pytest.raises(TypeError, match=r"^extensions\['a'\] must have text keys"):
        SensorMeta("f", None, {"a": {1: 2}})


def test_copies_and_pickles_are_equal_and_frozen(example: Any) -> None:
    message = example.make()
    for twin in (
        copy.copy(message),
        copy.deepcopy(message),
        pickle.loads(pickle.dumps(message)),
    ):
        assert twin == message
        assert hal.digest(twin) == hal.digest(message)
        for name in example.arrays():
            assert not getattr(twin, name).flags.writeable


def test_samples_name_the_wrong_field(examples: Mapping[str, Any]) -> None:
    sample = examples["SensorSample"]
    with pytest.raises(ValueError, match=r"^seq must be at least 0, got -1"):
        sample.make(seq=-1)
    with pytest.raises(TypeError, match=r"^health must be a SensorHealth, got int 0"):
        sample.make(health=0)
    with pytest.raises(TypeError, match=r"^meta must be a SensorMeta, got dict"):
        sample.make(meta={})
    assert sample.make(health=SensorHealth.FAULTY).health is SensorHealth.FAULTY


def test_a_payload_of_ones_own_travels_in_a_sample() -> None:
    @dataclass(frozen=True, slots=True, eq=False)
    class WindPayload(Message):
        speed_mps: float

    def sample(speed_mps: float) -> SensorSample[WindPayload]:
        meta = SensorMeta("wind0")
        return SensorSample("wind0", 0, 1, 1, 2, SensorHealth.OK, WindPayload(speed_mps), meta)

    assert sample(3.0) == sample(3.0)
    assert sample(3.0) != sample(4.0)
    assert hal.digest(sample(3.0)) != hal.digest(sample(4.0))


def test_specs_and_capabilities_check_values(examples: Mapping[str, Any]) -> None:
    for rate in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=r"^nominal_rate_hz must be positive and finite"):
            examples["SensorSpec"].make(nominal_rate_hz=rate)
    with pytest.raises(ValueError, match=r"^latency_ns must be at least 0, got -1"):
        examples["SensorSpec"].make(latency_ns=-1)
    with pytest.raises(TypeError, match=r"^noise_model must be a NoiseModel or None"):
        examples["SensorSpec"].make(noise_model="none")
    with pytest.raises(ValueError, match=r"^sensor_ids names 'a' more than once"):
        examples["Capabilities"].make(sensor_ids=("a", "b", "a"))
    with pytest.raises(TypeError, match=r"^actuator_levels must be a ActuatorLevel, got str"):
        examples["Capabilities"].make(actuator_levels=("motor",))
    assert SensorSpec("a", "imu", 100.0, "a").noise_model is None
    assert isinstance(examples["Capabilities"].make(sensor_ids=["a"]), Capabilities)


def test_reports_check_their_parts(examples: Mapping[str, Any]) -> None:
    report = examples["StepReport"]
    with pytest.raises(TypeError, match=r"^samples\['imu0'\] must be a count, got -1"):
        report.make(samples={"imu0": -1})
    with pytest.raises(TypeError, match=r"^faults must be a Event"):
        report.make(faults=("lost",))
    with pytest.raises(TypeError, match=r"^lockstep must be a LockstepState"):
        report.make(lockstep="late")
    quiet = StepReport(5, 1, {})
    assert quiet.stamp_sim_ns == quiet.now_ns == 5


def test_fix_type_is_an_enum(examples: Mapping[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"^fix_type must be a GpsFix, got int 3"):
        examples["GpsPayload"].make(fix_type=3)
    assert examples["GpsPayload"].make().__class__ is GpsPayload


def test_the_base_command_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="abstract"):
        ActuatorCommand()


def test_truth_and_commands_keep_what_they_are_given() -> None:
    q = np.array([0.5, 0.5, 0.5, 0.5])
    three = np.arange(3.0)
    truth = GroundTruth(7, three, q, three, three, three, np.zeros(0))
    assert truth.q_enu_flu.tolist() == [0.5, 0.5, 0.5, 0.5]
    assert truth.motor_rps.shape == (0,)
    nan = AttitudeCommand(np.full(4, np.nan), float("inf"))  # values are the sink's to judge
    assert np.isnan(nan.q_enu_flu).all()
