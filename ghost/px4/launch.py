"""The PX4 that a scenario asks for: a program of this machine, or a container."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ghost.core import AutopilotSpec, ConfigError
from ghost.px4.container import ContainerProcess
from ghost.px4.process import AutopilotProcess, Px4Process
from ghost.px4.program import find_px4

__all__ = ["AIRFRAMES", "make_process", "may_spin"]

AIRFRAMES: Mapping[str, tuple[int, str]] = {
    "simulator": (10016, "none_iris"),
    "gz_bridge": (4001, "gz_x500"),
}
"""Each link's own airframe (`PX4_SYS_AUTOSTART`) and its model (`PX4_SIM_MODEL`)."""


def make_process(
    spec: AutopilotSpec,
    instance: int,
    *,
    environ: Mapping[str, str],
    settings: Mapping[str, str] | None = None,
    folder: Path | None = None,
    keep: bool = False,
) -> AutopilotProcess:
    """The process for `spec` and an instance that was chosen, not started yet.

    `environ` is where it is looked for (`PX4_BIN`, `PATH`, `DOCKER_HOST`) and what a program
    inherits; `settings` are variables for PX4; `folder` and `keep` as for `Px4Process`. Raises
    `ConfigError` and `MissingDependency`.
    """
    settings = dict(settings or {})
    airframe, model = AIRFRAMES[spec.link]
    if spec.airframe not in (0, airframe):
        airframe, model = spec.airframe, settings.get("PX4_SIM_MODEL", "")
    if not spec.image:
        return Px4Process(
            find_px4(spec.binary, environ),
            instance,
            airframe=airframe,
            environ=environ,
            settings=settings,
            folder=folder,
            keep=keep,
            cpu=_cpu_for(instance) if spec.link == "simulator" else None,
        )
    if not model:
        raise ConfigError(
            f"airframe {airframe} needs its model too when PX4 is a container: the name after "
            f"`{airframe}_` in its airframes, as PX4_SIM_MODEL among the settings",
            key="autopilot.airframe",
        )
    return ContainerProcess(
        spec.image, instance, airframe=airframe, model=model, environ=environ, settings=settings
    )


def may_spin() -> bool:
    """Whether PX4 has a CPU that is not ours, so that we may wait for it without sleeping."""
    return len(os.sched_getaffinity(0)) >= 2


def _cpu_for(instance: int) -> int | None:
    """A CPU for a PX4 in lockstep, from the last one down; the first is left to us.

    `benchmarks/bench_px4.py --real PX4`, without and with `--all-cpus`, measures what it is worth.
    """
    cpus = sorted(os.sched_getaffinity(0))
    return None if len(cpus) < 2 else cpus[-1 - instance % (len(cpus) - 1)]
