"""Motors, propellers and air drag of a multirotor, as a wrench on one rigid body.

The rules are those of Gazebo's multicopter motor model on a vehicle whose rotors are links of their
own, so that the same motor speeds give the same flight in both worlds. With this wrench a rigid
body integrated in the same order as Gazebo's engine (see `RotorModel`) stays within 0.1 mm of an
open-loop flight recorded from Gazebo Sim 8.14 for 4 s, and within 3 mm for 6.8 s. What is left is
the inertia of Gazebo's slowly turning two-blade propellers, which `lump` averages over a turn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ghost.core.vehicle import VehicleSpec
from ghost.physics.lumped import lump

__all__ = ["RotorModel"]

Vec3 = tuple[float, float, float]

_CALM: Vec3 = (0.0, 0.0, 0.0)


class RotorModel:
    """Rotor speeds, and the force and torque that they and the air put on the vehicle.

    One physics step of an engine is: `step(dt, pose and velocity now)`, apply the wrench to the
    body for this step, integrate. For a flight like Gazebo's the engine is semi-implicit Euler on
    the velocity of the body *origin* in world axes and the angular rate in body axes, and it turns
    the attitude by the exponential of the new rate (MuJoCo's free joint with the `Euler` integrator
    does so).

    Per rotor with speed ω (rad/s, never negative), sign d (+1 counter-clockwise) and its velocity
    through the air v⊥, perpendicular to body z:

    * thrust `thrust_coeff·ω²` along body z, at the rotor;
    * drag `−drag_coeff·ω·v⊥`, at the rotor;
    * torque `−d·moment_ratio·thrust` about body z, and rolling moment `−rolling_moment_coeff·ω·v⊥`;
    * reaction to the spin of a rotor of moment `izz` that turns at `d·ω/joint_slowdown`: minus the
      rate of change of its angular momentum, `−izz·(dΩ/dt ẑ + rate × Ω ẑ)`.

    The wrench of a step uses the speeds reached at the end of the step before; the speeds then move
    towards the command by the exact solution of the first-order lag over the step.
    """

    def __init__(self, vehicle: VehicleSpec) -> None:
        motor = vehicle.motor
        self._motor = motor
        self._com = lump(vehicle).com_m
        # Per rotor: x, y, z, x² + y², x·z, y·z, z², d, d·izz/slowdown.
        self._rotors: tuple[tuple[float, ...], ...] = tuple(
            (
                *rotor.pos_m,
                rotor.pos_m[0] ** 2 + rotor.pos_m[1] ** 2,
                rotor.pos_m[0] * rotor.pos_m[2],
                rotor.pos_m[1] * rotor.pos_m[2],
                rotor.pos_m[2] ** 2,
                float(rotor.sign),
                rotor.sign * rotor.inertia_kgm2[2] / motor.joint_slowdown,
            )
            for rotor in vehicle.rotors
        )
        drag = (*vehicle.body_drag.linear, *vehicle.body_drag.quadratic)
        self._body_drag = drag if any(drag) else None
        self._dt_s = math.nan  # differs from every step length: the first step sets it
        self._keep_up = self._keep_down = 1.0
        self._omega: list[float] = []
        self._ref: list[float] = []
        self.reset()

    def reset(self) -> None:
        """Stand still: all speeds and all commands are zero."""
        self._omega = [0.0] * len(self._rotors)
        self._ref = [0.0] * len(self._rotors)

    @property
    def speeds_rad_s(self) -> tuple[float, ...]:
        """Speed of each rotor now, rad/s."""
        return tuple(self._omega)

    @property
    def com_m(self) -> Vec3:
        """The point the torque of `step` is about: the vehicle's centre of mass, body axes."""
        return self._com

    def command_speeds(self, ref_rad_s: Sequence[float]) -> None:
        """Set the speeds the motors are to reach, rad/s; they hold until the next command.

        Speeds are limited to `0 … max_rad_s`. Raises `ValueError` if the number of speeds is not
        the number of rotors or one of them is not finite; then the old command stays.
        """
        if len(ref_rad_s) != len(self._rotors):
            raise ValueError(
                f"ref_rad_s must have {len(self._rotors)} speeds, one per rotor, "
                f"got {len(ref_rad_s)}"
            )
        top = self._motor.max_rad_s
        ref = [float(speed) for speed in ref_rad_s]
        if not all(map(math.isfinite, ref)):
            raise ValueError(f"ref_rad_s must be finite, got {ref}")
        self._ref = [min(max(speed, 0.0), top) for speed in ref]

    def command_thrusts(self, ratios: Sequence[float]) -> None:
        """Set the speeds that give these parts of the largest thrust, each within 0..1.

        Thrust goes with the square of the speed. For the physics loop: nothing is checked here.
        """
        top = self._motor.max_rad_s
        root = math.sqrt
        a, b, c, d = ratios
        self._ref = [top * root(a), top * root(b), top * root(c), top * root(d)]

    def step(
        self,
        dt_s: float,
        rotation: Sequence[float],
        vel_world: Sequence[float],
        rate_body: Sequence[float],
        wind_world: Sequence[float] = _CALM,
    ) -> tuple[Vec3, Vec3]:
        """The wrench for the step from now to now + `dt_s`; moves the rotor speeds to its end.

        Args:
            dt_s: length of the step, s; more than zero.
            rotation: 9 numbers, row by row, of the matrix that turns body axes into world axes.
            vel_world: velocity of the body origin (not of the centre of mass), world axes, m/s.
            rate_body: angular rate, body axes, rad/s.
            wind_world: velocity of the air, world axes, m/s.

        Returns:
            Force (N) and torque about the centre of mass (N·m), both in world axes. Gravity is not
            in it.
        """
        if dt_s != self._dt_s:
            self._set_step(dt_s)
        motor = self._motor
        keep_up = self._keep_up
        keep_down = self._keep_down
        omega = self._omega

        # Speed sums for the drag (it is linear in the velocity of the body, so the sums give the
        # total without a velocity per rotor), thrust sums, spin sums. Written out for the four
        # rotors of a quadrotor: a loop over them takes more than half as long again.
        w0, w1, w2, w3 = omega
        (
            (x0, y0, z0, xx0, xz0, yz0, zz0, d0, i0),
            (x1, y1, z1, xx1, xz1, yz1, zz1, d1, i1),
            (x2, y2, z2, xx2, xz2, yz2, zz2, d2, i2),
            (x3, y3, z3, xx3, xz3, yz3, zz3, d3, i3),
        ) = self._rotors
        s = w0 + w1 + w2 + w3
        sx = w0 * x0 + w1 * x1 + w2 * x2 + w3 * x3
        sy = w0 * y0 + w1 * y1 + w2 * y2 + w3 * y3
        sz = w0 * z0 + w1 * z1 + w2 * z2 + w3 * z3
        sxy2 = w0 * xx0 + w1 * xx1 + w2 * xx2 + w3 * xx3
        sxz = w0 * xz0 + w1 * xz1 + w2 * xz2 + w3 * xz3
        syz = w0 * yz0 + w1 * yz1 + w2 * yz2 + w3 * yz3
        szz = w0 * zz0 + w1 * zz1 + w2 * zz2 + w3 * zz3
        u0 = w0 * w0
        u1 = w1 * w1
        u2 = w2 * w2
        u3 = w3 * w3
        q = u0 + u1 + u2 + u3
        qx = u0 * x0 + u1 * x1 + u2 * x2 + u3 * x3
        qy = u0 * y0 + u1 * y1 + u2 * y2 + u3 * y3
        qd = u0 * d0 + u1 * d1 + u2 * d2 + u3 * d3
        ref0, ref1, ref2, ref3 = self._ref
        n0 = ref0 + (w0 - ref0) * (keep_up if ref0 > w0 else keep_down)
        n1 = ref1 + (w1 - ref1) * (keep_up if ref1 > w1 else keep_down)
        n2 = ref2 + (w2 - ref2) * (keep_up if ref2 > w2 else keep_down)
        n3 = ref3 + (w3 - ref3) * (keep_up if ref3 > w3 else keep_down)
        spin = i0 * w0 + i1 * w1 + i2 * w2 + i3 * w3
        spin_change = i0 * (n0 - w0) + i1 * (n1 - w1) + i2 * (n2 - w2) + i3 * (n3 - w3)
        self._omega = [n0, n1, n2, n3]

        r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation
        ax, ay, az = vel_world
        bx, by, bz = wind_world
        ax -= bx
        ay -= by
        az -= bz
        vx = r00 * ax + r10 * ay + r20 * az
        vy = r01 * ax + r11 * ay + r21 * az
        px, py, pz = rate_body

        # Σ ω·v⊥ over the rotors; v⊥ = (vx + py·z − pz·y, vy + pz·x − px·z).
        ux = s * vx + py * sz - pz * sy
        uy = s * vy + pz * sx - px * sz
        drag = motor.drag_coeff
        roll = motor.rolling_moment_coeff
        kf = motor.thrust_coeff
        fx = -drag * ux
        fy = -drag * uy
        fz = kf * q
        # Torque about the body origin, body axes.
        tx = kf * qy + drag * (sz * vy + pz * sxz - px * szz) - roll * ux - py * spin
        ty = -kf * qx - drag * (sz * vx + py * szz - pz * syz) - roll * uy + px * spin
        tz = (
            -kf * motor.moment_ratio * qd
            - drag * (sx * vy - sy * vx + pz * sxy2 - px * sxz - py * syz)
            - spin_change / dt_s
        )
        if self._body_drag is not None:
            lx, ly, lz, kx, ky, kz = self._body_drag
            vz = r02 * ax + r12 * ay + r22 * az
            speed = math.sqrt(vx * vx + vy * vy + vz * vz)
            # It acts at the body origin, the airframe's own centre of mass: no torque about it.
            fx -= (lx + kx * speed) * vx
            fy -= (ly + ky * speed) * vy
            fz -= (lz + kz * speed) * vz
        cx, cy, cz = self._com
        tx -= cy * fz - cz * fy
        ty -= cz * fx - cx * fz
        tz -= cx * fy - cy * fx
        return (
            (
                r00 * fx + r01 * fy + r02 * fz,
                r10 * fx + r11 * fy + r12 * fz,
                r20 * fx + r21 * fy + r22 * fz,
            ),
            (
                r00 * tx + r01 * ty + r02 * tz,
                r10 * tx + r11 * ty + r12 * tz,
                r20 * tx + r21 * ty + r22 * tz,
            ),
        )

    def _set_step(self, dt_s: float) -> None:
        if not (dt_s > 0.0 and math.isfinite(dt_s)):
            raise ValueError(f"dt_s must be more than zero and finite, got {dt_s!r}")
        self._dt_s = dt_s
        self._keep_up = math.exp(-dt_s / self._motor.time_constant_up_s)
        self._keep_down = math.exp(-dt_s / self._motor.time_constant_down_s)
