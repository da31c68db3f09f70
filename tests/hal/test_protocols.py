"""Protocols, messages and enums are those of the specification (C-HAL-1)."""

from __future__ import annotations

import ast
import inspect
import re
import typing
from dataclasses import MISSING, fields
from enum import IntEnum
from typing import Any

import pytest

from ghost import core, hal

# The signatures of the frozen HAL specification §2 and sensor specification §2 and §3, word for
# word; only comments are left out.
SPECIFICATION = """
HAL_PROTOCOL_VERSION: int = 1

class SimulationBackend(Protocol):
    capabilities: Capabilities
    def reset(self, scenario: ScenarioSpec, seed: int) -> None: ...
    def step(self, dt_ns: int) -> StepReport: ...
    def shutdown(self) -> None: ...
    @property
    def clock(self) -> SimClock: ...
    def sensors(self) -> Mapping[SensorId, SensorProvider]: ...
    def actuators(self) -> ActuatorSink: ...
    def ground_truth(self) -> GroundTruth | None: ...

class RuntimeBackend(Protocol):
    capabilities: Capabilities
    def start(self) -> None: ...
    def stop(self) -> None: ...
    @property
    def clock(self) -> SystemClock: ...
    def sensors(self) -> Mapping[SensorId, SensorProvider]: ...
    def actuators(self) -> ActuatorSink: ...

class SensorProvider(Protocol, Generic[T]):
    spec: SensorSpec
    def poll(self) -> list[SensorSample[T]]: ...
    def subscribe(self, cb: Callable[[SensorSample[T]], None]) -> Subscription: ...

class ActuatorSink(Protocol):
    spec: ActuatorSpec
    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck: ...

@dataclass(frozen=True)
class Capabilities:
    hal_version: int
    sensor_ids: tuple[SensorId, ...]
    actuator_levels: tuple[ActuatorLevel, ...]
    has_ground_truth: bool
    synchronous_step: bool
    deterministic: bool
    supports_replay: bool
    extensions: Mapping[str, Any]

class SensorHealth(IntEnum):
    OK = 0
    DEGRADED = 1
    FAULTY = 2
    OFFLINE = 3

@dataclass(frozen=True)
class SensorMeta:
    frame_id: str
    calibration_id: str | None
    extensions: Mapping[str, Any]

@dataclass(frozen=True)
class SensorSample(Generic[T]):
    sensor_id: SensorId
    seq: int
    stamp_sensor_ns: int
    stamp_sim_ns: int
    stamp_wall_ns: int
    health: SensorHealth
    payload: T
    meta: SensorMeta
    schema_version: int = 1

@dataclass(frozen=True)
class SensorSpec:
    sensor_id: SensorId
    payload_type: str
    nominal_rate_hz: float
    frame_id: str
    noise_model: NoiseModel | None
    latency_ns: int = 0

@dataclass(frozen=True)
class IMUPayload:
    accel_mps2: np.ndarray
    gyro_rps: np.ndarray
    temperature_c: float | None

@dataclass(frozen=True)
class CameraIntrinsics:
    width: int; height: int
    fx: float; fy: float
    cx: float; cy: float
    distortion_model: Literal["none", "plumb_bob", "equidistant"]
    distortion_coeffs: np.ndarray

@dataclass(frozen=True)
class RGBImagePayload:
    image: np.ndarray
    intrinsics: CameraIntrinsics
    exposure_ns: int
    encoding: Literal["rgb8"]

@dataclass(frozen=True)
class DepthImagePayload:
    depth_m: np.ndarray
    intrinsics: CameraIntrinsics
    min_range_m: float
    max_range_m: float

class GpsFix(IntEnum):
    NO_FIX = 0; FIX_2D = 1; FIX_3D = 2; RTK = 3

@dataclass(frozen=True)
class GpsPayload:
    lat_deg: float; lon_deg: float; alt_m: float
    enu_local_m: np.ndarray
    fix_type: GpsFix
    hacc_m: float; vacc_m: float

@dataclass(frozen=True)
class AltimeterPayload:
    altitude_m: float
    reference: Literal["AMSL", "AGL", "LOCAL"]
    variance_m2: float
"""

_CLASSES = {n.name: n for n in ast.parse(SPECIFICATION).body if isinstance(n, ast.ClassDef)}
_PROTOCOLS = ["SimulationBackend", "RuntimeBackend", "SensorProvider", "ActuatorSink"]
_ENUMS = ["SensorHealth", "GpsFix"]
_MESSAGES = [name for name in _CLASSES if name not in _PROTOCOLS + _ENUMS]


