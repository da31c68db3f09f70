"""`ghost plot`: a recording as a report with pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ghost.cli.exit_codes import EPILOG

if TYPE_CHECKING:
    from ghost.recording import LogReader
    from ghost.report import Written

__all__ = ["command"]


@click.command("plot", short_help="Draw a recording: one HTML report and PNGs.", epilog=EPILOG)
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where to; by default a folder beside FILE with its name.",
)
@click.option("--open", "show", is_flag=True, help="Open the report in a browser.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(file: str, output: Path | None, show: bool, as_json: bool) -> None:
    """Draw FILE: `report.html`, which holds everything and needs no network, and PNGs beside it.

    Trajectory, motion, commands, an autopilot's estimate against truth and its MAVLink messages,
    every sensor against truth with what is left, events and health on the time line, rates and
    gaps, the pace of the run, frames of the cameras, and the LiDAR from above. Needs pip install
    "ghost-hal[plot]".

    \b
    Examples:
      ghost plot flight.mcap
      ghost plot flight.mcap -o report --open
    """
    from ghost.cli.output import print_json
    from ghost.cli.recordings import beside, opened, tell_notes

    folder = output if output is not None else beside(file, "report")
    with opened(file) as reader:
        written = _write(reader, folder)
    if as_json:
        print_json(
            {
                "html": str(written.html),
                "pngs": [str(path) for path in written.pngs],
                "notes": list(written.notes),
            }
        )
    else:
        click.echo(str(written.html))
        tell_notes(written.notes)
    if show:
        click.launch(str(written.html.resolve()))


def _write(reader: LogReader, folder: Path) -> Written:
    from ghost.cli.output import console
    from ghost.report import write_report

    err = console(stderr=True)
    if not err.is_terminal:
        return write_report(reader, folder)
    with err.status("reading") as status:
        return write_report(reader, folder, tell=status.update)
