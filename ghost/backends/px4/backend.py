"""`Px4Backend`: a world of anybody's, flown by PX4, with PX4's commands as the HAL's."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ghost.backends.px4.sensors import SampleCatcher
from ghost.backends.px4.stack import Px4Stack
from ghost.core import (
    BackendLost,
    ClosedError,
    ConfigError,
    ContractViolation,
    Event,
    HostClock,
    ScenarioSpec,
    SimClock,
    as_ns,
)
from ghost.hal import (
    AckReason,
    ActuatorLevel,
    ActuatorSink,
    Capabilities,
    CommandAck,
    GroundTruth,
    LockstepState,
    MotorCommand,
    SensorId,
    SensorProvider,
    SimulationBackend,
    StepReport,
)
from ghost.hal.message import Message
from ghost.px4 import (
    PX4_LEVELS,
    Arming,
    ArmRequest,
    Px4Session,
    Request,
    check_version,
)

__all__ = ["Px4Backend"]

_ARM_DEADLINE_NS = 5_000_000_000
_BOOT_PACE_NS = 1_000_000
"""Host time for a step until PX4 answers commands: its start script runs by the host's clock, and
what the world does meanwhile is simulated time that nobody uses."""
_REPORTS = 4096
"""Reports that nobody fetches are dropped from the oldest."""
_ORDER = (
    LockstepState.NONE,
    LockstepState.ANSWERED,
    LockstepState.LATE,
    LockstepState.MISSING,
)
_LOCKSTEP = {
    "simulator": "two-way: PX4 waits for each IMU sample, the world for each answer of PX4",
    "gz_bridge": "two-way: PX4 follows Gazebo's clock, the world waits for each motor message",
}


class _Run:
    """What one run changes."""

    def __init__(self, scenario: ScenarioSpec, world: SimulationBackend, stack: Px4Stack) -> None:
        self.scenario = scenario
        self.stack = stack
        self.catcher = SampleCatcher(world.sensors())
        self.clock = world.clock
        self.motors = world.actuators()
        self.thrusts: tuple[float, ...] | None = None
        self.steps = 0
        self.samples: dict[str, int] = {}
        self.lockstep = LockstepState.NONE
        self.flush_ns = 0
        self.listen = False


class Px4Backend:
    """A `SimulationBackend` around another: the same world and sensors, PX4 at the motors.

    A step begins with PX4's answer to the IMU sample of the step before, which is awaited as late
    as possible, so that PX4 computes while Python publishes. Then the world moves with the motors
    of that answer, and its new samples go to PX4. Neither side is ever ahead of the other by more
    than the sample that is being answered.

    `reset` starts a PX4 of its own and steps the world until PX4 is ready to arm: afterwards the
    clock stands at that time (at least the scenario's `autopilot.warmup_ns`), not at 0.

    PX4 runs on threads of its own, so two runs are close to each other but not identical:
    `capabilities.deterministic` is False, and `ghost repeat` measures the spread.

    Args:
        world: offers MOTOR commands (link `simulator`), or is Gazebo (link `gz_bridge`). It becomes
            this backend's own and is shut down with it.
        environ: where PX4 is looked for (`PX4_BIN`, `PATH`), and what its process inherits.
        host: deadlines of the host's time.
    """

    def __init__(
        self,
        world: SimulationBackend,
        environ: Mapping[str, str],
        *,
        host: HostClock | None = None,
    ) -> None:
        self._world = world
        self._environ = dict(environ)
        self._host = host or HostClock()
        self._run: _Run | None = None
        self._events: list[Event] = []
        self._reports: deque[tuple[str, Message]] = deque(maxlen=_REPORTS)
        self._lost = ""
        self._closed = False
        self._warming = False
        self.capabilities = self._declare({})

    def _declare(self, more: Mapping[str, Any]) -> Capabilities:
        inner = self._world.capabilities
        return Capabilities(
            hal_version=inner.hal_version,
            sensor_ids=inner.sensor_ids,
            actuator_levels=PX4_LEVELS,
            has_ground_truth=inner.has_ground_truth,
            synchronous_step=True,
            deterministic=False,
            supports_replay=False,
            extensions={**inner.extensions, "armable": True, "reports": True, **more},
        )

    # -- the HAL ----------------------------------------------------------------------------

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        """See `SimulationBackend.reset`; returns when PX4 is ready to arm.

        Raises `ConfigError` for a scenario without an autopilot, `MissingDependency` where there is
        no PX4, and `BackendLost`, with PX4's own reasons, if it is not ready in time.
        """
        if not isinstance(scenario, ScenarioSpec):
            raise TypeError(f"scenario must be a ScenarioSpec, got {type(scenario).__name__}")
        spec = scenario.autopilot
        if spec is None:
            raise ConfigError(
                "the scenario has no autopilot; add 'autopilot: {kind: px4}', or use the world "
                "itself",
                key="autopilot",
            )
        self._drop_run()
        self._events.clear()
        self._reports.clear()
        self._lost = ""
        self._closed = False
        begin_ns = self._host.now_ns()
        inner = scenario if spec.link == "gz_bridge" else replace(scenario, autopilot=None)
        if spec.link == "simulator":
            self._check_world(ActuatorLevel.MOTOR)
        stack = Px4Stack(scenario, self._environ, self._host)
        stack.find(self._world)
        try:
            self._world.reset(inner, seed)
            stack.start(self._world)
            run = self._run = _Run(scenario, self._world, stack)
            self._warm_up(run)
        except BaseException:
            self._drop_run()
            stack.close()
            raise
        # The run begins now: nothing that comes later is older than its start.
        for provider in self._world.sensors().values():
            provider.poll()
        self._events.clear()
        stack.report(run.clock.now_ns(), self._reports)
        self._reports.clear()
        run.samples, run.steps, run.lockstep = {}, 0, LockstepState.NONE
        run.flush_ns = run.clock.now_ns()
        now_s = run.clock.now_ns() / 1e9
        self.capabilities = self._declare(
            {
                "lockstep": _LOCKSTEP[spec.link],
                "controller": f"PX4 {stack.session.version or '(version unknown)'}",
                "notes": stack.notes(),
                "autopilot": {
                    **stack.describe(),
                    "ready_sim_s": now_s,
                    "ready_wall_s": round((self._host.now_ns() - begin_ns) / 1e9, 3),
                },
            }
        )

    def step(self, dt_ns: int) -> StepReport:
        """See `SimulationBackend.step`."""
        run = self._running()
        step_ns = run.clock.step_ns()
        dt = as_ns("dt_ns", dt_ns, minimum=1)
        count, rest = divmod(dt, step_ns)
        if rest:
            raise ValueError(
                f"dt_ns must be a multiple of the scenario's step_ns {step_ns}, got {dt}"
            )
        for _ in range(count):
            self._one(run)
        report = StepReport(
            run.clock.now_ns(), run.steps, run.samples, tuple(self._events), run.lockstep
        )
        self._events.clear()
        run.steps, run.samples, run.lockstep = 0, {}, LockstepState.NONE
        return report

    def shutdown(self) -> None:
        """See `SimulationBackend.shutdown`."""
        if self._closed:
            return
        self._closed = True
        self._drop_run()
        self._world.shutdown()

    @property
    def clock(self) -> SimClock:
        """See `SimulationBackend.clock`."""
        return self._running().clock

    def sensors(self) -> Mapping[SensorId, SensorProvider[Any]]:
        """See `SimulationBackend.sensors`."""
        self._running()
        return self._world.sensors()

    def actuators(self) -> ActuatorSink:
        """Set-points for PX4; it must be armed first."""
        return self._running().stack.sink

    def ground_truth(self) -> GroundTruth | None:
        """See `SimulationBackend.ground_truth`."""
        self._running()
        return self._world.ground_truth()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.shutdown()

    # -- Armable, Reporting -----------------------------------------------------------------

    @property
    def armed(self) -> bool:
        """Whether the motors are armed, as PX4 last said."""
        return self._running().stack.session.armed

    def arm(self) -> CommandAck:
        """Arm the motors. Steps the world until PX4 has answered, 5 s of simulated time at most.

        What these steps published is polled, and reported, with the next `step`.
        """
        return self._commanded(lambda arming: arming.arm())

    def disarm(self) -> CommandAck:
        """Disarm the motors; PX4 refuses in the air. Steps the world as `arm` does."""
        return self._commanded(lambda arming: arming.disarm())

    def reports(self) -> list[tuple[str, Message]]:
        """What PX4 believes (`/estimate`) and all MAVLink since the last call, with topics."""
        reports = list(self._reports)
        self._reports.clear()
        return reports

    # -- for PX4's own flight modes -----------------------------------------------------------

    @property
    def session(self) -> Px4Session:
        """Telemetry and commands of this run's PX4."""
        return self._running().stack.session

    def tick(self) -> int:
        """Make one step of the scenario, and return the time in ns.

        For what waits for PX4, whose time is the world's: `ghost.px4.take_off(backend.session,
        backend.tick, 2.0)`. What these steps published is reported with the next `step`.
        """
        run = self._running()
        self._one(run)
        return run.clock.now_ns()

    # -- inside -----------------------------------------------------------------------------

    def _running(self) -> _Run:
        if self._closed:
            raise ClosedError("the backend was shut down; call reset(scenario, seed) to start anew")
        if self._lost:
            raise BackendLost(f"{self._lost}; call reset(scenario, seed) to start anew")
        if self._run is None:
            raise ContractViolation("call reset(scenario, seed) before anything else")
        return self._run

    def _check_world(self, level: ActuatorLevel) -> None:
        capabilities = self._world.capabilities
        if level not in capabilities.actuator_levels:
            offered = ", ".join(known.name for known in capabilities.actuator_levels) or "none"
            raise ConfigError(
                f"PX4 drives motors, but this world takes no {level.name} commands, only {offered}",
                key="autopilot.link",
            )

    def _drop_run(self) -> None:
        run, self._run = self._run, None
        if run is not None:
            run.catcher.close()
            run.stack.close()

    def _one(self, run: _Run) -> None:
        """One step of the scenario. Raises `BackendLost` for a world or a PX4 that is gone."""
        stack, clock = run.stack, run.clock
        link = stack.link
        try:
            state = link.await_answer()
            # PX4 has done its part of the last step and waits for the next sample: what it has said
            # is in the socket by now, and what it is told now it knows before that sample.
            begin_ns = clock.now_ns()
            run.listen = not run.listen
            if run.listen:  # in every other step: what PX4 says is not that urgent
                stack.session.poll(begin_ns)
            stack.sink.step(begin_ns)
            if state is not run.lockstep and _ORDER.index(state) > _ORDER.index(run.lockstep):
                run.lockstep = state
            thrusts = link.motors()
            if thrusts is not None and thrusts != run.thrusts:
                self._drive(run, thrusts)
            report = self._world.step(clock.step_ns())
            now_ns = report.now_ns
            readings = run.catcher.take()
            if stack.wants_truth(now_ns):
                readings.truth = self._world.ground_truth()
            link.feed(now_ns, readings)
            if state is LockstepState.ANSWERED:
                stack.answered_ns = now_ns
            elif not self._warming:
                stack.check(now_ns, state)
        except BackendLost as lost:
            self._lost = str(lost)
            stack.sink.offline(self._lost)
            raise
        run.steps += report.steps
        for sensor_id, count in report.samples.items():
            run.samples[sensor_id] = run.samples.get(sensor_id, 0) + count
        if report.faults:
            self._events.extend(report.faults)
        stack.collect(self._events)
        if now_ns >= run.flush_ns:
            run.flush_ns = now_ns + stack.flush_ns
            stack.report(now_ns, self._reports)

    def _drive(self, run: _Run, thrusts: tuple[float, ...]) -> None:
        run.thrusts = thrusts
        command = MotorCommand(np.array(thrusts, np.float64))
        ack = run.motors.send(command, run.clock.now_ns())
        if not ack.accepted:
            raise BackendLost(
                f"the world refused PX4's motor command: {ack.reason.name} {ack.detail}".rstrip()
            )

    def _warm_up(self, run: _Run) -> None:
        """Step the world until PX4 is ready to arm and the warm-up is over."""
        spec = run.scenario.autopilot
        assert spec is not None
        stack, clock = run.stack, run.clock
        session = stack.session
        self._warming = True
        while not (stack.ready() and clock.now_ns() >= spec.warmup_ns):
            now_ns = clock.now_ns()
            if now_ns >= spec.ready_timeout_ns:
                raise BackendLost(
                    f"PX4 is not ready to arm after {now_ns / 1e9:g} s of simulated time: "
                    f"{self._why_not(run)}{stack.log_line()}"
                )
            stack.check_start()
            begin_ns = self._host.now_ns()
            self._one(run)
            if session.version is None:
                self._host.sleep_until_ns(begin_ns + _BOOT_PACE_NS)
        self._warming = False
        check_version(session.version)
        truth = self._world.ground_truth()
        initial = run.scenario.initial.pos_enu_m or (0.0, 0.0, 0.0)
        place = initial if truth is None else tuple(truth.pos_enu_m.tolist())
        session.anchor(place)

    def _why_not(self, run: _Run) -> str:
        """Why PX4 will not arm: it says so best to somebody who tries."""
        request = run.stack.arming.arm()
        self._complete(request)
        if request.accepted:
            return "its checks say no, but it armed when it was told to"
        return request.text or "; ".join(run.stack.session.reasons) or "it gave no reason"

    def _complete(self, request: Request) -> bool:
        """Step until PX4 has answered, or the deadline has passed in simulated time."""
        run = self._running()
        end_ns = run.clock.now_ns() + _ARM_DEADLINE_NS
        while not request.done and run.clock.now_ns() < end_ns:
            self._one(run)
        return request.done

    def _commanded(self, start: Callable[[Arming], ArmRequest]) -> CommandAck:
        try:
            run = self._running()
        except ClosedError as error:
            return CommandAck(False, AckReason.CLOSED, 0, None, str(error))
        except (BackendLost, ContractViolation) as error:
            return CommandAck(False, AckReason.AUTOPILOT_OFFLINE, 0, None, str(error))
        request = start(run.stack.arming)
        try:
            done = self._complete(request)
        except BackendLost as lost:
            return CommandAck(
                False, AckReason.AUTOPILOT_OFFLINE, run.clock.now_ns(), None, str(lost)
            )
        now_ns = run.clock.now_ns()
        if request.accepted:
            return CommandAck(True, AckReason.OK, now_ns, None, request.text)
        if done:
            return CommandAck(False, AckReason.NOT_ARMED, now_ns, None, request.text)
        reasons = "".join(f"; {reason}" for reason in run.stack.session.reasons)
        return CommandAck(
            False,
            AckReason.TIMEOUT,
            now_ns,
            None,
            f"no answer within {_ARM_DEADLINE_NS / 1e9:g} s of simulated time{reasons}",
        )
