"""What an autopilot believed, and how far that was from the truth."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from ghost.hal import StateEstimate
from ghost.hal.frames import q_conjugate, q_multiply, q_to_rpy
from ghost.report.series import Series
from ghost.report.truth import TruthTrack

__all__ = ["EstimateLog"]

_FAR = 1e12
_MAX_WAITING = 2_000
_NAN3 = (math.nan, math.nan, math.nan)


@dataclass(slots=True)
class EstimateLog:
    """An estimate along the run. Angles in degrees; errors are estimate minus truth."""

    count: int = 0
    position: Series = field(default_factory=lambda: Series(3))
    velocity: Series = field(default_factory=lambda: Series(3))
    attitude: Series = field(default_factory=lambda: Series(3))
    """Roll, pitch, yaw; yaw without jumps."""
    position_error: Series = field(default_factory=lambda: Series(3))
    velocity_error: Series = field(default_factory=lambda: Series(3))
    attitude_error: Series = field(default_factory=lambda: Series(3))
    """The turn from the truth to the estimate about the body's x, y and z."""
    distance: Series = field(default_factory=lambda: Series(1))
    """Between estimated and true position, m."""
    _waiting: deque[StateEstimate] = field(default_factory=deque)
    _yaw: float = 0.0

    def add(self, estimate: StateEstimate, truth: TruthTrack) -> None:
        """Take the next estimate; it is compared once the truth of its stamp is known."""
        self.count += 1
        stamp_ns = estimate.stamp_sim_ns
        x, y, z = estimate.pos_enu_m.tolist()
        near = all(abs(value) < _FAR for value in (x, y, z))
        self.position.add(stamp_ns, (x, y, z) if near else _NAN3)
        vx, vy, vz = estimate.vel_enu_mps.tolist()
        self.velocity.add(stamp_ns, (vx, vy, vz))
        w, i, j, k = estimate.q_enu_flu.tolist()
        roll, pitch, yaw = q_to_rpy((w, i, j, k))
        if math.isfinite(yaw):
            self._yaw += math.remainder(yaw - self._yaw, 2.0 * math.pi)
            yaw = self._yaw
        self.attitude.add(stamp_ns, (math.degrees(roll), math.degrees(pitch), math.degrees(yaw)))
        if len(self._waiting) < _MAX_WAITING:
            self._waiting.append(estimate)
        self.compare(truth)

    def compare(self, truth: TruthTrack, *, final: bool = False) -> None:
        """Hold what waits against the truth, as far as it is known."""
        waiting, last_ns = self._waiting, truth.last_ns
        while waiting and last_ns is not None and waiting[0].stamp_sim_ns <= last_ns:
            self._compare(waiting.popleft(), truth)
        if final:
            waiting.clear()

    def _compare(self, estimate: StateEstimate, truth: TruthTrack) -> None:
        stamp_ns = estimate.stamp_sim_ns
        at = truth.at(stamp_ns)
        if at is None:
            return
        off = [a - b for a, b in zip(estimate.pos_enu_m.tolist(), at.pos, strict=True)]
        self.position_error.add(stamp_ns, (off[0], off[1], off[2]))
        self.distance.add(stamp_ns, (math.hypot(*off),))
        off = [a - b for a, b in zip(estimate.vel_enu_mps.tolist(), at.vel, strict=True)]
        self.velocity_error.add(stamp_ns, (off[0], off[1], off[2]))
        w, i, j, k = estimate.q_enu_flu.tolist()
        dw, *turn = q_multiply(q_conjugate(at.q), (w, i, j, k))
        # Of small turns twice the vector part is the rotation vector; the sign takes the short way.
        sine = math.hypot(*turn)
        gain = 2.0 if sine < 1e-9 else 2.0 * math.atan2(sine, abs(dw)) / sine
        gain = math.degrees(math.copysign(gain, dw))
        self.attitude_error.add(stamp_ns, (gain * turn[0], gain * turn[1], gain * turn[2]))
