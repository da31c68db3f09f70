"""Events: what happened, when, how bad. They travel on the topic `/events`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum, StrEnum
from types import MappingProxyType
from typing import Any, TypeAlias

from ghost.core.ns import as_ns

__all__ = ["EVENTS_TOPIC", "Event", "EventSeverity", "EventType", "JsonValue"]

EVENTS_TOPIC = "/events"

JsonValue: TypeAlias = (
    "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
)


class EventSeverity(IntEnum):
    """How bad it is; comparable, so that a listener can ask for `>= WARN`."""

    DEBUG = 0
    INFO = 1
    WARN = 2
    ERROR = 3
    CRITICAL = 4


class EventType(StrEnum):
    """What kind of thing happened. The value is the name in lower case."""

    SCHEDULER_CALLBACK_FAILED = "scheduler_callback_failed"
    SUBSCRIBER_FAILED = "subscriber_failed"
    SENSOR_FAULT = "sensor_fault"
    SENSOR_RECOVERED = "sensor_recovered"
    SAFETY_VIOLATION = "safety_violation"
    COMMAND_REJECTED = "command_rejected"
    SCHEDULER_OVERRUN = "scheduler_overrun"
    BACKEND_LOST = "backend_lost"
    RECORDING_FAULT = "recording_fault"
    LOCKSTEP_FAULT = "lockstep_fault"
    CRASH = "crash"
    PLAN_TIMEOUT = "plan_timeout"
    RUN_STARTED = "run_started"
    RUN_FINISHED = "run_finished"
    REPLAY_ENDED = "replay_ended"
    AUTOPILOT = "autopilot"
    """What an autopilot said or did by itself."""


_NO_PAYLOAD: Mapping[str, JsonValue] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Event:
    """One event, immutable, compared by value.

    `stamp_sim_ns` is the time of the clock that was running (simulation time, or host monotonic
    time on hardware). `source` says who noticed it (`scheduler`, `bus`, `sensors/imu0`). `payload`
    takes what JSON takes; it is copied into read-only mappings and tuples.

    Raises `TypeError` if the type, severity, stamp or a payload value is of the wrong kind.
    """

    type: EventType
    stamp_sim_ns: int
    severity: EventSeverity
    source: str
    message: str = ""
    payload: Mapping[str, JsonValue] = field(default_factory=lambda: _NO_PAYLOAD, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.type, EventType):
            raise TypeError(f"type must be an EventType, got {self.type!r}")
        if not isinstance(self.severity, EventSeverity):
            raise TypeError(f"severity must be an EventSeverity, got {self.severity!r}")
        if not isinstance(self.payload, Mapping):
            raise TypeError(f"payload must be a mapping, got {type(self.payload).__name__}")
        object.__setattr__(self, "stamp_sim_ns", as_ns("stamp_sim_ns", self.stamp_sim_ns))
        object.__setattr__(self, "payload", _freeze(self.payload, "payload"))

    def as_dict(self) -> dict[str, Any]:
        """Return the event as new plain dicts, lists and scalars, ready for `json.dumps`."""
        return {
            "type": self.type.value,
            "stamp_sim_ns": self.stamp_sim_ns,
            "severity": self.severity.name,
            "source": self.source,
            "message": self.message,
            "payload": _thaw(self.payload),
        }

    def __reduce__(self) -> tuple[Any, ...]:
        # A mappingproxy cannot be pickled, so a copy is built from plain data.
        payload = _thaw(self.payload)
        parts = (self.type, self.stamp_sim_ns, self.severity, self.source, self.message, payload)
        return (Event, parts)


def _freeze(value: object, where: str) -> JsonValue:
    if value is None or type(value) in (bool, int, float, str):
        return value  # type: ignore[return-value]  # the set above is the JSON scalars
    if isinstance(value, Mapping):
        frozen: dict[str, JsonValue] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"{where}: keys must be str, got {key!r}")
            frozen[key] = _freeze(item, f"{where}.{key}")
        return MappingProxyType(frozen)
    if isinstance(value, (list, tuple)):
        return tuple(_freeze(item, f"{where}[{i}]") for i, item in enumerate(value))
    # Subclasses (enums, numpy floats) are reduced to the plain scalar that JSON would write.
    for scalar in (int, float, str):
        if isinstance(value, scalar):
            return scalar(value.value if isinstance(value, Enum) else value)
    raise TypeError(
        f"{where} must hold JSON values (None, bool, int, float, str, list, mapping), "
        f"got {type(value).__name__} {value!r}"
    )


def _thaw(value: JsonValue) -> Any:
    if isinstance(value, Mapping):
        return {key: _thaw(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_thaw(item) for item in value]
    return value
