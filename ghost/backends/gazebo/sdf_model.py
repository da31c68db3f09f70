"""A vehicle as an SDF model: primitive shapes, the figures of the vehicle file, no noise.

Ghost's own seeded noise is the only one, so nothing here has a `<noise>`: Gazebo seeds its own at
start alone, and a reset does not seed it anew (measured on Gazebo Sim 8.14).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement

from ghost.backends.gazebo.actuators import ack_topic, command_topic
from ghost.backends.gazebo.outside import channels_of, echo_topic
from ghost.backends.gazebo.sdf_bridge import add_bridge_sensors
from ghost.core import ConfigError, RotorSpec, SensorConfig, VehicleSpec
from ghost.gz.world import sensor_period_ns

__all__ = [
    "LINK",
    "RENDERED",
    "SDF_TYPES",
    "add_model",
    "has_renderer",
    "model_name",
    "sensor_rate_hz",
    "text",
]

LINK = "base_link"
"""The link that carries airframe and sensors; its frame is the body frame and the model frame."""

SDF_TYPES = {
    "imu": "imu",
    "magnetometer": "magnetometer",
    "barometer": "air_pressure",
    "gps": "navsat",
    "altimeter": "altimeter",
    "rgb": "camera",
    "depth": "depth_camera",
    "lidar": "gpu_lidar",
}
"""Ghost's sensor type to SDF's; what is not here Gazebo does not have."""

RENDERED = ("rgb", "depth", "lidar")
"""Sensors of Gazebo's rendering thread."""

_VEHICLE_FLAG = 1
_ALL_BUT_VEHICLE = 0xFFFFFFFF - _VEHICLE_FLAG
"""The vehicle is transparent to its own cameras and LiDAR, as in the embedded worlds."""
_COLOUR_FAR_M = 300.0
_COLOUR_NEAR_M = 0.05
_PROP_RADIUS_M = 0.1
_PROP_HEIGHT_M = 0.008


def model_name(vehicle: VehicleSpec) -> str:
    """Name of a vehicle's model: `ghost_x500` for the vehicle `x500`."""
    return f"ghost_{vehicle.name}"


def has_renderer(vehicle: VehicleSpec) -> bool:
    """Whether the vehicle has a sensor that needs Gazebo's renderer."""
    return any(sensor.type in RENDERED for sensor in vehicle.sensors)


def sensor_rate_hz(sensor: SensorConfig, step_ns: int) -> float:
    """The `<update_rate>` with which Gazebo has a reading wherever Ghost's grid wants one.

    Gazebo cuts periods to whole milliseconds. A sensor whose period is none (30 Hz) runs at every
    step instead, and only the readings of its own grid are taken. A rendering sensor is too dear
    for that: it keeps its rate, and the newest frame is taken.
    """
    if sensor.type in RENDERED:
        return sensor.rate_hz
    exact_ns = 1e9 / sensor.rate_hz
    if abs(sensor_period_ns(sensor.rate_hz) - exact_ns) < 1e-3:
        return sensor.rate_hz
    return 1e9 / step_ns


def text(numbers: Iterable[float]) -> str:
    """Numbers with all their digits, as SDF writes vectors."""
    return " ".join(repr(float(number)) for number in numbers)


def add_model(
    parent: Element,
    vehicle: VehicleSpec,
    step_ns: int,
    *,
    altitude_m: float,
    pose: Iterable[float] | None = None,
    bridge: bool = False,
) -> Element:
    """Append the model of `vehicle` for a world that steps by `step_ns`.

    `altitude_m` is the height of z = 0 for the barometer, `pose` six numbers (x, y, z, roll,
    pitch, yaw). With `bridge`, PX4's own bridge finds its sensors and its motors there.
    Raises `ConfigError` for a vehicle that Gazebo cannot fly as its file says.
    """
    _check(vehicle)
    name = model_name(vehicle)
    model = SubElement(parent, "model", name=name)
    if pose is not None:
        _leaf(model, "pose", text(pose))
    link = SubElement(model, "link", name=LINK)
    body = vehicle.body
    _inertial(link, body.mass_kg, body.inertia_kgm2)
    place = (*body.collision_offset_m, 0.0, 0.0, 0.0)
    for kind in ("collision", "visual"):
        shape = SubElement(link, kind, name=f"body_{kind}")
        _leaf(shape, "pose", text(place))
        box = SubElement(SubElement(shape, "geometry"), "box")
        _leaf(box, "size", text(body.size_m))
    _colour(link[-1], (0.15, 0.15, 0.18))
    for sensor in vehicle.sensors:
        if sensor.type in SDF_TYPES:
            _sensor(link, sensor, step_ns, altitude_m)
    if bridge:
        add_bridge_sensors(link, vehicle, altitude_m)
    for number, rotor in enumerate(vehicle.rotors):
        _rotor(model, number, rotor)
    channels = channels_of(vehicle) if bridge else range(len(vehicle.rotors))
    for number, channel in enumerate(channels):
        _motor(model, name, number, channel, vehicle)
    _publishers(model, name)
    if bridge:
        _echo(model, name, None, echo_topic(name), "data: true")
    return model


