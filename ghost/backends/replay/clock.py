"""`ReplayClock`: the `SimClock` of a recording (clock spec §7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NoReturn

import numpy as np

from ghost.core import (
    ContractViolation,
    EventSink,
    Handle,
    RandomSource,
    RandomStream,
    SteppedClock,
    as_ns,
)

__all__ = ["Feed", "Logged", "NoRandom", "ReplayClock"]

Logged = tuple[str, int, int, object]
"""Of a recorded message: topic, `stamp_sim_ns`, sequence, the message itself."""

NEVER_NS = 2**64
"""After every stamp: the end of a recording."""


class Feed:
    """Recorded messages in their total order, with a look at the next stamp. Holds one message."""

    __slots__ = ("item", "messages", "stamp_ns")

    def __init__(self, messages: Iterator[Logged]) -> None:
        self.messages = messages
        self.item: Logged | None = None
        """The next message; None at the end."""
        self.stamp_ns = 0
        """When it is due; `NEVER_NS` at the end."""
        self.take()

    def take(self) -> Logged | None:
        """Return the next message, and go on to the one after it."""
        item = self.item
        self.item = following = next(self.messages, None)
        self.stamp_ns = NEVER_NS if following is None else following[1]
        return item


class ReplayClock:
    """Plays recorded messages as time goes by.

    `advance(dt)` hands every message stamped within `(now, now + dt]` to `deliver`, in the recorded
    total order (stamp, then sequence), with the clock at the message's stamp; messages stamped at
    or before the start come first, in the first `advance`.

    Callbacks given to `schedule` and `schedule_periodic` are checked, and never run: what a
    controller would do is in the recording already. With `run_callbacks` they run as on
    `SteppedClock`; those due at T then see all the messages stamped T.

    Args:
        step_ns: the step of the recorded run.
        feed: the messages, from `start_ns` on.
        deliver: called with each message. What it raises passes through `advance`.
        start_ns: the time to begin with.
        seed: the recorded seed, which `random_source()` reports.
        run_callbacks: run scheduled callbacks.
        on_event: told of callbacks that raise.
    """

    __slots__ = ("_deliver", "_feed", "_inner", "_now_ns", "_random", "_running", "_step_ns")

    def __init__(
        self,
        step_ns: int,
        feed: Feed,
        deliver: Callable[[Logged], None],
        *,
        start_ns: int = 0,
        seed: int = 0,
        run_callbacks: bool = False,
        on_event: EventSink | None = None,
    ) -> None:
        self._step_ns = as_ns("step_ns", step_ns, minimum=1)
        self._now_ns = as_ns("start_ns", start_ns)
        self._feed = feed
        self._deliver = deliver
        self._random = NoRandom(RandomStream(seed))
        self._running = False
        self._inner: SteppedClock | None = None
        if run_callbacks:
            self._inner = SteppedClock(
                step_ns, start_ns=start_ns, on_event=on_event, arrive=self._arrive
            )

    def now_ns(self) -> int:
        """Return the time in the recording in ns; it never goes back."""
        return self._now_ns if self._inner is None else self._inner.now_ns()

    def step_ns(self) -> int:
        """Return the step of the recorded run in ns."""
        return self._step_ns

    def advance(self, dt_ns: int) -> None:
        """Move on by `dt_ns` and play what was recorded in that time.

        Raises `TypeError` for a `dt_ns` that is no integer, `ValueError` if it is negative, and
        `ContractViolation` from inside a delivery or a callback.
        """
        if type(dt_ns) is not int:
            dt_ns = as_ns("dt_ns", dt_ns)
        if dt_ns < 0:
            raise ValueError(f"dt_ns must not be negative, got {dt_ns}")
        if self._running:
            raise ContractViolation(
                "advance() was called while the clock is advancing (from a subscriber or a "
                "callback)"
            )
        self._running = True
        try:
            if self._inner is None:
                self._play(self._now_ns + dt_ns)
            else:
                self._play_with_callbacks(self._inner, dt_ns)
        finally:
            self._running = False

    def _play(self, target_ns: int) -> None:
        feed, take, deliver = self._feed, self._feed.take, self._deliver
        while feed.stamp_ns <= target_ns:
            # Taken before it is delivered: what raises is not played again.
            item = take()
            assert item is not None
            if item[1] > self._now_ns:
                self._now_ns = item[1]
            deliver(item)
        self._now_ns = target_ns

    def _play_with_callbacks(self, inner: SteppedClock, dt_ns: int) -> None:
        target_ns = inner.now_ns() + dt_ns
        feed = self._feed
        while feed.stamp_ns <= target_ns:
            inner.advance(max(0, feed.stamp_ns - inner.now_ns()))
        inner.advance(target_ns - inner.now_ns())

    def _arrive(self) -> None:
        assert self._inner is not None
        feed, now_ns = self._feed, self._inner.now_ns()
        while feed.stamp_ns <= now_ns:
            item = feed.take()
            assert item is not None
            self._deliver(item)

    def schedule(self, at_ns: int, cb: Callable[[], None]) -> Handle:
        """Fire `cb` once at `at_ns`, if callbacks run at all; see `SteppedClock.schedule`."""
        if self._inner is not None:
            return self._inner.schedule(at_ns, cb)
        at_ns = as_ns("at_ns", at_ns)
        if at_ns < self._now_ns:
            raise ValueError(f"at_ns {at_ns} is in the past, the clock is at {self._now_ns}")
        return _silent(cb)

    def schedule_periodic(
        self, period_ns: int, cb: Callable[[], None], phase_ns: int = 0
    ) -> Handle:
        """Fire `cb` periodically, if callbacks run; see `SteppedClock.schedule_periodic`."""
        if self._inner is not None:
            return self._inner.schedule_periodic(period_ns, cb, phase_ns)
        as_ns("period_ns", period_ns, minimum=1)
        as_ns("phase_ns", phase_ns)
        return _silent(cb)

    def random_source(self) -> NoRandom:
        """Return a source that knows the recorded seed and refuses to draw (clock spec §7)."""
        return self._random


def _silent(cb: Callable[[], None]) -> Handle:
    if not callable(cb):
        raise TypeError(f"cb must be callable, got {cb!r}")
    return Handle(cancel=lambda: None)


class NoRandom:
    """The `RandomSource` of a replay: the tree of labels is there, numbers are not.

    What was drawn in the recorded run is in its messages, and the log keeps no draws. A number
    drawn anew would be one that the recorded run never saw, so every draw is `ContractViolation`.
    """

    __slots__ = ("_place",)

    def __init__(self, place: RandomStream) -> None:
        self._place = place

    @property
    def seed(self) -> int:
        """The seed of the recorded run."""
        return self._place.seed

    @property
    def label(self) -> str:
        """The path from the root."""
        return self._place.label

    def child(self, label: str) -> RandomSource:
        """Return the source `label` below this one."""
        if not isinstance(label, str):
            raise TypeError(f"label must be a str, got {type(label).__name__} {label!r}")
        path = f"{self.label.rstrip('/')}/{label.removeprefix('/')}"
        return NoRandom(RandomStream(self.seed, path))

    def uniform(self, a: float, b: float, size: object = None) -> NoReturn:  # noqa: ARG002 - RandomSource
        """Raise `ContractViolation`."""
        self._refuse("uniform")

    def normal(self, mu: float, sigma: float, size: object = None) -> NoReturn:  # noqa: ARG002 - RandomSource
        """Raise `ContractViolation`."""
        self._refuse("normal")

    def integers(self, low: int, high: int, size: object = None) -> NoReturn:  # noqa: ARG002 - RandomSource
        """Raise `ContractViolation`."""
        self._refuse("integers")

    def numpy_rng(self) -> np.random.Generator:
        """Raise `ContractViolation`."""
        self._refuse("numpy_rng")

    def _refuse(self, method: str) -> NoReturn:
        raise ContractViolation(
            f"random_source {self.label!r}.{method}(): a replay draws no random numbers, and none "
            "were recorded; run the scenario again (ghost rerun) to have them"
        )
