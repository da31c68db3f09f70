"""`GzBridgeLink`: lockstep with a PX4 that is connected to Gazebo itself, by its own bridge.

PX4 takes its time, its sensors and its motors from Gazebo. What is left to do is to keep the world
from running ahead: for each IMU sample of the model PX4 publishes one message of motor speeds,
armed or not (measured on PX4 1.18 development), and the next step waits for it. The messages carry
neither time nor number. Which of them belong to a step the world knows, since nothing is under way
between two steps: see `BridgeWorld`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ghost.core import BackendLost, Event, EventSeverity, EventType, as_ns
from ghost.hal import LockstepState
from ghost.px4.link import LinkCounters, Readings
from ghost.px4.traffic import TrafficLog

__all__ = ["BridgeWorld", "GzBridgeLink"]

_SOURCE = "px4/gz_bridge"
_SETTLING = 50
"""A PX4 that has just spoken for the first time skips one or the other sample: its modules are
still starting. It counts as booting until it has answered so many in a row."""
_SETTLING_WAIT_S = 0.05


class BridgeWorld(Protocol):
    """A world in Gazebo with a model whose motors PX4 drives."""

    @property
    def model(self) -> str:
        """The model that PX4 attaches to."""

    @property
    def world(self) -> str:
        """Gazebo's name of the world."""

    @property
    def environ(self) -> Mapping[str, str]:
        """What PX4's environment needs to find the two."""

    @property
    def connected(self) -> bool:
        """Whether somebody who drives the motors is there. Not free of cost."""

    @property
    def passed_over(self) -> int:
        """Messages of the steps so far that came when the next step was already asked for."""

    def receive_motors(self, timeout_s: float) -> tuple[float, ...] | None:
        """The next message of the step that was made last, rad/s, in the autopilot's order.

        When it returns, the next step uses it. None if there is none in time.
        """


class GzBridgeLink:
    """The `Link` to a PX4 with its own bridge. PX4 drives the motors, so `motors` is None.

    Before the first message PX4 is booting: its clock must advance for that, so steps are not held
    up, but each waits `boot_wait_s`, as booting takes time of the host as well. Then each step's
    message is awaited, `answer_deadline_s` at most. Once one was missing the loop must not
    crawl: until PX4 answers again, each step waits `boot_wait_s`.
    """

    def __init__(
        self, world: BridgeWorld, *, answer_deadline_s: float = 1.0, boot_wait_s: float = 0.002
    ) -> None:
        for name, value in (("answer_deadline_s", answer_deadline_s), ("boot_wait_s", boot_wait_s)):
            if not 0.0 < value < float("inf"):
                raise ValueError(f"{name} must be a finite time above 0, got {value!r}")
        self._world = world
        self._deadline_s = answer_deadline_s
        self._wait_s = boot_wait_s
        self.counters = LinkCounters()
        self.traffic = TrafficLog("/mavlink/gz_bridge")
        """Always empty: no MAVLink goes this way."""
        self.open()

    def open(self) -> None:
        """Begin anew. There is no port to bind: PX4 finds the model by `BridgeWorld.environ`."""
        self.counters = LinkCounters()
        self._events: list[Event] = []
        self._now_ns = -1
        self._answered_ns = 0
        self._due = False
        self._booted = False
        self._in_a_row = 0
        self._there = False
        self._owed = 0
        self._passed_over = self._world.passed_over

    @property
    def connected(self) -> bool:
        """Whether PX4 drives the model's motors; while it answers, nobody is asked."""
        if self._booted and not self._owed:
            return True
        return self._look()

    @property
    def booted(self) -> bool:
        """Whether the PX4 that is connected has answered once."""
        return self._booted

    @property
    def armed(self) -> bool:
        """False: the bridge does not tell. Ask the session."""
        return False

    @property
    def silent_ns(self) -> int:
        """Simulated time since the last answer; 0 while PX4 boots."""
        return max(self._now_ns - self._answered_ns, 0) if self._answered_ns else 0

    def feed(self, now_ns: int, readings: Readings) -> None:  # noqa: ARG002 - PX4 reads Gazebo's
        """Note that the world moved: an answer is due. Raises `BackendLost` if time went back."""
        now_ns = as_ns("now_ns", now_ns, minimum=0)
        if now_ns < self._now_ns:
            raise BackendLost(
                f"the world went back from {self._now_ns} to {now_ns} ns, which PX4 cannot follow: "
                "it must be restarted, as reset() does"
            )
        self._now_ns = now_ns
        self._due = True

    def await_answer(self) -> LockstepState:
        """See `Link.await_answer`."""
        if not self._due:
            return LockstepState.NONE
        self._due = False
        late = self._late()
        booting = self._in_a_row < _SETTLING
        waiting = not booting and not self._owed
        if self._world.receive_motors(self._patience_s(waiting)) is not None:
            self._answer()
            return LockstepState.ANSWERED
        counters = self.counters
        if booting:
            counters.booting += 1
            self._in_a_row = 0
            return LockstepState.NONE
        counters.missing += 1
        self._owed += 1
        if waiting:
            self._tell(
                EventSeverity.ERROR,
                f"no motor message for the IMU sample of {self._now_ns} ns within "
                f"{self._deadline_s:g} s; the world goes on",
            )
        if not self._look():
            self._gone()
        return LockstepState.LATE if late else LockstepState.MISSING

    def motors(self) -> None:
        """None: PX4 drives the motors itself."""
        return

    def events(self) -> list[Event]:
        """What changed since the last call."""
        events, self._events = self._events, []
        return events

    def close(self) -> None:
        """Nothing is kept open: the world is its owner's. Idempotent."""
        self._due = self._booted = self._there = False

    # -- inside -----------------------------------------------------------------------------

    def _late(self) -> int:
        """Take note of messages that came after the world had gone on; how many were owed."""
        passed_over = self._world.passed_over
        late = min(passed_over - self._passed_over, self._owed)
        self._passed_over = passed_over
        if late > 0:
            self._owed -= late
            self.counters.missing -= late
            self.counters.late += late
        return max(late, 0)

    def _patience_s(self, waiting: bool) -> float:
        if waiting:
            return self._deadline_s
        if self._in_a_row and not self._owed:
            return min(_SETTLING_WAIT_S, self._deadline_s)
        return self._wait_s

    def _answer(self) -> None:
        self._answered_ns = self._now_ns
        self._in_a_row += 1
        if self._owed:
            self._tell(
                EventSeverity.INFO,
                f"PX4 answers again; {self._owed} IMU samples stay without an answer",
            )
            self._owed = 0
        if not self._booted:
            if self.counters.answered:
                self.counters.reconnects += 1
                self._tell(EventSeverity.WARN, "PX4 was restarted, and answers again")
            self._booted = self._there = True
        self.counters.answered += 1

    def _gone(self) -> None:
        """Nobody drives the motors any more; whoever comes has to boot first."""
        self._booted = False
        self._in_a_row = self._owed = 0
        self._tell(EventSeverity.ERROR, "PX4 has gone: nobody publishes motor speeds any more")

    def _look(self) -> bool:
        there = self._world.connected
        if there and not self._there and not self._booted:
            # A PX4 that boots is not silent.
            self._answered_ns = 0
        self._there = there
        return there

    def _tell(self, severity: EventSeverity, message: str) -> None:
        self._events.append(
            Event(
                EventType.LOCKSTEP_FAULT,
                max(self._now_ns, 0),
                severity,
                _SOURCE,
                message,
                {"answered": self.counters.answered, "missing": self.counters.missing},
            )
        )
