"""A minimal simulator and ground station for tests: the embedded world behind a TCP socket.

It shares no code with the double or with Ghost's own link: packets are pymavlink's.
"""

from __future__ import annotations

import math
import select
import socket
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, Self

import numpy as np
from pymavlink.dialects.v20 import common as mavlink

from ghost.backends.embedded import EmbeddedBackend
from ghost.config import load_vehicle
from ghost.core import GnssNoise, NoiseModel, ScenarioSpec, VehicleSpec, WorldSpec
from ghost.hal import MotorCommand

__all__ = ["FlownWorld", "STEP_US"]

STEP_US = 4000
# The field PX4's table gives for Zurich: declination 3.4 degrees, 0.48 gauss.
_FIELD_ENU_T = (1.28e-6, 2.13e-5, -4.30e-5)


def _vehicle() -> VehicleSpec:
    vehicle = load_vehicle("x500")
    quiet = GnssNoise(horizontal_sigma_m=0.01, vertical_sigma_m=0.02, wander_sigma_m=0.0)
    sensors = []
    for sensor in vehicle.sensors:
        if sensor.type == "gps":
            sensors.append(replace(sensor, rate_hz=5.0, noise=NoiseModel(gnss=quiet)))
        elif sensor.type in ("imu", "magnetometer", "barometer"):
            sensors.append(sensor)
    return replace(vehicle, sensors=tuple(sensors))


class FlownWorld:
    """A TCP server that an autopilot dials into, and the vehicle it flies.

    One `step` is: move the world by 4 ms, send HIL_SENSOR (and HIL_GPS), take the answer for the
    next step. So nothing is under way between two steps, and what a ground station sends there
    meets the same sample each time. Waiting for an answer ends after `deadline_s`: with a
    TimeoutError if `strict`, else one more is counted as `missing`.
    """

    def __init__(
        self, port: int, *, deadline_s: float = 5.0, seed: int = 0, strict: bool = True
    ) -> None:
        self.deadline_s = deadline_s
        self._late = False
        self.time_us = 0
        self.answers: list[Any] = []
        self.booted = False
        self.missing = 0
        self._strict = strict
        self._seed = seed
        self._listener = socket.create_server(("127.0.0.1", port))
        self._connection: socket.socket | None = None
        self._mav = mavlink.MAVLink(None, srcSystem=1, srcComponent=200)
        self._parser = mavlink.MAVLink(None)
        self._parser.robust_parsing = True
        self.received: list[Any] = []
        self.raw = bytearray()
        self._backend = EmbeddedBackend()
        scenario = ScenarioSpec(
            "double",
            _vehicle(),
            duration_ns=1,
            physics_step_ns=4_000_000,
            world=WorldSpec(magnetic_field_enu_t=_FIELD_ENU_T),
        )
        self._backend.reset(scenario, seed)
        self._sample: dict[str, Any] = {}
        self.frozen_baro = self.without_imu = False
        for name, provider in self._backend.sensors().items():
            provider.subscribe(partial(self._keep, name))

    def _keep(self, name: str, sample: Any) -> None:
        self._sample[name] = sample

    @property
    def position(self) -> tuple[float, float, float]:
        """True position, ENU, m, from where it stood at the start."""
        x, y, z = self._backend.ground_truth().pos_enu_m
        return float(x), float(y), float(z)

    @property
    def truth(self) -> Any:
        """Ground truth now."""
        return self._backend.ground_truth()

    def accept(self, limit_s: float = 10.0) -> None:
        """Wait for the autopilot to dial in; TimeoutError."""
        if self._connection is not None:
            self._connection.close()
        self._listener.settimeout(limit_s)
        self._connection, _ = self._listener.accept()
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def step(self) -> Any:
        """One step; returns its answer (None while the autopilot boots)."""
        self._backend.step(4_000_000)
        self.time_us += STEP_US
        self._send()
        answer = self._take()
        if answer is not None:
            self.answers.append(answer)
            thrust = np.clip(np.array(answer.controls[:4]), 0.0, 1.0)
            self._backend.actuators().send(MotorCommand(thrust), self.time_us * 1000)
        return answer

    def _take(self) -> Any:
        wait_s = self.deadline_s if self.booted else 0.002
        self._late = False
        while True:
            for message in self._receive(wait_s):
                if message.get_type() == "HIL_ACTUATOR_CONTROLS":
                    first, self.booted = not self.booted, True
                    if first and message.time_usec < self.time_us:
                        # The first one took longer than a booting step waits. Its successor is
                        # due too: one behind now would be one behind for ever.
                        wait_s = self.deadline_s
                        continue
                    return message
            if not self.booted or self._late:
                return None

    def _receive(self, wait_s: float) -> list[Any]:
        assert self._connection is not None
        if not select.select([self._connection], [], [], wait_s)[0]:
            if self.booted and self._strict:
                raise TimeoutError(f"no answer to the sample of {self.time_us} us")
            self._late = True
            self.missing += self.booted
            return []
        data = self._connection.recv(65536)
        if not data:
            raise ConnectionError("the autopilot hung up")
        self.raw += data
        messages = [
            message
            for message in self._parser.parse_buffer(data) or []
            if message.get_type() != "BAD_DATA"
        ]
        self.received += messages
        return messages

    def _send(self) -> None:
        assert self._connection is not None
        sample, self._sample = dict(self._sample), {}
        imu = sample["imu0"].payload
        fields = 0x3F
        field: tuple[float, ...] = (0.0, 0.0, 0.0)
        pressure = temperature = 0.0
        if "mag0" in sample:
            fields |= 0x1C0
            field = tuple(float(value) * 1e4 for value in sample["mag0"].payload.field_t)
        if "baro0" in sample:
            fields |= 0x1A00
            pressure = 955.97 if self.frozen_baro else sample["baro0"].payload.pressure_pa / 100.0
            temperature = 25.0
        if self.without_imu:
            fields = 0
        a, g = imu.accel_mps2, imu.gyro_rps
        message = self._mav.hil_sensor_encode(
            self.time_us, a[0], -a[1], -a[2], g[0], -g[1], -g[2], field[0], -field[1], -field[2],
            pressure, 0.0, 488.0, temperature, fields, 0,
        )  # fmt: skip
        data = bytes(message.pack(self._mav))
        if "gps0" in sample:
            data += self._gps(sample["gps0"].payload)
        self._connection.sendall(data)

    def _gps(self, fix: Any) -> bytes:
        vx, vy, vz = (float(v) for v in self._backend.ground_truth().vel_enu_mps)
        message = self._mav.hil_gps_encode(
            self.time_us, 3, round(fix.lat_deg * 1e7), round(fix.lon_deg * 1e7),
            round(fix.alt_m * 1e3), 30, 40, round(math.hypot(vx, vy) * 100), round(vy * 100),
            round(vx * 100), round(-vz * 100), 65535, 12,
        )  # fmt: skip
        return bytes(message.pack(self._mav))

    def send_raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        assert self._connection is not None
        self._connection.sendall(data)

    def close(self) -> None:
        """Hang up and give the engine back."""
        if self._connection is not None:
            self._connection.close()
        self._listener.close()
        self._backend.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
