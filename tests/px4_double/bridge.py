"""gz_bridge: sensors and motors over gz-transport, as PX4's own bridge does it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ghost.gz.msgs import IMU, Actuators, FluidPressure, Magnetometer, NavSat, gz_type
from ghost.gz.transport import Incoming, Node, Publisher, TransportOptions, open_node

from .autopilot import STOPPED, Autopilot
from .misbehaviour import HangUp, Misbehaviour, Restart
from .offboard_link import OffboardLink
from .options import Options
from .wire import Wire

__all__ = ["BridgeLink"]

_WAKE_S = 0.2
_FIRST_MOTORS_US = 3_600_000
_MIN_RAD_S, _MAX_RAD_S = 150.0, 1000.0  # SIM_GZ_EC_MINn and -MAXn of airframe 4001
_HOVER = 0.73
"""Output at which the x500 hovers: speed goes with it, thrust with the square of the speed."""
_IMU_BITS, _MAG_BITS, _BARO_BITS = 0x3F, 0x1C0, 0x1A00


class BridgeLink:
    """Runs the autopilot at the pace of the world's IMU. `stopped` is asked five times a second."""

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
        environ = options.environ
        self._world = environ.get("PX4_GZ_WORLD") or "default"
        kind = environ.get("PX4_SIM_MODEL", "gz_x500").removeprefix("gz_")
        self._model = environ.get("PX4_GZ_MODEL_NAME") or f"{kind}_{options.instance}"

    def live(self, lives: int) -> bool:
        """One life: until stopped (False) or restarted (True)."""
        log, world, model = self._log, self._world, self._model
        log("INFO  [init] Standalone PX4 launch, waiting for Gazebo")
        node = open_node(TransportOptions.from_environ(self._options.environ))
        try:
            motors = node.advertise(f"/{model}/command/motor_speed", gz_type(Actuators))
            sensors = f"/world/{world}/model/{model}/link/base_link/sensor"
            topics = {
                f"{sensors}/imu_sensor/imu": _Life.imu,
                f"{sensors}/magnetometer_sensor/magnetometer": _Life.mag,
                f"{sensors}/air_pressure_sensor/air_pressure": _Life.baro,
                f"{sensors}/navsat_sensor/navsat": _Life.navsat,
            }
            subscriptions = [node.subscribe(topic) for topic in topics]
            log(f"INFO  [gz_bridge] world: {world}, model: {model}")
            life = _Life(self._options, self._offboard, log, motors, lives)
            try:
                self._run(node, life, topics)
            except Restart:
                log("INFO  [px4] the double restarts")
                return True
            except HangUp:
                log("INFO  [px4] the double hangs up")
                for subscription in subscriptions:
                    subscription.unsubscribe()
        finally:
            node.close()
        return False

    def _run(
        self, node: Node, life: _Life, topics: Mapping[str, Callable[[_Life, Incoming], None]]
    ) -> None:
        turns = 0
        while True:
            turns += 1
            incoming = node.receive(_WAKE_S)
            if (incoming is None or not turns & 63) and self._stopped():
                return
            if incoming is not None:
                topics[incoming.topic](life, incoming)


class _Life:
    """From the first IMU sample to the last."""

    def __init__(
        self,
        options: Options,
        offboard: OffboardLink,
        log: Callable[[str], None],
        motors: Publisher,
        lives: int,
    ) -> None:
        self._faults = faults = options.faults
        self._offboard = offboard
        self._publisher = motors
        self._system = options.instance + 1
        self._wire = Wire(self._system)
        self._pilot = Autopilot(options, self._wire, offboard.send, log, hover=_HOVER)
        self._misbehaviour = Misbehaviour(faults, lives=lives) if faults.any_answer else None
        self._mag: tuple[float, ...] = (0.0, 0.0, 0.0)
        self._hpa = 0.0
        self._fields = 0
        self._start_us = -1
        self._spoken = False

    def mag(self, incoming: Incoming) -> None:
        """Gauss; left-handed in the world's frame, turned as PX4's bridge turns it."""
        field = Magnetometer.FromString(incoming.data).field_tesla
        self._mag = (-field.y, -field.x, field.z)
        self._fields |= _MAG_BITS

    def baro(self, incoming: Incoming) -> None:
        """Pascal."""
        self._hpa = FluidPressure.FromString(incoming.data).pressure * 0.01
        self._fields |= _BARO_BITS

    def navsat(self, incoming: Incoming) -> None:
        """A fix with its velocity."""
        fix = NavSat.FromString(incoming.data)
        now = self._pilot.est.now_us
        north, east = fix.velocity_north, fix.velocity_east
        values = (
            now, round(fix.latitude_deg * 1e7), round(fix.longitude_deg * 1e7),
            round(fix.altitude * 1e3), 90, 178, round(100.0 * math.hypot(north, east)),
            round(100.0 * north), round(100.0 * east), round(-100.0 * fix.velocity_up), 0, 3, 10,
        )  # fmt: skip
        self._pilot.gps(values)
        if self._spoken:
            self._pilot.telemetry.status.gps(values)

    def imu(self, incoming: Incoming) -> None:
        """The clock: one sample, and after boot one message for the motors."""
        message = IMU.FromString(incoming.data)
        stamp = message.header.stamp
        now = stamp.sec * 1_000_000 + stamp.nsec // 1000
        misbehaviour, faults = self._misbehaviour, self._faults
        if misbehaviour is not None:
            misbehaviour.before(now)
        if self._start_us < 0:
            self._start_us = now
        a, g = message.linear_acceleration, message.angular_velocity
        fields, self._fields = self._fields | _IMU_BITS, 0
        pilot = self._pilot
        motors = pilot.sensor(
            (
                now,
                a.x,
                -a.y,
                -a.z,
                g.x,
                -g.y,
                -g.z,
                *self._mag,
                self._hpa,
                0.0,
                0.0,
                25.0,
                fields,
                0,
            )
        )
        if now - self._start_us < _FIRST_MOTORS_US:
            return
        if not self._spoken:
            self._spoken = True
            pilot.telemetry.start(now)
        else:
            self._offboard.run(pilot, now)
            if pilot.commands.reboot:
                raise SystemExit(0)
        if pilot.mute_outputs:
            return
        self._wire.system = 99 if faults.wrong_sysid.open(now) else self._system
        speeds = _speeds(motors, pilot.commander.armed)
        data = Actuators(velocity=speeds).SerializeToString()
        if misbehaviour is None:
            self._publisher.publish(data)
            return
        for piece in misbehaviour.answers(now, data):
            self._publisher.publish(piece)


def _speeds(motors: tuple[float, ...], armed: bool) -> list[float]:
    """Rad/s, whole numbers as PX4 sends them; zero while disarmed."""
    if not armed:
        return list(STOPPED)
    span = _MAX_RAD_S - _MIN_RAD_S
    return [float(round(_MIN_RAD_S + span * min(1.0, u))) for u in motors]
