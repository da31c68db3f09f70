"""A PX4 of our own: a `px4` program started for one vehicle, kept, and never left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from ghost.core import ConfigError, KeptProcess
from ghost.core.kept_process import tail_of
from ghost.px4.instances import (
    RunningInstance,
    instance_holders,
    instance_locked,
    remove_leftovers,
)
from ghost.px4.program import Px4Program

__all__ = ["AutopilotProcess", "Px4Process", "px4_environment", "why_it_ended"]

_GRACE_S = 1.0
"""A PX4 that runs in lockstep may wait for a simulated time that never comes; what it would still
write is its flight log."""
# Variables that choose what PX4 simulates, and how. They come from the scenario alone: with those
# of somebody's shell the same scenario would be another flight on another desk.
_CHOSEN = ("PX4_SIM", "PX4_SYS_AUTOSTART", "PX4_GZ_", "PX4_HOME_", "PX4_PARAM_", "PX4_UXRCE_DDS")
_LOG = "px4.txt"
"""Not `log`, which PX4 makes a folder: it hangs without."""
_HINTS = (
    ("error while loading shared libraries", "a library it needs is missing: see `ldd` of it"),
    ("no autostart file found", "it has no such airframe: see autopilot.airframe"),
    ("Unknown model", "it has no such model: see autopilot.airframe"),
    ("Error opening startup file", "its start scripts are missing"),
    ("failed to create lock file", "a /tmp/px4_lock file of another user is in its way"),
    ("param import failed", "its parameter file is damaged"),
    (
        "Startup script returned with return value",
        "its start script failed (a command that is `not found` is in neither its build nor PATH)",
    ),
)


class AutopilotProcess(Protocol):
    """An autopilot's program, as a process of this machine or in a container."""

    def start(self) -> None:
        """Start it, anew after `stop`; it runs when this returns, and has not booted yet.

        Raises `ConfigError`, `MissingDependency` or `BackendLost`.
        """

    @property
    def alive(self) -> bool:
        """Whether it runs."""

    @property
    def exit_code(self) -> int | None:
        """How it ended by itself, 128 + number for a signal; None if it runs or was stopped."""

    def log_tail(self) -> str:
        """The last lines of what it printed, on one line; also after `stop`."""

    def stop(self) -> None:
        """End it and everything it started. Idempotent; never raises."""

    def describe(self) -> str:
        """What it is and how it fares, and, if it ended by itself, why."""


