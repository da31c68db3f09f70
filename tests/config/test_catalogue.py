"""The files that ship with Ghost."""

from __future__ import annotations

import dataclasses
import importlib.resources
import math
from pathlib import Path
from typing import get_args

import pytest

from ghost.config import (
    CatalogueEntry,
    check_file,
    list_scenarios,
    list_vehicles,
    load_scenario,
    load_vehicle,
)
from ghost.core import (
    AutopilotSpec,
    ConfigError,
    FaultKind,
    GoTo,
    Hold,
    Land,
    SensorType,
    TakeOff,
    VehicleSpec,
)


def test_names() -> None:
    assert [entry.name for entry in list_scenarios()] == [
        "all_sensors",
        "hover",
        "imu_only_1khz",
        "px4_gazebo_hover",
        "px4_hover",
        "px4_square",
        "sensor_faults",
        "square",
    ]
    assert [entry.name for entry in list_vehicles()] == [
        "racer",
        "x500",
        "x500_imu_1khz",
        "x500_px4",
        "x500_sensors",
    ]


@pytest.mark.parametrize("entry", [*list_scenarios(), *list_vehicles()], ids=lambda e: e.name)
def test_every_file_is_valid_and_named_after_itself(entry: CatalogueEntry) -> None:
    spec = check_file(entry.path).spec
    assert spec.name == entry.name == entry.path.stem
    assert spec.description == entry.description
    assert 20 < len(entry.description) < 100


def test_x500_is_gazebos() -> None:
    """The figures of PX4's x500 in Gazebo, as read from the model and measured on Gazebo 8.14."""
    x500 = load_vehicle("x500")
    assert x500.body.mass_kg == 2.0
    assert x500.body.inertia_kgm2 == (0.02166667, 0.02166667, 0.04)
    assert x500.mass_kg == pytest.approx(2.0 + 4 * 0.016076923076923075)
    assert [(r.pos_m, r.sign) for r in x500.rotors] == [
        ((0.174, -0.174, 0.06), 1),
        ((-0.174, 0.174, 0.06), 1),
        ((0.174, 0.174, 0.06), -1),
        ((-0.174, -0.174, 0.06), -1),
    ]
    for rotor in x500.rotors:
        assert rotor.inertia_kgm2 == (
            3.8464910483993325e-07,
            2.6115851691700804e-05,
            2.649858234714004e-05,
        )
    motor = x500.motor
    assert (motor.thrust_coeff, motor.moment_ratio, motor.max_rad_s) == (8.54858e-06, 0.016, 1000.0)
    assert (motor.time_constant_up_s, motor.time_constant_down_s) == (0.0125, 0.025)
    assert (motor.drag_coeff, motor.rolling_moment_coeff) == (8.06428e-05, 1e-06)
    rates = {sensor.id: sensor.rate_hz for sensor in x500.sensors}
    assert rates == {"imu0": 250, "baro0": 50, "mag0": 100, "gps0": 30, "altimeter0": 50}
    # A recorded open-loop flight hovers on 769.170215 rad/s a rotor at 9.8 m/s². (In the model a
    # rotor weighs 0.016077 kg.)
    hover = math.sqrt(x500.mass_kg * 9.8 / (4 * motor.thrust_coeff))
    assert hover == pytest.approx(769.170215, rel=5e-5)


def test_x500_imu_density_gives_the_measured_sigma() -> None:
    imu = load_vehicle("x500").sensors[0]
    assert imu.noise is not None
    assert imu.noise.imu is not None
    root = math.sqrt(imu.rate_hz)
    assert [d * root for d in imu.noise.imu.gyro.white_density] == pytest.approx([0.00087] * 3)
    assert [d * root for d in imu.noise.imu.accel.white_density] == pytest.approx(
        [0.00637, 0.00637, 0.00686]
    )


def airframe(vehicle: VehicleSpec) -> VehicleSpec:
    return dataclasses.replace(vehicle, name="-", description="", sensors=(), outputs=())


def test_variants_of_the_x500_differ_in_sensors_only() -> None:
    x500 = load_vehicle("x500")
    for name in ("x500_sensors", "x500_imu_1khz", "x500_px4"):
        assert airframe(load_vehicle(name)) == airframe(x500)
    every = load_vehicle("x500_sensors")
    assert every.sensors[: len(x500.sensors)] == x500.sensors
    assert {s.type for s in every.sensors} == set(get_args(SensorType)) - {"event_camera"}
    (imu,) = load_vehicle("x500_imu_1khz").sensors
    assert imu.rate_hz == 1000.0
    assert imu.noise == x500.sensors[0].noise


@pytest.mark.parametrize("entry", list_vehicles(), ids=lambda e: e.name)
def test_every_vehicle_can_fly(entry: CatalogueEntry) -> None:
    """It hovers well below full speed and stands free of the ground with its rotors."""
    vehicle = load_vehicle(entry.path)
    thrust_n = 4 * vehicle.motor.thrust_coeff * vehicle.motor.max_rad_s**2
    assert 1.6 < thrust_n / (vehicle.mass_kg * 9.8) < 8
    top_m = vehicle.body.collision_offset_m[2] + vehicle.body.size_m[2] / 2
    assert all(rotor.pos_m[2] >= top_m - 1e-9 for rotor in vehicle.rotors)
    # A loop around a first-order motor lag needs its gain well below 1/lag, and each loop must be
    # faster than the one around it.
    control = vehicle.control
    lag_s = max(vehicle.motor.time_constant_up_s, vehicle.motor.time_constant_down_s)
    assert max(control.rate_gain) * lag_s < 0.6
    assert control.att_gain <= control.rate_gain[0] / 2
    assert control.pos_gain <= control.vel_gain / 2


