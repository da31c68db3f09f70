"""Which worlds there are, who serves them, and how they are paced."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree

from google.protobuf.message import DecodeError

from ghost.gz.msgs import SdfGeneratorConfig, StringMsg, StringMsg_V
from ghost.gz.transport.errors import TransportError
from ghost.gz.transport.types import Node, TopicInfo

__all__ = [
    "LIMITER_FIX",
    "Pacing",
    "WorldServer",
    "WorldSighting",
    "ask_worlds",
    "pacing_of",
    "read_pacing",
    "sightings",
]

LIMITER_FIX = "<real_time_factor>0</real_time_factor>"
"""The line of `<physics>` that lets a world step as fast as it can."""

_PREFIX = re.compile(r"(</?)[A-Za-z_][\w.-]*:")
_CLOCK = re.compile(r"/world/([^/]+)/clock")
_CONTROL = re.compile(r"/world/([^/]+)/control")


@dataclass(frozen=True, slots=True)
class WorldServer:
    """One server process of a world: the address of its topics and the id of its process."""

    address: str
    process_uuid: str


@dataclass(frozen=True, slots=True)
class WorldSighting:
    """A world that was heard of, and every server process that claims it."""

    name: str
    servers: tuple[WorldServer, ...]


def sightings(node: Node) -> list[WorldSighting]:
    """Return the worlds that the node has heard of until now, sorted by name.

    A world is where its clock is; one whose control service alone is heard counts too, so that a
    server with a second responder is not overlooked.
    """
    found: dict[str, dict[str, str]] = {}
    for topic in node.topics():
        if match := _CLOCK.fullmatch(topic.topic):
            found.setdefault(match[1], {})[topic.process_uuid] = topic.address
    for service in node.services():
        if match := _CONTROL.fullmatch(service.service):
            found.setdefault(match[1], {}).setdefault(service.process_uuid, service.address)
    return [
        WorldSighting(
            name,
            tuple(
                WorldServer(address, process)
                for process, address in sorted(servers.items(), key=lambda item: item[1])
            ),
        )
        for name, servers in sorted(found.items())
    ]


def clock_publishers(node: Node, world: str) -> list[TopicInfo]:
    """Return who publishes the clock of a world, as the node knows it now."""
    topic = f"/world/{world}/clock"
    return [info for info in node.topics() if info.topic == topic]


def ask_worlds(node: Node, timeout_s: float) -> tuple[str, ...]:
    """Ask one server for its worlds (`/gazebo/worlds`); empty if nobody answers in time."""
    try:
        reply = node.request(
            "/gazebo/worlds", b"", "gz.msgs.Empty", "gz.msgs.StringMsg_V", timeout_s
        )
        return tuple(StringMsg_V.FromString(reply).data)
    except (TransportError, DecodeError):
        return ()


@dataclass(frozen=True, slots=True)
class Pacing:
    """What a world's SDF says about its time; None where it says nothing.

    `real_time_factor` above 0 is a limiter: it paces single steps as well.
    """

    sdf_version: str
    step_ns: int | None
    real_time_factor: float | None

    @property
    def limited(self) -> bool:
        """Whether the server holds its steps back. SDF's default factor is 1."""
        return self.real_time_factor is None or self.real_time_factor > 0.0


def pacing_of(node: Node, world: str, timeout_s: float) -> Pacing | None:
    """Ask the server for its world's SDF; None if it does not tell, or nothing that can be read."""
    try:
        reply = node.request(
            f"/world/{world}/generate_world_sdf",
            SdfGeneratorConfig().SerializeToString(),
            "gz.msgs.SdfGeneratorConfig",
            "gz.msgs.StringMsg",
            timeout_s,
        )
        return read_pacing(StringMsg.FromString(reply).data)
    except (TransportError, DecodeError):
        return None


def read_pacing(sdf: str) -> Pacing | None:
    """Read a world's SDF; None if it is no SDF with a `<world>`.

    A server writes elements such as `<gz:policies>` without declaring their prefix, which XML does
    not allow (Gazebo Sim 8.14): the prefixes are taken off.
    """
    try:
        root = ElementTree.fromstring(_PREFIX.sub(r"\1", sdf))
    except (ElementTree.ParseError, ValueError):
        return None
    world = root.find("world")
    if root.tag != "sdf" or world is None:
        return None
    physics = _default_physics(world.findall("physics"))
    if physics is None:
        return Pacing(root.get("version", ""), None, None)
    step_s = _number(physics.findtext("max_step_size"))
    return Pacing(
        root.get("version", ""),
        None if step_s is None else round(step_s * 1e9),
        _number(physics.findtext("real_time_factor")),
    )


def _default_physics(profiles: Iterable[ElementTree.Element]) -> ElementTree.Element | None:
    """The profile in use: the one marked default, else the first."""
    every = list(profiles)
    for profile in every:
        if profile.get("default", "").lower() in {"1", "true"}:
            return profile
    return every[0] if every else None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if value - value == 0.0 else None