def _check(vehicle: VehicleSpec) -> None:
    drag = vehicle.body_drag
    if any(drag.linear) or any(drag.quadratic):
        raise ConfigError(
            "Gazebo has no drag of the airframe in body axes; set both its parts to [0, 0, 0] to "
            "fly this vehicle there",
            key="vehicle.body_drag",
        )
    for index, rotor in enumerate(vehicle.rotors):
        if rotor.mass_kg <= 0.0 or min(rotor.inertia_kgm2) <= 0.0:
            raise ConfigError(
                "Gazebo needs a mass and an inertia for each rotor, since it really turns there",
                key=f"vehicle.rotors.{index}",
            )


def _leaf(parent: Element, tag: str, content: object) -> Element:
    leaf = SubElement(parent, tag)
    leaf.text = str(content)
    return leaf


def _inertial(link: Element, mass_kg: float, moments: Iterable[float]) -> None:
    inertial = SubElement(link, "inertial")
    _leaf(inertial, "mass", repr(mass_kg))
    inertia = SubElement(inertial, "inertia")
    for tag, value in zip(("ixx", "iyy", "izz"), moments, strict=True):
        _leaf(inertia, tag, repr(value))
    for tag in ("ixy", "ixz", "iyz"):
        _leaf(inertia, tag, 0)


def _colour(visual: Element, rgb: Iterable[float]) -> None:
    material = SubElement(visual, "material")
    for tag in ("ambient", "diffuse"):
        _leaf(material, tag, text((*rgb, 1.0)))
    _leaf(visual, "visibility_flags", _VEHICLE_FLAG)


def _rotor(model: Element, number: int, rotor: RotorSpec) -> None:
    link = SubElement(model, "link", name=f"rotor_{number}")
    _leaf(link, "pose", text((*rotor.pos_m, 0.0, 0.0, 0.0)))
    _inertial(link, rotor.mass_kg, rotor.inertia_kgm2)
    visual = SubElement(link, "visual", name="disc")
    cylinder = SubElement(SubElement(visual, "geometry"), "cylinder")
    _leaf(cylinder, "radius", _PROP_RADIUS_M)
    _leaf(cylinder, "length", _PROP_HEIGHT_M)
    _colour(visual, (0.9, 0.5, 0.1) if rotor.direction == "ccw" else (0.2, 0.5, 0.9))
    joint = SubElement(model, "joint", name=f"rotor_{number}_joint", type="revolute")
    _leaf(joint, "parent", LINK)
    _leaf(joint, "child", f"rotor_{number}")
    axis = SubElement(joint, "axis")
    _leaf(axis, "xyz", "0 0 1")
    limit = SubElement(axis, "limit")
    _leaf(limit, "lower", "-1e16")
    _leaf(limit, "upper", "1e16")


def _motor(model: Element, name: str, number: int, channel: int, vehicle: VehicleSpec) -> None:
    plugin = SubElement(
        model,
        "plugin",
        filename="gz-sim-multicopter-motor-model-system",
        name="gz::sim::systems::MulticopterMotorModel",
    )
    motor = vehicle.motor
    for tag, value in (
        ("robotNamespace", name),
        ("jointName", f"rotor_{number}_joint"),
        ("linkName", f"rotor_{number}"),
        ("turningDirection", vehicle.rotors[number].direction),
        ("actuator_number", channel),
        ("motorType", "velocity"),
        ("commandSubTopic", "command/motor_speed"),
        ("maxRotVelocity", repr(motor.max_rad_s)),
        ("motorConstant", repr(motor.thrust_coeff)),
        ("momentConstant", repr(motor.moment_ratio)),
        ("timeConstantUp", repr(motor.time_constant_up_s)),
        ("timeConstantDown", repr(motor.time_constant_down_s)),
        ("rotorDragCoefficient", repr(motor.drag_coeff)),
        ("rollingMomentCoefficient", repr(motor.rolling_moment_coeff)),
        ("rotorVelocitySlowdownSim", repr(motor.joint_slowdown)),
    ):
        _leaf(plugin, tag, value)


