"""Counting MAVLink packets by id and direction, in bounded memory."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.hal import MavlinkTraffic
from ghost.report import mavlink
from ghost.report.mavlink import MavlinkLog, message_ids, message_name
from tests.piloted_world import packet

SECOND = 1_000_000_000

packets = st.builds(
    lambda number, size, version, signed: (
        number % 256 if version == 1 else number,
        packet(number % 256 if version == 1 else number, size, version=version, signed=signed),
    ),
    st.integers(0, 2**24 - 1),
    st.integers(0, 255),
    st.sampled_from([1, 2]),
    st.booleans(),
)


def traffic(stamp_ns: int, sent: bytes = b"", received: bytes = b"") -> MavlinkTraffic:
    both = (np.frombuffer(data, np.uint8) for data in (sent, received))
    return MavlinkTraffic(stamp_ns, *both)


@settings(deadline=None)
@given(st.lists(packets, max_size=8))
def test_every_packet_is_found(given_packets: list[tuple[int, bytes]]) -> None:
    stream = b"".join(data for _, data in given_packets)
    assert list(message_ids(stream)) == [number for number, _ in given_packets]


@settings(deadline=None)
@given(packets, st.binary(max_size=12).filter(lambda b: not {0xFD, 0xFE} & set(b)), packets)
def test_garbage_between_packets_is_passed_by(
    one: tuple[int, bytes], garbage: bytes, other: tuple[int, bytes]
) -> None:
    assert list(message_ids(one[1] + garbage + other[1])) == [one[0], other[0]]


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_survived(data: bytes) -> None:
    assert all(0 <= number < 2**24 for number in message_ids(data))


def test_a_packet_that_is_cut_off_is_none() -> None:
    whole = packet(30, 28)
    for length in range(len(whole)):
        assert list(message_ids(whole[:length])) == []


def test_rates_by_id_and_direction() -> None:
    log = MavlinkLog("/mavlink/x")
    for k in range(1, 2001):
        answer = packet(93, 81) if k % 2 else b""
        log.add(traffic(12 * SECOND + k * 4_000_000, packet(107, 64), answer))
    assert [(r.sent, r.number, r.count) for r in log.ordered()] == [
        (True, 107, 2000),
        (False, 93, 1000),
    ]
    sensor, controls = log.ordered()
    assert log.mean_hz(sensor) == pytest.approx(250.0, rel=2e-3)
    assert log.mean_hz(controls) == pytest.approx(125.0, rel=2e-3)
    assert log.bytes_sent == 2000 * len(packet(107, 64))
    bins = log.per_second(controls)
    assert [begin for begin, _, _ in bins] == pytest.approx([12.004, *range(13, 20)])
    assert bins[-1][1] == pytest.approx(20.0)
    assert [rate for _, _, rate in bins] == pytest.approx([125.0] * 8, rel=0.01)


def test_silence_is_a_rate_of_nothing() -> None:
    log = MavlinkLog("/mavlink/x")
    for second in (0, 1, 5):
        log.add(traffic(second * SECOND, received=packet(0, 9)))
    (rate,) = log.ordered()
    assert [hz for _, _, hz in log.per_second(rate)] == [1.0, 1.0, 0.0, 0.0, 0.0]


def test_a_long_run_takes_no_more_memory() -> None:
    log = MavlinkLog("/mavlink/x")
    heartbeat = packet(0, 9)
    for second in range(5000):
        log.add(traffic(second * SECOND, heartbeat))
    (rate,) = log.ordered()
    assert log.bin_ns == 32 * SECOND
    assert len(rate.bins) <= 240
    assert sum(rate.bins.values()) == rate.count == 5000
    assert [hz for _, _, hz in log.per_second(rate)[:-1]] == pytest.approx([1.0] * 156)


def test_a_single_report_has_no_rate() -> None:
    log = MavlinkLog("/mavlink/x")
    assert log.ordered() == []
    log.add(traffic(SECOND, packet(0, 9)))
    (rate,) = log.ordered()
    assert (rate.count, log.mean_hz(rate), log.per_second(rate)) == (1, None, [])


def test_names_are_mavlinks(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pymavlink.dialects.v20.development")
    assert message_name(107) == "HIL_SENSOR"
    assert message_name(2**24 - 1) == "#16777215"
    mavlink._names.cache_clear()
    monkeypatch.setitem(sys.modules, "pymavlink.dialects.v20", None)
    try:
        assert message_name(107) == "#107"
    finally:
        mavlink._names.cache_clear()
