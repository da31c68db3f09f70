"""`ghost backends`: which worlds there are, and what this machine lacks for them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ghost.cli.exit_codes import EPILOG

if TYPE_CHECKING:
    from ghost.runtime import BackendState

__all__ = ["command"]


@click.command("backends", short_help="List the backends and what they need.", epilog=EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def command(as_json: bool) -> None:
    """List the backends, whether they work here, and what to install if they do not.

    The last row is the autopilot that flies them in scenarios with `autopilot`.

    Each one is tried, so this takes as long as importing them.

    \b
    Examples:
      ghost backends
      ghost backends --json
    """
    from rich.markup import escape

    from ghost.cli.output import print_json, print_table, stdout_kept_clean, table
    from ghost.runtime import autopilot_state, backend_table

    with stdout_kept_clean(True):
        states = backend_table()
        autopilot = autopilot_state()
    if as_json:
        backends = [asdict(state) for state in states]
        print_json({"backends": backends, "autopilots": [asdict(autopilot)]})
        return
    made = table("backend", "state", "what it is", "commands", "to do")
    for state in states:
        made.add_row(
            f"[bold]{state.name}[/]",
            "[green]ready[/]" if state.available else "[yellow]not available[/]",
            escape(_what(state)),
            ", ".join(state.levels),
            escape(state.fix),
        )
        for feature in state.features:
            made.add_row(
                f"  {feature.name}",
                "[green]ready[/]" if feature.available else "[yellow]not available[/]",
                escape(feature.detail),
                "",
                escape(feature.fix),
            )
    made.add_row(
        f"[bold]{autopilot.name}[/]",
        "[green]ready[/]" if autopilot.available else "[yellow]not available[/]",
        escape(f"PX4, in scenarios with an autopilot; {autopilot.detail}"),
        "",
        escape(autopilot.fix),
    )
    print_table(made)


def _what(state: BackendState) -> str:
    parts = [state.description]
    if state.deterministic:
        parts.append("deterministic")
    if state.ground_truth:
        parts.append("ground truth")
    if state.detail:
        parts.append(state.detail)
    return "; ".join(parts)
