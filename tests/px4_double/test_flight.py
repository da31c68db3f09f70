"""The double flies: the embedded world, a scratch TCP server and a pymavlink ground station."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from tests.px4_double.flight import Flight

Fly = Callable[..., Flight]
NAN = math.nan


def _distance(flight: Flight, north: float, east: float, height: float) -> float:
    """Of the true position from a point above the start, m."""
    e, n, u = flight.world.position
    return math.dist((n, e, u), (north, east, height + 0.227))


def _square(flight: Flight) -> list[float]:
    """Take off to 2 m, a square of 4 m, land. Returns the error at each corner."""
    flight.arm()
    assert flight.command(22, NAN, 0, 0, NAN, NAN, NAN, 490.0) == 0
    flight.until(lambda: flight.station.armed and flight.mode == (4, 3), 15.0)
    corners = [(4.0, 0.0), (4.0, 4.0), (0.0, 4.0), (0.0, 0.0)]
    yaw = math.pi / 2
    send = flight.station.position
    flight.run(0.5, lambda: send(0.0, 0.0, -2.0, yaw))
    assert flight.command(176, 1, 6) == 0
    errors = []
    for north, east in corners:
        flight.run(5.0, partial(send, north, east, -2.0, yaw))
        errors.append(_distance(flight, north, east, 2.0))
    assert flight.command(21) == 0
    flight.until(lambda: not flight.station.armed, 20.0)
    return errors


def test_a_square_is_flown_and_landed_from(fly: Fly) -> None:
    flight = fly()
    errors = _square(flight)
    assert max(errors) < 0.3
    assert _distance(flight, 0.0, 0.0, 0.0) < 0.4
    texts = [text.rstrip("\t") for text in flight.station.texts]
    assert texts == [
        "Armed by external command",
        "Takeoff detected",
        "Landing at current position",
        "Landing detected",
        "Disarmed by landing",
    ]


def test_two_flights_are_the_same(fly: Fly) -> None:
    """Same samples and same datagrams between them: same bytes from the autopilot."""
    runs = []
    for _ in range(2):
        with fly() as flight:
            flight.station.keep = True
            flight.arm()
            assert flight.command(22, *[NAN] * 7) == 0
            flight.run(5.0)
            telemetry = [message.get_msgbuf() for message in flight.station.messages]
            runs.append((bytes(flight.world.raw), telemetry, flight.world.position))
    assert runs[0] == runs[1]
    assert runs[0][2][2] > 1.5


def test_the_estimate_stays_with_the_truth(fly: Fly) -> None:
    flight = fly()
    flight.arm()
    start = flight.last["LOCAL_POSITION_NED"]
    assert flight.command(22, *[NAN] * 7) == 0
    flight.run(6.0)
    flight.run(0.3, lambda: flight.station.velocity(1.0, -0.5, 0.0, 0.3))
    assert flight.command(176, 1, 6) == 0
    far_m = 0.0

    def check() -> None:
        nonlocal far_m
        flight.station.velocity(1.0, -0.5, 0.0, 0.3)
        east, north, up = flight.world.position
        ned = flight.last["LOCAL_POSITION_NED"]
        believed = (ned.x - start.x, ned.y - start.y, ned.z - start.z)
        far_m = max(far_m, math.dist(believed, (north, east, 0.227 - up)))

    flight.run(8.0, check)
    assert far_m < 0.25
    vel = flight.world.truth.vel_enu_mps
    assert np.allclose(vel, (-0.5, 1.0, 0.0), atol=0.15)
    assert flight.last["ATTITUDE"].yawspeed == pytest.approx(0.3, abs=0.05)
    w, x, y, z = flight.world.truth.q_enu_flu
    heading = math.pi / 2 - math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    error = math.remainder(flight.last["ATTITUDE"].yaw - heading, 2 * math.pi)
    assert abs(error) < math.radians(1.5)


@pytest.mark.parametrize("rates", [False, True], ids=["attitude", "rates"])
def test_attitude_and_rates_are_flown(fly: Fly, rates: bool) -> None:
    """Leaning forward (north) by 0.1 rad for a second, at hover thrust."""
    flight = fly()
    flight.arm()
    assert flight.command(22, *[NAN] * 7) == 0
    flight.run(6.0)
    yaw = flight.last["ATTITUDE"].yaw
    hover = 0.59

    def lean(pitch: float) -> None:
        c, s = math.cos(yaw / 2), math.sin(yaw / 2)
        cp, sp = math.cos(pitch / 2), math.sin(pitch / 2)
        q = (c * cp, -s * sp, c * sp, s * cp)
        if rates:
            error = pitch - flight.last["ATTITUDE"].pitch
            roll = -flight.last["ATTITUDE"].roll
            flight.station.attitude(q, hover, (3 * roll, 3 * error, 0.0), 0x80)
        else:
            flight.station.attitude(q, hover, (0.0, 0.0, 0.0), 0x07)

    flight.run(0.2, lambda: lean(0.0))
    assert flight.command(176, 1, 6) == 0
    flight.run(1.0, lambda: lean(-0.1))
    assert flight.last["ATTITUDE"].pitch == pytest.approx(-0.1, abs=0.03)
    v = flight.world.truth.vel_enu_mps
    along = v[0] * math.sin(yaw) + v[1] * math.cos(yaw)
    assert 0.4 < along < 1.3  # 0.98 m/s² less drag, once it leans


def test_it_returns_and_lands_at_home(fly: Fly) -> None:
    flight = fly()
    flight.arm()
    assert flight.command(22, *[NAN] * 7) == 0
    flight.run(6.0)
    flight.run(0.3, lambda: flight.station.position(3.0, 3.0, -3.0))
    assert flight.command(176, 1, 6) == 0
    flight.run(6.0, lambda: flight.station.position(3.0, 3.0, -3.0))
    assert _distance(flight, 3.0, 3.0, 3.0) < 0.3
    assert flight.command(20) == 0
    flight.until(lambda: not flight.station.armed, 30.0)
    assert _distance(flight, 0.0, 0.0, 0.0) < 0.4


def test_it_goes_where_it_is_sent(fly: Fly) -> None:
    flight = fly()
    flight.arm()
    assert flight.command(22, *[NAN] * 7) == 0
    flight.run(6.0)
    here = flight.last["GLOBAL_POSITION_INT"]
    north_m = 5.0
    lat = here.lat + round(north_m / 6371000 * math.degrees(1) * 1e7)
    assert flight.command(192, -1, 1, 0, 0.0, lat / 1e7, here.lon / 1e7, here.alt / 1e3) in (0, 1)
    flight.run(8.0)
    assert flight.last["LOCAL_POSITION_NED"].x > 3.0
