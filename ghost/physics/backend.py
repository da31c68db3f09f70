"""`PhysicsBackend`: the `SimulationBackend` of every world that is one engine in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ghost.core import (
    BackendLost,
    ClosedError,
    ConfigError,
    ContractViolation,
    Event,
    HostClock,
    ScenarioSpec,
    SteppedClock,
    VehicleSpec,
    as_ns,
    check_seed,
)
from ghost.hal import (
    HAL_PROTOCOL_VERSION,
    ActuatorLevel,
    ActuatorSpec,
    Capabilities,
    GroundTruth,
    SensorId,
    SensorProvider,
    StepReport,
)
from ghost.physics.actuators import ALL_LEVELS, WorldSink, actuator_spec
from ghost.physics.engine import Engine
from ghost.physics.geodesy import EnuToGeodetic
from ghost.physics.impact import ImpactWatch
from ghost.physics.sensors import SensorRig
from ghost.physics.world import QuadWorld
from ghost.sensing import ChannelSet

__all__ = ["PhysicsBackend"]

_FLOAT64 = np.dtype(np.float64)
_NO_LIMITS = ActuatorSpec(
    levels=ALL_LEVELS, motor_count=4, max_velocity_mps=0.0, max_rate_rps=(0.0, 0.0, 0.0)
)


class PhysicsBackend:
    """A quadrotor in an engine: deterministic, stepped, with ground truth at every step.

    Within one scenario step, physics moves first; then the clock arrives and the sensors sample the
    state of that time; callbacks scheduled for that very time run last and see those samples.

    Args:
        engine: makes the engine; called at each `reset`, so that nothing is left of the last run.
        extensions: what `capabilities.extensions` says about this world.
        missing: names the sensors of a vehicle that cannot be had here, with the reason; they are
            left out of the run and reported in `extensions["missing_sensors"]`.
        host: gives `stamp_wall_ns`, nothing else.
    """

    def __init__(
        self,
        engine: Callable[[], Engine],
        *,
        extensions: Mapping[str, Any],
        missing: Callable[[VehicleSpec], Mapping[str, str]] = lambda _: {},
        host: HostClock | None = None,
    ) -> None:
        self._make_engine = engine
        self._extensions = dict(extensions)
        self._missing = missing
        self._events: list[Event] = []
        self._channels = ChannelSet(self._events.append, (host or HostClock()).wall_ns)
        self._engine: Engine | None = None
        self._clock: SteppedClock | None = None
        self._world: QuadWorld | None = None
        self._rig: SensorRig | None = None
        self._substeps = 1
        self._published: dict[str, int] = {}
        self._impact: ImpactWatch | None = None
        self._closed = False
        self._lost = ""
        self._sink = WorldSink(_NO_LIMITS, self._now_ns, self._apply)
        self.capabilities = self._declare(())

    def _declare(
        self, sensor_ids: tuple[SensorId, ...], missing: Mapping[str, str] | None = None
    ) -> Capabilities:
        extensions = dict(self._extensions)
        if missing:
            extensions["missing_sensors"] = dict(missing)
        return Capabilities(
            hal_version=HAL_PROTOCOL_VERSION,
            sensor_ids=sensor_ids,
            actuator_levels=ALL_LEVELS,
            has_ground_truth=True,
            synchronous_step=True,
            deterministic=True,
            supports_replay=False,
            extensions=extensions,
        )

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        """See `SimulationBackend.reset`."""
        if not isinstance(scenario, ScenarioSpec):
            raise TypeError(f"scenario must be a ScenarioSpec, got {type(scenario).__name__}")
        seed = check_seed(seed)
        if scenario.autopilot is not None:
            raise ConfigError(
                "this world has no autopilot; put Px4Backend around it (ghost run does), or leave "
                "the key out for the built-in controller",
                key="autopilot",
            )
        missing = dict(self._missing(scenario.vehicle))
        vehicle = scenario.vehicle
        if missing:
            kept = tuple(sensor for sensor in vehicle.sensors if sensor.id not in missing)
            vehicle = replace(vehicle, sensors=kept)
            faults = tuple(fault for fault in scenario.faults if fault.sensor not in missing)
            scenario = replace(scenario, vehicle=vehicle, faults=faults)
        self._close_engine()
        self._events.clear()
        self._published = {}
        engine = self._make_engine()
        self._engine = engine
        world = QuadWorld(engine, scenario)
        clock = SteppedClock(
            scenario.step_ns, seed=seed, on_event=self._events.append, arrive=self._arrive
        )
        self._rig = SensorRig(engine, world, scenario)
        self._channels.build(
            vehicle.sensors,
            clock.random_source(),
            scenario.faults,
            self._rig.readers,
            EnuToGeodetic(scenario.world.origin),
        )
        self._sink.reset(actuator_spec(vehicle))
        self._clock = clock
        self._world = world
        self._substeps = scenario.step_ns // scenario.physics_step_ns
        self._impact = ImpactWatch(scenario.step_ns, "physics")
        self._impact.start(world.state[7:10])
        self._closed = False
        self._lost = ""
        ids = tuple(sorted(sensor.id for sensor in vehicle.sensors))
        self.capabilities = self._declare(ids, missing)

    def step(self, dt_ns: int) -> StepReport:
        """See `SimulationBackend.step`."""
        clock, world = self._running()
        step_ns = clock.step_ns()
        dt = as_ns("dt_ns", dt_ns, minimum=1)
        count, rest = divmod(dt, step_ns)
        if rest:
            raise ValueError(
                f"dt_ns must be a multiple of the scenario's step_ns {step_ns}, got {dt}"
            )
        rig, impact = self._rig, self._impact
        assert rig is not None
        assert impact is not None
        self._published = {}
        try:
            for _ in range(count):
                world.advance(self._substeps)
                rig.accumulate()
                clock.advance(step_ns)
                crash = impact.take(clock.now_ns(), world.state)
                if crash is not None:
                    self._events.append(crash)
        except BackendLost as error:
            self._lost = str(error)
            self._channels.offline_all(self._lost)
            raise
        events = tuple(self._events)
        self._events.clear()
        return StepReport(clock.now_ns(), count, self._published, events)

    def shutdown(self) -> None:
        """See `SimulationBackend.shutdown`."""
        if self._closed:
            return
        self._closed = True
        self._sink.close()
        self._channels.offline_all("the backend was shut down", silent=True)
        self._events.clear()
        self._close_engine()

    @property
    def clock(self) -> SteppedClock:
        """See `SimulationBackend.clock`."""
        return self._running()[0]

    def sensors(self) -> Mapping[SensorId, SensorProvider[Any]]:
        """See `SimulationBackend.sensors`."""
        self._running()
        return self._channels.providers

    def actuators(self) -> WorldSink:
        """See `SimulationBackend.actuators`."""
        self._running()
        return self._sink

    def ground_truth(self) -> GroundTruth:
        """See `SimulationBackend.ground_truth`."""
        clock, world = self._running()
        state = world.state
        return GroundTruth(
            clock.now_ns(),
            _frozen(state[0:3]),
            _frozen(state[3:7]),
            _frozen(state[7:10]),
            _frozen(state[10:13]),
            _frozen(world.acceleration()[:3]),
            _frozen(world.rotors.speeds_rad_s),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.shutdown()

    def _running(self) -> tuple[SteppedClock, QuadWorld]:
        if self._closed:
            raise ClosedError("the backend was shut down; call reset(scenario, seed) to start anew")
        if self._clock is None or self._world is None:
            raise ContractViolation("call reset(scenario, seed) before anything else")
        if self._lost:
            raise BackendLost(f"{self._lost}; call reset(scenario, seed) to start anew")
        return self._clock, self._world

    def _now_ns(self) -> int:
        return 0 if self._clock is None else self._clock.now_ns()

    def _apply(self, level: ActuatorLevel, numbers: tuple[float, ...]) -> None:
        assert self._world is not None
        self._world.command(level, numbers)

    def _arrive(self) -> None:
        assert self._clock is not None
        counts = self._channels.sample(self._clock.now_ns())
        published = self._published
        if not published:
            self._published = counts
            return
        for sensor_id, count in counts.items():
            published[sensor_id] = published.get(sensor_id, 0) + count

    def _close_engine(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None


def _frozen(numbers: Sequence[float]) -> npt.NDArray[np.float64]:
    """A read-only array that a message takes as it is, without a copy."""
    array = np.array(numbers, _FLOAT64)
    array.setflags(write=False)
    return array
