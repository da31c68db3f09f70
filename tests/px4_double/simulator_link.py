"""The simulator link: dials TCP 4560 + instance, takes HIL_SENSOR, answers each one."""

from __future__ import annotations

import math
import socket
import struct
from collections.abc import Callable

from fastcrc.crc16 import mcrf4xx

from ghost.core import HostClock

from . import formats as f
from .autopilot import STOPPED, Autopilot
from .misbehaviour import HangUp, Misbehaviour, Restart
from .offboard_link import OffboardLink
from .options import Options
from .wire import Splitter, Wire

__all__ = ["SimulatorLink"]

_RETRY_S = 0.002
_SENSOR_ID = f.HIL_SENSOR.id_bytes
_SENSOR_FULL = f.HIL_SENSOR.body.size
_HEAD = 10
_ZEROS = bytes(_SENSOR_FULL)
_LIFE_S = struct.pack("@ll", 0, 500_000)


class SimulatorLink:
    """Runs the autopilot at the simulator's pace. `stopped` is asked twice a second at least."""

    def __init__(
        self,
        options: Options,
        offboard: OffboardLink,
        log: Callable[[str], None],
        stopped: Callable[[], bool],
    ) -> None:
        self._options = options
        self._offboard = offboard
        self._log = log
        self._stopped = stopped
        self._host = HostClock()

    def live(self, lives: int) -> bool:
        """One life: dial in, fly until stopped (False) or restarted (True)."""
        connection = self._dial()
        if connection is None:
            return False
        with connection:
            try:
                _Life(self._options, self._offboard, self._log, connection, lives).run(
                    self._stopped
                )
            except Restart:
                self._log("INFO  [px4] the double restarts")
                return True
            except HangUp:
                self._log("INFO  [px4] the double hangs up")
            except OSError as error:
                self._log(f"ERROR [simulator_mavlink] {error}")
        # As PX4 does: it does not dial again, and it does not end.
        self._rest(math.inf)
        return False

    def _rest(self, seconds: float) -> None:
        """Wait so long, or until stopped."""
        left_ns = seconds * 1e9
        while left_ns > 0.0 and not self._stopped():
            slice_ns = min(left_ns, 20e6)
            self._host.sleep_until_ns(self._host.now_ns() + round(slice_ns))
            left_ns -= slice_ns

    def _dial(self) -> socket.socket | None:
        port = 4560 + self._options.instance
        host, faults = self._options.simulator_host, self._options.faults
        self._log(
            "INFO  [simulator_mavlink] Waiting for simulator to accept connection on TCP port "
            f"{port}"
        )
        self._rest(faults.dial_after_s)
        while not self._stopped():
            connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if not faults.never_dial:
                try:
                    connection.connect((host, port))
                except OSError:
                    pass
                else:
                    self._log(f"INFO  [simulator_mavlink] Simulator connected on TCP port {port}.")
                    return connection
            connection.close()
            self._rest(_RETRY_S)
        return None


