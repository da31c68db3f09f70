"""The true state at any time of the last seconds, for comparing delayed samples with it."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from ghost.hal import GroundTruth

__all__ = ["TruthState", "TruthTrack"]

Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]

_KEEP_NS = 3_000_000_000
_TRIM = 4096


class TruthState(NamedTuple):
    """World ENU, body FLU, as in `GroundTruth`."""

    stamp_ns: int
    pos: Vec3
    q: Quat
    vel: Vec3
    rate: Vec3
    acc: Vec3
    alpha: Vec3
    """Angular acceleration, rad/s² about body axes, by difference of the rates."""

    @classmethod
    def of(cls, truth: GroundTruth) -> TruthState:
        """Take a message over in plain numbers."""
        return cls(
            truth.stamp_sim_ns,
            _vec3(truth.pos_enu_m.tolist()),
            _quat(truth.q_enu_flu.tolist()),
            _vec3(truth.vel_enu_mps.tolist()),
            _vec3(truth.rate_flu_rps.tolist()),
            _vec3(truth.acc_enu_mps2.tolist()),
            (0.0, 0.0, 0.0),
        )


class TruthTrack:
    """Keeps three seconds of truth and answers for any moment within them."""

    def __init__(self) -> None:
        self._stamps: list[int] = []
        self._states: list[TruthState] = []

    @property
    def last_ns(self) -> int | None:
        """Stamp of the newest state."""
        return self._stamps[-1] if self._stamps else None

    def add(self, truth: GroundTruth) -> TruthState:
        """Append a state; one that is not newer than the last begins the track anew."""
        state = TruthState.of(truth)
        stamps, states = self._stamps, self._states
        if stamps and state.stamp_ns <= stamps[-1]:
            stamps.clear()
            states.clear()
        if states:
            before = states[-1]
            dt = (state.stamp_ns - before.stamp_ns) * 1e-9
            a, b = before.rate, state.rate
            state = state._replace(
                alpha=((b[0] - a[0]) / dt, (b[1] - a[1]) / dt, (b[2] - a[2]) / dt)
            )
        stamps.append(state.stamp_ns)
        states.append(state)
        if len(stamps) > _TRIM:
            keep = bisect_right(stamps, state.stamp_ns - _KEEP_NS)
            keep = max(1, keep) - 1
            if keep > _TRIM // 2:
                del stamps[:keep]
                del states[:keep]
        return state

    def at(self, stamp_ns: int) -> TruthState | None:
        """Return the state at `stamp_ns`, interpolated; None outside of what is kept."""
        at = bisect_right(self._stamps, stamp_ns)
        if at == 0:
            return None
        before = self._states[at - 1]
        if before.stamp_ns == stamp_ns:
            return before
        if at == len(self._states):
            return None
        after = self._states[at]
        f = (stamp_ns - before.stamp_ns) / (after.stamp_ns - before.stamp_ns)
        dot = sum(a * b for a, b in zip(before.q, after.q, strict=True))
        sign = -1.0 if dot < 0.0 else 1.0
        q = [a + f * (sign * b - a) for a, b in zip(before.q, after.q, strict=True)]
        norm = sum(x * x for x in q) ** 0.5 or 1.0
        return TruthState(
            stamp_ns,
            _mix(before.pos, after.pos, f),
            (q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm),
            _mix(before.vel, after.vel, f),
            _mix(before.rate, after.rate, f),
            _mix(before.acc, after.acc, f),
            after.alpha,
        )


def _vec3(values: list[float]) -> Vec3:
    x, y, z = values
    return x, y, z


def _quat(values: list[float]) -> Quat:
    w, x, y, z = values
    return w, x, y, z


def _mix(a: Vec3, b: Vec3, f: float) -> Vec3:
    return a[0] + f * (b[0] - a[0]), a[1] + f * (b[1] - a[1]), a[2] + f * (b[2] - a[2])
