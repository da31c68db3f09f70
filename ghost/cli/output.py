"""Where output goes: results to stdout, everything else to stderr."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_PIPE_WIDTH = 1000
"""A pipe or a file has no width of its own: room enough that nothing is wrapped."""

__all__ = ["console", "print_json", "print_table", "stdout_kept_clean", "table"]


def print_json(value: Mapping[str, Any]) -> None:
    """Print exactly one JSON object on stdout."""
    click.echo(json.dumps(value, allow_nan=False, ensure_ascii=False))


def console(*, stderr: bool = False) -> Console:
    """A rich console; plain text where it is no terminal."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return Console(file=stream, highlight=False, width=width)


def table(*columns: str, title: str | None = None) -> Table:
    """An empty table in the house style."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


def print_table(made: Table) -> None:
    """Print a table on stdout."""
    out = console()
    if out.is_terminal:
        out.print(made)
        return
    with out.capture() as captured:
        out.print(made)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())


@contextlib.contextmanager
def stdout_kept_clean(wanted: bool) -> Iterator[None]:
    """While it lasts, send to stderr what others print, also from C (PyBullet greets on import).

    Does nothing if not `wanted`.
    """
    if not wanted:
        yield
        return
    with contextlib.redirect_stdout(sys.stderr), _descriptor_diverted():
        yield


@contextlib.contextmanager
def _descriptor_diverted() -> Iterator[None]:
    if os.name != "posix":
        yield
        return
    if sys.__stdout__ is not None:
        sys.__stdout__.flush()
    try:
        saved = os.dup(1)
    except OSError:
        # There is no stdout at all (closed by the caller): nothing to keep clean.
        yield
        return
    try:
        os.dup2(2, 1)
        yield
    finally:
        # C keeps what it printed in its own buffer; it must leave before stdout is stdout again.
        ctypes.CDLL(None).fflush(None)
        os.dup2(saved, 1)
        os.close(saved)
