"""`--set key.path=value`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ghost.config import ConfigProblems, load_scenario, load_vehicle
from ghost.core import ConfigError, Hold, Land

Say = Callable[..., list[str]]
pytestmark = pytest.mark.usefixtures("folder")


def test_values_are_set() -> None:
    spec = load_scenario(
        "short.yaml",
        [
            "seed=7",
            "vehicle.control.pos_gain=2",
            "vehicle.sensors.baro0.rate_hz=25",
            "vehicle.sensors.0.latency_ns=1_000_000",
            "faults.0.at_ns=3",
            "plan.items.1.for_ns=5",
            "description=two words",
            "vehicle.rotors.0.pos_m.2=0.5",
        ],
    )
    assert spec.seed == 7
    assert spec.vehicle.control.pos_gain == 2.0
    assert [s.rate_hz for s in spec.vehicle.sensors] == [200.0, 25.0]
    assert spec.vehicle.sensors[0].latency_ns == 1_000_000
    assert spec.faults[0].at_ns == 3
    assert isinstance(spec.plan.items[1], Hold)
    assert spec.plan.items[1].for_ns == 5
    assert spec.description == "two words"
    assert spec.vehicle.rotors[0].pos_m == (0.1, -0.1, 0.5)


def test_keys_of_the_schema_that_the_file_does_not_have() -> None:
    spec = load_scenario(
        "short.yaml",
        [
            "world.origin.lat_deg=1",
            "world.wind_enu_mps.1=3",
            "initial.pos_enu_m=[1, 2, 3]",
            "vehicle.sensors.imu0.noise.imu.accel.quantum=0.5",
        ],
    )
    assert spec.world.origin.lat_deg == 1.0
    assert spec.world.wind_enu_mps == (0.0, 3.0, 0.0)
    assert spec.initial.pos_enu_m == (1.0, 2.0, 3.0)
    noise = spec.vehicle.sensors[0].noise
    assert noise is not None
    assert noise.imu is not None
    assert noise.imu.accel.quantum == 0.5


def test_whole_parts_and_order() -> None:
    spec = load_scenario(
        "short.yaml",
        [
            "plan={items: [{action: land}]}",
            "faults=[]",
            "vehicle.name=v",
            "vehicle=x500",
            "seed=1",
            "seed=2",
        ],
    )
    assert spec.plan.items == (Land(),)
    assert spec.faults == ()
    assert spec.vehicle.mass_kg == pytest.approx(2.0 + 4 * 0.016076923076923075)
    assert spec.vehicle.name == "v"
    assert spec.seed == 2


def test_of_a_vehicle() -> None:
    assert load_vehicle("small.yaml", ["control.yaw_gain=1"]).control.yaw_gain == 1.0
    with pytest.raises(ConfigError, match=r"^control.yaw: unknown key, did you mean 'yaw_gain'\?"):
        load_vehicle("small.yaml", ["control.yaw=1"])


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("sed=1", "sed: unknown key, did you mean 'seed'?"),
        ("step_ms=4", "step_ms: unknown key, did you mean 'step_ns', in nanoseconds?"),
        ("vehicle.sensor.x=1", "vehicle.sensor: unknown key, did you mean 'sensors'?"),
        (
            "vehicle.sensors.imu.rate_hz=1",
            "vehicle.sensors.imu: there is no item with the id 'imu', did you mean 'imu0'? "
            "(known: imu0, baro0)",
        ),
        (
            "vehicle.sensors.2.rate_hz=1",
            "vehicle.sensors.2: there is no item 2; the list has 0 to 1",
        ),
        ("faults.1.at_ns=1", "faults.1: there is no item 1; the list has 0"),
        ("world.obstacles.0.yaw_deg=1", "world.obstacles.0: there is no item 0; the list has none"),
        ("faults.first.at_ns=1", "faults.first: expected the number of an item (0 is the first)"),
        ("faults.-1.at_ns=1", "faults.-1: expected the number of an item"),
        ("seed.x=1", "seed.x: there is no key 'x': seed is a whole number"),
        ("vehicle.body.mass_kg.x=1", "vehicle.body.mass_kg.x: there is no key 'x': vehicle.body"),
        (
            "initial.pos_enu_m.1=1",
            "initial.pos_enu_m: is not given: set all of it, as in initial.pos",
        ),
        (
            "plan.items.0.speed_mps=1",
            "plan.items.0.speed_mps: unknown key, expected one of altitude_m, action, timeout_ns",
        ),
        ("seed=one", "seed: expected a whole number, got 'one'"),
        ("seed=", "seed: expected a whole number, got nothing (null)"),
        ("step_ns=4ms", "step_ns: expected a whole number of nanoseconds, got '4ms': write an "),
        ("step_ns=.004", "step_ns: expected a whole number of nanoseconds, got 0.004"),
        ("vehicle.sensors.imu0.rate_hz=999", "vehicle.sensors.imu0.rate_hz: 999 is more than a "),
        ("vehicle=x50", "vehicle: unknown vehicle 'x50'; did you mean 'x500'"),
        ("vehicle=no.yaml", "vehicle: no.yaml: no such vehicle file"),
        ("vehicle=null", "vehicle: expected the name of a vehicle, the path of a vehicle file, or"),
        ("world={gravity: 3}", "world.gravity: unknown key, did you mean 'gravity_mps2', in m/s²?"),
    ],
)
def test_problems_name_the_option(say: Say, override: str, expected: str) -> None:
    (line,) = say(overrides=(override,))
    assert line.startswith(expected)
    assert line.endswith(f" (from --set {override})")


@pytest.mark.parametrize("override", ["seed", "", "=1", "a..b=1", ".seed=1", "seed.=1"])
def test_texts_that_are_no_override(override: str) -> None:
    with pytest.raises(ConfigError, match=r"^--set .* is not understood, expected key.path=value"):
        load_scenario("short.yaml", [override])


@pytest.mark.parametrize("override", ["seed=[", "seed=*a", "seed={a: 1, a: 2}", "seed=!!int 3"])
def test_values_that_are_no_yaml(override: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_scenario("short.yaml", [override])
    assert str(caught.value).endswith(f"(from --set {override})")


def test_below_something_of_the_wrong_kind(say: Say) -> None:
    lines = say(("  mass_kg: 1\n", "  mass_kg: x\n"), overrides=("plan=3", "plan.level=VELOCITY"))
    assert lines == [
        "plan.level: is not there: plan is 3 (from --set plan.level=VELOCITY)",
        "plan: expected a mapping of keys to values, got 3 (from --set plan=3)",
        "small.yaml:3: body.mass_kg: expected a number, got 'x'",
    ]


def test_overrides_and_file_problems_come_together(say: Say) -> None:
    lines = say(("name: short", "nam: short"), overrides=("sed=1", "step_ns=4ms"))
    assert len(lines) == 3
    assert any(line.startswith("short.yaml:1: nam: unknown key") for line in lines)


def test_a_set_value_has_no_file() -> None:
    with pytest.raises(ConfigProblems) as caught:
        load_scenario("short.yaml", ["seed=x"])
    assert (caught.value.file, caught.value.line, caught.value.key) == (None, None, "seed")
