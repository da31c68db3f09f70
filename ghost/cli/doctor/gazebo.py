"""What is heard of Gazebo on the network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ghost.cli.doctor.finding import Finding, failure, fine, warning
from ghost.cli.gazebo.worlds import facts

if TYPE_CHECKING:
    from ghost.gz.transport import Node, TransportOptions

__all__ = ["check_gazebo", "check_partition"]

AREA = "Gazebo"


def check_partition(options: TransportOptions, environ: Mapping[str, str]) -> Finding:
    """Which partition we are in, and why."""
    for name in ("GZ_PARTITION", "IGN_PARTITION"):
        if name in environ:
            return fine(AREA, "partition", f"{options.partition!r} ({name})")
    return fine(
        AREA,
        "partition",
        f"{options.partition!r} (the default, host:user; a container has another one)",
    )


def check_gazebo(node: Node, options: TransportOptions, wait_s: float) -> Iterator[Finding]:
    """Who is there, which worlds they run, and what is wrong with those."""
    from ghost.core import HostClock
    from ghost.gz.transport.wire import WireNode
    from ghost.gz.world import sightings

    host = HostClock()
    host.sleep_until_ns(host.now_ns() + round(wait_s * 1e9))
    topics, services = node.topics(), node.services()
    processes = {info.process_uuid for info in topics} | {info.process_uuid for info in services}
    others = []
    if isinstance(node, WireNode):
        own = options.partition.strip("/")
        others = [name for name in node.partitions() if name != own]
    if processes:
        yield fine(
            AREA,
            "peers",
            f"{_count(len(processes), 'process')} with {_count(len(topics), 'topic')} and "
            f"{_count(len(services), 'service')}",
        )
    elif others:
        yield warning(
            AREA,
            "peers",
            f"nobody in the partition {options.partition!r}; heard in: {', '.join(others)}",
            f"export GZ_PARTITION={others[0]}",
        )
    else:
        yield warning(
            AREA,
            "peers",
            "nobody is heard in any partition",
            "start a server ('gz sim -s WORLD.sdf'); if one runs, give both the same GZ_IP, or "
            "list it in GZ_RELAY",
        )
    for sighting in sightings(node):
        yield from _world(node, sighting)


def _world(node: Node, sighting: object) -> Iterator[Finding]:
    from ghost.gz.world import LIMITER_FIX, WorldSighting

    assert isinstance(sighting, WorldSighting)
    name = f"world {sighting.name}"
    addresses = [server.address for server in sighting.servers]
    if len(addresses) > 1:
        yield failure(
            AREA,
            name,
            f"{len(addresses)} servers of this name, at {' and '.join(addresses)}",
            "stop all but one, or give each its own GZ_PARTITION",
        )
        return
    row = facts(node, sighting)
    if row["sim_time_s"] is None:
        yield failure(
            AREA,
            name,
            f"announced at {addresses[0]}, but nothing comes from there",
            "it hangs, or its address cannot be reached from here: see GZ_IP on its side",
        )
        return
    state = "paused" if row["paused"] else "running"
    step = "" if row["step_ns"] is None else f", steps of {row['step_ns'] / 1e6:g} ms"
    version = f", SDF {row['sdf_version']}" if row["sdf_version"] else ""
    yield fine(AREA, name, f"{state} at {row['sim_time_s']:.9g} s{step}{version}, {addresses[0]}")
    factor = row["real_time_factor"]
    if factor:
        yield warning(
            AREA,
            f"{name} limiter",
            f"on: real_time_factor {factor:g} slows single steps too",
            f"set {LIMITER_FIX} in its <physics>",
        )


def _count(number: int, what: str) -> str:
    plural = what + ("es" if what.endswith("s") else "s")
    return f"{number} {what if number == 1 else plural}"
