"""The contract drags in nothing (C-HAL-7)."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ghost.hal

FOLDER = Path(ghost.hal.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))

STANDARD = {
    "__future__",
    "collections.abc",
    "dataclasses",
    "enum",
    "functools",
    "hashlib",
    "math",
    "operator",
    "struct",
    "sys",
    "types",
    "typing",
}
OURS = ("ghost.core", "ghost.hal")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_module_imports_only_what_the_contract_may(path: Path) -> None:
    imported: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert node.module is not None
            imported.add(node.module)
    allowed = {n for n in imported if n in OURS or n.startswith(tuple(f"{o}." for o in OURS))}
    assert imported - allowed - STANDARD - {"numpy", "numpy.typing"} == set()


def test_importing_the_contract_loads_numpy_and_nothing_else() -> None:
    code = "import sys; import ghost.hal; print('\\n'.join(sys.modules))"
    # -S and -I would hide the checkout; what site loads at start is taken off instead.
    before = _modules("import sys; print('\\n'.join(sys.modules))")
    loaded = _modules(code) - before
    top = {name.partition(".")[0] for name in loaded}
    foreign = {n for n in top if n not in sys.stdlib_module_names and n not in {"numpy", "ghost"}}
    assert foreign == set()
    rooms = {".".join(n.split(".")[:2]) for n in loaded if n.startswith("ghost.")}
    assert rooms == {"ghost.core", "ghost.hal"}


def _modules(code: str) -> set[str]:
    root = str(FOLDER.parent.parent)
    result = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {root!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(result.stdout.split())
