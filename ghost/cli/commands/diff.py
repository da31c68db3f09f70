"""`ghost diff`: do two recordings say the same?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ghost.cli.exit_codes import EPILOG, ExitCode

if TYPE_CHECKING:
    from ghost.report import Difference, LogDiff, Made

__all__ = ["command"]

_MAX_FIELDS = 6


@click.command("diff", short_help="Compare two recordings.", epilog=EPILOG)
@click.argument("a", type=click.Path(), metavar="A")
@click.argument("b", type=click.Path(), metavar="B")
@click.option(
    "--topics",
    multiple=True,
    metavar="PATTERN",
    help="Compare these topics only, such as '/sensors/*'; may be given several times.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@click.pass_context
def command(ctx: click.Context, a: str, b: str, topics: tuple[str, ...], as_json: bool) -> None:
    """Compare the messages of A and B: the first difference, and how far apart they are.

    Every field counts to the last bit, but for `stamp_wall_ns`, the host's clock. Messages of one
    stamp may stand in another order. The exit code is 0 if both say the same and 1 if not, as of
    diff(1).

    \b
    Examples:
      ghost diff before.mcap after.mcap
      ghost diff before.mcap after.mcap --topics /ground_truth --topics '/sensors/imu*'
    """
    from ghost.cli.output import print_json
    from ghost.cli.recordings import check_topics, opened, tell_notes
    from ghost.report import Made, diff

    wanted = topics or None
    with opened(a) as reader_a, opened(b) as reader_b:
        check_topics(topics, reader_a, reader_b)
        found = diff(reader_a.messages(wanted), reader_b.messages(wanted))
        made_a, made_b = Made.of(reader_a.info()), Made.of(reader_b.info())
    notes = tuple(f"{made.path}: {note}" for made in (made_a, made_b) for note in made.notes)
    how = _how_made(made_a, made_b)
    if as_json:
        made = {name: {"a": x, "b": y} for name, (x, y) in how.items()}
        print_json({"a": a, "b": b, **found.to_json(), "made": made, "notes": list(notes)})
    else:
        _print(found, how)
        tell_notes(notes)
    ctx.exit(ExitCode.OK if found.same else ExitCode.FAILED)


def _how_made(a: Made, b: Made) -> dict[str, tuple[object, object]]:
    """What the recordings say differently of themselves."""
    one, other = a.to_json(), b.to_json()
    return {
        name: (one[name], other[name])
        for name in ("scenario", "vehicle", "backend", "seed", "digest", "outcome", "ghost")
        if one[name] != other[name]
    }


def _print(found: LogDiff, how: dict[str, tuple[object, object]]) -> None:
    from rich.markup import escape

    from ghost.cli.output import console, print_table, table

    if how:
        made = table("made with", "A", "B")
        for name, (x, y) in how.items():
            made.add_row(name, *(escape("–" if v is None else str(v)) for v in (x, y)))
        print_table(made)
    if found.first is not None:
        _print_first(found.first)
    topics = table("topic", "A", "B", "differ", "field", "in", "RMS", "largest")
    for column in (1, 2, 3, 5, 6, 7):
        topics.columns[column].justify = "right"
    for name in sorted(found.topics):
        topic = found.topics[name]
        if topic.equal:
            state, colour = "0", "green"
        else:
            missing = topic.count_a + topic.count_b - 2 * topic.matched
            state = str(topic.differing) + (f" + {missing} alone" if missing else "")
            colour = "red"
        first = [f"[bold]{escape(name)}[/]", str(topic.count_a), str(topic.count_b)]
        first.append(f"[{colour}]{state}[/]")
        fields = list(topic.fields.items())
        for path, part in fields[:_MAX_FIELDS]:
            rms = f"{part.rms(topic.matched):.4g}" if part.numeric else "–"
            largest = f"{part.largest:.4g}" if part.numeric else "–"
            topics.add_row(*first, escape(path), str(part.differing), rms, largest)
            first = ["", "", "", ""]
        if not fields:
            topics.add_row(*first)
        if len(fields) > _MAX_FIELDS:
            topics.add_row("", "", "", "", f"… and {len(fields) - _MAX_FIELDS} more; --json", "")
    print_table(topics)
    if found.same:
        order = f", {found.reordered} stamps in another order" if found.reordered else ""
        console().print(f"[green]The recordings are equal{order}.[/]")


def _print_first(first: Difference) -> None:
    from rich.markup import escape

    from ghost.cli.output import console

    where = f"{escape(first.topic)}, message {first.index}, at {first.stamp_ns / 1e9:.9f} s"
    out = console()
    out.print(f"[bold red]First difference[/]: {where}", soft_wrap=True)
    out.print(f"  field  {escape(first.field) or '(the whole message)'}", soft_wrap=True)
    out.print(f"  A      {escape(first.a)}", soft_wrap=True)
    out.print(f"  B      {escape(first.b)}\n", soft_wrap=True)
