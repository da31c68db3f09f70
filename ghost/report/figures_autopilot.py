"""Figures of an autopilot in the loop: what it believed, and what was said to it and by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ghost.hal import ActuatorLevel
from ghost.report.gather import Gathered
from ghost.report.mavlink import MavlinkLog, MessageRate
from ghost.report.series import Curve
from ghost.report.theme import AXES, LIGHT, Canvas, band, legend, panel
from ghost.report.wording import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["estimate", "mavlink"]

_WIDTH_IN = 11.0
_DASHES: Any = (0, (3.5, 2.2))
_ENU = ("east", "north", "up")
_ROW_IN = 0.185
_LETTER = 0.0058
"""A letter's part of the width of a figure, in the size of the lanes' names."""
_LEAST_SHADE, _SHADES = 0.16, 5
_MOST_ROWS = 60
"""Kinds of messages in one figure; the table below it has all."""


def estimate(run: Gathered) -> Canvas | None:
    """Set-point, estimate and truth of each axis, and below the errors of the estimate."""
    log = run.estimate
    if log is None or not len(log.position.curve()):
        return None
    errors = [
        (log.position_error, "Error of the position, estimate − truth", "m", _ENU, 0.02),
        (log.velocity_error, "Error of the velocity", "m/s", _ENU, 0.02),
        (log.attitude_error, "Error of the attitude, about body axes", "°", ("x", "y", "z"), 0.2),
    ]
    errors = [item for item in errors if len(item[0].curve())]
    count = 3 + len(errors)
    height = 1.52 * count + 0.5
    canvas = Canvas(_WIDTH_IN, height)
    with canvas as figure:
        grid = figure.add_gridspec(
            count,
            1,
            left=0.05,
            right=0.988,
            top=1.0 - 0.3 / height,
            bottom=0.42 / height,
            hspace=0.36,
        )
        axes = [figure.add_subplot(grid[0])]
        axes += [figure.add_subplot(grid[at], sharex=axes[0]) for at in range(1, count)]
        truth, believed, target = run.position.curve(), log.position.curve(), _targets(run)
        for at, name in enumerate(_ENU):
            if target is not None:
                axes[at].plot(
                    target.t_s,
                    target.mid[:, at],
                    color=LIGHT["target"],
                    linestyle=_DASHES,
                    linewidth=1.0,
                    zorder=4,
                    label="set-point",
                )
            if len(truth):
                # Under the estimate and wider, so that both are seen where they agree.
                band(axes[at], truth, at, LIGHT["good"], "truth", linewidth=2.6, zorder=2.5)
            band(axes[at], believed, at, LIGHT["ink"], "estimate", linewidth=1.0)
            title = f"Position {name}" if at < 2 else "Height above the world's origin"
            panel(axes[at], title, "m", time=at == count - 1, least=0.2)
        for at, (series, title, unit, labels, least) in enumerate(errors, start=3):
            curve = series.curve()
            axes[at].axhline(0.0, color=LIGHT["edge"], linewidth=0.8, zorder=1)
            for column, label in enumerate(labels):
                band(axes[at], curve, column, AXES[column], label)
            panel(axes[at], title, unit, time=at == count - 1, least=least)
        for item in axes:
            legend(item)
        axes[0].set_xlim(*_reach(truth, believed))
    return canvas


def _targets(run: Gathered) -> Curve | None:
    log = run.commands.get(ActuatorLevel.POSITION)
    curve = log.series.curve() if log is not None else None
    return curve if curve is not None and len(curve) else None


def _reach(*curves: Curve) -> tuple[float, float]:
    """The stretch of time that the curves take together."""
    stamps = np.concatenate([curve.t_s for curve in curves])
    first, last = float(np.nanmin(stamps)), float(np.nanmax(stamps))
    return first, max(last, first + 1e-3)


def mavlink(run: Gathered) -> Canvas | None:
    """One lane for each kind of message and direction: how often it came, along the run."""
    logs = [log for _, log in sorted(run.mavlink.items()) if log.rates and log.length_s > 0.0]
    if not logs:
        return None
    rows = {log.topic: log.ordered()[:_MOST_ROWS] for log in logs}
    heights = [_ROW_IN * len(rows[log.topic]) + 0.1 for log in logs]
    gap_in, top_in, bottom_in = 0.42, 0.34, 0.42
    height = sum(heights) + gap_in * (len(logs) - 1) + top_in + bottom_in
    canvas = Canvas(_WIDTH_IN, height)
    with canvas as figure:
        longest = max(len(rate.name) for own in rows.values() for rate in own)
        left = 0.012 + _LETTER * longest
        top = height - top_in
        first: Axes | None = None
        for log, own in zip(logs, heights, strict=True):
            place = (left, (top - own) / height, 0.925 - left, own / height)
            axes = figure.add_axes(place, sharex=first)
            _lanes(axes, log, rows[log.topic])
            axes.tick_params(labelbottom=log is logs[-1], bottom=log is logs[-1])
            first = first if first is not None else axes
            top -= own + gap_in
        axes.set_xlabel("simulated time, s")
        begins = [log.first_ns for log in logs if log.first_ns is not None]
        ends = [log.last_ns for log in logs if log.last_ns is not None]
        axes.set_xlim(min(begins) * 1e-9, max(ends) * 1e-9)
    return canvas


def _lanes(axes: Axes, log: MavlinkLog, rows: list[MessageRate]) -> None:
    from matplotlib.patches import Patch

    colours = {True: LIGHT["x"], False: LIGHT["z"]}
    for lane, rate in enumerate(rows):
        for begin, end, level in _shades(log.per_second(rate)):
            alpha = _LEAST_SHADE + (1.0 - _LEAST_SHADE) * level / _SHADES
            axes.barh(
                lane, end - begin, left=begin, height=0.7, color=colours[rate.sent], alpha=alpha,
                linewidth=0, zorder=2,
            )  # fmt: skip
        mean = number(log.mean_hz(rate), 3)
        axes.annotate(
            f"{mean} /s",
            (1.0, lane),
            xycoords=("axes fraction", "data"),
            xytext=(46, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            size=7.0,
            annotation_clip=False,
        )
    axes.set_yticks(range(len(rows)), [rate.name for rate in rows])
    axes.tick_params(axis="y", labelcolor=LIGHT["ink"], labelsize=6.8, pad=3.0)
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.grid(visible=False, axis="y")
    axes.set_title(f"{log.topic}: messages per second")
    sides = [
        Patch(color=colours[sent], label=label)
        for sent, label in ((True, "sent by Ghost"), (False, "received"))
        if any(rate.sent is sent for rate in rows)
    ]
    axes.legend(
        handles=sides, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.15,
        handlelength=1.2, handleheight=0.8, columnspacing=1.2,
    )  # fmt: skip


def _shades(bins: list[tuple[float, float, float]]) -> list[tuple[float, float, int]]:
    """Stretches of one shade: 0 to `_SHADES` for a rate up to the usual; none where none came."""
    came = [rate for _, _, rate in bins if rate > 0.0]
    if not came:
        return []
    usual = float(np.percentile(came, 75))
    out: list[tuple[float, float, int]] = []
    for begin, end, rate in bins:
        if rate <= 0.0:
            continue
        level = round(_SHADES * min(rate / usual, 1.0))
        if out and out[-1][1] == begin and out[-1][2] == level:
            out[-1] = (out[-1][0], end, level)
        else:
            out.append((begin, end, level))
    return out
