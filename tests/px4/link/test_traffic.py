"""What went over a link, for the recorder."""

from __future__ import annotations

from ghost.px4.traffic import TrafficLog


def test_both_ways_in_order_once() -> None:
    log = TrafficLog("/mavlink/x")
    assert log.take(1) is None
    log.sent(b"ab")
    log.received(b"12")
    log.sent(b"c")
    traffic = log.take(77)
    assert traffic is not None
    assert (traffic.stamp_sim_ns, bytes(traffic.sent), bytes(traffic.received)) == (
        77,
        b"abc",
        b"12",
    )
    assert log.take(78) is None


def test_nobody_takes_them() -> None:
    log = TrafficLog("/mavlink/x")
    for number in range(25_000):
        log.received(number.to_bytes(4, "big"))
    traffic = log.take(0)
    assert traffic is not None
    received = bytes(traffic.received)
    assert received[-4:] == (24_999).to_bytes(4, "big")
    assert len(received) <= 4 * 20_000
    assert log.dropped == 25_000 - len(received) // 4
