"""`--set key.path=value`: replacing single values of a specification before it is checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ghost.config import wording
from ghost.config.problems import Mark, Problem
from ghost.config.schema import (
    child_type,
    default_of,
    describe,
    fields_of,
    is_mapping_type,
    item_type,
    tagged_union,
    tuple_length,
    without_none,
)
from ghost.config.tree import Node, parse, plain
from ghost.core import ConfigError

__all__ = ["Override", "apply", "read_override"]


@dataclass(frozen=True, slots=True)
class Override:
    """One `--set`, read but not yet applied."""

    text: str
    keys: tuple[str, ...]
    value: Node


def read_override(text: str) -> Override:
    """Read `key.path=value`; the value is YAML. Raises `ConfigError`."""
    path, equals, value = text.partition("=")
    keys = tuple(part.strip() for part in path.split("."))
    if not equals or not all(keys):
        raise ConfigError(
            f"--set {text!r} is not understood, expected key.path=value, e.g. seed=7 or "
            "vehicle.sensors.imu0.rate_hz=100"
        )
    mark = Mark(override=text)
    problems: list[Problem] = []
    node = parse(value, mark, problems)
    if problems:
        raise problems[0].error()
    return Override(text, keys, node)


def apply(root: Node, cls: type, override: Override) -> None:
    """Put the value where its key path says.

    A key that the schema has is created if the file does not have it; list items are named by
    index, sensors also by id. Raises `ConfigError` for a path that the schema or the data does not
    have.
    """
    hint: Any = cls
    node = root
    mark = Mark(override=override.text)
    for position, key in enumerate(override.keys):
        last = position == len(override.keys) - 1
        here = ".".join(override.keys[: position + 1])
        hint = without_none(hint)
        if item_type(hint) is not None:
            index = _index(hint, node, key, here, mark)
            hint = child_type(hint, index, None)
            if last:
                node.value[index] = override.value
            node = node.value[index]
            continue
        child = _child_hint(hint, node, key, here, mark)
        if not isinstance(node.value, dict):
            above = ".".join(override.keys[:position]) or "the top"
            raise _error(mark, here, f"is not there: {above} is {wording.show(plain(node))}")
        if not last and not _has_keys(child):
            raise _no_key(child, ".".join(override.keys[: position + 2]), mark)
        if last:
            node.value[key] = override.value
        elif key not in node.value or node.value[key].value is None:
            node.value[key] = _created(hint, key, child, here, mark)
        node = node.value[key]
        hint = child


def _error(mark: Mark, key: str, message: str) -> ConfigError:
    return Problem(mark, key, message).error()


def _has_keys(hint: Any) -> bool:
    hint = without_none(hint)
    return is_mapping_type(hint) or bool(tagged_union(hint)) or item_type(hint) is not None


def _no_key(hint: Any, here: str, mark: Mark) -> ConfigError:
    above, _, name = here.rpartition(".")
    kind = describe(hint, above.rpartition(".")[2])
    return _error(mark, here, f"there is no key {name!r}: {above} is {kind}")


def _child_hint(hint: Any, node: Node, key: str, here: str, mark: Mark) -> Any:
    """Type of a mapping's key."""
    if not is_mapping_type(hint) and not tagged_union(hint):
        raise _no_key(hint, here, mark)
    tags = tagged_union(hint)
    if tags:
        action = node.value.get("action") if isinstance(node.value, dict) else None
        chosen = tags.get(action.value) if action and isinstance(action.value, str) else None
        members = [chosen] if chosen else list(tags.values())
    else:
        members = [hint]
    known = {name: field for member in members for name, field in fields_of(member).items()}
    if key not in known:
        raise _error(mark, here, wording.unknown_key(key, list(known)))
    return known[key].hint


def _index(hint: Any, node: Node, key: str, here: str, mark: Mark) -> int:
    """Index of a list item given by number or by id."""
    if not isinstance(node.value, list):
        raise _error(mark, here, f"is not there: the list is {wording.show(plain(node))}")
    count = len(node.value)
    if key.isdecimal() and key.isascii() and len(key) < 10:
        if int(key) < count:
            return int(key)
        range_text = f"0 to {count - 1}" if count > 1 else "0" if count else "none, it is empty"
        raise _error(mark, here, f"there is no item {key}; the list has {range_text}")
    if tuple_length(hint) is not None or "id" not in _item_fields(hint):
        raise _error(mark, here, f"expected the number of an item (0 is the first), got {key!r}")
    ids = [
        item.value["id"].value
        for item in node.value
        if isinstance(item.value, dict) and "id" in item.value
    ]
    if ids.count(key) == 1:
        return next(
            index
            for index, item in enumerate(node.value)
            if isinstance(item.value, dict) and "id" in item.value and item.value["id"].value == key
        )
    names = [str(name) for name in ids]
    near = wording.nearest_key(key, names)
    hint_text = f", did you mean '{near}'?" if near else ""
    raise _error(
        mark, here, f"there is no item with the id {key!r}{hint_text} (known: {', '.join(names)})"
    )


def _item_fields(hint: Any) -> dict[str, Any]:
    """The keys of the items of a list of mappings; none for other lists."""
    item = without_none(item_type(hint))
    return dict(fields_of(item)) if is_mapping_type(item) else {}


def _created(hint: Any, key: str, child: Any, here: str, mark: Mark) -> Node:
    """What stands for a key that the file does not have and that something is set below."""
    child = without_none(child)
    if is_mapping_type(child) or tagged_union(child):
        return Node({}, mark)
    default = default_of(hint, key) if is_mapping_type(hint) else None
    if tuple_length(child) is not None and not isinstance(default, tuple):
        raise _error(mark, here, f"is not given: set all of it, as in {here}=[0, 0, 0]")
    values = default if isinstance(default, tuple) and tuple_length(child) else ()
    return Node([Node(value, mark) for value in values], mark)
