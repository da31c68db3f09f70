"""One figure for each sensor: measured against truth, what is left, and how that is spread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ghost.core import Event, EventType
from ghost.report.gather import Gathered, MeasureLog, SensorLog
from ghost.report.theme import AXES, LIGHT, Canvas, band, legend, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FaultWindow", "fault_windows", "sensor_figure"]

_WIDTH_IN = 11.0
FaultWindow = tuple[float, float, str]
"""Begin and end in seconds, and the kind of the fault."""


def fault_windows(run: Gathered, sensor_id: str) -> list[FaultWindow]:
    """Pair the events that a fault begins and ends."""
    end_s = (run.survey.last_ns or 0) * 1e-9
    open_: dict[str, float] = {}
    windows: list[FaultWindow] = []
    for event in run.events:
        if _sensor_of(event) != sensor_id:
            continue
        kind, at_s = str(event.payload.get("kind", "fault")), event.stamp_sim_ns * 1e-9
        if event.type is EventType.SENSOR_FAULT:
            open_.setdefault(kind, at_s)
        elif event.type is EventType.SENSOR_RECOVERED and kind in open_:
            windows.append((open_.pop(kind), at_s, kind))
    windows += [(at_s, end_s, kind) for kind, at_s in open_.items()]
    return sorted(windows)


def _sensor_of(event: Event) -> str:
    return str(event.payload.get("sensor_id", event.source.rpartition("/")[2]))


def sensor_figure(log: SensorLog, windows: list[FaultWindow]) -> Canvas | None:
    """Draw all measures of a sensor; None if there is nothing to draw."""
    measures = [item for item in log.measures if len(item.measured.curve())]
    if not measures:
        return None
    height = 2.0 * len(measures) + 0.3
    canvas = Canvas(_WIDTH_IN, height)
    with canvas as figure:
        grid = figure.add_gridspec(
            len(measures),
            3,
            width_ratios=(1.0, 0.86, 0.2),
            left=0.045,
            right=0.988,
            top=1.0 - 0.3 / height,
            bottom=0.42 / height,
            wspace=0.17,
            hspace=0.38,
        )
        first: Any = None
        for row, item in enumerate(measures):
            last = row == len(measures) - 1
            residual = item.residual.curve() if item.residual is not None else None
            compared = residual is not None and len(residual) > 0
            place = grid[row, 0] if compared else grid[row, :]
            axes = figure.add_subplot(place, sharex=first)
            first = first if first is not None else axes
            _measured(axes, item, last)
            _shade(axes, windows, words=row == 0)
            if not compared:
                continue
            rest = figure.add_subplot(grid[row, 1], sharex=first)
            spread = figure.add_subplot(grid[row, 2], sharey=rest)
            _residual(rest, item, last)
            _shade(rest, windows, words=False)
            _spread(spread, item, last)
    return canvas


def _measured(axes: Axes, item: MeasureLog, last: bool) -> None:
    curve = item.measured.curve()
    labels = item.measure.labels
    for column, label in enumerate(labels):
        colour = AXES[column] if len(labels) > 1 else LIGHT["z"]
        band(axes, curve, column, colour, label)
    expected = item.expected.curve() if item.expected is not None else None
    if expected is not None and len(expected):
        for column in range(len(labels)):
            axes.plot(
                expected.t_s,
                expected.mid[:, column],
                color=LIGHT["ink"],
                linewidth=0.8,
                linestyle=(0, (4, 1.6)),
                zorder=5,
                label="truth" if column == 0 else None,
            )
    panel(axes, item.measure.title, item.measure.unit, time=last)
    legend(axes)


def _residual(axes: Axes, item: MeasureLog, last: bool) -> None:
    assert item.residual is not None
    curve = item.residual.curve()
    count = len(item.measure.labels)
    for column in range(count):
        colour = AXES[column] if count > 1 else LIGHT["z"]
        band(axes, curve, column, colour, linewidth=0.7, alpha=0.85)
    axes.axhline(0.0, color=LIGHT["ink"], linewidth=0.6, zorder=4)
    panel(axes, "Measured − truth", item.measure.unit, time=last)
    low, high, cut = _view(item)
    axes.set_ylim(low, high)
    if cut:
        axes.text(
            1.0,
            1.02,
            cut,
            transform=axes.transAxes,
            ha="right",
            va="bottom",
            color=LIGHT["bad"],
            size=7.0,
        )


def _view(item: MeasureLog) -> tuple[float, float, str]:
    """Limits that show the noise, even beside a few spikes that are many times as large."""
    assert item.residual is not None
    draws = item.residual.draws
    moments = item.residual.moments
    finite = draws[np.isfinite(draws)]
    if not finite.size:
        return -1.0, 1.0, ""
    low, high = float(moments.low.min()), float(moments.high.max())
    p_low, p_high = (float(p) for p in np.percentile(finite, (1.5, 98.5)))
    room = max(p_high - p_low, 1e-12)
    view_low, view_high = p_low - 0.75 * room, p_high + 0.75 * room
    far = max(high - view_high, view_low - low)
    if far <= 2.0 * room:
        edge = max(0.06 * (high - low), 1e-12)
        return low - edge, high + edge, ""
    peak = high if high - view_high > view_low - low else low
    return view_low, view_high, f"peaks to {peak:+.3g} {item.measure.unit} are cut off"


def _spread(axes: Axes, item: MeasureLog, last: bool) -> None:
    """How the residual is spread, lying beside it."""
    assert item.residual is not None
    draws = item.residual.draws
    low, high = axes.get_ylim()
    edges = np.linspace(low, high, 41)
    count = len(item.measure.labels)
    for column in range(count):
        values = draws[:, column]
        values = values[np.isfinite(values)]
        heights, _ = np.histogram(values, edges)
        colour = AXES[column] if count > 1 else LIGHT["z"]
        axes.stairs(
            heights / max(1, len(values)) * 100.0,
            edges,
            orientation="horizontal",
            color=colour,
            fill=False,
            linewidth=1.0,
        )
    axes.set_title("Spread")
    axes.tick_params(labelleft=False)
    axes.set_xlim(left=0.0)
    axes.grid(visible=False, axis="x")
    axes.xaxis.set_major_locator(_two())
    if last:
        axes.set_xlabel("% of samples")


def _two() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(2)


def _shade(axes: Axes, windows: list[FaultWindow], *, words: bool) -> None:
    """Mark the times at which a fault was active; in the first panel with its kind."""
    for begin, end, kind in windows:
        axes.axvspan(begin, end, color=LIGHT["shade"], linewidth=0, zorder=0.5)
        if words:
            axes.text(
                (begin + end) / 2.0,
                0.985,
                kind,
                transform=axes.get_xaxis_transform(),
                ha="center",
                va="top",
                size=7.0,
                color=LIGHT["muted"],
                zorder=6,
            )
