"""`python -m tests.gz_world_server --partition P …`: see `--help` and README.md."""

from __future__ import annotations

import signal
import sys
from types import FrameType

from .options import parse
from .runner import Runner


def main() -> int:
    """Run the server until SIGTERM or SIGINT."""
    options = parse()
    runner = Runner(options)

    def end(_number: int, _frame: FrameType | None) -> None:
        runner.stop()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    sys.stdout.write(f"ready {options.world}\n")
    sys.stdout.flush()
    try:
        runner.run()
    finally:
        runner.close()
    return 0


sys.exit(main())
