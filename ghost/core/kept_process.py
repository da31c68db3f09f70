"""A program that runs for us: started, kept, and never left behind.

A child process by itself survives its parent's `kill -9`. A `KeptProcess` does not: it has a parent
of its own, the keeper, that ends it and everything it started when we are gone.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

__all__ = ["KeptProcess", "tail_of"]

_KEEPER = Path(__file__).with_name("keeper.py")
_TAIL_LINES = 15
_TAIL_BYTES = 65536
_LONGEST_LINE = 300
_STOP_S = 10.0
"""How much longer than the program's grace the keeper may take before it is killed itself."""
# Colours and cursor movements; then what is left of control characters.
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b.?")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def tail_of(text: str, lines: int = _TAIL_LINES) -> str:
    """The last `lines` lines of a program's output that say something, on one line.

    Colours and control characters are taken out, over-long lines are cut.
    """
    clean = (_CONTROL.sub("", line).strip() for line in _ESCAPES.sub("", text).split("\n"))
    return " | ".join([line[:_LONGEST_LINE] for line in clean if line][-lines:])


class KeptProcess:
    """One program, in a process group of its own, that writes to a log file.

    `stop` ends it with everything it started; so does our own death. `command` is the program and
    its arguments, `log` the file that its output replaces, `cwd` where it runs, `environ` its whole
    environment (None: ours), `grace_s` how long it has after SIGINT before SIGKILL. `folder` is
    removed if we die without `stop`; otherwise it is the caller's to remove. `cpu` is the only one
    that it may use (None: those that we may). Linux only.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        environ: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        grace_s: float = 2.0,
        folder: Path | None = None,
        cpu: int | None = None,
    ) -> None:
        self._command = list(command)
        self._log = log
        self._environ = None if environ is None else dict(environ)
        self._cwd = cwd
        self._grace_s = grace_s
        self._folder = folder
        self._cpu = "" if cpu is None else str(cpu)
        self._keeper: subprocess.Popen[bytes] | None = None
        self._pid: int | None = None
        self._exit_code: int | None = None

    def start(self) -> None:
        """Start it; it runs when this returns. It may be started anew after `stop`.

        Raises `OSError` if it cannot be run (no such file, not executable, not a program of this
        machine) or its log cannot be written, `RuntimeError` if it runs already.
        """
        import subprocess

        if self.alive:
            raise RuntimeError(f"{self._command[0]} runs already (process {self._pid})")
        self.stop()
        self._exit_code = None
        heard, told = os.pipe()
        try:
            with self._log.open("wb") as log:
                self._keeper = subprocess.Popen(
                    [
                        *(sys.executable, "-I", "-S", str(_KEEPER)),
                        *(str(os.getpid()), str(told), str(self._grace_s)),
                        *("" if self._folder is None else str(self._folder), self._cpu),
                        *self._command,
                    ],
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=self._cwd,
                    env=self._environ,
                    pass_fds=(told,),
                    start_new_session=True,
                )
        except BaseException:
            os.close(heard)
            raise
        finally:
            os.close(told)
        with os.fdopen(heard, "rb") as stream:
            # Ends when the keeper has reported, or is dead.
            kind, _, number = stream.read().decode().partition(" ")
        if kind == "pid":
            self._pid = int(number)
            return
        self.stop()
        self._exit_code = None  # the keeper's own
        if kind == "errno":
            raise OSError(int(number), os.strerror(int(number)), self._command[0])
        raise OSError(f"the keeper of {self._command[0]} ended: {self.log_tail()}")

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._keeper is not None and self._keeper.poll() is None

    @property
    def pid(self) -> int | None:
        """The process number of the program, which is that of its group; None unless it runs."""
        return self._pid if self.alive else None

    @property
    def exit_code(self) -> int | None:
        """How it ended by itself, 128 + number for a signal; None if it runs or was stopped."""
        if self._keeper is not None:
            code = self._keeper.poll()
            # A keeper that was killed takes the program with it.
            self._exit_code = code if code is None or code >= 0 else 128 - code
        return self._exit_code

    def log_text(self) -> str:
        """The end of what it printed, 64 KiB at most; "" if there is nothing."""
        try:
            with self._log.open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
                return log.read().decode("utf-8", errors="replace")
        except OSError:
            return ""

    def log_tail(self) -> str:
        """The last lines of what it printed, on one line."""
        return tail_of(self.log_text())

    def wait(self, timeout_s: float) -> bool:
        """Wait until it ends by itself. Returns whether it has."""
        import subprocess

        if self._keeper is not None:
            try:
                self._keeper.wait(timeout_s)
            except subprocess.TimeoutExpired:
                return False
        return True

    def stop(self) -> None:
        """End it and everything it started. Idempotent; never raises."""
        import subprocess

        _ = self.exit_code  # kept, if it ended by itself
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        if keeper.stdin is not None:
            with contextlib.suppress(OSError):
                keeper.stdin.write(b"q")
                keeper.stdin.flush()
            with contextlib.suppress(OSError):
                keeper.stdin.close()
        try:
            keeper.wait(self._grace_s + _STOP_S)
        except subprocess.TimeoutExpired:
            # The program dies with it.
            keeper.kill()
            keeper.wait()
        if keeper.returncode < 0:
            self._end_orphans()
        self._pid = None

    def _end_orphans(self) -> None:
        """What the program started, where the keeper was killed and could not do it."""
        # Only once the program itself is gone: a number that runs may be that of another by now.
        if self._pid is not None and not _runs(self._pid):
            with contextlib.suppress(OSError):
                os.killpg(self._pid, signal.SIGKILL)


def _runs(pid: int) -> bool:
    """Whether a process is there, and not just waiting to be buried by its parent."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    # The name in brackets may hold anything; the state follows it.
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")
