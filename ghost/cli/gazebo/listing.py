"""`ghost gz topics` and `ghost gz services`: who offers what."""

from __future__ import annotations

import click

from ghost.cli.gazebo.network import DISCOVERY_NS, JSON, network, node_of
from ghost.cli.params import DURATION

__all__ = ["services", "topics"]

_WAIT = click.option(
    "--wait",
    "wait_ns",
    type=DURATION,
    default=f"{DISCOVERY_NS}ns",
    help="Listen this long for announcements [default: 1.2s; peers repeat theirs each second].",
)


@click.command("topics")
@click.argument("text", required=False, metavar="[TEXT]")
@_WAIT
@network
@JSON
def topics(
    text: str | None, wait_ns: int, partition: str | None, ip: str | None, as_json: bool
) -> None:
    """List the topics that are published, those that contain TEXT.

    A topic with two publishers is two lines.
    """
    from ghost.cli.output import print_json, print_table, table
    from ghost.core import HostClock

    with node_of(partition, ip) as node:
        host = HostClock()
        host.sleep_until_ns(host.now_ns() + wait_ns)
        found = [info for info in node.topics() if text is None or text in info.topic]
    if as_json:
        rows = [
            {
                "topic": info.topic,
                "type": info.type,
                "address": info.address,
                "process_uuid": info.process_uuid,
                "node_uuid": info.node_uuid,
            }
            for info in found
        ]
        print_json({"topics": rows})
        return
    made = table("topic", "type", "publisher")
    for info in found:
        made.add_row(info.topic, info.type, info.address)
    print_table(made)
    _if_none(len(found), "topic")


@click.command("services")
@click.argument("text", required=False, metavar="[TEXT]")
@_WAIT
@network
@JSON
def services(
    text: str | None, wait_ns: int, partition: str | None, ip: str | None, as_json: bool
) -> None:
    """List the services that are offered, those that contain TEXT."""
    from ghost.cli.output import print_json, print_table, table
    from ghost.core import HostClock

    with node_of(partition, ip) as node:
        host = HostClock()
        host.sleep_until_ns(host.now_ns() + wait_ns)
        found = [info for info in node.services() if text is None or text in info.service]
    if as_json:
        rows = [
            {
                "service": info.service,
                "request_type": info.request_type,
                "reply_type": info.reply_type,
                "address": info.address,
                "process_uuid": info.process_uuid,
            }
            for info in found
        ]
        print_json({"services": rows})
        return
    made = table("service", "request", "reply", "provider")
    for info in found:
        made.add_row(info.service, info.request_type, info.reply_type, info.address)
    print_table(made)
    _if_none(len(found), "service")


def _if_none(count: int, what: str) -> None:
    if not count:
        click.echo(f"no {what} was heard of; 'ghost doctor' tells why that may be", err=True)
