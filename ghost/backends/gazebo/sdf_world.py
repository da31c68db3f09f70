"""A scenario's surroundings as an SDF world that steps as fast as it is asked to."""

from __future__ import annotations

import math
import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ghost.backends.gazebo.outside import driven_from_outside
from ghost.backends.gazebo.sdf_model import add_model, has_renderer, text
from ghost.core import BoxObstacle, ScenarioSpec, WorldSpec
from ghost.physics.world import start_of

__all__ = ["SDF_VERSION", "new_world", "sdf_text", "world_name", "world_sdf"]

SDF_VERSION = "1.9"
_NAMESPACE = "http://gazebosim.org/schema"

_SYSTEMS = (
    ("physics", "Physics"),
    ("user-commands", "UserCommands"),
    ("scene-broadcaster", "SceneBroadcaster"),
    ("imu", "Imu"),
    ("air-pressure", "AirPressure"),
    ("altimeter", "Altimeter"),
    ("navsat", "NavSat"),
)


def world_name(world: WorldSpec) -> str:
    """The world's name as a topic may carry it: what is not a letter or digit becomes `_`."""
    return re.sub(r"[^A-Za-z0-9_]", "_", world.name) or "world"


def world_sdf(scenario: ScenarioSpec) -> str:
    """The whole SDF file of a scenario, vehicle included, at its start.

    Raises `ConfigError` for what Gazebo cannot do.
    """
    outside = driven_from_outside(scenario)
    root, world = new_world(
        scenario.world,
        scenario.physics_step_ns,
        renderer=has_renderer(scenario.vehicle),
        bridge=outside,
    )
    angles = (math.radians(angle) for angle in scenario.initial.rpy_deg)
    add_model(
        world,
        scenario.vehicle,
        scenario.physics_step_ns,
        altitude_m=scenario.world.origin.alt_m,
        pose=(*start_of(scenario)[:3], *angles),
        bridge=outside,
    )
    return sdf_text(root)


def new_world(
    spec: WorldSpec, step_ns: int, *, renderer: bool, bridge: bool = False
) -> tuple[Element, Element]:
    """The `<sdf>` and the `<world>` in it: physics, systems, air, Earth, ground and obstacles.

    With `bridge` it is one for PX4's bridge to Gazebo.
    """
    root = Element("sdf", {"version": SDF_VERSION, "xmlns:gz": _NAMESPACE})
    world = SubElement(root, "world", name=world_name(spec))
    # Sensors one after the other rather than each in a thread: a small world is a fifth faster so,
    # and its messages come in one order. From Gazebo Sim 8.14; others pass it over.
    policies = SubElement(world, "gz:policies")
    SubElement(policies, "parallel_postupdates").text = "false"
    physics = SubElement(world, "physics", name="lockstep", type="ignored")
    SubElement(physics, "max_step_size").text = repr(step_ns * 1e-9)
    # A limiter paces single steps too, and cannot be taken off a running server.
    SubElement(physics, "real_time_factor").text = "0"
    for file, name in _SYSTEMS:
        _system(world, file, name)
    # Tesla and ENU: by default a field whose axes are swapped is turned with the sensor, and no
    # fixed change of axes turns that right again once the vehicle tilts. PX4's bridge is written
    # for that default all the same, and there is one such system for all magnetometers.
    magnetometer = _system(world, "magnetometer", "Magnetometer")
    SubElement(magnetometer, "use_units_gauss").text = "true" if bridge else "false"
    SubElement(magnetometer, "use_earth_frame_ned").text = "true" if bridge else "false"
    if renderer:
        sensors = _system(world, "sensors", "Sensors")
        SubElement(sensors, "render_engine").text = "ogre2"
    SubElement(world, "gravity").text = text((0.0, 0.0, -spec.gravity_mps2))
    SubElement(world, "magnetic_field").text = text(spec.magnetic_field_enu_t)
    SubElement(SubElement(world, "wind"), "linear_velocity").text = text(spec.wind_enu_mps)
    SubElement(world, "atmosphere", type="adiabatic")
    _earth(world, spec)
    _looks(world)
    _ground(world)
    for number, box in enumerate(spec.obstacles):
        _obstacle(world, number, box)
    return root, world


def sdf_text(root: Element) -> str:
    """The file, indented."""
    indent(root)
    return '<?xml version="1.0"?>\n' + tostring(root, encoding="unicode") + "\n"


def _system(world: Element, file: str, name: str) -> Element:
    return SubElement(
        world, "plugin", filename=f"gz-sim-{file}-system", name=f"gz::sim::systems::{name}"
    )


def _earth(world: Element, spec: WorldSpec) -> None:
    earth = SubElement(world, "spherical_coordinates")
    for tag, value in (
        ("surface_model", "EARTH_WGS84"),
        ("world_frame_orientation", "ENU"),
        ("latitude_deg", repr(spec.origin.lat_deg)),
        ("longitude_deg", repr(spec.origin.lon_deg)),
        ("elevation", repr(spec.origin.alt_m)),
        ("heading_deg", "0"),
    ):
        SubElement(earth, tag).text = value


def _looks(world: Element) -> None:
    scene = SubElement(world, "scene")
    SubElement(scene, "ambient").text = "0.6 0.6 0.6 1"
    SubElement(scene, "background").text = "0.6 0.75 0.9 1"
    SubElement(scene, "shadows").text = "false"
    sun = SubElement(world, "light", name="sun", type="directional")
    SubElement(sun, "pose").text = "0 0 50 0 0 0"
    SubElement(sun, "cast_shadows").text = "false"
    SubElement(sun, "diffuse").text = "0.8 0.8 0.8 1"
    SubElement(sun, "direction").text = "0.3 0.2 -1"


def _static(world: Element, name: str) -> Element:
    model = SubElement(world, "model", name=name)
    SubElement(model, "static").text = "true"
    return model


def _ground(world: Element) -> None:
    link = SubElement(_static(world, "ground"), "link", name="link")
    for kind in ("collision", "visual"):
        shape = SubElement(link, kind, name=kind)
        plane = SubElement(SubElement(shape, "geometry"), "plane")
        SubElement(plane, "normal").text = "0 0 1"
        SubElement(plane, "size").text = "400 400"
    _material(link[-1], (0.4, 0.5, 0.34))


def _obstacle(world: Element, number: int, box: BoxObstacle) -> None:
    model = _static(world, f"obstacle_{number}")
    SubElement(model, "pose").text = text((*box.pos_m, 0.0, 0.0, math.radians(box.yaw_deg)))
    link = SubElement(model, "link", name="link")
    for kind in ("collision", "visual"):
        shape = SubElement(link, kind, name=kind)
        geometry = SubElement(SubElement(shape, "geometry"), "box")
        SubElement(geometry, "size").text = text(box.size_m)
    _material(link[-1], box.color_rgb)


def _material(visual: Element, rgb: tuple[float, float, float]) -> None:
    material = SubElement(visual, "material")
    for tag in ("ambient", "diffuse"):
        SubElement(material, tag).text = text((*rgb, 1.0))
