"""Starting and stopping the test server from tests."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from ghost.gz.transport import TransportOptions

__all__ = ["ROOT", "ServerProcess", "random_partition"]

ROOT = Path(__file__).resolve().parents[2]


_NUMBERS = itertools.count()


def random_partition() -> str:
    """A partition that no other test has."""
    return f"ghost_test_{os.getpid()}_{next(_NUMBERS)}"


class ServerProcess:
    """A running test server. Arguments are those of its command line, without `--partition`.

    It is killed at the end, whatever state it is in. What it writes to stderr is the test's.
    """

    def __init__(self, *arguments: str, partition: str | None = None, world: str = "w") -> None:
        self.partition = partition or random_partition()
        self.world = world
        self.transport = TransportOptions(partition=self.partition)
        command = [sys.executable, "-m", "tests.gz_world_server", "--partition", self.partition]
        if "--world" not in arguments:
            command += ["--world", world]
        self._process = subprocess.Popen(
            [*command, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        self._await_ready()

    def _await_ready(self) -> None:
        output = self._process.stdout
        assert output is not None
        line = output.readline()
        if not line.startswith("ready "):
            code = self._process.wait()
            raise RuntimeError(f"the test server ended with {code} instead of getting ready")

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process still exists."""
        return self._process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, for example SIGSTOP."""
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        """End it at once, without a bye. Idempotent."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
