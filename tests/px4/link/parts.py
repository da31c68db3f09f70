"""Samples, answers, and a transport and a clock that are all in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from pymavlink.dialects.v20 import common

from ghost.hal import (
    BarometerPayload,
    GpsFix,
    GpsPayload,
    IMUPayload,
    MagnetometerPayload,
    SensorHealth,
    SensorMeta,
    SensorSample,
)

STEP_NS = 4_000_000
T = TypeVar("T")


def sample(
    payload: T,
    stamp_ns: int = 0,
    *,
    health: SensorHealth = SensorHealth.OK,
    extensions: Mapping[str, Any] | None = None,
) -> SensorSample[T]:
    meta = SensorMeta("sensor", extensions=extensions or {})
    return SensorSample("sensor", 0, stamp_ns, stamp_ns, 0, health, payload, meta)


def imu(x: float = 0.1, y: float = 0.2, z: float = 9.8) -> IMUPayload:
    return IMUPayload(np.array([x, y, z]), np.array([0.01, 0.02, 0.03]))


def mag() -> MagnetometerPayload:
    return MagnetometerPayload(np.array([21e-6, 1e-6, -43e-6]))


def baro(pressure_pa: float = 95_600.0) -> BarometerPayload:
    return BarometerPayload(pressure_pa, 25.0)


def gps(
    enu: tuple[float, float, float] = (0.0, 0.0, 0.0), fix: GpsFix = GpsFix.FIX_3D
) -> GpsPayload:
    return GpsPayload(47.397742, 8.545594, 488.0, np.array(enu), fix, 0.3, 0.4)


def answer(
    time_us: int,
    controls: tuple[float, ...] = (0.5, 0.5, 0.5, 0.5),
    *,
    armed: bool = True,
    lockstep: bool = True,
    system: int = 1,
) -> bytes:
    """`HIL_ACTUATOR_CONTROLS` as PX4 sends it, made by pymavlink."""
    sender = common.MAVLink(None, srcSystem=system, srcComponent=1)
    padded = [*controls, *[0.0] * (16 - len(controls))]
    message = common.MAVLink_hil_actuator_controls_message(
        time_us, padded, 129 if armed else 1, 1 if lockstep else 0
    )
    return bytes(message.pack(sender))


def decoded(data: bytes) -> list[Any]:
    """The messages in `data`, read by pymavlink."""
    messages = common.MAVLink(None).parse_buffer(bytearray(data))
    return list(messages or ())


class Clock:
    """The host's time, which passes only while somebody waits."""

    def __init__(self) -> None:
        self.time_ns = 0

    def now_ns(self) -> int:
        return self.time_ns

    def sleep_until_ns(self, at_ns: int) -> None:
        self.time_ns = max(self.time_ns, at_ns)


class Wire:
    """A `Transport` in memory; what the other side says is queued before it is asked for."""

    name = "a wire"

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.connected = True
        self.connections = 1
        self.refused = 0
        self.unsent = 0
        self.sent: list[bytes] = []
        self.queue: deque[bytes | Callable[[], None]] = deque()
        self.stuck = False
        self.lost_at_send = False

    def open(self) -> None:
        self.sent.clear()

    def send(self, data: bytes) -> None:
        if self.lost_at_send:
            self.hang_up()
        elif self.stuck:
            self.unsent += 1
        elif self.connected:
            self.sent.append(data)

    def receive(self, timeout_s: float) -> bytes | None:
        while self.queue:
            item = self.queue.popleft()
            if isinstance(item, bytes):
                return item
            item()
            return None
        self.clock.time_ns += round(timeout_s * 1e9)
        return None

    def close(self) -> None:
        self.connected = False

    def hang_up(self) -> None:
        self.connected = False

    def dial_in(self) -> None:
        self.connected = True
        self.connections += 1
