"""`ghost info`: what is in a recording?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ghost.cli.exit_codes import EPILOG

if TYPE_CHECKING:
    from ghost.recording import LogInfo
    from ghost.report import Made, Survey, TopicSurvey

__all__ = ["command"]

_MAX_CHANGES = 12
_COLOURS = {"OK": "green", "DEGRADED": "yellow", "FAULTY": "red", "OFFLINE": "red"}


@click.command("info", short_help="Say what is in a recording.", epilog=EPILOG)
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def command(file: str, as_json: bool) -> None:
    """Say what is in FILE: topics, counts, rates, gaps, health, and how it was made.

    The whole file is read once, with memory that does not grow with it. A damaged or unfinished
    file is described as far as it is sound, with notes about the rest.

    \b
    Examples:
      ghost info flight.mcap
      ghost info flight.mcap --json
    """
    from ghost.cli.output import print_json
    from ghost.cli.recordings import opened, tell_notes
    from ghost.report import Made, survey

    with opened(file) as reader:
        found = survey(reader.messages())
        info = reader.info()
    made = Made.of(info)
    if as_json:
        print_json(_json(info, made, found))
        return
    _print(info, made, found)
    tell_notes(made.notes)


def _json(info: LogInfo, made: Made, found: Survey) -> dict[str, Any]:
    return {
        "file": info.path,
        "file_bytes": info.file_bytes,
        "finished": info.finished,
        "messages": found.count,
        "first_ns": found.first_ns,
        "last_ns": found.last_ns,
        "duration_ns": found.duration_ns,
        "made": made.to_json(),
        "topics": [found.topics[name].to_json() for name in sorted(found.topics)],
        "attachments": list(info.attachments),
        "notes": list(made.notes),
    }


def _print(info: LogInfo, made: Made, found: Survey) -> None:
    from rich.markup import escape

    from ghost.cli.output import print_table, table

    head = table("", "", title=f"[bold]{escape(info.path)}[/]")
    head.show_header = False
    head.columns[0].no_wrap = True
    head.columns[0].style = "dim"
    for label, value in _head(info, made, found):
        head.add_row(label, value)
    print_table(head)
    topics = table("topic", "type", "count", "rate", "largest gap", "at", "lost", "health")
    for column in (2, 3, 4, 5, 6):
        topics.columns[column].justify = "right"
        topics.columns[column].no_wrap = True
    for name in sorted(found.topics):
        topics.add_row(*_row(found.topics[name]))
    if found.topics:
        print_table(topics)
    changes = [
        (change.stamp_ns, topic.topic, change.before.name, change.after.name)
        for topic in found.topics.values()
        for change in topic.changes
    ]
    if changes:
        made_of = table("time", "topic", "health before", "after")
        made_of.columns[0].justify = "right"
        for stamp_ns, topic, before, after in sorted(changes)[:_MAX_CHANGES]:
            stamp = f"{stamp_ns / 1e9:.3f} s"
            made_of.add_row(stamp, escape(topic), _health(before), _health(after))
        print_table(made_of)
        if len(changes) > _MAX_CHANGES:
            click.echo(f"… and {len(changes) - _MAX_CHANGES} changes more; --json has all\n")


def _head(info: LogInfo, made: Made, found: Survey) -> Iterator[tuple[str, str]]:
    from rich.markup import escape

    from ghost.report.wording import bytes_text

    state = "[green]finished[/]" if info.finished else "[yellow]cut off, or still being written[/]"
    yield "file", f"{bytes_text(info.file_bytes)}, {state}"
    if found.first_ns is not None and found.last_ns is not None:
        first, last = found.first_ns / 1e9, found.last_ns / 1e9
        yield "time", f"{found.duration_ns / 1e9:.3f} s, from {first:.3f} s to {last:.3f} s"
    yield "messages", f"{found.count} on {len(found.topics)} topics"
    seed = "" if made.seed is None else str(made.seed)
    host = ", ".join(
        part
        for part in (
            f"Ghost {made.ghost}" if made.ghost else "",
            f"Python {made.python}" if made.python else "",
            made.platform,
        )
        if part
    )
    for label, value in (
        ("scenario", made.scenario),
        ("vehicle", made.vehicle),
        ("backend", made.backend),
        ("seed", seed),
        ("flown by", made.autopilot),
        ("outcome", made.outcome.replace("_", " ")),
        ("digest", made.digest),
        ("made on", host),
        ("libraries", ", ".join(f"{name} {v}" for name, v in made.packages.items())),
        ("written by", made.library),
        ("attachments", ", ".join(info.attachments)),
    ):
        if value:
            yield label, escape(value)
    if made.dropped:
        yield "dropped", f"[red]{made.dropped} messages were not recorded[/]"


def _row(topic: TopicSurvey) -> list[str]:
    from rich.markup import escape

    from ghost.report.wording import seconds

    rate, gap = topic.rate_hz, topic.gap
    unusual = rate is not None and gap is not None and gap.length_ns > 2.5e9 / rate
    length = seconds(gap.length_ns) if gap is not None else ""
    at = f"{gap.start_ns / 1e9:.3f} s" if gap is not None else ""
    health = ", ".join(f"{_health(h.name)} {count}" for h, count in sorted(topic.health.items()))
    if topic.restarts:
        health += f"{', ' if health else ''}[yellow]{topic.restarts} restarts[/]"
    return [
        f"[bold]{escape(topic.topic)}[/]",
        escape(topic.kind),
        str(topic.count),
        f"{rate:.4g} Hz" if rate is not None else "",
        f"[yellow]{length}[/]" if unusual and topic.health else length,
        at,
        f"[red]{topic.lost}[/]" if topic.lost else ("0" if topic.health else ""),
        health,
    ]


def _health(name: str) -> str:
    return f"[{_COLOURS.get(name, 'default')}]{name.lower()}[/]"
