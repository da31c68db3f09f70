"""Names of topics, services and partitions, by the rules of gz-transport.

On the wire a name is `@/<partition>@/<topic>`. A name may not be empty or `/`, nor contain `~`,
a space, `//`, `@` or `:=`.
"""

from __future__ import annotations

from ghost.gz.transport.errors import NameInvalid

__all__ = ["check_partition", "full_name", "split_name"]

# gz-transport allows 65,535 bytes for partition and name, but both must fit into a datagram.
_MAX_LENGTH = 4096
_FORBIDDEN = ("~", " ", "//", "@", ":=")


def _problem(name: str) -> str | None:
    for text in _FORBIDDEN:
        if text in name:
            return f"contains {text!r}"
    if name == "/":
        return "is only a slash"
    if len(name.encode("utf-8", "replace")) > _MAX_LENGTH:
        return f"is longer than {_MAX_LENGTH} bytes"
    if any("\ud800" <= letter <= "\udfff" for letter in name):
        return "is not valid UTF-8"
    return None


def check_partition(partition: str, *, key: str = "partition") -> str:
    """Return the partition with one leading and no trailing slash, or `""` if it is empty.

    Raises `NameInvalid` naming `key` for a character that gz-transport does not take.
    """
    problem = _problem(partition)
    if problem:
        raise NameInvalid(
            f"the partition {partition!r} {problem}; use letters, digits, '_', '-', '.', ':' "
            "and single slashes",
            key=key,
        )
    if partition and not partition.startswith("/"):
        partition = "/" + partition
    return partition.removesuffix("/")


def full_name(partition: str, name: str, *, kind: str = "topic") -> str:
    """Return the name on the wire. `partition` is one that `check_partition` returned.

    Raises `NameInvalid` for an empty name or one with a character that gz-transport does not take.
    """
    problem = "is empty" if not name else _problem(name)
    if problem:
        raise NameInvalid(f"the {kind} name {name!r} {problem}; write it like /world/w/clock")
    if not name.startswith("/"):
        name = "/" + name
    return f"@{partition}@{name.removesuffix('/')}"


def split_name(full: str) -> tuple[str, str] | None:
    """Return partition and topic of a name on the wire, None if it is not one."""
    last = full.rfind("@")
    if not full.startswith("@") or last <= 0 or last == len(full) - 1:
        return None
    return full[1:last], full[last + 1 :]