class _Life:
    """From the first sample to the last."""

    def __init__(
        self,
        options: Options,
        offboard: OffboardLink,
        log: Callable[[str], None],
        connection: socket.socket,
        lives: int,
    ) -> None:
        self._faults = faults = options.faults
        self._connection = connection
        self._offboard = offboard
        self._log = log
        self._wire = Wire(options.instance + 1)
        self._system = options.instance + 1
        self._answer_wire = Wire(self._system)
        self._splitter = Splitter()
        self._pilot = Autopilot(options, self._wire, offboard.send, log)
        self._misbehaviour = Misbehaviour(faults, lives=lives) if faults.any_answer else None
        self._spins = faults.spins
        self._steps = 0
        self._boot_us = -1
        self._booted = False
        self._telemetry_us = -1
        self._spoken = False

    def run(self, stopped: Callable[[], bool]) -> None:
        """Until stopped, or the other side hangs up (OSError)."""
        connection = self._connection
        connection.sendall(
            self._answer_wire.pack(f.COMMAND_LONG, 115.0, 5000.0, 0, 0, 0, 0, 0, 511, 0, 0, 0)
        )
        connection.sendall(self._answer_wire.pack(f.HEARTBEAT, 0, 0, 12, 0, 0, 3))
        # The kernel's own time-out: one system call a packet, where settimeout makes two.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _LIFE_S)
        receive = connection.recv
        spins = range(self._spins)
        take, sensor_body = self._take, f.HIL_SENSOR.body
        extra = f.HIL_SENSOR.extra
        splitter = self._splitter
        turns = 0
        while True:
            turns += 1
            if not turns & 63 and stopped():
                return
            data = None
            for _ in spins:
                try:
                    data = receive(65536, socket.MSG_DONTWAIT)
                    break
                except BlockingIOError:
                    continue
            if data is None:
                try:
                    data = receive(65536)
                except BlockingIOError:
                    if stopped():
                        return
                    continue
            if not data:
                raise ConnectionError("the simulator hung up")
            length = len(data) - 12
            # Nearly always one whole HIL_SENSOR.
            if (
                data[0] == 0xFD
                and data[7:10] == _SENSOR_ID
                and data[1] == length
                and data[2] == 0
                and length <= _SENSOR_FULL
                and not splitter.rest
                and mcrf4xx(data[1:-2] + extra) == data[-2] | data[-1] << 8
            ):
                payload = data[_HEAD:-2]
                if length != _SENSOR_FULL:
                    payload += _ZEROS[length:]
                take(sensor_body.unpack(payload))
                continue
            for packet in splitter.feed(data):
                if packet.form is f.HIL_SENSOR:
                    take(packet.values)
                elif packet.form is f.HIL_GPS:
                    values = packet.values
                    self._pilot.gps(values)
                    if self._telemetry_us >= 0 and self._spoken:
                        self._pilot.telemetry.status.gps(values)

    def _take(self, values: tuple[float, ...]) -> None:
        """One HIL_SENSOR."""
        if values[15]:
            return  # a second IMU: PX4's time does not move by it
        now = int(values[0])
        misbehaviour = self._misbehaviour
        if misbehaviour is not None:
            misbehaviour.before(now)
        if not self._booted:
            self._boot(now)
            if not self._booted:
                return
        pilot = self._pilot
        if not int(values[14]) & 0x38:
            pilot.est.now_us = now
            self._offboard.run(pilot, now)
            return  # without a gyroscope no controller runs, so no answer comes
        motors = pilot.sensor(values)
        if self._spoken:
            self._offboard.run(pilot, now)
            if pilot.commands.reboot:
                raise SystemExit(0)
        elif now >= self._telemetry_us:
            self._spoken = True
            pilot.telemetry.start(now)
        if pilot.mute_outputs:
            return
        armed = pilot.commander.armed
        if not armed:
            motors = STOPPED
        body = _CONTROLS.pack(now, 1, *motors, 129 if armed else 1)
        if misbehaviour is None:
            self._connection.sendall(self._answer_wire.frame(f.HIL_ACTUATOR_CONTROLS, body))
            return
        system = 99 if self._faults.wrong_sysid.open(now) else self._system
        self._answer_wire.system = self._wire.system = system
        answer = self._answer_wire.frame(f.HIL_ACTUATOR_CONTROLS, body)
        for data in misbehaviour.answers(now, answer):
            self._connection.sendall(data)
            if self._faults.torn.at_us >= 0:
                misbehaviour.pause()

    def _boot(self, now_us: int) -> None:
        """Boot ends after so many samples, or so much simulated time."""
        faults = self._faults
        self._steps += 1
        if self._boot_us < 0:
            self._boot_us = now_us
        if faults.boot_steps >= 0:
            self._booted = self._steps > faults.boot_steps
        else:
            self._booted = now_us - self._boot_us >= faults.boot_s * 1e6
        if self._booted:
            self._telemetry_us = self._boot_us + round(faults.telemetry_after_s * 1e6)
            self._log("INFO  [px4] Startup script returned successfully")


_CONTROLS = struct.Struct("<QQ4f48xB")
