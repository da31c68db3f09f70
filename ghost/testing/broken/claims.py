"""Backends that say wrong things: about themselves, about units, about the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ghost.core import EventType, Handle, InitialState, ScenarioSpec, SimClock
from ghost.hal import (
    AckReason,
    ActuatorCommand,
    ActuatorLevel,
    ActuatorSink,
    AltimeterPayload,
    BarometerPayload,
    CommandAck,
    GroundTruth,
    MagnetometerPayload,
    SensorHealth,
    SensorSample,
    StepReport,
    VelocityCommand,
)
from ghost.testing.broken.proxy import BackendProxy, ClockProxy, Maker, SinkProxy, forged
from ghost.testing.scenarios import default_scenario

__all__ = [
    "AlarmsWithoutCause",
    "ArmsInName",
    "CallbackErrorsEscape",
    "CommandsExpire",
    "DeniesItsTruth",
    "FaultsStopTheLoop",
    "GrowingCapabilities",
    "LevelsDisagree",
    "OldVersion",
    "OtherClockStep",
    "OtherFrameIds",
    "OtherUnits",
    "PlainIntegersOnly",
    "RefusesEverything",
    "ReportsInName",
    "ReportsAnotherTime",
    "StaleTruth",
    "StartsElsewhere",
    "StretchedQuaternion",
    "ThawedMessages",
    "WorksBeforeReset",
]


class OldVersion(BackendProxy):
    """It was written for another version of the contract."""

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        super().reset(scenario, seed)
        self.capabilities = replace(self.capabilities, hal_version=99)


class GrowingCapabilities(BackendProxy):
    """Its capabilities change while it runs."""

    def step(self, dt_ns: int) -> StepReport:
        report = super().step(dt_ns)
        self.capabilities = replace(self.capabilities, extensions={"steps": report.now_ns})
        return report


class _Claiming(BackendProxy):
    claim = ""

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        super().reset(scenario, seed)
        extensions = {**self.capabilities.extensions, self.claim: True}
        self.capabilities = replace(self.capabilities, extensions=extensions)


class ArmsInName(_Claiming):
    """It declares that it can be armed, and has no way to."""

    claim = "armable"


class ReportsInName(_Claiming):
    """It declares reports, and gives none."""

    claim = "reports"


class LevelsDisagree(BackendProxy):
    """It declares one level, and its sink says more."""

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        super().reset(scenario, seed)
        self.capabilities = replace(self.capabilities, actuator_levels=(ActuatorLevel.VELOCITY,))


class DeniesItsTruth(BackendProxy):
    """It declares no ground truth and gives one."""

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        super().reset(scenario, seed)
        self.capabilities = replace(self.capabilities, has_ground_truth=False)


class StaleTruth(BackendProxy):
    """Its truth is that of the step before."""

    _before: GroundTruth | None = None

    def step(self, dt_ns: int) -> StepReport:
        self._before = self.inner.ground_truth()
        return super().step(dt_ns)

    def ground_truth(self) -> GroundTruth | None:
        return self._before or self.inner.ground_truth()


class StretchedQuaternion(BackendProxy):
    """Its attitude is no unit quaternion."""

    def ground_truth(self) -> GroundTruth | None:
        truth = self.inner.ground_truth()
        return None if truth is None else replace(truth, q_enu_flu=truth.q_enu_flu * 1.01)


class StartsElsewhere(BackendProxy):
    """It starts where it likes."""

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        super().reset(replace(scenario, initial=InitialState(pos_enu_m=(1.0, 0.0, 5.0))), seed)


class ReportsAnotherTime(BackendProxy):
    """Its reports are stamped with the start of the step."""

    def step(self, dt_ns: int) -> StepReport:
        before_ns = self.inner.clock.now_ns()
        return replace(super().step(dt_ns), now_ns=before_ns)


class WorksBeforeReset(BackendProxy):
    """It starts in a world of its own before anybody asked."""

    def __init__(self, make: Maker) -> None:
        super().__init__(make)
        self.inner.reset(default_scenario(), 0)


class _OtherStep(ClockProxy):
    def step_ns(self) -> int:
        return 1_000_000


class OtherClockStep(BackendProxy):
    """Its clock tells the step of the physics, not the scenario's."""

    @property
    def clock(self) -> SimClock:
        return _OtherStep(self.inner.clock)


