"""The report of a recording: one HTML page and the same figures as PNGs (`ghost plot`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ghost import __version__
from ghost.core import ConfigError
from ghost.recording import LogReader
from ghost.report import (
    figures_autopilot,
    figures_flight,
    figures_sensors,
    figures_sight,
    figures_time,
)
from ghost.report.gather import Gathered, MeasureLog, SensorLog, gather
from ghost.report.made import Made
from ghost.report.mavlink import MavlinkLog
from ghost.report.needs import need
from ghost.report.page import Section, card, data_uri, page, table, text
from ghost.report.series import Moments, Series
from ghost.report.summary import header
from ghost.report.theme import Canvas
from ghost.report.wording import bytes_text, number, seconds

__all__ = ["Written", "write_report"]

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Written:
    """What `write_report` left on the disk."""

    html: Path
    pngs: tuple[Path, ...]
    notes: tuple[str, ...]


def write_report(reader: LogReader, folder: Path, *, tell: Progress = lambda _: None) -> Written:
    """Read a recording once and write `report.html` and the PNGs into `folder`.

    `tell` hears in a few words what is being done. Raises `MissingDependency` without matplotlib
    and `ConfigError` if the folder cannot be written.
    """
    need("matplotlib", extra="plot", needed_for="ghost plot")
    tell("reading")
    run = gather(reader.messages(), Made.of(reader.info()).spec)
    # Once more: what is damaged is known only now.
    made = Made.of(reader.info())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        book = _Book(folder, tell)
        sections = [section for section in _sections(book, run, made) if section[3]]
        title = made.scenario or Path(made.path).name
        markup = page(f"{title} – Ghost", header(made, run), sections, _foot(made))
        target = folder / "report.html"
        target.write_text(markup, encoding="utf-8")
    except OSError as error:
        where = str(error.filename or folder)
        reason = error.strerror or str(error)
        raise ConfigError(f"cannot be written: {reason}", file=where) from error
    return Written(target, tuple(book.pngs), made.notes)


class _Book:
    """Puts each figure into the page and beside it."""

    def __init__(self, folder: Path, tell: Progress) -> None:
        self._folder = folder
        self._tell = tell
        self.pngs: list[Path] = []

    def png(self, canvas: Canvas | None, name: str) -> None:
        """Write a PNG alone."""
        if canvas is None:
            return
        self._tell(name.replace("_", " "))
        path = self._folder / f"{name}.png"
        path.write_bytes(canvas.png())
        self.pngs.append(path)

    def add(self, canvas: Canvas | None, name: str, alt: str) -> str:
        """Return the figure as markup; empty if there is none."""
        if canvas is None:
            return ""
        self.png(canvas, name)
        return canvas.svg(name, alt)


def _sections(book: _Book, run: Gathered, made: Made) -> Iterator[Section]:
    flight = _card(book.add(figures_flight.trajectory(run, made.spec), "trajectory", "Trajectory"))
    flight += _card(book.add(figures_flight.motion(run), "motion", "Motion over time"))
    yield "flight", "Flight", "Ground truth, and the commanded set-points as dashes.", flight
    yield (
        "autopilot",
        "Autopilot",
        "Set-points against what the autopilot believed, against the truth; below, what was said "
        "to it and by it. A lane that pales is slower there, one with a hole is silent.",
        _autopilot(book, run),
    )
    yield (
        "events",
        "Events and health",
        "What happened, and how each sensor was. A lane with a hole was silent there.",
        _card(book.add(figures_time.timeline(run), "timeline", "Events and health")) + _events(run),
    )
    yield (
        "control",
        "Control",
        _answers(run),
        _card(book.add(figures_flight.control(run), "control", "Commands and motors")),
    )
    yield (
        "sensors",
        "Sensors against truth",
        "Each sample is compared with the truth at its capture. Where a curve has a pale band, it "
        "is the mean of a bucket and the band its extremes, so no spike is lost.",
        "".join(_sensor(book, run, log) for log in run.ordered()),
    )
    yield "sight", "Cameras and LiDAR", "", _sight(book, run, made)
    yield (
        "rates",
        "Rates, gaps and pace",
        "Time between samples; the dashes are the rate that was asked for.",
        _card(book.add(figures_time.rates(run), "rates", "Time between samples"))
        + _topics(run)
        + _card(book.add(figures_time.pace(run), "pace", "Real-time factor")),
    )


def _card(figure: str) -> str:
    return card(figure) if figure else ""


def _autopilot(book: _Book, run: Gathered) -> str:
    figure = book.add(figures_autopilot.estimate(run), "estimate", "Set-point, estimate and truth")
    log = run.estimate
    if figure and log is not None:
        rows = [
            *_error_rows("position", "m", ("east", "north", "up"), log.position_error),
            *_error_rows("position", "m", ("distance",), log.distance),
            *_error_rows("velocity", "m/s", ("east", "north", "up"), log.velocity_error),
            *_error_rows("attitude", "°", ("x", "y", "z"), log.attitude_error),
        ]
        columns = ("estimate − truth", "bias", "σ", "RMS", "least", "greatest", "invalid")
        figure += table(columns, rows, small=True) if rows else ""
    parts = [card(figure, title="Estimate", small=f"{log.count} estimates")] if log else []
    parts.append(_card(book.add(figures_autopilot.mavlink(run), "mavlink", "MAVLink messages")))
    parts += [_messages(link) for _, link in sorted(run.mavlink.items())]
    return "".join(parts)


def _error_rows(
    key: str, unit: str, labels: tuple[str, ...], series: Series
) -> Iterator[tuple[str, ...]]:
    for column, label in enumerate(labels):
        yield from _statistic(f"{key} {label}", unit, series.moments, column, 3)


def _messages(link: MavlinkLog) -> str:
    """The messages of one connection as a table."""
    rows = [
        (
            text(rate.name),
            str(rate.number),
            "sent" if rate.sent else "received",
            str(rate.count),
            number(link.mean_hz(rate)),
        )
        for rate in link.ordered()
    ]
    if not rows:
        return ""
    small = f"{bytes_text(link.bytes_sent)} sent, {bytes_text(link.bytes_received)} received"
    columns = ("message", "id", "direction", "count", "per second")
    return card(table(columns, rows, left=(0, 2), small=True), title=link.topic, small=small)


def _answers(run: Gathered) -> str:
    total = run.accepted + run.refused.total()
    if not total:
        return "No command was answered."
    refused = ", ".join(f"{count} {reason}" for reason, count in run.refused.most_common())
    return f"{run.accepted} of {total} commands were accepted" + (
        f"; refused: {text(refused)}." if refused else "."
    )


def _sensor(book: _Book, run: Gathered, log: SensorLog) -> str:
    windows = figures_sensors.fault_windows(run, log.sensor_id)
    figure = book.add(
        figures_sensors.sensor_figure(log, windows), f"sensor_{log.sensor_id}", log.sensor_id
    )
    if not figure:
        return ""
    parts = [f"{log.survey.count} samples"]
    rate = log.survey.rate_hz
    if rate:
        parts.append(f"{rate:.4g} Hz")
    if log.survey.lost:
        parts.append(f"{log.survey.lost} lost")
    delay = log.latency.moments
    if delay.count[0] and abs(delay.mean[0]) > 1e-6:
        parts.append(f"published {delay.mean[0] * 1e3:.3g} ms after capture")
    rows = [row for item in log.measures for row in _statistics(item)]
    stats = ""
    if rows:
        columns = ("measured − truth", "bias", "σ", "RMS", "least", "greatest", "invalid")
        stats = table(columns, rows, small=True)
    what = f"{log.kind}: {', '.join(parts)}"
    return card(figure + stats, title=log.sensor_id, small=what, anchor=f"sensor-{log.sensor_id}")


def _statistics(item: MeasureLog) -> Iterator[tuple[str, ...]]:
    if item.residual is None:
        return
    moments, measure = item.residual.moments, item.measure
    for column, label in enumerate(measure.labels):
        name = measure.key if label == measure.key else f"{measure.key} {label}"
        yield from _statistic(name, measure.unit, moments, column, measure.digits)


def _statistic(
    name: str, unit: str, moments: Moments, column: int, digits: int
) -> Iterator[tuple[str, ...]]:
    """One row about a difference, if there was any."""
    invalid = int(moments.invalid[column])
    if moments.count[column] + invalid:
        figures = (moments.mean, moments.sigma, moments.rms, moments.low, moments.high)
        shown = [text(f"{number(float(v[column]), digits)} {unit}") for v in figures]
        yield text(name), *shown, _off(invalid)


def _off(count: int) -> str:
    return f'<span class="off">{count}</span>' if count else "0"


def _sight(book: _Book, run: Gathered, made: Made) -> str:
    parts = []
    for log in run.ordered():
        if log.frames is not None and log.frames.items():
            parts.append(_sheet(log))
            book.png(figures_sight.contact_sheet(log), f"contact_sheet_{log.sensor_id}")
        if log.clouds is not None:
            view = figures_sight.top_view(log, run, made.spec)
            parts.append(_card(book.add(view, f"top_view_{log.sensor_id}", "Scans from above")))
    return "".join(parts)


def _sheet(log: SensorLog) -> str:
    assert log.frames is not None
    frames = log.frames.items()
    limits = figures_sight.depth_limits(frames) if frames[0].pixels.ndim == 2 else None
    cells = []
    for frame in frames:
        uri = data_uri(*figures_sight.encoded(figures_sight.as_image(frame, limits)))
        stamp = f"{frame.stamp_ns * 1e-9:.2f} s"
        cells.append(
            f'<figure><img src="{uri}" alt="{text(log.sensor_id)} at {stamp}" loading="lazy">'
            f"<figcaption>{stamp}</figcaption></figure>"
        )
    scale = ""
    if limits is not None:
        stops = ",".join(figures_sight.scale_colours())
        scale = (
            f'<div class="scale">{limits[0]:.2g} m<i style="background:linear-gradient(90deg,'
            f'{stops})"></i>{limits[1]:.3g} m, logarithmic; grey: nothing in range</div>'
        )
    small = f"{len(frames)} of {log.survey.count} frames, evenly spread"
    grid = f'<div class="sheet">{"".join(cells)}</div>'
    return card(grid + scale, title=log.sensor_id, small=small)


def _events(run: Gathered) -> str:
    if not run.events:
        return ""
    rows = [
        (
            f"{event.stamp_sim_ns * 1e-9:.3f}",
            text(event.severity.name.lower()),
            text(event.type.value.replace("_", " ")),
            text(event.source),
            text(event.message),
        )
        for event in run.events[:60]
    ]
    more = run.event_counts.total() - len(rows)
    small = f"the first {len(rows)}, {more} more are in the file" if more else ""
    columns = ("time, s", "severity", "type", "source", "message")
    return card(table(columns, rows, left=(1, 2, 3, 4)), title="Events", small=small)


def _topics(run: Gathered) -> str:
    rows = []
    nominal = {log.topic: log.nominal_hz for log in run.sensors.values()}
    for topic in sorted(run.survey.topics):
        found = run.survey.topics[topic]
        gap = found.gap
        at = f" at {gap.start_ns * 1e-9:.3f} s" if gap is not None else ""
        health = ", ".join(f"{count} {h.name.lower()}" for h, count in sorted(found.health.items()))
        asked = nominal.get(topic)
        rows.append(
            (
                f"<code>{text(topic)}</code>",
                text(found.kind),
                str(found.count),
                number(found.rate_hz),
                number(asked) if asked is not None else "",
                (seconds(gap.length_ns) if gap is not None else "–") + at,
                _off(found.lost) if found.health else "",
                text(health),
            )
        )
    columns = ("topic", "type", "count", "Hz", "asked, Hz", "largest gap", "lost", "health")
    return card(table(columns, rows, left=(0, 1, 7)), title="Topics")


def _foot(made: Made) -> str:
    size = math.ceil(made.file_bytes / 1e6)
    return (
        f"Made by Ghost {text(__version__)} from <code>{text(Path(made.path).name)}</code> "
        f"({size} MB). World frame east, north, up; body frame forward, left, up. All times are "
        "simulated time unless they say otherwise."
    )
