"""The figure of several runs: what is in it, not how it looks."""

from __future__ import annotations

import numpy as np
import pytest

from ghost.report import Overlay, overlay_figure

pytest.importorskip("matplotlib")


def overlay(count: int, *, apart: bool = True, rows: int = 40) -> Overlay:
    t_s = np.linspace(0.0, 4.0, rows)
    points = np.zeros((count, rows, 3))
    points[:, :, 0] = t_s
    points[:, :, 1] = 0.01 * np.arange(count)[:, np.newaxis] if apart else 0.0
    distance = np.full(rows, 0.01 * max(0, count - 1) if apart else 0.0)
    return Overlay(
        title="square on point",
        subtitle="by ground truth",
        runs=tuple(range(1, count + 1)),
        t_s=t_s,
        pos_enu_m=points,
        distance_m=distance if count > 1 else np.full(rows, np.nan),
        angle_deg=np.zeros(rows),
        apart=(0, count - 1) if apart and count > 1 else (),
        failed=(1,) if count > 2 else (),
        ends={at: (4.0, float(points[at, -1, 1]), 0.0) for at in range(count) if at != 1},
    )


def words(shown: Overlay) -> str:
    canvas = overlay_figure(shown)
    assert canvas.png().startswith(b"\x89PNG")
    return canvas.svg("runs", "runs")


def test_the_two_farthest_and_the_failed_are_named() -> None:
    text = words(overlay(5))
    for part in ("run 1", "run 5", "failed", "other runs", "40 mm at 0.00 s", "square on point"):
        assert part in text


def test_equal_runs_are_said_to_be_equal() -> None:
    text = words(overlay(3, apart=False))
    assert text.count("exactly 0 throughout") == 2
    assert "run 1" not in text


def test_many_runs() -> None:
    assert "run 200" in words(overlay(200))


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_to_compare(count: int) -> None:
    shown = overlay(count)
    text = words(shown if count else overlay(0, rows=0))
    assert "nothing to compare" in text
    assert "fewer than two runs came to their end" in text


def test_a_run_that_is_not_there_throughout() -> None:
    shown = overlay(4)
    shown.pos_enu_m[1, 10:] = np.nan
    assert "run 4" in words(shown)
