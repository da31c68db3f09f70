"""The `px4` program: where it is, where its start scripts are, which version it is."""

from __future__ import annotations

import mmap
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ghost.core import ConfigError, MissingDependency

__all__ = [
    "GAZEBO_IMAGE",
    "MINIMUM_VERSION",
    "SIMULATOR_IMAGE",
    "Px4Program",
    "check_version",
    "find_px4",
    "missing_px4_screen",
]

SIMULATOR_IMAGE = "px4io/px4-sitl:v1.18.0-beta2"
GAZEBO_IMAGE = "px4io/px4-sitl-gazebo:v1.18.0-beta2"
MINIMUM_VERSION = (1, 14)
"""Before it there is neither `px4-rc.mavlinksim` nor PX4's own bridge to Gazebo."""

_MEASURED = "v1.17.0-alpha1"
"""The version that Ghost was measured with."""
_PROGRAM = "bin/px4"
_BUILD = "build/px4_sitl_default"
_SCRIPT = "init.d-posix/rcS"
_ETC = ("../etc", "../share/px4/etc", "../../share/px4/etc", "../share/etc", "etc")
"""From the program's folder: PX4's build tree and its packages (`/opt/px4`, `/opt/px4-gazebo`)
have the first, distributions one of the others."""
_HEADER = "../src/lib/version/build_git_version.h"
_HEADER_TAG = re.compile(r'PX4_GIT_TAG_STR\s+"([^"]+)"')
# `src/lib/version/version.c`: the tag, the branch and the system stand side by side in the program.
_BINARY_TAG = re.compile(rb"\0(v\d+\.\d+\.\d+[^\0]{0,80})\0[^\0]{1,200}\0Linux\0")
_VERSION = re.compile(r"v?(\d+)\.(\d+)")
_INSTALL = (
    f"docker pull {SIMULATOR_IMAGE} and --set autopilot.image={SIMULATOR_IMAGE}; or build PX4 and "
    "name it with PX4_BIN=…/build/px4_sitl_default/bin/px4 or --set autopilot.binary=PATH"
)


@dataclass(frozen=True, slots=True)
class Px4Program:
    """A `px4` that can be started. `found_by` says where its path came from."""

    binary: Path
    etc: Path
    version: str | None
    """The tag it was built from ("v1.17.0-alpha1"), None if it cannot be told without starting."""
    found_by: str

    def model_of(self, airframe: int) -> str:
        """The model of an airframe (`PX4_SIM_MODEL`): 10016 → "none_iris".

        Raises `ConfigError` for an airframe that this PX4 does not have.
        """
        folder = self.etc / "init.d-posix" / "airframes"
        # A name with a dot is not an airframe but something that one reads (`rcS`).
        for path in sorted(folder.glob(f"{airframe}_*")):
            if "." not in path.name:
                return path.name.partition("_")[2]
        raise ConfigError(
            f"this PX4 has no airframe {airframe}: none in {folder}", key="autopilot.airframe"
        )


def find_px4(path: str, environ: Mapping[str, str]) -> Px4Program:
    """The `px4` to fly: `path`, or if that is empty `environ["PX4_BIN"]`, or on `environ["PATH"]`.

    A folder means its `bin/px4`, or that of the default build in it. Raises `ConfigError` for a
    path that is no `px4` or whose version is known and too old, `MissingDependency` if there is
    none at all.
    """
    if path:
        return _program(Path(path), "autopilot.binary")
    if named := environ.get("PX4_BIN", ""):
        return _program(Path(named), "PX4_BIN")
    found = shutil.which("px4", path=environ.get("PATH", ""))
    if found is None:
        raise MissingDependency("px4", needed_for="the autopilot PX4", install=_INSTALL)
    return _program(Path(found), "PATH")


