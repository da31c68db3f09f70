"""The optional `autopilot:` of a scenario and the `outputs:` of a vehicle."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ghost.config import (
    ConfigProblems,
    load_scenario,
    problems_of,
    spec_from_dict,
    spec_to_dict,
)
from ghost.core import (
    AutopilotSpec,
    ConfigError,
    InitialState,
    OutputSpec,
    ScenarioSpec,
    VehicleSpec,
)


@pytest.fixture(scope="module")
def flown() -> ScenarioSpec:
    return load_scenario("px4_hover")


def test_defaults() -> None:
    assert dataclasses.asdict(AutopilotSpec()) == {
        "kind": "px4",
        "link": "simulator",
        "binary": "",
        "image": "",
        "attach": False,
        "airframe": 0,
        "params": "",
        "instance": -1,
        "warmup_ns": 15_000_000_000,
        "ready_timeout_ns": 60_000_000_000,
        "answer_deadline_ns": 1_000_000_000,
        "start_timeout_ns": 30_000_000_000,
    }
    assert OutputSpec(3, rotor=1) == OutputSpec(3, 1, "", False, "thrust")


@pytest.mark.parametrize(
    ("cls", "values", "expected"),
    [
        (AutopilotSpec, {"kind": "ardupilot"}, "kind must be one of px4, got 'ardupilot'"),
        (AutopilotSpec, {"link": "gz"}, "link must be one of simulator, gz_bridge, got 'gz'"),
        (AutopilotSpec, {"binary": "a\nb"}, "binary must be one line without a NUL"),
        (AutopilotSpec, {"attach": True, "binary": "px4"}, "attach means a PX4 that somebody else"),
        (AutopilotSpec, {"attach": True, "link": "gz_bridge"}, "attach is for the link simulator"),
        (AutopilotSpec, {"airframe": -1}, "airframe must be within 0..2147483647, got -1"),
        (AutopilotSpec, {"instance": 250}, "instance must be within -1..249, got 250"),
        (AutopilotSpec, {"warmup_ns": -1}, "warmup_ns must be at least 0 ns, got -1"),
        (AutopilotSpec, {"answer_deadline_ns": 0}, "answer_deadline_ns must be at least 1000000"),
        (
            AutopilotSpec,
            {"warmup_ns": 10**11},
            "ready_timeout_ns 60000000000 must not be less than warmup_ns 100000000000",
        ),
        (
            AutopilotSpec,
            {"binary": "px4", "image": "px4io/px4-sitl"},
            "binary 'px4' and image 'px4io/px4-sitl' exclude each other",
        ),
        (OutputSpec, {"channel": 16, "rotor": 0}, "channel must be within 0..15, got 16"),
        (OutputSpec, {"channel": 0, "rotor": -1}, "rotor must be within 0..255, got -1"),
        (OutputSpec, {"channel": 0}, "rotor is missing: a channel drives a rotor, or a servo"),
        (OutputSpec, {"channel": 0, "rotor": 1, "servo": "arm"}, "rotor 1 and servo 'arm' exclude"),
        (
            OutputSpec,
            {"channel": 0, "rotor": 1, "curve": "s"},
            "curve must be one of thrust, speed",
        ),
    ],
)
def test_out_of_range(cls: Any, values: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match="^" + expected):
        cls(**values)


@pytest.mark.parametrize(
    ("cls", "values", "expected"),
    [
        (AutopilotSpec, {"airframe": 1.0}, r"airframe must be a whole number, got 1\.0"),
        (AutopilotSpec, {"instance": True}, "instance must be a whole number, got True"),
        (AutopilotSpec, {"params": None}, "params must be a text, got None"),
        (AutopilotSpec, {"warmup_ns": 1e9}, "warmup_ns must be an integer of nanoseconds"),
        (OutputSpec, {"channel": "0", "rotor": 0}, "channel must be a whole number, got '0'"),
        (OutputSpec, {"channel": 0, "rotor": 0, "reversed": 1}, "reversed must be true or false"),
    ],
)
def test_wrong_types(cls: Any, values: dict[str, Any], expected: str) -> None:
    with pytest.raises(TypeError, match="^" + expected):
        cls(**values)


def _with_outputs(vehicle: VehicleSpec, *outputs: OutputSpec) -> VehicleSpec:
    return dataclasses.replace(vehicle, outputs=outputs)


def test_outputs_drive_every_rotor_once(flown: ScenarioSpec) -> None:
    four = [OutputSpec(7 - i, rotor=i) for i in range(4)]
    arm = OutputSpec(15, servo="arm", reversed=True)
    assert _with_outputs(flown.vehicle, *four, arm).outputs[-1] is arm
    assert _with_outputs(flown.vehicle).outputs == ()
    with pytest.raises(ValueError, match=r"rotors once: rotor 3 is driven 0 times$"):
        _with_outputs(flown.vehicle, *four[:3])
    with pytest.raises(ValueError, match=r"rotors once: rotor 0 is driven 0 times"):
        _with_outputs(flown.vehicle, arm)
    with pytest.raises(ValueError, match=r"different servos: 'arm' is given twice or more"):
        _with_outputs(flown.vehicle, *four, arm, OutputSpec(14, servo="arm"))
    with pytest.raises(ValueError, match=r"^outputs must have") as caught:
        _with_outputs(flown.vehicle, *four[:3], OutputSpec(7, rotor=4))
    assert str(caught.value).split("\n") == [
        "outputs must have different channels: 7 is given twice or more",
        "outputs.3.rotor 4 is none of the 4 rotors, which count from 0 to 3",
        "outputs must drive each of the rotors once: rotor 3 is driven 0 times",
    ]


def test_an_autopilot_boots_on_the_ground(flown: ScenarioSpec) -> None:
    standing_m = 0.227
    for height_m in (standing_m, standing_m + 0.04, 0.0):
        start = InitialState(pos_enu_m=(5.0, -3.0, height_m))
        assert dataclasses.replace(flown, initial=start).initial is start
    aloft = InitialState(pos_enu_m=(0.0, 0.0, 2.0))
    with pytest.raises(ValueError, match=r"^initial\.pos_enu_m is in the air \(z 2, vehicle\.body"):
        dataclasses.replace(flown, initial=aloft)
    moving = InitialState(vel_enu_mps=(0.0, 0.1, 0.0))
    with pytest.raises(ValueError, match=r"^initial\.vel_enu_mps .* must be 0 with an autopilot"):
        dataclasses.replace(flown, initial=moving)
    for start in (aloft, moving):
        assert dataclasses.replace(flown, autopilot=None, initial=start).initial is start


def _without(flown: ScenarioSpec, *types: str) -> VehicleSpec:
    kept = tuple(sensor for sensor in flown.vehicle.sensors if sensor.type not in types)
    return dataclasses.replace(flown.vehicle, sensors=kept)


def test_an_imu_sample_per_step(flown: ScenarioSpec) -> None:
    bridge = AutopilotSpec(link="gz_bridge")
    for autopilot in (flown.autopilot, bridge):
        with pytest.raises(ValueError, match=r"rate_hz 250 for a step_ns of 4000000; .* has none"):
            dataclasses.replace(flown, vehicle=_without(flown, "imu"), autopilot=autopilot)
        with pytest.raises(ValueError, match=r"^autopilot needs an imu .* has imu0 with 250$"):
            dataclasses.replace(
                flown, step_ns=2_000_000, physics_step_ns=2_000_000, autopilot=autopilot
            )


@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        (["gps"], "needs a gps among vehicle.sensors"),
        (["barometer", "gps"], "needs a barometer, a gps among vehicle.sensors"),
        (["magnetometer"], "needs a magnetometer among vehicle.sensors"),
    ],
)
def test_the_simulator_link_carries_them_all(
    flown: ScenarioSpec, taken: list[str], expected: str
) -> None:
    vehicle = _without(flown, *taken)
    with pytest.raises(ValueError, match=f"^autopilot.link simulator {expected}"):
        dataclasses.replace(flown, vehicle=vehicle)
    # Over its own bridge PX4 reads the sensors of Gazebo's model.
    bridge = AutopilotSpec(link="gz_bridge")
    assert dataclasses.replace(flown, vehicle=vehicle, autopilot=bridge).autopilot is bridge


def test_set_replaces_creates_and_removes() -> None:
    changed = load_scenario(
        "px4_hover", ["autopilot.link=gz_bridge", "autopilot.warmup_ns=5_000_000_000"]
    )
    assert changed.autopilot == AutopilotSpec(link="gz_bridge", warmup_ns=5_000_000_000)
    assert load_scenario("hover", ["autopilot.link=simulator"]).autopilot == AutopilotSpec()
    assert load_scenario("hover", ["autopilot={}"]).autopilot == AutopilotSpec()
    assert load_scenario("px4_hover", ["autopilot=null"]).autopilot is None
    outputs = load_scenario("px4_hover", ["vehicle.outputs.2.curve=speed"]).vehicle.outputs
    assert [output.curve for output in outputs] == ["thrust", "thrust", "speed", "thrust"]


def test_every_problem_is_reported_where_it_stands() -> None:
    with pytest.raises(ConfigProblems) as caught:
        load_scenario(
            "px4_hover",
            [
                "autopilot.link=gazebo",
                "autopilot.speed=3",
                "autopilot.instance=1.5",
                "vehicle.outputs.0.curve=cubic",
                "vehicle.outputs.1={channel: 1}",
            ],
        )
    text = "\n".join(problems_of(caught.value))
    for expected in (
        "autopilot.link: expected one of simulator, gz_bridge, got 'gazebo'",
        "autopilot.speed: unknown key",
        "autopilot.instance: expected a whole number, got 1.5",
        "vehicle.outputs.0.curve: expected one of thrust, speed, got 'cubic'",
        "vehicle.outputs.1.rotor: is missing: a channel drives a rotor, or a servo",
    ):
        assert expected in text
    with pytest.raises(ConfigError, match=r"initial\.vel_enu_mps: \(1.* must be 0 with an") as one:
        load_scenario("px4_hover", ["initial.vel_enu_mps=[1, 0, 0]"])
    assert one.value.key == "initial.vel_enu_mps"


def test_through_a_recording_also_an_older_one(flown: ScenarioSpec) -> None:
    data = spec_to_dict(flown)
    assert data["autopilot"]["link"] == "simulator"
    assert spec_from_dict(data) == flown
    # A recording made before there were autopilots has no such keys.
    del data["autopilot"]
    del data["vehicle"]["outputs"]
    for sensor in data["vehicle"]["sensors"]:
        if sensor["noise"]["gnss"] is not None:
            del sensor["noise"]["gnss"]["velocity_sigma_mps"]
    old = spec_from_dict(data)
    assert old.autopilot is None
    assert old.vehicle.outputs == ()
    assert not any(sensor.measures_velocity for sensor in old.vehicle.sensors)
    data["autopilot"] = {"kind": "px4", "link": 3}
    with pytest.raises(ConfigError, match=r"autopilot\.link"):
        spec_from_dict(data)
