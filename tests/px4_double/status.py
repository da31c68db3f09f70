"""The slow messages: who it is, how it is, where home is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import formats as f
from .estimator import EARTH_RADIUS_M
from .modes import Mode
from .wire import Wire

if TYPE_CHECKING:
    from .autopilot import Autopilot

__all__ = ["StatusMessages"]

_NAN = math.nan
# SYS_STATUS as recorded: present, enabled; healthy but for the arming check.
_PRESENT, _ENABLED, _HEALTH = 0x0300C02F, 0x0301C02F, 0x0320C83F
_PREARM_CHECK = 0x10000000
_CAPABILITIES = 59647  # as PX4 v1.17 says
_MILLIVOLT = 16200
_EPOCH_US = 1_767_225_600_000_000  # the start of 2026


class StatusMessages:
    """One method per message; each takes the simulated time in microseconds."""

    def __init__(self, pilot: Autopilot, wire: Wire, send: Callable[[bytes], None]) -> None:
        self._pilot = pilot
        self._wire = wire
        self._send = send
        self._pings = 0
        self._texts = 0

    def _emit(self, form: f.Format, *values: Any) -> None:
        self._send(self._wire.pack(form, *values))

    def heartbeat(self, now_us: int) -> None:
        """HEARTBEAT: mode, armed, MAV_STATE."""
        del now_us
        commander = self._pilot.commander
        mode = commander.mode
        base = mode.base | (0x80 if commander.armed else 0)
        if mode is Mode.OFFBOARD and self._pilot.setpoints.ever:
            base |= 0x10
        self._emit(f.HEARTBEAT, mode.custom, 2, 12, base, commander.system_status, 3)

    def system(self, now_us: int) -> None:
        """SYS_STATUS: the pre-arm check's health bit says that it can be armed."""
        del now_us
        pilot = self._pilot
        commander = pilot.commander
        ready = commander.armed or commander.ready
        if ready and not pilot.said_ready:
            pilot.said_ready = True
            pilot.log("INFO  [commander] Ready for takeoff!")
        health = _HEALTH | (_PREARM_CHECK if ready else 0)
        self._emit(
            f.SYS_STATUS, _PRESENT, _ENABLED, health, 500, _MILLIVOLT, -1, 0, 0, 0, 0, 0, 0, 100,
            0, 0, 1
        )  # fmt: skip

    def extended_state(self, now_us: int) -> None:
        """EXTENDED_SYS_STATE: on the ground, taking off, landing, in the air."""
        del now_us
        commander = self._pilot.commander
        if commander.lander.landed:
            state = 1
        elif commander.mode is Mode.TAKEOFF:
            state = 3
        elif commander.navigator.landing and commander.mode in (Mode.LAND, Mode.RTL):
            state = 4
        else:
            state = 2
        self._emit(f.EXTENDED_SYS_STATE, 0, state)

    def current_mode(self, now_us: int) -> None:
        """CURRENT_MODE: what flies and what the user wants."""
        del now_us
        commander = self._pilot.commander
        self._emit(f.CURRENT_MODE, commander.mode.custom, commander.intended.custom, 0)

    def text(self, severity: int, words: str) -> None:
        """STATUSTEXT, in pieces of 50 characters."""
        data = words.encode()
        number = self._texts & 0xFFFF
        self._texts += 1
        for chunk in range(max(1, (len(data) + 49) // 50)):
            piece = data[chunk * 50 : chunk * 50 + 50]
            self._emit(f.STATUSTEXT, severity, piece, number, chunk)

    def version(self, now_us: int) -> None:
        """AUTOPILOT_VERSION."""
        del now_us
        numbers = [int(part) for part in self._pilot.version.split(".")]
        packed = numbers[0] << 24 | numbers[1] << 16 | numbers[2] << 8 | 0x40
        commit = bytes.fromhex("1723bd45d2000000")[::-1]
        self._emit(
            f.AUTOPILOT_VERSION, _CAPABILITIES, 0, packed, packed, 101854463, 1, 0, 0, commit,
            commit, bytes(8), bytes(18)
        )  # fmt: skip

    def home(self, now_us: int) -> None:
        """HOME_POSITION, once it is known."""
        del now_us
        pilot = self._pilot
        est = pilot.est
        if est.origin is None or not pilot.commander.home_us:
            return
        lat0, lon0, alt0 = est.origin
        x, y, z = pilot.commander.navigator.home
        lat = lat0 + math.degrees(x / EARTH_RADIUS_M)
        lon = lon0 + math.degrees(y / (EARTH_RADIUS_M * math.cos(math.radians(lat0))))
        self._emit(
            f.HOME_POSITION, round(lat * 1e7), round(lon * 1e7), round((alt0 - z) * 1e3), x, y, z,
            *est.q, 0.0, 0.0, 0.0, pilot.commander.home_us
        )  # fmt: skip

    def origin(self, now_us: int) -> None:
        """GPS_GLOBAL_ORIGIN of the local frame."""
        del now_us
        est = self._pilot.est
        if est.origin is not None:
            lat, lon, alt = est.origin
            self._emit(
                f.GPS_GLOBAL_ORIGIN,
                round(lat * 1e7),
                round(lon * 1e7),
                round(alt * 1e3),
                est.origin_us,
            )

    def gps(self, values: tuple[int, ...]) -> None:
        """GPS_RAW_INT, from HIL_GPS as it came."""
        time_us, lat, lon, alt, _, _, vel, _, _, _, _, fix, satellites = values[:13]
        self._emit(
            f.GPS_RAW_INT, time_us, lat, lon, alt, 0, 0, vel, 0, fix, satellites, alt, 299, 399,
            250, 0, 0
        )  # fmt: skip

    def altitude(self, now_us: int) -> None:
        """ALTITUDE."""
        est = self._pilot.est
        amsl = est.origin[2] if est.origin else 0.0
        up = -est.pos[2]
        relative = up + self._pilot.commander.navigator.home[2]
        self._emit(f.ALTITUDE, now_us, est.baro_alt_m, amsl + up, up, relative, _NAN, _NAN)

    def hud(self, now_us: int) -> None:
        """VFR_HUD."""
        del now_us
        est = self._pilot.est
        amsl = est.origin[2] if est.origin else 0.0
        self._emit(
            f.VFR_HUD, _NAN, math.hypot(est.vel[0], est.vel[1]), amsl - est.pos[2], -est.vel[2],
            round(math.degrees(est.yaw)) % 360, round(100 * self._pilot.control.thrust)
        )  # fmt: skip

    def estimator(self, now_us: int) -> None:
        """ESTIMATOR_STATUS."""
        flags = 0 if self._pilot.est.origin is None else 959
        self._emit(
            f.ESTIMATOR_STATUS, now_us, 0.01, 0.01, 0.01, 0.01, _NAN, _NAN, 0.25, 0.23, flags
        )  # fmt: skip

    def battery(self, now_us: int) -> None:
        """BATTERY_STATUS: full."""
        del now_us
        self._emit(
            f.BATTERY_STATUS, 0, -1, 32767, _MILLIVOLT, *([65535] * 9), -1, 0, 1, 1, 100, 0, 1, 0,
            0, 0, 0, 0, 0
        )  # fmt: skip

    def servos(self, now_us: int) -> None:
        """SERVO_OUTPUT_RAW: 900 is off, 1000 to 2000 are 0 to 1."""
        armed = self._pilot.commander.armed
        motors = self._pilot.motors
        raw = [round(1000 + 1000 * u) if armed else 900 for u in motors] + [900] * 4
        self._emit(f.SERVO_OUTPUT_RAW, now_us & 0xFFFFFFFF, *raw, 0, *([900] * 8))

    def pressure(self, now_us: int) -> None:
        """SCALED_PRESSURE."""
        self._emit(f.SCALED_PRESSURE, now_us // 1000, self._pilot.pressure_hpa, 0.0, 2500, 2500)

    def mission(self, now_us: int) -> None:
        """MISSION_CURRENT: there is none."""
        del now_us
        self._emit(f.MISSION_CURRENT, 0, 65535, 1, 2)

    def timesync(self, now_us: int) -> None:
        """TIMESYNC: a request."""
        self._emit(f.TIMESYNC, 0, now_us * 1000)

    def ping(self, now_us: int) -> None:
        """PING: a request."""
        self._emit(f.PING, now_us, self._pings, 0, 0)
        self._pings += 1

    def time(self, now_us: int) -> None:
        """SYSTEM_TIME: not the host's date as with PX4, so that two runs are the same."""
        self._emit(f.SYSTEM_TIME, _EPOCH_US + now_us, now_us // 1000)

    def vibration(self, now_us: int) -> None:
        """VIBRATION."""
        self._emit(f.VIBRATION, now_us, 0.0, 0.0014, 0.0155, 0, 0, 0)
