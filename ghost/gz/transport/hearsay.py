"""What to tell somebody who waited in vain: who was heard meanwhile, and what is nearly right."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping

from ghost.gz.transport.discovery import Half
from ghost.gz.transport.names import split_name

__all__ = ["hearsay"]

_SHOWN = 5


def hearsay(
    half: Half, own_uuid: str, partition: str, name: str, ignored: Mapping[str, int]
) -> str:
    """Return a clause for an error message about a missing topic or service `name`.

    `partition` is the own one, `name` is without it, `ignored` are counts of ignored datagrams.
    """
    text = _heard(half, own_uuid, partition, name)
    if ignored.get("discovery_other_statistics"):
        text += "; peers were ignored whose GZ_TRANSPORT_TOPIC_STATISTICS is not ours: set it alike"
    if ignored.get("discovery_other_version"):
        text += "; peers were ignored that speak another version of the protocol"
    return text


def _heard(half: Half, own_uuid: str, partition: str, name: str) -> str:
    others = [entry for entry in half.registry.all() if entry.process_uuid != own_uuid]
    heard = [uuid for uuid in half.registry.processes() if uuid != own_uuid]
    if not heard:
        return (
            "nobody was heard at all: is Gazebo running on this network, with the same GZ_IP "
            "and GZ_DISCOVERY_* settings?"
        )
    near: list[str] = []
    elsewhere: Counter[str] = Counter()
    has_it: set[str] = set()
    for entry in others:
        split = split_name(entry.name)
        if split is None:
            continue
        if split[0] == partition:
            near.append(split[1])
            continue
        elsewhere[split[0]] += 1
        if split[1] == name:
            has_it.add(split[0])
    text = f"heard {len(heard)} process{'es' if len(heard) > 1 else ''}"
    if near:
        close = difflib.get_close_matches(name, sorted(set(near)), n=_SHOWN, cutoff=0.5)
        shown = close or sorted(set(near))[:_SHOWN]
        more = ", …" if len(set(near)) > len(shown) else ""
        nearest = "nearest " if close else ""
        text += f"; {nearest}{half.kind}s of this partition: {', '.join(shown)}{more}"
    else:
        text += f", none with a {half.kind} in the partition {partition.lstrip('/')!r}"
    if has_it:
        named = ", ".join(repr(other.lstrip("/")) for other in sorted(has_it))
        text += f"; the partition {named} has it: set GZ_PARTITION"
    elif elsewhere and not near:
        named = ", ".join(repr(other.lstrip("/")) for other in sorted(elsewhere)[:_SHOWN])
        text += f"; partitions heard: {named}; set GZ_PARTITION to that of Gazebo"
    return text