def check_version(version: str | None, key: str = "autopilot.binary") -> None:
    """Refuse a PX4 that is too old. None, and what does not begin like a version, pass.

    `version` is a tag of PX4, "v1.17.0-alpha1" or "1.14.3". Raises `ConfigError`.
    """
    match = _VERSION.match(version or "")
    if match is None:
        return
    if (int(match[1]), int(match[2])) < MINIMUM_VERSION:
        raise ConfigError(
            f"this PX4 is {version}, but Ghost needs v{'.'.join(map(str, MINIMUM_VERSION))} or "
            f"newer (measured with {_MEASURED}): build a newer one, or fly a container: --set "
            f"autopilot.image={SIMULATOR_IMAGE}",
            key=key,
        )


def missing_px4_screen(scenario: str, *, link: str = "simulator") -> str:
    """One screen for somebody who has no PX4: what was looked for, and three ways to get it.

    `scenario` is the name that was to be flown, `link` its `autopilot.link`.
    """
    image = GAZEBO_IMAGE if link == "gz_bridge" else SIMULATOR_IMAGE
    return f"""\
{scenario} is flown by a real PX4, and none was found.

Looked for: the scenario's autopilot.binary (or --set autopilot.binary=PATH), the
environment variable PX4_BIN, and px4 on the PATH. None of them names a program.

Three ways to get one:

1. The official Docker image (Docker must run, and you must be in its group)
     docker pull {image}
     ghost run {scenario} --set autopilot.image={image}

2. Build PX4 for SITL, as its own guide says (docs.px4.io, "Building PX4 Software")
     export PX4_BIN=.../{_BUILD}/{_PROGRAM}
     ghost run {scenario}

3. Name one that you have (v{".".join(map(str, MINIMUM_VERSION))} or newer)
     export PX4_BIN=/path/to/px4                           for every run
     ghost run {scenario} --set autopilot.binary=/path/to/px4     for this one
     autopilot: {{binary: /path/to/px4}}                     in a scenario file
"""


def _program(path: Path, found_by: str) -> Px4Program:
    named = path = path.expanduser()
    if path.is_dir():
        inside = [path / _PROGRAM, path / _BUILD / _PROGRAM, path / "px4"]
        path = next((each for each in inside if each.is_file()), path)
        if path == named:
            raise _wrong(named, found_by, f"is a folder without {_PROGRAM} in it")
    # The name decides what PX4 is: called as `px4-commander`, a link to it, it is a client.
    binary = path.resolve()
    if not binary.exists():
        raise _wrong(named, found_by, "does not exist")
    if not binary.is_file():
        raise _wrong(named, found_by, "is not a file")
    if not os.access(binary, os.X_OK):
        raise _wrong(named, found_by, f"is not executable: chmod +x {binary}")
    try:
        with binary.open("rb") as stream:
            start = stream.read(4)
    except OSError as error:
        raise _wrong(named, found_by, f"cannot be read: {error.strerror}") from error
    if start != b"\x7fELF" and not start.startswith(b"#!"):
        raise _wrong(named, found_by, "is not a program (a firmware file for a board, perhaps?)")
    etc = _etc_of(binary)
    if etc is None:
        looked = ", ".join(str((binary.parent / each).resolve()) for each in _ETC)
        raise _wrong(
            named,
            found_by,
            f"is not a px4 with its start scripts: no {_SCRIPT} in any of {looked}",
        )
    version = _version_of(binary)
    check_version(version, found_by)
    return Px4Program(binary, etc, version, found_by)


def _wrong(path: Path, found_by: str, what: str) -> ConfigError:
    return ConfigError(f"{str(path)!r} {what}; name the px4 program of a PX4 build", key=found_by)


def _etc_of(binary: Path) -> Path | None:
    for each in _ETC:
        etc = (binary.parent / each).resolve()
        if (etc / _SCRIPT).is_file():
            return etc
    return None


def _version_of(binary: Path) -> str | None:
    """From the build tree if it is there, else from the program's constants."""
    header = binary.parent / _HEADER
    if header.is_file():
        text = header.read_text(encoding="utf-8", errors="replace")
        if match := _HEADER_TAG.search(text):
            return match[1]
    with (
        binary.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as all_,
    ):
        found = _BINARY_TAG.search(all_)
        return None if found is None else found[1].decode("ascii", errors="replace")
