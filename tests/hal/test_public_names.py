"""One door for each public name (C-HAL-8)."""

from __future__ import annotations

import ast
import importlib
from collections import Counter
from pathlib import Path

import pytest

import ghost.hal

FOLDER = Path(ghost.hal.__file__).parent
MODULES = sorted(
    ".".join(("ghost", "hal", *path.relative_to(FOLDER).with_suffix("").parts))
    for path in FOLDER.rglob("*.py")
    if path.stem != "__init__"
)


def _defined(module: str) -> set[str]:
    """Public names that a module defines itself, imports left out."""
    path = FOLDER.joinpath(*module.split(".")[2:]).with_suffix(".py")
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                names |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_lists_exactly_its_public_names(module: str) -> None:
    listed = importlib.import_module(module).__all__
    assert len(listed) == len(set(listed))
    assert set(listed) == _defined(module)


def test_every_name_of_the_door_resolves() -> None:
    assert len(ghost.hal.__all__) == len(set(ghost.hal.__all__))
    for name in ghost.hal.__all__:
        assert hasattr(ghost.hal, name), name


def test_a_public_name_is_defined_in_one_place() -> None:
    homes = Counter(name for module in MODULES for name in _defined(module))
    assert [name for name, count in homes.items() if count > 1] == []
    assert set(ghost.hal.__all__) - {"PAYLOAD_TYPES"} <= set(homes)


def test_every_message_protocol_and_enum_is_at_the_door() -> None:
    """Helpers for those who write messages stay in their modules; the contract is at the door."""
    inner = {
        "ghost.hal.arrays": {"same_value"},
        "ghost.hal.frames": set(importlib.import_module("ghost.hal.frames").__all__),
        "ghost.hal.message": set(importlib.import_module("ghost.hal.message").__all__),
    }
    inner["ghost.hal.message"].remove("Message")
    for module in MODULES:
        missing = _defined(module) - set(ghost.hal.__all__)
        assert missing == inner.get(module, set()), module
