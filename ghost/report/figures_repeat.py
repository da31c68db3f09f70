"""One figure of several runs of a scenario: their paths on top of each other, and the spread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ghost.report.figures_flight import equal_scales
from ghost.report.needs import need
from ghost.report.theme import AXES, LIGHT, Canvas, heading, legend, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Overlay", "need_drawing", "overlay_figure"]

FloatArray = npt.NDArray[np.float64]
Vec3 = tuple[float, float, float]

_WIDTH_IN = 11.0
_HEIGHT_IN = 6.4
_PLAN_SHAPE = 0.78
"""Height by width of the two square-scaled panels."""
_UNITS = ((0.1, 1.0, "m"), (1e-4, 1e3, "mm"), (0.0, 1e6, "µm"))


@dataclass(frozen=True, slots=True)
class Overlay:
    """What is drawn of several runs."""

    title: str
    subtitle: str
    runs: tuple[int, ...]
    """Their numbers."""
    t_s: FloatArray
    """(T,), since the start of each run."""
    pos_enu_m: FloatArray
    """(n, T, 3), NaN where a run is not there."""
    distance_m: FloatArray
    """(T,), greatest distance between any two runs."""
    angle_deg: FloatArray
    """(T,), greatest angle between the attitudes of any two."""
    apart: tuple[int, ...] = ()
    """Indices of the two runs that were farthest apart; empty if all were equal."""
    failed: tuple[int, ...] = ()
    """Indices of the runs that went wrong."""
    ends: Mapping[int, Vec3] = field(default_factory=dict)
    """Final position by index, of the runs that came to their end."""


def need_drawing(needed_for: str) -> None:
    """Raise `MissingDependency` if figures cannot be drawn here."""
    need("matplotlib", extra="plot", needed_for=needed_for)


def overlay_figure(shown: Overlay) -> Canvas:
    """Plan view and final positions at the left; height and spread over time at the right.

    The two runs that were farthest apart have colours of their own, and so have failed ones.
    """
    canvas = Canvas(_WIDTH_IN, _HEIGHT_IN)
    with canvas as figure:
        grid = figure.add_gridspec(
            1, 2, width_ratios=(1.0, 1.35), left=0.05, right=0.985, top=0.85, bottom=0.075,
            wspace=0.13,
        )  # fmt: skip
        left = grid[0].subgridspec(2, 1, hspace=0.36)
        right = grid[1].subgridspec(3, 1, hspace=0.3)
        plan, ends = (figure.add_subplot(left[at]) for at in range(2))
        height = figure.add_subplot(right[0])
        distance = figure.add_subplot(right[1], sharex=height)
        angle = figure.add_subplot(right[2], sharex=height)
        _plan(plan, shown)
        _ends(ends, shown)
        _heights(height, shown)
        _over_time(distance, shown, shown.distance_m, "Greatest distance between two runs", None)
        _over_time(angle, shown, shown.angle_deg, "Greatest angle between two attitudes", "°")
        angle.set_xlabel("simulated time since the start, s")
        angle.tick_params(labelbottom=True)
        figure.text(0.018, 0.955, shown.title, weight="bold", size=9.5)
        figure.text(0.018, 0.922, shown.subtitle, color=LIGHT["muted"])
    return canvas


def _style(shown: Overlay, at: int) -> dict[str, Any]:
    """How the line of a run looks."""
    if at in shown.apart:
        place = shown.apart.index(at)
        return {"color": AXES[place], "linewidth": 1.3, "zorder": 5, "label": _name(shown, at)}
    if at in shown.failed:
        return {"color": LIGHT["bad"], "linewidth": 1.0, "zorder": 4}
    many = min(1.0, 8.0 / max(1, len(shown.runs)))
    return {"color": LIGHT["z"], "linewidth": 1.0, "zorder": 3, "alpha": max(0.25, 0.85 * many)}


def _name(shown: Overlay, at: int) -> str:
    return f"run {shown.runs[at]}" + (", failed" if at in shown.failed else "")


def _lines(axes: Axes, shown: Overlay, x: Any, y: Any) -> None:
    named: set[str] = set()
    for at in range(len(shown.runs)):
        style = _style(shown, at)
        # One entry in the legend for all failed runs, and one for all others.
        label = style.pop("label", "failed" if at in shown.failed else "other runs")
        axes.plot(x(at), y(at), label=label if label not in named else None, **style)
        named.add(label)


def _plan(axes: Axes, shown: Overlay) -> None:
    _lines(axes, shown, lambda at: shown.pos_enu_m[at, :, 0], lambda at: shown.pos_enu_m[at, :, 1])
    good = shown.pos_enu_m[:, :, :2].reshape(-1, 2)
    good = good[np.isfinite(good).all(axis=1)]
    if len(good):
        low, high = good.min(axis=0), good.max(axis=0)
        equal_scales(axes, low, high, _PLAN_SHAPE, room_m=0.1)
    axes.set_title("Plan view")
    axes.set_xlabel("east, m")
    axes.set_ylabel("north, m")


def _ends(axes: Axes, shown: Overlay) -> None:
    """Where the runs ended, about their mean: on the plan this would be one dot."""
    axes.set_title("Final positions about their mean")
    if len(shown.ends) < 2:
        axes.set_axis_off()
        axes.text(0.0, 0.9, "fewer than two runs came to their end", color=LIGHT["muted"],
                  transform=axes.transAxes)  # fmt: skip
        return
    points = np.array(list(shown.ends.values()))
    offsets = points[:, :2] - points[0, :2]
    offsets -= offsets.mean(axis=0)
    scale, unit = _unit_for(float(np.abs(offsets).max()))
    for at, (east, north) in zip(shown.ends, (offsets * scale).tolist(), strict=True):
        style = _style(shown, at)
        axes.plot(
            [east], [north], "o", color=style["color"], alpha=style.get("alpha", 1.0),
            markersize=5.0, markeredgewidth=0.0, zorder=style["zorder"], linestyle="none",
        )  # fmt: skip
    low, high = (offsets * scale).min(axis=0), (offsets * scale).max(axis=0)
    middle = (low + high) / 2.0
    half = max(0.62 * float((high - low).max()), 1.0 if not offsets.any() else 0.0)
    axes.set_xlim(middle[0] - half / _PLAN_SHAPE, middle[0] + half / _PLAN_SHAPE)
    axes.set_ylim(middle[1] - half, middle[1] + half)
    axes.set_aspect("equal", adjustable="box")
    axes.set_xlabel(f"east, {unit}")
    axes.set_ylabel(f"north, {unit}")


def _heights(axes: Axes, shown: Overlay) -> None:
    _lines(axes, shown, lambda _: shown.t_s, lambda at: shown.pos_enu_m[at, :, 2])
    panel(axes, "Height above the world's origin", "m", least=0.2)
    legend(axes)


def _over_time(
    axes: Axes, shown: Overlay, values: FloatArray, title: str, unit: str | None
) -> None:
    good = values[np.isfinite(values)]
    top = float(good.max()) if len(good) else 0.0
    scale = 1.0
    if unit is None:
        scale, unit = _unit_for(top)
    axes.plot(shown.t_s, values * scale, color=LIGHT["target"], linewidth=1.3, zorder=3)
    axes.fill_between(shown.t_s, values * scale, color=LIGHT["target"], alpha=0.14, linewidth=0)
    heading(axes, title, unit)
    axes.set_ylim(0.0, top * scale * 1.12 if top > 0.0 else 1.0)
    axes.tick_params(labelbottom=False)
    if top > 0.0:
        at = int(np.nanargmax(values))
        axes.plot([shown.t_s[at]], [top * scale], "o", color=LIGHT["ink"], markersize=3.4, zorder=4)
        gap = "" if unit == "°" else " "
        words = f"{top * scale:.3g}{gap}{unit} at {shown.t_s[at]:.2f} s"
    else:
        words = "exactly 0 throughout" if len(good) else "nothing to compare"
    # Above the panel at the right, where it hides nothing.
    axes.text(1.0, 1.03, words, transform=axes.transAxes, ha="right", va="bottom", size=7.5,
              color=LIGHT["muted"])  # fmt: skip


def _unit_for(greatest_m: float) -> tuple[float, str]:
    """The unit in which a length reads well: factor from metres, and name."""
    if greatest_m == 0.0:
        return 1e3, "mm"
    return next((scale, unit) for least, scale, unit in _UNITS if greatest_m >= least)
