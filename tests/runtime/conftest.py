"""A small world for the run loop: a point that flies towards what it is told, and can go wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from ghost.core import (
    BackendLost,
    BodySpec,
    Event,
    EventSeverity,
    EventType,
    FlightPlan,
    InitialState,
    MotorSpec,
    PlanItem,
    RotorSpec,
    ScenarioSpec,
    SensorConfig,
    SteppedClock,
    VehicleSpec,
)
from ghost.hal import (
    HAL_PROTOCOL_VERSION,
    AckReason,
    ActuatorCommand,
    ActuatorLevel,
    ActuatorSpec,
    AltimeterPayload,
    Capabilities,
    CommandAck,
    GroundTruth,
    PositionCommand,
    SensorHealth,
    SensorMeta,
    SensorSample,
    SensorSpec,
    StepReport,
    VelocityCommand,
)

BOTH = (ActuatorLevel.POSITION, ActuatorLevel.VELOCITY)


class Silent:
    """A subscription that never was."""

    def unsubscribe(self) -> None:
        """Nothing to stop."""


class PointProvider:
    """An altimeter that reads the point's height with noise from the clock's random tree."""

    def __init__(self, sensor_id: str, every: int) -> None:
        self.spec = SensorSpec(sensor_id, "altimeter", 250.0 / every, sensor_id)
        self.every = every
        self.queue: list[SensorSample[Any]] = []

    @property
    def health(self) -> SensorHealth:
        return SensorHealth.OK

    def poll(self) -> list[SensorSample[Any]]:
        samples, self.queue = self.queue, []
        return samples

    def subscribe(self, cb: Callable[[SensorSample[Any]], None]) -> Silent:  # noqa: ARG002 - HAL
        return Silent()


class PointSink:
    """Takes what it is told, unless it is told to refuse."""

    def __init__(self, world: PointWorld) -> None:
        self.spec = ActuatorSpec(BOTH, 0, 5.0, (1.0, 1.0, 1.0))
        self._world = world

    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck:
        now = self._world.clock.now_ns()
        assert stamp_ns == now
        if self._world.refuse:
            return CommandAck(False, AckReason.NOT_ARMED, now, None, "the test says no")
        self._world.command = cmd
        self._world.log.append((now, cmd))
        return CommandAck(True, AckReason.OK, now, cmd)


class PointWorld:
    """A `SimulationBackend` whose vehicle is a point that never sinks below z = 0.

    POSITION closes in with 2 /s, VELOCITY is followed at once.
    """

    def __init__(
        self,
        *,
        has_truth: bool = True,
        levels: tuple[ActuatorLevel, ...] = BOTH,
        sensors: tuple[str, ...] = ("alt0", "alt1"),
        lost_at_step: int | None = None,
        crash_at_step: int | None = None,
        refuse: bool = False,
        stuck: bool = False,
        on_step: Callable[[int], None] = lambda _: None,
        extensions: Mapping[str, Any] | None = None,
    ) -> None:
        self.capabilities = Capabilities(
            HAL_PROTOCOL_VERSION, sensors, levels, has_truth, True, True, False, extensions or {}
        )
        self.refuse = refuse
        self.stuck = stuck
        self.log: list[tuple[int, ActuatorCommand]] = []
        self.command: ActuatorCommand | None = None
        self.shut_down = 0
        self._names = sensors
        self._lost_at = lost_at_step
        self._crash_at = crash_at_step
        self._on_step = on_step
        self._sink = PointSink(self)

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        self._clock = SteppedClock(scenario.step_ns, seed=seed)
        self._providers = {
            name: PointProvider(name, every + 1) for every, name in enumerate(sorted(self._names))
        }
        # In the order given, so that tests can show that the order does not matter.
        self._providers = {name: self._providers[name] for name in self._names}
        root = self._clock.random_source()
        self._noise = {
            name: root.child("/sensors").child(name).child("noise") for name in self._names
        }
        self._pos = np.array(scenario.initial.pos_enu_m or (0.0, 0.0, 0.0), np.float64)
        self._vel = np.zeros(3)
        self._yaw = 0.0
        self._step = 0
        self.command = None
        self.log.clear()

    def step(self, dt_ns: int) -> StepReport:
        self._on_step(self._step)
        self._step += 1
        if self._step == self._lost_at:
            raise BackendLost("the test pulled the plug")
        self._clock.advance(dt_ns)
        self._move(dt_ns / 1e9)
        now = self._clock.now_ns()
        samples = {}
        for name, provider in self._providers.items():
            if self._step % provider.every == 0:
                samples[name] = 1
                height = float(self._pos[2]) + self._noise[name].normal(0.0, 0.1)
                provider.queue.append(self._sample(name, height, now))
        events = []
        if self._step == self._crash_at:
            events.append(Event(EventType.CRASH, now, EventSeverity.ERROR, "point", "ouch"))
        return StepReport(now, 1, samples, tuple(events))

    def _sample(self, name: str, height: float, now: int) -> SensorSample[AltimeterPayload]:
        return SensorSample(
            name,
            self._step,
            now,
            now,
            self._step * 17,
            SensorHealth.OK,
            AltimeterPayload(height, "AGL", 0.01),
            SensorMeta(name),
        )

    def _move(self, dt_s: float) -> None:
        command = self.command
        self._vel[:] = 0.0
        if isinstance(command, PositionCommand):
            self._vel[:] = 2.0 * (command.pos_enu_m - self._pos)
            self._yaw = command.yaw_rad
        elif isinstance(command, VelocityCommand):
            self._vel[:] = command.vel_enu_mps
            self._yaw += command.yaw_rate_rps * dt_s
        if self.stuck:
            self._vel[:] = 0.0
        if self._pos[2] + self._vel[2] * dt_s < 0.0:
            self._vel[2] = 0.0
            self._pos[2] = 0.0
        self._pos += self._vel * dt_s

    def shutdown(self) -> None:
        self.shut_down += 1

    @property
    def clock(self) -> SteppedClock:
        return self._clock

    def sensors(self) -> Mapping[str, PointProvider]:
        return self._providers

    def actuators(self) -> PointSink:
        return self._sink

    def ground_truth(self) -> GroundTruth | None:
        if not self.capabilities.has_ground_truth:
            return None
        half = 0.5 * self._yaw
        return GroundTruth(
            self._clock.now_ns(),
            self._pos.copy(),
            np.array([np.cos(half), 0.0, 0.0, np.sin(half)]),
            self._vel.copy(),
            np.zeros(3),
            np.zeros(3),
            np.zeros(0),
        )


ScenarioMaker = Callable[..., ScenarioSpec]
WorldMaker = Callable[..., PointWorld]


@pytest.fixture
def make_world() -> WorldMaker:
    """Makes a `PointWorld`; see there for what can be made to go wrong."""
    return PointWorld


@pytest.fixture
def make_scenario() -> ScenarioMaker:
    """Makes a scenario: `make_scenario(TakeOff(2.0), duration_s=5.0, level="VELOCITY")`."""

    def make(
        *items: PlanItem,
        duration_s: float = 10.0,
        level: Any = "POSITION",
        command_rate_hz: float = 50.0,
        start: tuple[float, float, float] | None = None,
    ) -> ScenarioSpec:
        vehicle = VehicleSpec(
            name="point",
            body=BodySpec(1.0, (0.01, 0.01, 0.01), (0.1, 0.1, 0.1)),
            rotors=tuple(RotorSpec((0.1, 0.1, 0.0), "ccw" if n < 2 else "cw") for n in range(4)),
            motor=MotorSpec(1e-5, 0.01, 1000.0, 0.01, 0.01),
            sensors=(SensorConfig("alt0", "altimeter", 50.0),),
        )
        return ScenarioSpec(
            name="point",
            vehicle=vehicle,
            duration_ns=round(duration_s * 1e9),
            step_ns=4_000_000,
            initial=InitialState(pos_enu_m=start),
            plan=FlightPlan(items, level=level, command_rate_hz=command_rate_hz),
            seed=3,
        )

    return make
