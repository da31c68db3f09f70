"""What the lints share: which dotted name a piece of source means, files to read, the report.

A lint sees `sleep`, `t.sleep` or `time.sleep` as the same name, whatever way it was imported.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Finding", "Lint", "Names", "run"]

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, order=True)
class Finding:
    """One place where a rule is broken."""

    line: int
    rule: str
    message: str


@dataclass(frozen=True)
class Lint:
    """A lint: what it looks for, where, and what it lets pass.

    `allow` maps a file (relative to the project) to the rules that do not hold there and why.
    """

    check: Callable[[ast.Module], Iterable[Finding]]
    default_paths: tuple[str, ...]
    allow: Mapping[str, Mapping[str, str]]


class Names:
    """Resolves names of one module to the dotted path of what they were imported from.

    Scopes are ignored: an alias holds in the whole file. So a lint may complain once too often
    about a file that gives two meanings to one name, and never once too little.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._aliases: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    # `import a.b` binds `a`; `import a.b as c` binds `c` to `a.b`.
                    bound = alias.asname or alias.name.partition(".")[0]
                    self._aliases[bound] = alias.name if alias.asname else bound
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    self._aliases[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        self._follow_assignments(tree)

    def _follow_assignments(self, tree: ast.Module) -> None:
        # `t = time` makes an alias too, and `u = t` another; until nothing new turns up.
        pairs: list[tuple[str, ast.expr]] = []
        for node in ast.walk(tree):
            targets: list[ast.expr] = []
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
                targets = [node.target]
            value = getattr(node, "value", None)
            if isinstance(value, ast.expr):
                pairs += [(t.id, value) for t in targets if isinstance(t, ast.Name)]
        changed = True
        while changed:
            changed = False
            for name, value in pairs:
                path = self.resolve(value)
                if path and name not in self._aliases:
                    self._aliases[name] = path
                    changed = True

    def resolve(self, node: ast.expr) -> str | None:
        """Return the dotted path that an expression means, or None if it is no import of ours."""
        if isinstance(node, ast.Name):
            return self._aliases.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            return f"{owner}.{node.attr}" if owner else None
        if isinstance(node, ast.Call) and node.args:
            return self._resolve_call(node)
        return None

    def _resolve_call(self, node: ast.Call) -> str | None:
        first = _text(node.args[0])
        if isinstance(node.func, ast.Name) and node.func.id == "__import__":
            return first
        if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) > 1:
            owner, attribute = self.resolve(node.args[0]), _text(node.args[1])
            return f"{owner}.{attribute}" if owner and attribute else None
        if self.resolve(node.func) == "importlib.import_module":
            return first
        return None


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield `(line, dotted path)` of every name that an import statement brings in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"


def used(tree: ast.Module, names: Names) -> Iterator[tuple[int, str, bool]]:
    """Yield `(line, dotted path, is it called)` of every use, the longest path of each chain."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Call)) and id(node) not in inner:
            path = names.resolve(node)
            if path and not isinstance(getattr(node, "ctx", ast.Load()), ast.Store):
                yield node.lineno, path, id(node) in called


def run(lint: Lint, arguments: Sequence[str]) -> int:
    """Check files and folders (by default the lint's own), print findings, return the exit code.

    0: clean. 1: findings, each as `file:line: rule: what to do`. 2: a path does not exist.
    """
    paths = [Path(argument) for argument in arguments]
    if not paths:
        paths = [ROOT / name for name in lint.default_paths if (ROOT / name).exists()]
    missing = [path for path in paths if not path.exists()]
    for path in missing:
        print(f"{path}: no such file or folder", file=sys.stderr)
    if missing:
        return 2
    found = 0
    for file in _python_files(paths):
        for finding in _check_file(lint, file):
            print(f"{_shown(file)}:{finding.line}: {finding.rule}: {finding.message}")
            found += 1
    return 1 if found else 0


def _python_files(paths: Iterable[Path]) -> list[Path]:
    files = {
        file
        for path in paths
        for file in (path.rglob("*.py") if path.is_dir() else [path])
        if "__pycache__" not in file.parts
    }
    return sorted(files)


def _check_file(lint: Lint, file: Path) -> list[Finding]:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
    except (SyntaxError, UnicodeDecodeError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        return [Finding(line, "syntax", f"cannot be read as Python: {error}")]
    allowed = lint.allow.get(_shown(file), {})
    return sorted({finding for finding in lint.check(tree) if finding.rule not in allowed})


def _shown(file: Path) -> str:
    resolved = file.resolve()
    return str(resolved.relative_to(ROOT) if resolved.is_relative_to(ROOT) else file)
