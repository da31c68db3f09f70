"""Watching where a run goes, in bounded memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from ghost.core import EVENTS_TOPIC, Envelope, Event, EventType, MessageBus, ScenarioSpec
from ghost.hal import Capabilities
from ghost.runtime.observer import RunInfo, RunStatus
from ghost.runtime.result import RunResult
from ghost.runtime.spread import Track

__all__ = ["ESTIMATE", "TRUTH", "Path", "TrackObserver", "period_of"]

TRUTH = "truth"
ESTIMATE = "estimate"
_TOPICS: Mapping[str, str] = {TRUTH: "/ground_truth", ESTIMATE: "/estimate"}
_ABSURD_M = 1e12
"""A position beyond it (or NaN) is none."""


class _Pose(Protocol):
    """What `GroundTruth` and an autopilot's estimate have in common."""

    @property
    def stamp_sim_ns(self) -> int: ...
    @property
    def pos_enu_m(self) -> npt.NDArray[np.float64]: ...
    @property
    def q_enu_flu(self) -> npt.NDArray[np.float64]: ...


def period_of(scenario: ScenarioSpec, points: int) -> int:
    """The time in ns between positions that are kept, so that a run keeps about `points` of them.

    It is a multiple of the scenario's step, and the same for every run of the scenario.
    """
    steps = -(-scenario.duration_ns // scenario.step_ns)
    return scenario.step_ns * max(1, -(-steps // points))


class Path:
    """Takes every pose of a run and keeps the first at or after each multiple of `period_ns`."""

    def __init__(self, period_ns: int) -> None:
        self._period_ns = period_ns
        self._due_ns = 0
        self._start_ns = 0
        self._rows: list[tuple[int, _Pose]] = []
        self._last: _Pose | None = None

    def start(self, start_ns: int) -> None:
        """Count time from here on."""
        self._start_ns = start_ns

    def hear(self, envelope: Envelope) -> None:
        """Take the next pose from the bus."""
        self.add(cast(_Pose, envelope.payload))

    def add(self, pose: _Pose) -> None:
        """Take the next pose. One whose stamp lies before the start or the last one is left out."""
        t_ns = pose.stamp_sim_ns - self._start_ns
        if t_ns >= self._due_ns:
            self._due_ns = (t_ns // self._period_ns + 1) * self._period_ns
            self._rows.append((t_ns, pose))
        self._last = pose

    def track(self) -> tuple[Track, int, bool]:
        """Return the track, how many of its poses were no numbers, and whether the last was one."""
        rows = list(self._rows)
        if self._last is not None and rows:
            t_ns = self._last.stamp_sim_ns - self._start_ns
            if t_ns > rows[-1][0]:
                rows.append((t_ns, self._last))
        good = [(t_ns, pose) for t_ns, pose in rows if _is_good(pose)]
        whole = bool(rows) and bool(good) and good[-1][0] == rows[-1][0]
        track = Track(
            np.array([t_ns for t_ns, _ in good], np.int64),
            np.array([pose.pos_enu_m for _, pose in good], np.float64).reshape(-1, 3),
            np.array([pose.q_enu_flu for _, pose in good], np.float64).reshape(-1, 4),
        )
        return track, len(rows) - len(good), whole


def _is_good(pose: _Pose) -> bool:
    # NaN is not below it either.
    return all(abs(number) < _ABSURD_M for number in pose.pos_enu_m.tolist())


class TrackObserver:
    """A `RunObserver` that keeps the path of a run, by truth and by estimate.

    Time counts from the run's start, which is where its clock stood after the reset: a run with an
    autopilot, which must boot and settle first, does not begin at 0.
    """

    def __init__(self, period_ns: int) -> None:
        self.paths = {source: Path(period_ns) for source in _TOPICS}
        self.capabilities: Capabilities | None = None
        self.began_ns: int | None = None
        """The run's start on its own clock; None until it has begun."""

    def attach(self, bus: MessageBus, info: RunInfo) -> None:
        """Listen, to the truth too if the world has it."""
        self.capabilities = info.capabilities
        self._initial = info.initial_truth
        bus.subscribe(EVENTS_TOPIC, self._event)
        for source, topic in _TOPICS.items():
            bus.subscribe(topic, self.paths[source].hear)

    def tick(self, status: RunStatus) -> None:
        """Nothing to do between steps."""

    def close(self, result: RunResult | None) -> None:
        """Nothing to close."""

    def _event(self, envelope: Envelope) -> None:
        event = envelope.payload
        if (
            self.began_ns is None
            and isinstance(event, Event)
            and event.type is EventType.RUN_STARTED
        ):
            self.began_ns = event.stamp_sim_ns
            for path in self.paths.values():
                path.start(event.stamp_sim_ns)
            if self._initial is not None:
                self.paths[TRUTH].add(self._initial)
