"""What is packed here is what pymavlink packs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymavlink.dialects.v20 import common as mavlink

from ghost.px4.voice import Voice

_FLOAT = st.floats(-1e6, 1e6, width=32)
_TIME = st.integers(0, 2**32 - 1)


def _pair() -> tuple[Voice, Any]:
    voice = Voice()
    voice.target_system = 4
    return voice, mavlink.MAVLink(None, srcSystem=245, srcComponent=190)


def test_heartbeat() -> None:
    voice, mav = _pair()
    for _ in range(300):  # the number wraps
        assert voice.heartbeat() == mav.heartbeat_encode(6, 8, 0, 0, 4).pack(mav)
        mav.seq = (mav.seq + 1) % 256


@settings(deadline=None)
@given(_TIME, _FLOAT, _FLOAT, _FLOAT, _FLOAT)
def test_position_and_velocity(time_ms: int, x: float, y: float, z: float, w: float) -> None:
    voice, mav = _pair()
    packed = mav.set_position_target_local_ned_encode(
        time_ms, 4, 1, 1, 0x9F8, x, y, z, 0, 0, 0, 0, 0, 0, w, 0
    ).pack(mav)
    assert voice.position(time_ms, x, y, z, w) == packed
    voice, mav = _pair()
    packed = mav.set_position_target_local_ned_encode(
        time_ms, 4, 1, 1, 0x5C7, 0, 0, 0, x, y, z, 0, 0, 0, 0, w
    ).pack(mav)
    assert voice.velocity(time_ms, x, y, z, w) == packed


@settings(deadline=None)
@given(_TIME, _FLOAT, _FLOAT, _FLOAT, st.floats(0, 1, width=32))
def test_attitude_and_rates(time_ms: int, x: float, y: float, z: float, thrust: float) -> None:
    voice, mav = _pair()
    packed = mav.set_attitude_target_encode(
        time_ms, 4, 1, 0x07, [0.5, x, y, z], 0, 0, 0, thrust
    ).pack(mav)
    assert voice.attitude(time_ms, 0.5, x, y, z, thrust) == packed
    voice, mav = _pair()
    packed = mav.set_attitude_target_encode(
        time_ms, 4, 1, 0x80, [1, 0, 0, 0], x, y, z, thrust
    ).pack(mav)
    assert voice.body_rate(time_ms, x, y, z, thrust) == packed


@pytest.mark.parametrize("count", [0, 1, 255])
def test_a_packet_of_mavsdks_gets_the_next_number(count: int) -> None:
    voice, mav = _pair()
    for _ in range(count):
        voice.heartbeat()
    other = mavlink.MAVLink(None, srcSystem=245, srcComponent=190)
    other.seq = 77
    make: Callable[[Any], Any] = lambda m: m.command_long_encode(4, 1, 400, 0, 1, 0, 0, 0, 0, 0, 0)  # noqa: E731 - one expression, two senders
    mav.seq = count
    assert voice.repeat(make(other).pack(other), 152) == make(mav).pack(mav)
