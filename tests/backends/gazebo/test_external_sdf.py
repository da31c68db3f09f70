"""The file of a world whose motors an autopilot outside drives."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from ghost.backends.gazebo.sdf_world import world_sdf
from ghost.core import AutopilotSpec, InitialState, OriginSpec, OutputSpec, ScenarioSpec, WorldSpec

RATES_HZ = {
    "imu_sensor": 250.0,
    "air_pressure_sensor": 50.0,
    "magnetometer_sensor": 100.0,
    "navsat_sensor": 30.0,
}


@pytest.fixture
def scenario(scenario: ScenarioSpec) -> ScenarioSpec:
    """The x500 on the ground, left to PX4's bridge."""
    return replace(scenario, initial=InitialState(), autopilot=AutopilotSpec(link="gz_bridge"))


def _model(scenario: ScenarioSpec) -> Element:
    world = ElementTree.fromstring(world_sdf(scenario).split("\n", 1)[1]).find("world")
    assert world is not None
    model = world.find(f"model[@name='ghost_{scenario.vehicle.name}']")
    assert model is not None
    return model


def test_the_file_has_both_kinds_of_sensors(scenario: ScenarioSpec) -> None:
    model = _model(scenario)
    sensors = {sensor.get("name"): sensor for sensor in model.iter("sensor")}
    for name, rate_hz in RATES_HZ.items():
        assert float(sensors[name].findtext("update_rate") or 0) == rate_hz
        assert name == "navsat_sensor" or sensors[name].find(".//noise") is not None
    for sensor in scenario.vehicle.sensors:
        assert sensors[sensor.id].find(".//noise") is None, "Ghost's own stay noise-free"
    echoes = [plugin for plugin in model.iter("plugin") if plugin.find("output") is not None]
    unmatched = [echo for echo in echoes if echo.find("input/match") is None]
    assert [echo.find("output").get("topic") for echo in unmatched] == [  # type: ignore[union-attr]  # all have one
        "/ghost_x500/command/heard"
    ]


def test_the_file_of_ghosts_own_worlds_is_as_before(scenario: ScenarioSpec) -> None:
    plain = world_sdf(replace(scenario, autopilot=None))
    assert plain == world_sdf(replace(scenario, autopilot=AutopilotSpec(link="simulator")))
    assert "imu_sensor" not in plain
    assert "command/heard" not in plain
    assert "<use_units_gauss>false" in plain
    assert "<use_units_gauss>true" in world_sdf(scenario)


def test_the_barometer_of_the_bridge_is_at_the_altitude_of_the_world(
    scenario: ScenarioSpec,
) -> None:
    """Gazebo gives 101325 Pa at z = 0, wherever that is; the standard has 95 600 Pa at 488 m."""
    for altitude_m, pressure_pa in ((0.0, 101325.0), (488.0, 95600.0), (1500.0, 84556.0)):
        world = WorldSpec(name="w", origin=OriginSpec(alt_m=altitude_m))
        noise = _model(replace(scenario, world=world)).find(
            ".//sensor[@name='air_pressure_sensor']//noise"
        )
        assert noise is not None
        mean = float(noise.findtext("mean") or "nan")
        assert 101325.0 + mean == pytest.approx(pressure_pa, abs=20.0)


def test_outputs_go_to_their_rotors(scenario: ScenarioSpec) -> None:
    outputs = tuple(OutputSpec(channel, rotor=3 - channel) for channel in range(4))
    vehicle = replace(scenario.vehicle, outputs=outputs)
    model = _model(replace(scenario, vehicle=vehicle))
    numbers = {
        plugin.findtext("jointName"): plugin.findtext("actuator_number")
        for plugin in model.iter("plugin")
        if plugin.find("actuator_number") is not None
    }
    assert numbers == {f"rotor_{n}_joint": str(3 - n) for n in range(4)}
