"""How far apart runs of one scenario are: pure functions of their tracks.

Distances are of positions, in metres. Angles are of attitudes: the angle of the one rotation that
turns one into the other. Both are taken between any two runs, so nothing depends on the order of
the runs, and runs that are equal to the last bit are exactly 0 apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Peak", "PointSpread", "Spread", "Track", "angle_between", "spread", "spread_of_points"]

FloatArray = npt.NDArray[np.float64]
Vec3 = tuple[float, float, float]

_HOLE_NS = 500_000_000
"""Between positions further apart in time than this (or than some points of the grid) nothing is
known of the way, and nothing is interpolated."""


@dataclass(frozen=True, slots=True)
class Track:
    """Where one run was. Positions are finite; an attitude that is not known is NaN."""

    t_ns: npt.NDArray[np.int64]
    """(n,), since the run's start; rising."""
    pos_enu_m: FloatArray
    """(n, 3), world ENU."""
    q_enu_flu: FloatArray
    """(n, 4), (w, x, y, z), body FLU to world ENU."""

    def __len__(self) -> int:
        return len(self.t_ns)


@dataclass(frozen=True, slots=True)
class Peak:
    """The greatest of a spread over time."""

    greatest: float
    at_s: float
    """When: the first time that has it, s since the start."""
    pair: tuple[int, int]
    """Between which two, as indices of what was compared."""
    rms: float
    """Root mean square over the times of the greatest spread at each."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How far apart tracks are, at each time between any two of those that are there."""

    t_s: FloatArray
    """(T,), the common grid, since the start of each run."""
    pos_enu_m: FloatArray
    """(n, T, 3), NaN where a track is not there."""
    present: npt.NDArray[np.int64]
    """(T,), how many tracks are there."""
    distance_m: FloatArray
    """(T,), the greatest distance between any two; NaN where fewer than two are there."""
    angle_deg: FloatArray
    """(T,), the same of attitudes."""
    position: Peak | None
    """None if there is no time at which two are there. In metres."""
    attitude: Peak | None
    """In degrees."""
    together_s: float | None
    """The last time at which all are there."""


@dataclass(frozen=True, slots=True)
class PointSpread:
    """How far apart points are."""

    mean_m: Vec3
    std_m: Vec3
    """Sample standard deviation (n − 1) by axis."""
    max_distance_m: float
    """Between any two."""
    pair: tuple[int, int]
    """Which two."""


def spread(tracks: Sequence[Track], period_ns: int) -> Spread:
    """Compare tracks at the times 0, `period_ns`, 2·`period_ns` …, up to the end of the longest.

    A track that has a row at a time of the grid is taken as it is there; between rows, positions
    and attitudes are interpolated. Before its first row, behind its last, and in holes of more than
    half a second it is not there. Raises `ValueError` for a period below 1.
    """
    if period_ns < 1:
        raise ValueError(f"period_ns must be at least 1, got {period_ns}")
    last_ns = max((int(track.t_ns[-1]) for track in tracks if len(track)), default=-1)
    grid_ns = np.arange(0, last_ns + 1, period_ns, dtype=np.int64)
    points = np.full((len(tracks), len(grid_ns), 3), np.nan)
    attitudes = np.full((len(tracks), len(grid_ns), 4), np.nan)
    for at, track in enumerate(tracks):
        points[at], attitudes[at] = _resampled(track, grid_ns, period_ns)
    t_s: FloatArray = grid_ns.astype(np.float64) * 1e-9
    present = np.isfinite(points[:, :, 0]).sum(axis=0)
    distance = _greatest(points, _distance_between)
    angle = np.degrees(_greatest(attitudes, angle_between))
    together = np.flatnonzero(present == len(tracks)) if len(tracks) else np.empty(0, np.int64)
    return Spread(
        t_s=t_s,
        pos_enu_m=points,
        present=present,
        distance_m=distance,
        angle_deg=angle,
        position=_peak(t_s, distance, points, _distance_between),
        attitude=_peak(t_s, angle, attitudes, angle_between),
        together_s=float(t_s[together[-1]]) if len(together) else None,
    )


def spread_of_points(points_m: Sequence[Vec3]) -> PointSpread | None:
    """Compare points, such as final positions; None for fewer than two."""
    if len(points_m) < 2:
        return None
    points = np.array(points_m, np.float64)
    # About the first point: the mean of equal numbers must be that very number.
    offsets = points - points[0]
    count = len(points)
    mean = [math.fsum(column) / count for column in offsets.T]
    variance = [
        math.fsum((x - middle) ** 2 for x in column) / (count - 1)
        for column, middle in zip(offsets.T, mean, strict=True)
    ]
    row = points[:, np.newaxis]
    pair = _farthest(points, _distance_between)
    return PointSpread(
        mean_m=_vec3([float(first) + m for first, m in zip(points[0], mean, strict=True)]),
        std_m=_vec3([math.sqrt(v) for v in variance]),
        max_distance_m=float(_greatest(row, _distance_between)[0]),
        pair=pair,
    )


