"""`ghost conformance`: does a backend keep the contract?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ghost.cli.exit_codes import EPILOG, ExitCode
from ghost.cli.params import OVERRIDE, see_current_folder

if TYPE_CHECKING:
    from ghost.testing import Report, Subject

__all__ = ["command"]

_STATES = {
    "passed": "[green]passed[/]",
    "failed": "[red]FAILED[/]",
    "error": "[red]BROKE OFF[/]",
    "not_run": "[yellow]not run[/]",
}


@click.command(
    "conformance", short_help="Judge a backend with the conformance suite.", epilog=EPILOG
)
@click.option(
    "--backend",
    default="embedded",
    show_default=True,
    metavar="NAME",
    help="A name of 'ghost backends', or package.module:Class.",
)
@click.option("--scenario", metavar="SCENARIO", help="Instead of the suite's own scenario.")
@click.option(
    "--set",
    "overrides",
    type=OVERRIDE,
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a setting of the backend, or a key of the scenario; may be given several times.",
)
@click.option("--only", multiple=True, metavar="CHECK", help="Run this check; may be repeated.")
@click.option("--list", "list_only", is_flag=True, help="List the checks and run none.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@click.pass_context
def command(
    ctx: click.Context,
    backend: str,
    scenario: str | None,
    overrides: tuple[str, ...],
    only: tuple[str, ...],
    list_only: bool,
    as_json: bool,
) -> None:
    """Run the conformance suite on a backend: each check proves one contract of the HAL.

    Says of every check whether it passed, failed, broke off with an error, or was not run and why.
    The exit code is 1 if any failed or broke off.

    \b
    Examples:
      ghost conformance
      ghost conformance --list
      ghost conformance --backend my_driver:Backend
      ghost conformance --backend pybullet --only reset_is_deterministic
    """
    from ghost.cli.output import print_json, stdout_kept_clean

    if list_only:
        _print_checks(as_json)
        return
    see_current_folder(backend)
    with stdout_kept_clean(True):
        report = _judge(_subject(backend, scenario, overrides), only)
    if as_json:
        results = [asdict(result) for result in report.results]
        print_json({"backend": backend, "ok": report.ok, "checks": results})
    else:
        _print_report(backend, report)
    ctx.exit(ExitCode.OK if report.ok else ExitCode.FAILED)


def _subject(backend: str, scenario: str | None, overrides: tuple[str, ...]) -> Subject:
    from ghost.config import load_scenario
    from ghost.runtime import backend_path, make_backend, split_settings
    from ghost.testing import Subject, default_scenario

    changes, settings = split_settings(overrides)
    if changes and scenario is None:
        raise click.UsageError(
            f"--set {changes[0]} changes a scenario, and the suite's own takes no change: "
            "give --scenario, too"
        )
    spec = default_scenario() if scenario is None else load_scenario(scenario, changes)
    # A backend that cannot be made is bad input, once; not a failure of every check.
    make_backend(backend, settings).shutdown()
    # Another process makes a backend by its name alone, so not one with settings.
    path = None if settings else backend_path(backend)
    return Subject(lambda: make_backend(backend, settings), spec, import_path=path)


def _judge(subject: Subject, only: tuple[str, ...]) -> Report:
    from ghost.cli.output import console
    from ghost.testing import ALL_CHECKS, run_conformance

    wanted = only or None
    err = console(stderr=True)
    if not err.is_terminal:
        return run_conformance(subject, only=wanted)
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    total = len(only) if only else len(ALL_CHECKS)
    columns = (
        TextColumn("[bold]conformance"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("[dim]{task.fields[last]}"),
    )
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task("", total=total, last="")
        return run_conformance(
            subject,
            only=wanted,
            on_result=lambda result: progress.update(task, advance=1, last=result.name),
        )


def _print_report(backend: str, report: Report) -> None:
    from rich.markup import escape

    from ghost.cli.output import console, print_table, table

    title = f"[bold]conformance of {escape(backend)}[/]"
    made = table("check", "contract", "result", "seconds", "why", title=title)
    made.columns[3].justify = "right"
    for result in report.results:
        why = result.prose if result.status == "not_run" else ""
        state = _STATES[result.status]
        made.add_row(result.name, result.contract, state, f"{result.seconds:.2f}", escape(why))
    print_table(made)
    out = console()
    for result in report.results:
        if result.status in ("failed", "error"):
            out.print(f"[bold red]{result.name}[/]: {escape(result.prose)}\n")
    counts = {name: len(report.with_status(name)) for name in ("passed", "failed", "error")}
    skipped = len(report.with_status("not_run"))
    out.print(
        f"{counts['passed']} passed, {counts['failed']} failed, {counts['error']} broke off, "
        f"{skipped} not run"
    )


def _print_checks(as_json: bool) -> None:
    from rich.markup import escape

    from ghost.cli.output import print_json, print_table, table
    from ghost.testing import ALL_CHECKS

    if as_json:
        checks = [
            {
                "name": check.name,
                "contract": check.contract,
                "spec": check.spec,
                "asks": check.asks,
                "needs": list(check.needs),
            }
            for check in ALL_CHECKS
        ]
        print_json({"checks": checks})
        return
    made = table("check", "contract", "asks", "needs")
    for check in ALL_CHECKS:
        made.add_row(check.name, check.contract, escape(check.asks), ", ".join(check.needs))
    print_table(made)
