"""Find code that reads or waits for the clock of the machine (D8).

    python tools/lint_wall_clock.py [paths]      default: ghost, tests, examples

Prints `file:line: rule: what to do` and exits 1 if anything was found. Aliases are followed.
Benchmarks and tools may measure time and are not searched by default.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.ast_names import Finding, Lint, Names, imported, run, used

DO = "take the time from the clock you are given, or use ghost.core.HostClock"

_TIME = [
    "time",
    "time_ns",
    "monotonic",
    "monotonic_ns",
    "perf_counter",
    "perf_counter_ns",
    "process_time",
    "process_time_ns",
    "thread_time",
    "thread_time_ns",
    "clock_gettime",
    "clock_gettime_ns",
    "sleep",
    "localtime",
    "gmtime",
    "ctime",
    "asctime",
    "strftime",
]
RULES = {
    **{f"time.{name}": f"time.{name}" for name in _TIME},
    "time.*": "time.*",
    "datetime.datetime.now": "datetime.now",
    "datetime.datetime.utcnow": "datetime.now",
    "datetime.datetime.today": "datetime.now",
    "datetime.date.today": "datetime.now",
    "asyncio.sleep": "asyncio.sleep",
    "threading.Timer": "threading.Timer",
    "sched.scheduler": "sched.scheduler",
}

ALLOW = {
    "ghost/core/clock.py": dict.fromkeys(
        ("time.monotonic_ns", "time.time_ns", "time.sleep"),
        "HostClock is the one reader of the host's clock (D8)",
    ),
}


def check(tree: ast.Module) -> Iterator[Finding]:
    """Yield every place that names a function of the machine's clock."""
    names = Names(tree)
    places = [*imported(tree), *((line, path) for line, path, _ in used(tree, names))]
    for line, path in places:
        rule = RULES.get(path)
        if rule:
            yield Finding(line, rule, f"{path} reads the machine's clock; {DO}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and names.resolve(node.func) == "numpy.datetime64":
            words = [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)]
            if words and words[0] in ("now", "today"):
                yield Finding(node.lineno, "datetime.now", f"datetime64({words[0]!r}); {DO}")


LINT = Lint(check, ("ghost", "tests", "examples"), ALLOW)

if __name__ == "__main__":
    sys.exit(run(LINT, sys.argv[1:]))
