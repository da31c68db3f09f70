"""Curves of bounded size from streams of any length, with exact statistics beside them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Curve", "Moments", "Series"]

FloatArray = npt.NDArray[np.float64]

_BLOCK = 256
"""Rows that wait before numpy folds them in; a power of two, as strides are."""
_ABSURD = 1e100
"""Beyond it a number measures nothing, and its square is no double: it counts as invalid."""
_HEAD = 3
"""Columns of a bucket before its values: first and last stamp, and how many rows it holds."""


class Moments:
    """Count, mean, variance, extremes of each column; NaN and infinities are counted apart.

    Blocks are merged by the pairwise update of Chan, Golub and LeVeque, "Updating formulae and a
    pairwise algorithm for computing sample variances" (Stanford STAN-CS-79-773, 1979).
    """

    def __init__(self, width: int) -> None:
        self.count = np.zeros(width, np.int64)
        self.invalid = np.zeros(width, np.int64)
        self.mean = np.zeros(width)
        self._m2 = np.zeros(width)
        self.low = np.full(width, np.inf)
        self.high = np.full(width, -np.inf)

    def add(self, rows: FloatArray) -> None:
        """Take (n, width) rows."""
        good = np.isfinite(rows)
        n = good.sum(axis=0)
        self.invalid += len(rows) - n
        if not n.any():
            return
        some = np.maximum(n, 1)
        mean = np.where(good, rows, 0.0).sum(axis=0) / some
        m2 = (np.where(good, rows - mean, 0.0) ** 2).sum(axis=0)
        total = self.count + n
        share = n / np.maximum(total, 1)
        delta = mean - self.mean
        self._m2 += np.where(n > 0, m2 + delta * delta * self.count * share, 0.0)
        self.mean += np.where(n > 0, delta * share, 0.0)
        self.low = np.minimum(self.low, np.where(good, rows, np.inf).min(axis=0))
        self.high = np.maximum(self.high, np.where(good, rows, -np.inf).max(axis=0))
        self.count = total

    @property
    def sigma(self) -> FloatArray:
        """Standard deviation of each column; NaN where nothing was seen."""
        sigma: FloatArray = np.sqrt(self._m2 / np.where(self.count > 0, self.count, np.nan))
        return sigma

    @property
    def rms(self) -> FloatArray:
        """Root mean square of each column; NaN where nothing was seen."""
        rms: FloatArray = np.sqrt(self.mean**2 + self.sigma**2)
        return rms


@dataclass(frozen=True, slots=True)
class Curve:
    """What is drawn. Where `stride` is 1, `low`, `mid` and `high` are the samples themselves."""

    t_s: FloatArray
    """(n,), begin of each bucket; NaN rows separate pieces with a gap between them."""
    low: FloatArray
    mid: FloatArray
    high: FloatArray
    """(n, width): least, mean and greatest of each bucket."""
    stride: int
    """Samples in a bucket."""

    def __len__(self) -> int:
        return len(self.t_s)


class Series:
    """Takes rows with a stamp and keeps at most `capacity` buckets with their extremes.

    When it is full, neighbours are merged and buckets from then on hold twice as many samples, so
    no spike is lost however long the run. `moments` is exact over all rows; `draws` is every k-th
    row as it is, for histograms.
    """

    def __init__(self, width: int, capacity: int = 1000) -> None:
        self.width = width
        self._moments = Moments(width)
        self._capacity = capacity
        self._stride = 1
        self._pending: list[tuple[float, ...]] = []
        self._parts: list[FloatArray] = []
        self._small: list[FloatArray] = []
        self._smalls = 0
        self._buckets = 0
        self._seen = 0
        self._thin = 1
        self._draws: list[FloatArray] = []
        self._drawn = 0

    def add(self, stamp_ns: int, values: tuple[float, ...]) -> None:
        """Append one row; `values` has `width` numbers."""
        self._pending.append((stamp_ns * 1e-9, *values))
        if len(self._pending) >= _BLOCK:
            self._fold(min(self._stride, _BLOCK))

    @property
    def moments(self) -> Moments:
        """Statistics of all rows so far."""
        self._finish()
        return self._moments

    @property
    def draws(self) -> FloatArray:
        """(m, width): every k-th row, at most some thousands."""
        self._finish()
        return np.concatenate(self._draws) if self._draws else np.empty((0, self.width))

    def curve(self) -> Curve:
        """Return what to draw."""
        self._finish()
        if not self._parts:
            empty = np.empty((0, self.width))
            return Curve(np.empty(0), empty, empty, empty, 1)
        table = np.concatenate(self._parts)
        t_s, last_s, low, mid, high = self._split(table)
        if len(t_s) > 2:
            # More than two and a half usual distances is a hole, and no line is drawn over it.
            step = float(np.median(np.diff(t_s)))
            holes = np.flatnonzero(t_s[1:] - last_s[:-1] > 2.5 * step) + 1
            t_s, low, mid, high = (
                np.insert(a, holes, np.nan, axis=0) for a in (t_s, low, mid, high)
            )
        return Curve(t_s, low, mid, high, self._stride)

    def _split(self, table: FloatArray) -> tuple[FloatArray, ...]:
        w, first = self.width, _HEAD
        return (
            table[:, 0],
            table[:, 1],
            table[:, first : first + w],
            table[:, first + w : first + 2 * w],
            table[:, first + 2 * w :],
        )

    def _finish(self) -> None:
        """Put everything into buckets, the last of which may be less full than the others."""
        if self._pending:
            self._fold(min(self._stride, _BLOCK))
        if self._smalls:
            self._keep(_merged(np.concatenate(self._small)[np.newaxis]))
            self._small, self._smalls = [], 0

    def _fold(self, group: int) -> None:
        """Turn the pending rows into buckets of `group` rows, and these into full ones."""
        rows = np.array(self._pending, np.float64).reshape(-1, self.width + 1)
        self._pending = []
        values = rows[:, 1:]
        values[~(np.abs(values) < _ABSURD)] = np.nan
        self._moments.add(values)
        self._draw(values)
        full = len(rows) - len(rows) % group
        made = [_buckets(rows[:full].reshape(-1, group, self.width + 1))] if full else []
        if full < len(rows):
            made.append(_buckets(rows[np.newaxis, full:]))
        each = self._stride // group
        if each <= 1:
            for part in made:
                self._keep(part)
            return
        # A bucket of very many rows is put together from small ones: rows do not wait in memory.
        self._small += made
        self._smalls += sum(len(part) for part in made)
        if self._smalls >= each:
            table = np.concatenate(self._small)
            whole = len(table) - len(table) % each
            self._small, self._smalls = [table[whole:]], len(table) - whole
            self._keep(_merged(table[:whole].reshape(-1, each, table.shape[1])))

    def _keep(self, buckets: FloatArray) -> None:
        self._parts.append(buckets)
        self._buckets += len(buckets)
        while self._buckets > self._capacity:
            self._halve()

    def _draw(self, values: FloatArray) -> None:
        first = -self._seen % self._thin
        self._seen += len(values)
        taken = values[first :: self._thin]
        self._draws.append(taken)
        self._drawn += len(taken)
        while self._drawn > 4 * self._capacity:
            # All kept rows lie on multiples of `thin`, so every second one lies on its double.
            kept = np.concatenate(self._draws)[::2]
            self._draws, self._drawn = [kept], len(kept)
            self._thin *= 2

    def _halve(self) -> None:
        table = np.concatenate(self._parts)
        odd = table[-1:] if len(table) % 2 else table[:0]
        pairs = table[: len(table) - len(odd)].reshape(-1, 2, table.shape[1])
        merged = _merged(pairs)
        self._parts = [merged, odd] if len(odd) else [merged]
        self._buckets = len(merged) + len(odd)
        self._stride *= 2


def _merged(groups: FloatArray) -> FloatArray:
    """(n, k, columns) buckets to (n, columns): each group of `k` neighbours becomes one."""
    width = (groups.shape[2] - _HEAD) // 3
    low, mid, high = (
        groups[:, :, _HEAD + at * width : _HEAD + (at + 1) * width] for at in range(3)
    )
    rows = groups[:, :, 2]
    return np.column_stack(
        [
            groups[:, 0, 0],
            groups[:, -1, 1],
            rows.sum(axis=1),
            np.fmin.reduce(low, axis=1),
            _mean(mid, rows),
            np.fmax.reduce(high, axis=1),
        ]
    )


def _buckets(rows: FloatArray) -> FloatArray:
    """(n, k, 1 + width) rows to (n, columns): one bucket for each group of `k`."""
    values = rows[:, :, 1:]
    count = rows.shape[1]
    return np.column_stack(
        [
            rows[:, 0, 0],
            rows[:, -1, 0],
            np.full(len(rows), count),
            np.fmin.reduce(values, axis=1),
            _mean(values, np.ones(values.shape[:2])),
            np.fmax.reduce(values, axis=1),
        ]
    )


def _mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Mean over the second axis, weighted, without NaN; NaN where there is nothing else."""
    good = np.isfinite(values)
    weight = np.where(good, weights[:, :, np.newaxis], 0.0)
    total = weight.sum(axis=1)
    sums = (np.where(good, values, 0.0) * weight).sum(axis=1)
    mean: FloatArray = sums / np.where(total > 0.0, total, np.nan)
    return mean
