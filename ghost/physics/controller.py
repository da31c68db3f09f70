"""The flight controller of the simulated worlds: position, velocity, attitude, rate, motors.

It flies on the true state, like an ideal autopilot, so that a scenario shows the sensors and the
code under test rather than an estimator's error. Plain floats throughout: it runs inside the
physics loop. The structure is the usual one of multirotor autopilots (PX4's `mc_pos_control`,
`mc_att_control`, `mc_rate_control`); the gains are the vehicle's (`ControlSpec`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ghost.core import VehicleSpec
from ghost.hal import ActuatorLevel
from ghost.physics.engine import Kinematics
from ghost.physics.mixer import Mixer

__all__ = ["CascadedController"]

_MAX_INTEGRAL_MPS2 = 3.0
"""The velocity integrator corrects drag and model error, not more."""
_MAX_INTEGRAL_RPS2 = 10.0
"""The rate integrator corrects rotor drag, not more."""
_MIN_VERTICAL_ACC_RATIO = 0.2
"""The thrust asked never falls below this part of the weight while there is lift-off thrust to
steer with; a quadrotor without thrust cannot hold its attitude."""


def _wrap(angle: float) -> float:
    return math.remainder(angle, 2.0 * math.pi)


class CascadedController:
    """Turns the last accepted command and the true state into motor thrusts, 0..1 each.

    `command` is called when a command is accepted, `update` on the controller's own grid.
    """

    def __init__(self, vehicle: VehicleSpec, gravity_mps2: float) -> None:
        self._mixer = Mixer(vehicle)
        self._mass = vehicle.mass_kg
        self._gravity = gravity_mps2
        self._gains = vehicle.control
        self._tan_max_tilt = math.tan(math.radians(vehicle.control.max_tilt_deg))
        self._dt = 1.0 / vehicle.control.rate_hz
        self._max_thrust = self._mixer.max_total_thrust_n
        self.reset()

    def reset(self) -> None:
        """Forget every command: the motors stand still until the next one."""
        self._level: ActuatorLevel | None = None
        self._target: Sequence[float] = ()
        self._yaw = 0.0
        self._integral = [0.0, 0.0, 0.0]
        self._rate_integral = [0.0, 0.0, 0.0]
        self._saturated = False

    def command(self, level: ActuatorLevel, numbers: Sequence[float], state: Kinematics) -> None:
        """Follow a new command; `numbers` are its values as `check_command` gives them."""
        if level is not self._level:
            self._yaw = _yaw_of(state)
            self._rate_integral = [0.0, 0.0, 0.0]
            if level not in (ActuatorLevel.VELOCITY, ActuatorLevel.POSITION) or self._level not in (
                ActuatorLevel.VELOCITY,
                ActuatorLevel.POSITION,
            ):
                self._integral = [0.0, 0.0, 0.0]
        self._level = level
        self._target = numbers

    def update(self, state: Kinematics) -> Sequence[float] | None:
        """Thrust of each motor, 0..1 of its largest; None before the first command."""
        level = self._level
        if level is None:
            return None
        target = self._target
        if level is ActuatorLevel.MOTOR:
            return target
        if level is ActuatorLevel.BODY_RATE:
            return self._rate(target[0], target[1], target[2], target[3] * self._max_thrust, state)
        if level is ActuatorLevel.ATTITUDE:
            w, x, y, z, collective = target
            return self._attitude(w, x, y, z, collective * self._max_thrust, state)
        if level is ActuatorLevel.VELOCITY:
            vx, vy, vz, yaw_rate = target
            self._yaw = _wrap(self._yaw + yaw_rate * self._dt)
            return self._velocity(vx, vy, vz, state)
        return self._position(state)

    def _position(self, state: Kinematics) -> Sequence[float]:
        gains = self._gains
        tx, ty, tz, self._yaw = self._target
        gain = gains.pos_gain
        vx = gain * (tx - state[0])
        vy = gain * (ty - state[1])
        vz = gain * (tz - state[2])
        return self._velocity(vx, vy, vz, state)

    def _velocity(self, vx: float, vy: float, vz: float, state: Kinematics) -> Sequence[float]:
        gains = self._gains
        speed = math.hypot(vx, vy)
        if speed > gains.max_horizontal_mps:
            scale = gains.max_horizontal_mps / speed
            vx *= scale
            vy *= scale
        vz = min(max(vz, -gains.max_down_mps), gains.max_up_mps)

        ex = vx - state[7]
        ey = vy - state[8]
        ez = vz - state[9]
        integral = self._integral
        kp = gains.vel_gain
        ax = kp * ex + integral[0]
        ay = kp * ey + integral[1]
        az = kp * ez + integral[2] + self._gravity
        if not self._saturated:
            # A saturated motor means that more integral would be wound up, not flown.
            step = gains.vel_integral_gain * self._dt
            top = _MAX_INTEGRAL_MPS2
            integral[0] = min(max(integral[0] + step * ex, -top), top)
            integral[1] = min(max(integral[1] + step * ey, -top), top)
            integral[2] = min(max(integral[2] + step * ez, -top), top)

        az = max(az, _MIN_VERTICAL_ACC_RATIO * self._gravity)
        horizontal = math.hypot(ax, ay)
        limit = az * self._tan_max_tilt
        if horizontal > limit:
            ax *= limit / horizontal
            ay *= limit / horizontal

        # Body axes that point the thrust along (ax, ay, az) with the nose towards yaw.
        norm = math.sqrt(ax * ax + ay * ay + az * az)
        zx, zy, zz = ax / norm, ay / norm, az / norm
        half = 0.5 * self._yaw
        w, x, y, z = _tilt_then_yaw(zx, zy, zz, math.cos(half), math.sin(half))
        # Thrust acts along the present body z: ask for what brings the wanted vertical force.
        _, _, _, qw, qx, qy, qz = state[:7]
        bx = 2.0 * (qx * qz + qw * qy)
        by = 2.0 * (qy * qz - qw * qx)
        bz = 1.0 - 2.0 * (qx * qx + qy * qy)
        thrust = self._mass * max(ax * bx + ay * by + az * bz, 0.0)
        return self._attitude(w, x, y, z, thrust, state)

    def _attitude(
        self, w: float, x: float, y: float, z: float, thrust: float, state: Kinematics
    ) -> Sequence[float]:
        qw, qx, qy, qz = state[3:7]
        # Error rotation in body axes: conj(q) ∘ q_target.
        ew = qw * w + qx * x + qy * y + qz * z
        ex = qw * x - qx * w - qy * z + qz * y
        ey = qw * y + qx * z - qy * w - qz * x
        ez = qw * z - qx * y + qy * x - qz * w
        twice = 2.0 if ew >= 0.0 else -2.0
        gains = self._gains
        mx, my, mz = gains.max_rate_rps
        gain = twice * gains.att_gain
        p = min(max(gain * ex, -mx), mx)
        q = min(max(gain * ey, -my), my)
        r = min(max(twice * gains.yaw_gain * ez, -mz), mz)
        return self._rate(p, q, r, thrust, state)

    def _rate(
        self, p: float, q: float, r: float, thrust: float, state: Kinematics
    ) -> Sequence[float]:
        gains = self._gains
        kx, ky, kz = gains.rate_gain
        rate = wx, wy, wz = state[10:13]
        ep, eq, er = p - wx, q - wy, r - wz
        integral = self._rate_integral
        ratios, self._saturated = self._mixer.mix(
            thrust,
            kx * ep + integral[0],
            ky * eq + integral[1],
            kz * er + integral[2],
            rate,
        )
        if not self._saturated:
            # Rotor drag damps a turn; without this part a rate asked for is never reached.
            dt = self._dt
            top = _MAX_INTEGRAL_RPS2
            gx, gy, gz = gains.rate_integral_gain
            integral[0] = min(max(integral[0] + gx * dt * ep, -top), top)
            integral[1] = min(max(integral[1] + gy * dt * eq, -top), top)
            integral[2] = min(max(integral[2] + gz * dt * er, -top), top)
        return ratios


def _yaw_of(state: Kinematics) -> float:
    w, x, y, z = state[3:7]
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def _tilt_then_yaw(
    zx: float, zy: float, zz: float, yaw_w: float, yaw_z: float
) -> tuple[float, float, float, float]:
    """Quaternion that turns by yaw about up, then the shortest way from up to (zx, zy, zz).

    `zz` must be positive. The shortest rotation from ẑ to a unit vector v is (1 + v_z, ẑ × v),
    normalised.
    """
    scale = 1.0 / math.sqrt(2.0 * (1.0 + zz))
    tw = (1.0 + zz) * scale
    tx = -zy * scale
    ty = zx * scale
    # (tw, tx, ty, 0) ∘ (yaw_w, 0, 0, yaw_z)
    return (tw * yaw_w, tx * yaw_w + ty * yaw_z, ty * yaw_w - tx * yaw_z, tw * yaw_z)
