"""docs/config.md says what the dataclasses say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_reference_is_up_to_date_and_complete() -> None:
    """The tool refuses a field without documentation, and finds a page that was not renewed."""
    tool = ROOT / "tools" / "make_config_reference.py"
    done = subprocess.run(
        [sys.executable, str(tool), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
