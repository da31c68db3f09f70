"""How the figures look: one palette, in light and dark, that colour-blind people can read.

Series colours are those of M. Okabe and K. Ito, "Color Universal Design" (2008). A figure is drawn
once, in light colours; each colour has one role, and in the SVG it becomes a CSS variable of the
page, so that the same picture fits a dark page.
"""

from __future__ import annotations

import contextlib
import html
import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from ghost.report.needs import need
from ghost.report.series import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "AXES",
    "DARK",
    "LIGHT",
    "Canvas",
    "band",
    "heading",
    "legend",
    "panel",
    "theme_css",
]

LIGHT: Mapping[str, str] = {
    "ink": "#1d242d",
    "muted": "#5c6773",
    "edge": "#b9c2cd",
    "grid": "#e4e8ee",
    "surface": "#fefeff",
    "x": "#d55e00",
    "y": "#009e73",
    "z": "#0072b2",
    "w": "#a3588a",
    "target": "#8352a8",
    "good": "#5aa9d6",
    "warn": "#e69f00",
    "bad": "#c4372b",
    "shade": "#f4e3bd",
}
DARK: Mapping[str, str] = {
    "ink": "#e8ecf1",
    "muted": "#9aa5b1",
    "edge": "#4a5561",
    "grid": "#2a323b",
    "surface": "#171c22",
    "x": "#f5883d",
    "y": "#2cc79b",
    "z": "#55aef0",
    "w": "#e39ac8",
    "target": "#b891dd",
    "good": "#4b9bcb",
    "warn": "#f0b93c",
    "bad": "#f0685c",
    "shade": "#4a3d1c",
}
AXES: tuple[str, ...] = (LIGHT["x"], LIGHT["y"], LIGHT["z"], LIGHT["w"])
"""Colours of x, y, z and a fourth (of east, north, up; of motors 1 to 4)."""

_DPI = 150
_FONT = "DejaVu Sans"
_RC: Mapping[str, Any] = {
    "font.family": [_FONT],
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8.0,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlepad": 7.0,
    "axes.edgecolor": LIGHT["edge"],
    "axes.labelcolor": LIGHT["muted"],
    "axes.titlecolor": LIGHT["ink"],
    "axes.facecolor": "none",
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 5),
    "axes.unicode_minus": True,
    "axes.xmargin": 0.0,
    "figure.facecolor": LIGHT["surface"],
    "grid.color": LIGHT["grid"],
    "grid.linewidth": 0.7,
    "xtick.color": LIGHT["edge"],
    "ytick.color": LIGHT["edge"],
    "xtick.labelcolor": LIGHT["muted"],
    "ytick.labelcolor": LIGHT["muted"],
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.size": 3.0,
    "ytick.major.size": 0.0,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.labelcolor": LIGHT["ink"],
    "lines.linewidth": 1.15,
    "lines.solid_capstyle": "round",
    "text.color": LIGHT["ink"],
    "path.simplify": True,
    "path.simplify_threshold": 0.4,
    "svg.fonttype": "none",
    "svg.hashsalt": "ghost",
}


class Canvas:
    """One figure: `with Canvas(width_in, height_in) as figure: …`, then `svg()` and `png()`."""

    def __init__(self, width_in: float, height_in: float) -> None:
        need("matplotlib", extra="plot", needed_for="ghost plot")
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self._stack = contextlib.ExitStack()
        with _style():
            self.figure = Figure(figsize=(width_in, height_in), dpi=_DPI)
            FigureCanvasAgg(self.figure)

    def __enter__(self) -> Figure:
        self._stack.enter_context(_style())
        return self.figure

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def svg(self, name: str, alt: str) -> str:
        """Return the figure as an SVG element whose colours are the page's.

        `name` goes before every id in it, so that several may stand in one page.
        """
        out = io.StringIO()
        with self:
            self.figure.savefig(out, format="svg", metadata={"Date": None}, transparent=True)
        text = out.getvalue()
        text = text[text.index("<svg") :]
        text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
        for role, colour in LIGHT.items():
            text = re.sub(rf"(?<=[:\s\"]){colour}", f"var(--{role})", text, flags=re.IGNORECASE)
        # The page's own font is narrower than the one the layout was made with.
        text = re.sub(rf"((?:bold )?[\d.]+px) '?{_FONT}'?[^;\"]*", r"\1 var(--font)", text)
        text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", text)
        text = text.replace("<svg ", f'<svg role="img" aria-label="{html.escape(alt)}" ', 1)
        text = re.sub(r' (?:width|height)="[\d.]+pt"', "", text, count=2)
        return text.strip()

    def png(self) -> bytes:
        """Return the figure as a PNG file in light colours."""
        out = io.BytesIO()
        with self:
            self.figure.savefig(out, format="png", metadata={"Software": "ghost"})
        return out.getvalue()


def _style() -> contextlib.AbstractContextManager[None]:
    """Our settings for as long as it lasts; those of whoever else draws come back after it."""
    import matplotlib

    return matplotlib.rc_context(cast("Any", dict(_RC)))


def theme_css() -> str:
    """Return the palette as CSS variables, for light pages and for dark ones."""
    light = "".join(f"--{role}:{colour};" for role, colour in LIGHT.items())
    dark = "".join(f"--{role}:{colour};" for role, colour in DARK.items())
    return f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def panel(axes: Axes, title: str, unit: str, *, time: bool = False, least: float = 0.0) -> None:
    """Give a panel its title (with the unit) and, at the bottom of a column, the time axis.

    The value axis spans at least `least`, so that rounding errors do not fill a panel.
    """
    heading(axes, title, unit)
    axes.margins(y=0.08)
    low, high = axes.get_ylim()
    if high - low < least:
        middle = (low + high) / 2.0
        axes.set_ylim(middle - least / 2.0, middle + least / 2.0)
    if time:
        axes.set_xlabel("simulated time, s")
    else:
        axes.tick_params(labelbottom=False)


def heading(axes: Axes, title: str, unit: str) -> None:
    """Write the title with the unit above a panel; beside the axis it would cost width."""
    axes.set_title(f"{title}, {unit}" if unit else title)


def band(
    axes: Axes,
    curve: Curve,
    column: int,
    colour: str,
    label: str | None = None,
    **style: Any,
) -> None:
    """Draw one column of a curve: the mean, and behind it the extremes of each bucket."""
    style.setdefault("zorder", 3)
    if curve.stride > 1:
        axes.fill_between(
            curve.t_s,
            curve.low[:, column],
            curve.high[:, column],
            color=colour,
            alpha=0.22,
            linewidth=0,
            zorder=style["zorder"] - 0.5,
        )
    axes.plot(curve.t_s, curve.mid[:, column], color=colour, label=label, **style)


def legend(axes: Axes, *, columns: int = 8) -> None:
    """Put the legend above the panel at the right, where it hides nothing."""
    handles, labels = axes.get_legend_handles_labels()
    if len(handles) < 2:
        return
    made = axes.legend(
        handles,
        labels,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=columns,
        borderaxespad=0.15,
        handlelength=1.7,
        columnspacing=1.2,
        handletextpad=0.5,
    )
    from matplotlib.lines import Line2D

    for handle in made.legend_handles:
        # A colour is easier to tell in a thick line; dashes would run together.
        if isinstance(handle, Line2D) and handle.get_linestyle() == "-":
            handle.set_linewidth(2.0)
