"""The Foxglove layout that ships in docs/ names topics and fields that exist."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ghost.config import load_scenario
from ghost.hal import PAYLOAD_TYPES, CommandRecord, GroundTruth
from ghost.recording.foxglove import descriptor_set
from ghost.recording.schema import COMMANDS, fields_of

LAYOUT = Path(__file__).parents[2] / "docs" / "foxglove-layout.json"


@pytest.fixture(scope="module")
def layout() -> dict[str, Any]:
    found = json.loads(LAYOUT.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def panels_in(node: Any, configs: dict[str, Any]) -> list[str]:
    """The panels of a mosaic, those inside tabs too."""
    if isinstance(node, dict):
        return panels_in(node["first"], configs) + panels_in(node["second"], configs)
    tabs = configs[node].get("tabs", [])
    return [node] + [name for tab in tabs for name in panels_in(tab["layout"], configs)]


def test_every_panel_is_placed_once_and_configured(layout: dict[str, Any]) -> None:
    placed = panels_in(layout["layout"], layout["configById"])
    assert sorted(placed) == sorted(layout["configById"])
    kinds = {name.partition("!")[0] for name in placed}
    assert {"3D", "Image", "Plot", "RosOut", "map"} <= kinds


def test_every_topic_is_one_of_all_sensors(layout: dict[str, Any]) -> None:
    spec = load_scenario("all_sensors")
    topics = {"/ground_truth/pose", "/estimate/pose", "/events/log"}
    beside = {
        "rgb": ("image", "calibration"),
        "depth": ("image", "calibration"),
        "lidar": ("points",),
        "gps": ("fix",),
    }
    for sensor in spec.vehicle.sensors:
        topics |= {f"/sensors/{sensor.id}/{name}" for name in beside.get(sensor.type, ())}
    named = set()
    for config in layout["configById"].values():
        named |= set(config.get("topics", {}))
        mode = config.get("imageMode", {})
        named |= {mode[key] for key in ("imageTopic", "calibrationTopic") if key in mode}
        named |= {config[key] for key in ("followTopic", "topicToRender") if key in config}
    assert named
    assert named <= topics


def test_every_plotted_path_is_a_field(layout: dict[str, Any]) -> None:
    spec = load_scenario("all_sensors")
    payloads = {s.id: PAYLOAD_TYPES[s.type] for s in spec.vehicle.sensors}
    paths = [
        path["value"]
        for config in layout["configById"].values()
        for path in config.get("paths", [])
    ]
    assert len(paths) > 15
    for path in paths:
        match = re.fullmatch(r"(/[a-z0-9_/]+)\.([a-z0-9_.]+)(?:\[(\d)\])?", path)
        assert match, path
        topic, field, _ = match.groups()
        names = field.split(".")
        if topic.startswith("/sensors/"):
            assert names[0] == "payload"
            cls: Any = payloads[topic.removeprefix("/sensors/")]
            names = names[1:]
        elif topic == "/actuators/command":
            assert names[0] == "command"
            assert "command" in {f.name for f in fields_of(CommandRecord)}
            cls = next(c for c in COMMANDS if c.level.value == names[1])
            names = names[2:]
        else:
            assert topic == "/ground_truth"
            cls = GroundTruth
        assert names[0] in {f.name for f in fields_of(cls)}, path


def test_the_image_panels_expect_what_is_sent(layout: dict[str, Any]) -> None:
    for config in layout["configById"].values():
        schema = config.get("imageMode", {}).get("imageSchemaName")
        if schema is not None:
            assert str(schema).encode().rpartition(b".")[2] in descriptor_set(schema)
