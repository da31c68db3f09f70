"""Errors, told to people: one line on stderr and an exit code."""

from __future__ import annotations

import contextlib
import traceback

import click

from ghost.cli.exit_codes import ExitCode
from ghost.cli.stdout import StdoutLost
from ghost.core.errors import (
    BackendLost,
    ConfigError,
    ContractViolation,
    GhostError,
    MissingDependency,
)

__all__ = ["Explained", "complain", "report"]


class Explained(GhostError):
    """Bad input that takes more than a line to set right: a screen of text."""


def complain(message: str) -> None:
    """Print `ghost: message` on stderr, as one line."""
    # Where stderr takes nothing there is nobody to tell; the exit code still says it.
    with contextlib.suppress(OSError):
        click.echo(f"ghost: {' '.join(message.split())}", err=True)


def report(error: BaseException, *, debug: bool) -> ExitCode:
    """Print what `error` means and return its exit code. `debug` adds the traceback."""
    if isinstance(error, StdoutLost) and error.is_closed_pipe:
        return ExitCode.PIPE_CLOSED
    if debug and not isinstance(error, (click.Abort, KeyboardInterrupt)):
        click.echo("".join(traceback.format_exception(error)).rstrip(), err=True)
    match error:
        case Explained():
            with contextlib.suppress(OSError):
                click.echo(str(error).rstrip(), err=True)
            return ExitCode.BAD_INPUT
        case click.Abort() | KeyboardInterrupt():
            complain("interrupted")
            return ExitCode.INTERRUPTED
        case click.UsageError():
            where = f" (see '{error.ctx.command_path} --help')" if error.ctx is not None else ""
            complain(error.format_message().rstrip(".") + where)
            return ExitCode.BAD_INPUT
        case click.ClickException():
            complain(error.format_message())
            return ExitCode.BAD_INPUT
        case ConfigError() | MissingDependency():
            complain(str(error))
            return ExitCode.BAD_INPUT
        case StdoutLost():
            complain(str(error))
            return ExitCode.FAILED
        case BackendLost():
            complain(f"backend lost: {error}")
            return ExitCode.BACKEND_LOST
        case ContractViolation():
            complain(f"{type(error).__name__}: {error}")
            return ExitCode.FAILED
        case GhostError():
            complain(str(error) or type(error).__name__)
            return ExitCode.FAILED
        case _:
            complain(_bug(error, debug))
            return ExitCode.BUG


def _bug(error: BaseException, debug: bool) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    hint = "" if debug else "; 'ghost --debug …' shows the traceback"
    return (
        f"unexpected {type(error).__name__}: {error}{where}. This is a bug, in Ghost or in the "
        f"backend; please report it{hint}"
    )