def _same(annotation: object) -> str:
    """An annotation in one spelling: ours says more about arrays and type parameters."""
    text = ast.unparse(annotation) if isinstance(annotation, ast.AST) else str(annotation)
    text = re.sub(r"npt\.NDArray\[[^\]]*\]|_FloatArray", "np.ndarray", text)
    text = text.replace("SensorProvider[Any]", "SensorProvider").replace('"', "'")
    return re.sub(r"\b_T\b", "T", text)


def test_the_literal_holds_what_it_should() -> None:
    assert len(_CLASSES) == 16
    assert len(_MESSAGES) == 10


def test_version() -> None:
    assert hal.HAL_PROTOCOL_VERSION == 1


@pytest.mark.parametrize("name", _PROTOCOLS)
def test_protocols_have_the_members_of_the_specification(name: str) -> None:
    ours = getattr(hal, name)
    assert getattr(ours, "_is_protocol", False)
    for node in _CLASSES[name].body:
        if isinstance(node, ast.AnnAssign):
            field = ast.unparse(node.target)
            assert _same(ours.__annotations__[field]) == _same(node.annotation)
            continue
        assert isinstance(node, ast.FunctionDef)
        member = inspect.getattr_static(ours, node.name)
        assert isinstance(member, property) == bool(node.decorator_list), node.name
        function: Any = member.fget if isinstance(member, property) else member
        signature = inspect.signature(function)
        assert list(signature.parameters) == [argument.arg for argument in node.args.args]
        for argument in node.args.args[1:]:
            parameter = signature.parameters[argument.arg]
            assert parameter.default is inspect.Parameter.empty
            assert parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
            assert argument.annotation is not None
            assert _same(parameter.annotation) == _same(argument.annotation)
        assert node.returns is not None
        assert _same(signature.return_annotation) == _same(node.returns), node.name


@pytest.mark.parametrize("name", _PROTOCOLS)
def test_protocols_add_nothing_but_the_health_of_a_sensor(name: str) -> None:
    members = {
        node.name if isinstance(node, ast.FunctionDef) else ast.unparse(node.target)
        for node in _CLASSES[name].body
        if isinstance(node, (ast.FunctionDef, ast.AnnAssign))
    }
    ours = getattr(hal, name)
    public = {n for n in [*vars(ours), *ours.__annotations__] if not n.startswith("_")}
    assert public - members == ({"health"} if name == "SensorProvider" else set())


@pytest.mark.parametrize("name", _MESSAGES)
def test_messages_have_the_fields_of_the_specification(name: str) -> None:
    ours = fields(getattr(hal, name))
    theirs = [node for node in _CLASSES[name].body if isinstance(node, ast.AnnAssign)]
    assert [f.name for f in ours] == [ast.unparse(node.target) for node in theirs]
    for field, node in zip(ours, theirs, strict=True):
        assert _same(str(field.type)) == _same(node.annotation), field.name
        if node.value is not None:
            assert field.default == ast.literal_eval(node.value)
        elif field.default is not MISSING:  # we may give a default where there is none
            assert field.default in (None, "rgb8")


@pytest.mark.parametrize("name", _ENUMS)
def test_enums_have_the_members_of_the_specification(name: str) -> None:
    ours = getattr(hal, name)
    expected = {
        ast.unparse(node.targets[0]): ast.literal_eval(node.value)
        for node in _CLASSES[name].body
        if isinstance(node, ast.Assign)
    }
    assert issubclass(ours, IntEnum)
    assert {member.name: member.value for member in ours} == expected


def test_clocks_and_specs_come_from_the_ground_floor() -> None:
    hints = typing.get_type_hints(hal.SimulationBackend.reset)
    assert hints["scenario"] is core.ScenarioSpec
    getter = inspect.getattr_static(hal.SimulationBackend, "clock").fget
    assert typing.get_type_hints(getter)["return"] is core.SimClock
    getter = inspect.getattr_static(hal.RuntimeBackend, "clock").fget
    assert typing.get_type_hints(getter)["return"] is core.SystemClock


def test_optional_protocols_of_an_autopilot() -> None:
    """Beside the specification: D16, and what a recorder asks for."""
    members = {
        name: {n for n in vars(getattr(hal, name)) if not n.startswith("_")}
        for name in ("Armable", "Reporting")
    }
    assert members == {"Armable": {"arm", "disarm", "armed"}, "Reporting": {"reports"}}
    armed = inspect.getattr_static(hal.Armable, "armed")
    assert isinstance(armed, property)
    assert typing.get_type_hints(armed.fget)["return"] is bool
    reports = typing.get_type_hints(hal.Reporting.reports)["return"]
    assert reports == list[tuple[str, hal.Message]]
