"""Write `gz_models/`: our worlds and models for Gazebo, from the same figures as everything else.

python tools/write_gz_models.py            write the files
python tools/write_gz_models.py --check    say which files are not what would be written
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from ghost.backends.gazebo.sdf_model import add_model, has_renderer, model_name, text
from ghost.backends.gazebo.sdf_world import SDF_VERSION, new_world, sdf_text
from ghost.config import load_scenario, load_vehicle
from ghost.core import BoxObstacle, VehicleSpec, WorldSpec

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "gz_models"
STEP_NS = 4_000_000
"""Step of the shipped worlds, and of the models' sensors."""
ROOM_M = 10.0
WALL_M = 0.2
ROOM_HEIGHT_M = 3.0
VEHICLES = ("x500", "x500_sensors")

_NOTE = "Written by tools/write_gz_models.py; change the vehicle file or that, not this file. "


def walls() -> tuple[BoxObstacle, ...]:
    """Four walls around a square floor."""
    off = 0.5 * (ROOM_M + WALL_M)
    long = ROOM_M + 2.0 * WALL_M
    grey = (0.8, 0.8, 0.78)
    height = 0.5 * ROOM_HEIGHT_M
    return (
        BoxObstacle((off, 0.0, height), (WALL_M, long, ROOM_HEIGHT_M), color_rgb=grey),
        BoxObstacle((-off, 0.0, height), (WALL_M, long, ROOM_HEIGHT_M), color_rgb=grey),
        BoxObstacle((0.0, off, height), (ROOM_M, WALL_M, ROOM_HEIGHT_M), color_rgb=grey),
        BoxObstacle((0.0, -off, height), (ROOM_M, WALL_M, ROOM_HEIGHT_M), color_rgb=grey),
    )


def worlds() -> dict[str, tuple[WorldSpec, str]]:
    """Each shipped world and the vehicle in it."""
    return {
        "field": (WorldSpec(name="field"), "x500"),
        "empty_room": (WorldSpec(name="empty_room", obstacles=walls()), "x500"),
        "obstacles": (
            WorldSpec(name="obstacles", obstacles=load_scenario("all_sensors").world.obstacles),
            "x500_sensors",
        ),
    }


def files() -> Iterator[tuple[Path, str]]:
    """Every file with its content."""
    for name in VEHICLES:
        vehicle = load_vehicle(name)
        folder = FOLDER / "models" / model_name(vehicle)
        yield folder / "model.sdf", model_sdf(vehicle)
        yield folder / "model.config", model_config(vehicle)
    for name, (spec, vehicle_name) in worlds().items():
        yield FOLDER / "worlds" / f"{name}.sdf", world_file(spec, load_vehicle(vehicle_name))


def model_sdf(vehicle: VehicleSpec) -> str:
    """A model on its own, for `<include>`."""
    root = Element("sdf", version=SDF_VERSION)
    add_model(root, vehicle, STEP_NS, altitude_m=WorldSpec().origin.alt_m)
    return _noted(sdf_text(root))


def model_config(vehicle: VehicleSpec) -> str:
    """The card of a model."""
    root = Element("model")
    SubElement(root, "name").text = model_name(vehicle)
    SubElement(root, "version").text = "1.0"
    SubElement(root, "sdf", version=SDF_VERSION).text = "model.sdf"
    SubElement(root, "description").text = vehicle.description
    return _noted(sdf_text(root))


def world_file(spec: WorldSpec, vehicle: VehicleSpec) -> str:
    """A world that includes a model, standing on the ground at the origin."""
    root, world = new_world(spec, STEP_NS, renderer=has_renderer(vehicle))
    include = SubElement(world, "include")
    SubElement(include, "uri").text = f"model://{model_name(vehicle)}"
    body = vehicle.body
    height = 0.5 * body.size_m[2] - body.collision_offset_m[2]
    SubElement(include, "pose").text = text((0.0, 0.0, height, 0.0, 0.0, 0.0))
    return _noted(sdf_text(root))


def _noted(sdf: str) -> str:
    head, _, rest = sdf.partition("\n")
    return f"{head}\n<!-- {_NOTE}-->\n{rest}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args(argv).check
    old = []
    for path, content in files():
        if path.is_file() and path.read_text(encoding="utf-8") == content:
            continue
        old.append(path.relative_to(ROOT))
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    for path in old:
        print(f"{'differs' if check else 'written'}: {path}")
    return 1 if check and old else 0


if __name__ == "__main__":
    sys.exit(main())
