"""Poll queue and push subscribers (D18, sensor spec §7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ghost.core import EventType

if TYPE_CHECKING:
    from tests.sensing.conftest import Kit, Rig

MS = 1_000_000


def test_poll_gives_each_sample_once_oldest_first(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu"))
    assert rig["imu0"].poll() == []
    rig.run(50 * MS)
    assert [s.seq for s in rig["imu0"].poll()] == [0, 1, 2, 3, 4]
    assert rig["imu0"].poll() == []


def test_a_full_queue_drops_the_oldest(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu", queue_size=3))
    rig.run(100 * MS)
    assert [s.seq for s in rig["imu0"].poll()] == [7, 8, 9]


def test_the_polled_list_is_the_callers(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu"))
    rig.run(20 * MS)
    first = rig["imu0"].poll()
    first.clear()
    rig.run(30 * MS)
    assert [s.seq for s in rig["imu0"].poll()] == [2]


def test_subscribers_get_every_sample_also_beyond_the_queue(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu", queue_size=1))
    got: list[int] = []
    rig["imu0"].subscribe(lambda s: got.append(s.seq))
    rig.run(50 * MS)
    assert got == [0, 1, 2, 3, 4]
    assert [s.seq for s in rig["imu0"].poll()] == [4]


def test_a_subscriber_that_raises_stops_nobody(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu"))
    before: list[int] = []
    after: list[int] = []

    def bad(sample: Any) -> None:
        raise RuntimeError(f"cannot take {sample.seq}")

    rig["imu0"].subscribe(lambda s: before.append(s.seq))
    rig["imu0"].subscribe(bad)
    rig["imu0"].subscribe(lambda s: after.append(s.seq))
    rig.run(20 * MS)
    assert before == after == [0, 1]
    assert [e.type for e in rig.events] == [EventType.SUBSCRIBER_FAILED] * 2
    event = rig.events[0]
    assert event.stamp_sim_ns == 10 * MS
    assert event.source == "sensors/imu0"
    assert "cannot take 0" in event.message
    assert "bad" in str(event.payload["callback"])
    assert "Traceback" in str(event.payload["traceback"])


def test_ctrl_c_in_a_subscriber_goes_through(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu"))

    def stop(_: Any) -> None:
        raise KeyboardInterrupt

    rig["imu0"].subscribe(stop)
    with pytest.raises(KeyboardInterrupt):
        rig.run(20 * MS)


def test_unsubscribe_is_idempotent_and_spares_the_others(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu"))
    got: dict[str, list[int]] = {"a": [], "b": []}
    first = rig["imu0"].subscribe(lambda s: got["a"].append(s.seq))
    rig["imu0"].subscribe(lambda s: got["b"].append(s.seq))
    rig.run(10 * MS)
    first.unsubscribe()
    first.unsubscribe()
    rig.run(20 * MS)
    assert got == {"a": [0], "b": [0, 1]}


def test_one_callback_subscribed_twice_is_two_subscriptions(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu"))
    got: list[int] = []

    def take(sample: Any) -> None:
        got.append(sample.seq)

    first = rig["imu0"].subscribe(take)
    rig["imu0"].subscribe(take)
    rig.run(10 * MS)
    first.unsubscribe()
    rig.run(20 * MS)
    assert got == [0, 0, 1]


def test_subscribing_and_unsubscribing_during_a_delivery(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu"))
    provider = rig["imu0"]
    log: list[tuple[str, int]] = []

    def first(sample: Any) -> None:
        log.append(("first", sample.seq))
        if sample.seq == 0:
            second.unsubscribe()
            provider.subscribe(lambda s: log.append(("late", s.seq)))

    provider.subscribe(first)
    second = provider.subscribe(lambda s: log.append(("second", s.seq)))
    rig.run(20 * MS)
    assert log == [("first", 0), ("first", 1), ("late", 1)]


def test_subscribe_refuses_what_cannot_be_called(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu"))
    with pytest.raises(TypeError, match="subscribe needs a callable, got int 3"):
        rig["imu0"].subscribe(3)  # type: ignore[arg-type]  # the mistake under test
