"""`ghost export`: a recording as tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ghost.cli.exit_codes import EPILOG

if TYPE_CHECKING:
    from ghost.report import ImageForm, TableForm

__all__ = ["command"]


@click.command("export", short_help="Write a recording as CSV, Parquet or NPZ.", epilog=EPILOG)
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option(
    "--to",
    "form",
    type=click.Choice(["csv", "parquet", "npz"]),
    required=True,
    help='Format of the tables; parquet needs pip install "ghost-hal[export]".',
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where to; by default a folder beside FILE with its name.",
)
@click.option(
    "--topics",
    multiple=True,
    metavar="PATTERN",
    help="Only these topics, such as '/sensors/imu*'; may be given several times.",
)
@click.option(
    "--images",
    type=click.Choice(["npz", "png", "none"]),
    default="npz",
    show_default=True,
    help="Frames of a camera as one array, as a folder of PNG files, or not at all.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def command(
    file: str,
    form: TableForm,
    output: Path | None,
    topics: tuple[str, ...],
    images: ImageForm,
    as_json: bool,
) -> None:
    """Write one table for each topic of FILE, with one column for each number of its messages.

    Columns are the fields of the messages, and their names say the unit: `accel_mps2_x`,
    `pos_enu_m_z`. `stamp_sim_ns` comes first. Pixels and points are written beside the tables.

    \b
    Examples:
      ghost export flight.mcap --to csv
      ghost export flight.mcap --to parquet -o tables --topics '/sensors/*'
      ghost export flight.mcap --to csv --images png
    """
    from ghost.cli.failures import complain
    from ghost.cli.output import print_json, print_table, table
    from ghost.cli.recordings import beside, check_topics, opened, tell_notes
    from ghost.report import export

    folder = output if output is not None else beside(file, form)
    with opened(file) as reader:
        check_topics(topics, reader)
        done = export(reader.messages(topics or None), folder, form, images=images)
        notes = reader.notes
    if as_json:
        files = [
            {"topic": d.topic, "path": str(d.path), "rows": d.rows, "columns": d.columns}
            for d in done
        ]
        print_json({"folder": str(folder), "files": files, "notes": list(notes)})
        return
    made = table("topic", "file", "rows", "columns", title=f"[bold]{folder}[/]")
    made.columns[2].justify = made.columns[3].justify = "right"
    for item in sorted(done, key=lambda item: (item.topic, item.path)):
        made.add_row(item.topic, item.path.name, str(item.rows), str(item.columns or ""))
    if done:
        print_table(made)
    else:
        complain("note: there is no message to write")
    tell_notes(notes)
