"""The sink of a replay: it takes what a live one would, commands nothing, and can compare."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np

from ghost.hal import (
    AckReason,
    ActuatorCommand,
    ActuatorSpec,
    CommandAck,
    CommandRecord,
    check_command,
)

__all__ = ["CompareReport", "LevelDifference", "ReplaySink", "difference_of"]


@dataclass(frozen=True, slots=True)
class LevelDifference:
    """How far commands of one level and field were from the recorded ones."""

    count: int
    max_norm: float
    """Largest norm of new − recorded, in the field's unit."""
    rms_norm: float
    max_at_ns: int
    """When it was largest."""


@dataclass(frozen=True, slots=True)
class CompareReport:
    """What `compare=True` found until now."""

    sent: int
    """Well-formed commands."""
    equal: int
    """Equal to the recorded command in force, to the last bit."""
    unmatched: int
    """Sent while no recorded command was in force yet."""
    other_level: int
    """Of another level than the recorded command."""
    fields: dict[str, LevelDifference]
    """By `LEVEL.field`."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data; what is not finite is None."""
        return {
            "sent": self.sent,
            "equal": self.equal,
            "unmatched": self.unmatched,
            "other_level": self.other_level,
            "fields": {
                name: {
                    "count": part.count,
                    "max_norm": part.max_norm if math.isfinite(part.max_norm) else None,
                    "rms_norm": part.rms_norm if math.isfinite(part.rms_norm) else None,
                    "max_at_ns": part.max_at_ns,
                }
                for name, part in self.fields.items()
            },
        }


class _Sum:
    """Running figures of one field."""

    __slots__ = ("at_ns", "count", "largest", "squares")

    def __init__(self) -> None:
        self.count = 0
        self.largest = -1.0
        self.squares = 0.0
        self.at_ns = 0

    def add(self, norm: float, now_ns: int) -> None:
        self.count += 1
        self.squares += norm * norm
        if norm > self.largest:
            self.largest, self.at_ns = norm, now_ns


def difference_of(new: ActuatorCommand, recorded: ActuatorCommand) -> dict[str, float]:
    """Return the norm of new − recorded of each field; both are of one class.

    Angles count the short way round (`yaw_rad`), and of a quaternion it is the angle in rad between
    the two attitudes (q and −q are one).
    """
    norms = {}
    for field in fields(cast("Any", new)):
        mine, theirs = getattr(new, field.name), getattr(recorded, field.name)
        if field.name == "yaw_rad":
            norms[field.name] = abs(math.remainder(mine - theirs, math.tau))
        elif field.name == "q_enu_flu":
            scale = float(np.linalg.norm(mine) * np.linalg.norm(theirs))
            cosine = abs(float(np.dot(mine, theirs))) / scale if scale else math.nan
            equal = np.array_equal(mine, theirs)
            norms[field.name] = 0.0 if equal else 2.0 * math.acos(min(1.0, cosine))
        elif isinstance(mine, np.ndarray):
            same_shape = mine.shape == theirs.shape
            norms[field.name] = float(np.linalg.norm(mine - theirs)) if same_shape else math.inf
        else:
            norms[field.name] = abs(mine - theirs)
    return norms


class ReplaySink:
    """The `ActuatorSink` of a replay. One object for the life of the backend.

    A command that a live sink would take is answered `REPLAY`: not accepted, nothing applied. One
    that it would refuse gets that refusal, so that a program finds its mistakes in a replay too.
    With `compare`, `detail` says how far the command is from the recorded one in force: the last
    whose stamp is not after now.
    """

    def __init__(self, spec: ActuatorSpec, now_ns: Callable[[], int], *, compare: bool) -> None:
        self.spec = spec
        self._now_ns = now_ns
        self._compare = compare
        self._closed = False
        self.reset()

    def reset(self) -> None:
        """Start anew: nothing was recorded or sent yet."""
        self._closed = False
        self._last_stamp_ns = 0
        self._recorded: CommandRecord | None = None
        self._sent = self._equal = self._unmatched = self._other_level = 0
        self._sums: dict[str, _Sum] = {}

    def close(self) -> None:
        """Answer CLOSED from now on."""
        self._closed = True

    def recorded(self, record: CommandRecord) -> None:
        """Take note of a command of the recorded run."""
        self._recorded = record

    def compare_report(self) -> CompareReport:
        """Return what the commands sent so far came to."""
        return CompareReport(
            sent=self._sent,
            equal=self._equal,
            unmatched=self._unmatched,
            other_level=self._other_level,
            fields={
                name: LevelDifference(
                    found.count, found.largest, math.sqrt(found.squares / found.count), found.at_ns
                )
                for name, found in sorted(self._sums.items())
            },
        )

    def send(self, cmd: ActuatorCommand, stamp_ns: int) -> CommandAck:
        """See `ghost.hal.ActuatorSink.send`; nothing is ever accepted."""
        now_ns = self._now_ns()
        if self._closed:
            return CommandAck(
                False, AckReason.CLOSED, now_ns, None, "the replay was shut down; reset() rewinds"
            )
        verdict = check_command(
            cmd, stamp_ns, self.spec, now_ns=now_ns, last_stamp_ns=self._last_stamp_ns
        )
        if verdict.applied is None:
            return CommandAck(False, verdict.reason, now_ns, None, verdict.detail)
        self._last_stamp_ns = verdict.stamp_ns
        detail = "a recording is played: nothing is commanded"
        if self._compare:
            detail = self._compared(cmd, now_ns)
        return CommandAck(False, AckReason.REPLAY, now_ns, None, detail)

    def _compared(self, cmd: ActuatorCommand, now_ns: int) -> str:
        self._sent += 1
        record = self._recorded
        if record is None:
            self._unmatched += 1
            return "no command was recorded until now"
        recorded, at = record.command, f"the command recorded at {record.stamp_sim_ns} ns"
        if type(recorded) is not type(cmd):
            self._other_level += 1
            return f"{cmd.level.name}, but {at} is {recorded.level.name}"
        norms = difference_of(cmd, recorded)
        for name, norm in norms.items():
            key = f"{cmd.level.name}.{name}"
            self._sums.setdefault(key, _Sum()).add(norm, now_ns)
        if cmd == recorded:
            self._equal += 1
            return f"equal to {at}"
        parts = ", ".join(f"|Δ{name}| = {norm:.6g}" for name, norm in norms.items())
        return f"{parts} to {at}"
