"""What every run shares, whoever moves the world: pace, observers, notes, and the account."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

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
    Throttle,
)
from ghost.hal import HAL_PROTOCOL_VERSION, Capabilities, RunDigest, SimulationBackend
from ghost.runtime.contract import wrong_return
from ghost.runtime.follower import PlanFollower
from ghost.runtime.metrics import FlightMetrics
from ghost.runtime.observer import RunInfo, RunObserver, RunStatus
from ghost.runtime.result import Outcome, RunResult

__all__ = ["RunBase"]

_TICK_NS = 100_000_000
SOURCE = "runtime"


class RunBase(ABC):
    """One run of a backend, from `start_ns` to `end_ns`, and its account.

    A subclass sets `_follower` and `_counts` and moves the world in `_steps_until`.
    """

    _follower: PlanFollower
    _autopilot = ""

    def __init__(
        self,
        backend: SimulationBackend,
        *,
        name: str,
        title: str,
        seed: int,
        start_ns: int,
        end_ns: int,
        step_ns: int,
        plan_items: int,
        rtf: float | None,
        bus: MessageBus | None,
        observers: Sequence[RunObserver],
        host: HostClock | None,
    ) -> None:
        self.bus = bus if bus is not None else MessageBus()
        self._backend = backend
        self._name = name
        self._title = title
        self._seed = seed
        self._start_ns = self._now_ns = start_ns
        self._end_ns = end_ns
        self._step_ns = step_ns
        self._plan_items = plan_items
        self._host = host if host is not None else HostClock()
        self._throttle = None if rtf is None else Throttle(rtf, self._host)
        self._observers = tuple(observers)
        self._stop = False
        self._steps = 0
        self._commands = 0
        self._rejects = 0
        self._refusal = ""
        self._counts: dict[str, int] = {}
        self._lockstep: dict[str, int] | None = None
        self._events: dict[str, int] = {}
        self._digest = RunDigest()
        self._metrics = FlightMetrics()

    def stop(self) -> None:
        """Ask the run to end after the present step. Safe from a signal handler or a thread."""
        self._stop = True

    @abstractmethod
    def _steps_until(self, until_ns: int) -> None:
        """The hot loop: steps until `until_ns` is reached or a stop was asked for."""

    def _check_version(self) -> None:
        capabilities = self._backend.capabilities
        if not isinstance(capabilities, Capabilities):
            raise wrong_return(self._name, "capabilities is", capabilities, "Capabilities")
        version = capabilities.hal_version
        if version != HAL_PROTOCOL_VERSION:
            raise ContractViolation(
                f"backend {self._name!r} speaks HAL version {version}, "
                f"this Ghost speaks {HAL_PROTOCOL_VERSION}"
            )

    def _observed(self, info: RunInfo | None, run: Callable[[], RunResult]) -> RunResult:
        """Call `run` with the observers attached; without `info` there is nothing to tell them."""
        result: RunResult | None = None
        attached: list[RunObserver] = []
        counter = self.bus.subscribe(EVENTS_TOPIC, self._count_event)
        try:
            for observer in self._observers if info is not None else ():
                assert info is not None
                attached.append(observer)
                observer.attach(self.bus, info)
            result = run()
        finally:
            with contextlib.ExitStack() as stack:
                stack.callback(counter.unsubscribe)
                for observer in attached:
                    stack.callback(observer.close, result)
        return result

    def _run(self) -> RunResult:
        outcome, error = Outcome.COMPLETED, ""
        self._note(EventType.RUN_STARTED, EventSeverity.INFO, f"{self._title} started")
        begin_ns = self._host.now_ns()
        end_ns = self._end_ns
        try:
            if self._throttle is not None:
                self._throttle.wait(self._now_ns)
            while self._now_ns < end_ns and not self._stop:
                self._steps_until(min(self._now_ns + _TICK_NS, end_ns))
                if self._observers:
                    self._tick(end_ns, begin_ns)
            if self._now_ns < end_ns:
                outcome = Outcome.INTERRUPTED
            elif self._refusal and self._rejects == self._commands:
                outcome, error = Outcome.REFUSED, self._refusal
        except KeyboardInterrupt:
            outcome = Outcome.INTERRUPTED
        except BackendLost as lost:
            outcome, error = Outcome.BACKEND_LOST, str(lost)
            self._note(EventType.BACKEND_LOST, EventSeverity.CRITICAL, error)
        wall_s = (self._host.now_ns() - begin_ns) / 1e9
        self._note(EventType.RUN_FINISHED, EventSeverity.INFO, f"{self._title}: {outcome.value}")
        return self._account(outcome, error, wall_s)

    def _account(self, outcome: Outcome, error: str, wall_s: float) -> RunResult:
        sim_s = (self._now_ns - self._start_ns) / 1e9
        metrics = self._metrics
        return RunResult(
            backend=self._name,
            scenario=self._title,
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
            plan_items=self._plan_items,
            plan_done=self._follower.done,
            plan_timeouts=tuple(self._follower.timed_out),
            crashed=EventType.CRASH.value in self._events,
            autopilot=self._autopilot,
            notes=self._notes(),
            lockstep=self._lockstep,
        )

    def _notes(self) -> tuple[str, ...]:
        """What the backend left out of the scenario; nothing is skipped in silence (D26)."""
        extensions = self._backend.capabilities.extensions
        missing, notes = extensions.get("missing_sensors", {}), extensions.get("notes", ())
        if not isinstance(missing, Mapping) or not isinstance(notes, tuple):
            return ()
        sensors = (f"sensor {name} is not there: {why}" for name, why in missing.items())
        return (*sensors, *map(str, notes))

    def _tick(self, end_ns: int, begin_ns: int) -> None:
        wall_ns = self._host.now_ns() - begin_ns
        status = RunStatus(
            sim_ns=self._now_ns,
            end_ns=end_ns,
            real_time_factor=(self._now_ns - self._start_ns) / wall_ns if wall_ns > 0 else 0.0,
            altitude_m=self._metrics.altitude_m,
            phase=self._follower.phase,
            start_ns=self._start_ns,
        )
        for observer in self._observers:
            observer.tick(status)

    def _note(self, kind: EventType, severity: EventSeverity, message: str) -> None:
        self._emit(
            Event(
                type=kind,
                stamp_sim_ns=self._now_ns,
                severity=severity,
                source=SOURCE,
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
