"""Kinds of values on the command line, each refusing what it cannot mean."""

from __future__ import annotations

import math
import re
import sys
from decimal import Decimal
from pathlib import Path

import click

__all__ = [
    "DURATION",
    "ENCODING",
    "MOMENT",
    "OVERRIDE",
    "PORT",
    "RTF",
    "RUNS",
    "SEED",
    "TOLERANCE",
    "see_current_folder",
]

_UNITS_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
_DURATION = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*([a-z]*)")

_SLOWEST_RTF = 1e-3  # as `ghost.core.Throttle` has it

_MOST_RUNS = 1000  # as `ghost.runtime.MAX_RUNS` has it

_ZERO = re.compile(r"0+(\.0*)?\s*(ns|us|ms|s|min|h)?")


class Duration(click.ParamType[int]):
    """`10`, `10s`, `500ms`, `2min` → nanoseconds. Decimal arithmetic, so that 0.1s is exact."""

    name = "duration"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        if isinstance(value, int):
            return value
        match = _DURATION.fullmatch(str(value).strip())
        if match is None:
            self.fail(f"{value!r} is no duration; write 10, 10s, 500ms or 2min", param, ctx)
        number, unit = match.groups()
        if (unit or "s") not in _UNITS_NS:
            units = ", ".join(_UNITS_NS)
            self.fail(f"{value!r} has the unknown unit {unit!r}; use one of {units}", param, ctx)
        duration = Decimal(number) * _UNITS_NS[unit or "s"]
        if duration < 1:
            self.fail(f"{value!r} must be more than 0 (at least 1ns)", param, ctx)
        if duration >= 2**63:
            self.fail(f"{value!r} is more than 292 years", param, ctx)
        return int(duration)


class Moment(Duration):
    """A time since the start: a duration, or 0."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        if _ZERO.fullmatch(str(value).strip()):
            return 0
        return super().convert(value, param, ctx)


class Seed(click.ParamType[int]):
    """An integer within 64 bits, not negative."""

    name = "integer"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        try:
            seed = int(str(value), 0)
        except ValueError:
            self.fail(f"{value!r} is no integer", param, ctx)
        if not 0 <= seed < 2**64:
            self.fail(f"{value} must be within 0..2**64-1", param, ctx)
        return seed


class RealTimeFactor(click.ParamType[float]):
    """A finite number, 0.001 or more."""

    name = "factor"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            factor = float(str(value))
        except ValueError:
            self.fail(f"{value!r} is no number; 1 is real time", param, ctx)
        if not (math.isfinite(factor) and factor > 0.0):
            self.fail(
                f"{value} must be a finite number above 0 (1 is real time); "
                "leave it out to run as fast as possible",
                param,
                ctx,
            )
        if factor < _SLOWEST_RTF:
            self.fail(f"{value} must be at least {_SLOWEST_RTF:g}", param, ctx)
        return factor


class Override(click.ParamType[str]):
    """`key=value`; `example` is what a message shows."""

    name = "key=value"

    def __init__(self, example: str) -> None:
        self._example = example

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        text = str(value)
        key, equals, _ = text.partition("=")
        if not equals or not key.strip():
            self.fail(
                f"{text!r} is not of the form key=value, such as {self._example}",
                param,
                ctx,
            )
        return text


class Port(click.ParamType[int]):
    """A TCP port; 0 takes a free one."""

    name = "port"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        try:
            port = int(str(value))
        except ValueError:
            self.fail(f"{value!r} is no port; other arguments come before --live", param, ctx)
        if not 0 <= port < 2**16:
            self.fail(f"{value} must be within 0..65535", param, ctx)
        return port


class Runs(click.ParamType[int]):
    """How many times: two or more, since one alone has no spread."""

    name = "integer"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        try:
            runs = int(str(value))
        except ValueError:
            self.fail(f"{value!r} is no integer", param, ctx)
        if not 2 <= runs <= _MOST_RUNS:
            self.fail(f"{value} must be within 2..{_MOST_RUNS}", param, ctx)
        return runs


class Tolerance(click.ParamType[float]):
    """A finite length in metres, 0 or more."""

    name = "metres"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            metres = float(str(value))
        except ValueError:
            self.fail(f"{value!r} is no number of metres, such as 0.05", param, ctx)
        if not (math.isfinite(metres) and metres >= 0.0):
            self.fail(f"{value} must be a finite number of metres, 0 or more", param, ctx)
        return metres


DURATION = Duration()
MOMENT = Moment()
SEED = Seed()
RTF = RealTimeFactor()
OVERRIDE = Override("world.gravity_mps2=3.7")
ENCODING = Override("cam_front=png")
PORT = Port()
RUNS = Runs()
TOLERANCE = Tolerance()


def see_current_folder(backend: str) -> None:
    """Let `module:Class` find modules in the current folder, as `python -m` would."""
    here = str(Path.cwd())
    if ":" in backend and here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
