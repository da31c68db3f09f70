"""The streams of PX4's onboard link, at the rates of a recorded flight, in simulated time."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from struct import Struct
from typing import TYPE_CHECKING, Any

from . import formats as f
from .status import StatusMessages
from .wire import Wire

if TYPE_CHECKING:
    from .autopilot import Autopilot

__all__ = ["Telemetry"]

_NAN = math.nan
_SIX_FLOATS = Struct("<Iffffff")
_QUATERNION = Struct("<Ifffffff")
_ODOMETRY = Struct("<Qfff4fffffff")
_IMU = Struct("<Q13fHB")


def _odometry_tail() -> bytes:
    pose = [0.0] * 21
    pose[0] = pose[6] = 0.0267
    pose[11], pose[15], pose[18], pose[20] = 0.0408, 3.6e-4, 3.5e-4, 0.0286
    velocity = [0.0] * 21
    velocity[0] = velocity[6] = 0.0086
    velocity[11] = 0.0048
    return Struct("<21f21fBBBBb").pack(*pose, *velocity, 1, 1, 8, 8, 0)


class Telemetry:
    """A queue of streams by when they are due; each sends one packet a datagram.

    `send` gets every packet. A stream's interval may be changed; it keeps its average rate, as
    PX4's do, though the simulated time only comes in steps.
    """

    def __init__(self, pilot: Autopilot, wire: Wire, send: Callable[[bytes], None]) -> None:
        self._pilot = pilot
        self._est = pilot.est
        self._wire = wire
        self._send = send
        self._tail = _odometry_tail()
        status = StatusMessages(pilot, wire, send)
        self.status = status
        rows: list[tuple[f.Format, float, Callable[[int], None]]] = [
            (f.TIMESYNC, 10, status.timesync),
            (f.HIGHRES_IMU, 50, self._highres_imu),
            (f.LOCAL_POSITION_NED, 30, self._local_position),
            (f.ATTITUDE, 100, self._attitude),
            (f.ALTITUDE, 10, status.altitude),
            (f.ODOMETRY, 30, self._odometry),
            (f.ATTITUDE_QUATERNION, 50, self._attitude_quaternion),
            (f.ATTITUDE_TARGET, 10, self._attitude_target),
            (f.BATTERY_STATUS, 0.5, status.battery),
            (f.CURRENT_MODE, 0.5, status.current_mode),
            (f.ESTIMATOR_STATUS, 1, status.estimator),
            (f.EXTENDED_SYS_STATE, 5, status.extended_state),
            (f.GLOBAL_POSITION_INT, 50, self._global_position),
            (f.GPS_GLOBAL_ORIGIN, 1, status.origin),
            (f.HOME_POSITION, 0.5, status.home),
            (f.MISSION_CURRENT, 1, status.mission),
            (f.PING, 1, status.ping),
            (f.POSITION_TARGET_LOCAL_NED, 10, self._position_target),
            (f.SCALED_PRESSURE, 1, status.pressure),
            (f.SERVO_OUTPUT_RAW, 10, status.servos),
            (f.SYS_STATUS, 5, status.system),
            (f.SYSTEM_TIME, 1, status.time),
            (f.VFR_HUD, 10, status.hud),
            (f.VIBRATION, 0.5, status.vibration),
            (f.HEARTBEAT, 1, status.heartbeat),
        ]
        self._default = {row[0].msgid: round(1e6 / row[1]) for row in rows}
        self._default[f.GPS_RAW_INT.msgid] = -1
        self._senders = {row[0].msgid: row[2] for row in rows}
        self.intervals = dict(self._default)
        self._queue: list[tuple[int, int]] = []
        self._started = False

    def start(self, now_us: int) -> None:
        """Begin: the first of each stream one interval from now, as PX4 does."""
        for msgid, interval in self.intervals.items():
            if interval > 0:
                self._queue.append((now_us + interval, msgid))
        heapq.heapify(self._queue)
        self._started = True

    def run(self, now_us: int) -> None:
        """Send what is due."""
        queue = self._queue
        while queue and queue[0][0] <= now_us:
            due, msgid = queue[0]
            interval = self.intervals[msgid]
            if interval <= 0:
                heapq.heappop(queue)
                continue
            due += interval
            if due <= now_us:
                due = now_us + interval
            heapq.heapreplace(queue, (due, msgid))
            self._senders[msgid](now_us)

    def set_interval(self, msgid: int, interval_us: float, now_us: int) -> bool:
        """MAV_CMD_SET_MESSAGE_INTERVAL; False if there is no such stream, or for HEARTBEAT."""
        if msgid not in self._senders or msgid == f.HEARTBEAT.msgid:
            return False
        if interval_us < 0.0:
            chosen = -1
        elif interval_us == 0.0:
            chosen = self._default[msgid]
        else:
            chosen = max(1, round(interval_us))
        self.intervals[msgid] = chosen
        if self._started:
            self._queue = [entry for entry in self._queue if entry[1] != msgid]
            if chosen > 0:
                self._queue.append((now_us + chosen, msgid))
            heapq.heapify(self._queue)
        return True

    def once(self, msgid: int, now_us: int) -> bool:
        """Send one message now; False if the double has none of this kind."""
        if msgid == f.AUTOPILOT_VERSION.msgid:
            self.status.version(now_us)
        elif msgid in self._senders:
            self._senders[msgid](now_us)
        else:
            return False
        return True

    def _emit(self, form: f.Format, *values: Any) -> None:
        self._send(self._wire.pack(form, *values))

    def _attitude(self, now_us: int) -> None:
        r = self._est.rot
        p, q, s = self._est.rates
        pitch = -r[6]
        body = _SIX_FLOATS.pack(
            now_us // 1000,
            math.atan2(r[7], r[8]),
            math.asin(1.0 if pitch > 1.0 else -1.0 if pitch < -1.0 else pitch),
            math.atan2(r[3], r[0]),
            p,
            q,
            s,
        )
        self._send(self._wire.frame(f.ATTITUDE, body))

    def _attitude_quaternion(self, now_us: int) -> None:
        w, x, y, z = self._est.q
        if w < 0.0:
            w, x, y, z = -w, -x, -y, -z
        body = _QUATERNION.pack(now_us // 1000, w, x, y, z, *self._est.rates)
        self._send(self._wire.frame(f.ATTITUDE_QUATERNION, body))

    def _local_position(self, now_us: int) -> None:
        if self._est.origin is None:
            return
        body = _SIX_FLOATS.pack(now_us // 1000, *self._est.pos, *self._est.vel)
        self._send(self._wire.frame(f.LOCAL_POSITION_NED, body))

    def _odometry(self, now_us: int) -> None:
        est = self._est
        if est.origin is None:
            return
        w, x, y, z = est.q
        if w < 0.0:
            w, x, y, z = -w, -x, -y, -z
        body = _ODOMETRY.pack(now_us, *est.pos, w, x, y, z, *est.vel, *est.rates)
        self._send(self._wire.frame(f.ODOMETRY, body + self._tail))

    def _highres_imu(self, now_us: int) -> None:
        ax, ay, az, gx, gy, gz = self._pilot.imu
        mx, my, mz = self._pilot.mag
        body = _IMU.pack(
            now_us, ax, ay, az, gx, gy, gz, mx, my, mz,
            self._pilot.pressure_hpa, 0.0, self._est.baro_alt_m, 25.0, 0x5FF, 0,
        )  # fmt: skip
        self._send(self._wire.frame(f.HIGHRES_IMU, body))

    def _global_position(self, now_us: int) -> None:
        est = self._est
        if est.origin is None:
            return
        lat, lon = est.latitude_longitude()
        vn, ve, vd = est.vel
        heading = math.degrees(est.yaw) % 360.0
        self._emit(
            f.GLOBAL_POSITION_INT, now_us // 1000, lat, lon, round((est.origin[2] - est.pos[2]) *
            1e3), round((self._pilot.commander.navigator.home[2] - est.pos[2]) * 1e3), _short(vn *
            100.0), _short(ve * 100.0), _short(vd * 100.0), round(heading * 100.0) % 36000
        )  # fmt: skip

    def _attitude_target(self, now_us: int) -> None:
        control = self._pilot.control
        self._emit(
            f.ATTITUDE_TARGET, now_us // 1000, *control.attitude, *control.rates_sp,
            control.thrust, 0
        )  # fmt: skip

    def _position_target(self, now_us: int) -> None:
        aim = self._pilot.aim
        # PX4 masks what is not asked for in groups and leaves NaN where it has nothing.
        mask = 0
        for bit, values in ((0x07, aim.pos), (0x38, aim.vel)):
            if all(value != value for value in values):
                mask |= bit
        self._emit(
            f.POSITION_TARGET_LOCAL_NED, now_us // 1000, *aim.pos, *aim.vel, *aim.acc, aim.yaw,
            aim.yaw_rate, mask, 1
        )  # fmt: skip


def _short(value: float) -> int:
    return round(min(32767.0, max(-32768.0, value)))