def angle_between(a: FloatArray, b: FloatArray) -> FloatArray:
    """Angle of the rotation from unit quaternion `a` to `b`, rad in [0, π]; (…, 4) each.

    From the chord, |a ∓ b| = 2 sin(θ/4), the sign being free since q and −q are one attitude. The
    usual 2 acos|a·b| cannot tell small angles from 0: cos θ = 1 − θ²/2 loses half of the digits.
    """
    chord = np.minimum(_distance_between(a, b), _distance_between(a, -b))
    angle: FloatArray = 4.0 * np.arcsin(np.minimum(chord / 2.0, math.sin(math.pi / 4.0)))
    return angle


def _distance_between(a: FloatArray, b: FloatArray) -> FloatArray:
    apart = a - b
    distance: FloatArray = np.sqrt(np.einsum("...i,...i->...", apart, apart))
    return distance


def _greatest(rows: FloatArray, metric: Callable[..., FloatArray]) -> FloatArray:
    """(n, T, k) to (T,): the greatest `metric` between any two of the n; NaN without two."""
    greatest = np.full(rows.shape[1], np.nan)
    for at in range(len(rows) - 1):
        greatest = np.fmax(greatest, np.fmax.reduce(metric(rows[at], rows[at + 1 :]), axis=0))
    return greatest


def _farthest(rows: FloatArray, metric: Callable[..., FloatArray]) -> tuple[int, int]:
    """The two of (n, k) rows that are farthest apart; the first two if several are."""
    best, pair = -1.0, (0, 1)
    for at in range(len(rows) - 1):
        found = metric(rows[at], rows[at + 1 :])
        good = np.where(np.isfinite(found), found, -1.0)
        other = int(good.argmax())
        if good[other] > best:
            best, pair = float(good[other]), (at, at + 1 + other)
    return pair


def _peak(
    t_s: FloatArray, values: FloatArray, rows: FloatArray, metric: Callable[..., FloatArray]
) -> Peak | None:
    good = np.isfinite(values)
    if not good.any():
        return None
    at = int(np.where(good, values, -1.0).argmax())
    greatest = float(values[at])
    # Scaled by the greatest: the square of a tiny or a huge number is no double.
    rms = greatest * math.sqrt(float(((values[good] / greatest) ** 2).mean())) if greatest else 0.0
    return Peak(greatest, float(t_s[at]), _farthest(rows[:, at], metric), rms)


def _resampled(
    track: Track, grid_ns: npt.NDArray[np.int64], period_ns: int
) -> tuple[FloatArray, FloatArray]:
    """Positions and attitudes at the times of the grid; NaN where the track is not there."""
    count = len(grid_ns)
    if not len(track):
        return np.full((count, 3), np.nan), np.full((count, 4), np.nan)
    t_ns = track.t_ns
    after = np.searchsorted(t_ns, grid_ns, side="left")
    there = after < len(t_ns)
    after = np.minimum(after, len(t_ns) - 1)
    exact = there & (t_ns[after] == grid_ns)
    before = np.where(exact, after, np.maximum(after - 1, 0))
    gap = t_ns[after] - t_ns[before]
    inside = there & (t_ns[before] <= grid_ns) & (gap <= max(_HOLE_NS, 5 * period_ns // 2))
    share = np.where(gap > 0, (grid_ns - t_ns[before]) / np.maximum(gap, 1), 0.0)[:, np.newaxis]
    first, second = track.pos_enu_m[before], track.pos_enu_m[after]
    points = np.where(share > 0.0, first + share * (second - first), first)
    first, second = _unit(track.q_enu_flu[before]), _unit(track.q_enu_flu[after])
    # q and −q are one attitude: the near one of the two is meant.
    near = np.where((first * second).sum(axis=1, keepdims=True) < 0.0, -second, second)
    between = _unit(first + share * (near - first))
    attitudes = np.where(share > 0.0, between, first)
    points[~inside] = np.nan
    attitudes[~inside] = np.nan
    return points, attitudes


def _unit(q: FloatArray) -> FloatArray:
    """Scale quaternions to length 1; NaN for one of no length."""
    length = np.sqrt((q**2).sum(axis=1, keepdims=True))
    return q / np.where(length > 1e-6, length, np.nan)


def _vec3(values: Sequence[float]) -> Vec3:
    x, y, z = values
    return (x, y, z)
