"""The run loop of HAL spec §5.2, with the bus between the world and everybody else.

One step: `backend.step`, then on the bus the step's events (`/events`), its report (`/step`), the
samples of every provider in the order of their ids (`/sensors/<id>`), the truth (`/ground_truth`),
and, when the flight plan has a command due, the command (`/actuators/command`) and its answer
(`/actuators/ack`). The run's digest takes samples, truth and acks in that order, before any
subscriber sees them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ghost.core import (
    EVENTS_TOPIC,
    BackendLost,
    ContractViolation,
    Envelope,
    Event,
    EventSeverity,
    EventType,
    HostClock,
    MessageBus,
    ScenarioSpec,
    Throttle,
)
from ghost.hal import (
    HAL_PROTOCOL_VERSION,
    ActuatorCommand,
    CommandAck,
    CommandRecord,
    RunDigest,
    SensorSample,
    SimulationBackend,
)
from ghost.runtime.factories import make_backend
from ghost.runtime.follower import PlanFollower
from ghost.runtime.legs import Limits
from ghost.runtime.metrics import FlightMetrics
from ghost.runtime.observer import RunInfo, RunObserver, RunStatus
from ghost.runtime.result import Outcome, RunResult

__all__ = ["ScenarioRun", "run_scenario"]

_TICK_NS = 100_000_000
_SOURCE = "runtime"

IDEAL = "ideal autopilot: the plan is flown on ground truth, not on an estimate"
BLIND = "by the clock: this backend has no ground truth, so arrival was not checked"
IDLE = "none: the scenario has no flight plan"

Poll = Callable[[], list[SensorSample[Any]]]


class ScenarioRun:
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
        self.bus = bus if bus is not None else MessageBus()
        self._backend = backend
        self._scenario = scenario
        self._name = backend_name or type(backend).__name__
        self._seed = scenario.seed if seed is None else seed
        self._host = host if host is not None else HostClock()
        self._throttle = None if rtf is None else Throttle(rtf, self._host)
        self._observers = tuple(observers)
        self._stop = False
        self._now_ns = 0
        self._steps = 0
        self._commands = 0
        self._rejects = 0
        self._counts: dict[str, int] = {}
        self._events: dict[str, int] = {}
        self._digest = RunDigest()
        self._metrics = FlightMetrics()

    def stop(self) -> None:
        """Ask the run to end after the present step. Safe from a signal handler or a thread."""
        self._stop = True

    def execute(self) -> RunResult:
        """Reset the backend, run the scenario to its end and return the account.

        A world that is lost, `stop()` and Ctrl-C give the account of the part that ran; see
        `RunResult.outcome`. Raises `ConfigError` if this backend cannot run the scenario, and
        `BackendLost` if it could not even be reset. Call it once.
        """
        backend, scenario = self._backend, self._scenario
        backend.reset(scenario, self._seed)
        capabilities = backend.capabilities
        if capabilities.hal_version != HAL_PROTOCOL_VERSION:
            raise ContractViolation(
                f"backend {self._name!r} speaks HAL version {capabilities.hal_version}, "
                f"this Ghost speaks {HAL_PROTOCOL_VERSION}"
            )
        self._sink = backend.actuators()
        providers = sorted(backend.sensors().items())
        self._counts = {sensor_id: 0 for sensor_id, _ in providers}
        follower = PlanFollower(
            scenario.plan,
            levels=capabilities.actuator_levels,
            limits=Limits.of(scenario.vehicle),
            on_ground=scenario.initial.pos_enu_m is None,
            start_enu_m=scenario.initial.pos_enu_m or (0.0, 0.0, 0.0),
            emit=self._emit,
        )
        autopilot = IDEAL if capabilities.has_ground_truth else BLIND
        if not scenario.plan.items:
            autopilot = IDLE
        info = RunInfo(
            self._name,
            scenario,
            self._seed,
            capabilities,
            tuple(provider.spec for _, provider in providers),
            autopilot,
        )
        polls = [(sid, f"/sensors/{sid}", provider.poll) for sid, provider in providers]
        result: RunResult | None = None
        attached: list[RunObserver] = []
        counter = self.bus.subscribe(EVENTS_TOPIC, self._count_event)
        try:
            for observer in self._observers:
                attached.append(observer)
                observer.attach(self.bus, info)
            result = self._run(polls, follower, capabilities.has_ground_truth, autopilot)
        finally:
            with contextlib.ExitStack() as stack:
                stack.callback(counter.unsubscribe)
                for observer in attached:
                    stack.callback(observer.close, result)
        return result

    def _run(
        self,
        polls: Sequence[tuple[str, str, Poll]],
        follower: PlanFollower,
        has_truth: bool,
        autopilot: str,
    ) -> RunResult:
        outcome, error = Outcome.COMPLETED, ""
        self._note(EventType.RUN_STARTED, EventSeverity.INFO, f"{self._scenario.name} started")
        begin_ns = self._host.now_ns()
        try:
            end_ns = self._scenario.duration_ns
            if self._throttle is not None:
                self._throttle.wait(0)
            while self._now_ns < end_ns and not self._stop:
                until_ns = min(self._now_ns + _TICK_NS, end_ns)
                self._steps_until(until_ns, polls, follower, has_truth)
                if self._observers:
                    self._tick(end_ns, begin_ns, follower.phase)
            if self._now_ns < end_ns:
                outcome = Outcome.INTERRUPTED
        except KeyboardInterrupt:
            outcome = Outcome.INTERRUPTED
        except BackendLost as lost:
            outcome, error = Outcome.BACKEND_LOST, str(lost)
            self._note(EventType.BACKEND_LOST, EventSeverity.CRITICAL, error)
        wall_s = (self._host.now_ns() - begin_ns) / 1e9
        self._note(
            EventType.RUN_FINISHED, EventSeverity.INFO, f"{self._scenario.name}: {outcome.value}"
        )
        sim_s = self._now_ns / 1e9
        metrics = self._metrics
        return RunResult(
            backend=self._name,
            scenario=self._scenario.name,
            seed=self._seed,
            sim_time_s=sim_s,
            wall_time_s=wall_s,
            real_time_factor=sim_s / wall_s if wall_s > 0.0 else 0.0,
            steps=self._steps,
            samples=dict(self._counts),
            events=dict(sorted(self._events.items())),
            digest=self._digest.hexdigest(),
            final_pos_enu_m=metrics.final_pos_enu_m,
            max_tilt_deg=metrics.max_tilt_deg,
            tracking_rmse_m=metrics.tracking_rmse_m,
            command_rejects=self._rejects,
            outcome=outcome,
            error=error,
            commands=self._commands,
            plan_items=len(self._scenario.plan.items),
            plan_done=follower.done,
            plan_timeouts=tuple(follower.timed_out),
            crashed=EventType.CRASH.value in self._events,
            autopilot=autopilot,
            notes=self._notes(),
        )

    def _steps_until(
        self,
        until_ns: int,
        polls: Sequence[tuple[str, str, Poll]],
        follower: PlanFollower,
        has_truth: bool,
    ) -> None:
        """The hot loop: steps until `until_ns` is reached or a stop was asked for."""
        backend, publish, digest = self._backend, self.bus.publish, self._digest.update
        step, truth_of = backend.step, backend.ground_truth
        step_ns, counts = self._scenario.step_ns, self._counts
        throttle, measure = self._throttle, self._metrics.update
        now_ns, truth = self._now_ns, None
        while now_ns < until_ns and not self._stop:
            report = step(step_ns)
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
                if samples:
                    counts[sensor_id] += len(samples)
                    for sample in samples:
                        digest(sample)
                        publish(topic, sample, sample.stamp_sim_ns)
            if has_truth:
                truth = truth_of()
                if truth is not None:
                    digest(truth)
                    publish("/ground_truth", truth, truth.stamp_sim_ns)
                    measure(truth, follower.setpoint_enu_m)
            if now_ns >= follower.due_ns:
                command = follower.update(now_ns, truth)
                if command is not None:
                    self._send(command, now_ns)
            if throttle is not None:
                throttle.wait(now_ns)

    def _send(self, command: ActuatorCommand, now_ns: int) -> None:
        publish = self.bus.publish
        publish("/actuators/command", CommandRecord(now_ns, command), now_ns)
        ack: CommandAck = self._sink.send(command, now_ns)
        self._commands += 1
        self._digest.update(ack)
        publish("/actuators/ack", ack, ack.stamp_ns)
        if not ack.accepted:
            self._rejects += 1
            level, reason = command.level.name, ack.reason.name
            self._emit(
                Event(
                    type=EventType.SAFETY_VIOLATION,  # as HAL spec §5.2 names it
                    stamp_sim_ns=now_ns,
                    severity=EventSeverity.ERROR,
                    source=_SOURCE,
                    message=f"{level} command refused: {reason} {ack.detail}".rstrip(),
                    payload={"level": level, "reason": reason, "detail": ack.detail},
                )
            )

    def _notes(self) -> tuple[str, ...]:
        """What the backend left out of the scenario; nothing is skipped in silence (D26)."""
        missing = self._backend.capabilities.extensions.get("missing_sensors", {})
        if not isinstance(missing, Mapping):
            return ()
        return tuple(f"sensor {name} is not there: {why}" for name, why in missing.items())

    def _tick(self, end_ns: int, begin_ns: int, phase: str) -> None:
        wall_ns = self._host.now_ns() - begin_ns
        status = RunStatus(
            sim_ns=self._now_ns,
            end_ns=end_ns,
            real_time_factor=self._now_ns / wall_ns if wall_ns > 0 else 0.0,
            altitude_m=self._metrics.altitude_m,
            phase=phase,
        )
        for observer in self._observers:
            observer.tick(status)

    def _note(self, kind: EventType, severity: EventSeverity, message: str) -> None:
        self._emit(
            Event(
                type=kind,
                stamp_sim_ns=self._now_ns,
                severity=severity,
                source=_SOURCE,
                message=message,
                payload={"backend": self._name, "seed": self._seed},
            )
        )

    def _emit(self, event: Event) -> None:
        self.bus.publish(EVENTS_TOPIC, event, event.stamp_sim_ns)

    def _count_event(self, envelope: Envelope) -> None:
        event = envelope.payload
        if isinstance(event, Event):
            self._events[event.type.value] = self._events.get(event.type.value, 0) + 1


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

    Raises what `make_backend` and `ScenarioRun.execute` raise.
    """
    world = make_backend(backend)
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