def test_racer_is_another_airframe() -> None:
    racer, x500 = load_vehicle("racer"), load_vehicle("x500")
    assert racer.mass_kg == pytest.approx(0.6)
    assert min(racer.body_drag.quadratic) > 0.0
    assert max(x500.body_drag.quadratic) == 0.0
    spec = load_scenario(
        "hover",
        [
            "vehicle=racer",
            "step_ns=1_000_000",
            "vehicle.sensors.imu0.rate_hz=1000",
        ],
    )
    assert spec.vehicle.sensors[0].rate_hz == 1000.0


def test_square_flies_a_square_and_comes_back() -> None:
    items = load_scenario("square").plan.items
    assert isinstance(items[0], TakeOff)
    assert isinstance(items[-1], Land)
    assert isinstance(items[-2], Hold)
    corners = [item.pos_enu_m for item in items if isinstance(item, GoTo)]
    sides = [math.dist(a, b) for a, b in zip([(0.0, 0.0, 2.0), *corners], corners, strict=False)]
    assert sides == [4.0] * 4
    assert corners[-1] == (0.0, 0.0, 2.0)


def test_sensor_faults_has_each_kind_once_and_apart() -> None:
    spec = load_scenario("sensor_faults")
    assert sorted(fault.kind for fault in spec.faults) == sorted(get_args(FaultKind))
    assert len({fault.sensor for fault in spec.faults}) >= 4
    for before, after in zip(spec.faults, spec.faults[1:], strict=False):
        assert before.at_ns + before.for_ns <= after.at_ns


def test_imu_only_1khz() -> None:
    spec = load_scenario("imu_only_1khz")
    assert spec.step_ns == spec.physics_step_ns == 1_000_000
    assert [sensor.id for sensor in spec.vehicle.sensors] == ["imu0"]


def test_all_sensors_has_something_to_see() -> None:
    spec = load_scenario("all_sensors")
    assert spec.vehicle == load_vehicle("x500_sensors")
    assert len(spec.world.obstacles) >= 3
    assert spec.duration_ns == 10_000_000_000


def test_an_installed_wheel_has_them_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "ghost" / "_data" / "configs" / "scenarios"
    folder.mkdir(parents=True)
    (folder / "only.yaml").write_text("name: only\ndescription: just this\n")
    monkeypatch.setattr(importlib.resources, "files", lambda _package: tmp_path / "ghost")
    assert [(e.name, e.description) for e in list_scenarios()] == [("only", "just this")]
    with pytest.raises(ConfigError, match=r"lacks its vehicles \(configs/vehicles\): install"):
        list_vehicles()


def test_vehicle_for_px4() -> None:
    """What its estimator takes off with, and its motors in its own order."""
    vehicle, x500 = load_vehicle("x500_px4"), load_vehicle("x500")
    assert [(o.channel, o.rotor, o.servo) for o in vehicle.outputs] == [
        (i, i, "") for i in range(4)
    ]
    assert {(o.reversed, o.curve) for o in vehicle.outputs} == {(False, "thrust")}
    rates = {sensor.type: sensor.rate_hz for sensor in vehicle.sensors}
    assert rates == {"imu": 250.0, "barometer": 50.0, "magnetometer": 100.0, "gps": 10.0}
    assert vehicle.sensors[:3] == x500.sensors[:3]
    noise = vehicle.sensors[3].noise
    assert noise is not None
    assert noise.gnss is not None
    assert noise.gnss.velocity_sigma_mps == 0.05
    assert vehicle.sensors[3].measures_velocity
    assert not any(sensor.measures_velocity for sensor in x500.sensors)


@pytest.mark.parametrize(
    ("name", "link", "like"),
    [
        ("px4_hover", "simulator", "hover"),
        ("px4_square", "simulator", "square"),
        ("px4_gazebo_hover", "gz_bridge", "hover"),
    ],
)
def test_scenarios_of_px4_fly_what_the_others_fly(name: str, link: str, like: str) -> None:
    spec = load_scenario(name)
    assert spec.autopilot == AutopilotSpec(link=link)  # type: ignore[arg-type]  # a str of the two
    assert spec.plan == load_scenario(like).plan
    assert spec.step_ns == spec.physics_step_ns == 4_000_000
    assert spec.vehicle == load_vehicle("x500_px4")
    east, north, up = spec.world.magnetic_field_enu_t
    assert math.degrees(math.atan2(east, north)) == pytest.approx(3.41, abs=0.01)
    assert math.degrees(math.atan2(-up, math.hypot(east, north))) == pytest.approx(63.16, abs=0.01)
    assert math.hypot(east, north, up) == pytest.approx(48.24e-6, abs=1e-8)
    assert ("--backend gazebo" in spec.description) == (link == "gz_bridge")


def test_scenarios_without_px4_have_no_autopilot() -> None:
    for entry in list_scenarios():
        spec = load_scenario(entry.path)
        assert (spec.autopilot is not None) == entry.name.startswith("px4_"), entry.name
