"""PX4's flight modes: their names, and the numbers MAVLink carries them in.

After `px4_custom_mode.h` and `vehicle_status` of PX4 v1.17: HEARTBEAT.custom_mode holds the main
mode in its third byte and the sub mode in its fourth.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

__all__ = ["HOLD", "LAND", "OFFBOARD", "RETURN", "TAKEOFF", "FlightMode", "mode_name", "nav_bit"]


class FlightMode(NamedTuple):
    """One mode, as `MAV_CMD_DO_SET_MODE` asks for it."""

    name: str
    main: int
    sub: int
    nav_state: int
    """PX4's own number of it, the bit that its arming checks count modes with."""

    @property
    def custom_mode(self) -> int:
        """HEARTBEAT.custom_mode while the mode is on."""
        return self.main << 16 | self.sub << 24


HOLD = FlightMode("HOLD", 4, 3, 4)
LAND = FlightMode("LAND", 4, 6, 18)
OFFBOARD = FlightMode("OFFBOARD", 6, 0, 14)
RETURN = FlightMode("RETURN", 4, 5, 5)
TAKEOFF = FlightMode("TAKEOFF", 4, 2, 17)

_MODES = (
    FlightMode("MANUAL", 1, 0, 0),
    FlightMode("ALTITUDE", 2, 0, 1),
    FlightMode("POSITION", 3, 0, 2),
    FlightMode("ORBIT", 3, 1, 21),
    FlightMode("POSITION_SLOW", 3, 2, 6),
    FlightMode("READY", 4, 1, 4),
    TAKEOFF,
    HOLD,
    FlightMode("MISSION", 4, 4, 3),
    RETURN,
    LAND,
    FlightMode("FOLLOW", 4, 8, 19),
    FlightMode("PRECISION_LAND", 4, 9, 20),
    FlightMode("VTOL_TAKEOFF", 4, 10, 22),
    *(FlightMode(f"EXTERNAL{i + 1}", 4, 11 + i, 23 + i) for i in range(8)),
    FlightMode("ACRO", 5, 0, 10),
    OFFBOARD,
    FlightMode("STABILIZED", 7, 0, 15),
    FlightMode("TERMINATION", 10, 0, 13),
    FlightMode("ALTITUDE_CRUISE", 11, 0, 8),
)
_BY_NUMBER = MappingProxyType({mode.custom_mode: mode for mode in _MODES})
_BY_NAME = MappingProxyType({mode.name: mode for mode in _MODES})


def mode_name(custom_mode: int) -> str:
    """The name of the mode in HEARTBEAT.custom_mode; `MODE_<main>_<sub>` for one unknown here."""
    mode = _BY_NUMBER.get(custom_mode & 0xFFFF0000)
    if mode is not None:
        return mode.name
    return f"MODE_{custom_mode >> 16 & 0xFF}_{custom_mode >> 24 & 0xFF}"


def nav_bit(name: str) -> int:
    """The bit of a mode in the mode groups of PX4's arming checks; all bits for one unknown."""
    mode = _BY_NAME.get(name)
    return 0xFFFFFFFF if mode is None else 1 << mode.nav_state
