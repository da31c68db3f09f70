"""Figures of the flight: where it went, how it moved, what it was told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ghost.core import ScenarioSpec
from ghost.hal import ActuatorLevel
from ghost.report.gather import Gathered
from ghost.report.series import Curve, Series
from ghost.report.theme import AXES, LIGHT, Canvas, band, legend, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["control", "equal_scales", "motion", "obstacle", "trajectory"]

_WIDTH_IN = 11.0
_PLAN_SHAPE = 0.82
"""Height by width of the plan view."""
_ENU = ("east", "north", "up")


def trajectory(run: Gathered, spec: ScenarioSpec | None) -> Canvas | None:
    """The path in 3D and from above, with the set-points; the estimated one without a truth."""
    path, word = run.position.curve(), "flown"
    if not len(path) and run.estimate is not None:
        path, word = run.estimate.position.curve(), "estimated"
    target = _targets(run)
    if not len(path) and target is None:
        return None
    canvas = Canvas(_WIDTH_IN, 5.1)
    with canvas as figure:
        grid = figure.add_gridspec(
            1, 2, width_ratios=(1.06, 1.0), left=0.0, right=0.975, top=0.9, bottom=0.11, wspace=0.1
        )
        space = figure.add_subplot(grid[0], projection="3d")
        plan = figure.add_subplot(grid[1])
        lines: list[tuple[Curve, str, Any, float, str]] = [(path, LIGHT["z"], "-", 1.6, word)]
        if target is not None:
            lines.insert(0, (target, LIGHT["target"], (0, (3.5, 2.2)), 1.2, "set-point"))
        for curve, colour, style, width, label in lines:
            e, n, u = curve.mid.T if len(curve) else np.empty((3, 0))
            draw: dict[str, Any] = {"color": colour, "linestyle": style, "linewidth": width}
            space.plot(e, n, u, label=label, **draw)
            plan.plot(e, n, label=label, **draw)
        _space(space, path if len(path) else target)
        _plan(plan, path, spec)
        figure.text(0.03, 0.95, "Trajectory", weight="bold", size=8.5)
        figure.text(0.03, 0.915, "world ENU, m; the shadow lies at z = 0", color=LIGHT["muted"])
    return canvas


def _targets(run: Gathered) -> Curve | None:
    log = run.commands.get(ActuatorLevel.POSITION)
    curve = log.series.curve() if log is not None else None
    return curve if curve is not None and len(curve) else None


def _space(axes: Any, path: Curve | None) -> None:
    """A 3D panel with equal scales and quiet walls."""
    if path is None or not len(path):
        return
    good = path.mid[np.isfinite(path.mid).all(axis=1)]
    if not len(good):
        return
    low, high = good.min(axis=0), good.max(axis=0)
    low[2], high[2] = min(low[2], 0.0), max(high[2], 0.5)
    span = np.maximum(high - low, 0.34 * float((high - low).max()))
    span = np.maximum(span, 0.5)
    middle = (low + high) / 2.0
    middle[2] = low[2] + span[2] / 2.0
    for at, set_limits in enumerate((axes.set_xlim, axes.set_ylim, axes.set_zlim)):
        room = 0.04 * span[at] if at < 2 else 0.0
        set_limits(middle[at] - span[at] / 2 - room, middle[at] + span[at] / 2 + room)
    axes.plot(*path.mid[:, :2].T, zs=0.0, color=LIGHT["edge"], linewidth=1.0, zorder=1)
    # A tall box reaches into the title above it and out of the picture below.
    axes.set_box_aspect(span, zoom=1.08 if span[2] < span[:2].max() else 0.9)
    axes.view_init(elev=24.0, azim=-58.0)
    for axis, label in ((axes.xaxis, "east"), (axes.yaxis, "north"), (axes.zaxis, "up")):
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis._axinfo["grid"].update(color=LIGHT["grid"], linewidth=0.7)
        axis.line.set_color(LIGHT["edge"])
        axis.set_label_text(label)
    for at, axis in enumerate((axes.xaxis, axes.yaxis, axes.zaxis)):
        axis.set_major_locator(_few(5 if span[at] > 0.6 * span.max() else 2))
    for name in "xyz":
        axes.tick_params(axis=name, pad=0.5)
    axes.zaxis.labelpad = 7.0


def _few(most: int) -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(most, steps=[1, 2, 2.5, 5, 10])


def _plan(axes: Axes, path: Curve, spec: ScenarioSpec | None) -> None:
    """The view from above, with obstacles, start and end."""
    if spec is not None:
        for box in spec.world.obstacles:
            obstacle(axes, box.pos_m, box.size_m, box.yaw_deg)
    good = path.mid[np.isfinite(path.mid).all(axis=1)] if len(path) else path.mid
    if len(good):
        for row, marker, size, name in (
            (good[0], "o", 9.0, "start"),
            (good[-1], "s", 5.0, "end"),
        ):
            axes.plot(
                [row[0]],
                [row[1]],
                marker,
                color=LIGHT["surface"],
                markeredgecolor=LIGHT["ink"],
                markersize=size,
                markeredgewidth=1.3,
                label=name,
                zorder=6,
                linestyle="none",
            )
    low, high = _extent(axes, good)
    equal_scales(axes, low, high, _PLAN_SHAPE, room_m=0.1)
    axes.set_title("Plan view")
    axes.set_xlabel("east, m")
    axes.set_ylabel("north, m")
    axes.xaxis.set_major_locator(_few(7))
    axes.yaxis.set_major_locator(_few(7))
    legend(axes)


def _extent(axes: Axes, path: Any) -> tuple[Any, Any]:
    """The corners of everything a plan shows."""
    box = axes.dataLim
    corners = [(box.x0, box.y0), (box.x1, box.y1)] if np.isfinite(box.bounds).all() else []
    points = np.array([*corners, *path[:, :2]]) if len(path) or corners else np.zeros((1, 2))
    return points.min(axis=0), points.max(axis=0)


def equal_scales(axes: Axes, low: Any, high: Any, shape: float, *, room_m: float) -> None:
    """Show the rectangle from `low` to `high` (m) in a panel of height / width `shape`."""
    x, y = (np.asarray(low) + np.asarray(high)) / 2.0
    width, height = (np.asarray(high) - np.asarray(low)) * 1.15 + 2.0 * room_m
    height = max(height, width * shape, 1.0)
    axes.set_xlim(x - height / shape / 2.0, x + height / shape / 2.0)
    axes.set_ylim(y - height / 2.0, y + height / 2.0)
    axes.set_aspect("equal", adjustable="box")


def obstacle(axes: Axes, pos: Any, size: Any, yaw_deg: float) -> None:
    """Draw the footprint of a box of the world."""
    from matplotlib.patches import Rectangle

    axes.add_patch(
        Rectangle(
            (pos[0] - size[0] / 2.0, pos[1] - size[1] / 2.0),
            size[0],
            size[1],
            angle=yaw_deg,
            rotation_point="center",
            facecolor=LIGHT["grid"],
            edgecolor=LIGHT["edge"],
            linewidth=0.8,
            zorder=1,
        )
    )


def motion(run: Gathered) -> Canvas | None:
    """Height, position, attitude, velocity and body rates over time."""
    if not len(run.position.curve()):
        return None
    panels = 5 + bool(len(run.setpoint_error.curve()))
    canvas = Canvas(_WIDTH_IN, 1.52 * panels + 0.5)
    with canvas as figure:
        axes = _column(figure, panels)
        position, target = run.position.curve(), _targets(run)
        _with_target(axes[0], position, target, ((2, LIGHT["z"], "up"),))
        panel(axes[0], "Height above the world's origin", "m", least=0.2)
        _with_target(axes[1], position, target, ((0, AXES[0], "east"), (1, AXES[1], "north")))
        panel(axes[1], "Horizontal position", "m", least=0.2)
        rest = [
            (run.velocity.curve(), "Velocity, world ENU", "m/s", _ENU, 0.1),
            (run.attitude.curve(), "Attitude", "°", ("roll", "pitch", "yaw"), 1.0),
            (run.rate.curve(), "Body rates, FLU", "°/s", ("x", "y", "z"), 1.0),
        ]
        log = run.commands.get(ActuatorLevel.VELOCITY)
        for at, (curve, title, unit, labels, least) in enumerate(rest, start=2):
            for column, label in enumerate(labels):
                band(axes[at], curve, column, AXES[column], label)
            if at == 2 and log is not None:
                _dashes(axes[at], log.series.curve(), (0, 1, 2))
            panel(axes[at], title, unit, time=at == panels - 1, least=least)
        if panels == 6:
            band(axes[5], run.setpoint_error.curve(), 0, LIGHT["target"])
            panel(axes[5], "Distance from the set-point", "m", time=True)
            axes[5].set_ylim(bottom=0.0)
        for item in axes:
            legend(item)
    return canvas


def _column(figure: Any, count: int) -> list[Any]:
    """Panels one below the other that share their time axis."""
    height = figure.get_size_inches()[1]
    grid = figure.add_gridspec(
        count,
        1,
        left=0.045,
        right=0.988,
        top=1.0 - 0.3 / height,
        bottom=0.42 / height,
        hspace=0.36,
    )
    axes = [figure.add_subplot(grid[0])]
    axes += [figure.add_subplot(grid[at], sharex=axes[0]) for at in range(1, count)]
    return axes


def _with_target(axes: Axes, curve: Curve, target: Curve | None, columns: Any) -> None:
    for column, colour, label in columns:
        band(axes, curve, column, colour, label)
    if target is not None:
        _dashes(axes, target, [column for column, _, _ in columns])


def _dashes(axes: Axes, curve: Curve, columns: Any) -> None:
    for at, column in enumerate(columns):
        axes.plot(
            curve.t_s,
            curve.mid[:, column],
            color=LIGHT["target"],
            linestyle=(0, (3.5, 2.2)),
            linewidth=1.0,
            zorder=4,
            label="set-point" if at == 0 else None,
        )


def control(run: Gathered) -> Canvas | None:
    """Commands of each level, and the motors."""
    logs = list(run.commands.values())
    motors = run.motors
    panels: list[tuple[str, str, Series, tuple[str, ...]]] = []
    for log in logs:
        name = log.level.name.lower().replace("_", " ")
        panels.append((f"Commanded {name}", log.unit, log.series, log.labels))
        if log.level is not ActuatorLevel.MOTOR:
            title = f"Commanded {log.extra_label}"
            panels.append((title, log.extra_unit, log.extra, (log.extra_label,)))
    if motors is not None:
        labels = tuple(f"motor {n}" for n in range(1, motors.width + 1))
        panels.append(("Rotor speeds", "rad/s", motors, labels))
    panels = [item for item in panels if len(item[2].curve())]
    if not panels:
        return None
    canvas = Canvas(_WIDTH_IN, 1.6 * len(panels) + 0.6)
    with canvas as figure:
        axes = _column(figure, len(panels))
        for at, (title, unit, series, labels) in enumerate(panels):
            curve = series.curve()
            for column, label in enumerate(labels):
                colour = AXES[column % 4] if len(labels) > 1 else LIGHT["target"]
                style = "-" if column < 4 else "--"
                band(axes[at], curve, column, colour, label, linestyle=style)
            panel(axes[at], title, unit, time=at == len(panels) - 1)
            low = float(np.fmin.reduce(curve.low, axis=None))
            high = float(np.fmax.reduce(curve.high, axis=None))
            if high - low < 1e-6 * max(1.0, abs(high)):
                # A constant: no panel full of rounding errors.
                room = max(1.0, 0.1 * abs(low))
                axes[at].set_ylim(low - room, low + room)
            legend(axes[at])
    return canvas