class _Recording(ClockProxy):
    def __init__(self, inner: SimClock, errors: list[Exception]) -> None:
        super().__init__(inner)
        self._errors = errors

    def schedule(self, at_ns: int, cb: Callable[[], None]) -> Handle:
        def call() -> None:
            try:
                cb()
            except Exception as error:
                self._errors.append(error)
                raise

        return self.inner.schedule(at_ns, call)


class CallbackErrorsEscape(BackendProxy):
    """What a clock callback raises comes out of step()."""

    def __init__(self, make: Maker) -> None:
        super().__init__(make)
        self._errors: list[Exception] = []

    @property
    def clock(self) -> SimClock:
        return _Recording(self.inner.clock, self._errors)

    def step(self, dt_ns: int) -> StepReport:
        report = super().step(dt_ns)
        if self._errors:
            raise self._errors.pop()
        return report


class FaultsStopTheLoop(BackendProxy):
    """A failing sensor stops the run."""

    def step(self, dt_ns: int) -> StepReport:
        report = super().step(dt_ns)
        for event in report.faults:
            if event.type is EventType.SENSOR_FAULT:
                raise RuntimeError(event.message)
        return report


class ThawedMessages(BackendProxy):
    """The mappings in its messages can be changed."""

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        extensions = dict(sample.meta.extensions)
        return replace(sample, meta=forged(sample.meta, extensions=extensions))


class OtherFrameIds(BackendProxy):
    """Its samples name a frame that their sensor does not have."""

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        return replace(sample, meta=replace(sample.meta, frame_id="body"))


class AlarmsWithoutCause(BackendProxy):
    """Its samples are always degraded."""

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        return replace(sample, health=SensorHealth.DEGRADED)


class OtherUnits(BackendProxy):
    """It measures in feet, hectopascals and gauss."""

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        payload = sample.payload
        if isinstance(payload, AltimeterPayload):
            return replace(sample, payload=replace(payload, altitude_m=payload.altitude_m / 0.3048))
        if isinstance(payload, BarometerPayload):
            return replace(sample, payload=replace(payload, pressure_pa=payload.pressure_pa / 100))
        if isinstance(payload, MagnetometerPayload):
            return replace(sample, payload=MagnetometerPayload(payload.field_t * 1e4))
        return sample


class _PickySink(SinkProxy):
    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck:
        if type(stamp_ns) is not int:
            ack = self.inner.send(cmd, 0)
            return CommandAck(False, AckReason.INVALID_TYPE, ack.stamp_ns, None, "int only")
        return self.inner.send(cmd, stamp_ns)


class PlainIntegersOnly(BackendProxy):
    """It takes Python's int only, not numpy's."""

    def step(self, dt_ns: int) -> StepReport:
        if type(dt_ns) is not int:
            raise TypeError("int only")
        return super().step(dt_ns)

    def actuators(self) -> ActuatorSink:
        return _PickySink(self.inner.actuators())


class _NoSayer(SinkProxy):
    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck:
        ack = self.inner.send(cmd, stamp_ns)
        return CommandAck(False, AckReason.NOT_ARMED, ack.stamp_ns, None, "no")


class RefusesEverything(BackendProxy):
    """It takes no command at all."""

    def actuators(self) -> ActuatorSink:
        return _NoSayer(self.inner.actuators())


class _NotingSink(SinkProxy):
    def __init__(self, inner: ActuatorSink, owner: CommandsExpire) -> None:
        super().__init__(inner)
        self._owner = owner

    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck:
        self._owner.was_sent = True
        return self.inner.send(cmd, stamp_ns)


class CommandsExpire(BackendProxy):
    """A command lasts for one step; then it sinks."""

    was_sent = False

    def actuators(self) -> ActuatorSink:
        return _NotingSink(self.inner.actuators(), self)

    def step(self, dt_ns: int) -> StepReport:
        if not self.was_sent:
            sink = VelocityCommand(np.array([0.0, 0.0, -1.0]))
            self.inner.actuators().send(sink, self.inner.clock.now_ns())
        self.was_sent = False
        return super().step(dt_ns)
