"""One flight: a world and a PX4 in lockstep, from PX4's boot to its end."""

from __future__ import annotations

from collections import deque

import numpy as np

from ghost.backends.px4.sensors import SampleCatcher
from ghost.backends.px4.stack import Px4Stack
from ghost.core import BackendLost, Event, HostClock, ScenarioSpec
from ghost.hal import (
    AckReason,
    CommandAck,
    LockstepState,
    MotorCommand,
    SimulationBackend,
    StepReport,
)
from ghost.hal.message import Message
from ghost.px4 import ArmRequest, Request, check_version

__all__ = ["Flight"]

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


class Flight:
    """A world that was reset, and a stack that was started for it. `step` moves both.

    What the steps come to (steps, samples, events, lockstep) adds up until `account` takes it.
    """

    def __init__(self, scenario: ScenarioSpec, world: SimulationBackend, stack: Px4Stack) -> None:
        self.stack = stack
        self.clock = world.clock
        self.reports: deque[tuple[str, Message]] = deque(maxlen=_REPORTS)
        """Topics and messages that nobody has fetched yet."""
        self.lost = ""
        """What is gone; empty while nothing is."""
        self._scenario = scenario
        self._world = world
        self._catcher = SampleCatcher(world.sensors())
        self._motors = world.actuators()
        self._thrusts: tuple[float, ...] | None = None
        self._warming = True
        self._listen = False
        self._flush_ns = 0
        self._events: list[Event] = []
        self._steps = 0
        self._samples: dict[str, int] = {}
        self._lockstep = LockstepState.NONE

    def close(self) -> None:
        """End PX4. Idempotent."""
        self._catcher.close()
        self.stack.close()

    def account(self) -> StepReport:
        """The report of all steps since the last call."""
        report = StepReport(
            self.clock.now_ns(), self._steps, self._samples, tuple(self._events), self._lockstep
        )
        self._events.clear()
        self._steps, self._samples, self._lockstep = 0, {}, LockstepState.NONE
        return report

    def step(self) -> None:
        """One step of the scenario. Raises `BackendLost` for a world or a PX4 that is gone."""
        stack, clock = self.stack, self.clock
        link = stack.link
        try:
            state = link.await_answer()
            # PX4 has done its part of the last step and waits for the next sample: what it has said
            # is in the socket by now, and what it is told now it knows before that sample.
            begin_ns = clock.now_ns()
            self._listen = not self._listen
            if self._listen:  # in every other step: what PX4 says is not that urgent
                stack.session.poll(begin_ns)
            stack.sink.step(begin_ns)
            if state is not self._lockstep:
                self._lockstep = max(state, self._lockstep, key=_ORDER.index)
            thrusts = link.motors()
            if thrusts is not None and thrusts != self._thrusts:
                self._drive(thrusts)
            report = self._world.step(clock.step_ns())
            now_ns = report.now_ns
            readings = self._catcher.take()
            if stack.wants_truth(now_ns):
                readings.truth = self._world.ground_truth()
            link.feed(now_ns, readings)
            if state is LockstepState.ANSWERED:
                stack.answered_ns = now_ns
            elif not self._warming:
                stack.check(now_ns, state)
        except BackendLost as lost:
            self.lost = str(lost)
            stack.sink.offline(self.lost)
            raise
        self._steps += report.steps
        for sensor_id, count in report.samples.items():
            self._samples[sensor_id] = self._samples.get(sensor_id, 0) + count
        if report.faults:
            self._events.extend(report.faults)
        stack.collect(self._events)
        if now_ns >= self._flush_ns:
            self._flush_ns = now_ns + stack.flush_ns
            stack.report(now_ns, self.reports)

    def _drive(self, thrusts: tuple[float, ...]) -> None:
        self._thrusts = thrusts
        command = MotorCommand(np.array(thrusts, np.float64))
        ack = self._motors.send(command, self.clock.now_ns())
        if not ack.accepted:
            raise BackendLost(
                f"the world refused PX4's motor command: {ack.reason.name} {ack.detail}".rstrip()
            )

    def warm_up(self, host: HostClock) -> None:
        """Step until PX4 is ready to arm and the warm-up is over; then nothing is left of it.

        Raises `BackendLost` with PX4's reasons if it is not ready in time, and `ConfigError` if it
        is too old.
        """
        spec = self._scenario.autopilot
        assert spec is not None
        stack, clock = self.stack, self.clock
        session = stack.session
        while not (stack.ready() and clock.now_ns() >= spec.warmup_ns):
            now_ns = clock.now_ns()
            if now_ns >= spec.ready_timeout_ns:
                raise BackendLost(
                    f"PX4 is not ready to arm after {now_ns / 1e9:g} s of simulated time: "
                    f"{self._why_not()}{stack.log_line()}"
                )
            stack.check_start()
            begin_ns = host.now_ns()
            self.step()
            if session.version is None:
                host.sleep_until_ns(begin_ns + _BOOT_PACE_NS)
        self._warming = False
        check_version(session.version)
        truth = self._world.ground_truth()
        initial = self._scenario.initial.pos_enu_m or (0.0, 0.0, 0.0)
        session.anchor(initial if truth is None else truth.pos_enu_m.tolist())
        # The run begins now: nothing that comes later is older than its start.
        for provider in self._world.sensors().values():
            provider.poll()
        stack.report(clock.now_ns(), self.reports)
        self.reports.clear()
        self._flush_ns = clock.now_ns()
        self.account()

    def _why_not(self) -> str:
        """Why PX4 will not arm: it says so best to somebody who tries."""
        request = self.stack.arming.arm()
        self._complete(request)
        if request.accepted:
            return "its checks say no, but it armed when it was told to"
        return request.text or "; ".join(self.stack.session.reasons) or "it gave no reason"

    def _complete(self, request: Request) -> None:
        """Step until PX4 has answered, or the deadline has passed in simulated time."""
        end_ns = self.clock.now_ns() + _ARM_DEADLINE_NS
        while not request.done and self.clock.now_ns() < end_ns:
            self.step()

    def answer_to(self, request: ArmRequest) -> CommandAck:
        """Step until PX4 has answered whether it arms or disarms."""
        try:
            self._complete(request)
        except BackendLost as lost:
            return self._refusal(AckReason.AUTOPILOT_OFFLINE, str(lost))
        if request.accepted:
            return CommandAck(True, AckReason.OK, self.clock.now_ns(), None, request.text)
        session = self.stack.session
        if not session.connected:
            return self._refusal(AckReason.AUTOPILOT_OFFLINE, "PX4 is not heard any more")
        if request.done:
            return self._refusal(AckReason.NOT_ARMED, request.text)
        reasons = "".join(f"; {reason}" for reason in session.reasons)
        return self._refusal(
            AckReason.TIMEOUT,
            f"no answer within {_ARM_DEADLINE_NS / 1e9:g} s of simulated time{reasons}",
        )

    def _refusal(self, reason: AckReason, detail: str) -> CommandAck:
        return CommandAck(False, reason, self.clock.now_ns(), None, detail)
