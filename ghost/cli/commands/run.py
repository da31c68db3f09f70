"""`ghost run`: fly a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ghost.cli.exit_codes import EPILOG, ExitCode
from ghost.cli.params import DURATION, OVERRIDE, RTF, SEED, see_current_folder

if TYPE_CHECKING:
    from ghost.core import ScenarioSpec
    from ghost.runtime import RunResult

__all__ = ["command"]


@click.command("run", short_help="Run a scenario and print what came of it.", epilog=EPILOG)
@click.argument("scenario", metavar="SCENARIO")
@click.option(
    "--backend",
    default="embedded",
    show_default=True,
    metavar="NAME",
    help="A name of 'ghost backends', or package.module:Class.",
)
@click.option("--seed", type=SEED, metavar="N", help="Instead of the scenario's seed.")
@click.option(
    "--duration",
    type=DURATION,
    metavar="TIME",
    help="Simulated time to run: 10, 10s, 500ms, 2min. Instead of the scenario's.",
)
@click.option(
    "--rtf",
    type=RTF,
    metavar="X",
    help="Hold the run back to X times real time. Results do not change.",
)
@click.option(
    "--set",
    "overrides",
    type=OVERRIDE,
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a key of the scenario; may be given several times.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@click.option("--quiet", is_flag=True, help="No progress bar and no table.")
@click.pass_context
def command(
    ctx: click.Context,
    scenario: str,
    backend: str,
    seed: int | None,
    duration: int | None,
    rtf: float | None,
    overrides: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Run SCENARIO, a name of 'ghost scenarios' or a YAML file, and print what came of it.

    Everything random comes from the seed: the same scenario and seed give the same digest on
    backends that are deterministic. Ctrl-C ends the run with the summary of the part that ran.

    \b
    Examples:
      ghost run square
      ghost run square --seed 7 --json
      ghost run hover --duration 10s --rtf 1
      ghost run my_scenario.yaml --set world.wind_enu_mps="[3, 0, 0]"
      ghost run hover --backend my_driver:Backend
    """
    from ghost.cli.failures import complain
    from ghost.cli.output import print_json, stdout_kept_clean
    from ghost.cli.summary import print_summary

    spec = _scenario(scenario, overrides, duration)
    with stdout_kept_clean(as_json):
        result = _execute(spec, backend, seed, rtf, progress=not quiet)
    if as_json:
        print_json(result.to_json())
        for note in result.notes:
            complain(f"note: {note}")
    elif not quiet:
        print_summary(result)
    code, message = _verdict(result)
    if message:
        complain(message)
    ctx.exit(code)


def _scenario(name: str, overrides: tuple[str, ...], duration_ns: int | None) -> ScenarioSpec:
    from dataclasses import replace

    from ghost.config import load_scenario

    spec = load_scenario(name, overrides)
    return spec if duration_ns is None else replace(spec, duration_ns=duration_ns)


def _execute(
    spec: ScenarioSpec, backend: str, seed: int | None, rtf: float | None, *, progress: bool
) -> RunResult:
    from ghost.cli.interrupt import on_interrupt
    from ghost.cli.progress import progress_observers
    from ghost.runtime import ScenarioRun, make_backend

    see_current_folder(backend)
    world = make_backend(backend)
    try:
        run = ScenarioRun(
            world,
            spec,
            backend_name=backend,
            seed=seed,
            rtf=rtf,
            observers=progress_observers() if progress else (),
        )
        with on_interrupt(run.stop):
            return run.execute()
    finally:
        world.shutdown()


def _verdict(result: RunResult) -> tuple[ExitCode, str]:
    """The exit code, and one line about what went wrong."""
    from ghost.runtime import Outcome

    at = f"at {result.sim_time_s:.3f} s of simulated time"
    if result.outcome is Outcome.BACKEND_LOST:
        return ExitCode.BACKEND_LOST, f"backend lost {at}: {result.error}"
    if result.outcome is Outcome.INTERRUPTED:
        return ExitCode.INTERRUPTED, f"interrupted {at}"
    wrong = ["the vehicle crashed"] if result.crashed else []
    wrong += [f"'{item}' timed out" for item in result.plan_timeouts]
    if wrong:
        return ExitCode.FAILED, f"the flight went wrong: {'; '.join(wrong)}"
    return ExitCode.OK, ""
