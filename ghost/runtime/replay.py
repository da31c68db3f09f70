"""Running a recording: the pace, bus, observers and account of a live run, on recorded messages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ghost.core import Event, EventSeverity, EventType, FlightPlan, HostClock
from ghost.hal import (
    ActuatorLevel,
    CommandAck,
    CommandRecord,
    GroundTruth,
    LockstepState,
    SensorSample,
    StateEstimate,
    StepReport,
)
from ghost.runtime.base import RunBase
from ghost.runtime.follower import PlanFollower
from ghost.runtime.legs import Limits
from ghost.runtime.observer import RunInfo, RunObserver
from ghost.runtime.result import RunResult

if TYPE_CHECKING:
    from ghost.backends.replay import ReplayBackend
    from ghost.core import MessageBus

__all__ = ["ReplayRun"]

REPLAYED = "a recording: commands and acks are the recorded ones"
_GAP_NS = 1_000_000_000
"""A longer silence is passed in one step."""
_NO_STEPS = {"answered": 0, "late": 0, "missing": 0}
_ANYTHING = tuple(ActuatorLevel)


class ReplayRun(RunBase):
    """One pass over a recording, which publishes what the recorded run published, in its order.

    The digest takes samples, truth and acks as a live run does, so that of a whole recording equals
    the one its run printed. The flight plan is followed too, on the recorded truth or on the
    estimate of the autopilot that flew, for the tracking error; its commands go nowhere, or with
    `compare` to the backend's sink, whose answers appear on `/replay/ack`, next to the commands on
    `/replay/command`.

    Args:
        backend: a `ReplayBackend`, with its window and topics; reset by `execute`.
        compare: send the plan's commands to the sink (made with `compare=True`).
        rtf: hold back to so many times real time; None plays as fast as it goes.
        bus: where to publish; a new one by default.
        observers: attached before the first publication, if the recording has a scenario.
        host: the host's clock.
    """

    def __init__(
        self,
        backend: ReplayBackend,
        *,
        compare: bool = False,
        rtf: float | None = None,
        bus: MessageBus | None = None,
        observers: Sequence[RunObserver] = (),
        host: HostClock | None = None,
    ) -> None:
        scenario = backend.scenario
        super().__init__(
            backend,
            name="replay",
            title=Path(backend.run.path).name if scenario is None else scenario.name,
            seed=backend.seed or 0,
            start_ns=backend.start_ns,
            end_ns=backend.end_ns,
            step_ns=backend.run.step_ns,
            plan_items=0,
            rtf=rtf,
            bus=bus,
            observers=() if scenario is None else observers,
            host=host,
        )
        self._replay = backend
        self._compare = compare
        self._began = self._ended = False
        # An answer to arming has no record, and one of the two may not have been recorded.
        self._acks = self._records = 0
        self._autopilot = REPLAYED
        self._estimate: StateEstimate | None = None
        self._follower = self._make_follower()

    def _make_follower(self) -> PlanFollower:
        """The plan's follower; it must have seen the flight from its start to mean anything."""
        backend, scenario = self._replay, self._replay.scenario
        is_late = backend.start_ns > backend.run.start_ns
        if scenario is None or backend.is_filtered or (is_late and not self._compare):
            return PlanFollower(
                FlightPlan(),
                levels=_ANYTHING,
                limits=Limits(),
                on_ground=True,
                start_enu_m=(0.0, 0.0, 0.0),
                emit=_drop,
            )
        self._plan_items = len(scenario.plan.items)
        follower = PlanFollower(
            scenario.plan,
            levels=_ANYTHING,
            limits=Limits.of(scenario.vehicle),
            on_ground=scenario.initial.pos_enu_m is None,
            start_enu_m=scenario.initial.pos_enu_m or (0.0, 0.0, 0.0),
            # What the recorded follower said is played from the log.
            emit=_drop,
            start_ns=backend.run.start_ns,
            sink_by_velocity=backend.run.is_piloted,
        )
        if is_late:
            self._catch_up(follower)
        return follower

    def _catch_up(self, follower: PlanFollower) -> None:
        """Follow the plan up to the start of the window, on the steps that a live run does."""
        backend, step_ns = self._replay, self._step_ns
        known: GroundTruth | StateEstimate | None = None
        states = backend.known_until(backend.start_ns)
        upcoming = next(states, None)
        begin_ns = backend.run.start_ns
        now_ns = begin_ns + step_ns
        while now_ns <= backend.start_ns:
            while upcoming is not None and upcoming.stamp_sim_ns <= now_ns:
                known, upcoming = upcoming, next(states, None)
            follower.update(now_ns, known)
            steps = -(-(follower.due_ns - begin_ns) // step_ns)
            now_ns = max(now_ns + step_ns, begin_ns + steps * step_ns)

    def execute(self) -> RunResult:
        """Rewind, play to the end of the recording or window, and return the account.

        Call it once; for another pass make another run on the same backend.
        """
        backend = self._replay
        backend.rewind()
        self._check_version()
        self._sink = backend.actuators()
        providers = sorted(backend.sensors().items())
        self._counts = {sensor_id: 0 for sensor_id, _ in providers}
        self._polls = [provider.poll for _, provider in providers]
        info = None
        if backend.scenario is not None:
            info = RunInfo(
                self._name,
                backend.scenario,
                self._seed,
                backend.capabilities,
                tuple(provider.spec for _, provider in providers),
                self._autopilot,
                actuators=self._sink.spec,
                initial_truth=backend.ground_truth(),
            )
        untap = backend.tap(self._take)
        try:
            return self._observed(info, self._run)
        finally:
            untap()

    def _steps_until(self, until_ns: int) -> None:
        backend, follower, throttle = self._replay, self._follower, self._throttle
        step, step_ns, polls = backend.step, self._step_ns, self._polls
        now_ns = self._now_ns
        while now_ns < until_ns and not self._stop:
            dt_ns = step_ns
            if backend.next_ns - now_ns > _GAP_NS:
                # A file of another tool may begin at 0 and go on with the time since 1970.
                dt_ns *= (min(backend.next_ns, self._end_ns) - now_ns) // step_ns
            report = step(dt_ns)
            self._steps += report.steps
            self._now_ns = now_ns = report.now_ns
            # Consumers of a live run find the queues emptied by the loop.
            for poll in polls:
                poll()
            if now_ns >= follower.due_ns:
                self._follow(now_ns)
            if throttle is not None:
                throttle.wait(now_ns)

    def _follow(self, now_ns: int) -> None:
        known = self._estimate if self._replay.run.is_piloted else self._replay.ground_truth()
        command = self._follower.update(now_ns, known)
        if command is not None and self._compare:
            self.bus.publish("/replay/command", CommandRecord(now_ns, command), now_ns)
            ack = self._sink.send(command, now_ns)
            self.bus.publish("/replay/ack", ack, ack.stamp_ns)

    def _take(self, topic: str, stamp_ns: int, message: Any) -> None:
        """Publish a recorded message, having added it to the account."""
        kind = type(message)
        if not self._began:
            self._begin(message)
        if kind is SensorSample:
            counts, sensor_id = self._counts, message.sensor_id
            counts[sensor_id] = counts.get(sensor_id, 0) + 1
            self._digest.update(message)
        elif kind is GroundTruth:
            self._digest.update(message)
            self._metrics.update(message, self._follower.setpoint_enu_m)
        elif kind is StateEstimate:
            self._estimate = message
        elif kind is StepReport:
            if message.lockstep is not LockstepState.NONE:
                counts = self._lockstep = self._lockstep or dict(_NO_STEPS)
                counts[message.lockstep.value] += 1
        elif kind is CommandAck:
            self._digest.update(message)
            self._rejects += not message.accepted
            self._acks += 1
            self._commands = max(self._commands, self._acks)
        elif kind is CommandRecord:
            self._records += 1
            self._commands = max(self._commands, self._records)
        elif kind is Event and message.type is EventType.RUN_FINISHED:
            self._ended = True
        self.bus.publish(topic, message, stamp_ns)

    def _begin(self, first: object) -> None:
        self._began = True
        if not (isinstance(first, Event) and first.type is EventType.RUN_STARTED):
            super()._note(EventType.RUN_STARTED, EventSeverity.INFO, f"{self._title} started")

    def _note(self, kind: EventType, severity: EventSeverity, message: str) -> None:
        """Say what the recording does not say itself: that the run began and ended."""
        if kind is EventType.RUN_STARTED or (kind is EventType.RUN_FINISHED and self._ended):
            return
        if not self._began:
            self._begin(None)
        super()._note(kind, severity, message)

    def _notes(self) -> tuple[str, ...]:
        return (*super()._notes(), *self._replay.notes)


def _drop(_event: Event) -> None:
    """Say nothing."""
