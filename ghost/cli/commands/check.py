"""`ghost check`: is a file sound?"""

from __future__ import annotations

import click

from ghost.cli.exit_codes import EPILOG, ExitCode

__all__ = ["command"]


@click.command("check", short_help="Check scenario and vehicle files.", epilog=EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...], as_json: bool) -> None:
    """Check scenario and vehicle files, or shipped ones by name, without running anything.

    Every problem of every file is a line on stderr that says where it is and what was expected. The
    exit code is 2 if there was any.

    \b
    Examples:
      ghost check my_scenario.yaml
      ghost check hover
      ghost check configs/scenarios/*.yaml configs/vehicles/*.yaml
    """
    from ghost.cli.failures import complain
    from ghost.cli.output import print_json
    from ghost.config import check_file, problems_of
    from ghost.core.errors import ConfigError

    reports: list[dict[str, object]] = []
    for file in files:
        try:
            checked = check_file(file)
        except ConfigError as error:
            problems = list(problems_of(error))
            reports.append({"file": file, "ok": False, "kind": None, "problems": problems})
            if not as_json:
                for problem in problems:
                    complain(problem)
        else:
            reports.append({"file": file, "ok": True, "kind": checked.kind, "problems": []})
            if not as_json:
                click.echo(f"{file}: ok, {checked.kind} {checked.spec.name!r}")
    ok = all(report["ok"] for report in reports)
    if as_json:
        print_json({"ok": ok, "files": reports})
    ctx.exit(ExitCode.OK if ok else ExitCode.BAD_INPUT)
