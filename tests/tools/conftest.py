"""Runs a lint the way a person does: `python tools/lint_x.py FILE`, but in this process."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def load() -> Iterator[Callable[[str], ModuleType]]:
    """Import a tool by its file; `sys.path` and `sys.modules` are as before afterwards."""
    path, modules = list(sys.path), set(sys.modules)

    def _load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    yield _load
    sys.path[:] = path
    for name in [name for name in sys.modules if name not in modules and name.startswith("tools")]:
        del sys.modules[name]


@pytest.fixture
def lint(
    load: Callable[[str], ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[[str, str], list[str]]:
    """`lint(tool, source)` returns `line: rule` of each finding and checks the exit code."""

    def _lint(tool: str, source: str) -> list[str]:
        module = load(tool)
        sample = tmp_path / "sample.py"
        sample.write_text(dedent(source), encoding="utf-8")
        code = module.run(module.LINT, [str(tmp_path)])
        lines = capsys.readouterr().out.splitlines()
        assert code == (1 if lines else 0)
        assert all(line.startswith(f"{sample}:") for line in lines)
        return [":".join(line[len(str(sample)) + 1 :].split(":")[:2]) for line in lines]

    return _lint
