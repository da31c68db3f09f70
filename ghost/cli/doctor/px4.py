"""Whether scenarios with PX4 can fly here: the program, and instances that are in the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ghost.cli.doctor.finding import Finding, fine, warning

__all__ = ["check_px4"]

AREA = "PX4"


def check_px4(environ: Mapping[str, str]) -> Iterator[Finding]:
    """The `px4` that a scenario would start, and who holds an instance's ports."""
    try:
        from ghost.px4 import check_version, find_px4, stale_instances
    except ModuleNotFoundError as error:
        yield warning(
            AREA,
            "packages",
            f"{error.name} is not installed: scenarios with an autopilot cannot fly",
            'pip install "ghost-hal[px4]"',
        )
        return
    from ghost.core import ConfigError, MissingDependency

    try:
        program = find_px4("", environ)
        check_version(program.version)
    except MissingDependency as error:
        yield warning(
            AREA, "program", "no px4 in PX4_BIN or on the PATH", error.install or "build PX4"
        )
    except ConfigError as error:
        yield warning(AREA, "program", str(error), "name another one with PX4_BIN")
    else:
        version = program.version or "of unknown version"
        yield fine(AREA, "program", f"{program.binary} {version} ({program.found_by})")
    running = stale_instances()
    for instance in running:
        yield warning(
            AREA,
            f"instance {instance.number}",
            instance.describe(),
            "end it if nobody needs it; scenarios take the next free instance",
        )
    if not running:
        yield fine(AREA, "instances", "all free")
