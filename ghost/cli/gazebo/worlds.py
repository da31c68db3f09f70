"""`ghost gz worlds`, `step`, `play`, `pause` and `reset`: worlds and their time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ghost.cli.gazebo.network import DISCOVERY_NS, JSON, TIMEOUT, network, node_of
from ghost.cli.params import DURATION

if TYPE_CHECKING:
    from ghost.gz.transport import Node
    from ghost.gz.world import WorldControl, WorldSighting

__all__ = ["facts", "pause", "play", "reset", "step", "worlds"]

_WORLD = click.option("--world", help="Name of the world [default: the only one there is].")


@click.command("worlds")
@click.option(
    "--wait", "wait_ns", type=DURATION, default=f"{DISCOVERY_NS}ns", help="Listen so long."
)
@network
@JSON
def worlds(wait_ns: int, partition: str | None, ip: str | None, as_json: bool) -> None:
    """List the worlds, who serves them, and whether they can be stepped well."""
    from rich.markup import escape

    from ghost.cli.output import print_json, print_table, table
    from ghost.core import HostClock
    from ghost.gz.world import sightings

    host = HostClock()
    with node_of(partition, ip) as node:
        host.sleep_until_ns(host.now_ns() + wait_ns)
        rows = [facts(node, sighting) for sighting in sightings(node)]
    if as_json:
        print_json({"worlds": rows})
        return
    made = table("world", "time", "state", "step", "limiter", "server", "note")
    for row in rows:
        made.add_row(
            row["world"],
            "?" if row["sim_time_s"] is None else f"{row['sim_time_s']:.9g} s",
            {None: "?", True: "paused", False: "running"}[row["paused"]],
            "?" if row["step_ns"] is None else f"{row['step_ns'] / 1e6:g} ms",
            {None: "?", 0.0: "off"}.get(
                row["real_time_factor"], f"[yellow]{row['real_time_factor']}×[/]"
            ),
            ", ".join(row["servers"]),
            escape(row["note"]),
        )
    print_table(made)
    if not rows:
        click.echo("no world was heard of; 'ghost doctor' tells why that may be", err=True)


def facts(node: Node, sighting: WorldSighting) -> dict[str, Any]:
    """What can be told of a world: its time, pace and servers; None where it is not known."""
    from ghost.gz.msgs import WorldStatistics
    from ghost.gz.world import LIMITER_FIX, pacing_of
    from ghost.gz.world.stamps import time_ns

    world = sighting.name
    pacing = pacing_of(node, world, 2.0)
    stats = None
    subscription = node.subscribe(f"/world/{world}/stats")
    while stats is None and (message := node.receive(0.5)) is not None:
        if message.topic.endswith("/stats"):
            stats = WorldStatistics.FromString(message.data)
    subscription.unsubscribe()
    notes = []
    if len(sighting.servers) > 1:
        notes.append("two servers of one name: stop one, or give it a GZ_PARTITION of its own")
    if pacing is not None and pacing.limited:
        notes.append(f"set {LIMITER_FIX} in <physics> to step fast")
    factor = None if pacing is None else pacing.real_time_factor
    if pacing is not None and factor is None:
        factor = 1.0
    return {
        "world": world,
        "servers": [server.address for server in sighting.servers],
        "sim_time_s": None if stats is None else time_ns(stats.sim_time) / 1e9,
        "paused": None if stats is None else stats.paused,
        "iterations": None if stats is None else stats.iterations,
        "step_ns": None if pacing is None else pacing.step_ns,
        "real_time_factor": factor,
        "sdf_version": None if pacing is None else pacing.sdf_version,
        "note": "; ".join(notes),
    }


@contextlib.contextmanager
def _attached(
    world: str | None, partition: str | None, ip: str | None, timeout_ns: int
) -> Iterator[WorldControl]:
    """A world at hand, found within the timeout; what is odd about it goes to stderr."""
    from ghost.cli.failures import complain
    from ghost.gz.world import WorldControl

    with node_of(partition, ip) as node:
        name = world or _only_world(node, timeout_ns)
        control = WorldControl(
            node,
            name,
            deadline_s=timeout_ns / 1e9,
            on_event=lambda event: complain(event.message),
        )
        with control:
            yield control


def _only_world(node: Node, timeout_ns: int) -> str:
    from ghost.core import BackendLost, ConfigError, HostClock
    from ghost.gz.world import sightings

    host = HostClock()
    start_ns = host.now_ns()
    while True:
        found = [sighting.name for sighting in sightings(node)]
        waited_ns = host.now_ns() - start_ns
        # One that is heard at once may not be the only one: each peer speaks once a second.
        if len(found) == 1 and waited_ns >= min(timeout_ns, DISCOVERY_NS):
            return found[0]
        if len(found) > 1:
            raise ConfigError(
                f"there are {len(found)} worlds, {', '.join(found)}; choose one with --world"
            )
        if waited_ns >= timeout_ns:
            raise BackendLost(
                f"no world was heard of within {timeout_ns / 1e9:g} s; is a server running, in "
                "this partition? 'ghost doctor' tells more"
            )
        host.sleep_until_ns(host.now_ns() + 20_000_000)


def _report(as_json: bool, **values: Any) -> None:
    from ghost.cli.output import print_json

    if as_json:
        print_json(values)
    else:
        click.echo(f"{values['world']}: {values['did']}, now at {values['sim_time_s']:.9g} s")


@click.command("step")
@click.argument("steps", type=click.IntRange(min=1), default=1)
@_WORLD
@TIMEOUT
@network
@JSON
def step(
    steps: int,
    world: str | None,
    timeout_ns: int,
    partition: str | None,
    ip: str | None,
    as_json: bool,
) -> None:
    """Step the world STEPS times (pausing it if it runs) and wait until it has.

    \b
    Examples:
      ghost gz step
      ghost gz step 250 --world field
    """
    with _attached(world, partition, ip, timeout_ns) as control:
        control.attach()
        result = control.step(steps)
        _report(
            as_json,
            world=control.world,
            did=f"{result.steps} step{'s' if steps > 1 else ''} of {control.step_ns / 1e6:g} ms",
            steps=result.steps,
            step_ns=control.step_ns,
            sim_time_s=result.now_ns / 1e9,
            resent=result.resent,
        )


@click.command("pause")
@_WORLD
@TIMEOUT
@network
@JSON
def pause(
    world: str | None, timeout_ns: int, partition: str | None, ip: str | None, as_json: bool
) -> None:
    """Pause the world and wait until it stands still."""
    with _attached(world, partition, ip, timeout_ns) as control:
        now_ns = control.attach()
        _report(as_json, world=control.world, did="paused", sim_time_s=now_ns / 1e9)


@click.command("play")
@_WORLD
@TIMEOUT
@network
@JSON
def play(
    world: str | None, timeout_ns: int, partition: str | None, ip: str | None, as_json: bool
) -> None:
    """Let the world run by itself."""
    with _attached(world, partition, ip, timeout_ns) as control:
        control.attach()
        now_ns = control.play()
        _report(as_json, world=control.world, did="runs", sim_time_s=now_ns / 1e9)


@click.command("reset")
@_WORLD
@TIMEOUT
@network
@JSON
def reset(
    world: str | None, timeout_ns: int, partition: str | None, ip: str | None, as_json: bool
) -> None:
    """Put the world back to its start, and wait until its clock is at 0. It is paused then."""
    with _attached(world, partition, ip, timeout_ns) as control:
        control.attach()
        now_ns = control.reset()
        _report(as_json, world=control.world, did="reset and paused", sim_time_s=now_ns / 1e9)
