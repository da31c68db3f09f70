"""What the exit codes mean, in one place."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["EPILOG", "ExitCode"]


class ExitCode(IntEnum):
    """Returned to the shell."""

    OK = 0
    FAILED = 1
    BAD_INPUT = 2
    BACKEND_LOST = 3
    BUG = 70  # EX_SOFTWARE of sysexits.h
    INTERRUPTED = 130  # 128 + SIGINT, as shells have it
    PIPE_CLOSED = 141  # 128 + SIGPIPE


EPILOG = """\b
Exit codes:
    0  all went well
    1  the run or a check failed (a crash, a plan item that timed out),
       or stdout cannot be written
    2  bad input: one line on stderr says what, where and what to do
    3  the backend was lost
   70  an unexpected error, a bug; 'ghost --debug COMMAND …' shows where
  130  interrupted by Ctrl-C or SIGTERM
  141  nobody reads the pipe that stdout is
"""