class Px4Process:
    """One `px4` program, with a working folder of its own.

    `program` and `instance` say which; `airframe` is its SYS_AUTOSTART. `environ` is what it
    inherits, less the variables that choose what PX4 simulates; `settings` are set over it
    (`PX4_PARAM_*`, `PX4_GZ_*` …).

    `folder` is where it works (parameters, flight logs, and its output in `px4.txt`) and is the
    caller's; it is not emptied. None is a temporary one for each start, which `stop` removes, or
    our death if we are killed. It is kept with `keep`, and if PX4 ended by itself: then until the
    instance is started anew, by whomever. `describe` names it.

    `cpu` is the one that it may use, None for all: in lockstep PX4's two dozen threads take turns,
    and handing over to another CPU each time costs more than the turns themselves.
    """

    def __init__(
        self,
        program: Px4Program,
        instance: int,
        *,
        airframe: int,
        environ: Mapping[str, str],
        settings: Mapping[str, str] | None = None,
        folder: Path | None = None,
        keep: bool = False,
        grace_s: float = _GRACE_S,
        cpu: int | None = None,
    ) -> None:
        self.program = program
        self.instance = instance
        self._environ = px4_environment(
            environ, airframe, program.model_of(airframe), settings or {}
        )
        self._given_folder = folder
        self._keep = keep
        self._grace_s = grace_s
        self._cpu = cpu
        self._process: KeptProcess | None = None
        self._log = ""
        self.folder: Path | None = folder
        """Where it works, or worked last; None if that is gone."""

    def start(self) -> None:
        """Start it, see `AutopilotProcess`.

        Raises `ConfigError` if it cannot be run or its folder cannot be written to.
        """
        self.stop()
        self._drop_folder()
        self._process = None
        self._log = ""
        folder = self._make_folder()
        process = KeptProcess(
            [
                *(str(self.program.binary), "-i", str(self.instance)),
                *("-d", str(self.program.etc), "-w", str(folder)),
            ],
            log=folder / _LOG,
            environ=self._environ,
            cwd=folder,
            grace_s=self._grace_s,
            folder=folder if self._given_folder is None and not self._keep else None,
            cpu=self._cpu,
        )
        try:
            process.start()
        except OSError as error:
            self._drop_folder()
            raise ConfigError(
                f"cannot start {self.program.binary}: {error.strerror or error}; is it built for "
                "this machine?",
                key=self.program.found_by,
            ) from error
        self._process = process

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.alive

    @property
    def pid(self) -> int | None:
        """Its process number, while it runs."""
        return None if self._process is None else self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How it ended by itself, 128 + number for a signal; None if it runs or was stopped."""
        return None if self._process is None else self._process.exit_code

    def log_tail(self) -> str:
        """The last lines of what it printed, on one line; also after `stop`."""
        return tail_of(self._log_text())

    def stop(self) -> None:
        """End it with its whole group. Idempotent; never raises."""
        process = self._process
        if process is None:
            return
        process.stop()
        self._log = process.log_text() or self._log
        remove_leftovers(self.instance)
        if process.exit_code is None:
            self._drop_folder()

    def describe(self) -> str:
        """What it is and how it fares, and, if it ended by itself, why."""
        version = f" {self.program.version}" if self.program.version else ""
        text = f"PX4{version} ({self.program.binary}), instance {self.instance}"
        code = self.exit_code
        if code is not None:
            text += f", {why_it_ended(code, self._log_text(), self.instance)}"
        elif self.alive:
            text += f", runs as process {self.pid}"
        else:
            text += ", does not run"
        if self.folder is not None and self.folder.is_dir():
            text += f"; its files are in {self.folder}"
            if code is not None and self._given_folder is None and not self._keep:
                text += " until this instance is started anew"
        return text

    def _log_text(self) -> str:
        return self._log if self._process is None else self._process.log_text() or self._log

    def _make_folder(self) -> Path:
        folder = self._given_folder
        try:
            if folder is None:
                self._remove_old_folders()
                folder = Path(tempfile.mkdtemp(prefix=self._prefix(self._keep)))
            else:
                folder = folder.resolve()
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"cannot make PX4's working folder {error.filename or folder}: {error.strerror}"
            ) from error
        self.folder = folder
        # PX4 does not end when it cannot write there: it says so and hangs (v1.17).
        if not os.access(folder, os.W_OK | os.X_OK):
            raise ConfigError(f"PX4's working folder {folder} cannot be written to")
        for name in ("log", "eeprom"):
            if (folder / name).exists() and not (folder / name).is_dir():
                raise ConfigError(
                    f"PX4's working folder {folder} has a file {name!r} where PX4 needs a folder"
                )
        return folder

    def _prefix(self, keep: bool) -> str:
        return f"ghost_px4_{'kept_' if keep else ''}{self.instance}_"

    def _remove_old_folders(self) -> None:
        """Those of runs of this instance that ended in a failure: one is kept, not all."""
        if not instance_locked(self.instance):
            for old in Path(tempfile.gettempdir()).glob(f"{self._prefix(False)}*"):
                shutil.rmtree(old, ignore_errors=True)

    def _drop_folder(self) -> None:
        """Remove the temporary folder, if there is one that is not to be kept."""
        if self._given_folder is None and self.folder is not None and not self._keep:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None


def px4_environment(
    environ: Mapping[str, str], airframe: int, model: str, settings: Mapping[str, str]
) -> dict[str, str]:
    """What PX4 runs with: `environ` less what chooses the simulation, airframe, then `settings`."""
    inherited = {key: value for key, value in environ.items() if not key.startswith(_CHOSEN)}
    chosen = {"PX4_SYS_AUTOSTART": str(airframe), "PX4_SIM_MODEL": model}
    return {**inherited, **chosen, **settings}


def why_it_ended(code: int, log: str, instance: int, *, container: bool = False) -> str:
    """How a PX4 ended, what that means if its log tells, and the last lines of that log."""
    how = f"exit code {code}"
    if 128 < code < 128 + 65:
        with contextlib.suppress(ValueError):
            how = signal.Signals(code - 128).name
    text = f"ended by itself ({how})"
    if "already running for instance" in log:
        holders = instance_holders(instance, claims=False)
        in_use = RunningInstance(instance, holders).describe() if holders else ""
        text += f": {in_use or f'another PX4 had instance {instance} when it started'}"
    elif "Address already in use" in log or "bind failed" in log:
        text += ": a port that it needs was taken"
    else:
        hints = [hint for sign, hint in _HINTS if sign in log]
        if hints:
            text += f": {hints[0]}"
        elif code == 127 and container:
            text += ": the image has no such program"
    tail = tail_of(log)
    return f"{text}; its last lines: {tail}" if tail else f"{text}; it printed nothing"
