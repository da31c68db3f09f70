"""Curves of bounded size: no spike is lost, statistics are exact, holes stay holes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.report.series import Moments, Series

MS = 1_000_000
VALUES = st.floats(-1e6, 1e6) | st.just(float("nan"))


def filled(values: list[float], capacity: int = 50) -> Series:
    series = Series(1, capacity)
    for k, value in enumerate(values):
        series.add(k * MS, (value,))
    return series


@settings(deadline=None, max_examples=60)
@given(st.lists(VALUES, min_size=1, max_size=2000))
def test_statistics_are_those_of_numpy(values: list[float]) -> None:
    moments = filled(values).moments
    good = np.array([v for v in values if np.isfinite(v)])
    assert moments.count[0] == len(good)
    assert moments.invalid[0] == len(values) - len(good)
    if len(good):
        scale = max(1.0, float(np.abs(good).max()))
        assert moments.mean[0] == pytest.approx(good.mean(), abs=1e-9 * scale)
        assert moments.sigma[0] == pytest.approx(good.std(), abs=1e-6 * scale)
        assert moments.rms[0] == pytest.approx(np.sqrt((good**2).mean()), abs=1e-6 * scale)
        assert (moments.low[0], moments.high[0]) == (good.min(), good.max())


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 5000), st.integers(10, 80))
def test_size_is_bounded_and_every_sample_is_in_some_bucket(count: int, capacity: int) -> None:
    series = filled([float(k) for k in range(count)], capacity)
    curve = series.curve()
    assert len(curve) <= capacity
    assert len(curve) * curve.stride >= count - curve.stride
    assert curve.low[0, 0] == 0.0
    assert np.nanmax(curve.high) == count - 1
    assert np.all(np.diff(curve.t_s) > 0.0)
    assert np.all(curve.low <= curve.mid)
    assert np.all(curve.mid <= curve.high)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 9999))
def test_one_spike_among_thousands_is_drawn(at: int) -> None:
    values = [0.0] * 10_000
    values[at] = 5.0
    curve = filled(values).curve()
    assert curve.stride > 100
    assert curve.high.max() == 5.0


def test_little_waits_in_memory_however_long_the_run() -> None:
    series = Series(1, 16)
    for k in range(100_000):
        series.add(k * MS, (float(k),))
        if k % 9973 == 0:
            waiting = len(series._pending) + series._smalls + series._buckets
            assert waiting < 700
    curve = series.curve()
    assert curve.stride > 4096
    assert len(curve) <= 17
    assert curve.low[0, 0] == 0.0
    assert curve.high[-1, 0] == 99_999.0
    # Rows count upwards, so the mean of a bucket is the middle of its extremes.
    assert curve.mid == pytest.approx((curve.low + curve.high) / 2.0)


def test_short_series_are_the_samples_themselves() -> None:
    curve = filled([3.0, 1.0, 2.0]).curve()
    assert curve.stride == 1
    assert curve.mid[:, 0].tolist() == [3.0, 1.0, 2.0]
    assert curve.t_s == pytest.approx([0.0, 0.001, 0.002])


def test_a_hole_breaks_the_line() -> None:
    series = Series(1)
    for k in [*range(10), *range(30, 40)]:
        series.add(k * MS, (1.0,))
    curve = series.curve()
    assert np.flatnonzero(np.isnan(curve.t_s)).tolist() == [10]


def test_draws_are_samples_and_few() -> None:
    series = filled([float(k) for k in range(20_000)], 100)
    draws = series.draws[:, 0]
    assert 100 < len(draws) <= 400
    steps = np.diff(draws)
    assert np.all(steps == steps[0])


def test_an_empty_series_draws_nothing() -> None:
    series = Series(3)
    assert len(series.curve()) == 0
    assert series.draws.shape == (0, 3)
    assert np.isnan(series.moments.sigma).all()


def test_columns_do_not_mix() -> None:
    moments = Moments(2)
    moments.add(np.array([[1.0, np.nan], [3.0, 10.0]]))
    assert moments.count.tolist() == [2, 1]
    assert moments.mean.tolist() == [2.0, 10.0]
