"""The errors of Ghost: a small tree, so that a caller can catch one thing.

Native errors of a library (a physics engine, a socket, a parser) are translated into one of these
at the edge of the room that talks to it, `from` the original.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "BackendLost",
    "ClosedError",
    "ConfigError",
    "ContractViolation",
    "GhostError",
    "MissingDependency",
    "UnknownName",
]


class GhostError(Exception):
    """Base of every error that Ghost raises on purpose."""


class ContractViolation(GhostError):
    """The caller broke a rule of the specification (for example `advance()` inside a callback)."""


class ClosedError(ContractViolation):
    """Something was used after its `shutdown()`, `stop()` or `close()`."""


class BackendLost(GhostError):
    """The world behind a backend is gone: server killed, socket dead, deadline passed (D23)."""


class ConfigError(GhostError):
    """A scenario, vehicle or command-line value is wrong.

    `message` says what is wrong and what to do. `file`, `key` (a path such as
    `sensors.imu0.rate_hz`) and `line` (from 1) say where; they are optional attributes and
    `str(error)` puts those that are known before the message, on one line:
    `FILE:LINE: KEY: MESSAGE`. Do not repeat them in `message`.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        key: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.key = key
        self.line = line

    def __str__(self) -> str:
        where = self.file or ""
        if self.line is not None:
            where = f"{where}:{self.line}" if where else f"line {self.line}"
        text = ": ".join(part for part in (where, self.key or "", self.message) if part)
        return " ".join(text.split())


class UnknownName(ConfigError):
    """A name that is in no table: a backend, scenario, vehicle, key. Lists the nearest known ones.

    `kind` is what the name was meant to be ("backend"), `known` the names that exist.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        known: Iterable[str],
        *,
        file: str | None = None,
        key: str | None = None,
        line: int | None = None,
    ) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        super().__init__(self._describe(), file=file, key=key, line=line)
        # What unpickling calls the class with; the keyword attributes travel in __dict__.
        self.args = (kind, name, self.known)

    @property
    def nearest(self) -> tuple[str, ...]:
        """Up to three known names that look like the one given, best first."""
        import difflib

        return tuple(difflib.get_close_matches(self.name, self.known, n=3, cutoff=0.6))

    def _describe(self) -> str:
        text = f"unknown {self.kind} {self.name!r}"
        if self.nearest:
            text += "; did you mean " + " or ".join(repr(name) for name in self.nearest) + "?"
        if self.known:
            return f"{text} (known: {', '.join(self.known)})"
        return f"{text} (no {self.kind} is known)"


class MissingDependency(GhostError):
    """An optional library or program is not installed (D26).

    `dependency` is what is missing, `needed_for` what asked for it, `install` the command or image
    that brings it, for example `pip install "ghost-hal[pybullet]"`.
    """

    def __init__(self, dependency: str, *, needed_for: str = "", install: str = "") -> None:
        super().__init__(dependency)
        self.dependency = dependency
        self.needed_for = needed_for
        self.install = install

    def __str__(self) -> str:
        text = f"{self.dependency} is not installed"
        if self.needed_for:
            text = f"{self.needed_for} needs {self.dependency}, which is not installed"
        return f"{text}; install it with: {self.install}" if self.install else text
