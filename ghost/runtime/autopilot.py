"""The autopilot that a scenario asks for, put between the run and its world."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module

from ghost.core import AutopilotSpec, ConfigError, MissingDependency, ScenarioSpec
from ghost.hal import SimulationBackend
from ghost.runtime.factories import FeatureState

__all__ = ["autopilot_state", "find_autopilot", "with_autopilot"]

_LIBRARIES = ("pymavlink", "mavsdk")
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
    _see_libraries()
    from ghost.backends.px4 import Px4Backend

    return Px4Backend(world, os.environ if environ is None else environ)


def find_autopilot(spec: AutopilotSpec, environ: Mapping[str, str]) -> str:
    """See that what a scenario needs is here, and say what it is.

    Raises `MissingDependency` and `ConfigError`.
    """
    _see_libraries()
    if spec.attach:
        return "somebody else's"
    if spec.image:
        return spec.image
    from ghost.px4 import find_px4

    program = find_px4(spec.binary, environ)
    return f"{program.binary} {program.version or '(version unknown)'}"


def autopilot_state(environ: Mapping[str, str] | None = None) -> FeatureState:
    """Whether scenarios with `autopilot: {kind: px4}` fly on this machine as they stand."""
    try:
        found = find_autopilot(AutopilotSpec(), os.environ if environ is None else environ)
    except MissingDependency as error:
        return FeatureState("px4", False, f"{error.dependency} is not installed", error.install)
    except ConfigError as error:
        return FeatureState("px4", False, str(error), "name another px4 with PX4_BIN")
    return FeatureState("px4", True, found, "")


def _see_libraries() -> None:
    """Find out now, rather than when PX4 is running, that a library is not installed."""
    for name in _LIBRARIES:
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != name:
                raise
            raise MissingDependency(
                name, needed_for="the autopilot PX4", install=_INSTALL
            ) from error
