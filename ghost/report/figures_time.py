"""Figures of the run itself: the time line of events and health, rates, gaps, the pace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ghost.core import Event, EventSeverity
from ghost.hal import SensorHealth
from ghost.report.figures_sensors import fault_windows
from ghost.report.gather import Gathered, SensorLog
from ghost.report.theme import LIGHT, Canvas, band, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["pace", "rates", "timeline"]

_WIDTH_IN = 11.0
_MAX_LABELS = 20
_HEALTH = {
    SensorHealth.OK: ("good", "ok"),
    SensorHealth.DEGRADED: ("warn", "degraded"),
    SensorHealth.FAULTY: ("bad", "faulty"),
    SensorHealth.OFFLINE: ("muted", "offline"),
}
_WORDS = ("ok", "degraded", "faulty", "offline", "silent", "fault injected or noticed")
_SEVERITY = {
    EventSeverity.DEBUG: "muted",
    EventSeverity.INFO: "good",
    EventSeverity.WARN: "warn",
    EventSeverity.ERROR: "bad",
    EventSeverity.CRITICAL: "bad",
}


def timeline(run: Gathered) -> Canvas | None:
    """Events above, and below one lane for each sensor: its health, its pauses, its faults."""
    sensors = run.ordered()
    if not sensors and not run.events:
        return None
    # A run may begin at any time: one with an autopilot does when that is ready.
    start_s, end_s = (run.survey.first_ns or 0) * 1e-9, (run.survey.last_ns or 0) * 1e-9
    end_s = max(end_s, start_s + 1e-3)
    labelled = run.events[:_MAX_LABELS]
    rows = _rows_of(labelled, start_s, end_s)
    events_in = 0.1 + 0.2 * (max(rows, default=0) + 1)
    lanes_in = 0.27 * max(1, len(sensors))
    height = events_in + lanes_in + 1.0
    canvas = Canvas(_WIDTH_IN, height)
    with canvas as figure:
        grid = figure.add_gridspec(
            2,
            1,
            height_ratios=(events_in, lanes_in),
            left=0.095,
            right=0.988,
            top=1.0 - 0.3 / height,
            bottom=0.42 / height,
            hspace=0.42 / (0.5 * (events_in + lanes_in)),
        )
        lanes = figure.add_subplot(grid[1])
        top = figure.add_subplot(grid[0], sharex=lanes)
        _events(top, run.events, labelled, rows, (start_s, end_s))
        _lanes(lanes, run, sensors)
        lanes.set_xlim(start_s, end_s)
    return canvas


def _width_of(event: Event) -> float:
    """The label's part of the width: 1 % of it holds about 1.9 characters of this size."""
    return 0.012 + 0.0057 * len(_words(event))


def _rows_of(events: list[Event], start_s: float, end_s: float) -> list[int]:
    """Heights at which labels do not run into each other."""
    taken: list[float] = []
    rows = []
    for event in events:
        at = (event.stamp_sim_ns * 1e-9 - start_s) / (end_s - start_s)
        width = _width_of(event)
        begin = at if at + width <= 1.0 else 1.0 - width
        row = next((r for r, free_from in enumerate(taken) if begin >= free_from), len(taken))
        if row == len(taken):
            taken.append(0.0)
        taken[row] = max(begin, at) + width
        rows.append(row)
    return rows


def _words(event: Event) -> str:
    text = event.message or event.type.value.replace("_", " ")
    return text if len(text) <= 60 else text[:59] + "…"


def _events(
    axes: Axes,
    events: list[Event],
    labelled: list[Event],
    rows: list[int],
    reach_s: tuple[float, float],
) -> None:
    depth = max(rows, default=0) + 1
    axes.set_ylim(depth + 0.1, -0.1)
    for event in events[len(labelled) :]:
        at_s = event.stamp_sim_ns * 1e-9
        axes.plot([at_s], [0.1], "|", color=LIGHT[_SEVERITY[event.severity]], markersize=6)
    start_s, end_s = reach_s
    for event, row in zip(labelled, rows, strict=True):
        at_s = event.stamp_sim_ns * 1e-9
        colour = LIGHT[_SEVERITY[event.severity]]
        axes.plot([at_s, at_s], [row + 0.5, depth + 0.1], color=colour, linewidth=0.7, zorder=1)
        axes.plot([at_s], [row + 0.5], "o", color=colour, markersize=4.2, zorder=3, clip_on=False)
        words = _words(event)
        right = (at_s - start_s) / (end_s - start_s) + _width_of(event) > 1.0
        axes.annotate(
            words,
            (at_s, row + 0.5),
            xytext=(-6 if right else 6, 0),
            textcoords="offset points",
            ha="right" if right else "left",
            va="center",
            size=7.0,
            color=LIGHT["ink"],
            zorder=4,
            bbox={"facecolor": LIGHT["surface"], "edgecolor": "none", "pad": 0.8},
        )
    left_out = len(events) - len(labelled)
    more = f" (the first {len(labelled)} with words, {left_out} more as ticks)" if left_out else ""
    axes.set_title(f"Events{more}")
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    axes.tick_params(labelbottom=False, bottom=False)
    axes.spines["bottom"].set_visible(False)


