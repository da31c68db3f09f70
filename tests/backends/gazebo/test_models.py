"""The shipped SDF: valid in shape, free of noise and limiters, and of the vehicles' figures."""

from __future__ import annotations

import importlib.util
import math
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from ghost.backends.embedded.model import build_xml
from ghost.backends.gazebo import find_world, models_folder
from ghost.backends.gazebo.sdf_model import RENDERED, SDF_TYPES, sensor_rate_hz
from ghost.backends.gazebo.sdf_world import world_sdf
from ghost.config import load_scenario, load_vehicle
from ghost.core import (
    BodyDragSpec,
    ConfigError,
    InitialState,
    RotorSpec,
    ScenarioSpec,
    SensorConfig,
    UnknownName,
    VehicleSpec,
    WorldSpec,
)
from ghost.gz.world import read_pacing

ROOT = Path(__file__).resolve().parents[3]
VEHICLES = ("x500", "x500_sensors")
WORLDS = ("empty_room", "field", "obstacles")
STEP_NS = 4_000_000


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    path = ROOT / "tools" / "write_gz_models.py"
    spec = importlib.util.spec_from_file_location("write_gz_models", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _model(vehicle: str) -> Element:
    path = models_folder() / "models" / f"ghost_{vehicle}" / "model.sdf"
    root = ElementTree.parse(path).getroot()
    model = root.find("model")
    assert model is not None
    return model


def _number(element: Element, path: str) -> float:
    found = element.findtext(path)
    assert found is not None, path
    return float(found)


def _numbers(element: Element, path: str) -> list[float]:
    return [float(part) for part in (element.findtext(path) or "").split()]


def _moments(link: Element) -> list[float]:
    return [_number(link, f"inertial/inertia/i{axis}{axis}") for axis in "xyz"]


def test_the_files_are_what_the_tool_writes(tool: ModuleType) -> None:
    for path, content in tool.files():
        told = f"{path.name} is old: python tools/write_gz_models.py"
        assert path.read_text(encoding="utf-8") == content, told
    shipped = {path for path in models_folder().rglob("*") if path.is_file()}
    assert shipped == {path for path, _ in tool.files()}


@pytest.mark.parametrize("name", VEHICLES)
def test_masses_and_inertias_agree(name: str) -> None:
    """Vehicle file, SDF and the embedded model, each read for itself."""
    vehicle, model = load_vehicle(name), _model(name)
    links = {link.get("name"): link for link in model.findall("link")}
    assert set(links) == {"base_link", *(f"rotor_{n}" for n in range(4))}
    body = links["base_link"]
    assert _number(body, "inertial/mass") == vehicle.body.mass_kg
    assert _moments(body) == list(vehicle.body.inertia_kgm2)
    assert _numbers(body, "collision/geometry/box/size") == list(vehicle.body.size_m)
    assert _numbers(body, "collision/pose")[:3] == list(vehicle.body.collision_offset_m)
    for number, rotor in enumerate(vehicle.rotors):
        link = links[f"rotor_{number}"]
        assert _number(link, "inertial/mass") == rotor.mass_kg
        assert _moments(link) == list(rotor.inertia_kgm2)
        assert _numbers(link, "pose") == [*rotor.pos_m, 0.0, 0.0, 0.0]

    scenario = ScenarioSpec("s", vehicle, duration_ns=1)
    embedded = ElementTree.fromstring(build_xml(scenario)).find(".//inertial")
    assert embedded is not None
    total, com, inertia = _whole(links)
    assert float(embedded.get("mass", "")) == pytest.approx(total, rel=1e-12)
    theirs = [float(part) for part in embedded.get("pos", "").split()]
    assert theirs == pytest.approx(com, abs=1e-12)
    theirs = [float(part) for part in embedded.get("diaginertia", "").split()]
    assert theirs == pytest.approx(inertia, rel=1e-12)


def _whole(links: dict[str | None, Element]) -> tuple[float, list[float], list[float]]:
    """Mass, centre and moments of all links as one body; rotors averaged over a turn."""
    parts = []
    for name, link in links.items():
        ixx, iyy, izz = _moments(link)
        if name != "base_link":
            ixx = iyy = (ixx + iyy) / 2.0
        place = (_numbers(link, "pose") or [0.0, 0.0, 0.0])[:3]
        parts.append((_number(link, "inertial/mass"), place, (ixx, iyy, izz)))
    total = sum(mass for mass, _, _ in parts)
    com = [sum(mass * place[axis] for mass, place, _ in parts) / total for axis in range(3)]
    moments = []
    for axis in range(3):
        others = [other for other in range(3) if other != axis]
        moments.append(
            sum(
                own[axis] + mass * sum((place[other] - com[other]) ** 2 for other in others)
                for mass, place, own in parts
            )
        )
    return total, com, moments


@pytest.mark.parametrize("name", VEHICLES)
def test_motor_constants_agree(name: str) -> None:
    vehicle, model = load_vehicle(name), _model(name)
    motors = [p for p in model.findall("plugin") if "MotorModel" in p.get("name", "")]
    assert len(motors) == 4
    for number, (plugin, rotor) in enumerate(zip(motors, vehicle.rotors, strict=True)):
        joint = model.find(f"joint[@name='rotor_{number}_joint']")
        assert joint is not None
        assert (joint.findtext("parent"), joint.findtext("child")) == (
            "base_link",
            f"rotor_{number}",
        )
        assert plugin.findtext("jointName") == f"rotor_{number}_joint"
        assert plugin.findtext("linkName") == f"rotor_{number}"
        assert plugin.findtext("turningDirection") == rotor.direction
        assert plugin.findtext("actuator_number") == str(number)
        motor = vehicle.motor
        for tag, value in (
            ("maxRotVelocity", motor.max_rad_s),
            ("motorConstant", motor.thrust_coeff),
            ("momentConstant", motor.moment_ratio),
            ("timeConstantUp", motor.time_constant_up_s),
            ("timeConstantDown", motor.time_constant_down_s),
            ("rotorDragCoefficient", motor.drag_coeff),
            ("rollingMomentCoefficient", motor.rolling_moment_coeff),
            ("rotorVelocitySlowdownSim", motor.joint_slowdown),
        ):
            assert _number(plugin, tag) == value, tag


@pytest.mark.parametrize("name", VEHICLES)
def test_sensors_agree(name: str) -> None:
    vehicle, model = load_vehicle(name), _model(name)
    sensors = {sensor.get("name"): sensor for sensor in model.findall("link/sensor")}
    there = {sensor.id for sensor in vehicle.sensors if sensor.type in SDF_TYPES}
    assert set(sensors) == there
    for config in vehicle.sensors:
        if config.id not in there:
            continue
        element = sensors[config.id]
        assert element.get("type") == SDF_TYPES[config.type]
        angles = [math.radians(angle) for angle in config.mount.rpy_deg]
        assert _numbers(element, "pose") == [*config.mount.pos_m, *angles]
        assert _number(element, "update_rate") == sensor_rate_hz(config, STEP_NS)
        if config.camera is not None:
            assert _number(element, "camera/image/width") == config.camera.width
            assert _number(element, "camera/image/height") == config.camera.height
            fov = math.radians(config.camera.hfov_deg)
            assert _number(element, "camera/horizontal_fov") == fov
        if config.lidar is not None:
            assert _number(element, "lidar/scan/horizontal/samples") == config.lidar.columns
            assert _number(element, "lidar/scan/vertical/samples") == config.lidar.rows
            assert _number(element, "lidar/range/max") == config.lidar.max_range_m
    assert any(s.type in RENDERED for s in vehicle.sensors) is (name == "x500_sensors")


@pytest.mark.parametrize("rate_hz", [1000.0, 250.0, 100.0, 50.0, 12.5, 5.0, 1.0, 30.0, 15.0, 60.0])
def test_gazebo_has_a_reading_wherever_our_grid_wants_one(rate_hz: float) -> None:
    """Gazebo cuts periods to whole milliseconds: its rate must still meet each of our times."""
    step_ns = 1_000_000 if rate_hz > 250.0 else STEP_NS
    sdf_hz = sensor_rate_hz(SensorConfig("s", "imu", rate_hz), step_ns)
    period_ns = max(int(1000.0 / sdf_hz) * 1_000_000, step_ns)
    stamps = {-(-k * period_ns // step_ns) * step_ns for k in range(1, 2001)}
    for k in range(1, 100):
        grid_ns = math.ceil(k * 1e9 / rate_hz)
        due_ns = -(-grid_ns // step_ns) * step_ns
        if due_ns <= max(stamps):
            assert due_ns in stamps, (k, due_ns)


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_is_that_of_a_scenario(name: str) -> None:
    root = ElementTree.parse(find_world(name)).getroot()
    world = root.find("world")
    assert world is not None
    assert tuple(map(int, root.get("version", "").split("."))) >= (1, 9)
    spec = WorldSpec()
    assert world.get("name") == name
    assert _number(world, "physics/max_step_size") == STEP_NS * 1e-9
    assert _number(world, "physics/real_time_factor") == 0.0
    assert _numbers(world, "gravity") == [0.0, 0.0, -spec.gravity_mps2]
    assert _numbers(world, "magnetic_field") == list(spec.magnetic_field_enu_t)
    assert _number(world, "spherical_coordinates/latitude_deg") == spec.origin.lat_deg
    assert _number(world, "spherical_coordinates/elevation") == spec.origin.alt_m
    plugins = {plugin.get("name", "").rpartition("::")[2] for plugin in world.findall("plugin")}
    assert plugins >= {"Physics", "UserCommands", "SceneBroadcaster", "Imu", "NavSat"}
    assert ("Sensors" in plugins) is (name == "obstacles")
    included = world.findtext("include/uri", "").removeprefix("model://")
    assert (models_folder() / "models" / included / "model.config").is_file()


def test_a_world_is_read_as_a_server_prints_it() -> None:
    """Gazebo Sim 8.14 leaves the declaration of the prefix out."""
    printed = find_world("field").read_text(encoding="utf-8")
    printed = re.sub(r" xmlns:gz=\"[^\"]*\"", "", printed.partition("?>")[2])
    assert "<gz:policies>" in printed
    assert "xmlns" not in printed
    pacing = read_pacing(printed)
    assert pacing is not None
    assert pacing.step_ns == STEP_NS
    assert not pacing.limited


def test_the_obstacles_are_those_of_the_scenario() -> None:
    world = ElementTree.parse(find_world("obstacles")).getroot().find("world")
    assert world is not None
    boxes = load_scenario("all_sensors").world.obstacles
    models = [m for m in world.findall("model") if m.get("name", "").startswith("obstacle")]
    assert len(models) == len(boxes) > 0
    for model, box in zip(models, boxes, strict=True):
        assert _numbers(model, "pose") == [*box.pos_m, 0.0, 0.0, math.radians(box.yaw_deg)]
        assert _numbers(model, "link/collision/geometry/box/size") == list(box.size_m)


def test_nothing_has_noise() -> None:
    for path in models_folder().rglob("*.sdf"):
        root = ElementTree.parse(path).getroot()
        assert root.tag == "sdf"
        assert not list(root.iter("noise")), path


def test_names_are_unique_and_plugins_known() -> None:
    for path in models_folder().rglob("*.sdf"):
        for parent in ElementTree.parse(path).getroot().iter():
            names = [(c.tag, c.get("name")) for c in parent if c.get("name") and c.tag != "plugin"]
            assert len(names) == len(set(names)), path
            for plugin in parent.findall("plugin"):
                assert plugin.get("filename", "").startswith("gz-sim-"), path
                assert plugin.get("filename", "").endswith("-system"), path
                assert plugin.get("name", "").startswith("gz::sim::systems::"), path


def test_a_scenario_becomes_a_world_of_its_own() -> None:
    scenario = replace(
        load_scenario("hover"),
        world=WorldSpec(name="my world/2", gravity_mps2=3.7, wind_enu_mps=(1.0, 2.0, 0.0)),
        initial=InitialState(pos_enu_m=(1.0, 2.0, 3.0), rpy_deg=(0.0, 0.0, 90.0)),
    )
    world = ElementTree.fromstring(world_sdf(scenario)).find("world")
    assert world is not None
    assert world.get("name") == "my_world_2"
    assert _numbers(world, "gravity") == [0.0, 0.0, -3.7]
    assert _numbers(world, "wind/linear_velocity") == [1.0, 2.0, 0.0]
    assert _number(world, "physics/max_step_size") == 0.001
    pose = _numbers(world, "model[@name='ghost_x500']/pose")
    assert pose == pytest.approx([1.0, 2.0, 3.0, 0.0, 0.0, math.pi / 2.0])


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"body_drag": BodyDragSpec(linear=(0.1, 0.0, 0.0))}, "vehicle.body_drag"),
        ({"rotors": (RotorSpec((0.1, -0.1, 0.0), "ccw"),) * 2}, "vehicle.rotors.0"),
    ],
)
def test_what_gazebo_cannot_fly_is_refused(change: dict[str, object], key: str) -> None:
    vehicle: VehicleSpec = load_vehicle("x500")
    if "rotors" in change:
        bare = RotorSpec(vehicle.rotors[0].pos_m, "ccw")
        change = {"rotors": (bare, *vehicle.rotors[1:])}
    changed = replace(vehicle, **change)  # type: ignore[arg-type]  # two fields of two types
    with pytest.raises(ConfigError) as caught:
        world_sdf(ScenarioSpec("s", changed, duration_ns=1))
    assert caught.value.key == key


def test_an_unknown_world_names_the_nearest() -> None:
    with pytest.raises(UnknownName) as caught:
        find_world("feild")
    assert caught.value.nearest == ("field",)


@pytest.mark.skipif(shutil.which("gz") is None, reason="no gz on the PATH to check SDF with")
@pytest.mark.parametrize("kind", ["models", "worlds"])
def test_sdformat_finds_them_valid(kind: str) -> None:
    folder = models_folder()
    for path in sorted((folder / kind).rglob("*.sdf")):
        done = subprocess.run(
            ["env", f"SDF_PATH={folder / 'models'}", "gz", "sdf", "--check", str(path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        assert "Valid" in done.stdout, done.stderr + done.stdout
