"""The tables that several runs end with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import shorten
from typing import TYPE_CHECKING

from rich.markup import escape

from ghost.cli.output import print_table, table
from ghost.runtime import Outcome, Peak, RepeatReport, RunRecord

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["length", "print_repeat"]

_OUTCOMES = {
    Outcome.COMPLETED.value: "completed",
    Outcome.INTERRUPTED.value: "[yellow]interrupted[/]",
    Outcome.REFUSED.value: "[red]every command refused[/]",
    Outcome.BACKEND_LOST.value: "[red]backend lost[/]",
}
_SOURCES = {"truth": "ground truth", "estimate": "the autopilot's estimate"}
_UNITS = ((1.0, 1.0, "m"), (1e-3, 1e3, "mm"), (1e-6, 1e6, "µm"), (1e-9, 1e9, "nm"))
_DIGITS = 10
_WIDTH = 240
"""Of what went wrong with a run, in characters; the stored file has all of it."""


def print_repeat(report: RepeatReport, tolerance_m: float | None) -> None:
    """Print each run, and how far apart they are, on stdout."""
    print_table(_runs(report))
    made = table("", "")
    made.show_header = False
    made.columns[0].no_wrap = True
    made.columns[0].style = "dim"
    for label, value in _spread(report, tolerance_m):
        made.add_row(label, value)
    print_table(made)


def length(metres: float) -> str:
    """A length in the unit in which it reads well; 0 is exactly 0."""
    if metres == 0.0:
        return "0"
    for least, scale, unit in _UNITS:
        if abs(metres) >= least:
            return f"{metres * scale:.4g} {unit}"
    return f"{metres:.3g} m"


def _runs(report: RepeatReport) -> Table:
    title = (
        f"[bold]{escape(report.scenario)}[/] on [bold]{escape(report.backend)}[/], "
        f"{len(report.records)} runs with seed {report.seed}"
    )
    lockstep = any(_lockstep(record) for record in report.records)
    columns = ["run", "outcome", "simulated", "set-up + run", "real time", "final position, m ENU"]
    columns += ["lockstep"] if lockstep else []
    made = table(*columns, "digest", title=title)
    for record in report.records:
        cells = _run(record, report.source)
        if lockstep:
            cells.append(_counts(_lockstep(record)))
        result = record.result
        digest = "–" if result is None else result.digest[:_DIGITS]
        made.add_row(*cells, digest if record.whole else f"[dim]{digest}[/]")
    return made


def _run(record: RunRecord, source: str) -> list[str]:
    outcome = _OUTCOMES.get(record.outcome, "[red]not begun[/]")
    if record.error and record.outcome == Outcome.COMPLETED.value:
        outcome += ", [red]the flight went wrong[/]"
    result = record.result
    if result is None:
        return [str(record.number), outcome, "–", "–", "–", "–"]
    final = record.final_pos_enu_m(source)
    return [
        str(record.number),
        outcome,
        f"{result.sim_time_s:.3f} s",
        f"{record.setup_s:.2f} + {result.wall_time_s:.2f} s",
        f"{result.real_time_factor:.1f}×",
        "–" if final is None else "(" + ", ".join(f"{x:z.4f}" for x in final) + ")",
    ]


def _lockstep(record: RunRecord) -> Mapping[str, int]:
    return (record.result.lockstep if record.result is not None else None) or {}


def _counts(counts: Mapping[str, int]) -> str:
    text = ", ".join(f"{count} {name}" for name, count in counts.items())
    bad = counts.get("late", 0) + counts.get("missing", 0)
    return f"[yellow]{text}[/]" if bad else text


def _spread(report: RepeatReport, tolerance_m: float | None) -> list[tuple[str, str]]:
    rows = [
        (f"run {record.number}", escape(shorten(record.error, _WIDTH, placeholder=" …")))
        for record in report.records
        if record.error
    ]
    rows += [("backend", "one, reset for each run" if report.reused else "a new one for each run")]
    rows.append(("digests", _digests(report)))
    if report.source:
        rows.append(("compared", f"{len(report.compared)} runs by {_SOURCES[report.source]}"))
    final = report.final
    if final is not None:
        std = ", ".join(length(value) for value in final.std_m)
        mean = ", ".join(f"{value:z.4f}" for value in final.mean_m)
        between = _between([report.ended[at].number for at in final.pair], final.max_distance_m)
        rows.append(("final position", f"mean ({mean}) m ENU, σ ({std}) by axis"))
        apart = f"{length(final.max_distance_m)} at most between two runs{between}"
        rows.append(("", apart if final.max_distance_m else "[green]exactly the same[/]"))
    rows += _peak(report, "trajectory", report.spread.position, length)
    rows += _peak(report, "attitude", report.spread.attitude, _angle)
    if tolerance_m is not None:
        within = report.within(tolerance_m)
        text = "[green]kept[/]" if within else "[red]not kept[/]"
        rows.append(("tolerance", f"{length(tolerance_m)}, {text}"))
    rows += [("note", f"[yellow]{escape(note)}[/]") for note in report.notes]
    return rows


def _digests(report: RepeatReport) -> str:
    found = report.digests
    compared = sum(len(runs) for runs in found.values())
    if compared < 2:
        return f"{compared} of a whole run: nothing to compare"
    if len(found) == 1:
        return f"[green]all {compared} are equal[/]: {next(iter(found))}"
    return f"[yellow]{len(found)} different ones[/] of {compared}"


def _peak(
    report: RepeatReport, label: str, peak: Peak | None, form: Callable[[float], str]
) -> list[tuple[str, str]]:
    if peak is None:
        return []
    if peak.greatest == 0.0:
        return [(label, "[green]exactly the same throughout[/]")]
    between = _between([report.compared[at].number for at in peak.pair], peak.greatest)
    return [
        (
            label,
            f"{form(peak.greatest)} at most between two runs, at {peak.at_s:.3f} s{between}; "
            f"{form(peak.rms)} RMS over time",
        )
    ]


def _angle(degrees: float) -> str:
    return f"{degrees:.3g}°"


def _between(numbers: list[int], distance: float) -> str:
    """Which two; where all are equal, no two are farther apart than others."""
    return f" ({numbers[0]} and {numbers[1]})" if distance else ""
