"""Values that no vehicle and no flight has are refused by name, before an engine sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost.config import check_file, load_scenario
from ghost.core import ConfigError, UnknownName


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        (
            "vehicle.sensors.imu0.queue_size=99999999999999999999",
            "queue_size: must be at most 1e+06, got 99999999999999999999",
        ),
        ("initial.pos_enu_m=[0, 0, 1e300]", "initial.pos_enu_m: must be at most 1e+06, got 1e+300"),
        ("initial.pos_enu_m=[-1e9, 0, 1]", "initial.pos_enu_m: must be at least -1e+06"),
        (
            "initial.pos_enu_m=[0, 0, -5]",
            "initial.pos_enu_m: must not be below the ground (z of 0), got z -5",
        ),
        ("initial.vel_enu_mps=[0, 0, -1e6]", "initial.vel_enu_mps: must be at least -1000"),
        ("world.gravity_mps2=1e6", "world.gravity_mps2: must be at most 100"),
        ("world.wind_enu_mps=[151, 0, 0]", "world.wind_enu_mps: must be at most 150"),
        ("world.magnetic_field_enu_t=[2, 0, 0]", "magnetic_field_enu_t: must be at most 1,"),
        ("vehicle.body.mass_kg=1e30", "body.mass_kg: must be at most 10000"),
        ("vehicle.body.inertia_kgm2=[1e30, 1e30, 1e30]", "inertia_kgm2: must be at most 1e+06"),
        ("vehicle.body.size_m=[1e30, 1, 1]", "body.size_m: must be at most 1000"),
        ("vehicle.rotors.0.mass_kg=1e30", "rotors.0.mass_kg: must be at most 10000"),
        ("vehicle.rotors.0.pos_m=[1e30, 0, 0]", "rotors.0.pos_m: must be at most 1000"),
        ("vehicle.motor.thrust_coeff=1e300", "motor.thrust_coeff: must be at most 1000"),
        ("vehicle.motor.max_rad_s=1e300", "motor.max_rad_s: must be at most 1e+06"),
        ("vehicle.body_drag.linear=[1e300, 0, 0]", "body_drag.linear: must be at most 1e+06"),
        ("vehicle.control.pos_gain=1e300", "control.pos_gain: must be at most 1e+06"),
        ("vehicle.control.max_up_mps=1e300", "control.max_up_mps: must be at most 1000"),
        ("plan.items.0.altitude_m=1e300", "plan.items.0.altitude_m: must be at most 1e+06"),
        ("physics_step_ns=1", "physics_step_ns: must be at least 10000 ns, got 1"),
        ("step_ns=1000", "step_ns: must be at least 10000 ns, got 1000"),
    ],
)
def test_absurd_values(override: str, expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_scenario("hover", [override])
    assert expected in str(caught.value)


def test_extreme_and_possible_values() -> None:
    spec = load_scenario(
        "hover",
        [
            "initial.pos_enu_m=[-1e6, 1e6, 0]",
            "world.gravity_mps2=100",
            "world.wind_enu_mps=[-150, 150, 0]",
            "vehicle.sensors.imu0.queue_size=1_000_000",
            "step_ns=10_000",
            "physics_step_ns=10_000",
        ],
    )
    assert spec.step_ns == 10_000


def test_a_vehicle_where_a_scenario_belongs(folder: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_scenario(folder / "small.yaml")
    assert str(caught.value) == (
        f"{folder / 'small.yaml'}: this is a vehicle file; ghost run takes a scenario"
    )


def test_check_takes_shipped_names(folder: Path) -> None:
    assert check_file("hover").kind == "scenario"
    assert check_file("x500").kind == "vehicle"
    assert check_file("short.yaml").kind == "scenario"
    with pytest.raises(UnknownName, match="unknown scenario or vehicle 'hoover'; did you mean"):
        check_file("hoover")
    (folder / "plain").mkdir()
    with pytest.raises(ConfigError, match="is a directory"):
        check_file("plain")


@pytest.mark.parametrize("overrides", ["duration_ns=3", [3]])
def test_overrides_are_a_list_of_texts(overrides: list[str]) -> None:
    with pytest.raises(TypeError, match="overrides must be a list of texts key=value, got "):
        load_scenario("hover", overrides)
