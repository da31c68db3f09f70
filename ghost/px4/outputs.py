"""What PX4 answers: `HIL_ACTUATOR_CONTROLS`, and what its channels drive on a vehicle."""

from __future__ import annotations

from typing import NamedTuple

from ghost.core import VehicleSpec
from ghost.px4.codec import HIL_ACTUATOR_CONTROLS

__all__ = ["CHANNELS", "Answer", "MotorMap", "unpack_answer"]

CHANNELS = 16
"""Controls in one `HIL_ACTUATOR_CONTROLS`."""
_ARMED = 128
"""MAV_MODE_FLAG_SAFETY_ARMED of the field `mode`."""
_LOCKSTEP = 1
"""HIL_ACTUATOR_CONTROLS_FLAGS_LOCKSTEP of the field `flags`."""


class Answer(NamedTuple):
    """One `HIL_ACTUATOR_CONTROLS`."""

    time_us: int
    """PX4's time: in lockstep, that of the `HIL_SENSOR` it answers."""
    armed: bool
    lockstep: bool
    """Whether PX4's clock is the simulator's."""
    controls: tuple[float, ...]
    """16 channels, each a motor 0..1 or a servo −1..1; all 0 while disarmed."""


def unpack_answer(payload: bytes) -> Answer:
    """The message in a packet's payload, cut or not."""
    if len(payload) != HIL_ACTUATOR_CONTROLS.size:
        size = HIL_ACTUATOR_CONTROLS.size
        payload = payload[:size].ljust(size, b"\0")
    fields = HIL_ACTUATOR_CONTROLS.unpack(payload)
    return Answer(fields[0], fields[18] & _ARMED != 0, fields[1] & _LOCKSTEP != 0, fields[2:18])


class MotorMap:
    """From PX4's channels to a vehicle's rotors and servos, as `VehicleSpec.outputs` says.

    A vehicle without `outputs` has channel i drive rotor i, with u the ratio of the highest thrust.
    """

    __slots__ = ("_rotors", "_servos", "_straight", "zeros")

    def __init__(self, vehicle: VehicleSpec) -> None:
        count = len(vehicle.rotors)
        self.zeros = (0.0,) * count
        """No thrust, for as many rotors as there are."""
        rotors = {
            output.rotor: (output.channel, output.reversed, output.curve == "speed")
            for output in vehicle.outputs
            if output.rotor is not None
        }
        self._rotors = tuple(rotors.get(i, (i, False, False)) for i in range(count))
        self._straight = self._rotors == tuple((i, False, False) for i in range(count))
        self._servos = tuple(
            (output.servo, output.channel, -1.0 if output.reversed else 1.0)
            for output in vehicle.outputs
            if output.servo
        )

    def thrusts(self, controls: tuple[float, ...]) -> tuple[float, ...]:
        """Thrust of each rotor, 0..1 of its highest, in the vehicle's order.

        What is outside 0..1 is brought to the nearer end, as a motor controller would; NaN, PX4's
        mark for an output that is off, is 0.
        """
        if self._straight:
            controls = controls[: len(self.zeros)]
            # A NaN may pass through min and max, never through a sum.
            if min(controls) >= 0.0 and max(controls) <= 1.0 and sum(controls) <= len(controls):
                return controls
        thrusts = []
        for channel, turned, speed in self._rotors:
            u = controls[channel]
            if u != u:
                thrusts.append(0.0)
                continue
            u = min(1.0, max(0.0, 1.0 - u if turned else u))
            thrusts.append(u * u if speed else u)
        return tuple(thrusts)

    def servos(self, controls: tuple[float, ...]) -> dict[str, float]:
        """Deflection of each servo by name, −1..1; a servo that is off (NaN) is left out."""
        return {
            name: sign * min(1.0, max(-1.0, controls[channel]))
            for name, channel, sign in self._servos
            if controls[channel] == controls[channel]
        }
