"""Stand-ins for `px4`: small programs with its folder layout and its arguments."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from ghost.px4.process import Px4Process
from ghost.px4.program import find_px4

WaitFor = Callable[[Callable[[], object]], None]

WAITS = "import time\nprint('INFO  [px4] waiting', flush=True)\nwhile True:\n    time.sleep(60)\n"
"""Runs until it is ended; SIGINT ends it at once."""
STUBBORN = "import signal\nfor each in (2, 15):\n    signal.signal(each, signal.SIG_IGN)\n" + WAITS


class MakeProcess(Protocol):
    """Makes a `Px4Process` of a stand-in that runs `code`."""

    def __call__(
        self,
        code: str = WAITS,
        *,
        environ: Mapping[str, str] | None = None,
        settings: Mapping[str, str] | None = None,
        temporary: bool = False,
        keep: bool = False,
        folder: Path | None = None,
    ) -> Px4Process: ...


def write_px4(root: Path, code: str = WAITS, *, version: str | None = "v1.17.0") -> Path:
    """Write a build tree with a `bin/px4` of Python source `code`; return the program's path."""
    airframes = root / "etc" / "init.d-posix" / "airframes"
    airframes.mkdir(parents=True)
    (root / "etc" / "init.d-posix" / "rcS").write_text("#!/bin/sh\n")
    for airframe in ("10016_none_iris", "4001_gz_x500.post", "4001_gz_x500"):
        (airframes / airframe).write_text("")
    if version is not None:
        header = root / "src" / "lib" / "version" / "build_git_version.h"
        header.parent.mkdir(parents=True)
        header.write_text(f'#define PX4_GIT_TAG_STR "{version}"\n')
    program = root / "bin" / "px4"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable} -S\n{code}")
    program.chmod(0o755)
    return program


def stand_in(
    program: Path,
    instance: int,
    *,
    environ: Mapping[str, str] | None = None,
    settings: Mapping[str, str] | None = None,
    folder: Path | None = None,
    keep: bool = False,
) -> Px4Process:
    """A process of a program that `write_px4` wrote, quick to end."""
    return Px4Process(
        find_px4(str(program), {}),
        instance,
        airframe=10016,
        environ={"PATH": os.defpath} if environ is None else environ,
        settings=settings,
        folder=folder,
        keep=keep,
        grace_s=0.3,
    )
