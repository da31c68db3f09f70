"""`GazeboBackend`: the `SimulationBackend` of a Gazebo Sim server in lockstep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ghost.backends.gazebo.lateness import Lateness
from ghost.backends.gazebo.options import GazeboOptions
from ghost.backends.gazebo.outside import MotorEars, check_bridge, driven_from_outside
from ghost.backends.gazebo.process import INSTALL, Launch, find_gz, gz_launch
from ghost.backends.gazebo.run import ControlledRun, OutsideRun
from ghost.backends.gazebo.sensors import GazeboSensors, missing_sensors
from ghost.backends.gazebo.session import Session
from ghost.backends.gazebo.sink import GazeboSink
from ghost.core import (
    BackendLost,
    ClosedError,
    ConfigError,
    ContractViolation,
    Event,
    HostClock,
    MissingDependency,
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
from ghost.physics.actuators import ALL_LEVELS, actuator_spec
from ghost.physics.geodesy import EnuToGeodetic
from ghost.sensing import ChannelSet

__all__ = ["GazeboBackend"]

_NO_LIMITS = ActuatorSpec(
    levels=ALL_LEVELS, motor_count=4, max_velocity_mps=0.0, max_rate_rps=(0.0, 0.0, 0.0)
)
_EXTENSIONS: Mapping[str, Any] = {
    "engine": "gz-sim",
    "lockstep": "one-way: Gazebo waits for Ghost, step by step; Ghost waits for its messages",
    "controller": "true state, once a step",
    "noise": "Ghost's own; the models are noise-free",
    "rotor_speeds": "computed from the commands that the server confirmed",
    "armable": False,
}


_OUTSIDE: Mapping[str, Any] = {
    "lockstep": "one-way: Gazebo waits for Ghost; whether the autopilot is waited for is up to "
    "whoever reads bridge()",
    "controller": "none: an autopilot outside drives the motors",
    "noise": "Ghost's own; beside Ghost's sensors are the autopilot's, whose noise is Gazebo's",
    "rotor_speeds": "computed from the autopilot's commands",
}


class GazeboBackend:
    """A quadrotor in Gazebo Sim, stepped in lockstep: deterministic, with truth at every step.

    Within a step the motors get their command, which is proven to have arrived, the world moves,
    and all that it measures is in before the clock moves; then the sensors of that time publish.

    Args:
        options: how the world is found; by default a server is started for the scenario.
        launch: what a server of our own is started with, `gz sim -s` by default.
        host: deadlines and `stamp_wall_ns`, nothing else.

    Raises `MissingDependency` if a server would have to be started and there is no `gz`.
    """

    def __init__(
        self,
        options: GazeboOptions | None = None,
        *,
        launch: Launch = gz_launch,
        host: HostClock | None = None,
    ) -> None:
        self._options = options or GazeboOptions()
        self._launch = launch
        self._host = host or HostClock()
        if self._options.attach is None and launch is gz_launch and find_gz() is None:
            raise MissingDependency("gz", needed_for="the backend 'gazebo'", install=INSTALL)
        self._events: list[Event] = []
        self._channels = ChannelSet(self._events.append, self._host.wall_ns)
        self._session: Session | None = None
        self._run: ControlledRun | OutsideRun | None = None
        self._published: dict[str, int] = {}
        self._closed = False
        self._lost = ""
        self._sink = GazeboSink(_NO_LIMITS, self._now_ns, self._apply)
        self.capabilities = _declare((), {}, {})

    @classmethod
    def configured(cls, settings: Mapping[str, str], environ: Mapping[str, str]) -> Self:
        """Make one from the `gz.…` settings of the command line and the environment.

        Raises what `GazeboOptions.parse` and the constructor raise.
        """
        return cls(GazeboOptions.parse(settings, environ))

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        """See `SimulationBackend.reset`."""
        if not isinstance(scenario, ScenarioSpec):
            raise TypeError(f"scenario must be a ScenarioSpec, got {type(scenario).__name__}")
        seed = check_seed(seed)
        if scenario.autopilot is not None and scenario.autopilot.link != "gz_bridge":
            raise ConfigError(
                "this world has no autopilot; put Px4Backend around it (ghost run does), or leave "
                "the key out for the built-in controller",
                key="autopilot",
            )
        if any(scenario.initial.vel_enu_mps):
            raise ConfigError(
                "Gazebo starts every model at rest; set it to [0, 0, 0]", key="initial.vel_enu_mps"
            )
        outside = driven_from_outside(scenario)
        if outside:
            check_bridge(scenario)
        missing = missing_sensors(scenario.vehicle)
        scenario = _without(scenario, missing)
        self._run = None
        session = self._serve(scenario, seed)
        self._events.clear()
        self._published = {}
        clock = SteppedClock(
            scenario.step_ns, seed=seed, on_event=self._events.append, arrive=self._arrive
        )
        lateness = Lateness(
            session.world,
            session.step_ns,
            self._channels.providers,
            self._events.append,
            self._options.image_deadline_s,
        )
        sensors = GazeboSensors(scenario, session.mailboxes, session.truth, clock.now_ns, lateness)
        self._channels.build(
            scenario.vehicle.sensors,
            clock.random_source(),
            scenario.faults,
            sensors.readers,
            EnuToGeodetic(scenario.world.origin),
        )
        if session.ears is not None:
            self._sink.refuse()
            self._run = OutsideRun(scenario, session, clock, session.ears)
        else:
            self._sink.reset(actuator_spec(scenario.vehicle))
            self._run = ControlledRun(scenario, session, clock)
        self._closed = False
        self._lost = ""
        self.capabilities = _declare(
            tuple(sorted(sensor.id for sensor in scenario.vehicle.sensors)),
            missing,
            {
                "world": session.world_name,
                "model": session.model,
                "world_step_ns": session.step_ns,
                "command_proof": "echo" if session.proven else "none: a pause of 0.3 ms",
                "transport": self._options.transport,
                **(_OUTSIDE if outside else {}),
            },
            levels=() if outside else ALL_LEVELS,
            # PX4 runs on threads of its own, and its sensors have noise that is Gazebo's.
            deterministic=session.proven and not outside,
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
        if count > 1 and isinstance(run, OutsideRun):
            raise ContractViolation(
                "a world whose motors an autopilot drives makes one step at a time, since each is "
                f"answered: dt_ns must be {step_ns}, got {dt}"
            )
        self._published = {}
        try:
            for _ in range(count):
                crash = run.advance()
                if crash is not None:
                    self._events.append(crash)
        except BackendLost as error:
            self._lost = str(error)
            self._channels.offline_all(self._lost)
            raise
        events = tuple(self._events)
        self._events.clear()
        return StepReport(run.clock.now_ns(), count, self._published, events)

    def shutdown(self) -> None:
        """See `SimulationBackend.shutdown`."""
        if self._closed:
            return
        self._closed = True
        self._sink.close()
        self._channels.offline_all("the backend was shut down", silent=True)
        self._events.clear()
        self._drop_session()

    @property
    def clock(self) -> SteppedClock:
        """See `SimulationBackend.clock`."""
        return self._running().clock

    def sensors(self) -> Mapping[SensorId, SensorProvider[Any]]:
        """See `SimulationBackend.sensors`."""
        self._running()
        return self._channels.providers

    def actuators(self) -> GazeboSink:
        """See `SimulationBackend.actuators`; it refuses where an autopilot drives the motors."""
        self._running()
        return self._sink

    def ground_truth(self) -> GroundTruth:
        """See `SimulationBackend.ground_truth`."""
        run = self._running()
        truth = run.session.truth
        state = truth.state
        return GroundTruth(
            run.clock.now_ns(),
            _frozen(state[0:3]),
            _frozen(state[3:7]),
            _frozen(state[7:10]),
            _frozen(state[10:13]),
            _frozen(truth.acc_enu_mps2),
            _frozen(run.rotors.speeds_rad_s),
        )

    def bridge(self) -> MotorEars:
        """What an autopilot outside needs to find its model, and what hears it; until `reset`.

        Raises `ContractViolation` where Ghost itself drives the motors.
        """
        ears = self._running().session.ears
        if ears is None:
            raise ContractViolation(
                "the motors of this world are Ghost's own; for an autopilot that is connected to "
                "Gazebo itself the scenario says autopilot: {kind: px4, link: gz_bridge}"
            )
        return ears

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.shutdown()

    # -- inside -----------------------------------------------------------------------------

    def _serve(self, scenario: ScenarioSpec, seed: int) -> Session:
        """A session at the start of the scenario: the one there is, or a new one."""
        session = self._session
        if session is not None and session.serves(scenario):
            try:
                session.reset(scenario)
            except BackendLost:
                # A server of ours that died or hangs is replaced; somebody else's is looked for.
                session.close()
            else:
                return session
        self._drop_session()
        session = Session(self._options, self._launch, self._host, self._events.append, scenario)
        session.open(seed)
        self._session = session
        return session

    def _drop_session(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _running(self) -> ControlledRun | OutsideRun:
        if self._closed:
            raise ClosedError("the backend was shut down; call reset(scenario, seed) to start anew")
        if self._lost:
            raise BackendLost(f"{self._lost}; call reset(scenario, seed) to start anew")
        if self._run is None:
            raise ContractViolation("call reset(scenario, seed) before anything else")
        return self._run

    def _now_ns(self) -> int:
        return 0 if self._run is None else self._run.clock.now_ns()

    def _apply(self, level: ActuatorLevel, numbers: tuple[float, ...]) -> None:
        assert isinstance(self._run, ControlledRun)
        self._run.command(level, numbers)

    def _arrive(self) -> None:
        assert self._run is not None
        counts = self._channels.sample(self._run.clock.now_ns())
        for sensor_id, count in counts.items():
            self._published[sensor_id] = self._published.get(sensor_id, 0) + count


def _declare(
    sensor_ids: tuple[SensorId, ...],
    missing: Mapping[str, str],
    more: Mapping[str, Any],
    *,
    levels: tuple[ActuatorLevel, ...] = ALL_LEVELS,
    deterministic: bool = True,
) -> Capabilities:
    extensions = {**_EXTENSIONS, **more}
    if missing:
        extensions["missing_sensors"] = dict(missing)
    return Capabilities(
        hal_version=HAL_PROTOCOL_VERSION,
        sensor_ids=sensor_ids,
        actuator_levels=levels,
        has_ground_truth=True,
        synchronous_step=True,
        deterministic=deterministic,
        supports_replay=False,
        extensions=extensions,
    )


def _without(scenario: ScenarioSpec, missing: Mapping[str, str]) -> ScenarioSpec:
    """The scenario without the sensors that Gazebo does not have, and their faults."""
    if not missing:
        return scenario
    vehicle: VehicleSpec = scenario.vehicle
    kept = tuple(sensor for sensor in vehicle.sensors if sensor.id not in missing)
    faults = tuple(fault for fault in scenario.faults if fault.sensor not in missing)
    return replace(scenario, vehicle=replace(vehicle, sensors=kept), faults=faults)


def _frozen(numbers: Sequence[float]) -> npt.NDArray[np.float64]:
    """A read-only array that a message takes as it is, without a copy."""
    array = np.array(numbers, dtype=np.float64)
    array.flags.writeable = False
    return array
