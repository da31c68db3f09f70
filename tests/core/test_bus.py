"""MessageBus: patterns, one total order, isolation (clock spec §6, D5)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.core import Envelope, Event, EventSeverity, EventType, MessageBus

Place = tuple[int, int]


@dataclass(frozen=True)
class Stamped:
    stamp_sim_ns: int


def ignore(_: Envelope) -> None:
    """Hear and forget."""


def collect(into: list[Place]) -> Callable[[Envelope], None]:
    return lambda envelope: into.append((envelope.stamp_sim_ns, envelope.sequence))


def test_an_envelope_says_everything_and_is_frozen() -> None:
    bus = MessageBus()
    got: list[Envelope] = []
    bus.subscribe("/a/b", got.append)
    payload = object()
    assert bus.publish("/a/b", payload, 7) == 0
    assert got == [Envelope("/a/b", 7, 0, payload)]
    assert type(got[0]) is Envelope
    assert repr(got[0]) == repr(Envelope("/a/b", 7, 0, payload))
    assert hash(got[0]) == hash(Envelope("/a/b", 7, 0, payload))
    with pytest.raises(FrozenInstanceError):
        got[0].sequence = 3  # type: ignore[misc]  # the point of the test


def test_sequence_counts_every_message_heard_or_not() -> None:
    bus = MessageBus()
    got: list[Place] = []
    bus.subscribe("/a", collect(got))
    assert [bus.publish(topic, None, 0) for topic in ("/a", "/b", "/a")] == [0, 1, 2]
    assert got == [(0, 0), (0, 2)]


@pytest.mark.parametrize(
    ("pattern", "heard"),
    [
        ("/sensors/imu0", {"/sensors/imu0"}),
        ("/sensors/*", {"/sensors/imu0", "/sensors/cam/left"}),
        ("/*", {"/sensors/imu0", "/sensors/cam/left", "/sensors", "/sensorsx/a", "/events"}),
        ("/sensors", {"/sensors"}),
        ("/sensor/*", set()),
    ],
)
def test_patterns(pattern: str, heard: set[str]) -> None:
    bus = MessageBus()
    got: set[str] = set()
    bus.subscribe(pattern, lambda envelope: got.add(envelope.topic))
    for topic in ("/sensors/imu0", "/sensors/cam/left", "/sensors", "/sensorsx/a", "/events"):
        bus.publish(topic, None, 0)
    assert got == heard


@pytest.mark.parametrize(
    "pattern", ["", "/", "a", "*", "/a*", "/a/*/b", "/a/", "//a", "/a b", "/**"]
)
def test_malformed_patterns_and_topics(pattern: str) -> None:
    bus = MessageBus()
    with pytest.raises(ValueError, match="must look like '/sensors/imu0'"):
        bus.subscribe(pattern, ignore)
    with pytest.raises(ValueError, match=r"must look like '/sensors/imu0'$"):
        bus.publish(pattern, None, 0)


def test_wrong_kinds() -> None:
    bus = MessageBus()
    with pytest.raises(TypeError, match="pattern must be a str"):
        bus.subscribe(3, ignore)  # type: ignore[arg-type]  # the point
    with pytest.raises(TypeError, match="cb must be callable"):
        bus.subscribe("/a", None)  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(TypeError, match="topic must be a str"):
        bus.publish(3, None, 0)  # type: ignore[arg-type]  # the point of the test
    with pytest.raises(ValueError, match="topic"):
        bus.publish("/a/*", None, 0)


def test_the_stamp_comes_from_the_argument_or_the_payload() -> None:
    bus = MessageBus()
    got: list[Place] = []
    bus.subscribe("/*", collect(got))
    bus.publish("/a", Stamped(5))
    bus.publish("/a", Stamped(5), 9)
    assert got == [(5, 0), (9, 1)]
    with pytest.raises(TypeError, match="needs stamp_sim_ns: a dict payload has none"):
        bus.publish("/a", {})
    for bad in (1.0, True):
        with pytest.raises(TypeError, match="stamp_sim_ns must be an integer"):
            bus.publish("/a", None, bad)  # type: ignore[arg-type]  # the point of the test
    assert bus.publish("/a", None, 10) == 2


def test_a_publish_inside_a_subscriber_waits_until_everybody_heard_the_first() -> None:
    bus = MessageBus()
    log: list[tuple[str, str]] = []

    def echo(envelope: Envelope) -> None:
        log.append(("echo", envelope.topic))
        if envelope.topic == "/a":
            bus.publish("/b", None, envelope.stamp_sim_ns)
            log.append(("echo", "published"))

    bus.subscribe("/*", echo)
    bus.subscribe("/*", lambda envelope: log.append(("last", envelope.topic)))
    bus.publish("/a", None, 1)
    assert log == [
        ("echo", "/a"),
        ("echo", "published"),
        ("last", "/a"),
        ("echo", "/b"),
        ("last", "/b"),
    ]


def test_what_waits_is_delivered_by_stamp_then_sequence() -> None:
    bus = MessageBus()
    got: list[Place] = []

    def burst(_: Envelope) -> None:
        for stamp in (30, 20, 30, 20):
            bus.publish("/b", None, stamp)

    bus.subscribe("/a", burst)
    bus.subscribe("/*", collect(got))
    bus.publish("/a", None, 10)
    assert got == [(10, 0), (20, 2), (20, 4), (30, 1), (30, 3)]


Tree = dict[str, list[str]]


@given(
    st.dictionaries(
        st.sampled_from("abcdef"), st.lists(st.sampled_from("ghijkl"), max_size=4), max_size=6
    ),
    st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8),
    st.integers(1, 4),
)
@settings(deadline=None)
def test_every_subscriber_sees_one_order_under_nested_publishes(
    replies: Tree, messages: list[str], subscribers: int
) -> None:
    bus = MessageBus()
    seen: list[list[Place]] = [[] for _ in range(subscribers)]

    def subscriber(mine: list[Place]) -> Callable[[Envelope], None]:
        def hear(envelope: Envelope) -> None:
            mine.append((envelope.stamp_sim_ns, envelope.sequence))
            for reply in replies.get(envelope.topic[1:], ()):
                bus.publish("/" + reply, None, envelope.stamp_sim_ns)

        return hear

    for mine in seen:
        bus.subscribe("/*", subscriber(mine))
    for stamp, topic in enumerate(messages):
        bus.publish("/" + topic, None, stamp)
    assert all(mine == seen[0] for mine in seen)
    assert seen[0] == sorted(seen[0])
    sent = len(messages) + subscribers * sum(len(replies.get(topic, ())) for topic in messages)
    assert [sequence for _, sequence in sorted(seen[0], key=lambda p: p[1])] == list(range(sent))


def test_threads_lose_nothing_and_agree_on_one_order() -> None:
    bus = MessageBus()
    seen: list[list[Place]] = [[], [], []]
    for mine in seen:
        bus.subscribe("/*", collect(mine))
    per_thread, threads = 2_000, 4
    barrier = threading.Barrier(threads)
    returned: list[list[int]] = [[] for _ in range(threads)]

    def work(i: int) -> None:
        barrier.wait(10)
        for _ in range(per_thread):
            returned[i].append(bus.publish(f"/t{i}", None, 5))

    workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    # The last deliverer may be any of them; all have returned, so nothing can be in flight.
    assert seen[0] == [(5, n) for n in range(per_thread * threads)]
    assert seen[1] == seen[0]
    assert seen[2] == seen[0]
    assert all(numbers == sorted(numbers) for numbers in returned)
    assert sorted(n for numbers in returned for n in numbers) == list(range(per_thread * threads))


def test_a_message_from_another_thread_waits_for_the_running_delivery() -> None:
    bus = MessageBus()
    log: list[str] = []

    def slow(envelope: Envelope) -> None:
        log.append(f"begin {envelope.topic}")
        if envelope.topic == "/a":
            other = threading.Thread(target=bus.publish, args=("/b", None, 1))
            other.start()
            other.join(10)  # publish returned although we are still delivering
            assert not other.is_alive()
        log.append(f"end {envelope.topic}")

    bus.subscribe("/*", slow)
    bus.publish("/a", None, 1)
    assert log == ["begin /a", "end /a", "begin /b", "end /b"]


def test_a_subscriber_that_raises_is_isolated_into_an_event() -> None:
    bus = MessageBus()
    got: list[str] = []
    events: list[Envelope] = []

    def broken(_: Envelope) -> None:
        raise ValueError("bad sample")

    bus.subscribe("/a", broken)
    bus.subscribe("/a", lambda envelope: got.append(envelope.topic))
    bus.subscribe("/events", events.append)
    bus.publish("/a", None, 42)
    bus.publish("/a", None, 43)
    assert got == ["/a", "/a"]
    assert [envelope.stamp_sim_ns for envelope in events] == [42, 43]
    event = events[0].payload
    assert isinstance(event, Event)
    assert event.type is EventType.SUBSCRIBER_FAILED
    assert event.severity is EventSeverity.ERROR
    assert event.payload["topic"] == "/a"
    assert event.payload["sequence"] == 0
    assert event.payload["pattern"] == "/a"
    assert str(event.payload["subscriber"]).endswith("broken")
    assert "ValueError: bad sample" in str(event.payload["traceback"])


def test_a_broken_listener_of_events_does_not_feed_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bus = MessageBus()
    events: list[EventType] = []

    def broken(_: Envelope) -> None:
        raise ValueError("bad listener")

    def listen(envelope: Envelope) -> None:
        assert isinstance(envelope.payload, Event)
        events.append(envelope.payload.type)

    bus.subscribe("/events", broken)
    bus.subscribe("/events", listen)
    with caplog.at_level(logging.ERROR, logger="ghost.core"):
        bus.publish("/events", Event(EventType.CRASH, 3, EventSeverity.CRITICAL, "physics"))
    assert events == [EventType.CRASH, EventType.SUBSCRIBER_FAILED]
    assert caplog.text.count("bus at 3 ns") == 1
    assert "ValueError: bad listener" in caplog.text


def test_ctrl_c_passes_and_the_bus_stays_usable() -> None:
    bus = MessageBus()
    got: list[Place] = []
    interrupts = [KeyboardInterrupt()]

    def interrupted(_: Envelope) -> None:
        bus.publish("/b", None, 2)
        if interrupts:
            raise interrupts.pop()

    bus.subscribe("/b", collect(got))
    bus.subscribe("/a", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bus.publish("/a", None, 1)
    assert got == []
    bus.publish("/b", None, 3)
    assert got == [(2, 1), (3, 2)]


def test_unsubscribe_is_idempotent_and_immediate() -> None:
    bus = MessageBus()
    got: list[Place] = []
    second = bus.subscribe("/a", ignore)

    def first_then_not(_: Envelope) -> None:
        first.unsubscribe()
        third.unsubscribe()

    first = bus.subscribe("/a", first_then_not)
    third = bus.subscribe("/a", collect(got))
    fourth = bus.subscribe("/a", collect(got))
    bus.publish("/a", None, 1)
    assert got == [(1, 0)]
    second.unsubscribe()
    second.unsubscribe()
    fourth.unsubscribe()
    bus.publish("/a", None, 2)
    assert got == [(1, 0)]
    assert not first.active


def test_one_function_may_subscribe_twice_and_leave_once() -> None:
    bus = MessageBus()
    got: list[Place] = []
    hear = collect(got)
    bus.subscribe("/a", hear)
    bus.subscribe("/*", hear).unsubscribe()
    bus.publish("/a", None, 1)
    assert got == [(1, 0)]


def test_a_subscriber_hears_what_is_published_after_it_subscribed() -> None:
    bus = MessageBus()
    got: list[Place] = []

    def introduce(_: Envelope) -> None:
        bus.publish("/b", None, 1)
        bus.subscribe("/b", collect(got))
        bus.publish("/b", None, 1)

    once = bus.subscribe("/a", introduce)
    bus.publish("/a", None, 1)
    once.unsubscribe()
    assert got == [(1, 2)]


def test_inventing_topics_does_not_grow_the_bus() -> None:
    bus = MessageBus()
    for i in range(10_000):
        bus.publish(f"/t/{i}", None, 0)
    assert len(bus._routes) <= 4096
