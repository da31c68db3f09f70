"""What the commands that fly a scenario share: their options, what those mean, and the verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ghost.cli.exit_codes import ExitCode
from ghost.cli.params import DURATION, OVERRIDE, SEED, see_current_folder

if TYPE_CHECKING:
    from ghost.core import ScenarioSpec
    from ghost.hal import SimulationBackend
    from ghost.runtime import RunResult

__all__ = ["flight_options", "load_flight", "open_backend", "see_autopilot", "verdict"]

Command = Callable[..., Any]

_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.argument("scenario", metavar="SCENARIO"),
    click.option(
        "--backend",
        default="embedded",
        show_default=True,
        metavar="NAME",
        help="A name of 'ghost backends', or package.module:Class.",
    ),
    click.option("--seed", type=SEED, metavar="N", help="Instead of the scenario's seed."),
    click.option(
        "--duration",
        type=DURATION,
        metavar="TIME",
        help="Simulated time to run: 10, 10s, 500ms, 2min. Instead of the scenario's.",
    ),
    click.option(
        "--set",
        "overrides",
        type=OVERRIDE,
        multiple=True,
        metavar="KEY=VALUE",
        help="Change a key of the scenario, or a setting of the backend; may be given several "
        "times.",
    ),
)


def flight_options(command: Command) -> Command:
    """Give a command SCENARIO, --backend, --seed, --duration and --set, in this order."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def load_flight(
    name: str, overrides: tuple[str, ...], duration_ns: int | None
) -> tuple[ScenarioSpec, dict[str, str]]:
    """Return the scenario with what `--set` and `--duration` change, and the backend's settings.

    Raises `ConfigError` for a scenario that is unknown or wrong.
    """
    from dataclasses import replace

    from ghost.config import load_scenario
    from ghost.runtime import split_settings

    changes, settings = split_settings(overrides)
    spec = load_scenario(name, changes)
    return (spec if duration_ns is None else replace(spec, duration_ns=duration_ns)), settings


def verdict(result: RunResult) -> tuple[ExitCode, str]:
    """The exit code of a run, and one line about what went wrong; empty if all went well."""
    from ghost.runtime import Outcome

    at = f"at {result.sim_time_s:.3f} s of simulated time"
    if result.outcome is Outcome.BACKEND_LOST:
        return ExitCode.BACKEND_LOST, f"backend lost {at}: {result.error}"
    if result.outcome is Outcome.INTERRUPTED:
        return ExitCode.INTERRUPTED, f"interrupted {at}"
    if result.failed:
        return ExitCode.FAILED, f"the flight went wrong: {result.trouble}"
    return ExitCode.OK, ""


def open_backend(backend: str, settings: dict[str, str], spec: ScenarioSpec) -> SimulationBackend:
    """Make the backend that `--backend` names, with what `--set` says of it, and the autopilot.

    Raises what `make_backend` and `with_autopilot` raise, and `Explained` where a scenario needs a
    PX4 and there is none.
    """
    see_autopilot(spec)
    from ghost.runtime import make_backend, with_autopilot

    see_current_folder(backend)
    world = make_backend(backend, settings)
    try:
        return with_autopilot(world, spec)
    except BaseException:
        world.shutdown()
        raise


def see_autopilot(spec: ScenarioSpec) -> None:
    """Say in one screen what is missing, before anything is started."""
    autopilot = spec.autopilot
    if autopilot is None or autopilot.image or autopilot.attach:
        return
    import os

    from ghost.cli.failures import Explained
    from ghost.core import MissingDependency
    from ghost.runtime import find_autopilot

    try:
        find_autopilot(autopilot, os.environ)
    except MissingDependency as error:
        if error.dependency != "px4":
            raise
        from ghost.px4 import missing_px4_screen

        raise Explained(missing_px4_screen(spec.name, link=autopilot.link)) from error
