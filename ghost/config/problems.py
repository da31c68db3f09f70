"""What is wrong with a configuration: positions, and the error that carries all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ghost.core import ConfigError

__all__ = ["ConfigProblems", "Mark", "Path", "Problem"]

Path = tuple[str | int, ...]
"""Keys and list indices from the top of the specification."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a value was written."""

    file: str | None = None
    """As the user named it; `None` for a value that came from no file."""
    line: int | None = None
    """From 1."""
    override: str | None = None
    """Text of the `--set` that it came from."""
    depth: int = 0
    """How many keys of a path lie above the top of this file (a vehicle file: 1)."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong."""

    mark: Mark
    key: str
    message: str

    def error(self) -> ConfigError:
        """The problem as an error of its own."""
        origin = f" (from --set {self.mark.override})" if self.mark.override is not None else ""
        return ConfigError(
            self.message + origin, file=self.mark.file, key=self.key or None, line=self.mark.line
        )


class ConfigProblems(ConfigError):
    """Everything that is wrong with a configuration, found in one go.

    `file`, `key`, `line` and `message` are those of the first problem; `problems` holds one line of
    text for each (`file:line: key.path: what, expected what`), and `str(error)` is the first of
    them with the number of the others.
    """

    def __init__(self, errors: Sequence[ConfigError]) -> None:
        first = errors[0]
        super().__init__(first.message, file=first.file, key=first.key, line=first.line)
        self.errors = tuple(errors)
        self.args = (self.errors,)  # what unpickling calls the class with

    @classmethod
    def of(cls, problems: Iterable[Problem]) -> ConfigProblems:
        """The error for some problems, in the order of their files and lines."""
        unique = list(dict.fromkeys(problems))
        order = {file: n for n, file in enumerate(dict.fromkeys(p.mark.file for p in unique))}
        unique.sort(key=lambda p: (order[p.mark.file], p.mark.line or 0))
        return cls([problem.error() for problem in unique])

    @property
    def problems(self) -> tuple[str, ...]:
        """One line of text for each problem."""
        return tuple(str(error) for error in self.errors)

    def __str__(self) -> str:
        more = len(self.errors) - 1
        rest = f" (and {more} more problem{'s' if more > 1 else ''})" if more else ""
        return str(self.errors[0]) + rest
