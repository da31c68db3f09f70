"""YAML text to a tree of plain values that remember where they were written.

The grammar is PyYAML's; what a plain word means is YAML 1.2's core schema, because PyYAML's YAML
1.1 reads `1e-8` as text, `010` as eight, `1:30` as ninety and `no` as false. Anchors, aliases and
tags are refused: a configuration needs none of them, and aliases are how a small file becomes huge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from ghost.config.problems import Mark, Problem
from ghost.core import ConfigError

__all__ = ["MAX_DEPTH", "MAX_NODES", "Node", "parse", "plain"]

MAX_DEPTH = 40
"""Deepest nesting that is read; the specification itself is 8 deep."""
MAX_NODES = 50_000
"""Most values that are read from one file."""

_INT = re.compile(r"[-+]?[0-9][0-9_]*")
_HEX = re.compile(r"0x[0-9a-fA-F_]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL = {
    ".inf": float("inf"),
    "+.inf": float("inf"),
    "-.inf": float("-inf"),
    ".nan": float("nan"),
}
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}
_MAX_DIGITS = 40


@dataclass(slots=True)
class Node:
    """A value and its place. For the value of a key, the place is that of the key."""

    value: Any
    """`dict[str, Node]`, `list[Node]`, or a scalar."""
    mark: Mark


def plain(node: Node) -> Any:
    """The values without their places."""
    if isinstance(node.value, dict):
        return {key: plain(child) for key, child in node.value.items()}
    if isinstance(node.value, list):
        return [plain(child) for child in node.value]
    return node.value


def parse(text: str, mark: Mark, problems: list[Problem]) -> Node:
    """Read one YAML document.

    `mark` gives the file and depth that all places share; for the value of a `--set`, its line is
    `None` and so is every line below. What can be read around (duplicate keys, keys that are no
    names) is added to `problems`; what cannot (syntax, aliases, size) raises `ConfigError`.
    """
    try:
        return _Builder(text, mark, problems).document()
    except yaml.MarkedYAMLError as error:
        place = error.problem_mark or error.context_mark
        what = ", ".join(part for part in (error.context, error.problem) if part)
        column = f" (column {place.column + 1})" if place and mark.override is None else ""
        line = place.line + 1 if place else None
        raise _refusal(mark, line, f"YAML syntax error: {what}{column}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        code = ord(error.character) if isinstance(error.character, str) else error.character
        raise _refusal(
            mark, line, f"character U+{code:04X} is not allowed in YAML; is this a text file?"
        ) from error
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        # PyYAML lets chr() and int() fail on absurd escapes and version numbers.
        raise _refusal(mark, None, f"YAML syntax error: {error}") from error


def _refusal(mark: Mark, line: int | None, message: str) -> ConfigError:
    if mark.override is not None:
        return Problem(mark, "", message).error()
    return ConfigError(message, file=mark.file, line=line)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


class _Builder:
    """Builds the tree from PyYAML's events, so that every limit acts before memory is spent."""

    def __init__(self, text: str, mark: Mark, problems: list[Problem]) -> None:
        self._events: Iterator[yaml.Event] = iter(yaml.parse(text, Loader=yaml.SafeLoader))
        self._mark = mark
        self._problems = problems
        self._nodes = 0

    def document(self) -> Node:
        next(self._events)  # StreamStart
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            return Node(None, self._at(event))
        root = self._node(next(self._events), 0, ())
        next(self._events)  # DocumentEnd
        event = next(self._events)
        if not isinstance(event, yaml.StreamEndEvent):
            raise self._refuse(event, "a second document ('---') begins here, expected only one")
        return root

    def _at(self, event: yaml.Event) -> Mark:
        shared = self._mark
        line = _line(event) if shared.override is None else None
        return Mark(shared.file, line, shared.override, shared.depth)

    def _refuse(self, event: yaml.Event, message: str) -> ConfigError:
        return _refusal(self._mark, _line(event), message)

    def _node(self, event: yaml.Event, depth: int, path: tuple[str, ...]) -> Node:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self._refuse(event, f"more than {MAX_NODES} values: this is no configuration")
        if depth > MAX_DEPTH:
            raise self._refuse(event, f"nested more than {MAX_DEPTH} deep")
        if isinstance(event, yaml.AliasEvent):
            raise self._refuse(event, f"the alias '*{event.anchor}' is not supported: repeat it")
        if getattr(event, "anchor", None) is not None:
            raise self._refuse(event, "anchors ('&name') are not supported: write the value out")
        tag: str | None = getattr(event, "tag", None)
        if tag is not None:
            raise self._refuse(event, f"the tag {tag!r} is not supported: write the plain value")
        mark = self._at(event)
        if isinstance(event, yaml.MappingStartEvent):
            return Node(self._mapping(depth, path), mark)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Node] = []
            while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
                items.append(self._node(event, depth + 1, (*path, str(len(items)))))
            return Node(items, mark)
        assert isinstance(event, yaml.ScalarEvent)
        return Node(self._scalar(event), mark)

    def _mapping(self, depth: int, path: tuple[str, ...]) -> dict[str, Node]:
        entries: dict[str, Node] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            mark = self._at(event)
            name = event.value if isinstance(event, yaml.ScalarEvent) else None
            if isinstance(event, yaml.ScalarEvent):
                self._scalar(event)  # the same limits as for a value
            else:
                self._node(event, depth + 1, path)
            below = (*path, name or "?")
            value = self._node(next(self._events), depth + 1, below)
            key = ".".join(path)
            if name is None:
                self._problems.append(Problem(mark, key, "a key must be a name, not a structure"))
            elif name in entries:
                first = entries[name].mark.line
                where = f" (first on line {first})" if first else ""
                text = f"the key is given twice{where}: remove one"
                self._problems.append(Problem(mark, ".".join(below), text))
            else:
                entries[name] = Node(value.value, mark)
        return entries

    def _scalar(self, event: yaml.ScalarEvent) -> str | int | float | bool | None:
        text: str = event.value
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise self._refuse(
                event, "a lone surrogate (\\uD800-\\uDFFF) is no character"
            ) from None
        if not event.implicit[0] or event.style is not None:  # quoted or a block: text
            return text
        lower = text.lower()
        if lower in _WORDS:
            return _WORDS[lower]
        if lower in _SPECIAL:
            return _SPECIAL[lower]
        if _INT.fullmatch(text) or _HEX.fullmatch(text):
            if len(text) > _MAX_DIGITS:
                raise self._refuse(event, f"a number of {len(text)} digits is too long")
            return int(text.replace("_", ""), 16 if _HEX.fullmatch(text) else 10)
        if _FLOAT.fullmatch(text):
            if len(text) > 10 * _MAX_DIGITS:
                raise self._refuse(event, f"a number of {len(text)} digits is too long")
            return float(text.replace("_", ""))
        return text
