"""`ghost gz echo`, `hz`, `pub` and `call`: single messages, decoded where their type is known."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ghost.cli.exit_codes import ExitCode
from ghost.cli.gazebo.network import JSON, TIMEOUT, network, node_of, unanswered
from ghost.cli.params import DURATION

if TYPE_CHECKING:
    from ghost.gz.transport import Node

__all__ = ["call", "echo", "hz", "pub"]


@click.command("echo")
@click.argument("topic")
@click.option("-n", "--count", type=click.IntRange(min=1), help="Stop after this many messages.")
@click.option("--duration", "duration_ns", type=DURATION, help="Stop after this long.")
@TIMEOUT
@network
@JSON
@click.pass_context
def echo(
    ctx: click.Context,
    topic: str,
    count: int | None,
    duration_ns: int | None,
    timeout_ns: int,
    partition: str | None,
    ip: str | None,
    as_json: bool,
) -> None:
    """Print the messages of TOPIC until Ctrl-C, --count or --duration.

    With --json each message is one object on a line of its own, whole; otherwise long values are
    cut. A message of an unknown type shows the numbers of its fields. --timeout is for the
    publisher, and for each message.
    """
    from ghost.cli.gazebo.show import as_lines
    from ghost.core import HostClock
    from ghost.gz.msgs import describe
    from ghost.gz.world import header_stamp_ns

    host = HostClock()
    with node_of(partition, ip) as node, unanswered(ctx):
        node.subscribe(topic)
        node.wait_for_topic(topic, timeout_ns / 1e9)
        end_ns = None if duration_ns is None else host.now_ns() + duration_ns
        printed = 0
        while count is None or printed < count:
            left_ns = timeout_ns if end_ns is None else min(timeout_ns, end_ns - host.now_ns())
            message = node.receive(max(left_ns, 0) / 1e9)
            if message is None:
                if end_ns is not None and host.now_ns() >= end_ns and printed:
                    return
                _silent(topic, left_ns)
            shown = describe(message.type, message.data)
            if as_json:
                stamp_ns = header_stamp_ns(message.data)
                _print_line(
                    {
                        "topic": message.topic,
                        "type": message.type,
                        "stamp_ns": stamp_ns,
                        "message": shown,
                    }
                )
            else:
                click.echo(f"# {message.type}, {len(message.data)} bytes")
                click.echo("\n".join(as_lines(shown)) + "\n")
            printed += 1
            if end_ns is not None and host.now_ns() >= end_ns:
                return


@click.command("hz")
@click.argument("topic")
@click.option(
    "--duration",
    "duration_ns",
    type=DURATION,
    default="3s",
    show_default=True,
    help="Measure so long.",
)
@TIMEOUT
@network
@JSON
@click.pass_context
def hz(
    ctx: click.Context,
    topic: str,
    duration_ns: int,
    timeout_ns: int,
    partition: str | None,
    ip: str | None,
    as_json: bool,
) -> None:
    """Measure how often TOPIC comes: by the clock on the wall, and by its own stamps.

    The two differ by the real-time factor.
    """
    from ghost.cli.output import print_json

    with node_of(partition, ip) as node, unanswered(ctx):
        node.subscribe(topic)
        node.wait_for_topic(topic, timeout_ns / 1e9)
        figures = _measure(node, topic, duration_ns, timeout_ns)
    if as_json:
        print_json(figures)
        return
    wall, sim = figures["wall_hz"], figures["sim_hz"]
    click.echo(
        f"{topic}: {figures['messages']} messages, "
        f"{'no rate yet' if wall is None else f'{wall:.2f} Hz of wall time'}"
        + ("" if sim is None else f", {sim:.2f} Hz of simulated time")
    )
    if figures["max_gap_ms"] is not None:
        click.echo(
            f"gaps {figures['min_gap_ms']:.2f} to {figures['max_gap_ms']:.2f} ms, "
            f"{figures['bytes_per_s'] / 1e3:.1f} kB/s"
        )


def _measure(node: Node, topic: str, duration_ns: int, timeout_ns: int) -> dict[str, Any]:
    from ghost.core import HostClock
    from ghost.gz.world import header_stamp_ns

    host = HostClock()
    first = node.receive(timeout_ns / 1e9)
    if first is None:
        _silent(topic, timeout_ns)
    arrivals = [host.now_ns()]
    stamps = [header_stamp_ns(first.data)]
    size = 0
    end_ns = arrivals[0] + duration_ns
    while (left_ns := end_ns - host.now_ns()) > 0:
        message = node.receive(left_ns / 1e9)
        if message is not None:
            arrivals.append(host.now_ns())
            stamps.append(header_stamp_ns(message.data))
            size += len(message.data)
    gaps = [(b - a) / 1e6 for a, b in pairwise(arrivals)]
    span_s = (arrivals[-1] - arrivals[0]) / 1e9
    known = [stamp for stamp in stamps if stamp is not None]
    sim_s = (known[-1] - known[0]) / 1e9 if len(known) == len(stamps) else 0.0
    count = len(arrivals)
    return {
        "topic": topic,
        "type": first.type,
        "messages": count,
        "wall_hz": (count - 1) / span_s if span_s > 0.0 else None,
        "sim_hz": (count - 1) / sim_s if sim_s > 0.0 else None,
        "min_gap_ms": min(gaps, default=None),
        "max_gap_ms": max(gaps, default=None),
        "bytes_per_s": size / span_s if span_s > 0.0 else 0.0,
    }


@click.command("pub")
@click.argument("topic")
@click.argument("type_name", metavar="TYPE")
@click.argument("message")
@click.option("-n", "--count", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--rate", type=click.FloatRange(min=0.01), default=10.0, help="Hz, with --count.")
@TIMEOUT
@network
@click.pass_context
def pub(
    ctx: click.Context,
    topic: str,
    type_name: str,
    message: str,
    count: int,
    rate: float,
    timeout_ns: int,
    partition: str | None,
    ip: str | None,
) -> None:
    """Publish MESSAGE (JSON) of TYPE on TOPIC, once somebody listens.

    \b
    Examples:
      ghost gz pub /x500/command/motor_speed gz.msgs.Actuators '{"velocity": [600, 600, 600, 600]}'
    """
    from ghost.cli.failures import complain
    from ghost.core import HostClock

    data = _encode(type_name, message, must_be_known=True)
    host = HostClock()
    with node_of(partition, ip) as node:
        publisher = node.advertise(topic, type_name)
        if not publisher.wait_for_subscriber(timeout_ns / 1e9):
            complain(f"nobody subscribes to {topic} within {timeout_ns / 1e9:g} s; not published")
            ctx.exit(ExitCode.BACKEND_LOST)
        start_ns = host.now_ns()
        for k in range(count):
            host.sleep_until_ns(start_ns + round(k * 1e9 / rate))
            publisher.publish(data)


@click.command("call")
@click.argument("service")
@click.argument("message", default="{}")
@click.option("--type", "type_name", help="Type of the request [default: what is advertised].")
@click.option("--reply", "reply_name", help="Type of the reply [default: what is advertised].")
@TIMEOUT
@network
@JSON
@click.pass_context
def call(
    ctx: click.Context,
    service: str,
    message: str,
    type_name: str | None,
    reply_name: str | None,
    timeout_ns: int,
    partition: str | None,
    ip: str | None,
    as_json: bool,
) -> None:
    """Call SERVICE with MESSAGE (JSON) and print its reply.

    \b
    Examples:
      ghost gz call /gazebo/worlds
      ghost gz call /world/field/control '{"pause": true, "multi_step": 10}'
    """
    from ghost.cli.gazebo.show import as_lines
    from ghost.gz.msgs import describe

    with node_of(partition, ip) as node, unanswered(ctx):
        info = node.wait_for_service(service, timeout_ns / 1e9)
        request_type = type_name or info.request_type
        reply_type = reply_name or info.reply_type
        data = _encode(request_type, message)
        reply = node.request(service, data, request_type, reply_type, timeout_ns / 1e9)
    shown = describe(reply_type, reply)
    if as_json:
        _print_line({"service": service, "type": reply_type, "message": shown})
    else:
        click.echo(f"# {reply_type}, {len(reply)} bytes")
        click.echo("\n".join(as_lines(shown)))


def _encode(type_name: str, text: str, *, must_be_known: bool = False) -> bytes:
    """JSON to the bytes of a message; what is wrong with it is bad input.

    An empty message has the same bytes (none) whatever its type, so a type may be unknown that
    somebody else advertised; not so one that we are the first to name (`must_be_known`).
    """
    from google.protobuf import json_format

    from ghost.core import ConfigError, UnknownName
    from ghost.gz.msgs import known_types, message_class

    cls = message_class(type_name)
    if cls is None:
        if text.strip() in ("", "{}") and not must_be_known:
            return b""
        raise UnknownName("message type", type_name, known_types())
    try:
        value = json.loads(text or "{}")
        return json_format.ParseDict(value, cls()).SerializeToString()
    except (ValueError, json_format.ParseError) as error:
        fields = ", ".join(field.name for field in cls.DESCRIPTOR.fields)
        raise ConfigError(
            f"{text!r} is no {type_name} in JSON: {error} (its fields: {fields})"
        ) from error


def _silent(topic: str, waited_ns: int) -> NoReturn:
    from ghost.gz.transport import TransportTimeout

    raise TransportTimeout(
        f"{topic} is advertised, but nothing came on it within {max(waited_ns, 0) / 1e9:g} s; a "
        "paused world moves nothing but its clock: 'ghost gz step 1' or 'ghost gz play'"
    )


def _print_line(value: dict[str, Any]) -> None:
    click.echo(json.dumps(value, ensure_ascii=False))