def _lanes(axes: Axes, run: Gathered, sensors: list[SensorLog]) -> None:
    from matplotlib.patches import Patch

    seen: dict[str, Any] = {}
    for lane, log in enumerate(sensors):
        for span in log.spans:
            begin, width = span.start_ns * 1e-9, (span.end_ns - span.start_ns) * 1e-9
            if span.health is None:
                axes.barh(
                    lane, width, left=begin, height=0.5, color=LIGHT["surface"],
                    edgecolor=LIGHT["bad"], linewidth=0.8, hatch="////", zorder=3,
                )  # fmt: skip
                seen["silent"] = Patch(
                    facecolor=LIGHT["surface"], edgecolor=LIGHT["bad"], hatch="////"
                )
                continue
            role, word = _HEALTH[span.health]
            axes.barh(lane, width, left=begin, height=0.5, color=LIGHT[role], zorder=2)
            seen[word] = Patch(color=LIGHT[role])
        for begin, end, _ in fault_windows(run, log.sensor_id):
            axes.plot(
                [begin, end], [lane - 0.37] * 2, color=LIGHT["warn"], linewidth=2.4, zorder=4,
                solid_capstyle="butt",
            )  # fmt: skip
            seen[_WORDS[-1]] = Patch(color=LIGHT["warn"])
    axes.set_yticks(range(len(sensors)), [log.sensor_id for log in sensors])
    axes.tick_params(axis="y", labelcolor=LIGHT["ink"])
    axes.set_ylim(len(sensors) - 0.45, -0.7)
    axes.grid(visible=False, axis="y")
    axes.set_title("Health of each sensor")
    axes.set_xlabel("simulated time, s")
    if seen:
        words = [word for word in _WORDS if word in seen]
        axes.legend(
            [seen[word] for word in words], words, loc="lower right", bbox_to_anchor=(1.0, 1.0),
            ncols=6, borderaxespad=0.15, handlelength=1.2, handleheight=0.8, columnspacing=1.2,
        )  # fmt: skip


def rates(run: Gathered) -> Canvas | None:
    """Time between samples of each sensor, as small panels of one size."""
    sensors = [log for log in run.ordered() if len(log.interval.curve())]
    if not sensors:
        return None
    columns = min(3, len(sensors))
    lines = -(-len(sensors) // columns)
    height = 1.55 * lines + 0.5
    canvas = Canvas(_WIDTH_IN, height)
    with canvas as figure:
        grid = figure.add_gridspec(
            lines,
            columns,
            left=0.045,
            right=0.988,
            top=1.0 - 0.3 / height,
            bottom=0.42 / height,
            hspace=0.42,
            wspace=0.2,
        )
        for at, log in enumerate(sensors):
            axes = figure.add_subplot(grid[at // columns, at % columns])
            curve = log.interval.curve()
            scaled = type(curve)(
                curve.t_s, curve.low * 1e3, curve.mid * 1e3, curve.high * 1e3, curve.stride
            )
            band(axes, scaled, 0, LIGHT["z"], linewidth=0.9)
            rate = log.nominal_hz
            if rate:
                axes.axhline(1e3 / rate, color=LIGHT["ink"], linewidth=0.7, linestyle=(0, (4, 2)))
            measured = log.survey.rate_hz
            asked = f" of {rate:g}" if rate else ""
            shown = f"{measured:.4g}" if measured else "?"
            panel(
                axes, f"{log.sensor_id}: {shown}{asked} Hz", "ms", time=at + columns >= len(sensors)
            )
            top = float(np.nanmax(scaled.high)) if len(scaled) else 1.0
            axes.set_ylim(0.0, top * 1.25)
    return canvas


def pace(run: Gathered) -> Canvas | None:
    """Simulated seconds per second of the host, along the run."""
    curve = run.pace.curve()
    good = np.isfinite(curve.t_s)
    t_s, host_s = curve.t_s[good], curve.mid[good, 0]
    if len(t_s) < 8 or host_s[-1] <= 0.0:
        return None
    # Over pieces of about a fiftieth of the run, since single steps say nothing.
    step = max(1, len(t_s) // 60)
    t, h = t_s[::step], host_s[::step]
    passed = np.diff(h)
    factor = np.diff(t) / np.where(passed > 0.0, passed, np.nan)
    canvas = Canvas(_WIDTH_IN, 1.95)
    with canvas as figure:
        axes = figure.add_axes((0.045, 0.23, 0.943, 0.6))
        axes.stairs(factor, t, color=LIGHT["z"], linewidth=1.4, fill=False, baseline=None)
        mean = (t_s[-1] - t_s[0]) / (host_s[-1] - host_s[0])
        axes.axhline(mean, color=LIGHT["ink"], linewidth=0.8, linestyle=(0, (4, 2)))
        panel(axes, f"Real-time factor: {mean:.3g} on the whole", "×", time=True)
        axes.set_ylim(0.0, float(np.nanmax(factor)) * 1.15)
    return canvas
