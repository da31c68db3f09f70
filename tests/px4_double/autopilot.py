"""The autopilot between its links: one HIL_SENSOR in, four motors out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from . import formats as f
from .commander import Commander
from .commands import Commands
from .control import Control, Target
from .estimator import Estimator
from .modes import Mode
from .options import Options
from .params import Params
from .setpoints import OffboardSetpoints
from .telemetry import Telemetry
from .wire import Packet, Wire

__all__ = ["Autopilot", "IDLE", "STOPPED"]

Motors = tuple[float, float, float, float]
STOPPED: Motors = (0.0, 0.0, 0.0, 0.0)
IDLE: Motors = (0.001, 0.001, 0.001, 0.001)
_RAMP_S = 1.5


class Autopilot:
    """One life of the autopilot: a restart makes a new one.

    `send` takes the packets of the offboard link, `log` lines for the console; `hover` is the
    output that carries the x500, where `MPC_THR_HOVER` is not set.
    """

    def __init__(
        self,
        options: Options,
        wire: Wire,
        send: Callable[[bytes], None],
        log: Callable[[str], None],
        *,
        hover: float = 0.59,
    ) -> None:
        faults = options.faults
        self.log = log
        self.params = Params(options.environ, options.instance, log, hover=hover)
        settle_us = round(faults.settle_s * 1e6)
        self.est = Estimator(math.radians(faults.declination_deg), settle_us)
        self.setpoints = OffboardSetpoints(self.say)
        self.commander = Commander(
            self.params, self.est, self.setpoints, self.say, faults.refuse_arming
        )
        self.control = Control(self.params["MPC_THR_HOVER"])
        self.version = faults.version
        self.imu = (0.0,) * 6
        self.mag = (0.0,) * 3
        self.pressure_hpa = 0.0
        self.motors = STOPPED
        self.aim = Target(yaw=0.0)
        self.said_ready = False
        self._faults = faults
        self._deaf = faults.offboard_lost
        self._texts: list[tuple[int, str]] = []
        self._dt = 0.004
        self._since_target = 0.0
        self._airborne = False
        self._ramp_us = 0
        self._baro_us = 0
        self._baro_stale = False
        self.telemetry = Telemetry(self, wire, send)
        self.commands = Commands(self, wire, send)

    def say(self, severity: int, text: str) -> None:
        """A STATUSTEXT, sent after the acknowledgement that belongs to it."""
        self._texts.append((severity, text))
        level = "WARN " if severity <= 4 else "INFO "
        self.log(f"{level} [commander] {text}")

    def flush_texts(self) -> None:
        """Send the texts that wait."""
        if self._texts:
            texts, self._texts = self._texts, []
            for severity, text in texts:
                self.telemetry.status.text(severity, text)

    def receive(self, packet: Packet) -> None:
        """One packet of the offboard link."""
        form = packet.form
        now = self.est.now_us
        flown = self.commander.mode is Mode.OFFBOARD
        if form is f.SET_POSITION_TARGET_LOCAL_NED:
            values = packet.values
            if self._mine(values[13], values[14]):
                self.setpoints.local(values, now, flown, self.est)
        elif form is f.SET_ATTITUDE_TARGET:
            values = packet.values
            if self._mine(values[9], values[10]):
                self.setpoints.attitude(values, now, flown)
        elif form is f.HEARTBEAT:
            if packet.values[1] == 6:
                self.commander.station_heard()
        else:
            self.commands.handle(packet)

    def _mine(self, system: int, component: int) -> bool:
        lost = self._deaf.open(self.est.now_us)
        return not lost and system in (0, self.params["MAV_SYS_ID"]) and component in (0, 1)

    @property
    def mute_outputs(self) -> bool:
        """OFFBOARD without one set-point: no controller runs, so no answer comes (measured)."""
        return self.commander.mode is Mode.OFFBOARD and not self.setpoints.ever

    def gps(self, values: tuple[Any, ...]) -> None:
        """HIL_GPS, as unpacked."""
        if values[11] >= 3:
            self.est.gps(
                values[1] * 1e-7,
                values[2] * 1e-7,
                values[3] * 1e-3,
                values[7] * 0.01,
                values[8] * 0.01,
                values[9] * 0.01,
            )

    def sensor(self, values: tuple[Any, ...]) -> Motors:
        """HIL_SENSOR of the first IMU, as unpacked; returns the motors."""
        est = self.est
        now, ax, ay, az, gx, gy, gz = values[:7]
        fields = values[14]
        dt = (now - est.now_us) * 1e-6
        self._dt = dt = dt if 0.0 < dt < 0.1 else 0.004
        self.imu = values[1:7]
        commander = self.commander
        armed = commander.armed
        lander = commander.lander
        est.at_rest = lander.landed and not armed
        est.imu(now, ax, ay, az, gx, gy, gz)
        if fields & 0x1C0:
            mx, my, mz = self.mag = values[7:10]
            est.mag(mx, my, mz)
        if fields & 0x200:
            self._pressure(now, values[10])
        landed = lander.landed
        if armed:
            self.motors = self._fly(now, landed)
            lander.update(now, est, self.control, True)
            if lander.landed and not landed:
                self._airborne = False
            commander.update(landed)
        else:
            self.motors = STOPPED
            self._airborne = False
            lander.update(now, est, self.control, False)
            commander.update(True)
        if self._texts:
            self.flush_texts()
        return self.motors if commander.armed else STOPPED

    def _pressure(self, now_us: int, pressure_hpa: float) -> None:
        if pressure_hpa != self.pressure_hpa:
            self._baro_us = now_us
            self._baro_stale = False
        elif now_us - self._baro_us > 500_000 and not self._baro_stale:
            self._baro_stale = True
            self.say(0, "BARO #0 failed:  STALE!\t")
        self.pressure_hpa = pressure_hpa
        if not self._baro_stale:
            self.est.baro(pressure_hpa)

    def _next_target(self) -> Target:
        target = self.commander.target(self._since_target)
        self._since_target = 0.0
        ramp = (self.est.now_us - self._ramp_us) * 1e-6 / _RAMP_S
        target.max_up = 3.0 if ramp >= 1.0 else 0.1 + 2.9 * ramp
        self.aim = target
        return target

    def _fly(self, now_us: int, landed: bool) -> Motors:
        commander, control = self.commander, self.control
        if now_us - commander.armed_us < self.params["COM_SPOOLUP_TIME"] * 1e6:
            return IDLE
        if landed:
            if not self._airborne:
                wanted = commander.target(0.0)
                if not commander.wants_up(wanted):
                    control.reset(self.est.yaw)
                    return IDLE
                self._airborne = True
                self._ramp_us = now_us
                self._since_target = 0.0
                control.reset(self.est.yaw)
        elif commander.lander.contact:
            control.thrust = 0.0
            return IDLE
        self._since_target += self._dt
        return control.run(self.est, self._next_target, self._dt)
