"""The backend's sink, which has nothing to say where an autopilot outside drives the motors."""

from __future__ import annotations

from collections.abc import Callable

from ghost.hal import (
    AckReason,
    ActuatorCommand,
    ActuatorLevel,
    ActuatorSpec,
    CommandAck,
)
from ghost.physics.actuators import WorldSink

__all__ = ["GazeboSink"]

_NOTHING = ActuatorSpec(
    levels=(), motor_count=0, max_velocity_mps=0.0, max_rate_rps=(0.0, 0.0, 0.0)
)
_WHY = (
    "an autopilot that is connected to Gazebo drives the motors of this world (the scenario's "
    "autopilot.link is gz_bridge): command the autopilot, or take autopilot out of the scenario"
)


class GazeboSink(WorldSink):
    """A `WorldSink` that can be told to refuse. One object for the life of the backend."""

    def __init__(
        self,
        spec: ActuatorSpec,
        now_ns: Callable[[], int],
        apply: Callable[[ActuatorLevel, tuple[float, ...]], None],
    ) -> None:
        super().__init__(spec, now_ns, apply)
        self._refuses = False

    def reset(self, spec: ActuatorSpec) -> None:
        """See `WorldSink.reset`."""
        super().reset(spec)
        self._refuses = False

    def refuse(self) -> None:
        """Start a new run in which the motors are somebody else's."""
        super().reset(_NOTHING)
        self._refuses = True

    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck:
        """See `ghost.hal.ActuatorSink.send`."""
        if self._refuses and not self._closed:
            return CommandAck(False, AckReason.UNSUPPORTED_LEVEL, self._now_ns(), None, _WHY)
        return super().send(cmd, stamp_ns)
