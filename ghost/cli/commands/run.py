"""`ghost run`: fly a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ghost.cli.exit_codes import EPILOG
from ghost.cli.params import ENCODING, PORT, RTF
from ghost.cli.running import flight_options, load_flight, open_backend, verdict

if TYPE_CHECKING:
    from ghost.core import ScenarioSpec
    from ghost.report import LiveServer
    from ghost.runtime import RecordObserver, RunResult

__all__ = ["command"]


@click.command("run", short_help="Run a scenario and print what came of it.", epilog=EPILOG)
@flight_options
@click.option(
    "--rtf",
    type=RTF,
    metavar="X",
    help="Hold the run back to X times real time. Results do not change.",
)
@click.option(
    "--record",
    type=click.Path(),
    metavar="FILE",
    help="Record all messages into an MCAP file; 'ghost replay FILE' plays it.",
)
@click.option(
    "--encoding",
    "encodings",
    type=ENCODING,
    multiple=True,
    metavar="SENSOR=ENCODING",
    help="How to record a colour camera: raw (the default), png, or jpeg, which loses bits.",
)
@click.option("--force", is_flag=True, help="Replace the file of --record if it exists.")
@click.option(
    "--live",
    type=PORT,
    is_flag=False,
    flag_value=8765,
    metavar="[PORT]",
    help="Show the run to Foxglove or Lichtblick on ws://127.0.0.1:PORT (8765), in real time "
    "unless --rtf says otherwise.",
)
@click.option(
    "--live-host",
    metavar="ADDRESS",
    help="Where --live listens; any address but the default lets others look on, unasked.",
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
    record: str | None,
    encodings: tuple[str, ...],
    force: bool,
    live: int | None,
    live_host: str | None,
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
      ghost run hover --backend gazebo --set gz.attach=field
      ghost run all_sensors --record flight.mcap --encoding cam_front=png
      ghost run all_sensors --live
    """
    from ghost.cli.failures import complain
    from ghost.cli.output import print_json, stdout_kept_clean
    from ghost.cli.summary import print_summary

    spec, settings = load_flight(scenario, overrides, duration)
    recorder = _recorder(record, spec, scenario, encodings, force)
    server = _live(live, live_host)
    if server is not None and rtf is None:
        rtf = 1.0
    try:
        with stdout_kept_clean(as_json):
            result = _execute(
                spec, backend, settings, seed, rtf, recorder, server, progress=not quiet
            )
    finally:
        if server is not None:
            server.close(None)
    if as_json:
        print_json(result.to_json())
        for note in result.notes:
            complain(f"note: {note}")
    elif not quiet:
        print_summary(result)
    if recorder is not None and recorder.problem:
        complain(recorder.problem)
    code, message = verdict(result)
    if message:
        complain(message)
    ctx.exit(code)


def _recorder(
    path: str | None, spec: ScenarioSpec, name: str, encodings: tuple[str, ...], force: bool
) -> RecordObserver | None:
    if path is None:
        if encodings or force:
            option = "--encoding" if encodings else "--force"
            raise click.UsageError(f"{option} means something with --record FILE only")
        return None
    from ghost.runtime import RecordObserver, check_recording

    chosen = {}
    for text in encodings:
        sensor_id, _, encoding = text.partition("=")
        chosen[sensor_id.strip()] = encoding.strip()
    check_recording(path, spec, chosen, force=force, scenario_file=name)
    return RecordObserver(path, encodings=chosen)


def _live(port: int | None, host: str | None) -> LiveServer | None:
    """Start listening before anything else, so that there is time to connect."""
    if port is None:
        if host is not None:
            raise click.UsageError("--live-host means something with --live only")
        return None
    from ghost.cli.failures import complain
    from ghost.report import LiveServer

    server = LiveServer(port, host if host is not None else "127.0.0.1")
    server.start()
    complain(f"live on {server.url}: open it in Foxglove or Lichtblick (see docs/look.md)")
    return server


def _execute(
    spec: ScenarioSpec,
    backend: str,
    settings: dict[str, str],
    seed: int | None,
    rtf: float | None,
    recorder: RecordObserver | None,
    server: LiveServer | None,
    *,
    progress: bool,
) -> RunResult:
    from ghost.cli.interrupt import on_interrupt
    from ghost.cli.progress import progress_observers
    from ghost.runtime import ScenarioRun

    world = open_backend(backend, settings, spec)
    try:
        run = ScenarioRun(
            world,
            spec,
            backend_name=backend,
            seed=seed,
            rtf=rtf,
            observers=(
                *((recorder,) if recorder is not None else ()),
                *((server,) if server is not None else ()),
                *(progress_observers() if progress else ()),
            ),
        )
        with on_interrupt(run.stop):
            return run.execute()
    finally:
        world.shutdown()
