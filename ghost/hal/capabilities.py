"""What a backend can do, asked before use (HAL spec §2, §6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ghost.hal.actuator import ActuatorLevel
from ghost.hal.message import (
    Message,
    check_class,
    check_flags,
    check_ints,
    empty_mapping,
    freeze_mapping,
)
from ghost.hal.sensor import SensorId

__all__ = ["HAL_PROTOCOL_VERSION", "Capabilities"]

HAL_PROTOCOL_VERSION: int = 1
"""Raised when a change breaks the contract (HAL spec §9)."""


@dataclass(frozen=True, slots=True, eq=False)
class Capabilities(Message):
    """Declared before the first step and true for the whole run."""

    hal_version: int
    sensor_ids: tuple[SensorId, ...]
    actuator_levels: tuple[ActuatorLevel, ...]
    has_ground_truth: bool
    synchronous_step: bool
    deterministic: bool
    supports_replay: bool
    extensions: Mapping[str, Any] = field(default_factory=empty_mapping)
    """Backend-specific, string to opaque; a consumer ignores what it does not know."""

    def __post_init__(self) -> None:
        check_ints(self, "hal_version", minimum=1)
        check_flags(
            self, "has_ground_truth", "synchronous_step", "deterministic", "supports_replay"
        )
        object.__setattr__(self, "sensor_ids", tuple(self.sensor_ids))
        object.__setattr__(self, "actuator_levels", tuple(self.actuator_levels))
        for sensor_id in self.sensor_ids:
            check_class("sensor_ids", sensor_id, str)
            if self.sensor_ids.count(sensor_id) > 1:
                raise ValueError(f"sensor_ids names {sensor_id!r} more than once")
        for level in self.actuator_levels:
            check_class("actuator_levels", level, ActuatorLevel)
        object.__setattr__(self, "extensions", freeze_mapping("extensions", self.extensions))
