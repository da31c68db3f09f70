"""`ghost rerun`: does the world do again what was recorded?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ghost.cli.exit_codes import EPILOG, ExitCode
from ghost.cli.params import see_current_folder

if TYPE_CHECKING:
    from ghost.runtime import RerunReport

__all__ = ["command"]

_MOST = 8


@click.command("rerun", short_help="Run a recording's scenario again and compare.", epilog=EPILOG)
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option(
    "--backend",
    metavar="NAME",
    help="Run it on this backend rather than the recorded one: a name, or package.module:Class.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@click.option("--quiet", is_flag=True, help="No progress bar and no table.")
@click.pass_context
def command(ctx: click.Context, file: str, backend: str | None, as_json: bool, quiet: bool) -> None:
    """Run the scenario inside FILE again, on its backend with its seed, and compare each message.

    Says that all is equal, to the last bit, or which message is the first that is not, field by
    field. An unfinished recording is compared as far as it goes. The exit code is 0 if all is
    equal, 1 if not.

    \b
    Examples:
      ghost rerun flight.mcap
      ghost rerun flight.mcap --json
      ghost rerun flight.mcap --backend my_driver:Backend
    """
    from ghost.cli.failures import complain
    from ghost.cli.interrupt import on_interrupt
    from ghost.cli.output import print_json, stdout_kept_clean
    from ghost.cli.progress import progress_observers
    from ghost.runtime import ScenarioRun, rerun

    if backend is not None:
        see_current_folder(backend)
    runs: list[ScenarioRun] = []

    def stop() -> None:
        for run in runs:
            run.stop()

    with stdout_kept_clean(as_json), on_interrupt(stop):
        report = rerun(
            file,
            backend=backend,
            observers=() if quiet else progress_observers(),
            on_run=runs.append,
        )
    if as_json:
        print_json(report.to_json())
    elif not quiet:
        _print(report)
    if as_json or quiet:
        for note in report.notes:
            complain(f"note: {note}")
    if report.difference is not None:
        found = report.difference
        complain(
            f"the run is not the recorded one: {found.topic} at {found.stamp_ns} ns {found.what}"
        )
    elif report.interrupted:
        complain(f"interrupted at {report.until_ns / 1e9:.3f} s of simulated time")
        ctx.exit(ExitCode.INTERRUPTED)
    elif not report.equal:
        complain("the run is not the recorded one")
    ctx.exit(ExitCode.OK if report.equal else ExitCode.FAILED)


def _print(report: RerunReport) -> None:
    from rich.markup import escape

    from ghost.cli.output import print_table, table

    title = f"[bold]{escape(report.scenario)}[/] on [bold]{escape(report.backend)}[/], run again"
    made = table("", "", title=title)
    made.show_header = False
    made.columns[0].no_wrap = True
    made.columns[0].style = "dim"
    made.add_row("verdict", "[green]equal[/]" if report.equal else "[red]different[/]")
    made.add_row("seed", str(report.seed))
    made.add_row("compared", f"{report.compared} messages, {report.until_ns / 1e9:.3f} s")
    made.add_row("recorded digest", report.recorded_digest or "(not in the file)")
    made.add_row("digest", report.digest or "(the run was not completed)")
    found = report.difference
    if found is not None:
        where = f"{escape(found.topic)} at {found.stamp_ns} ns {escape(found.what)}"
        made.add_row("first difference", where)
        for part in found.fields[:_MOST]:
            values = (
                f"{escape(part.path)}: recorded {escape(part.recorded)}, now {escape(part.new)}"
            )
            made.add_row("", values)
        if len(found.fields) > _MOST:
            made.add_row("", f"and {len(found.fields) - _MOST} more")
    for note in report.notes:
        made.add_row("note", f"[yellow]{escape(note)}[/]")
    print_table(made)
