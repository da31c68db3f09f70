"""A flight of the real PX4, replayed against the link: it must have the recorded exchange.

The peer is PX4's end of the connection, which says what PX4 said then. The readings are those of
the recorded `HIL_SENSOR` and `HIL_GPS`, taken back to Ghost's axes and units.
"""

from __future__ import annotations

import gzip
import socket
import struct
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from pymavlink.dialects.v20 import common

from ghost.core import HostClock, VehicleSpec
from ghost.hal import (
    BarometerPayload,
    GpsFix,
    GpsPayload,
    IMUPayload,
    LockstepState,
    MagnetometerPayload,
)
from ghost.hal.frames import frd_to_flu, gauss_to_tesla, hpa_to_pa, ned_to_enu
from ghost.px4.codec import Splitter
from ghost.px4.link import Readings
from ghost.px4.outputs import MotorMap
from ghost.px4.simulator_link import SimulatorLink
from ghost.px4.transport import TcpServerTransport
from tests.px4.link.parts import sample

CAPTURE = Path(__file__).parents[2] / "data" / "px4_hil_flight.tlog.gz"
KINDS = {2: GpsFix.FIX_2D, 3: GpsFix.FIX_3D}


class Step(NamedTuple):
    sensor: Any
    gps: Any
    answers: list[bytes]
    controls: tuple[float, ...] | None


def recorded() -> tuple[list[Step], list[bytes]]:
    """The steps of the flight, and what PX4 said when it connected."""
    data = gzip.decompress(CAPTURE.read_bytes())
    reader = common.MAVLink(None)
    steps: list[Step] = []
    greeting: list[bytes] = []
    at = 0
    while at < len(data):
        (time_us,) = struct.unpack_from(">Q", data, at)
        size = data[at + 9] + 12
        raw = data[at + 8 : at + 8 + size]
        at += 8 + size
        message = reader.decode(bytearray(raw))
        kind = message.get_type()
        if kind == "HIL_SENSOR":
            assert message.time_usec == time_us
            steps.append(Step(message, None, [], None))
        elif kind == "HIL_GPS":
            steps[-1] = steps[-1]._replace(gps=message)
        elif kind == "HIL_ACTUATOR_CONTROLS":
            assert message.time_usec == time_us
            controls = tuple(message.controls) if message.mode & 128 else (0.0,) * 16
            steps[-1].answers.append(raw)
            steps[-1] = steps[-1]._replace(controls=controls)
        else:
            greeting.append(raw)
    return steps, greeting


def readings_of(step: Step) -> Readings:
    """What Ghost's sensors would have said, for PX4 to be told what was recorded."""
    told = step.sensor
    stamp_ns = told.time_usec * 1000
    accel = frd_to_flu((told.xacc, told.yacc, told.zacc))
    gyro = frd_to_flu((told.xgyro, told.ygyro, told.zgyro))
    readings = Readings(imu=sample(IMUPayload(np.array(accel), np.array(gyro)), stamp_ns))
    if told.fields_updated & 0x1C0:
        field = frd_to_flu((told.xmag, told.ymag, told.zmag))
        payload = MagnetometerPayload(np.array([gauss_to_tesla(b) for b in field]))
        readings.mag = sample(payload, stamp_ns)
    if told.fields_updated & 0x1A00:
        baro = BarometerPayload(hpa_to_pa(told.abs_pressure), told.temperature)
        readings.baro = sample(baro, stamp_ns)
    if step.gps is not None:
        fix = step.gps
        velocity = ned_to_enu((fix.vn / 100.0, fix.ve / 100.0, fix.vd / 100.0))
        readings.gps = sample(
            GpsPayload(
                fix.lat / 1e7,
                fix.lon / 1e7,
                fix.alt / 1e3,
                np.zeros(3),
                KINDS[fix.fix_type],
                fix.eph / 100.0,
                fix.epv / 100.0,
            ),
            stamp_ns,
            extensions={"vel_enu_mps": velocity, "satellites": fix.satellites_visible},
        )
    return readings


def same_sensor(ours: Any, theirs: Any) -> bool:
    """The fields that are marked as updated are the recorded ones, to float32's last bit.

    The recorder flagged a differential pressure (0x400) that nothing measured, and filled in fields
    that were not updated; the standard altitude it took from its own physics.
    """
    names = ["time_usec", "xacc", "yacc", "zacc", "xgyro", "ygyro", "zgyro", "id"]
    if theirs.fields_updated & 0x1C0:
        names += ["xmag", "ymag", "zmag"]
    if theirs.fields_updated & 0x1A00:
        names += ["abs_pressure", "temperature"]
    return ours.fields_updated == theirs.fields_updated & ~0x400 and all(
        getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1.2e-7, abs=0.0)
        for name in names
    )


def same_fix(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """All fields; the speed within 1 cm/s, since it is found from components rounded to that."""
    return abs(ours.pop("vel") - theirs.pop("vel")) <= 1 and ours == theirs


def test_the_recorded_exchange(vehicle: VehicleSpec) -> None:
    steps, greeting = recorded()
    assert (len(steps), sum(len(step.answers) for step in steps)) == (10_000, 9_924)
    server = TcpServerTransport(port=0)
    # PX4's silence while it booted costs no time here: its answers always lie ready.
    link = SimulatorLink(server, MotorMap(vehicle), host=HostClock(), boot_wait_s=1e-6)
    link.open()
    reader = common.MAVLink(None)
    states: Counter[LockstepState] = Counter()
    wrong: list[int] = []
    sent: list[bytes] = []
    try:
        with socket.create_connection((server.host, server.port), timeout=10.0) as px4:
            px4.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while not link.connected:
                link.await_answer()
            px4.sendall(b"".join(greeting))
            for step in steps:
                link.feed(step.sensor.time_usec * 1000, readings_of(step))
                messages = {m.get_type(): m for m in reader.parse_buffer(px4.recv(65_536))}
                ours = messages.pop("HIL_SENSOR")
                if not same_sensor(ours, step.sensor):
                    wrong.append(ours.time_usec)
                if step.gps is not None:
                    assert same_fix(messages.pop("HIL_GPS").to_dict(), step.gps.to_dict())
                assert not messages
                for raw in step.answers:
                    px4.sendall(raw)
                    sent.append(raw)
                states[link.await_answer()] += 1
                if step.controls is not None:
                    assert link.motors() == step.controls[:4]
        assert wrong == []
    finally:
        link.close()
    assert states == {LockstepState.ANSWERED: 9_924, LockstepState.NONE: 76}
    counters = {name: count for name, count in link.counters.to_json().items() if count}
    assert counters == {"answered": 9_924, "booting": 76}
    assert link.events() == []
    traffic = link.traffic.take(0)
    assert traffic is not None
    assert bytes(traffic.received) == b"".join([*greeting, *sent])
    types = Counter(packet.msgid for packet in Splitter().feed(bytes(traffic.sent)))
    assert types == {107: 10_000, 113: 200}
