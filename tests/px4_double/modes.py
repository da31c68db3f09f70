"""PX4's flight modes, as far as the double knows them."""

from __future__ import annotations

from enum import Enum

__all__ = ["Mode"]

_CUSTOM, _STABILIZE, _GUIDED_AUTO, _MANUAL_INPUT = 1, 16, 12, 64


class Mode(Enum):
    """Main and sub mode of MAVLink's custom mode, PX4's name, and bits of HEARTBEAT.base_mode."""

    MANUAL = (1, 0, "Manual", _CUSTOM | _MANUAL_INPUT)
    ALTCTL = (2, 0, "Altitude", _CUSTOM | _MANUAL_INPUT | _STABILIZE)
    POSCTL = (3, 0, "Position", _CUSTOM | _MANUAL_INPUT | _STABILIZE)
    STABILIZED = (7, 0, "Stabilized", _CUSTOM | _MANUAL_INPUT | _STABILIZE)
    ACRO = (5, 0, "Acro", _CUSTOM | _MANUAL_INPUT)
    OFFBOARD = (6, 0, "Offboard", _CUSTOM)
    TAKEOFF = (4, 2, "Takeoff", _CUSTOM | _STABILIZE | _GUIDED_AUTO)
    LOITER = (4, 3, "Hold", _CUSTOM | _STABILIZE | _GUIDED_AUTO)
    MISSION = (4, 4, "Mission", _CUSTOM | _STABILIZE | _GUIDED_AUTO)
    RTL = (4, 5, "Return", _CUSTOM | _STABILIZE | _GUIDED_AUTO)
    LAND = (4, 6, "Land", _CUSTOM | _STABILIZE | _GUIDED_AUTO)

    @property
    def custom(self) -> int:
        """HEARTBEAT.custom_mode."""
        main, sub, _, _ = self.value
        return main << 16 | sub << 24

    @property
    def label(self) -> str:
        """What PX4 calls it to people."""
        return self.value[2]

    @property
    def base(self) -> int:
        """HEARTBEAT.base_mode while disarmed."""
        return self.value[3]

    @property
    def by_hand(self) -> bool:
        """Whether it needs sticks."""
        return bool(self.base & _MANUAL_INPUT)

    @classmethod
    def of(cls, main: int, sub: int) -> Mode | None:
        """The mode of a custom mode; AUTO without a sub mode is a mission."""
        if main == 4 and sub == 0:
            return cls.MISSION
        for mode in cls:
            if mode.value[0] == main and (mode.value[1] == sub or main != 4):
                return mode
        return None
