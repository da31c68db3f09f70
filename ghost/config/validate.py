"""Plain data to a specification, with every problem found in one go.

pydantic checks types, strictly, over the dataclasses of `ghost.core`; their own `__post_init__`
checks ranges. One broken value hides what a check behind it would say, so broken values are patched
and the check repeated until it finds nothing new. A check about a patched value is not believed.
"""

from __future__ import annotations

import copy
import functools
import json
import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from ghost.config import wording
from ghost.config.problems import ConfigProblems, Path, Problem
from ghost.config.schema import (
    child_type,
    fields_of,
    is_mapping_type,
    item_type,
    placeholder,
    tagged_union,
    tuple_length,
    without_none,
)
from ghost.config.tree import Node, plain

__all__ = ["key_text", "located", "validate"]

T = TypeVar("T")
_ROUNDS = 50
_ENOUGH = 500
"""With so many problems nobody needs those that hide behind them."""
_KEY = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*")


@dataclass(frozen=True, slots=True)
class _Found:
    path: Path
    message: str
    owner: Path | None = None
    """Where the dataclass is whose own check says so; `None` if it is about `path` alone."""


@functools.cache
def _adapter(cls: Any) -> TypeAdapter[Any]:  # building one takes longer than using it
    return TypeAdapter(cls)


def validate(
    cls: type[T], root: Node, known: Sequence[Problem] = (), broken: Sequence[Path] = ()
) -> T:
    """Return the specification that `root` describes.

    `known` are problems that were found earlier, `broken` the places that they made unusable.
    Raises `ConfigProblems` with those and all others.
    """
    data: Any = plain(root)
    problems = list(known)
    if not isinstance(data, dict):
        text = f"expected a mapping of keys to values at the top, got {wording.show(data)}"
        raise ConfigProblems.of([*problems, Problem(root.mark, "", text)])
    spec: T | None = None
    checker = _Checker(cls, copy.deepcopy(data))
    for path in broken:
        checker.patch(path)
    adapter: TypeAdapter[T] = _adapter(cast(Hashable, cls))
    for _ in range(_ROUNDS):
        try:
            spec = adapter.validate_json(checker.json(), strict=True)
            found: list[_Found] = []
        except ValidationError as error:
            found = list(checker.translate(error.errors(include_url=False)))
        found += checker.bad_actions()
        fresh = [entry for entry in found if checker.believes(entry)]
        if not fresh:
            break
        problems += [located(root, entry.path, entry.message) for entry in fresh]
        for path in [*(entry.path for entry in fresh), *checker.misnamed]:
            checker.patch(path)
        if len(problems) > _ENOUGH:
            break
    if problems or spec is None:
        if not problems:
            raise AssertionError(f"{cls.__name__} was refused without a reason: {found}")
        raise ConfigProblems.of(problems)
    return spec


def key_text(root: Node, path: Path, skip: int = 0) -> str:
    """A path as people write it: dots, and a sensor by its id instead of its index."""
    parts: list[str] = []
    node: Node | None = root
    for position, segment in enumerate(path):
        parent = node
        node = _below(node, segment)
        text = str(segment)
        if isinstance(segment, int) and position and path[position - 1] == "sensors" and parent:
            ids = [_id_of(item) for item in parent.value] if isinstance(parent.value, list) else []
            own = ids[segment] if segment < len(ids) else None
            if own and ids.count(own) == 1:
                text = own
        parts.append(text)
    return ".".join(parts[skip:])


def _id_of(sensor: Node) -> str | None:
    name = sensor.value.get("id") if isinstance(sensor.value, dict) else None
    return name.value if name is not None and isinstance(name.value, str) else None


def _below(node: Node | None, segment: str | int) -> Node | None:
    value = node.value if node else None
    if isinstance(value, dict) and isinstance(segment, str):
        return value.get(segment)
    if isinstance(value, list) and isinstance(segment, int) and segment < len(value):
        item = value[segment]
        return item if isinstance(item, Node) else None
    return None


