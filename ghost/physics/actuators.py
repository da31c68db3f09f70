"""Command → native: the sink that hands accepted commands to the flight controller."""

from __future__ import annotations

from collections.abc import Callable

from ghost.core import VehicleSpec
from ghost.hal import (
    AckReason,
    ActuatorCommand,
    ActuatorLevel,
    ActuatorSpec,
    CommandAck,
    check_command,
)

__all__ = ["WorldSink", "actuator_spec"]

ALL_LEVELS = (
    ActuatorLevel.MOTOR,
    ActuatorLevel.BODY_RATE,
    ActuatorLevel.ATTITUDE,
    ActuatorLevel.VELOCITY,
    ActuatorLevel.POSITION,
)


def actuator_spec(vehicle: VehicleSpec) -> ActuatorSpec:
    """The limits of a vehicle flown by the cascaded controller."""
    control = vehicle.control
    return ActuatorSpec(
        levels=ALL_LEVELS,
        motor_count=len(vehicle.rotors),
        max_velocity_mps=control.max_horizontal_mps,
        max_rate_rps=control.max_rate_rps,
    )


class WorldSink:
    """The backend's `ActuatorSink`. One object for the life of the backend."""

    def __init__(
        self,
        spec: ActuatorSpec,
        now_ns: Callable[[], int],
        apply: Callable[[ActuatorLevel, tuple[float, ...]], None],
    ) -> None:
        self.spec = spec
        self._now_ns = now_ns
        self._apply = apply
        self._last_stamp_ns = 0
        self._closed = False

    def reset(self, spec: ActuatorSpec) -> None:
        """Start a new run with a vehicle's limits."""
        self.spec = spec
        self._last_stamp_ns = 0
        self._closed = False

    def close(self) -> None:
        """Answer CLOSED from now on."""
        self._closed = True

    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck:
        """See `ghost.hal.ActuatorSink.send`."""
        now = self._now_ns()
        if self._closed:
            return CommandAck(
                False, AckReason.CLOSED, now, None, "the backend was shut down; reset() starts anew"
            )
        verdict = check_command(
            cmd, stamp_ns, self.spec, now_ns=now, last_stamp_ns=self._last_stamp_ns
        )
        if verdict.applied is None:
            return CommandAck(False, verdict.reason, now, None, verdict.detail)
        self._last_stamp_ns = verdict.stamp_ns
        self._apply(verdict.applied.level, verdict.numbers)
        return CommandAck(True, AckReason.OK, now, verdict.applied)
