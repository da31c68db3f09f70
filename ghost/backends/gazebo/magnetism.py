"""Gazebo's magnetometer in sensor axes (FLU) and tesla, in the field of the scenario."""

from __future__ import annotations

from collections.abc import Sequence

from ghost.hal.frames import q_rotate, q_rotate_inverse

__all__ = ["Magnetism"]

Vec3 = tuple[float, float, float]

_GAUSS_T = 1e-4
_GAUSS_FROM = 1e-3
"""A reading beyond this is in gauss: Earth's field is 2.2e-5 to 6.7e-5 T, 0.22 to 0.67 gauss."""


class Magnetism:
    """Turns readings of any of Gazebo's four conventions into what the scenario's field gives.

    Two things stand between the message and the scenario.

    *Convention.* Gazebo Sim 8 reports gauss unless the system has `use_units_gauss` false, and
    turns the vector (north, east, down) with the sensor's ENU attitude unless `use_earth_frame_ned`
    is false. No fixed change of axes makes that right for a vehicle that tilts, so it is turned
    back into the world with the true attitude, put right there, and turned into the sensor again.

    *Field.* Gazebo takes Earth's field from a table, by latitude and longitude; a scenario says its
    own. The table's field is learnt from the first reading of a run, and the difference of the two,
    in sensor axes, is added to every reading.
    """

    __slots__ = ("_extra", "_gauss", "_ned", "_north", "_wanted")

    def __init__(self, field_enu_t: Vec3, latitude_deg: float) -> None:
        self._wanted = field_enu_t
        self._north = latitude_deg >= 0.0
        self.restart()

    def restart(self) -> None:
        """Begin a run."""
        self._extra: Vec3 | None = None
        self._gauss = self._ned = False

    def in_sensor(self, reading: Vec3, q_enu_sensor: Sequence[float]) -> Vec3:
        """The field in sensor axes, T. `q_enu_sensor` turns sensor axes into the world."""
        size = max(abs(value) for value in reading)
        world = q_rotate(q_enu_sensor, reading)
        if self._extra is None:
            self._gauss = size > _GAUSS_FROM
            # Earth's field points into the ground in the north, out of it in the south.
            self._ned = (world[2] > 0.0) == self._north
        unit = _GAUSS_T if self._gauss else 1.0
        if self._ned:
            north, east, down = world
            world = (east, north, -down)
        x, y, z = (unit * value for value in world)
        if self._extra is None:
            a, b, c = self._wanted
            self._extra = (a - x, b - y, c - z)
        dx, dy, dz = self._extra
        return q_rotate_inverse(q_enu_sensor, (x + dx, y + dy, z + dz))
