"""A specification survives the way into a recording and back, bit by bit."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghost.config import (
    list_scenarios,
    load_scenario,
    spec_from_dict,
    spec_to_dict,
    vehicle_from_dict,
)
from ghost.core import AutopilotSpec, ConfigError, OutputSpec, noise, scenario, vehicle
from ghost.core.checks import MAX_NS

finite = st.floats(-1e6, 1e6)
near = st.floats(-1e3, 1e3)
positive = st.floats(1e-3, 80.0)
not_negative = st.floats(0.0, 100.0)
ratio = st.floats(0.0, 1.0)
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
name = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
ns = st.integers(1, MAX_NS)


def triple(
    numbers: st.SearchStrategy[float],
) -> st.SearchStrategy[tuple[float, float, float]]:
    return st.tuples(numbers, numbers, numbers)


triads = st.builds(
    noise.TriadNoise,
    white_density=triple(not_negative),
    bias=triple(finite),
    random_walk_density=triple(not_negative),
    quantum=not_negative,
    limit=st.none() | not_negative,
)
NOISE: dict[str, st.SearchStrategy[object]] = {
    "imu": st.builds(noise.ImuNoise, accel=triads, gyro=triads),
    "magnetometer": st.builds(
        noise.MagnetometerNoise, white_sigma_t=triple(not_negative), bias_t=triple(finite)
    ),
    "barometer": st.builds(noise.BarometerNoise, white_sigma_pa=not_negative, bias_pa=finite),
    "gnss": st.builds(
        noise.GnssNoise,
        horizontal_sigma_m=not_negative,
        wander_time_s=positive,
        velocity_sigma_mps=st.none() | not_negative,
    ),
    "altimeter": st.builds(noise.AltimeterNoise, white_sigma_m=not_negative, bias_m=finite),
    "range": st.builds(noise.RangeNoise, sigma_m=not_negative, dropout_ratio=ratio),
    "flow": st.builds(noise.FlowNoise, sigma_rad=not_negative),
    "image": st.builds(noise.ImageNoise, dropout_ratio=ratio, motion_blur=st.booleans()),
}
PART = {
    "imu": "imu",
    "rgb": "image",
    "depth": "range",
    "gps": "gnss",
    "altimeter": "altimeter",
    "lidar": "range",
    "magnetometer": "magnetometer",
    "barometer": "barometer",
    "optical_flow": "flow",
}
cameras = st.builds(
    vehicle.CameraSpec,
    width=st.integers(1, 4096),
    height=st.integers(1, 4096),
    hfov_deg=st.floats(1.0, 169.0),
    min_range_m=st.floats(0.01, 1.0),
    max_range_m=st.floats(2.0, 100.0),
    exposure_ns=st.integers(0, MAX_NS),
)
lidars = st.builds(vehicle.LidarSpec, columns=st.integers(1, 1000), rows=st.integers(1, 1000))
mounts = st.builds(vehicle.MountSpec, pos_m=triple(near), rpy_deg=triple(finite))


@st.composite
def sensors(draw: st.DrawFn, sensor_id: str) -> vehicle.SensorConfig:
    kind = draw(st.sampled_from(sorted(PART)))
    part = PART[kind]
    model = draw(
        st.none()
        | st.builds(
            noise.NoiseModel,
            clock_drift_ppm=st.floats(-1e4, 1e4),
            **{part: st.none() | NOISE[part]},
        )
    )
    return vehicle.SensorConfig(
        id=sensor_id,
        type=kind,  # type: ignore[arg-type]  # a str from the list of the types
        rate_hz=draw(positive),
        frame_id=draw(st.none() | text),
        calibration_id=draw(st.none() | text),
        latency_ns=draw(st.integers(0, MAX_NS)),
        queue_size=draw(st.integers(1, 10**6)),
        mount=draw(mounts),
        noise=model,
        camera=draw(cameras) if kind in ("rgb", "depth") else None,
        lidar=draw(lidars) if kind == "lidar" else None,
        reference=draw(st.sampled_from(["AMSL", "AGL", "LOCAL"])),
    )


one_line = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)


@st.composite
def outputs(draw: st.DrawFn) -> tuple[OutputSpec, ...]:
    """None, or all four rotors and a servo, on any channels in any order."""
    if draw(st.booleans()):
        return ()
    rotors = draw(st.permutations([0, 1, 2, 3, None]))
    channels = draw(st.lists(st.integers(0, 15), min_size=5, max_size=5, unique=True))
    return tuple(
        OutputSpec(
            channel=channel,
            rotor=rotor,
            servo=draw(one_line.filter(bool)) if rotor is None else "",
            reversed=draw(st.booleans()),
            curve=draw(st.sampled_from(["thrust", "speed"])),
        )
        for channel, rotor in zip(channels, rotors, strict=True)
    )


autopilots = st.builds(
    AutopilotSpec,
    link=st.just("gz_bridge"),
    binary=one_line,
    airframe=st.integers(0, 2**31 - 1),
    params=one_line,
    instance=st.integers(-1, 249),
    warmup_ns=st.integers(0, 10**12),
    ready_timeout_ns=st.integers(10**12, MAX_NS),
    answer_deadline_ns=st.integers(10**6, MAX_NS),
    start_timeout_ns=st.integers(10**6, MAX_NS),
) | st.builds(AutopilotSpec, link=st.just("gz_bridge"), image=one_line)


@st.composite
def vehicles(draw: st.DrawFn) -> vehicle.VehicleSpec:
    ids = draw(
        st.lists(st.from_regex(r"\A[a-z][a-z0-9_]{0,8}\Z"), min_size=1, max_size=4, unique=True)
    )
    directions = draw(st.permutations(["ccw", "ccw", "cw", "cw"]))
    return draw(
        st.builds(
            vehicle.VehicleSpec,
            name=name,
            description=text,
            body=st.builds(
                vehicle.BodySpec,
                mass_kg=positive,
                inertia_kgm2=triple(st.floats(1.0, 1.9)),
                size_m=triple(positive),
                collision_offset_m=triple(near),
            ),
            rotors=st.tuples(
                *(
                    st.builds(
                        vehicle.RotorSpec,
                        pos_m=triple(near),
                        direction=st.just(direction),
                        mass_kg=not_negative,
                        inertia_kgm2=triple(not_negative),
                    )
                    for direction in directions
                )
            ),
            motor=st.builds(
                vehicle.MotorSpec,
                thrust_coeff=positive,
                moment_ratio=not_negative,
                max_rad_s=positive,
                time_constant_up_s=positive,
                time_constant_down_s=positive,
            ),
            sensors=st.tuples(*(sensors(sensor_id) for sensor_id in ids)),
            body_drag=st.builds(vehicle.BodyDragSpec, linear=triple(not_negative)),
            control=st.builds(
                vehicle.ControlSpec, rate_hz=positive, max_tilt_deg=st.floats(1.0, 84.0)
            ),
            outputs=outputs(),
        )
    )


plan_items = st.one_of(
    st.builds(scenario.TakeOff, altitude_m=positive.map(lambda v: v + 0.1), timeout_ns=ns),
    st.builds(
        scenario.GoTo, pos_enu_m=triple(finite), yaw_deg=finite, speed_mps=positive, timeout_ns=ns
    ),
    st.builds(scenario.Hold, for_ns=st.integers(0, MAX_NS)),
    st.builds(scenario.VelocityFor, vel_enu_mps=triple(near), for_ns=ns, yaw_rate_dps=near),
    st.builds(scenario.Land, speed_mps=st.floats(0.05, 5.0), timeout_ns=ns),
)


@st.composite
def faults(draw: st.DrawFn, ids: list[str]) -> scenario.FaultSpec:
    kind = draw(st.sampled_from(["offline", "freeze", "nan", "bias", "spike", "drop", "delay"]))
    value: float | None = None
    if kind in ("bias", "spike"):
        value = draw(finite)
    elif kind == "drop":
        value = draw(ratio)
    elif kind == "delay":
        value = float(draw(st.integers(0, 10**12)))
    return scenario.FaultSpec(
        at_ns=draw(st.integers(0, MAX_NS)),
        sensor=draw(st.sampled_from(ids)),
        kind=kind,  # type: ignore[arg-type]  # a str from the list of the kinds
        for_ns=draw(st.integers(0, MAX_NS)),
        value=value,
    )


@st.composite
def scenarios(draw: st.DrawFn) -> scenario.ScenarioSpec:
    flown = draw(vehicles())
    ids = [sensor.id for sensor in flown.sensors]
    return scenario.ScenarioSpec(
        name=draw(name),
        vehicle=flown,
        duration_ns=draw(ns),
        step_ns=draw(st.integers(1, 10)) * 1_000_000,
        physics_step_ns=draw(st.sampled_from([250_000, 500_000, 1_000_000])),
        seed=draw(st.integers(0, 2**64 - 1)),
        description=draw(text),
        world=draw(
            st.builds(
                scenario.WorldSpec,
                name=text,
                gravity_mps2=not_negative,
                wind_enu_mps=triple(st.floats(-150.0, 150.0)),
                origin=st.builds(scenario.OriginSpec, lat_deg=st.floats(-90.0, 90.0)),
                obstacles=st.lists(
                    st.builds(
                        scenario.BoxObstacle,
                        pos_m=triple(finite),
                        size_m=triple(positive),
                        yaw_deg=finite,
                        color_rgb=triple(ratio),
                    ),
                    max_size=3,
                ).map(tuple),
            )
        ),
        initial=draw(st.builds(scenario.InitialState, pos_enu_m=st.none() | triple(not_negative))),
        faults=tuple(draw(st.lists(faults(ids), max_size=3))),
        plan=scenario.FlightPlan(
            items=tuple(draw(st.lists(plan_items, max_size=4))),
            level=draw(st.sampled_from(["POSITION", "VELOCITY"])),
            command_rate_hz=draw(st.floats(0.1, 100.0)),
        ),
    )


checked = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])


@given(scenarios())
@checked
def test_scenarios(spec: scenario.ScenarioSpec) -> None:
    data = spec_to_dict(spec)
    assert spec_from_dict(data) == spec
    assert spec_from_dict(json.loads(json.dumps(data))) == spec


@given(scenarios(), autopilots)
@checked
def test_scenarios_with_an_autopilot(spec: scenario.ScenarioSpec, autopilot: AutopilotSpec) -> None:
    imu = vehicle.SensorConfig(id="imu_of_px4", type="imu", rate_hz=1e9 / spec.step_ns)
    with_imu = replace(spec.vehicle, sensors=(*spec.vehicle.sensors, imu))
    flown = replace(spec, vehicle=with_imu, initial=scenario.InitialState(), autopilot=autopilot)
    assert spec_from_dict(json.loads(json.dumps(spec_to_dict(flown)))) == flown


@given(vehicles())
@checked
def test_vehicles(spec: vehicle.VehicleSpec) -> None:
    assert vehicle_from_dict(json.loads(json.dumps(spec_to_dict(spec)))) == spec


@pytest.mark.parametrize("name", [entry.name for entry in list_scenarios()])
def test_shipped_scenarios_also_through_a_yaml_file(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    spec = load_scenario(name)
    path = tmp_path_factory.mktemp("dump") / "dumped.yaml"
    path.write_text(yaml.safe_dump(spec_to_dict(spec)))
    assert load_scenario(path) == spec


def test_plain_data_holds_every_key_and_nothing_but_plain_values() -> None:
    data = spec_to_dict(load_scenario("hover"))
    assert data["plan"]["items"][0] == {
        "altitude_m": 2.0,
        "action": "takeoff",
        "timeout_ns": 20_000_000_000,
    }
    assert data["world"]["gravity_mps2"] == 9.8
    assert data["vehicle"]["sensors"][0]["noise"]["gnss"] is None

    def walk(value: object) -> None:
        assert type(value) in (dict, list, str, int, float, bool, type(None))
        for item in value.values() if isinstance(value, dict) else ():
            walk(item)
        for item in value if isinstance(value, list) else ():
            walk(item)

    walk(data)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("seed", "x", "seed: expected a whole number, got 'x'"),
        ("sed", 1, "sed: unknown key, did you mean 'seed'?"),
        ("seed", 2**200, "a number of 201 bits is too long"),
        ("seed", b"x", "a specification holds plain data, got bytes"),
        ("name", "\ud800", "a lone surrogate"),
        ("vehicle", "x500", "vehicle: expected the name of a vehicle"),
    ],
)
def test_bad_data(key: str, value: Any, expected: str) -> None:
    data = spec_to_dict(load_scenario("hover"))
    data[key] = value
    with pytest.raises(ConfigError) as caught:
        spec_from_dict(data)
    assert str(caught.value).startswith(expected)


def test_endless_data() -> None:
    data: dict[str, Any] = {}
    data["world"] = data
    with pytest.raises(ConfigError, match="nested more than 40 deep"):
        spec_from_dict(data)
