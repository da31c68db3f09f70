"""Why PX4 will not arm or change its mode: collected from what it says by itself.

PX4 v1.17 says it twice. Each check that fails is an event (message EVENT) with the modes it matters
for, all of them after a summary event, whenever the results change (at most every two seconds) or
somebody asks (`MAV_CMD_RUN_PREARM_CHECKS`); then, for older ground stations, most of them again as
STATUSTEXT `Preflight Fail: …`. The requirements of a mode (a position, set-points for OFFBOARD)
come as events only, with a number for a name: those are named here. From
`HealthAndArmingChecks/Common.cpp`, `checks/*.cpp` and `events.h` of PX4 v1.17.
"""

from __future__ import annotations

from types import MappingProxyType

from ghost.px4.modes import nav_bit

__all__ = ["GENERAL_REFUSAL", "ReasonBook", "event_id"]

_ERROR_LEVEL = 3
"""`events::Log::Error`; lower numbers are worse."""
_ALL_MODES = 0xFFFFFFFF
_CAN_ARM = slice(17, 21)
"""Where the summary has the modes that may arm, after a byte and two sets of components."""
_SLACK_NS = 500_000_000
"""STATUSTEXTs of a report may leave PX4 a little before its summary event."""
_MOST = 32
_PREFIXES = ("Preflight Fail", "Arming denied", "Arming Denied")
GENERAL_REFUSAL = "Arming denied: Resolve system health failures first"
"""Says nothing where a check is named."""


def event_id(name: str) -> int:
    """PX4's number for the event `name`: FNV-1a (32 bits), the lower 24 of them, component 1."""
    value = 0x811C9DC5
    for byte in name.encode("ascii"):
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value & 0xFFFFFF | 1 << 24


_SUMMARY = event_id("commander_arming_check_summary")
_CHECKS = MappingProxyType(
    {
        event_id(name): text
        for name, text in (
            ("check_modes_angular_velocity", "Angular velocity not valid"),
            ("check_modes_attitude", "No valid attitude estimate"),
            ("check_modes_cannot_takeoff", "Mode not suitable for arming"),
            ("check_modes_global_pos", "Navigation error: No valid global position estimate"),
            ("check_modes_home_position", "Home position not set"),
            ("check_modes_local_alt", "Navigation error: No valid altitude estimate"),
            ("check_modes_local_pos", "Navigation error: No valid position estimate"),
            ("check_modes_manual_control", "No manual control input"),
            ("check_modes_mission", "No valid mission available"),
            ("check_modes_offboard_signal", "No offboard signal"),
            ("check_system_arm_auth_failed", "Arm authorization denied"),
            ("check_external_modes_unavailable", "Mode is not registered"),
            ("check_external_modes_unresponsive", "Mode is unresponsive"),
            ("check_battery_unhealthy", "Battery unhealthy"),
            ("check_wind_too_high", "Wind speed is above limit"),
        )
    }
)


class ReasonBook:
    """The newest report of PX4's arming checks, and its refusals."""

    __slots__ = ("_can_arm", "_events", "_optional", "_texts", "reports")

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}
        self._events: dict[int, int] = {}
        self._optional: dict[int, None] = {}
        self._can_arm = _ALL_MODES
        self.reports = 0
        """How many reports of the arming checks have begun."""

    def clear(self) -> None:
        """Forget all: PX4 has started anew."""
        self._texts.clear()
        self._events.clear()
        self._optional.clear()
        self._can_arm = _ALL_MODES

    def text(self, text: str, now_ns: int) -> None:
        """Take a STATUSTEXT; others than refusals are ignored."""
        if not text.startswith(_PREFIXES):
            return
        self._texts.pop(text, None)  # the newest goes last
        self._texts[text] = now_ns
        while len(self._texts) > _MOST:
            del self._texts[next(iter(self._texts))]

    def event(self, number: int, log_levels: int, arguments: bytes, now_ns: int) -> None:
        """Take an EVENT: its id, its levels (external in the low half) and its arguments."""
        if number == _SUMMARY:
            self.reports += 1
            self._events.clear()
            self._optional.clear()
            self._can_arm = int.from_bytes(arguments[_CAN_ARM], "little")
            kept = {t: at for t, at in self._texts.items() if now_ns - at <= _SLACK_NS}
            self._texts = kept
            return
        if number not in _CHECKS:
            return
        modes = int.from_bytes(arguments[:4], "little")
        if modes == _ALL_MODES and log_levels & 0xF > _ERROR_LEVEL:
            self._optional[number] = None
        else:
            self._events[number] = modes

    def current(self, mode: str) -> tuple[str, ...]:
        """What stands against arming in `mode`, or against changing into it; newest last."""
        bit = nav_bit(mode)
        named = [_CHECKS[number] for number, modes in self._events.items() if modes & bit]
        said = list(self._texts)
        if not named and not self._can_arm & bit and all(text == GENERAL_REFUSAL for text in said):
            # What PX4 calls a remark is all there is; it marks some requirements as remarks.
            named = [_CHECKS[number] for number in self._optional]
        if named and GENERAL_REFUSAL in said:
            said.remove(GENERAL_REFUSAL)
        return tuple(dict.fromkeys((*named, *said)))
