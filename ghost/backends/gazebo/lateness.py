"""When a reading is not there: waiting for a late image, and what a silent sensor comes to.

After a step, everything that does not render is in (see `ghost.gz.world`), so a reading that is
missing then will not come: the sensor is silent, OFFLINE, and one event says so (D18). Rendering
sensors deliver from a thread of their own, so their reading is waited for, while the world stands
still; one that misses its deadline makes the sensor DEGRADED, several in a row make it OFFLINE, and
an offline sensor is not waited for any more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from ghost.core import Event, EventSeverity, EventSink, EventType
from ghost.hal import SensorHealth
from ghost.sensing import ChannelProvider

__all__ = ["Awaitable", "Lateness", "Letter"]

_PATIENCE = 3
"""Missed frames in a row after which a camera is taken to be dead."""
_FIRST_FACTOR = 5.0
"""The renderer starts when the first image is subscribed to, and takes seconds for it."""


class Letter(Protocol):
    """What is asked of a mailbox here."""

    sensor_id: str
    topic: str
    period_ns: int
    rendered: bool
    stamp_ns: int


class Awaitable(Protocol):
    """What is asked of the world here."""

    def await_stamp(self, topic: str, stamp_ns: int, timeout_s: float) -> bool:
        """See `ghost.gz.world.WorldControl.await_stamp`."""


class Lateness:
    """Decides for each sensor of one run whether its reading is there."""

    def __init__(
        self,
        world: Awaitable,
        world_step_ns: int,
        providers: Mapping[str, ChannelProvider],
        on_event: EventSink,
        image_deadline_s: float,
    ) -> None:
        self._world = world
        self._step_ns = world_step_ns
        self._providers = providers
        self._on_event = on_event
        self._deadline_s = image_deadline_s
        self._missed: dict[str, int] = {}
        self._given_up: dict[str, int] = {}
        self._first = True

    def waiter(self, box: Letter) -> Callable[[int], bool]:
        """Return what says, at a time of the run, whether the mailbox holds the reading of then."""
        period_ns = max(box.period_ns, self._step_ns)

        def plain(now_ns: int) -> bool:
            if box.stamp_ns > now_ns - period_ns:
                self._came(box, now_ns)
                return True
            self._silent(box, now_ns)
            return False

        def rendered(now_ns: int) -> bool:
            missed = self._missed.get(box.sensor_id, 0)
            due_ns = self._grid_ns(period_ns, now_ns)
            # A camera that was given up is waited for again once anything new comes from it.
            hopeful = missed < _PATIENCE or box.stamp_ns > self._given_up[box.sensor_id]
            if box.stamp_ns < due_ns and hopeful:
                patience_s = self._deadline_s * (_FIRST_FACTOR if self._first else 1.0)
                self._world.await_stamp(box.topic, due_ns, patience_s)
            if box.stamp_ns >= due_ns:
                self._first = False
                self._came(box, now_ns)
                return True
            self._late(box, now_ns, missed + 1)
            return False

        return rendered if box.rendered else plain

    def _grid_ns(self, period_ns: int, now_ns: int) -> int:
        """The stamp of the newest frame at `now_ns`: the first step at or after its grid time."""
        grid_ns = now_ns // period_ns * period_ns
        return max(-(-grid_ns // self._step_ns), 1) * self._step_ns

    def _came(self, box: Letter, now_ns: int) -> None:
        if not self._missed.pop(box.sensor_id, 0):
            return
        provider = self._providers[box.sensor_id]
        if provider.health is SensorHealth.OFFLINE:
            provider.go_online()
        self._tell(EventType.SENSOR_RECOVERED, EventSeverity.INFO, box, now_ns, "delivers again")

    def _silent(self, box: Letter, now_ns: int) -> None:
        if self._missed.get(box.sensor_id):
            return
        self._missed[box.sensor_id] = _PATIENCE
        self._providers[box.sensor_id].go_offline()
        heard = f"its last message is of {box.stamp_ns} ns" if box.stamp_ns >= 0 else "it never did"
        self._tell(
            EventType.SENSOR_FAULT,
            EventSeverity.ERROR,
            box,
            now_ns,
            f"does not deliver on {box.topic}; {heard}",
        )

    def _late(self, box: Letter, now_ns: int, missed: int) -> None:
        self._missed[box.sensor_id] = min(missed, _PATIENCE + 1)
        self._given_up[box.sensor_id] = box.stamp_ns
        provider = self._providers[box.sensor_id]
        if missed == 1:
            provider.degrade()
            what = f"has no frame of this time within {self._deadline_s:g} s: degraded"
            self._tell(EventType.SENSOR_FAULT, EventSeverity.WARN, box, now_ns, what)
        elif missed == _PATIENCE:
            provider.go_offline()
            what = f"has had no frame for {missed} times: offline, it is not waited for any more"
            self._tell(EventType.SENSOR_FAULT, EventSeverity.ERROR, box, now_ns, what)

    def _tell(
        self, kind: EventType, severity: EventSeverity, box: Letter, now_ns: int, what: str
    ) -> None:
        self._on_event(
            Event(
                kind,
                now_ns,
                severity,
                f"sensors/{box.sensor_id}",
                f"sensor {box.sensor_id} {what}",
                {"sensor_id": box.sensor_id, "kind": "silent", "injected": False},
            )
        )
