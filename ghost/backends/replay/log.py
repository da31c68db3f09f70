"""What a recording says about its run: scenario, seed, sensors, limits, times."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from ghost.config import spec_from_dict
from ghost.core import ConfigError, Event, EventType, ScenarioSpec
from ghost.hal import (
    HAL_PROTOCOL_VERSION,
    PAYLOAD_TYPES,
    ActuatorLevel,
    ActuatorSpec,
    Capabilities,
    GroundTruth,
    SensorSample,
    SensorSpec,
)
from ghost.recording import LogInfo, LogReader, RecordingError, TopicInfo

__all__ = ["RecordedRun", "chosen_topics", "open_log", "read_run"]

T = TypeVar("T")
_STEP_NS = 1_000_000
"""The step of a file that does not say one."""
_QUEUE = 1000
_NO_LIMITS = ActuatorSpec((), 0, 0.0, (0.0, 0.0, 0.0))
_LOOK_NS = 100_000_000
"""How far the first look back for a sensor's samples goes."""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A recording's account of itself. What the file does not say is None, 0 or empty."""

    path: str
    backend: str
    """The world that was recorded."""
    scenario: ScenarioSpec | None
    seed: int | None
    step_ns: int
    start_ns: int
    """When the recorded clock began."""
    end_ns: int
    """The last stamp."""
    sensors: tuple[tuple[SensorSpec, int], ...]
    """Each with the length of its poll queue, by id."""
    capabilities: Capabilities
    """Of the recorded world."""
    actuators: ActuatorSpec
    initial_truth: GroundTruth | None
    """The state before the first step."""
    digest: str | None
    """What the run printed; None for an unfinished file."""
    result: Mapping[str, Any]
    topics: tuple[TopicInfo, ...]
    """Those whose messages are played."""
    finished: bool
    notes: tuple[str, ...]

    @property
    def is_piloted(self) -> bool:
        """Whether an autopilot flew, so that the plan went by its estimate."""
        return self.scenario is not None and self.scenario.autopilot is not None


def open_log(path: str) -> LogReader:
    """Open a recording. Raises `ConfigError` for a file that is none, or cannot be read."""
    try:
        return LogReader(path)
    except RecordingError as error:
        raise ConfigError(str(error).removeprefix(f"{path}: "), file=path) from error


def read_run(reader: LogReader) -> RecordedRun:
    """Return what the recording says about its run, and where it says nothing what can be seen.

    The clock begins where the run did, which is after 0 if an autopilot had to get ready first. A
    file of another tool has no scenario: its sensors are found by their messages, and its clock
    begins at the last step before the first one. Raises `ConfigError` for a file without messages
    that can be played.
    """
    info = reader.info()
    notes: list[str] = []
    header = info.header
    scenario = _part(header, "scenario", notes, spec_from_dict, reader.path)
    seed = header.get("seed")
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**64:
        seed = None if scenario is None else scenario.seed
    playable = tuple(t for t in info.topics if t.role in ("record", "foreign") and t.count)
    if not playable or info.first_ns is None or info.last_ns is None:
        raise ConfigError("the recording holds no messages that can be played", file=reader.path)
    first_ns = min(t.first_ns for t in playable if t.first_ns is not None)
    last_ns = max(t.last_ns for t in playable if t.last_ns is not None)
    step_ns = _STEP_NS if scenario is None else scenario.step_ns
    start_ns = _start(reader, playable, scenario, first_ns, step_ns)
    sensors = _sensors(reader, playable, scenario)
    has_truth = any(t.schema.rpartition(".")[2] in ("GroundTruth", "PoseInFrame") for t in playable)
    declared = _part(header, "capabilities", notes, _capabilities, reader.path)
    if declared is None:
        declared = _seen_capabilities(sensors, has_truth)
    return RecordedRun(
        path=reader.path,
        backend=str(header.get("backend", "")),
        scenario=scenario,
        seed=seed,
        step_ns=step_ns,
        start_ns=start_ns,
        end_ns=last_ns,
        sensors=_declared_only(sensors, declared),
        capabilities=declared,
        actuators=_part(header, "actuators", notes, _actuators, reader.path) or _NO_LIMITS,
        initial_truth=_part(header, "initial_truth", notes, _truth, reader.path),
        digest=_digest(info),
        result=info.result,
        topics=playable,
        finished=info.finished,
        notes=(*info.notes, *notes),
    )


def _start(
    reader: LogReader,
    topics: Iterable[TopicInfo],
    scenario: ScenarioSpec | None,
    first_ns: int,
    step_ns: int,
) -> int:
    if scenario is not None:
        names = [topic.topic for topic in topics if topic.schema.endswith(".Event")]
        if names:
            for item in reader.messages(names, None, first_ns + _LOOK_NS):
                event = item.message
                if isinstance(event, Event) and event.type is EventType.RUN_STARTED:
                    return max(0, event.stamp_sim_ns)
        if scenario.autopilot is None:
            return 0
    return max(0, (first_ns - 1) // step_ns * step_ns)


def chosen_topics(run: RecordedRun, patterns: Iterable[str]) -> tuple[str, ...] | None:
    """Return the recorded topics that match one of the patterns (shell style); None for no filter.

    Raises `ConfigError` naming a pattern that matches nothing.
    """
    wanted = list(patterns)
    if not wanted:
        return None
    names = list(dict.fromkeys(topic.topic for topic in run.topics))
    chosen: dict[str, None] = {}
    for pattern in wanted:
        found = [name for name in names if fnmatchcase(name, pattern)]
        if not found:
            known = ", ".join(names)
            raise ConfigError(
                f"no recorded topic matches {pattern!r}; there are: {known}", file=run.path
            )
        chosen.update(dict.fromkeys(found))
    return tuple(chosen)


def _part(
    header: Mapping[str, Any],
    key: str,
    notes: list[str],
    read: Callable[[Any], T],
    path: str,
) -> T | None:
    """Read one entry of the metadata; a note, and None, if it makes no sense."""
    value = header.get(key)
    if value is None:
        return None
    try:
        return read(value)
    except (ConfigError, TypeError, ValueError, KeyError, AttributeError) as error:
        text = " ".join(str(error).split())
        notes.append(f"{path}: the recorded {key} cannot be used: {text or type(error).__name__}")
        return None


def _capabilities(value: Mapping[str, Any]) -> Capabilities:
    names = [field.name for field in fields(Capabilities)]
    given = {name: value[name] for name in names if name in value}
    levels = [ActuatorLevel(level) for level in given["actuator_levels"]]
    return Capabilities(**{**given, "actuator_levels": tuple(levels)})


def _actuators(value: Mapping[str, Any]) -> ActuatorSpec:
    return ActuatorSpec(
        levels=tuple(ActuatorLevel(level) for level in value["levels"]),
        motor_count=value["motor_count"],
        max_velocity_mps=value["max_velocity_mps"],
        max_rate_rps=tuple(value["max_rate_rps"]),
        max_position_m=value["max_position_m"],
    )


def _truth(value: Mapping[str, Any]) -> GroundTruth:
    arrays = {
        field.name: np.array(value[field.name], np.float64)
        for field in fields(GroundTruth)
        if field.name != "stamp_sim_ns"
    }
    return GroundTruth(value["stamp_sim_ns"], **arrays)


def _digest(info: LogInfo) -> str | None:
    digest = info.result.get("digest")
    return digest if isinstance(digest, str) else None


def _sensors(
    reader: LogReader, topics: Iterable[TopicInfo], scenario: ScenarioSpec | None
) -> tuple[tuple[SensorSpec, int], ...]:
    if scenario is not None:
        return tuple(
            (
                SensorSpec(
                    sensor_id=config.id,
                    payload_type=config.type,
                    nominal_rate_hz=config.rate_hz,
                    frame_id=config.frame,
                    noise_model=config.noise,
                    latency_ns=config.latency_ns,
                ),
                config.queue_size,
            )
            for config in sorted(scenario.vehicle.sensors, key=lambda config: config.id)
        )
    found: dict[str, tuple[SensorSpec, int]] = {}
    for topic in topics:
        sample = _first_sample(reader, topic)
        if sample is None:
            continue
        name = _payload_name(sample)
        span_ns = (topic.last_ns or 0) - (topic.first_ns or 0)
        rate = (topic.count - 1) * 1e9 / span_ns if span_ns > 0 and topic.count > 1 else 1.0
        spec = SensorSpec(sample.sensor_id, name, rate, sample.meta.frame_id)
        found.setdefault(sample.sensor_id, (spec, _QUEUE))
    return tuple(found[name] for name in sorted(found))


def _first_sample(reader: LogReader, topic: TopicInfo) -> SensorSample[Any] | None:
    if topic.first_ns is None:
        return None
    # Most topics answer with their first message, so the second look, at all of them, is rare.
    for end_ns in (topic.first_ns + _LOOK_NS, None):
        for _, _, _, message in reader.messages([topic.topic], topic.first_ns, end_ns):
            return message if isinstance(message, SensorSample) else None
    return None


def _payload_name(sample: SensorSample[Any]) -> str:
    for name, cls in PAYLOAD_TYPES.items():
        if type(sample.payload) is cls:
            return name
    return type(sample.payload).__name__


def _seen_capabilities(
    sensors: tuple[tuple[SensorSpec, int], ...], has_truth: bool
) -> Capabilities:
    return Capabilities(
        hal_version=HAL_PROTOCOL_VERSION,
        sensor_ids=tuple(spec.sensor_id for spec, _ in sensors),
        actuator_levels=(),
        has_ground_truth=has_truth,
        synchronous_step=True,
        deterministic=False,
        supports_replay=False,
        extensions=MappingProxyType({}),
    )


def _declared_only(
    sensors: tuple[tuple[SensorSpec, int], ...], declared: Capabilities
) -> tuple[tuple[SensorSpec, int], ...]:
    """Leave out what the vehicle has and the recorded world had not."""
    return tuple(entry for entry in sensors if entry[0].sensor_id in declared.sensor_ids)


def last_truth_before(
    reader: LogReader, topics: Iterable[str], now_ns: int, floor_ns: int
) -> GroundTruth | None:
    """Return the latest recorded truth at or before a time, looking back further and further."""
    wanted = list(topics)
    if not wanted:
        return None
    reach_ns = _LOOK_NS
    while True:
        start_ns = max(floor_ns, now_ns - reach_ns)
        found = None
        for _, _, _, message in reader.messages(wanted, start_ns, now_ns + 1):
            if isinstance(message, GroundTruth):
                found = message
        if found is not None or start_ns <= floor_ns:
            return found
        reach_ns = math.ceil(reach_ns * 8)
