"""The run loop of HAL spec §5.2, with the bus between the world and everybody else.

One step: `backend.step`, then on the bus the step's events (`/events`), its report (`/step`), the
samples of every provider in the order of their ids (`/sensors/<id>`), the truth (`/ground_truth`),
and, when the flight plan has a command due, the command (`/actuators/command`) and its answer
(`/actuators/ack`). The run's digest takes samples, truth and acks in that order, before any
subscriber sees them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ghost.core import (
    EVENTS_TOPIC,
    ContractViolation,
    Event,
    EventSeverity,
    EventType,
    HostClock,
    MessageBus,
    ScenarioSpec,
)
from ghost.hal import (
    ActuatorCommand,
    CommandAck,
    CommandRecord,
    GroundTruth,
    LockstepState,
    SensorSample,
    SimulationBackend,
    StepReport,
)
from ghost.runtime.autopilot import with_autopilot
from ghost.runtime.base import SOURCE, RunBase
from ghost.runtime.contract import wrong_return
from ghost.runtime.factories import make_backend
from ghost.runtime.follower import PlanFollower
from ghost.runtime.legs import Limits
from ghost.runtime.observer import RunInfo, RunObserver
from ghost.runtime.pilot import Pilot
from ghost.runtime.result import RunResult

__all__ = ["ScenarioRun", "run_scenario"]

IDEAL = "ideal autopilot: the plan is flown on ground truth, not on an estimate"
BLIND = "by the clock: this backend has no ground truth, so arrival was not checked"
IDLE = "none: the scenario has no flight plan"

Poll = Callable[[], list[SensorSample[Any]]]


class ScenarioRun(RunBase):
    """One run of a scenario on a backend, which stays the caller's to shut down.

    Args:
        backend: reset by `execute`, with `scenario` and `seed`.
        scenario: what to run, and for how long.
        backend_name: how the result calls the backend; its class's name by default.
        seed: instead of the scenario's.
        rtf: hold the run back to so many times real time (D7); None runs as fast as it goes.
        bus: where to publish; a new one by default.
        observers: attached before the first publication.
        host: the host's clock, for the throttle and the wall time.
    """

    def __init__(
        self,
        backend: SimulationBackend,
        scenario: ScenarioSpec,
        *,
        backend_name: str = "",
        seed: int | None = None,
        rtf: float | None = None,
        bus: MessageBus | None = None,
        observers: Sequence[RunObserver] = (),
        host: HostClock | None = None,
    ) -> None:
        super().__init__(
            backend,
            name=backend_name or type(backend).__name__,
            title=scenario.name,
            seed=scenario.seed if seed is None else seed,
            start_ns=0,
            end_ns=scenario.duration_ns,
            step_ns=scenario.step_ns,
            plan_items=len(scenario.plan.items),
            rtf=rtf,
            bus=bus,
            observers=observers,
            host=host,
        )
        self._scenario = scenario
        self._has_truth = False
        self._pilot: Pilot | None = None
        self._polls: Sequence[tuple[str, str, Poll]] = ()

    def execute(self) -> RunResult:
        """Reset the backend, run the scenario to its end and return the account.

        A world that is lost, `stop()` and Ctrl-C give the account of the part that ran; see
        `RunResult.outcome`. Raises `ConfigError` if this backend cannot run the scenario, and
        `BackendLost` if it could not even be reset. Call it once.
        """
        backend, scenario = self._backend, self._scenario
        backend.reset(scenario, self._seed)
        self._check_version()
        capabilities = backend.capabilities
        # With an autopilot the world has been stepped until it was ready.
        self._start_ns = self._now_ns = backend.clock.now_ns()
        self._end_ns = self._start_ns + scenario.duration_ns
        self._sink = backend.actuators()
        if not callable(getattr(self._sink, "send", None)):
            raise self._wrong("actuators() returned", self._sink, "ActuatorSink")
        self._has_truth = capabilities.has_ground_truth
        sensors = backend.sensors()
        if not isinstance(sensors, Mapping):
            raise self._wrong("sensors() returned", sensors, "mapping of ids to providers")
        providers = sorted(sensors.items())
        self._counts = {sensor_id: 0 for sensor_id, _ in providers}
        self._polls = [(sid, f"/sensors/{sid}", provider.poll) for sid, provider in providers]
        self._pilot = Pilot.of(backend, self.bus)
        self._follower = PlanFollower(
            scenario.plan,
            levels=capabilities.actuator_levels,
            limits=Limits.of(scenario.vehicle),
            on_ground=scenario.initial.pos_enu_m is None,
            start_enu_m=scenario.initial.pos_enu_m or (0.0, 0.0, 0.0),
            emit=self._emit,
            start_ns=self._start_ns,
            sink_by_velocity=self._pilot is not None,
        )
        self._autopilot = IDEAL if self._has_truth else BLIND
        if self._pilot is not None:
            self._autopilot = self._pilot.name
            self._lockstep = {"answered": 0, "late": 0, "missing": 0}
        if not scenario.plan.items:
            self._autopilot = IDLE
        info = RunInfo(
            self._name,
            scenario,
            self._seed,
            capabilities,
            tuple(provider.spec for _, provider in providers),
            self._autopilot,
            actuators=self._sink.spec,
            initial_truth=self._first_truth(),
        )
        return self._observed(info, self._run)

    def _wrong(self, what: str, value: object, expected: str) -> ContractViolation:
        return wrong_return(self._name, what, value, expected)

    def _first_truth(self) -> GroundTruth | None:
        truth = self._backend.ground_truth() if self._has_truth else None
        if truth is not None and not isinstance(truth, GroundTruth):
            raise self._wrong("ground_truth() returned", truth, "GroundTruth or None")
        return truth

    def _steps_until(self, until_ns: int) -> None:
        backend, publish, digest = self._backend, self.bus.publish, self._digest.update
        step, truth_of, polls = backend.step, backend.ground_truth, self._polls
        step_ns, counts, follower = self._step_ns, self._counts, self._follower
        throttle, measure, has_truth = self._throttle, self._metrics.update, self._has_truth
        now_ns, truth = self._now_ns, None
        pilot, lockstep = self._pilot, self._lockstep
        while now_ns < until_ns and not self._stop:
            report = step(step_ns)
            if not isinstance(report, StepReport):
                raise self._wrong("step() returned", report, "StepReport")
            self._steps += 1
            if report.now_ns <= now_ns:
                raise ContractViolation(
                    f"step({step_ns}) left the clock of {self._name!r} at {report.now_ns} ns"
                )
            self._now_ns = now_ns = report.now_ns
            for event in report.faults:
                publish(EVENTS_TOPIC, event, event.stamp_sim_ns)
            publish("/step", report, now_ns)
            for sensor_id, topic, poll in polls:
                samples = poll()
                if type(samples) is not list:
                    what = f"poll() of {sensor_id} returned"
                    raise self._wrong(what, samples, "list of SensorSamples")
                if samples:
                    counts[sensor_id] += len(samples)
                    for sample in samples:
                        if type(sample) is not SensorSample:
                            what = f"poll() of {sensor_id} gave"
                            raise self._wrong(what, sample, "SensorSample")
                        digest(sample)
                        publish(topic, sample, sample.stamp_sim_ns)
            if has_truth:
                truth = truth_of()
                if truth is not None:
                    if not isinstance(truth, GroundTruth):
                        raise self._wrong("ground_truth() returned", truth, "GroundTruth or None")
                    digest(truth)
                    publish("/ground_truth", truth, truth.stamp_sim_ns)
                    measure(truth, follower.setpoint_enu_m)
            if pilot is not None:
                pilot.listen()
                if lockstep is not None and report.lockstep is not LockstepState.NONE:
                    lockstep[report.lockstep.value] += 1
            if now_ns >= follower.due_ns:
                self._command(now_ns, truth)
            if throttle is not None:
                throttle.wait(now_ns)

    def _command(self, now_ns: int, truth: GroundTruth | None) -> None:
        """Send what is due."""
        pilot, follower = self._pilot, self._follower
        known = truth if pilot is None else pilot.estimate
        command = follower.update(now_ns, known)
        if command is None:
            return
        if pilot is not None:
            ack = pilot.arm()
            if ack is not None:
                self._catch_up(pilot)
                self._answered("arm", ack)
                now_ns = self._backend.clock.now_ns()  # arming took steps
            if not pilot.may_command or (follower.over and not pilot.flying):
                return  # nobody would listen: not armed yet, or landed and disarmed
        self._send(command, now_ns)

    def _catch_up(self, pilot: Pilot) -> None:
        """Publish what came in the steps that arming took, in the order of time, before its answer.

        A recording plays messages in the order of their stamps, and must come to the same digest.
        """
        late = [
            (sample.stamp_sim_ns, sensor_id, topic, sample)
            for sensor_id, topic, poll in self._polls
            for sample in poll()
        ]
        late.sort(key=lambda item: item[0])
        for stamp_ns, sensor_id, topic, sample in late:
            self._counts[sensor_id] += 1
            self._digest.update(sample)
            self.bus.publish(topic, sample, stamp_ns)
        pilot.listen()

    def _send(self, command: ActuatorCommand, now_ns: int) -> None:
        publish = self.bus.publish
        publish("/actuators/command", CommandRecord(now_ns, command), now_ns)
        ack: CommandAck = self._sink.send(command, now_ns)
        if not isinstance(ack, CommandAck):
            raise self._wrong("send() returned", ack, "CommandAck")
        self._answered(command.level.name, ack)

    def _answered(self, what: str, ack: CommandAck) -> None:
        """Account for an answer, and say so if it was no."""
        self._commands += 1
        self._digest.update(ack)
        self.bus.publish("/actuators/ack", ack, ack.stamp_ns)
        if not ack.accepted:
            self._rejects += 1
            reason = ack.reason.name
            self._refusal = f"{reason} {ack.detail}".rstrip()
            self._emit(
                Event(
                    type=EventType.SAFETY_VIOLATION,  # as HAL spec §5.2 names it
                    stamp_sim_ns=ack.stamp_ns,
                    severity=EventSeverity.ERROR,
                    source=SOURCE,
                    message=f"{what} command refused: {reason} {ack.detail}".rstrip(),
                    payload={"level": what, "reason": reason, "detail": ack.detail},
                )
            )


def run_scenario(
    scenario: ScenarioSpec,
    backend: str = "embedded",
    *,
    seed: int | None = None,
    rtf: float | None = None,
    bus: MessageBus | None = None,
    observers: Sequence[RunObserver] = (),
) -> RunResult:
    """Make a backend by name or path, run `scenario` on it, shut it down, return the account.

    A scenario with an autopilot is flown by it. Raises what `make_backend`, `with_autopilot` and
    `ScenarioRun.execute` raise.
    """
    world = with_autopilot(make_backend(backend), scenario)
    try:
        run = ScenarioRun(
            world,
            scenario,
            backend_name=backend,
            seed=seed,
            rtf=rtf,
            bus=bus,
            observers=observers,
        )
        return run.execute()
    finally:
        world.shutdown()
