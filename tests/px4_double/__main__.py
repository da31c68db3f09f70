"""`python -m tests.px4_double`: see README.md."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING

from .offboard_link import OffboardLink
from .options import Options, parse
from .simulator_link import SimulatorLink

if TYPE_CHECKING:
    from .bridge import BridgeLink


def log(line: str) -> None:
    """A line on PX4's console."""
    sys.stdout.write(line.rstrip("\t") + "\n")
    sys.stdout.flush()


def _lock(instance: int) -> IO[str] | None:
    """PX4's own lock file of an instance; None if another process has it."""
    path = f"/tmp/px4_lock-{instance}"
    file = open(path, "a+")  # noqa: SIM115  # it is open as long as the process lives
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def _run(options: Options) -> int:
    stop = False
    parent = os.getppid()

    def end(_number: int, _frame: FrameType | None) -> None:
        nonlocal stop
        stop = True

    def stopped() -> bool:
        return stop or os.getppid() != parent

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    log(f"INFO  [px4] instance: {options.instance}")
    if options.faults.exit_at_start >= 0:
        log("ERROR [px4] the double was told not to start")
        return options.faults.exit_at_start
    lock = _lock(options.instance)
    if lock is None:
        log(f"ERROR [px4] PX4 server already running for instance {options.instance}")
        return 255
    try:
        log("INFO  [px4] startup script: /bin/sh etc/init.d-posix/rcS")
        offboard = OffboardLink(options.instance, options.faults)
        log(
            f"INFO  [mavlink] mode: Onboard, data rate: 4000000 B/s on udp port "
            f"{14580 + options.instance} remote port {14540 + options.instance}"
        )
        try:
            _fly(options, offboard, stopped)
        finally:
            offboard.close()
    finally:
        Path(lock.name).unlink(missing_ok=True)
        lock.close()
        log("\nPX4 Exiting...")
    return 0


def _fly(options: Options, offboard: OffboardLink, stopped: Callable[[], bool]) -> None:
    lives = 0
    link = _link(options, offboard, stopped)
    while link.live(lives):
        lives += 1


def _link(
    options: Options, offboard: OffboardLink, stopped: Callable[[], bool]
) -> SimulatorLink | BridgeLink:
    if not options.bridge:
        return SimulatorLink(options, offboard, log, stopped)
    from .bridge import BridgeLink  # protobuf takes a while; the simulator link needs none

    return BridgeLink(options, offboard, log, stopped)


def main() -> int:
    """Run the double until it is told to end, or its parent ends."""
    options = parse(sys.argv[1:], os.environ)
    if options.working_folder:
        os.chdir(options.working_folder)
    if options.rootfs and not os.path.isdir(options.rootfs):
        log(f"ERROR [px4] Error: no folder {options.rootfs}")
        return 255
    return _run(options)


if __name__ == "__main__":
    sys.exit(main())
