"""The autopilot that a scenario asks for, put between the run and its world."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ghost.core import AutopilotSpec, MissingDependency, ScenarioSpec
from ghost.hal import SimulationBackend

__all__ = ["find_autopilot", "with_autopilot"]

_LIBRARIES = ("docker", "mavsdk", "pymavlink")
_INSTALL = 'pip install "ghost-hal[px4]"'


def with_autopilot(
    world: SimulationBackend, scenario: ScenarioSpec, environ: Mapping[str, str] | None = None
) -> SimulationBackend:
    """The world itself, or, for a scenario with an `autopilot`, the world that PX4 flies.

    The result owns `world`. `environ` is where PX4 is looked for, the process's by default. Raises
    `MissingDependency` if a library for it is not installed.
    """
    if scenario.autopilot is None:
        return world
    with _explained():
        from ghost.backends.px4 import Px4Backend
    return Px4Backend(world, os.environ if environ is None else environ)


def find_autopilot(spec: AutopilotSpec, environ: Mapping[str, str]) -> None:
    """See that the program a scenario needs is here. Raises `MissingDependency`, `ConfigError`."""
    with _explained():
        from ghost.px4 import find_px4
    if not spec.image:
        find_px4(spec.binary, environ)


@contextmanager
def _explained() -> Iterator[None]:
    """Say how to install what an import lacks."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _LIBRARIES:
            raise
        raise MissingDependency(
            error.name or "pymavlink", needed_for="the autopilot PX4", install=_INSTALL
        ) from error
