"""Finding the one server of a world, within a deadline."""

from __future__ import annotations

from ghost.core import BackendLost, HostTime, UnknownName
from ghost.gz.transport.errors import TransportTimeout
from ghost.gz.transport.types import Node
from ghost.gz.world.errors import TwoServers
from ghost.gz.world.stream import WorldStream
from ghost.gz.world.survey import WorldServer, WorldSighting, sightings

__all__ = ["find_server"]

_LOOK_S = 0.1
_OTHERS_NS = 2_000_000_000
"""How long a world may be missing while others are heard: a server that starts is that slow."""
_IN_FLIGHT_NS = 200_000_000
"""What a server that was killed has sent is read within this time."""
_GHOST_NS = 3_500_000_000
"""A killed server says no bye; its name goes after 3 s of silence."""


def find_server(
    node: Node, world: str, host: HostTime, end_ns: int, stream: WorldStream
) -> WorldServer:
    """Wait for the server of a world, its service and its first clock; raises as `attach` does."""
    _await_clock_topic(node, world, host, end_ns)
    try:
        left_s = max((end_ns - host.now_ns()) / 1e9, _LOOK_S)
        node.wait_for_service(f"/world/{world}/control", left_s)
    except TransportTimeout as error:
        raise BackendLost(
            f"world {world!r} has a clock but no service /world/{world}/control: {error}"
        ) from error
    while stream.now_ns < 0:
        if stream.pump(_LOOK_S) is None and host.now_ns() >= end_ns:
            where = ", ".join(server.address for server in _servers(node, world)) or "nowhere now"
            raise BackendLost(
                f"world {world!r} is announced at {where}, but its clock is not heard; the server "
                "hangs, or its address (GZ_IP) cannot be reached from here"
            )
    return _only_server(node, world, host, end_ns, stream)


def _await_clock_topic(node: Node, world: str, host: HostTime, end_ns: int) -> None:
    start_ns = host.now_ns()
    while True:
        try:
            node.wait_for_topic(f"/world/{world}/clock", _LOOK_S)
        except TransportTimeout as error:
            others = [sighting.name for sighting in sightings(node)]
            now_ns = host.now_ns()
            # A server that starts offers its services some time before its clock.
            if (
                others
                and world not in others
                and now_ns - start_ns >= min(_OTHERS_NS, end_ns - start_ns)
            ):
                raise UnknownName("world", world, others) from error
            if now_ns >= end_ns:
                raise BackendLost(
                    f"no Gazebo server is heard ({error}); start one with 'gz sim -s WORLD.sdf', "
                    "and see 'ghost doctor' if one runs: GZ_PARTITION and GZ_IP must be the same"
                ) from error
        else:
            return


def _only_server(
    node: Node, world: str, host: HostTime, end_ns: int, stream: WorldStream
) -> WorldServer:
    """The one server. Of two names one may be a dead server's that has not gone yet."""
    start_ns = host.now_ns()
    early: dict[str, int] | None = None
    while True:
        servers = _servers(node, world)
        if len(servers) == 1:
            return servers[0]
        now_ns = host.now_ns()
        if not servers and now_ns >= end_ns:
            raise BackendLost(f"the server of world {world!r} went away while it was attached to")
        addresses = [server.address for server in servers]
        if early is None and now_ns - start_ns >= _IN_FLIGHT_NS:
            early = dict(stream.publishers)
        if early is not None:
            heard = stream.publishers
            live = [
                address for address in addresses if heard.get(address, 0) > early.get(address, 0)
            ]
            # A dead server's last words are over by now: who still speaks, lives.
            if len(live) > 1:
                raise TwoServers(world, live)
        if len(servers) > 1 and now_ns - start_ns >= min(_GHOST_NS, max(end_ns - start_ns, 0)):
            raise TwoServers(world, addresses)
        stream.pump(_LOOK_S)


def _servers(node: Node, world: str) -> tuple[WorldServer, ...]:
    found: list[WorldSighting] = [seen for seen in sightings(node) if seen.name == world]
    return found[0].servers if found else ()
