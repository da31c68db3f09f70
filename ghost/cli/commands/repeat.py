"""`ghost repeat`: how far apart are runs that should be equal?"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ghost.cli.exit_codes import EPILOG, ExitCode
from ghost.cli.params import RUNS, TOLERANCE
from ghost.cli.running import flight_options, load_flight, open_backend, see_autopilot

if TYPE_CHECKING:
    from ghost.runtime import Repeater, RepeatReport

__all__ = ["command"]


@click.command(
    "repeat", short_help="Run a scenario many times and measure the spread.", epilog=EPILOG
)
@flight_options
@click.option(
    "-n", "--runs", type=RUNS, default=10, show_default=True, metavar="N", help="How many times."
)
@click.option("--reuse", is_flag=True, help="One backend, reset for each run, not a new one each.")
@click.option(
    "--tolerance",
    type=TOLERANCE,
    metavar="METRES",
    help="Exit with 1 if two runs were ever further apart than this.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to store the spread; repeat_SCENARIO.json in the current folder by default.",
)
@click.option("--no-store", is_flag=True, help="Store nothing.")
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    metavar="FILE.png",
    help='Draw the runs on top of each other; needs pip install "ghost-hal[plot]".',
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option("--quiet", is_flag=True, help="No progress bar and no tables.")
@click.pass_context
def command(
    ctx: click.Context,
    scenario: str,
    backend: str,
    seed: int | None,
    duration: int | None,
    overrides: tuple[str, ...],
    runs: int,
    reuse: bool,
    tolerance: float | None,
    output: Path | None,
    no_store: bool,
    plot: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run SCENARIO N times with one seed, and measure how far apart the runs are.

    Positions are compared at equal times since the start of each run, by ground truth, or by the
    autopilot's estimate where there is none. A run that fails is part of the account, and the next
    one follows. Ctrl-C ends it with the account of the runs that were made.

    The exit code is 0 if all runs came to their end, however far apart; 1 if one failed, or
    --tolerance was not kept; 3 if the backend was lost in every run.

    \b
    Examples:
      ghost repeat square
      ghost repeat hover -n 5 --duration 10s --tolerance 0.05
      ghost repeat square --backend gazebo --reuse --plot spread.png
      ghost repeat hover --backend my_driver:Backend --json --no-store
    """
    from ghost.cli.output import stdout_kept_clean

    spec, settings = load_flight(scenario, overrides, duration)
    see_autopilot(spec)
    store = _store(output, no_store, spec.name)
    if plot is not None:
        if store is not None and store.resolve() == plot.resolve():
            raise click.UsageError("--output and --plot are one file")
        _check_plot(plot)

    from ghost.cli.interrupt import on_interrupt
    from ghost.cli.series_progress import series_bar
    from ghost.runtime import Repeater

    bar = None if quiet else series_bar(spec.name, runs)
    repeater = Repeater(
        lambda: open_backend(backend, settings, spec),
        spec,
        runs=runs,
        backend_name=backend,
        seed=seed,
        reuse=reuse,
        observers=() if bar is None else (bar,),
        on_start=(lambda _: None) if bar is None else bar.begin,
    )
    show = _Show(store, plot, tolerance, as_json=as_json, quiet=quiet)
    try:
        with stdout_kept_clean(as_json), on_interrupt(repeater.stop):
            if bar is None:
                report = repeater.execute()
            else:
                with bar:
                    report = repeater.execute()
    except Exception:
        # What was measured before a bug showed itself is worth as much as before.
        if repeater.records:
            show(repeater.report())
        raise
    written = show(report)
    ctx.exit(_verdict(report, repeater, tolerance, written=written))


