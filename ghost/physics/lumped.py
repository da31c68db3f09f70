"""The mass properties of a whole vehicle as one rigid body.

Rotors turn many times per second, so a rotor counts with its moments averaged over a revolution:
both in-plane moments become `(ixx + iyy) / 2`. The spin itself is not in these figures; the
torques it causes are in `ghost.physics.rotors`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ghost.core.vehicle import VehicleSpec

__all__ = ["LumpedBody", "lump"]

Vec3 = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class LumpedBody:
    """One rigid body with the mass properties of airframe plus rotors, in body axes (FLU)."""

    mass_kg: float
    com_m: Vec3
    """Centre of mass, from the body origin."""
    inertia_kgm2: tuple[float, float, float, float, float, float]
    """About the centre of mass: `(ixx, iyy, izz, ixy, ixz, iyz)`, the last three being elements of
    the inertia matrix (minus the products of inertia)."""

    @property
    def is_diagonal(self) -> bool:
        """True if body axes are principal axes, so that the first three moments say it all."""
        return not any(self.inertia_kgm2[3:])


def lump(vehicle: VehicleSpec) -> LumpedBody:
    """Add up airframe and rotors by the parallel axis theorem.

    The airframe's centre of mass is the body origin; a rotor's is its `pos_m`.
    """
    rotors = vehicle.rotors
    mass = vehicle.mass_kg
    cx, cy, cz = (sum(r.mass_kg * r.pos_m[axis] for r in rotors) / mass for axis in range(3))
    ixx, iyy, izz = vehicle.body.inertia_kgm2
    ixy = ixz = iyz = 0.0
    points = [(vehicle.body.mass_kg, (0.0, 0.0, 0.0))]
    for rotor in rotors:
        in_plane = (rotor.inertia_kgm2[0] + rotor.inertia_kgm2[1]) / 2.0
        ixx += in_plane
        iyy += in_plane
        izz += rotor.inertia_kgm2[2]
        points.append((rotor.mass_kg, rotor.pos_m))
    for m, (px, py, pz) in points:
        x, y, z = px - cx, py - cy, pz - cz
        ixx += m * (y * y + z * z)
        iyy += m * (x * x + z * z)
        izz += m * (x * x + y * y)
        ixy -= m * x * y
        ixz -= m * x * z
        iyz -= m * y * z
    # Rounding of a sum that cancels is not a product of inertia.
    tiny = 1e-15 * (ixx + iyy + izz)
    ixy, ixz, iyz = (0.0 if abs(value) < tiny else value for value in (ixy, ixz, iyz))
    return LumpedBody(mass, (cx, cy, cz), (ixx, iyy, izz, ixy, ixz, iyz))
