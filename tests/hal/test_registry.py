"""One file and one line for each payload (C-HAL-17)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ghost.hal.messages
from ghost.hal import PAYLOAD_TYPES, Message

FOLDER = Path(ghost.hal.messages.__file__).parent
SHARED = {"camera"}  # what two payloads have in common, not a payload
FILES = sorted(p for p in FOLDER.glob("*.py") if p.stem not in {"__init__", *SHARED})


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_the_names_are_those_of_the_decision() -> None:
    assert {name: cls.__name__ for name, cls in PAYLOAD_TYPES.items()} == {
        "imu": "IMUPayload",
        "rgb": "RGBImagePayload",
        "depth": "DepthImagePayload",
        "gps": "GpsPayload",
        "altimeter": "AltimeterPayload",
        "lidar": "PointCloudPayload",
        "magnetometer": "MagnetometerPayload",
        "barometer": "BarometerPayload",
        "optical_flow": "OpticalFlowPayload",
        "event_camera": "EventCameraPayload",
    }


def test_each_payload_lives_in_the_file_of_its_name() -> None:
    assert {path.stem for path in FILES} == set(PAYLOAD_TYPES)
    for name, cls in PAYLOAD_TYPES.items():
        assert cls.__module__ == f"ghost.hal.messages.{name}"
        assert issubclass(cls, Message)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_holds_one_payload_and_knows_no_other(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    assert [name for name in classes if name.endswith("Payload")] == [
        PAYLOAD_TYPES[path.stem].__name__
    ]
    others = {f"ghost.hal.messages.{other.stem}" for other in FILES}
    assert not _imports(path) & others


def test_nothing_else_in_the_contract_names_a_payload() -> None:
    names = {cls.__name__ for cls in PAYLOAD_TYPES.values()}
    for path in FOLDER.parent.glob("*.py"):
        if path.stem == "__init__":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert not used & names, path.name


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        PAYLOAD_TYPES["x"] = Message  # type: ignore[index]  # wrong on purpose


def test_every_payload_can_be_made(payload: object) -> None:
    message = payload.make()  # type: ignore[attr-defined]  # the fixture's class is in conftest
    assert isinstance(message, tuple(PAYLOAD_TYPES.values()))
