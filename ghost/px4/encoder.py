"""`HilEncoder`: the readings of one step as the packets that PX4 gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ghost.hal import (
    BarometerPayload,
    GpsPayload,
    IMUPayload,
    MagnetometerPayload,
    SensorHealth,
    SensorSample,
)
from ghost.hal.frames import ns_to_us
from ghost.px4.codec import Framer, MessageId
from ghost.px4.hil import GlobalAnchor, hil_distance, hil_flow, hil_gps, hil_sensor, hil_state
from ghost.px4.link import Readings

__all__ = ["HilEncoder"]

_SYSTEM, _COMPONENT = 1, 200
"""Whom our packets are from: PX4's own system, and a component that it has none of."""
_FAULTY = SensorHealth.FAULTY
_T = TypeVar("_T")


class HilEncoder:
    """Keeps what lasts from step to step: sequence numbers, the fix before, the rate of truth.

    `unfit` counts readings left out because a message cannot hold them.
    """

    __slots__ = ("_anchor", "_framer", "_next_truth_ns", "_truth_period_ns", "unfit")

    def __init__(self, truth_rate_hz: float = 0.0) -> None:
        self._framer = Framer(_SYSTEM, _COMPONENT)
        self._anchor = GlobalAnchor()
        self._truth_period_ns = round(1e9 / truth_rate_hz) if truth_rate_hz > 0.0 else 0
        self._next_truth_ns = 0
        self.unfit = 0

    def encode(self, now_ns: int, readings: Readings) -> tuple[bytes, bool]:
        """All packets of one step, and whether PX4 will answer them: it answers an IMU sample."""
        time_us = ns_to_us(now_ns)
        # What PX4 stamps by its own clock goes first, so that it is there when the clock moves.
        data = b""
        if (
            readings.gps is not None
            or readings.flow is not None
            or readings.range_m is not None
            or readings.truth is not None
        ):
            data = self._seldom(now_ns, time_us, readings)
        imu, mag, baro = _sound(readings.imu), _sound(readings.mag), _sound(readings.baro)
        try:
            payload = hil_sensor(time_us, imu, mag, baro)
        except (ValueError, OverflowError):
            imu, payload = self._without_unfit(time_us, imu, mag, baro)
        packet = self._framer.frame(MessageId.HIL_SENSOR, payload)
        data = data + packet if data else packet
        if readings.imu1 is not None:
            data += self._further_imu(time_us, readings.imu1, 1)
        if readings.imu2 is not None:
            data += self._further_imu(time_us, readings.imu2, 2)
        return data, imu is not None

    def _further_imu(self, time_us: int, sample: SensorSample[IMUPayload], number: int) -> bytes:
        imu = _sound(sample)
        if imu is None:
            return b""
        return self._fitting(MessageId.HIL_SENSOR, lambda: hil_sensor(time_us, imu, number=number))

    def _without_unfit(
        self,
        time_us: int,
        imu: IMUPayload | None,
        mag: MagnetometerPayload | None,
        baro: BarometerPayload | None,
    ) -> tuple[IMUPayload | None, bytes]:
        """HIL_SENSOR without the readings that it cannot hold: PX4's time must go on."""
        if not self._holds(lambda: hil_sensor(time_us, imu)):
            imu = None
        if not self._holds(lambda: hil_sensor(time_us, None, mag)):
            mag = None
        if not self._holds(lambda: hil_sensor(time_us, None, None, baro)):
            baro = None
        return imu, hil_sensor(time_us, imu, mag, baro)

    def _seldom(self, now_ns: int, time_us: int, readings: Readings) -> bytes:
        """What comes a few times a second."""
        data = b""
        gps = readings.gps
        if gps is not None and gps.health is not _FAULTY:
            data += self._fitting(MessageId.HIL_GPS, lambda: self._gps(time_us, gps))
        flow = _sound(readings.flow)
        if flow is not None:
            data += self._fitting(MessageId.HIL_OPTICAL_FLOW, lambda: hil_flow(time_us, flow))
        height = _sound(readings.range_m)
        if height is not None and height.reference == "AGL":
            data += self._fitting(MessageId.DISTANCE_SENSOR, lambda: hil_distance(time_us, height))
        truth = readings.truth
        if truth is not None and self._truth_period_ns and now_ns >= self._next_truth_ns:
            place = self._anchor.place(truth.pos_enu_m.tolist())
            if place is not None:
                self._next_truth_ns = (now_ns // self._truth_period_ns + 1) * self._truth_period_ns
                data += self._fitting(
                    MessageId.HIL_STATE_QUATERNION, lambda: hil_state(time_us, truth, place)
                )
        return data

    def _gps(self, time_us: int, gps: SensorSample[GpsPayload]) -> bytes:
        return hil_gps(time_us, gps, self._anchor.velocity(gps))

    def _fitting(self, msgid: int, pack: Callable[[], bytes]) -> bytes:
        """The packet, or nothing and a count if the message cannot hold the reading."""
        try:
            payload = pack()
        except (ValueError, OverflowError):
            self.unfit += 1
            return b""
        return self._framer.frame(msgid, payload)

    def _holds(self, pack: Callable[[], bytes]) -> bool:
        try:
            pack()
        except (ValueError, OverflowError):
            self.unfit += 1
            return False
        return True


def _sound(sample: SensorSample[_T] | None) -> _T | None:
    """The payload of a sample that is there and not corrupt."""
    if sample is None or sample.health is _FAULTY:
        return None
    return sample.payload
