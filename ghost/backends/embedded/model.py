"""The scenario as a MuJoCo model (MJCF)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from xml.etree import ElementTree

from ghost.core import ScenarioSpec
from ghost.physics import lump

__all__ = ["CAMERA", "VEHICLE", "VEHICLE_GROUP", "build_xml"]

VEHICLE = "vehicle"
CAMERA = "camera"
VEHICLE_GROUP = 1
"""Geometry group of the vehicle's own shapes, which its cameras do not see."""


def _text(numbers: Iterable[float]) -> str:
    return " ".join(repr(float(number)) for number in numbers)


def build_xml(scenario: ScenarioSpec) -> str:
    """Describe ground, obstacles and vehicle. Figures are written with all their digits."""
    root = ElementTree.Element("mujoco", model=scenario.name)
    ElementTree.SubElement(root, "compiler", autolimits="true", angle="radian")
    option = ElementTree.SubElement(
        root,
        "option",
        timestep=repr(scenario.physics_step_ns * 1e-9),
        gravity=_text((0.0, 0.0, -scenario.world.gravity_mps2)),
        integrator="Euler",
    )
    # A diverged world must be reported, not quietly put back to its start.
    ElementTree.SubElement(option, "flag", autoreset="disable")
    _add_looks(root, scenario)
    world = ElementTree.SubElement(root, "worldbody")
    ElementTree.SubElement(
        world, "light", directional="true", pos="0 0 50", dir="0.3 0.2 -1", diffuse="0.8 0.8 0.8"
    )
    ElementTree.SubElement(
        world, "geom", name="ground", type="plane", size="0 0 1", material="ground"
    )
    for index, box in enumerate(scenario.world.obstacles):
        half = 0.5 * math.radians(box.yaw_deg)
        ElementTree.SubElement(
            world,
            "geom",
            name=f"obstacle{index}",
            type="box",
            pos=_text(box.pos_m),
            size=_text(0.5 * side for side in box.size_m),
            quat=_text((math.cos(half), 0.0, 0.0, math.sin(half))),
            rgba=_text((*box.color_rgb, 1.0)),
        )
    # The one camera is moved to wherever a picture is asked for.
    camera = ElementTree.SubElement(world, "body", name=CAMERA, mocap="true")
    ElementTree.SubElement(camera, "camera", name=CAMERA, fovy="1.0")
    _add_vehicle(world, scenario)
    return ElementTree.tostring(root, encoding="unicode")


def _add_looks(root: ElementTree.Element, scenario: ScenarioSpec) -> None:
    asset = ElementTree.SubElement(root, "asset")
    ElementTree.SubElement(
        asset,
        "texture",
        type="skybox",
        builtin="gradient",
        rgb1="0.55 0.7 0.9",
        rgb2="0.9 0.95 1.0",
        width="64",
        height="384",
    )
    ElementTree.SubElement(
        asset,
        "texture",
        name="ground",
        type="2d",
        builtin="checker",
        rgb1="0.35 0.45 0.3",
        rgb2="0.45 0.55 0.38",
        width="256",
        height="256",
    )
    ElementTree.SubElement(
        asset, "material", name="ground", texture="ground", texrepeat="1 1", texuniform="true"
    )
    visual = ElementTree.SubElement(root, "visual")
    # One buffer serves all cameras. Shadows and multisampling cost a software renderer most of its
    # time, and its shadow maps are speckled: without them a picture takes a tenth.
    cameras = [sensor.camera for sensor in scenario.vehicle.sensors if sensor.camera is not None]
    ElementTree.SubElement(
        visual,
        "global",
        offwidth=str(max((camera.width for camera in cameras), default=16)),
        offheight=str(max((camera.height for camera in cameras), default=16)),
    )
    ElementTree.SubElement(visual, "quality", shadowsize="0", offsamples="0")
    ElementTree.SubElement(visual, "map", znear="0.005", zfar="200")
    ElementTree.SubElement(
        visual, "headlight", ambient="0.35 0.35 0.35", diffuse="0.3 0.3 0.3", specular="0 0 0"
    )


def _add_vehicle(world: ElementTree.Element, scenario: ScenarioSpec) -> None:
    vehicle = scenario.vehicle
    whole = lump(vehicle)
    body = ElementTree.SubElement(world, "body", name=VEHICLE)
    ElementTree.SubElement(body, "freejoint")
    inertial = ElementTree.SubElement(
        body, "inertial", pos=_text(whole.com_m), mass=repr(whole.mass_kg)
    )
    if whole.is_diagonal:
        inertial.set("diaginertia", _text(whole.inertia_kgm2[:3]))
    else:
        inertial.set("fullinertia", _text(whole.inertia_kgm2))
    ElementTree.SubElement(
        body,
        "geom",
        type="box",
        pos=_text(vehicle.body.collision_offset_m),
        size=_text(0.5 * side for side in vehicle.body.size_m),
        group=str(VEHICLE_GROUP),
        rgba="0.15 0.15 0.18 1",
    )
    for rotor in vehicle.rotors:
        ElementTree.SubElement(
            body,
            "geom",
            type="cylinder",
            pos=_text(rotor.pos_m),
            size="0.08 0.004",
            contype="0",
            conaffinity="0",
            group=str(VEHICLE_GROUP),
            rgba="0.9 0.5 0.1 0.6" if rotor.direction == "ccw" else "0.2 0.5 0.9 0.6",
        )
