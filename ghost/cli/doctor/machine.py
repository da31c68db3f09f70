"""Processes, packages and graphics of this computer."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from ghost.cli.doctor.finding import Finding, failure, fine, warning

__all__ = ["Process", "check_gl", "check_packages", "check_processes", "port_owners", "processes"]

_PROC = Path("/proc")

PACKAGES = (
    # distribution, module, what needs it, what brings it, needed by all
    ("pyzmq", "zmq", "the transport", "pip install pyzmq", True),
    ("protobuf", "google.protobuf", "the messages", "pip install protobuf", True),
    ("mujoco", "mujoco", "the embedded world", "pip install mujoco", True),
    ("pybullet", "pybullet", "the pybullet backend", 'pip install "ghost-hal[pybullet]"', False),
    ("mavsdk", "mavsdk", "commands to PX4", 'pip install "ghost-hal[px4]"', False),
    ("pymavlink", "pymavlink", "PX4 in the loop", 'pip install "ghost-hal[px4]"', False),
)
BINDINGS = ("gz.transport15", "gz.transport14", "gz.transport13")


@dataclass(frozen=True, slots=True)
class Process:
    """A process that has to do with Gazebo or PX4."""

    pid: int
    kind: str
    command: str
    state: str
    parent: int
    partition: str | None


def processes(proc: Path = _PROC) -> list[Process]:
    """Gazebo servers and PX4 instances on this computer (where there is a `/proc`)."""
    found = []
    for folder in sorted(proc.glob("[0-9]*"), key=lambda path: int(path.name)):
        try:
            words = [
                word.decode("utf-8", "replace")
                for word in (folder / "cmdline").read_bytes().split(b"\0")
                if word
            ]
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            # It ended while we looked, or is not ours to see.
            continue
        kind = _kind(words)
        if kind:
            found.append(
                Process(
                    int(folder.name),
                    kind,
                    " ".join(words)[:120],
                    fields[0],
                    int(fields[1]),
                    _partition(folder),
                )
            )
    return found


def _kind(words: list[str]) -> str:
    """`gz` for a simulation server, `px4` for an autopilot, else nothing."""
    # `gz sim …` is a Ruby script, which renames itself to one word: 'gz sim -s field.sdf'.
    names = [Path(word).name for word in " ".join(words).split()[:3]]
    if names[:1] == ["ruby"]:
        names = names[1:]
    if names[:1] == ["px4"]:
        return "px4"
    if names[:2] in (["gz", "sim"], ["ign", "gazebo"]) or names[:1] in (
        ["gz-sim-server"],
        ["gz-sim-main"],
    ):
        return "gz"
    return ""


def _partition(folder: Path) -> str | None:
    with contextlib.suppress(OSError):
        for entry in (folder / "environ").read_bytes().split(b"\0"):
            name, _, value = entry.partition(b"=")
            if name in (b"GZ_PARTITION", b"IGN_PARTITION"):
                return value.decode("utf-8", "replace")
    return None


def check_processes(found: list[Process], partition: str) -> Iterator[Finding]:
    """Servers and autopilots that run, and those that seem left over."""
    area = "processes"
    for process in found:
        name = f"{'Gazebo' if process.kind == 'gz' else 'PX4'} pid {process.pid}"
        where = "" if process.partition is None else f", GZ_PARTITION={process.partition}"
        detail = process.command + where
        if process.state in "Tt":
            yield warning(
                area, name, f"stopped: {detail}", f"kill -CONT {process.pid}, or kill {process.pid}"
            )
        elif process.state == "Z":
            yield warning(area, name, f"dead, but not collected: {detail}", "end its parent")
        elif process.kind == "px4" and process.parent == 1:
            yield warning(
                area,
                name,
                f"nobody's child any more, maybe left over: {detail}",
                f"kill {process.pid}, or a new PX4 of its instance says 'server already running'",
            )
        elif process.kind == "gz" and process.partition not in (None, partition):
            yield warning(
                area,
                name,
                f"not in the partition {partition!r}: {detail}",
                f"export GZ_PARTITION={process.partition} to talk to it",
            )
        else:
            yield fine(area, name, detail)
    if not found:
        yield fine(area, "Gazebo and PX4", "none runs on this computer")


def port_owners(proc: Path = _PROC) -> dict[tuple[str, int], str]:
    """Who holds a port: `(tcp or udp, port)` to `name (pid N)`, as far as one may see."""
    by_inode: dict[str, tuple[str, int]] = {}
    for kind in ("tcp", "udp"):
        for table in (f"{kind}", f"{kind}6"):
            with contextlib.suppress(OSError):
                for line in (proc / "net" / table).read_text().splitlines()[1:]:
                    words = line.split()
                    # A TCP socket that listens is in state 0A; of the rest only UDP counts.
                    if kind == "udp" or words[3] == "0A":
                        by_inode[words[9]] = (kind, int(words[1].rpartition(":")[2], 16))
    owners: dict[tuple[str, int], str] = {}
    for folder in proc.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            for link in (folder / "fd").iterdir():
                with contextlib.suppress(OSError):
                    target = str(link.readlink())
                    if target.startswith("socket:[") and target[8:-1] in by_inode:
                        name = (folder / "comm").read_text().strip()
                        owners[by_inode[target[8:-1]]] = f"{name} (pid {folder.name})"
    return owners


def check_packages() -> Iterator[Finding]:
    """The packages that parts of Ghost need."""
    area = "packages"
    for distribution, module, use, install, needed in PACKAGES:
        if _has(module):
            yield fine(area, distribution, f"{_version(distribution)}, for {use}")
        elif needed:
            yield failure(area, distribution, f"missing, needed for {use}", install)
        else:
            yield warning(area, distribution, f"not installed; only for {use}", install)
    bindings = [module for module in BINDINGS if _has(module)]
    if bindings:
        yield fine(area, "official bindings", f"{', '.join(bindings)} (gz.transport=bindings)")
    else:
        yield fine(area, "official bindings", "not installed, and not needed (gz.transport=wire)")


def check_gz_program() -> Finding:
    """The version of Gazebo on the PATH, if any."""
    program = shutil.which("gz") or shutil.which("ign")
    if program is None:
        return fine("Gazebo", "program", "no 'gz' on the PATH; needed only to start servers here")
    command = [program, "sim" if program.endswith("gz") else "gazebo", "--versions"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return warning("Gazebo", "program", f"{program} does not answer: {error}", "reinstall it")
    version = " ".join(done.stdout.split()) or "of unknown version"
    return fine("Gazebo", "program", f"{program}, sim {version}")


def check_gl() -> Finding:
    """Whether pictures can be rendered here."""
    if not _has("mujoco"):
        return warning("graphics", "OpenGL", "cannot be tried without mujoco", "pip install mujoco")
    from ghost.backends.embedded import rendering_status

    available, detail, fix = rendering_status()
    if available:
        return fine("graphics", "OpenGL", detail)
    return warning("graphics", "OpenGL", detail, fix)


def _has(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "of unknown version"
