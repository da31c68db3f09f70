"""The smallest backend that conforms: a point mass with a heading, in a few hundred lines.

It is what the suite itself is tested on, and what to read before writing a backend. It needs
`ghost.core` and `ghost.hal` only. Not for flying: the body stays level whatever it does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Self

import numpy as np
import numpy.typing as npt

from ghost.core import (
    ClosedError,
    ConfigError,
    ContractViolation,
    Event,
    HostClock,
    ScenarioSpec,
    SteppedClock,
    as_ns,
)
from ghost.hal import (
    HAL_PROTOCOL_VERSION,
    AckReason,
    ActuatorCommand,
    ActuatorLevel,
    ActuatorSpec,
    Capabilities,
    CommandAck,
    GroundTruth,
    StepReport,
)
from ghost.hal.validation import check_command
from ghost.testing.geometry import earth_radii_m, rotation_matrix
from ghost.testing.reference_sensors import NUMBERS, Callback, ReferenceSensor

__all__ = ["ReferenceBackend"]

Array = npt.NDArray[np.float64]

_LEVELS = (ActuatorLevel.MOTOR, ActuatorLevel.VELOCITY)
_VELOCITY_GAIN = 4.0
"""Acceleration per m/s of velocity error, 1/s."""
_LARGEST_ACC_MPS2 = 8.0


class _World:
    """The state, and how it moves. No command: the motors are off, and it falls."""

    def __init__(self, scenario: ScenarioSpec) -> None:
        start = scenario.initial
        if start.rpy_deg[0] or start.rpy_deg[1]:
            raise ConfigError("the reference world is always level", key="initial.rpy_deg")
        self.scenario = scenario
        self.gravity = np.array([0.0, 0.0, -scenario.world.gravity_mps2])
        self.pos = np.array(start.pos_enu_m or (0.0, 0.0, 0.0), dtype=np.float64)
        self.vel = np.array(start.vel_enu_mps, dtype=np.float64)
        self.acc = np.zeros(3)
        self.yaw = math.radians(start.rpy_deg[2])
        self.yaw_rate = 0.0
        self.level: ActuatorLevel | None = None
        self.numbers: tuple[float, ...] = ()

    def advance(self, dt: float) -> None:
        """Move by one physics step of constant acceleration."""
        self.yaw_rate = 0.0
        if self.level is ActuatorLevel.VELOCITY:
            self.acc = _VELOCITY_GAIN * (np.array(self.numbers[:3]) - self.vel)
            self.acc = np.clip(self.acc, -_LARGEST_ACC_MPS2, _LARGEST_ACC_MPS2)
            self.yaw_rate = self.numbers[3]
        else:
            motor, mass = self.scenario.vehicle.motor, self.scenario.vehicle.mass_kg
            thrust = sum(self.numbers) * motor.thrust_coeff * motor.max_rad_s**2
            self.acc = self.gravity + np.array([0.0, 0.0, thrust / mass])
        self.pos = self.pos + self.vel * dt + 0.5 * self.acc * dt * dt
        self.vel = self.vel + self.acc * dt
        self.yaw += self.yaw_rate * dt
        if self.pos[2] <= 0.0 and self.acc[2] <= 0.0:  # it stands on the ground
            self.pos[2] = 0.0
            self.vel, self.acc, self.yaw_rate = np.zeros(3), np.zeros(3), 0.0

    def attitude(self) -> Array:
        """Quaternion (w, x, y, z), body FLU to world ENU."""
        return np.array([math.cos(self.yaw / 2), 0.0, 0.0, math.sin(self.yaw / 2)])

    def measure(self, kind: str, reference: str) -> Array:
        """The true numbers of one kind of sensor."""
        world = self.scenario.world
        to_body = rotation_matrix(self.attitude()).T
        if kind == "imu":
            force = to_body @ (self.acc - self.gravity)
            return np.concatenate((force, [0.0, 0.0, self.yaw_rate]))
        if kind == "magnetometer":
            return np.asarray(to_body @ np.array(world.magnetic_field_enu_t))
        if kind == "gps":
            return self.pos.copy()
        height = float(self.pos[2])
        above_sea = height + world.origin.alt_m
        if kind == "altimeter":
            return np.array([above_sea if reference == "AMSL" else height])
        # International Standard Atmosphere (ISO 2533), troposphere
        return np.array([101_325.0 * (1.0 - 2.25577e-5 * above_sea) ** 5.25588])

    def geodetic(self, enu: Array) -> tuple[float, float, float]:
        """Latitude, longitude (degrees), altitude (m) near the origin, to first order."""
        origin = self.scenario.world.origin
        meridian, across = earth_radii_m(origin.lat_deg)
        east_radius = (across + origin.alt_m) * math.cos(math.radians(origin.lat_deg))
        lat = origin.lat_deg + math.degrees(float(enu[1]) / (meridian + origin.alt_m))
        lon = origin.lon_deg + math.degrees(float(enu[0]) / east_radius)
        return lat, lon, origin.alt_m + float(enu[2])


class _Sink:
    """The `ActuatorSink`."""

    def __init__(self, backend: ReferenceBackend, spec: ActuatorSpec) -> None:
        self.spec = spec
        self._backend = backend
        self._last_ns = 0

    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck:
        """See `ActuatorSink.send`."""
        backend = self._backend
        if backend.is_closed or backend.sink is not self:
            return CommandAck(
                False, AckReason.CLOSED, 0, None, "the backend was shut down or reset"
            )
        now_ns = backend.clock.now_ns()
        verdict = check_command(
            cmd, stamp_ns, self.spec, now_ns=now_ns, last_stamp_ns=self._last_ns
        )
        if verdict.applied is None:
            return CommandAck(False, verdict.reason, now_ns, None, verdict.detail)
        self._last_ns = verdict.stamp_ns
        backend.world.level, backend.world.numbers = verdict.applied.level, verdict.numbers
        return CommandAck(True, AckReason.OK, now_ns, verdict.applied)


class ReferenceBackend:
    """A `SimulationBackend`. All that a run changes is made in `reset`."""

    world: _World
    sink: _Sink
    _clock: SteppedClock
    _sensors: Mapping[str, ReferenceSensor]

    def __init__(self) -> None:
        self.is_closed = False
        self._was_reset = False
        self._events: list[Event] = []
        self._counts: dict[str, int] = {}
        self._callbacks: dict[str, list[Callback]] = {}
        self.capabilities = self._declare(())

    def _declare(self, sensor_ids: tuple[str, ...]) -> Capabilities:
        return Capabilities(
            hal_version=HAL_PROTOCOL_VERSION,
            sensor_ids=sensor_ids,
            actuator_levels=_LEVELS,
            has_ground_truth=True,
            synchronous_step=True,
            deterministic=True,
            supports_replay=False,
        )

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        """See `SimulationBackend.reset`."""
        self.world = world = _World(scenario)
        self._events, self._counts = [], {}
        self._clock = SteppedClock(
            scenario.step_ns, seed=seed, on_event=self._emit, arrive=self._sample
        )
        root, wall_ns = self._clock.random_source(), HostClock().wall_ns
        configs = sorted(scenario.vehicle.sensors, key=lambda config: config.id)
        self._sensors = {
            config.id: ReferenceSensor(
                config,
                tuple(fault for fault in scenario.faults if fault.sensor == config.id),
                partial(world.measure, config.type, config.reference),
                world.geodetic,
                root.child(f"sensors/{config.id}"),
                self._callbacks.setdefault(config.id, []),
                self._emit,
                wall_ns,
            )
            for config in configs
            if config.type in NUMBERS
        }
        control = scenario.vehicle.control
        self.sink = _Sink(
            self,
            ActuatorSpec(
                levels=_LEVELS,
                motor_count=len(scenario.vehicle.rotors),
                max_velocity_mps=control.max_horizontal_mps,
                max_rate_rps=control.max_rate_rps,
            ),
        )
        self.capabilities = self._declare(tuple(self._sensors))
        self.is_closed, self._was_reset = False, True

    def step(self, dt_ns: int) -> StepReport:
        """See `SimulationBackend.step`."""
        self._require_running()
        step_ns, physics_ns = self._clock.step_ns(), self.world.scenario.physics_step_ns
        count, rest = divmod(as_ns("dt_ns", dt_ns, minimum=1), step_ns)
        if rest:
            raise ValueError(f"dt_ns must be a multiple of step_ns {step_ns}, got {dt_ns}")
        self._counts = {}
        for _ in range(count):
            for _ in range(step_ns // physics_ns):
                self.world.advance(physics_ns * 1e-9)
            self._clock.advance(step_ns)
        events, self._events = tuple(self._events), []
        return StepReport(self._clock.now_ns(), count, self._counts, events)

    def shutdown(self) -> None:
        """See `SimulationBackend.shutdown`."""
        if self._was_reset and not self.is_closed:
            for sensor in self._sensors.values():
                sensor.silence()
        self.is_closed = True

    @property
    def clock(self) -> SteppedClock:
        """See `SimulationBackend.clock`."""
        self._require_running()
        return self._clock

    def sensors(self) -> Mapping[str, ReferenceSensor]:
        """See `SimulationBackend.sensors`."""
        self._require_running()
        return self._sensors

    def actuators(self) -> _Sink:
        """See `SimulationBackend.actuators`."""
        self._require_running()
        return self.sink

    def ground_truth(self) -> GroundTruth:
        """See `SimulationBackend.ground_truth`."""
        self._require_running()
        world = self.world
        rate = np.array([0.0, 0.0, world.yaw_rate])
        now_ns, q = self._clock.now_ns(), world.attitude()
        return GroundTruth(now_ns, world.pos, q, world.vel, rate, world.acc, np.zeros(0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.shutdown()

    def _require_running(self) -> None:
        if self.is_closed:
            raise ClosedError("the backend was shut down; reset() starts anew")
        if not self._was_reset:
            raise ContractViolation("call reset(scenario, seed) before anything else")

    def _emit(self, event: Event) -> None:
        self._events.append(event)

    def _sample(self) -> None:
        now_ns = self._clock.now_ns()
        for sensor_id, sensor in self._sensors.items():
            count = sensor.sample(now_ns)
            if count:
                self._counts[sensor_id] = self._counts.get(sensor_id, 0) + count
