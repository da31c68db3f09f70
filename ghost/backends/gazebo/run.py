"""What one run of a scenario changes, and its step: flown by Ghost, or from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ghost.backends.gazebo.outside import MotorEars
from ghost.backends.gazebo.session import Session
from ghost.backends.gazebo.truth import RotorLag
from ghost.core import Event, ScenarioSpec, SteppedClock
from ghost.hal import ActuatorLevel
from ghost.physics.controller import CascadedController
from ghost.physics.impact import ImpactWatch

__all__ = ["ControlledRun", "OutsideRun"]


class _Base:
    def __init__(self, scenario: ScenarioSpec, session: Session, clock: SteppedClock) -> None:
        self.scenario = scenario
        self.session = session
        self.clock = clock
        self.rotors = RotorLag(
            scenario.vehicle.motor, len(scenario.vehicle.rotors), session.step_ns
        )
        self._substeps = scenario.step_ns // session.step_ns
        self._impact = ImpactWatch(scenario.step_ns, "gazebo")
        self._impact.start(session.truth.state[7:10])

    def _move(self) -> Event | None:
        self.session.step(self._substeps)
        self.rotors.advance(self._substeps)
        self.clock.advance(self.scenario.step_ns)
        return self._impact.take(self.clock.now_ns(), self.session.truth.state)


class ControlledRun(_Base):
    """Flown by Ghost's cascaded controller, from the true state."""

    def __init__(self, scenario: ScenarioSpec, session: Session, clock: SteppedClock) -> None:
        super().__init__(scenario, session, clock)
        # One control step a step of the scenario at the most: commands reach the world between.
        self._control_hz = min(scenario.vehicle.control.rate_hz, 1e9 / scenario.step_ns)
        gains = replace(scenario.vehicle.control, rate_hz=self._control_hz)
        self._controller = CascadedController(
            replace(scenario.vehicle, control=gains), scenario.world.gravity_mps2
        )
        self._next_control_ns = 0
        self._ticks = 0

    def command(self, level: ActuatorLevel, numbers: Sequence[float]) -> None:
        """Follow an accepted command from the next step on."""
        self._controller.command(level, numbers, self.session.truth.state)
        if level is ActuatorLevel.MOTOR:
            self.rotors.command_thrusts(numbers)

    def advance(self) -> Event | None:
        """Control, command, and one step of the scenario in the world."""
        now_ns = self.clock.now_ns()
        if now_ns >= self._next_control_ns:
            ratios = self._controller.update(self.session.truth.state)
            # The grid is counted, never accumulated, so that an uneven rate does not drift.
            while self._next_control_ns <= now_ns:
                self._ticks += 1
                self._next_control_ns = round(self._ticks * 1e9 / self._control_hz)
            if ratios is not None:
                self.rotors.command_thrusts(ratios)
        self.session.command(self.rotors.ref_rad_s)
        return self._move()


class OutsideRun(_Base):
    """Flown by an autopilot that is connected to Gazebo itself."""

    def __init__(
        self, scenario: ScenarioSpec, session: Session, clock: SteppedClock, ears: MotorEars
    ) -> None:
        super().__init__(scenario, session, clock)
        self._ears = ears

    def advance(self) -> Event | None:
        """One step of the world, with the motors as the autopilot has set them."""
        ears = self._ears
        ears.begin()
        self.rotors.command_speeds(ears.speeds_rad_s)
        return self._move()
