"""`ghost doctor`: what is wrong, and what to do about it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ghost.cli.exit_codes import EPILOG, ExitCode
from ghost.cli.gazebo.network import DISCOVERY_NS, network, options_of
from ghost.cli.params import DURATION

if TYPE_CHECKING:
    from ghost.cli.doctor.finding import Finding
    from ghost.gz.transport import TransportOptions

__all__ = ["command"]


@click.command("doctor", short_help="Find out why it does not work.", epilog=EPILOG)
@click.option(
    "--wait", "wait_ns", type=DURATION, default=f"{DISCOVERY_NS}ns", help="Listen so long."
)
@network
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of lines.")
@click.pass_context
def command(
    ctx: click.Context, wait_ns: int, partition: str | None, ip: str | None, as_json: bool
) -> None:
    """Look at the network, at Gazebo and PX4, at packages and graphics.

    Each line is ok, a warning or a failure, and says what to do. The exit code is 1 if there is a
    failure.

    \b
    Examples:
      ghost doctor
      ghost doctor --partition my_lab --json
    """
    from rich.markup import escape

    from ghost.cli.doctor.finding import State
    from ghost.cli.output import print_json, print_table, stdout_kept_clean, table

    with stdout_kept_clean(True):
        findings = list(_examine(options_of(partition, ip), wait_ns / 1e9))
    failed = any(finding.state is State.FAILURE for finding in findings)
    if as_json:
        print_json({"ok": not failed, "checks": [asdict(finding) for finding in findings]})
    else:
        colours = {State.OK: "green", State.WARNING: "yellow", State.FAILURE: "red"}
        made = table("state", "area", "what", "found", "to do")
        for finding in findings:
            made.add_row(
                f"[{colours[finding.state]}]{finding.state}[/]",
                finding.area,
                escape(finding.name),
                escape(finding.detail),
                escape(finding.fix),
            )
        print_table(made)
    ctx.exit(ExitCode.FAILED if failed else ExitCode.OK)


def _examine(options: TransportOptions, wait_s: float) -> Iterator[Finding]:
    from ghost.cli.doctor import gazebo, machine, px4
    from ghost.cli.doctor import network as net
    from ghost.cli.doctor.finding import failure
    from ghost.core import GhostError
    from ghost.gz.transport import open_node

    yield from net.check_address(options, net.interfaces(), os.environ)
    yield net.check_multicast(options)
    yield from net.check_ports(options, machine.port_owners())
    yield from net.px4_links(min(wait_s, 1.2))
    yield gazebo.check_partition(options, os.environ)
    try:
        with open_node(options) as node:
            yield from gazebo.check_gazebo(node, options, wait_s)
    except GhostError as error:
        yield failure("Gazebo", "transport", str(error), "see the lines above")
    yield machine.check_gz_program()
    yield from machine.check_processes(machine.processes(), options.partition)
    yield from px4.check_px4(os.environ)
    yield from machine.check_packages()
    yield machine.check_gl()
