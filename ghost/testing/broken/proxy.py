"""Proxies that hand everything on: a broken backend overrides the one thing that it gets wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

from ghost.core import Handle, RandomSource, ScenarioSpec, SimClock
from ghost.hal import (
    ActuatorCommand,
    ActuatorSink,
    ActuatorSpec,
    Capabilities,
    CommandAck,
    GroundTruth,
    SensorHealth,
    SensorProvider,
    SensorSample,
    SensorSpec,
    SimulationBackend,
    StepReport,
    Subscription,
)

__all__ = ["BackendProxy", "ClockProxy", "ProviderProxy", "SinkProxy", "forged"]

Maker = Callable[[], SimulationBackend]


def forged(message: Any, **values: object) -> Any:
    """A copy of a message with some fields set past its constructor's checks."""
    copy = object.__new__(type(message))
    for name in type(message).__dataclass_fields__:
        object.__setattr__(copy, name, values.get(name, getattr(message, name)))
    return copy


class ProviderProxy:
    """A provider whose samples pass through the backend's `change`."""

    def __init__(self, inner: SensorProvider[Any], owner: BackendProxy) -> None:
        self.inner = inner
        self.owner = owner
        self.spec: SensorSpec = inner.spec

    @property
    def health(self) -> SensorHealth:
        """The inner provider's."""
        return self.inner.health

    def poll(self) -> list[SensorSample[Any]]:
        """Poll, and change each sample."""
        changed = [self.owner.change(sample) for sample in self.inner.poll()]
        return [sample for sample in changed if sample is not None]

    def subscribe(self, cb: Callable[[SensorSample[Any]], None]) -> Subscription:
        """Subscribe; the callback gets the changed sample."""

        def deliver(sample: SensorSample[Any]) -> None:
            changed = self.owner.change(sample)
            if changed is not None:
                cb(changed)

        return self.inner.subscribe(deliver)


class SinkProxy:
    """A sink that hands on."""

    def __init__(self, inner: ActuatorSink) -> None:
        self.inner = inner
        self.spec: ActuatorSpec = inner.spec

    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck:
        """Hand on."""
        return self.inner.send(cmd, stamp_ns)


class ClockProxy:
    """A clock that hands on."""

    def __init__(self, inner: SimClock) -> None:
        self.inner = inner

    def now_ns(self) -> int:
        """Hand on."""
        return self.inner.now_ns()

    def step_ns(self) -> int:
        """Hand on."""
        return self.inner.step_ns()

    def advance(self, dt_ns: int) -> None:
        """Hand on."""
        self.inner.advance(dt_ns)

    def schedule(self, at_ns: int, cb: Callable[[], None]) -> Handle:
        """Hand on."""
        return self.inner.schedule(at_ns, cb)

    def schedule_periodic(
        self, period_ns: int, cb: Callable[[], None], phase_ns: int = 0
    ) -> Handle:
        """Hand on."""
        return self.inner.schedule_periodic(period_ns, cb, phase_ns)

    def random_source(self) -> RandomSource:
        """Hand on."""
        return self.inner.random_source()


class BackendProxy:
    """A backend that hands on; with nothing overridden it conforms as its inner backend does."""

    def __init__(self, make: Maker) -> None:
        self.inner = make()
        self.capabilities: Capabilities = self.inner.capabilities
        self._providers: dict[int, ProviderProxy] = {}

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        """Hand on."""
        self._providers = {}
        self.inner.reset(scenario, seed)
        self.capabilities = self.inner.capabilities

    def step(self, dt_ns: int) -> StepReport:
        """Hand on."""
        return self.inner.step(dt_ns)

    def shutdown(self) -> None:
        """Hand on."""
        self.inner.shutdown()

    @property
    def clock(self) -> SimClock:
        """The inner backend's."""
        return self.inner.clock

    def sensors(self) -> Mapping[str, SensorProvider[Any]]:
        """The inner providers, wrapped once each."""
        return {sid: self._wrapped(provider) for sid, provider in self.inner.sensors().items()}

    def actuators(self) -> ActuatorSink:
        """The inner backend's."""
        return self.inner.actuators()

    def ground_truth(self) -> GroundTruth | None:
        """The inner backend's."""
        return self.inner.ground_truth()

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        """What becomes of a sample; None loses it."""
        return sample

    def provider(self, inner: SensorProvider[Any]) -> ProviderProxy:
        """Wrap a provider."""
        return ProviderProxy(inner, self)

    def _wrapped(self, inner: SensorProvider[Any]) -> ProviderProxy:
        found = self._providers.get(id(inner))
        if found is None:
            found = self._providers[id(inner)] = self.provider(inner)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.shutdown()
