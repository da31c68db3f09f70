"""Reading parameters back from a running PX4, to see whether it took them."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ghost.px4.params import ParamValueType
from ghost.px4.session import Px4Session

__all__ = ["ParamDifference", "ParamReadback", "ParamReport"]

_AT_ONCE = 8
"""Questions on their way at a time; PX4 answers one or two per round of its loop."""
_AGAIN_NS = 500_000_000
_ASKED_MOST = 10
"""PX4 hears no question before its boot is complete, which is after its first telemetry."""
_ASKED_IN_VAIN = 4
"""Enough where it has answered others: it does not know this one."""
_DOES_NOT_EXIST = 1


@dataclass(frozen=True, slots=True)
class ParamDifference:
    """A parameter that PX4 has otherwise than it was set."""

    name: str
    wanted: ParamValueType
    found: ParamValueType

    def __str__(self) -> str:
        return f"{self.name} is {self.found!r}, not {self.wanted!r}"


@dataclass(frozen=True, slots=True)
class ParamReport:
    """What reading back has shown."""

    ok: tuple[str, ...] = ()
    """Parameters that PX4 has as they were set."""
    differing: tuple[ParamDifference, ...] = ()
    missing: tuple[str, ...] = ()
    """Parameters that PX4 says it does not have."""
    unanswered: tuple[str, ...] = ()
    """Parameters it did not tell: PX4 before v1.17 says nothing about one it does not have."""

    @property
    def clean(self) -> bool:
        """Whether PX4 has all as they were set."""
        return not (self.differing or self.missing or self.unanswered)

    def lines(self) -> tuple[str, ...]:
        """For people: what is not as it was set."""
        return (
            *(str(difference) for difference in self.differing),
            *(f"{name} does not exist in this PX4" for name in self.missing),
            *(f"{name} was not told by PX4: it may not exist in it" for name in self.unanswered),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data, for a report."""
        return {
            "ok": len(self.ok),
            "differing": [[d.name, d.wanted, d.found] for d in self.differing],
            "missing": list(self.missing),
            "unanswered": list(self.unanswered),
        }


class ParamReadback:
    """Asks for parameters, a few at a time. Step the world (and poll the session) until `done`."""

    def __init__(self, session: Px4Session, wanted: Mapping[str, ParamValueType]) -> None:
        self.report = ParamReport()
        """Complete when `done`."""
        self.done = False
        self._session = session
        self._wanted = dict(wanted)
        self._queue = deque(wanted)
        self._asked: dict[str, tuple[int, int]] = {}  # name: when last, how often
        self._found: dict[str, ParamValueType | None] = {}
        self._silent: list[str] = []
        session.add_task(self._advance)

    def _advance(self, now_ns: int) -> bool:
        telemetry = self._session.telemetry
        for value in telemetry.params:
            if value.name in self._asked:
                del self._asked[value.name]
                self._found[value.name] = int(value.value) if value.is_int else value.value
        for error in telemetry.param_errors:
            if error.name in self._asked and error.error == _DOES_NOT_EXIST:
                del self._asked[error.name]
                self._found[error.name] = None
        for name, (asked_ns, times) in list(self._asked.items()):
            if now_ns - asked_ns < _AGAIN_NS:
                continue
            if times >= (_ASKED_IN_VAIN if self._found else _ASKED_MOST):
                del self._asked[name]
                self._silent.append(name)
            elif self._session.read_param(name):
                self._asked[name] = (now_ns, times + 1)
        while self._queue and len(self._asked) < _AT_ONCE:
            if not self._session.read_param(self._queue[0]):
                return False
            self._asked[self._queue.popleft()] = (now_ns, 1)
        if self._asked or self._queue:
            return False
        self._finish()
        return True

    def _finish(self) -> None:
        ok, differing, missing = [], [], []
        for name, wanted in self._wanted.items():
            if name in self._silent:
                continue
            found = self._found[name]
            if found is None:
                missing.append(name)
            elif _same(wanted, found):
                ok.append(name)
            else:
                differing.append(ParamDifference(name, wanted, found))
        self.report = ParamReport(
            tuple(ok), tuple(differing), tuple(missing), tuple(sorted(self._silent))
        )
        self.done = True


def _same(wanted: ParamValueType, found: ParamValueType) -> bool:
    """Equal as PX4 keeps them: a FLOAT has 32 bits."""
    if isinstance(found, int):
        return wanted == found
    try:
        return bool(struct.unpack("<f", struct.pack("<f", wanted))[0] == found)
    except OverflowError:
        return False