class _Show:
    """Prints, stores and draws an account."""

    def __init__(
        self,
        store: Path | None,
        plot: Path | None,
        tolerance: float | None,
        *,
        as_json: bool,
        quiet: bool,
    ) -> None:
        self._store = store
        self._plot = plot
        self._tolerance = tolerance
        self._as_json = as_json
        self._quiet = quiet

    def __call__(self, report: RepeatReport) -> bool:
        """Return whether all could be written."""
        from ghost.cli.failures import complain
        from ghost.cli.output import print_json

        if self._as_json:
            print_json(report.to_json(self._tolerance))
        elif not self._quiet:
            from ghost.cli.repeat_table import print_repeat

            print_repeat(report, self._tolerance)
        if self._as_json or self._quiet:
            for note in report.notes:
                complain(f"note: {note}")
        written = True
        whole = sum(record.whole for record in report.records)
        if not report.records or (report.interrupted and whole < 2):
            return written  # no spread yet, and a file from before is worth more
        if self._store is not None:
            text = json.dumps(report.to_file(self._tolerance), allow_nan=False) + "\n"
            written = self._write(self._store, text.encode())
        if self._plot is not None:
            from ghost.cli.repeat_figure import drawn

            written = self._write(self._plot, drawn(report)) and written
        return written

    def _write(self, path: Path, data: bytes) -> bool:
        from ghost.cli.failures import complain

        try:
            path.write_bytes(data)
        except OSError as error:
            complain(f"{path} could not be written: {error.strerror or error}")
            return False
        if not self._as_json and not self._quiet:
            click.echo(str(path))
        return True


def _store(output: Path | None, no_store: bool, name: str) -> Path | None:
    """Where the account goes; refuses what cannot be meant before anything is run."""
    if no_store:
        if output is not None:
            raise click.UsageError("--output and --no-store exclude each other")
        return None
    plain = re.sub(r"[^\w.-]+", "_", name).strip("_.") or "scenario"
    path = output if output is not None else Path(f"repeat_{plain}.json")
    _check_target(path, "--output", _is_account)
    return path


def _check_plot(path: Path) -> None:
    from ghost.report import need_drawing

    if path.suffix.lower() != ".png":
        raise click.UsageError(f"--plot draws a PNG: {path} should end in .png")
    need_drawing("ghost repeat --plot")
    _check_target(path, "--plot", _is_png)


def _check_target(path: Path, option: str, ours: Callable[[Path], bool]) -> None:
    """See that a file can be written, without a trace, and that one there is of the same kind."""
    from ghost.core import ConfigError

    if not path.name or path.is_dir():
        raise ConfigError(f"{path} is a folder; give the name of a file", key=option)
    if not path.parent.is_dir():
        raise ConfigError(f"the folder {path.parent} does not exist", key=option)
    try:
        if not path.exists():
            made = path.resolve()  # behind a link that leads to no file yet
            os.close(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
            made.unlink()
        elif path.is_file():  # a device or a pipe: opening it may do something, or wait
            if path.stat().st_size and not ours(path):
                raise ConfigError(
                    f"{path} exists and is something else; give another name", key=option
                )
            os.close(os.open(path, os.O_WRONLY))
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"{path} cannot be written: {reason}", key=option) from error


def _is_account(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(64).startswith(b'{"ghost_repeat"')


def _is_png(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(8) == b"\x89PNG\r\n\x1a\n"


def _verdict(
    report: RepeatReport, repeater: Repeater, tolerance: float | None, *, written: bool
) -> ExitCode:
    """Say in one line what went wrong, if anything did, and return the exit code."""
    from ghost.cli.failures import complain
    from ghost.cli.repeat_table import length

    made, failed = len(report.records), report.failed
    if report.interrupted:
        whole = sum(record.whole for record in report.records)
        complain(f"interrupted after {whole} of {repeater.runs} runs")
        return ExitCode.INTERRUPTED
    if report.all_lost:
        complain(f"backend lost in all {made} runs: {failed[-1].error}")
        return ExitCode.BACKEND_LOST
    code = ExitCode.OK if written else ExitCode.FAILED
    if failed:
        first = failed[0]
        complain(f"{len(failed)} of {made} runs failed; run {first.number}: {first.error}")
        code = ExitCode.FAILED
    if tolerance is not None and not report.within(tolerance):
        distance = report.max_distance_m
        if distance is None:
            complain(f"nothing could be compared with the tolerance of {length(tolerance)}")
        else:
            complain(f"runs were up to {length(distance)} apart, more than {length(tolerance)}")
        code = ExitCode.FAILED
    return code
