"""`Px4Backend`: a world of anybody's, flown by PX4, with PX4's commands as the HAL's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

from ghost.backends.px4.flight import Flight
from ghost.backends.px4.stack import Px4Stack
from ghost.core import (
    BackendLost,
    ClosedError,
    ConfigError,
    ContractViolation,
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
    SensorId,
    SensorProvider,
    SimulationBackend,
    StepReport,
)
from ghost.hal.message import Message
from ghost.px4 import PX4_LEVELS, Arming, ArmRequest, Px4Session

__all__ = ["Px4Backend"]

_LOCKSTEP = {
    "simulator": "two-way: PX4 waits for each IMU sample, the world for each answer of PX4",
    "gz_bridge": "two-way: PX4 follows Gazebo's clock, the world waits for each motor message",
}


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
        self._flight: Flight | None = None
        self._closed = False
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
        self._land()
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
            flight = self._flight = Flight(scenario, self._world, stack)
            flight.warm_up(self._host)
        except BaseException:
            self._land()
            stack.close()
            raise
        self.capabilities = self._declare(
            {
                "lockstep": _LOCKSTEP[spec.link],
                "controller": f"PX4 {stack.session.version or '(version unknown)'}",
                "notes": stack.notes(),
                "autopilot": {
                    **stack.describe(),
                    "ready_sim_s": flight.clock.now_ns() / 1e9,
                    "ready_wall_s": round((self._host.now_ns() - begin_ns) / 1e9, 3),
                },
            }
        )

    def step(self, dt_ns: int) -> StepReport:
        """See `SimulationBackend.step`."""
        flight = self._flying()
        step_ns = flight.clock.step_ns()
        dt = as_ns("dt_ns", dt_ns, minimum=1)
        count, rest = divmod(dt, step_ns)
        if rest:
            raise ValueError(
                f"dt_ns must be a multiple of the scenario's step_ns {step_ns}, got {dt}"
            )
        for _ in range(count):
            flight.step()
        return flight.account()

    def shutdown(self) -> None:
        """See `SimulationBackend.shutdown`."""
        if self._closed:
            return
        self._closed = True
        self._land()
        self._world.shutdown()

    @property
    def clock(self) -> SimClock:
        """See `SimulationBackend.clock`."""
        return self._flying().clock

    def sensors(self) -> Mapping[SensorId, SensorProvider[Any]]:
        """See `SimulationBackend.sensors`."""
        self._flying()
        return self._world.sensors()

    def actuators(self) -> ActuatorSink:
        """Set-points for PX4; it must be armed first."""
        return self._flying().stack.sink

    def ground_truth(self) -> GroundTruth | None:
        """See `SimulationBackend.ground_truth`."""
        self._flying()
        return self._world.ground_truth()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.shutdown()

    # -- Armable, Reporting -----------------------------------------------------------------

    @property
    def armed(self) -> bool:
        """Whether the motors are armed, as PX4 last said."""
        return self._flying().stack.session.armed

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
        waiting = self._flying().reports
        reports = list(waiting)
        waiting.clear()
        return reports

    # -- for PX4's own flight modes -----------------------------------------------------------

    @property
    def session(self) -> Px4Session:
        """Telemetry and commands of this run's PX4."""
        return self._flying().stack.session

    def tick(self) -> int:
        """Make one step of the scenario, and return the time in ns.

        For what waits for PX4, whose time is the world's: `ghost.px4.take_off(backend.session,
        backend.tick, 2.0)`. What these steps published is reported with the next `step`.
        """
        flight = self._flying()
        flight.step()
        return flight.clock.now_ns()

    # -- inside -----------------------------------------------------------------------------

    def _flying(self) -> Flight:
        if self._closed:
            raise ClosedError("the backend was shut down; call reset(scenario, seed) to start anew")
        flight = self._flight
        if flight is None:
            raise ContractViolation("call reset(scenario, seed) before anything else")
        if flight.lost:
            raise BackendLost(f"{flight.lost}; call reset(scenario, seed) to start anew")
        return flight

    def _check_world(self, level: ActuatorLevel) -> None:
        capabilities = self._world.capabilities
        if level not in capabilities.actuator_levels:
            offered = ", ".join(known.name for known in capabilities.actuator_levels) or "none"
            raise ConfigError(
                f"PX4 drives motors, but this world takes no {level.name} commands, only {offered}",
                key="autopilot.link",
            )

    def _land(self) -> None:
        flight, self._flight = self._flight, None
        if flight is not None:
            flight.close()

    def _commanded(self, start: Callable[[Arming], ArmRequest]) -> CommandAck:
        try:
            flight = self._flying()
        except ClosedError as error:
            return CommandAck(False, AckReason.CLOSED, 0, None, str(error))
        except (BackendLost, ContractViolation) as error:
            return CommandAck(False, AckReason.AUTOPILOT_OFFLINE, 0, None, str(error))
        return flight.answer_to(start(flight.stack.arming))