def _publishers(model: Element, name: str) -> None:
    """Ground truth at every step, and the proof that a motor command has arrived."""
    pose = SubElement(
        model,
        "plugin",
        filename="gz-sim-pose-publisher-system",
        name="gz::sim::systems::PosePublisher",
    )
    for tag, value in (
        ("topic", f"/model/{name}/pose"),
        ("publish_model_pose", "true"),
        ("publish_link_pose", "false"),
        ("publish_nested_model_pose", "false"),
        ("use_pose_vector_msg", "false"),
    ):
        _leaf(pose, tag, value)
    for told, answer in (("{sec: 1}", "data: true"), ("{sec: 2}", "data: false")):
        _echo(model, name, told, ack_topic(name), answer)


def _echo(model: Element, name: str, told: str | None, topic: str, answer: str) -> None:
    """Answer to a motor command: one with this stamp, or, with None, any."""
    echo = SubElement(
        model,
        "plugin",
        filename="gz-sim-triggered-publisher-system",
        name="gz::sim::systems::TriggeredPublisher",
    )
    heard = SubElement(echo, "input", type="gz.msgs.Actuators", topic=command_topic(name))
    if told is not None:
        # Two levels deep and no deeper: the matcher of Gazebo Sim 8 goes wrong beyond.
        SubElement(heard, "match", field="header.stamp").text = told
    SubElement(echo, "output", type="gz.msgs.Boolean", topic=topic).text = answer


def _sensor(link: Element, sensor: SensorConfig, step_ns: int, altitude_m: float) -> None:
    element = SubElement(link, "sensor", name=sensor.id, type=SDF_TYPES[sensor.type])
    mount = sensor.mount
    angles = (math.radians(angle) for angle in mount.rpy_deg)
    _leaf(element, "pose", text((*mount.pos_m, *angles)))
    _leaf(element, "always_on", 1)
    _leaf(element, "update_rate", repr(sensor_rate_hz(sensor, step_ns)))
    if sensor.type == "barometer":
        _leaf(SubElement(element, "air_pressure"), "reference_altitude", repr(altitude_m))
    elif sensor.camera is not None:
        _camera(element, sensor)
    elif sensor.lidar is not None:
        _lidar(element, sensor)


def _camera(element: Element, sensor: SensorConfig) -> None:
    spec = sensor.camera
    assert spec is not None
    depth = sensor.type == "depth"
    camera = SubElement(element, "camera")
    _leaf(camera, "horizontal_fov", repr(math.radians(spec.hfov_deg)))
    image = SubElement(camera, "image")
    _leaf(image, "width", spec.width)
    _leaf(image, "height", spec.height)
    _leaf(image, "format", "R_FLOAT32" if depth else "R8G8B8")
    clip = SubElement(camera, "clip")
    _leaf(clip, "near", repr(spec.min_range_m if depth else _COLOUR_NEAR_M))
    _leaf(clip, "far", repr(spec.max_range_m if depth else _COLOUR_FAR_M))
    _leaf(camera, "visibility_mask", _ALL_BUT_VEHICLE)


def _lidar(element: Element, sensor: SensorConfig) -> None:
    """The beams of `ghost.sensing.beam_directions`: a full circle does not meet itself."""
    spec = sensor.lidar
    assert spec is not None
    lidar = SubElement(element, "lidar")
    scan = SubElement(lidar, "scan")
    half = math.radians(spec.hfov_deg) / 2.0
    end = half - 2.0 * math.pi / spec.columns if spec.hfov_deg == 360.0 else half
    _fan(scan, "horizontal", spec.columns, -half, end)
    half = math.radians(spec.vfov_deg) / 2.0
    _fan(scan, "vertical", spec.rows, -half, half)
    reach = SubElement(lidar, "range")
    _leaf(reach, "min", repr(spec.min_range_m))
    _leaf(reach, "max", repr(spec.max_range_m))
    _leaf(lidar, "visibility_mask", _ALL_BUT_VEHICLE)


def _fan(scan: Element, tag: str, samples: int, low: float, high: float) -> None:
    part = SubElement(scan, tag)
    _leaf(part, "samples", samples)
    _leaf(part, "resolution", 1)
    _leaf(part, "min_angle", repr(low if samples > 1 else 0.0))
    _leaf(part, "max_angle", repr(high if samples > 1 else 0.0))
