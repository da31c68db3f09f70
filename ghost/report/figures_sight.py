"""What cameras and LiDAR saw: contact sheets and a view from above."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import numpy.typing as npt

from ghost.core import ScenarioSpec
from ghost.report.figures_flight import equal_scales, obstacle
from ghost.report.gather import Gathered, SensorLog
from ghost.report.needs import need
from ghost.report.pictures import Frame
from ghost.report.theme import LIGHT, Canvas, legend

__all__ = [
    "as_image",
    "contact_sheet",
    "encoded",
    "depth_limits",
    "depth_picture",
    "scale_colours",
    "top_view",
]

_WIDTH_IN = 11.0
_COLUMNS = 4
_SHAPE = (6.4 * 0.865) / (11.0 * 0.845)
"""Height by width of the view from above."""
_GROUND_M = 0.12
"""Points lower than this are ground, with the noise of the sensor."""


def depth_limits(frames: list[Frame]) -> tuple[float, float]:
    """One scale for all depth frames of a camera: from the nearest to the 98th percentile, m."""
    seen = [frame.pixels[np.isfinite(frame.pixels)] for frame in frames]
    values = np.concatenate(seen) if seen else np.empty(0)
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(np.percentile(values, 98.0))
    return low, max(high, low + 1e-3)


def depth_picture(depth_m: npt.NDArray[Any], low: float, high: float) -> npt.NDArray[np.uint8]:
    """Colour a depth image on a logarithmic scale: near is bright. Grey pixels saw nothing."""
    need("matplotlib", extra="plot", needed_for="ghost plot")
    from matplotlib import colormaps

    low = max(low, 1e-2)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.clip(np.log(depth_m / low) / np.log(max(high / low, 1.001)), 0.0, 1.0)
    colours = colormaps["viridis_r"](np.nan_to_num(scaled, nan=0.0))[..., :3]
    colours[~np.isfinite(depth_m)] = 0.5
    return np.asarray(np.rint(colours * 255.0), np.uint8)


def as_image(frame: Frame, limits: tuple[float, float] | None) -> npt.NDArray[np.uint8]:
    """Return a frame as colours; `limits` for depth."""
    if limits is None:
        return np.asarray(frame.pixels, np.uint8)
    return depth_picture(frame.pixels, *limits)


def encoded(pixels: npt.NDArray[np.uint8]) -> tuple[str, bytes]:
    """Return (media type, file): JPEG, which for a page of pictures is small enough."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=88)
    return "image/jpeg", out.getvalue()


def contact_sheet(log: SensorLog) -> Canvas | None:
    """All sampled frames of a camera with their times, as one picture."""
    frames = log.frames.items() if log.frames is not None else []
    if not frames:
        return None
    limits = depth_limits(frames) if frames[0].pixels.ndim == 2 else None
    rows = -(-len(frames) // _COLUMNS)
    shape = frames[0].pixels.shape
    cell_in = _WIDTH_IN / _COLUMNS
    height = rows * (cell_in * shape[0] / shape[1] + 0.26) + 0.45
    canvas = Canvas(_WIDTH_IN, height)
    with canvas as figure:
        grid = figure.add_gridspec(
            rows,
            _COLUMNS,
            left=0.01,
            right=0.99,
            top=1.0 - 0.5 / height,
            bottom=0.02,
            wspace=0.03,
            hspace=0.12,
        )
        what = "" if limits is None else f": bright {limits[0]:.2g} m, dark {limits[1]:.3g} m"
        figure.text(0.01, 1.0 - 0.2 / height, f"{log.sensor_id}{what}", weight="bold", size=8.5)
        for at, frame in enumerate(frames):
            axes = figure.add_subplot(grid[at // _COLUMNS, at % _COLUMNS])
            axes.imshow(as_image(frame, limits), aspect="equal", interpolation="nearest")
            axes.set_title(
                f"{frame.stamp_ns * 1e-9:.2f} s", size=7.0, weight="normal", pad=2.5,
                color=LIGHT["muted"],
            )  # fmt: skip
            axes.set_axis_off()
    return canvas


def _visible_colours() -> Any:
    """The middle of viridis, which neither a white page nor a black one swallows."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["viridis"](np.linspace(0.2, 0.95, 128)))


def top_view(log: SensorLog, run: Gathered, spec: ScenarioSpec | None) -> Canvas | None:
    """The sampled scans from above, in the world, coloured by height; and the path."""
    clouds = log.clouds.items() if log.clouds is not None else []
    if not clouds:
        return None
    points = np.concatenate([cloud.points_enu_m for cloud in clouds])
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return None
    canvas = Canvas(_WIDTH_IN, 6.4)
    with canvas as figure:
        axes = figure.add_axes((0.045, 0.075, 0.845, 0.865))
        if spec is not None:
            for box in spec.world.obstacles:
                obstacle(axes, box.pos_m, box.size_m, box.yaw_deg)
        ground = points[:, 2] < _GROUND_M
        axes.scatter(
            points[ground, 0],
            points[ground, 1],
            color=LIGHT["edge"],
            s=1.0,
            linewidths=0,
            rasterized=True,
            zorder=1,
        )
        above = points[~ground]
        drawn = axes.scatter(
            above[:, 0],
            above[:, 1],
            c=above[:, 2],
            s=5.0,
            cmap=_visible_colours(),
            vmin=_GROUND_M,
            vmax=max(float(above[:, 2].max(initial=0.0)), 2.0 * _GROUND_M),
            linewidths=0,
            rasterized=True,
            zorder=3,
        )
        path = run.position.curve()
        if len(path):
            axes.plot(
                path.mid[:, 0], path.mid[:, 1], color=LIGHT["x"], linewidth=1.6, zorder=4,
                label="flown",
            )  # fmt: skip
        origins = np.array([cloud.origin_enu_m for cloud in clouds])
        axes.plot(
            origins[:, 0], origins[:, 1], "o", color=LIGHT["surface"], label="scanned from",
            markeredgecolor=LIGHT["x"], markersize=4.5, markeredgewidth=1.2, zorder=5,
        )  # fmt: skip
        # What stands out of the ground and the path decide what is seen; else the ground does.
        shown = np.concatenate([above[:, :2] if len(above) > 20 else points[:, :2], origins[:, :2]])
        reach = np.percentile(shown, (0.5, 99.5), axis=0)
        equal_scales(axes, reach[0], reach[1], _SHAPE, room_m=0.5)
        axes.set_title(f"{log.sensor_id} from above: {len(clouds)} of {log.survey.count} scans")
        axes.set_xlabel("east, m")
        axes.set_ylabel("north, m")
        legend(axes)
        bar = figure.colorbar(drawn, cax=figure.add_axes((0.915, 0.075, 0.012, 0.865)))
        bar.set_label("height, m (grey: ground)", color=LIGHT["muted"])
        bar.outline.set_visible(False)
    return canvas


def scale_colours() -> list[str]:
    """Return the colours of the depth scale from near to far, for a gradient."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps["viridis_r"](step / 8.0)) for step in range(9)]
