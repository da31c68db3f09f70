"""`ghost scenarios`: what ships with Ghost to be run."""

from __future__ import annotations

import click

from ghost.cli.exit_codes import EPILOG

__all__ = ["command"]


@click.command("scenarios", short_help="List the shipped scenarios and vehicles.", epilog=EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def command(as_json: bool) -> None:
    """List the scenarios and vehicles that ship with Ghost, and where their files are.

    Copy a file, change it, and give its path to 'ghost run'.

    \b
    Examples:
      ghost scenarios
      ghost scenarios --json
    """
    from rich.markup import escape

    from ghost.cli.output import print_json, print_table, table
    from ghost.config import list_scenarios, list_vehicles

    kinds = {"scenarios": list_scenarios(), "vehicles": list_vehicles()}
    if as_json:
        print_json(
            {
                kind: [
                    {"name": e.name, "description": e.description, "path": str(e.path)}
                    for e in entries
                ]
                for kind, entries in kinds.items()
            }
        )
        return
    for kind, entries in kinds.items():
        made = table(kind.removesuffix("s"), "description")
        for entry in entries:
            made.add_row(f"[bold]{escape(entry.name)}[/]", escape(entry.description))
        print_table(made)
        for folder in sorted({str(entry.path.parent) for entry in entries}):
            click.echo(f"Files: {folder}\n")
