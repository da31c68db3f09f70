"""Joining the network of Gazebo from the command line."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from ghost.cli.exit_codes import ExitCode
from ghost.cli.params import DURATION

if TYPE_CHECKING:
    from ghost.gz.transport import Node, TransportOptions

__all__ = ["JSON", "TIMEOUT", "network", "node_of", "options_of", "unanswered"]

DISCOVERY_NS = 1_200_000_000
"""Peers announce themselves each second."""

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
TIMEOUT = click.option(
    "--timeout",
    "timeout_ns",
    type=DURATION,
    default="5s",
    show_default=True,
    help="Give up after this long.",
)


def network(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where Gazebo is."""
    function = click.option(
        "--ip", metavar="ADDRESS", help="Own address to use [default: GZ_IP, else the loopback]."
    )(function)
    return click.option(
        "--partition", help="Partition of the server [default: GZ_PARTITION, else host:user]."
    )(function)


def options_of(partition: str | None, ip: str | None) -> TransportOptions:
    """The environment's settings (`GZ_*`), with those of the command line in their place."""
    from ghost.gz.transport import TransportOptions

    environ = dict(os.environ)
    if partition is not None:
        environ["GZ_PARTITION"] = partition
    if ip is not None:
        environ["GZ_IP"] = ip
    return TransportOptions.from_environ(environ)


@contextlib.contextmanager
def node_of(partition: str | None, ip: str | None) -> Iterator[Node]:
    """A node that is closed at the end."""
    from ghost.core.errors import ConfigError
    from ghost.gz.transport import open_node

    try:
        made = open_node(options_of(partition, ip))
    except ConfigError as error:
        # The options went in as variables; who gave an option looks for its name.
        if ip and error.key == "GZ_IP":
            error.key = "--ip"
        if partition is not None and error.key == "GZ_PARTITION":
            error.key = "--partition"
        raise
    with made as node:
        yield node


@contextlib.contextmanager
def unanswered(ctx: click.Context) -> Iterator[None]:
    """End with the code of an unreachable backend where nobody answers in time."""
    from ghost.cli.failures import complain
    from ghost.gz.transport import TransportTimeout

    try:
        yield
    except TransportTimeout as error:
        complain(str(error))
        ctx.exit(ExitCode.BACKEND_LOST)
