"""What a world says: its clock and its sensors, in the order it says them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from google.protobuf.message import DecodeError

from ghost.core import BackendLost
from ghost.gz.msgs import same_type
from ghost.gz.transport.types import Incoming, Node, Subscription
from ghost.gz.world.barriers import Barrier
from ghost.gz.world.errors import LockstepLost, TwoServers
from ghost.gz.world.sensors import DueTimes, SensorTopic
from ghost.gz.world.stamps import ClockReader, header_stamp_ns
from ghost.gz.world.survey import clock_publishers
from ghost.gz.world.watch import ServerWatch

__all__ = ["WorldStream"]

_CLOCK_TYPE = "gz.msgs.Clock"


class WorldStream:
    """Reads the messages of one world, hands them on, and watches the clock.

    The clock may move only within the range that `expect` sets: at rest it must stand still,
    during a step it goes from start to target. A clock that leaves it raises `LockstepLost`.
    """

    def __init__(
        self,
        node: Node,
        world: str,
        sensors: Sequence[SensorTopic],
        watch: ServerWatch,
    ) -> None:
        self._node = node
        self._world = world
        self._sensors = tuple(sensors)
        self._watch = watch
        self._clock_topic = f"/world/{world}/clock"
        self._index = {sensor.topic: index for index, sensor in enumerate(self._sensors)}
        self._others: dict[str, Callable[[Incoming], None]] = {}
        self._reader = ClockReader()
        self._subscriptions: list[Subscription] = []
        self._types_blamed: set[str] = set()
        self._low_ns: int | None = None
        self._high_ns: int | None = None
        self._last_clock = b""
        self.due: list[DueTimes | None] = []
        self.barrier: Barrier | None = None
        self.publisher = ""
        """The address that the clock comes from."""
        self.publishers: dict[str, int] = {}
        """Clocks heard from each address until `settled`."""
        self.settled = False
        """Set by the caller that knows the one server; from then on another clock is an error."""
        self.now_ns = -1
        """The last clock, ns; -1 before the first."""
        self.turns = 0
        """Clocks heard, repeats of a paused world included, duplicates of a message not."""
        self.repeats = 0
        """Clocks heard at the present time."""
        self.last_stamp_ns: list[int] = []
        """The newest stamp of each sensor; -1 before the first."""
        self.ignored = 0
        """Messages of no use: without a stamp, of the wrong type, from before a reset."""
        self.moved_grid = False
        """A sensor came when none was expected; the caller clears it."""

    def open(self, step_ns: int) -> None:
        """Subscribe, or begin anew. The clock comes last: when it is heard, the others are in."""
        self.close()
        # What an earlier server said, and what was said while nobody listened, is of no use.
        while self._node.receive(0.0) is not None:
            pass
        self.publisher = ""
        self.publishers = {}
        self.settled = False
        self.now_ns = self._watch.now_ns = -1
        self.turns = self.repeats = 0
        self._last_clock = b""
        self.expect(None, None)
        self.restart(step_ns)
        for sensor in self._sensors:
            self._subscriptions.append(self._node.subscribe(sensor.topic))
        self._subscriptions.append(self._node.subscribe(self._clock_topic))

    def restart(self, step_ns: int) -> None:
        """Forget what the sensors said: the world starts anew."""
        self.due = [
            DueTimes(sensor.period_ns, sensor.phase_ns, step_ns)
            if sensor.awaited and sensor.period_ns is not None
            else None
            for sensor in self._sensors
        ]
        self.last_stamp_ns[:] = [-1] * len(self._sensors)

    def close(self) -> None:
        """Unsubscribe. Idempotent."""
        for subscription in self._subscriptions:
            subscription.unsubscribe()
        self._subscriptions.clear()

    def expect(self, low_ns: int | None, high_ns: int | None) -> None:
        """Let the clock move from `low_ns` to `high_ns`; None leaves it free."""
        self._low_ns = low_ns
        self._high_ns = high_ns

    def listen(self, topic: str, handler: Callable[[Incoming], None]) -> Callable[[], None]:
        """Receive one more topic for a while; returns what ends it."""
        self._others[topic] = handler
        subscription = self._node.subscribe(topic)

        def end() -> None:
            subscription.unsubscribe()
            self._others.pop(topic, None)

        return end

    def pump(self, timeout_s: float) -> bool | None:
        """Take one message. None if none came in time, else whether it completed the barrier."""
        message = self._node.receive(timeout_s)
        return None if message is None else self.take(message)

    def drain(self) -> None:
        """Take all that has already arrived."""
        receive = self._node.receive
        while (message := receive(0.0)) is not None:
            self.take(message)

    def take(self, message: Incoming) -> bool:
        """Hand on one message; True if it completed the barrier."""
        topic = message.topic
        if topic == self._clock_topic:
            return self._take_clock(message)
        index = self._index.get(topic)
        if index is not None:
            return self._take_sample(index, message)
        handler = self._others.get(topic)
        if handler is not None:
            handler(message)
        return False

    def _take_clock(self, message: Incoming) -> bool:
        data = message.data
        if data == self._last_clock:
            # The same bytes twice, host time included, are one message delivered twice, not a turn.
            return False
        publisher = message.publisher
        if publisher != self.publisher and self.settled:
            self._meet(publisher)
        if message.type != _CLOCK_TYPE and not self._right_type(message, _CLOCK_TYPE):
            return False
        try:
            now_ns = self._reader.sim_ns(data)
        except DecodeError:
            self.ignored += 1
            return False
        self._last_clock = data
        if not self.settled:
            self.publisher = publisher
            self.publishers[publisher] = self.publishers.get(publisher, 0) + 1
        self.turns += 1
        before_ns = self.now_ns
        if now_ns == before_ns:
            self.repeats += 1
        else:
            self.now_ns = self._watch.now_ns = now_ns
            self.repeats = 1
            low_ns, high_ns = self._low_ns, self._high_ns
            if low_ns is not None and (now_ns < before_ns or now_ns < low_ns):
                raise self._lost(f"went back from {_s(before_ns)} to {_s(now_ns)}", "reset it")
            if high_ns is not None and now_ns > high_ns:
                raise self._lost(
                    f"went to {_s(now_ns)} where our steps end at {_s(high_ns)}",
                    "plays or steps it too (a GUI, another client, or steps left over from one)",
                )
        barrier = self.barrier
        return barrier is not None and barrier.clock(now_ns)

    def _take_sample(self, index: int, message: Incoming) -> bool:
        sensor = self._sensors[index]
        if message.type != sensor.type and not self._right_type(message, sensor.type):
            return False
        if not sensor.stamped:
            sensor.on_message(message, self.now_ns)
            return False
        stamp_ns = header_stamp_ns(message.data)
        if stamp_ns is None or (stamp_ns > self.now_ns >= 0):
            # The clock of T comes before the samples of T: a later stamp is from before a reset.
            self.ignored += 1
            return False
        if stamp_ns == self.last_stamp_ns[index]:
            return False
        self.last_stamp_ns[index] = stamp_ns
        times = self.due[index]
        if times is not None and not times.heard(stamp_ns):
            self.moved_grid = True
        sensor.on_message(message, stamp_ns)
        barrier = self.barrier
        return barrier is not None and barrier.sample(index, stamp_ns)

    def _right_type(self, message: Incoming, wanted: str) -> bool:
        if same_type(message.type, wanted):
            return True
        self.ignored += 1
        if message.topic not in self._types_blamed:
            self._types_blamed.add(message.topic)
            self._watch.tell(
                f"{message.topic} carries {message.type}, not {wanted}; its messages are ignored"
            )
        return False

    def _meet(self, publisher: str) -> None:
        """A clock came from an address that is not the one so far."""
        known = [info.address for info in clock_publishers(self._node, self._world)]
        if self.publisher in known:
            raise TwoServers(self._world, {self.publisher, publisher})
        raise BackendLost(
            f"the server of world {self._world!r} at {self.publisher} is gone, and another one at "
            f"{publisher} has taken its place; reset() starts anew with it"
        )

    def _lost(self, what: str, who: str) -> LockstepLost:
        return LockstepLost(
            f"the clock of world {self._world!r} {what}: somebody else {who}; "
            "stop that, then reset() starts anew"
        )


def _s(ns: int) -> str:
    return f"{ns / 1e9:.9g} s"
