"""From a total thrust and angular accelerations to the thrust of each motor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ghost.core import VehicleSpec
from ghost.physics.lumped import lump

__all__ = ["Mixer"]


class Mixer:
    """Inverts the thrust and torque geometry of a quadrotor, and keeps motors within 0..1.

    When not all of it can be had, yaw gives way first, then total thrust, then roll and pitch: a
    vehicle that keeps its tilt keeps its place in the air.
    """

    def __init__(self, vehicle: VehicleSpec) -> None:
        motor = vehicle.motor
        body = lump(vehicle)
        self._max = motor.thrust_coeff * motor.max_rad_s**2
        self._inertia = body.inertia_kgm2[:3]
        cx, cy, _ = body.com_m
        rotors = vehicle.rotors
        # Rows: total thrust, roll, pitch and yaw torque of one newton from each motor.
        effect = np.array(
            [
                [1.0] * len(rotors),
                [rotor.pos_m[1] - cy for rotor in rotors],
                [-(rotor.pos_m[0] - cx) for rotor in rotors],
                [-rotor.sign * motor.moment_ratio for rotor in rotors],
            ]
        )
        if np.linalg.matrix_rank(effect) < 4:
            raise ValueError(
                f"vehicle {vehicle.name!r}: its rotors cannot make roll, pitch, yaw and thrust "
                "independently; check rotors[].pos_m and rotors[].direction"
            )
        self._inverse: list[list[float]] = np.linalg.inv(effect).tolist()

    @property
    def max_total_thrust_n(self) -> float:
        """All motors at their largest, N."""
        return self._max * len(self._inverse)

    def mix(
        self,
        thrust_n: float,
        roll_acc: float,
        pitch_acc: float,
        yaw_acc: float,
        rate_rps: Sequence[float],
    ) -> tuple[Sequence[float], bool]:
        """Thrust of each motor, 0..1, and whether a limit was met.

        Angular accelerations are in rad/s² about body FLU axes; the gyroscopic torque of the
        present body rate is added, so that they are what the body really does.
        """
        ix, iy, iz = self._inertia
        p, q, r = rate_rps
        tx = ix * roll_acc + (iz - iy) * q * r
        ty = iy * pitch_acc + (ix - iz) * r * p
        tz = iz * yaw_acc + (iy - ix) * p * q
        top = self._max
        tilt = [a * thrust_n + b * tx + c * ty for a, b, c, _ in self._inverse]
        turn = [d * tz for _, _, _, d in self._inverse]
        force = [a + b for a, b in zip(tilt, turn, strict=True)]
        low = min(force)
        high = max(force)
        if low >= 0.0 and high <= top:
            return [f / top for f in force], False
        # Yaw first: as much of it as leaves every motor within its limits.
        share = 1.0
        for a, b in zip(tilt, turn, strict=True):
            room = top - a if b > 0.0 else a
            if b and room < abs(b) * share:
                share = max(room / abs(b), 0.0)
        force = [a + share * b for a, b in zip(tilt, turn, strict=True)]
        # Then the total: move all motors together, as far as there is room.
        low = min(force)
        high = max(force)
        if low < 0.0:
            shift = min(-low, max(top - high, 0.0))
        elif high > top:
            shift = -min(high - top, low)
        else:
            shift = 0.0
        return [min(max(f + shift, 0.0), top) / top for f in force], True
