"""The table that a run ends with."""

from __future__ import annotations

from collections.abc import Mapping

from rich.markup import escape

from ghost.cli.output import print_table, table
from ghost.runtime import Outcome, RunResult

__all__ = ["print_summary"]

_OUTCOMES = {
    Outcome.COMPLETED: "completed",
    Outcome.INTERRUPTED: "[yellow]interrupted[/]",
    Outcome.REFUSED: "[red]every command refused[/]",
    Outcome.BACKEND_LOST: "[red]backend lost[/]",
}


def print_summary(result: RunResult) -> None:
    """Print what came of a run on stdout."""
    title = f"[bold]{escape(result.scenario)}[/] on [bold]{escape(result.backend)}[/]"
    made = table("", "", title=title)
    made.show_header = False
    made.columns[0].no_wrap = True
    made.columns[0].style = "dim"
    for label, value in _rows(result):
        made.add_row(label, value)
    print_table(made)


def _rows(result: RunResult) -> list[tuple[str, str]]:
    outcome = _OUTCOMES[result.outcome]
    if result.failed:
        outcome += ", [red]the flight went wrong[/]"
    rows = [
        ("outcome", outcome),
        ("seed", str(result.seed)),
        ("simulated time", f"{result.sim_time_s:.3f} s in {result.steps} steps"),
        ("wall time", f"{result.wall_time_s:.3f} s, {result.real_time_factor:.1f}× real time"),
        ("flight plan", _plan(result)),
        ("flown by", result.autopilot),
        ("commands", f"{result.commands} sent, {result.command_rejects} refused"),
    ]
    position = result.final_pos_enu_m
    if position is not None:
        text = ", ".join(f"{value:.3f}" for value in position)
        rows.append(("final position", f"({text}) m ENU"))
    if result.max_tilt_deg is not None:
        rows.append(("largest tilt", f"{result.max_tilt_deg:.1f}°"))
    if result.tracking_rmse_m is not None:
        rows.append(("tracking error", f"{result.tracking_rmse_m:.3f} m RMS to the set-point"))
    if result.lockstep is not None:
        rows.append(("lockstep", _lockstep(result.lockstep)))
    rows.append(("samples", _counts(result.samples) or "no sensors"))
    rows.append(("events", _counts(result.events) or "none"))
    rows.append(("digest", result.digest))
    rows += [("note", f"[yellow]{escape(note)}[/]") for note in result.notes]
    return rows


def _plan(result: RunResult) -> str:
    if not result.plan_items:
        return "none"
    text = f"{result.plan_done} of {result.plan_items} items done"
    if result.plan_timeouts:
        text += f", [red]timed out: {escape(', '.join(result.plan_timeouts))}[/]"
    return text


def _lockstep(counts: Mapping[str, int]) -> str:
    text = ", ".join(f"{count} {name}" for name, count in counts.items())
    bad = counts.get("late", 0) + counts.get("missing", 0)
    return f"[yellow]{text}[/]" if bad else text


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
