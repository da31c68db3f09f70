"""All sensors of one simulated vehicle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from ghost.core import (
    ConfigError,
    ContractViolation,
    EventSink,
    FaultSpec,
    RandomSource,
    SensorConfig,
)
from ghost.hal import SensorId, SensorSpec
from ghost.sensing.channel import Reader, SensorChannel
from ghost.sensing.faults import NEVER_NS, FaultSchedule
from ghost.sensing.models import ToGeodetic, make_model
from ghost.sensing.provider import ChannelProvider
from ghost.sensing.streams import UniformLane, sensor_stream

__all__ = ["ChannelSet"]


class ChannelSet:
    """The sensors of a backend: built anew at each reset, with providers that stay.

    `on_event` receives every `Event` (faults, recoveries, failing subscribers); `wall_ns` is the
    host clock for `stamp_wall_ns`.
    """

    __slots__ = (
        "_channels",
        "_now_ns",
        "_on_event",
        "_providers",
        "_retired",
        "_sampling",
        "_wall_ns",
        "next_due_ns",
        "providers",
    )

    def __init__(self, on_event: EventSink, wall_ns: Callable[[], int]) -> None:
        self._on_event = on_event
        self._wall_ns = wall_ns
        self._channels: tuple[tuple[str, SensorChannel], ...] = ()
        self._providers: dict[SensorId, ChannelProvider] = {}
        self._retired: dict[SensorId, ChannelProvider] = {}
        self._now_ns = 0
        self._sampling = False
        self.next_due_ns = NEVER_NS
        """The next time at which `sample` has anything to do, ns."""
        self.providers: Mapping[SensorId, ChannelProvider] = MappingProxyType(self._providers)
        """Read-only, by id in alphabetical order; the same object across resets."""

    def build(
        self,
        vehicle_sensors: Iterable[SensorConfig],
        random_root: RandomSource,
        faults: Iterable[FaultSpec],
        readers: Mapping[SensorId, Reader],
        to_geodetic: ToGeodetic,
    ) -> None:
        """Begin a run at time 0 with these sensors. Call it at each reset.

        A sensor id that was there before keeps its provider and its subscribers (D22), also if it
        was missing in a run between. `readers` must have one entry for each sensor: a backend
        leaves out of `vehicle_sensors` what it cannot measure, and says so itself.

        Raises `ConfigError` for a sensor without a reader, a reader or fault without a sensor, an
        id that occurs twice, or a type that cannot be simulated; the old run is then untouched.
        Raises `ContractViolation` from inside a subscriber's callback.
        """
        if self._sampling:
            raise ContractViolation("a sensor subscriber must not reset the backend it listens to")
        configs = sorted(vehicle_sensors, key=lambda config: config.id)
        schedule = list(faults)
        _check(configs, schedule, readers)
        models = [
            make_model(config, sensor_stream(random_root, config.id, "noise"), to_geodetic)
            for config in configs
        ]
        known = {**self._retired, **self._providers}
        self._providers.clear()
        channels = []
        for config, model in zip(configs, models, strict=True):
            provider = self._provider(known.pop(config.id, None), config)
            self._providers[config.id] = provider
            channel = SensorChannel(
                config,
                model,
                readers[config.id],
                provider,
                faults=FaultSchedule(fault for fault in schedule if fault.sensor == config.id),
                fault_draws=UniformLane(sensor_stream(random_root, config.id, "faults")),
                on_event=self._on_event,
                wall_ns=self._wall_ns,
            )
            channels.append((config.id, channel))
        for provider in known.values():
            provider.go_offline()
        self._retired = known
        self._channels = tuple(channels)
        self._now_ns = 0
        self.next_due_ns = min((channel.due_ns for _, channel in channels), default=NEVER_NS)

    def sample(self, now_ns: int) -> dict[SensorId, int]:
        """Capture and publish all that is due at this step.

        Call it once for each step, with the step's time, which never goes back. Returns how many
        samples each sensor published, without those that published none. Sensors are served in
        alphabetical order, so that their order in the vehicle file changes nothing.

        Raises `BackendLost` if a reader does; every other failure becomes health and an event.
        """
        self._now_ns = now_ns
        if now_ns < self.next_due_ns:
            return {}
        counts: dict[SensorId, int] = {}
        next_due_ns = NEVER_NS
        self._sampling = True
        try:
            for sensor_id, channel in self._channels:
                due_ns = channel.due_ns
                if due_ns <= now_ns:
                    published = channel.run(now_ns)
                    if published:
                        counts[sensor_id] = published
                    due_ns = channel.due_ns
                if due_ns < next_due_ns:
                    next_due_ns = due_ns
        finally:
            self._sampling = False
        self.next_due_ns = next_due_ns
        return counts

    def offline_all(self, reason: str, *, silent: bool = False) -> None:
        """Every sensor goes OFFLINE until the next `build`: poll gives nothing any more (D23).

        One `SENSOR_FAULT` event for each sensor that was not OFFLINE before; none if `silent`, for
        an orderly shutdown. Idempotent.
        """
        for _, channel in self._channels:
            channel.offline(self._now_ns, reason, silent=silent)
        self.next_due_ns = NEVER_NS

    def _provider(self, known: ChannelProvider | None, config: SensorConfig) -> ChannelProvider:
        spec = SensorSpec(
            sensor_id=config.id,
            payload_type=config.type,
            nominal_rate_hz=config.rate_hz,
            frame_id=config.frame,
            noise_model=config.noise,
            latency_ns=config.latency_ns,
        )
        if known is None:
            return ChannelProvider(spec, config.queue_size, self._on_event)
        known.renew(spec, config.queue_size)
        return known


def _check(
    configs: list[SensorConfig], faults: list[FaultSpec], readers: Mapping[SensorId, Reader]
) -> None:
    ids = [config.id for config in configs]
    known = ", ".join(ids) or "none"
    for sensor_id in ids:
        if ids.count(sensor_id) > 1:
            raise ConfigError(f"sensor id {sensor_id!r} occurs {ids.count(sensor_id)} times")
        if sensor_id not in readers:
            raise ConfigError(
                f"this backend cannot measure sensor {sensor_id!r}: it gives no reader for it"
            )
    for sensor_id in readers:
        if sensor_id not in ids:
            raise ConfigError(f"there is a reader for {sensor_id!r}, but the sensors are {known}")
    for fault in faults:
        if fault.sensor not in ids:
            raise ConfigError(
                f"a {fault.kind} fault names the sensor {fault.sensor!r}, but this backend has "
                f"{known}",
                key="faults",
            )