def located(root: Node, path: Path, message: str) -> Problem:
    """The problem at a path, placed at the deepest part of it that was written."""
    node = root
    for segment in path:
        below = _below(node, segment)
        if below is None:
            break
        node = below
    return Problem(node.mark, key_text(root, path, node.mark.depth), message)


class _Checker:
    """The data under test, what was patched in it, and how pydantic's errors read."""

    def __init__(self, cls: type, data: dict[str, Any]) -> None:
        self._cls = cls
        self._data = data
        self._patched: set[Path] = set()
        self.misnamed: set[Path] = set()
        """Required keys that are absent, but stand there under a wrong name."""

    def json(self) -> str:
        """JSON, because pydantic's strict mode takes lists for tuples only from there."""
        return json.dumps(self._data)

    # -- reading errors ---------------------------------------------------------------------------

    def translate(self, errors: Sequence[ErrorDetails]) -> Iterator[_Found]:
        """Paths and messages of pydantic's errors, without those of union members not chosen."""
        absent: list[_Found] = []
        for error in errors:
            path = self._path(error["loc"])
            if path is None:
                continue
            kind = error["type"]
            parent = self._hint(path[:-1])
            value = self._value(path)
            if kind == "unexpected_keyword_argument":
                key = str(path[-1])
                names = list(self._fields(path[:-1]))
                near = wording.nearest_key(key, names)
                if near is not None:
                    self.misnamed.add((*path[:-1], near))
                yield _Found(path, wording.unknown_key(key, names))
            elif kind in ("missing", "too_long") and tuple_length(parent) is not None:
                yield self._wrong(path[:-1], self._value(path[:-1]))
            elif kind == "too_long" and tuple_length(self._hint(path)) is not None:
                yield self._wrong(path, value)
            elif kind == "missing":
                absent.append(_Found(path, wording.missing(self._hint(path), str(path[-1]))))
            elif kind == "value_error":
                for line in str(error["ctx"]["error"]).split("\n"):
                    yield self._refined(path, line)
            else:
                yield self._wrong(path, value)
        # A key that is there under a wrong name is one problem, not two.
        absent_paths = {entry.path for entry in absent}
        self.misnamed &= absent_paths
        yield from (entry for entry in absent if entry.path not in self.misnamed)

    def _wrong(self, path: Path, value: object) -> _Found:
        key = next((str(part) for part in reversed(path) if isinstance(part, str)), "")
        return _Found(path, wording.wrong_type(self._hint(path), key, value))

    def _path(self, loc: tuple[str | int, ...]) -> Path | None:
        """pydantic's location without the class names of unions; `None` for another member's."""
        path: list[str | int] = []
        value: object = self._data
        hint: Any = self._cls
        members: dict[str, type] = {}
        for segment in loc:
            if members:
                action = value.get("action") if isinstance(value, dict) else None
                chosen = members.get(action) if isinstance(action, str) else None
                members = {}
                if chosen is None or chosen.__name__ != segment:
                    return None
                continue
            hint = child_type(hint, segment, value)
            path.append(segment)
            value = self._step(value, segment)
            members = dict(tagged_union(hint))
        return tuple(path)

    def _refined(self, path: Path, message: str) -> _Found:
        """Moves the key that a check's message starts with from the message to the path."""
        first, _, rest = message.partition(" ")
        longer: list[str | int] = list(path)
        hint, value = self._hint(path), self._value(path)
        for word in first.split("."):
            segment: str | int | None = word
            if item_type(without_none(hint)) is not None:
                segment = _index_of(value, word)
            if segment is None or (below := child_type(hint, segment, value)) is None:
                return _Found(path, message, path)
            longer.append(segment)
            hint, value = below, self._step(value, segment)
        return _Found(tuple(longer), rest, path)

    def bad_actions(self) -> Iterator[_Found]:
        """Items of a tagged union that do not say, or not rightly, which member they are."""
        yield from self._bad_actions(self._cls, self._data, ())

    def _bad_actions(self, hint: Any, value: object, path: Path) -> Iterator[_Found]:
        hint = without_none(hint)
        tags = tagged_union(hint)
        if tags:
            if not isinstance(value, dict):
                yield _Found(path, wording.wrong_type(hint, "", value))
            elif "action" not in value:
                words = ", ".join(tags)
                yield _Found((*path, "action"), f"is missing, expected one of {words}")
            elif not isinstance(value["action"], str) or value["action"] not in tags:
                text = wording.unknown_word(value["action"], list(tags))
                yield _Found((*path, "action"), text)
        elif is_mapping_type(hint) and isinstance(value, dict):
            for name, field in fields_of(hint).items():
                if name in value:
                    yield from self._bad_actions(field.hint, value[name], (*path, name))
        elif item_type(hint) is not None and isinstance(value, list):
            for index, item in enumerate(value):
                yield from self._bad_actions(item_type(hint), item, (*path, index))

    # -- patching ---------------------------------------------------------------------------------

    def believes(self, found: _Found) -> bool:
        """Whether a problem is in what the user wrote, not in what was patched."""
        path, owner = found.path, found.owner
        if any(path[:length] in self._patched for length in range(len(path) + 1)):
            return False
        if owner is None:
            return True
        # A dataclass's own check depends on what it is about and on the keys that it names.
        named = _KEY.findall(found.message)
        for patched in self._patched:
            if patched[: len(path)] == path:
                return False
            if patched[: len(owner)] != owner:
                continue
            below = ".".join(map(str, patched[len(owner) :])) + "."
            if any(below.startswith(f"{key}.") or f"{key}.".startswith(below) for key in named):
                return False
        return True

    def patch(self, path: Path) -> None:
        """Put something at `path` that passes: the default if there is one."""
        self._patched.add(path)
        if not path:
            return
        union = path[-1] == "action" and tagged_union(self._hint(path[:-1]))
        if union:
            path = path[:-1]
            self._patched.add(path)
        hint = self._hint(path)
        parent = self._value(path[:-1])
        last = path[-1]
        if isinstance(parent, dict) and isinstance(last, str):
            field = self._fields(path[:-1]).get(last)
            if field is None or not field.required:
                parent.pop(last, None)
            else:
                parent[last] = placeholder(hint)
        elif isinstance(parent, list) and isinstance(last, int) and last < len(parent):
            parent[last] = placeholder(hint)

    # -- looking up -------------------------------------------------------------------------------

    def _fields(self, path: Path) -> dict[str, Any]:
        hint = without_none(self._hint(path))
        value = self._value(path)
        tags = tagged_union(hint)
        if tags and isinstance(value, dict) and isinstance(value.get("action"), str):
            hint = tags.get(value["action"])
        return dict(fields_of(hint)) if is_mapping_type(hint) else {}

    def _hint(self, path: Path) -> Any:
        hint: Any = self._cls
        value: object = self._data
        for segment in path:
            hint = child_type(hint, segment, value)
            value = self._step(value, segment)
        return without_none(hint)

    def _value(self, path: Path) -> object:
        value: object = self._data
        for segment in path:
            value = self._step(value, segment)
        return value

    @staticmethod
    def _step(value: object, segment: str | int) -> object:
        if isinstance(value, dict):
            return value.get(segment)
        if isinstance(value, list) and isinstance(segment, int) and 0 <= segment < len(value):
            return value[segment]
        return None


def _index_of(items: object, word: str) -> int | None:
    """Index of a list item that a check names by number or by the item's id."""
    if not isinstance(items, list):
        return None
    if word.isdecimal():
        return int(word)
    ids = [item.get("id") if isinstance(item, dict) else None for item in items]
    return ids.index(word) if word in ids else None
