"""Runs a command in a session of its own and ends it when nobody wants it any more.

`python -I -S keeper.py OWNER REPORT GRACE_S FOLDER CPU COMMAND …` is the parent of a simulator or
an autopilot. It ends the command's whole process group when it is asked to (a byte on its standard
input, or SIGTERM) and when its owner is gone, whatever way that went, `kill -9` included: then its
standard input closes and the owner's process ends. Its exit code is the command's (128 + number
for a signal), 0 if it ended the command itself.

OWNER is the process that wants the command. To the descriptor REPORT it writes `pid N` when the
command runs or `errno N` if it could not be started, and closes it. GRACE_S is how long the command
has between SIGINT and SIGKILL. FOLDER, unless empty, is removed if the owner is gone: nobody else
will. CPU, unless empty, is the one CPU that the command may use. Standard library only, and started
with `-I`, so that no module of the folder this file is in hides one of the library's.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys

_PR_SET_PDEATHSIG = 1
_NO_COMMAND = 127


def _die_with_parent() -> None:
    """Linux ends the command if the keeper itself is killed. Elsewhere there is no such call."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _end(child: subprocess.Popen[bytes], grace_s: float) -> None:
    """SIGINT, which our programs take as an orderly end; SIGKILL for what is left of the group."""
    for number, wait_s in ((signal.SIGINT, grace_s), (signal.SIGKILL, None)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        try:
            child.wait(wait_s)
        except subprocess.TimeoutExpired:
            continue
        # The leader is gone; what it started may not be.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        return


def _remove(folder: str) -> None:
    if folder:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def _report(descriptor: int, text: str) -> None:
    with contextlib.suppress(OSError), os.fdopen(descriptor, "wb") as stream:
        stream.write(text.encode())


def _keep(child: subprocess.Popen[bytes], owner: int, grace_s: float, folder: str) -> int:
    # Descriptors that become readable when a process ends, so that all ends are waited for. The
    # owner's is needed too: a process that it forked may hold the other end of our input open.
    watched = [0, os.pidfd_open(child.pid)]
    # Gone before it could be watched: `os.getppid()` is then another process already.
    gone = os.getppid() != owner
    if not gone:
        with contextlib.suppress(ProcessLookupError):
            watched.append(os.pidfd_open(owner))
    while not gone:
        ready, _, _ = select.select(watched, [], [])
        if watched[1] in ready:
            code = child.wait()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            return code if code >= 0 else 128 - code
        if 0 in ready and os.read(0, 1):
            _end(child, grace_s)
            return 0
        gone = True
    _end(child, grace_s)
    _remove(folder)
    return 0


def main(arguments: list[str]) -> int:
    """Start the command and keep it; see the module."""
    owner, report, grace_s = int(arguments[0]), int(arguments[1]), float(arguments[2])
    folder, cpu = arguments[3:5]
    if cpu:
        # Inherited by the command and all its threads. A CPU that was taken away meanwhile: never
        # mind, it runs where it may.
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {int(cpu)})
    try:
        child = subprocess.Popen(
            arguments[5:],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - this process has one thread
        )
    except OSError as error:
        _report(report, f"errno {error.errno}")
        return _NO_COMMAND
    _report(report, f"pid {child.pid}")

    def stop(_number: int, _frame: object) -> None:
        _end(child, grace_s)
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return _keep(child, owner, grace_s, folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
