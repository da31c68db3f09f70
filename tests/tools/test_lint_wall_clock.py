from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[[str, str], list[str]]

FUNCTIONS = ["time", "monotonic", "perf_counter", "sleep", "time_ns", "monotonic_ns", "ctime"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_of_time(lint: Run, name: str) -> None:
    assert lint("lint_wall_clock", f"import time\ntime.{name}()") == [f"2: time.{name}"]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import time as t\nt.sleep(1)", ["2: time.sleep"]),
        ("from time import sleep", ["1: time.sleep"]),
        ("from time import sleep as nap\nnap(1)", ["1: time.sleep", "2: time.sleep"]),
        ("from time import *", ["1: time.*"]),
        ("import time\nf = time.monotonic", ["2: time.monotonic"]),
        ("import time\nt = time\nu = t\nu.time()", ["4: time.time"]),
        ("__import__('time').sleep(1)", ["1: time.sleep"]),
        (
            "import importlib\nimportlib.import_module('time').time()",
            ["2: time.time"],
        ),
        ("import time\ngetattr(time, 'sleep')(1)", ["2: time.sleep"]),
        ("def f():\n    import time\n    time.sleep(1)", ["3: time.sleep"]),
        ("import datetime\ndatetime.datetime.now()", ["2: datetime.now"]),
        ("from datetime import datetime as dt\ndt.utcnow()", ["2: datetime.now"]),
        ("from datetime import date\ndate.today()", ["2: datetime.now"]),
        ("import numpy as np\nnp.datetime64('now')", ["2: datetime.now"]),
        ("import asyncio\nasync def f():\n    await asyncio.sleep(1)", ["3: asyncio.sleep"]),
        ("from threading import Timer", ["1: threading.Timer"]),
        ("def f(:", ["1: syntax"]),
    ],
)
def test_bad_samples(lint: Run, source: str, found: list[str]) -> None:
    assert lint("lint_wall_clock", source) == found


def test_a_good_sample_passes(lint: Run) -> None:
    source = """
    import threading
    import time  # for time.struct_time
    from datetime import datetime, timedelta
    from ghost.core import SteppedClock

    def run(clock, time_ns, sleep):
        sleep(time_ns)
        clock.time()
        return datetime.fromtimestamp(0), timedelta(seconds=1), time.struct_time

    'time.sleep(1)'  # text is no code
    """
    assert lint("lint_wall_clock", source) == []


def test_the_project_is_clean_from_the_command_line() -> None:
    done = subprocess.run(
        [sys.executable, "tools/lint_wall_clock.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_finding_from_the_command_line(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("import time\n\ntime.sleep(1)\n")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/lint_wall_clock.py"), str(bad)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout.startswith(f"{bad}:3: time.sleep: time.sleep reads the machine's clock; ")
    assert "HostClock" in done.stdout


def test_a_path_that_is_not_there(
    load: Callable[[str], ModuleType], capsys: pytest.CaptureFixture[str]
) -> None:
    tool = load("lint_wall_clock")
    assert tool.run(tool.LINT, ["no/such/place"]) == 2
    assert "no/such/place: no such file or folder" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["lint_wall_clock", "lint_random"])
def test_every_exception_is_needed_and_has_a_reason(
    load: Callable[[str], ModuleType], name: str
) -> None:
    tool = load(name)
    for file, rules in tool.ALLOW.items():
        broken = {finding.rule for finding in tool.check(ast.parse((ROOT / file).read_text()))}
        for rule, reason in rules.items():
            assert rule in broken, f"{file} no longer needs {rule}"
            assert len(reason.split()) >= 4
