"""Barometer (D13)."""

from __future__ import annotations

from dataclasses import dataclass

from ghost.hal.message import Message, check_reals

__all__ = ["BarometerPayload"]


@dataclass(frozen=True, slots=True, eq=False)
class BarometerPayload(Message):
    """Static air pressure."""

    pressure_pa: float
    temperature_c: float | None = None

    def __post_init__(self) -> None:
        check_reals(self, "pressure_pa")
        if self.temperature_c is not None:
            check_reals(self, "temperature_c")
