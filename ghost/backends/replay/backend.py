"""`ReplayBackend`: a recording as a world of its own (clock spec §7)."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Self

from ghost.backends.replay.actuators import CompareReport, ReplaySink
from ghost.backends.replay.clock import Feed, Logged, ReplayClock
from ghost.backends.replay.log import (
    RecordedRun,
    chosen_topics,
    last_truth_before,
    open_log,
    read_run,
)
from ghost.backends.replay.sensors import ReplaySensors
from ghost.core import (
    ClosedError,
    ConfigError,
    ContractViolation,
    Event,
    EventSeverity,
    EventType,
    ScenarioSpec,
    as_ns,
    check_seed,
)
from ghost.hal import (
    HAL_PROTOCOL_VERSION,
    Capabilities,
    CommandRecord,
    GroundTruth,
    MavlinkTraffic,
    Message,
    SensorId,
    SensorProvider,
    SensorSample,
    StateEstimate,
    StepReport,
)
from ghost.recording import LogReader

__all__ = ["ReplayBackend"]

_MAX_REPORTS = 10_000
Tap = Callable[[str, int, object], None]
"""Is told of each recorded message as it is played: topic, stamp, message."""


class ReplayBackend:
    """Plays a recording through the HAL: the same loop, the same samples, bit by bit.

    `reset(scenario, seed)` rewinds to the start. It takes the recorded scenario and seed and no
    others: a recording is one run and cannot become another. `rewind()` needs neither.
    `capabilities` are those of the recorded world, with `supports_replay`, `deterministic` (the
    same file plays the same, whatever made it) and `extensions["fixed_scenario"]`.

    The clock starts where that of the recorded run did (0 but for an autopilot that had to get
    ready), and where a window is given, at its `start_ns`. Time goes on after the
    end of the recording, with nothing published and one `REPLAY_ENDED` event.

    Args:
        path: an MCAP file of Ghost, finished or not, or of another tool with Foxglove schemas.
        start_ns: play from here: the step before the first message wanted. On the step grid.
        end_ns: play up to and with this time.
        topics: shell patterns such as `/sensors/imu*`; others are not played. All by default.
        run_callbacks: run what is scheduled on the clock (clock spec §7 leaves it out by default).
        compare: say in each ack how far the command is from the recorded one.

    Raises `ConfigError` for a file that cannot be played, and a window or filter that fits nothing.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        start_ns: int | None = None,
        end_ns: int | None = None,
        topics: Iterable[str] = (),
        run_callbacks: bool = False,
        compare: bool = False,
    ) -> None:
        self._path = os.fspath(path)
        self._reader: LogReader | None = open_log(self._path)
        try:
            self.run: RecordedRun = read_run(self._reader)
            """What the recording says about its run."""
            self._topics = chosen_topics(self.run, topics)
            self._set_window(start_ns, end_ns)
        except BaseException:
            self._reader.close()
            raise
        self._run_callbacks = run_callbacks
        self._truth_topics = tuple(
            topic.topic
            for topic in self.run.topics
            if topic.schema.rpartition(".")[2] in ("GroundTruth", "PoseInFrame")
            and (self._topics is None or topic.topic in self._topics)
        )
        self._taps: tuple[Tap, ...] = ()
        self._own: list[Event] = []
        self._sensors = ReplaySensors(self.run.sensors, self._own.append)
        self._sink = ReplaySink(self.run.actuators, self._now_ns, compare=compare)
        self._sink.close()
        self._clock: ReplayClock | None = None
        self._feed = Feed(iter(()))
        self._closed = False
        self._truth: GroundTruth | None = None
        self._reported: deque[tuple[str, Message]] = deque(maxlen=_MAX_REPORTS)
        self._end_told = False
        self._begin_step()
        self.capabilities = self._declare()

    def _set_window(self, start_ns: int | None, end_ns: int | None) -> None:
        run = self.run
        self._start_ns = run.start_ns
        if start_ns is not None:
            start_ns = as_ns("start_ns", start_ns)
            self._start_ns = self._on_grid(max(start_ns, run.start_ns))
        self._end_ns = run.end_ns if end_ns is None else min(as_ns("end_ns", end_ns), run.end_ns)
        if self._start_ns >= self._end_ns:
            raise ConfigError(
                f"nothing was recorded between {self._start_ns / 1e9:g} s and "
                f"{(self._end_ns if end_ns is None else end_ns) / 1e9:g} s; the recording goes "
                f"from {run.start_ns / 1e9:g} s to {run.end_ns / 1e9:g} s",
                file=self._path,
            )

    def _on_grid(self, at_ns: int) -> int:
        return at_ns - (at_ns - self.run.start_ns) % self.run.step_ns

    def _declare(self) -> Capabilities:
        recorded = self.run.capabilities
        extensions: dict[str, Any] = {
            **recorded.extensions,
            "fixed_scenario": True,
            "replay_of": self.run.backend or "unknown",
        }
        extensions.pop("armable", None)
        return replace(
            recorded,
            hal_version=HAL_PROTOCOL_VERSION,
            sensor_ids=tuple(spec.sensor_id for spec, _ in self.run.sensors),
            actuator_levels=self.run.actuators.levels,
            has_ground_truth=recorded.has_ground_truth and bool(self._truth_topics),
            synchronous_step=True,
            deterministic=True,
            supports_replay=True,
            extensions=extensions,
        )

    # The recording

    @property
    def scenario(self) -> ScenarioSpec | None:
        """The recorded scenario; None if the file does not say."""
        return self.run.scenario

    @property
    def seed(self) -> int | None:
        """The recorded seed; None if the file does not say."""
        return self.run.seed

    @property
    def start_ns(self) -> int:
        """Where `reset` rewinds to."""
        return self._start_ns

    @property
    def end_ns(self) -> int:
        """The last time that is played."""
        return self._end_ns

    @property
    def is_filtered(self) -> bool:
        """Whether some topics are left out."""
        return self._topics is not None

    @property
    def finished(self) -> bool:
        """Whether everything was played."""
        return self._clock is not None and self._clock.now_ns() >= self._end_ns

    @property
    def next_ns(self) -> int:
        """When the next message is due; after every stamp (`NEVER_NS`) if there is none."""
        return self._feed.stamp_ns

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong with the file, as far as it was read."""
        damage = () if self._reader is None else self._reader.notes
        return tuple(dict.fromkeys((*self.run.notes, *damage)))

    def tap(self, cb: Tap) -> Callable[[], None]:
        """Call `cb(topic, stamp_ns, message)` with every message played, in the total order.

        This is how a run loop re-publishes events, acks, commands and step reports, which have no
        place in the HAL. Returns the function that ends it. What `cb` raises ends the step.
        """
        self._taps = (*self._taps, cb)

        def untap() -> None:
            self._taps = tuple(known for known in self._taps if known is not cb)

        return untap

    def seek(self, at_ns: int) -> None:
        """Go to a time, rounded down to the step grid, as if all before had been played unseen.

        Like `reset`, it makes a new clock (callbacks of the old one are gone) and empties the
        queues. Raises `ValueError` for a time outside the recording or the window.
        """
        self._running()
        at_ns = as_ns("at_ns", at_ns)
        if not self._start_ns <= at_ns <= self._end_ns:
            raise ValueError(
                f"at_ns {at_ns} is outside the recording, {self._start_ns}..{self._end_ns}"
            )
        self._rewind(self._on_grid(at_ns))

    def known_until(self, end_ns: int) -> Iterator[GroundTruth | StateEstimate]:
        """Yield what the recorded plan was flown on, from the start up to and with `end_ns`.

        That is the truth, or the estimate of an autopilot. Nothing is played.
        """
        if self._reader is None:
            raise ClosedError("the replay was shut down; call reset(scenario, seed) to rewind")
        topics, piloted = list(self._truth_topics), self.run.is_piloted
        if piloted:
            topics = [t.topic for t in self.run.topics if t.schema.endswith(".StateEstimate")]
        for item in self._reader.messages(topics, None, end_ns + 1) if topics else ():
            if isinstance(item.message, StateEstimate if piloted else GroundTruth):
                yield item.message

    def compare_report(self) -> CompareReport:
        """Return how the commands sent since the last reset compare to the recorded ones."""
        return self._sink.compare_report()

    # SimulationBackend

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        """Rewind. Raises `ConfigError` for a scenario or seed that is not the recorded one."""
        if not isinstance(scenario, ScenarioSpec):
            raise TypeError(f"scenario must be a ScenarioSpec, got {type(scenario).__name__}")
        seed = check_seed(seed)
        recorded = self.run.scenario
        if recorded is None:
            raise ConfigError(
                "the file does not say which scenario was recorded; use rewind()", file=self._path
            )
        if scenario != recorded:
            same = " with other values" if scenario.name == recorded.name else ""
            raise ConfigError(
                f"a recording plays its own scenario only: it has {recorded.name!r}, asked for was "
                f"{scenario.name!r}{same}; give reset() backend.scenario",
                file=self._path,
            )
        if seed != self.run.seed:
            raise ConfigError(
                f"a recording has one seed, {self.run.seed}, and cannot be reset with {seed}; "
                "run the scenario again for another one",
                file=self._path,
            )
        self.rewind()

    def rewind(self) -> None:
        """Go back to the start, like `reset` with the recorded scenario and seed.

        Raises `ConfigError` if the file is gone.
        """
        if self._reader is None:
            self._reader = open_log(self._path)
        self._closed = False
        self._rewind(self._start_ns)

    def _rewind(self, at_ns: int) -> None:
        reader, run = self._reader, self.run
        assert reader is not None
        # Messages stamped at the very start belong to it; after a seek they were played already.
        first_ns = None if at_ns == run.start_ns else at_ns + 1
        self._feed = feed = Feed(reader.messages(self._topics, first_ns, self._end_ns + 1))
        self._clock = ReplayClock(
            run.step_ns,
            feed,
            self._deliver,
            start_ns=at_ns,
            seed=run.seed or 0,
            run_callbacks=self._run_callbacks,
            on_event=self._own.append,
        )
        self._own.clear()
        self._reported.clear()
        self._end_told = False
        self._begin_step()
        self._sensors.reset()
        self._sink.reset()
        self._truth = run.initial_truth if self.capabilities.has_ground_truth else None
        if at_ns > run.start_ns:
            self._catch_up(reader, at_ns)

    def _catch_up(self, reader: LogReader, at_ns: int) -> None:
        """Find the state at a time that was jumped to: truth, silent sensors, the last command."""
        floor_ns = self.run.start_ns
        found = last_truth_before(reader, self._truth_topics, at_ns, floor_ns)
        if found is not None:
            self._truth = found
        for kind in ("Event", "CommandRecord"):
            names = [t.topic for t in self.run.topics if t.schema.endswith(f".{kind}")]
            if self._topics is not None:
                names = [name for name in names if name in self._topics]
            if kind == "CommandRecord":
                # Only the last one counts, and commands come often: a second is enough to look.
                floor_ns = max(self.run.start_ns, at_ns - 1_000_000_000)
            if names:
                for _, _, _, message in reader.messages(names, floor_ns, at_ns + 1):
                    if isinstance(message, Event):
                        self._sensors.note(message)
                    elif isinstance(message, CommandRecord):
                        self._sink.recorded(message)

    def step(self, dt_ns: int) -> StepReport:
        """Play what was recorded in the next `dt_ns`; see `SimulationBackend.step`.

        The report is the recorded one where the recording has one of this very step.
        """
        clock = self._running()
        dt = as_ns("dt_ns", dt_ns, minimum=1)
        count, rest = divmod(dt, clock.step_ns())
        if rest:
            raise ValueError(
                f"dt_ns must be a multiple of the recorded step_ns {clock.step_ns()}, got {dt}"
            )
        self._begin_step()
        clock.advance(dt)
        now_ns = clock.now_ns()
        if now_ns > self._end_ns and not self._end_told:
            self._end_told = True
            self._own.append(self._ended())
        return self._report(now_ns, count)

    def _begin_step(self) -> None:
        self._counts: dict[str, int] = {}
        self._reports: list[StepReport] = []
        self._events: list[Event] = []

    def _report(self, now_ns: int, count: int) -> StepReport:
        own, reports = self._own, self._reports
        if len(reports) == 1 and not own:
            report = reports[0]
            if report.now_ns == now_ns and report.steps == count and report.samples == self._counts:
                return report
        # A file without step reports cannot tell the world's events from those of the loop.
        recorded = [event for report in reports for event in report.faults]
        faults = (*(recorded if reports else self._events), *own)
        own.clear()
        if reports:
            return StepReport(now_ns, count, self._counts, faults, reports[-1].lockstep)
        return StepReport(now_ns, count, self._counts, faults)

    def _ended(self) -> Event:
        return Event(
            EventType.REPLAY_ENDED,
            self._end_ns,
            EventSeverity.INFO,
            "replay",
            f"the recording ended at {self._end_ns / 1e9:g} s; nothing is published any more",
            {"file": self._path, "end_ns": self._end_ns},
        )

    def _deliver(self, item: Logged) -> None:
        message: Any = item[3]
        kind = type(message)
        if kind is SensorSample:
            if self._sensors.publish(message):
                counts, sensor_id = self._counts, message.sensor_id
                counts[sensor_id] = counts.get(sensor_id, 0) + 1
        elif kind is GroundTruth:
            self._truth = message
        elif kind is StepReport:
            self._reports.append(message)
        elif kind is Event:
            self._events.append(message)
            self._sensors.note(message)
        elif kind is CommandRecord:
            self._sink.recorded(message)
        elif kind is StateEstimate or kind is MavlinkTraffic:
            self._reported.append((item[0], message))
        for tap in self._taps:
            tap(item[0], item[1], message)

    def shutdown(self) -> None:
        """Close the file. Idempotent; `reset` opens it again."""
        if self._closed:
            return
        self._closed = True
        self._sink.close()
        self._sensors.offline_all()
        self._own.clear()
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    @property
    def clock(self) -> ReplayClock:
        """See `SimulationBackend.clock`."""
        return self._running()

    def sensors(self) -> Mapping[SensorId, SensorProvider[Any]]:
        """See `SimulationBackend.sensors`."""
        self._running()
        return self._sensors.providers

    def actuators(self) -> ReplaySink:
        """See `SimulationBackend.actuators`."""
        self._running()
        return self._sink

    def ground_truth(self) -> GroundTruth | None:
        """The latest truth recorded at or before now; None where none was recorded."""
        self._running()
        return self._truth

    def reports(self) -> list[tuple[str, Message]]:
        """See `Reporting`: the estimates and traffic that were played, the newest thousands."""
        self._running()
        reported = self._reported
        return [reported.popleft() for _ in range(len(reported))]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.shutdown()

    def _running(self) -> ReplayClock:
        if self._closed:
            raise ClosedError("the replay was shut down; call reset(scenario, seed) to rewind")
        if self._clock is None:
            raise ContractViolation("call reset(scenario, seed) before anything else")
        return self._clock

    def _now_ns(self) -> int:
        return 0 if self._clock is None else self._clock.now_ns()
