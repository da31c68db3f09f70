"""The `ghost` command: the group, its lazily loaded commands, the one place where errors end."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from ghost import __version__
from ghost.cli.exit_codes import EPILOG
from ghost.cli.stdout import watched_stdout

__all__ = ["GhostGroup", "cli", "main"]

_COMMANDS = (
    "run",
    "repeat",
    "replay",
    "rerun",
    "info",
    "plot",
    "diff",
    "export",
    "backends",
    "scenarios",
    "check",
    "conformance",
    "gz",
    "doctor",
)


class GhostGroup(click.Group):
    """Loads a command when it is named, and turns whatever goes wrong into a line and a code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"ghost.cli.commands.{cmd_name}").command
        return command

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Like click's, except that errors are `ghost: …` on stderr and the exit codes ours."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, False, **extra)
        given = sys.argv[1:] if args is None else list(args)
        debug = "--debug" in given
        try:
            with watched_stdout():
                code = super().main(given, prog_name or "ghost", complete_var, False, **extra)
        except SystemExit:
            raise
        except BaseException as error:  # noqa: BLE001 - this is the edge of the program
            # Imported here: `ghost --help` must not pay for the error tree.
            from ghost.cli.failures import report

            code = report(error, debug=debug)
        sys.exit(int(code or 0))


@click.group(
    "ghost",
    cls=GhostGroup,
    epilog=EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, "--version", prog_name="ghost")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:  # noqa: ARG001 - read from the arguments by main
    """One loop for every drone world.

    \b
    Try:
      ghost run square
      ghost backends
      ghost run --help
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> None:
    """Entry point of the `ghost` script."""
    cli.main()
