"""Backends whose time, life or answers are wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ghost.core import ScenarioSpec, SimClock
from ghost.hal import (
    AckReason,
    ActuatorCommand,
    ActuatorSink,
    CommandAck,
    GroundTruth,
    SensorProvider,
    SensorSample,
    StepReport,
    Subscription,
    VelocityCommand,
)
from ghost.testing.broken.proxy import BackendProxy, ClockProxy, Maker, ProviderProxy, SinkProxy

__all__ = [
    "AcceptsNan",
    "ClockGoesBack",
    "EchoesUnclamped",
    "IgnoresCommands",
    "IgnoresSecondReset",
    "NoneAck",
    "RaisesOnBadCommands",
    "RenamesParameters",
    "SecondShutdownRaises",
    "StepRoundsItsArgument",
    "SubscriberErrorsEscape",
    "SubscribersLostOnReset",
    "TruthInOtherAxes",
    "UndeclaredSensor",
    "WorksAfterShutdown",
]


class _JumpyClock(ClockProxy):
    """A clock that now and then reads two steps too early."""

    _reads = 0

    def now_ns(self) -> int:
        self._reads += 1
        late = self._reads % 50 == 0
        return self.inner.now_ns() - (2 * self.inner.step_ns() if late else 0)


class ClockGoesBack(BackendProxy):
    """Its clock goes back now and then."""

    _jumpy: _JumpyClock | None = None

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        super().reset(scenario, seed)
        self._jumpy = _JumpyClock(self.inner.clock)

    @property
    def clock(self) -> SimClock:
        return self._jumpy or self.inner.clock


class StepRoundsItsArgument(BackendProxy):
    """Its step() makes the best of any number."""

    def step(self, dt_ns: int) -> StepReport:
        step_ns = self.inner.clock.step_ns()
        return self.inner.step(max(1, round(float(dt_ns) / step_ns)) * step_ns)


class IgnoresSecondReset(BackendProxy):
    """It resets once; later resets leave the world as it is."""

    _was_reset = False

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        if not self._was_reset:
            super().reset(scenario, seed)
        self._was_reset = True


class SecondShutdownRaises(BackendProxy):
    """It cannot be shut down twice."""

    _is_closed = False

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        self._is_closed = False
        super().reset(scenario, seed)

    def shutdown(self) -> None:
        if self._is_closed:
            raise RuntimeError("already closed")
        self._is_closed = True
        super().shutdown()


class WorksAfterShutdown(BackendProxy):
    """Its shutdown() does nothing."""

    def shutdown(self) -> None:
        """Leave all as it is."""


class UndeclaredSensor(BackendProxy):
    """It offers a sensor that it does not declare."""

    def sensors(self) -> Mapping[str, SensorProvider[Any]]:
        known = dict(super().sensors())
        first = min(known)
        return {**known, "undeclared0": known[first]}


class TruthInOtherAxes(BackendProxy):
    """Its true velocity is NED, its position ENU."""

    def ground_truth(self) -> GroundTruth | None:
        truth = self.inner.ground_truth()
        if truth is None:
            return None
        east, north, up = truth.vel_enu_mps
        return replace(truth, vel_enu_mps=np.array([north, east, -up]))


class SubscribersLostOnReset(BackendProxy):
    """A reset throws its subscribers out."""

    def __init__(self, make: Maker) -> None:
        super().__init__(make)
        self.subscriptions: list[Subscription] = []

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        for subscription in self.subscriptions:
            subscription.unsubscribe()
        super().reset(scenario, seed)

    def provider(self, inner: SensorProvider[Any]) -> ProviderProxy:
        return _Forgetful(inner, self, self.subscriptions)


class _Forgetful(ProviderProxy):
    def __init__(
        self, inner: SensorProvider[Any], owner: BackendProxy, kept: list[Subscription]
    ) -> None:
        super().__init__(inner, owner)
        self._kept = kept

    def subscribe(self, cb: Callable[[SensorSample[Any]], None]) -> Subscription:
        subscription = super().subscribe(cb)
        self._kept.append(subscription)
        return subscription


class SubscriberErrorsEscape(BackendProxy):
    """What a subscriber raises comes out of step()."""

    def __init__(self, make: Maker) -> None:
        super().__init__(make)
        self.errors: list[Exception] = []

    def step(self, dt_ns: int) -> StepReport:
        report = super().step(dt_ns)
        if self.errors:
            raise self.errors.pop()
        return report

    def provider(self, inner: SensorProvider[Any]) -> ProviderProxy:
        return _Escaping(inner, self, self.errors)


class _Escaping(ProviderProxy):
    def __init__(
        self, inner: SensorProvider[Any], owner: BackendProxy, errors: list[Exception]
    ) -> None:
        super().__init__(inner, owner)
        self._errors = errors

    def subscribe(self, cb: Callable[[SensorSample[Any]], None]) -> Subscription:
        def deliver(sample: SensorSample[Any]) -> None:
            try:
                cb(sample)
            except Exception as error:
                self._errors.append(error)
                raise

        return super().subscribe(deliver)


class _WithSink(BackendProxy):
    """A backend with a sink of another class."""

    sink_class: type[SinkProxy] = SinkProxy

    def actuators(self) -> ActuatorSink:
        return self.sink_class(self.inner.actuators())


class _RaisingSink(SinkProxy):
    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck:
        ack = self.inner.send(cmd, stamp_ns)
        if ack.reason in (AckReason.INVALID_VALUE, AckReason.INVALID_TYPE, AckReason.WRONG_SHAPE):
            raise ValueError(ack.detail)
        return ack


class RaisesOnBadCommands(_WithSink):
    """Its send() raises where it should refuse."""

    sink_class = _RaisingSink


class _SilentSink(SinkProxy):
    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck:
        ack = self.inner.send(cmd, stamp_ns)
        return ack if ack.accepted else cast("CommandAck", None)


class NoneAck(_WithSink):
    """Its send() returns None where it should refuse."""

    sink_class = _SilentSink


class _TrustingSink(SinkProxy):
    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck:
        ack = self.inner.send(cmd, stamp_ns)
        if ack.reason is not AckReason.INVALID_VALUE:
            return ack
        return CommandAck(True, AckReason.OK, ack.stamp_ns, cmd)


class AcceptsNan(_WithSink):
    """It accepts NaN and infinity."""

    sink_class = _TrustingSink


class _EchoingSink(SinkProxy):
    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck:
        ack = self.inner.send(cmd, stamp_ns)
        return replace(ack, applied=cmd) if ack.accepted else ack


class EchoesUnclamped(_WithSink):
    """Its acks echo what was asked, not what is done."""

    sink_class = _EchoingSink


class _DeafSink(SinkProxy):
    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck:
        down = VelocityCommand(np.array([0.0, 0.0, -1.0]))
        ack = self.inner.send(cmd, stamp_ns)
        if ack.accepted:
            self.inner.send(down, stamp_ns)
        return ack


class IgnoresCommands(_WithSink):
    """It says yes to every good command, and does something else."""

    sink_class = _DeafSink


class _RenamedSink(SinkProxy):
    def send(self, command: ActuatorCommand, stamp: int) -> CommandAck:
        return self.inner.send(command, stamp)


class RenamesParameters(_WithSink):
    """Its send() names its parameters otherwise."""

    sink_class = _RenamedSink
