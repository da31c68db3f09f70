"""What the double is told: PX4's command line and environment, and its own switches."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields

__all__ = ["Faults", "Options", "Window", "parse"]

_PREFIX = "PX4_DOUBLE_"


@dataclass(frozen=True)
class Window:
    """From `at_us` (negative: never) for `for_us`, simulated."""

    at_us: int = -1
    for_us: int = 0

    def open(self, now_us: int) -> bool:
        """Whether it is now."""
        return 0 <= self.at_us <= now_us < self.at_us + self.for_us


@dataclass(frozen=True)
class Faults:
    """Switches that make the double misbehave; README.md lists them."""

    dial_after_s: float = 0.0
    never_dial: bool = False
    exit_at_start: int = -1
    boot_s: float = 0.3
    boot_steps: int = -1
    telemetry_after_s: float = 0.5
    settle_s: float = 6.0
    declination_deg: float = 3.41
    silent: Window = field(default_factory=Window)
    mute: Window = field(default_factory=Window)
    deaf: Window = field(default_factory=Window)
    hang_at_s: float = -1.0
    die_at_s: float = -1.0
    die_code: int = 1
    hang_up_at_s: float = -1.0
    restart_at_s: float = -1.0
    garbage: Window = field(default_factory=Window)
    bad_crc: Window = field(default_factory=Window)
    replay: Window = field(default_factory=Window)
    late: Window = field(default_factory=Window)
    late_ms: float = 50.0
    twice: Window = field(default_factory=Window)
    torn: Window = field(default_factory=Window)
    wrong_sysid: Window = field(default_factory=Window)
    second_source: Window = field(default_factory=Window)
    offboard_lost: Window = field(default_factory=Window)
    version: str = "1.17.0"
    refuse_arming: str = ""
    spins: int = 0

    @property
    def any_answer(self) -> bool:
        """Whether one of the switches touches single answers (else they are not looked at)."""
        windows = (
            self.silent,
            self.garbage,
            self.bad_crc,
            self.replay,
            self.late,
            self.twice,
            self.torn,
        )
        times = (self.hang_at_s, self.die_at_s, self.hang_up_at_s, self.restart_at_s)
        return any(item.at_us >= 0 for item in (*windows, self.wrong_sysid)) or max(times) >= 0.0


@dataclass(frozen=True)
class Options:
    """Everything from outside."""

    instance: int
    rootfs: str
    working_folder: str
    environ: Mapping[str, str]
    faults: Faults

    @property
    def bridge(self) -> bool:
        """Whether it carries sensors and motors over gz-transport itself."""
        environ = self.environ
        return environ.get("PX4_SIMULATOR", "") == "gz" or (
            environ.get("PX4_SIM_MODEL", "").startswith("gz_")
            or environ.get("PX4_SYS_AUTOSTART", "") == "4001"
        )

    @property
    def simulator_host(self) -> str:
        """Where the simulator listens."""
        return self.environ.get("PX4_SIM_HOSTNAME") or "127.0.0.1"


_CONVERT: dict[str, Callable[[str], object]] = {
    "float": float,
    "int": int,
    "bool": lambda word: word == "1",
}


def _window(environ: Mapping[str, str], name: str) -> Window:
    at = environ.get(f"{_PREFIX}{name}_AT_S")
    if at is None:
        return Window()
    length_s = float(environ.get(f"{_PREFIX}{name}_FOR_S", "inf"))
    for_us = 10**15 if math.isinf(length_s) else round(length_s * 1e6)
    return Window(round(float(at) * 1e6), for_us)


def faults_of(environ: Mapping[str, str]) -> Faults:
    """The switches in an environment. Raises SystemExit for one that does not exist."""
    known: set[str] = set()
    values: dict[str, object] = {}
    for item in fields(Faults):
        name = item.name.upper()
        if item.type == "Window":
            known |= {f"{_PREFIX}{name}_AT_S", f"{_PREFIX}{name}_FOR_S"}
            values[item.name] = _window(environ, name)
            continue
        known.add(_PREFIX + name)
        text = environ.get(_PREFIX + name)
        if text is None:
            continue
        values[item.name] = _CONVERT.get(str(item.type), str)(text)
    unknown = sorted(key for key in environ if key.startswith(_PREFIX) and key not in known)
    if unknown:
        raise SystemExit(f"px4 double: unknown switch {', '.join(unknown)}; see its README.md")
    return Faults(**values)  # type: ignore[arg-type]  # each converted by its field's own type


def parse(arguments: Sequence[str], environ: Mapping[str, str]) -> Options:
    """Read PX4's command line: `px4 [-d] [-i N] [-w DIR] [-s FILE] [rootfs]`."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.px4_double",
        description="Test equipment: a process with the manners of PX4's SITL binary.",
    )
    add = parser.add_argument
    add("-d", action="store_true", help="daemon: no shell (there is none)")
    add("-i", dest="instance", type=int, default=0, help="instance")
    add("-w", dest="working_folder", default="", help="working folder")
    add("-s", dest="startup_file", default="", help="start script (not run)")
    add("rootfs", nargs="?", default="", help="folder that holds etc/")
    told = parser.parse_args(arguments)
    return Options(
        instance=told.instance,
        rootfs=told.rootfs,
        working_folder=told.working_folder,
        environ=dict(environ),
        faults=faults_of(environ),
    )
