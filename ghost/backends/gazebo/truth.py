"""Ground truth: one pose at every step of the world, and what follows from it.

Gazebo's pose publisher gives the pose alone. Velocity and rate are those that moved the body from
one pose to the next: Gazebo's engine moves the body's origin by the velocity reached in the step,
and turns it by the rate reached in the step, so the differences are the state at its end, exactly.
(The odometry publisher would give a mean of ten steps, and nothing at the first.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from google.protobuf.message import DecodeError

from ghost.core import MotorSpec
from ghost.gz.msgs import Pose
from ghost.gz.transport import Incoming
from ghost.physics import Kinematics

__all__ = ["RotorLag", "TruthTracker"]

_REST: tuple[float, float, float] = (0.0, 0.0, 0.0)


class TruthTracker:
    """The state of the vehicle, from the poses of its model."""

    __slots__ = ("_pose", "acc_enu_mps2", "stamp_ns", "state")

    def __init__(self) -> None:
        self._pose = Pose()
        self.start((0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))

    def start(self, state: Kinematics) -> None:
        """Begin a run at time 0 with this state."""
        self.state: Kinematics = state
        self.stamp_ns = 0
        self.acc_enu_mps2 = _REST
        """Mean over the last step of the world, gravity included."""

    def take(self, message: Incoming, stamp_ns: int) -> None:
        """Move on to the pose of `stamp_ns`. Bytes that are no pose are left alone."""
        since_ns = stamp_ns - self.stamp_ns
        if since_ns <= 0:
            return
        pose = self._pose
        try:
            pose.ParseFromString(message.data)
        except DecodeError:
            return
        place, turn = pose.position, pose.orientation
        x, y, z = place.x, place.y, place.z
        w, i, j, k = turn.w, turn.x, turn.y, turn.z
        ox, oy, oz, ow, oi, oj, ok, ovx, ovy, ovz = self.state[:10]
        rate = 1e9 / since_ns
        vx, vy, vz = (x - ox) * rate, (y - oy) * rate, (z - oz) * rate
        # conj(before) ∘ now: the turn within the step, in body axes.
        ew = ow * w + oi * i + oj * j + ok * k
        ei = ow * i - oi * w - oj * k + ok * j
        ej = ow * j + oi * k - oj * w - ok * i
        ek = ow * k - oi * j + oj * i - ok * w
        sine = math.sqrt(ei * ei + ej * ej + ek * ek)
        # 2·asin(sine)/sine, which for small turns is 2; the sign takes the short way round.
        gain = 2.0 if sine < 1e-9 else 2.0 * math.atan2(sine, abs(ew)) / sine
        gain *= rate if ew >= 0.0 else -rate
        self.acc_enu_mps2 = ((vx - ovx) * rate, (vy - ovy) * rate, (vz - ovz) * rate)
        self.state = (x, y, z, w, i, j, k, vx, vy, vz, gain * ei, gain * ej, gain * ek)
        self.stamp_ns = stamp_ns


class RotorLag:
    """Rotor speeds as Gazebo's motor model has them, from the commands that it was proven to have.

    A first-order lag with one time constant up and one down, solved exactly over a step.
    """

    __slots__ = ("_down", "_top", "_up", "ref_rad_s", "speeds_rad_s")

    def __init__(self, motor: MotorSpec, count: int, step_ns: int) -> None:
        dt = step_ns * 1e-9
        self._up = math.exp(-dt / motor.time_constant_up_s)
        self._down = math.exp(-dt / motor.time_constant_down_s)
        self._top = motor.max_rad_s
        self.ref_rad_s = (0.0,) * count
        self.speeds_rad_s = (0.0,) * count

    def command_thrusts(self, ratios: Sequence[float]) -> None:
        """Aim at these parts of the largest thrust, which goes with the square of the speed."""
        self.ref_rad_s = tuple(self._top * math.sqrt(ratio) for ratio in ratios)

    def command_speeds(self, speeds_rad_s: Sequence[float]) -> None:
        """Aim at these speeds; like Gazebo's model, at no more than the highest."""
        self.ref_rad_s = tuple(min(speed, self._top) for speed in speeds_rad_s)

    def advance(self, steps: int) -> None:
        """Let the world's steps pass."""
        for _ in range(steps):
            self.speeds_rad_s = tuple(
                ref + (speed - ref) * (self._up if ref > speed else self._down)
                for ref, speed in zip(self.ref_rad_s, self.speeds_rad_s, strict=True)
            )
