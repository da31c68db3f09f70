"""Runs a command in a session of its own and ends it when nobody wants it any more.

`python -S keeper.py COMMAND …` is the parent of a Gazebo server. It ends the command's whole
process group when its own standard input closes, which happens whatever way Ghost ends, `kill -9`
included, and when it is told to with SIGTERM. Its exit code is the command's. Standard library
only: it must start at once.
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
_GRACE_S = 2.0


def _die_with_parent() -> None:
    """Linux ends the command if the keeper itself is killed. Elsewhere there is no such call."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _end(child: subprocess.Popen[bytes]) -> None:
    """SIGINT, which Gazebo takes as an orderly end; SIGKILL for what is left of the group."""
    for number, wait_s in ((signal.SIGINT, _GRACE_S), (signal.SIGKILL, None)):
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


def main(command: list[str]) -> int:
    """Start `command` and keep it; see the module."""
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_die_with_parent,  # noqa: PLW1509 - this process has one thread
    )

    def stop(_number: int, _frame: object) -> None:
        _end(child)
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A descriptor that becomes readable when the child ends, so that both ends are waited for.
    watch = os.pidfd_open(child.pid)
    while True:
        ready, _, _ = select.select([0, watch], [], [])
        if watch in ready:
            code = child.wait()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            return code if code >= 0 else 128 - code
        if not os.read(0, 1024):
            _end(child)
            return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
