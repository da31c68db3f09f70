"""Altimeter (sensor spec §3.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ghost.hal.message import Message, check_reals

__all__ = ["AltimeterPayload"]


@dataclass(frozen=True, slots=True, eq=False)
class AltimeterPayload(Message):
    """Height above what `reference` says: mean sea level, the ground below, or the world origin."""

    altitude_m: float
    reference: Literal["AMSL", "AGL", "LOCAL"]
    variance_m2: float

    def __post_init__(self) -> None:
        check_reals(self, "altitude_m", "variance_m2")
        if self.reference not in ("AMSL", "AGL", "LOCAL"):
            raise ValueError(f"reference must be AMSL, AGL or LOCAL, got {self.reference!r}")
