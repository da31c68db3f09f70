"""Find chance that does not come from the scenario's seed (clock spec §4, D8, D9).

    python tools/lint_random.py [paths]      default: ghost, tests, examples, tools, benchmarks

Prints `file:line: rule: what to do` and exits 1 if anything was found. Aliases are followed.
Rules: `random` (the standard library's), `np.random` (numpy's; its types may be named in
annotations), `entropy` (uuid1, uuid4, secrets, os.urandom), `child` (a label that is no literal).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.ast_names import Finding, Lint, Names, imported, run, used

DO = "draw from clock.random_source().child(...)"
# Types that annotations need; calling one makes a generator and is a finding.
TYPES = {"numpy.random.Generator", "numpy.random.BitGenerator"}
ENTROPY = {"uuid.uuid1", "uuid.uuid4", "os.urandom", "os.getrandom"}

ALLOW = {
    "ghost/core/random.py": {
        "np.random": "RandomStream is the one maker of generators (D9)",
    },
    "ghost/gz/transport/identity.py": {
        "entropy": "peers on a network are told apart by random UUIDs; none enters a result",
    },
    "ghost/sensing/streams.py": {
        "child": "builds /sensors/<id>/<purpose> of D10; the id is a key of the vehicle file, "
        "so the label is the same in every run",
    },
    "ghost/testing/reference.py": {
        "child": "gives each sensor of its configuration the path of D10",
    },
    "tests/runtime/conftest.py": {
        "child": "the fake backend gives each sensor of its configuration the path of D10",
    },
    "tests/sensing/test_independence.py": {
        "child": "spells out the path of D10 for each configured sensor, to compare with",
    },
    "tests/core/test_random.py": {
        "child": "tests the labels themselves, with generated ones",
    },
}


def check(tree: ast.Module) -> Iterator[Finding]:
    """Yield every place that draws from, or makes, a generator outside the label tree."""
    names = Names(tree)
    for line, path in imported(tree):
        yield from _place(line, path, called=False)
    for line, path, called in used(tree, names):
        yield from _place(line, path, called=called)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _label(node)


def _place(line: int, path: str, *, called: bool) -> Iterator[Finding]:
    if path == "random" or path.startswith("random."):
        yield Finding(line, "random", f"{path} is not seeded by the scenario; {DO}")
    elif path == "numpy.random" or path.startswith("numpy.random."):
        if path not in TYPES or called:
            yield Finding(line, "np.random", f"{path} is not seeded by the scenario; {DO}")
    elif path in ENTROPY or path == "secrets" or path.startswith("secrets."):
        yield Finding(line, "entropy", f"{path} differs in every run; {DO}")


def _label(node: ast.Call) -> Iterator[Finding]:
    if not (isinstance(node.func, ast.Attribute) and node.func.attr == "child"):
        return
    labels = [*node.args, *(word.value for word in node.keywords if word.arg == "label")]
    if labels and not _is_fixed(labels[0]):
        yield Finding(
            node.lineno,
            "child",
            f"the label {ast.unparse(labels[0])} is computed; write a literal, or a constant in "
            "capitals, so that every run has the same tree (clock spec §9)",
        )


def _is_fixed(label: ast.expr) -> bool:
    if isinstance(label, ast.Constant):
        return True
    name = label.attr if isinstance(label, ast.Attribute) else getattr(label, "id", "")
    return bool(name) and name.isupper()


LINT = Lint(check, ("ghost", "tests", "examples", "tools", "benchmarks"), ALLOW)

if __name__ == "__main__":
    sys.exit(run(LINT, sys.argv[1:]))
