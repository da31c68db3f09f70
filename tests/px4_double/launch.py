"""Starting the double from tests: as a module, or as a program called `px4`."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["ROOT", "DoubleProcess", "write_px4"]

ROOT = Path(__file__).resolve().parents[2]
_END_S = 5.0
_LOCKED_OUT = 255


def write_px4(folder: Path) -> Path:
    """Write what a build of PX4 leaves: `bin/px4` and `etc/`, in `folder`. Returns the program.

    The program is a script that becomes the double (the process id stays), so it is found and
    started as PX4's own binary is, with `-d <folder>/etc` or without.
    """
    program = folder / "bin" / "px4"
    script = folder / "etc" / "init.d-posix" / "rcS"
    airframes = script.parent / "airframes"
    for path in (program, script, airframes / "any"):
        path.parent.mkdir(parents=True, exist_ok=True)
    for name in ("10016_none_iris", "4001_gz_x500"):
        (airframes / name).touch()
    script.write_text("#!/bin/sh\n# The double runs no start script.\n")
    root, python = shlex.quote(str(ROOT)), shlex.quote(sys.executable)
    program.write_text(
        "#!/bin/sh\n"
        f"PYTHONPATH={root}${{PYTHONPATH:+:$PYTHONPATH}}\n"
        "export PYTHONPATH\n"
        f'exec {python} -m tests.px4_double "$@"\n'
    )
    program.chmod(0o755)
    return program


class DoubleProcess:
    """A running double. Keywords are switches: `silent_at_s=3` is `PX4_DOUBLE_SILENT_AT_S=3`.

    It dials to TCP 4560 + instance, so have the simulator listen first. It is ended with the block,
    whatever state it is in; what it prints goes to `log` in `folder`.
    """

    def __init__(
        self,
        folder: Path,
        instance: int = 0,
        environ: Mapping[str, str] | None = None,
        **switches: object,
    ) -> None:
        given = {name: value for name, value in os.environ.items() if not name.startswith("PX4_")}
        given |= {"PX4_SYS_AUTOSTART": "10016", "PX4_SIM_MODEL": "none_iris"}
        given |= dict(environ or {})
        given |= {f"PX4_DOUBLE_{name.upper()}": str(value) for name, value in switches.items()}
        self._instance = instance
        self.log = folder / f"px4_double_{instance}.log"
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.px4_double", "-d", "-i", str(instance)],
                cwd=ROOT,
                env=given,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process still exists."""
        return self._process.poll() is None

    def wait(self, timeout_s: float = _END_S) -> int:
        """Wait for its end; returns the exit code (negative: the signal). TimeoutExpired."""
        return self._process.wait(timeout_s)

    def terminate(self) -> int:
        """SIGTERM, then wait."""
        self._process.terminate()
        return self.wait()

    def interrupt(self) -> int:
        """SIGINT, then wait."""
        self._process.send_signal(2)
        return self.wait()

    def close(self) -> None:
        """End it at once. Idempotent."""
        self._process.kill()
        if self._process.wait() != _LOCKED_OUT:
            # Who is killed leaves its lock file behind.
            Path(f"/tmp/px4_lock-{self._instance}").unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
