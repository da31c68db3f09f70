"""`ghost replay`: play a recording through the loop of a live run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ghost.cli.exit_codes import EPILOG, ExitCode
from ghost.cli.params import MOMENT, RTF

if TYPE_CHECKING:
    from ghost.backends.replay import CompareReport, ReplayBackend
    from ghost.runtime import RunResult

__all__ = ["command"]


@click.command("replay", short_help="Play a recording and print what came of it.", epilog=EPILOG)
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option("--from", "start", type=MOMENT, metavar="TIME", help="Begin here: 2, 2s, 500ms.")
@click.option("--to", "end", type=MOMENT, metavar="TIME", help="Play up to and with this time.")
@click.option("--rtf", type=RTF, metavar="X", help="Hold the replay back to X times real time.")
@click.option(
    "--loop", type=click.IntRange(min=1), default=1, metavar="N", help="Play it N times over."
)
@click.option(
    "--topics",
    multiple=True,
    metavar="PATTERN",
    help="Play these topics only, such as '/sensors/imu*'; may be given several times.",
)
@click.option(
    "--compare",
    is_flag=True,
    help="Follow the flight plan again, and say how far its commands are from the recorded ones.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@click.option("--quiet", is_flag=True, help="No progress bar and no table.")
@click.pass_context
def command(
    ctx: click.Context,
    file: str,
    start: int | None,
    end: int | None,
    rtf: float | None,
    loop: int,
    topics: tuple[str, ...],
    compare: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Play FILE, a recording of 'ghost run --record FILE', and print what 'ghost run' prints.

    Every message is published again, in the recorded order; played from start to end, the digest is
    that of the run it came from. Times are those of the recording. The exit code says whether the
    file could be played, not how the recorded flight went.

    \b
    Examples:
      ghost replay flight.mcap
      ghost replay flight.mcap --json
      ghost replay flight.mcap --from 2s --to 10s --rtf 1
      ghost replay flight.mcap --topics '/sensors/imu*' --loop 3
      ghost replay flight.mcap --compare
    """
    from ghost.backends.replay import ReplayBackend
    from ghost.cli.failures import complain
    from ghost.cli.output import print_json, stdout_kept_clean
    from ghost.cli.summary import print_summary
    from ghost.runtime import Outcome

    if compare and topics:
        raise click.UsageError("--compare needs all topics: leave --topics out")
    with ReplayBackend(file, start_ns=start, end_ns=end, topics=topics, compare=compare) as world:
        with stdout_kept_clean(as_json):
            result = _play(world, rtf, loop, compare=compare, progress=not quiet)
        report = world.compare_report() if compare else None
        problem = _problem(world, result)
    if as_json:
        print_json(_json(result, report))
    elif not quiet:
        print_summary(result)
        if report is not None:
            _print_compare(report)
    if as_json or quiet:
        for note in result.notes:
            complain(f"note: {note}")
    if result.outcome is Outcome.INTERRUPTED:
        complain(f"interrupted after {result.sim_time_s:.3f} s of the recording")
        ctx.exit(ExitCode.INTERRUPTED)
    if problem:
        complain(problem)
    ctx.exit(ExitCode.OK)


def _play(
    world: ReplayBackend, rtf: float | None, loop: int, *, compare: bool, progress: bool
) -> RunResult:
    """Play `loop` times over; the account is that of the last pass."""
    from ghost.cli.interrupt import on_interrupt
    from ghost.cli.progress import progress_observers
    from ghost.runtime import Outcome, ReplayRun

    while True:
        observers = progress_observers() if progress else ()
        run = ReplayRun(world, compare=compare, rtf=rtf, observers=observers)
        with on_interrupt(run.stop):
            result = run.execute()
        loop -= 1
        if loop == 0 or result.outcome is not Outcome.COMPLETED:
            return result


def _problem(world: ReplayBackend, result: RunResult) -> str:
    """A whole recording must give the digest that its run printed; say so if it does not."""
    recorded = world.run.digest
    is_whole = not world.is_filtered and (world.start_ns, world.end_ns) == (
        world.run.start_ns,
        world.run.end_ns,
    )
    if not is_whole or recorded is None or recorded == result.digest:
        return ""
    dropped = world.run.result.get("dropped")
    why = f"; {dropped} messages were dropped while recording" if dropped else ""
    return f"note: the digest is not that of the recorded run, {recorded}{why}"


def _json(result: RunResult, report: CompareReport | None) -> dict[str, Any]:
    if report is None:
        return result.to_json()
    return {**result.to_json(), "compare": report.to_json()}


def _print_compare(report: CompareReport) -> None:
    from rich.markup import escape

    from ghost.cli.output import print_table, table

    click.echo(
        f"{report.sent} commands compared: {report.equal} equal, {report.other_level} of another "
        f"level, {report.unmatched} before the first recorded one"
    )
    made = table("field", "count", "largest difference", "RMS", "largest at")
    for name, part in report.fields.items():
        at = f"{part.max_at_ns / 1e9:.3f} s"
        largest, rms = f"{part.max_norm:.6g}", f"{part.rms_norm:.6g}"
        made.add_row(escape(name), str(part.count), largest, rms, at)
    if report.fields:
        print_table(made)
