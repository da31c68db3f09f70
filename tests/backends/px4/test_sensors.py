"""Which samples PX4 is told of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ghost.backends.embedded import EmbeddedBackend
from ghost.backends.px4.sensors import SampleCatcher
from ghost.config import load_vehicle
from ghost.core import FaultSpec, ScenarioSpec


@pytest.fixture
def scenario() -> ScenarioSpec:
    """The vehicle of PX4 with a second IMU, a height above ground and a flow sensor."""
    vehicle = load_vehicle("x500_px4")
    full = {sensor.id: sensor for sensor in load_vehicle("x500_sensors").sensors}
    imu = next(sensor for sensor in vehicle.sensors if sensor.type == "imu")
    more = (replace(imu, id="imu9"), full["altimeter0"], full["flow0"])
    return ScenarioSpec(
        "caught", replace(vehicle, sensors=(*vehicle.sensors, *more)), duration_ns=10**9
    )


def test_the_newest_of_each_kind_once(scenario: ScenarioSpec) -> None:
    with EmbeddedBackend() as world:
        world.reset(scenario, 1)
        catcher = SampleCatcher(world.sensors())
        world.step(100_000_000)
        readings = catcher.take()
        assert readings.imu is not None
        assert readings.imu1 is not None
        assert (readings.imu.sensor_id, readings.imu1.sensor_id) == ("imu0", "imu9")
        assert readings.imu.stamp_sim_ns == world.clock.now_ns()
        for name in ("mag", "baro", "gps", "flow", "range_m"):
            assert getattr(readings, name) is not None, name
        assert readings.imu2 is None
        assert catcher.take().imu is None
        catcher.close()
        world.step(4_000_000)
        assert catcher.take().imu is None


def test_a_corrupt_reading_is_none(scenario: ScenarioSpec) -> None:
    faulty = replace(scenario, faults=(FaultSpec(0, "imu0", "nan"),))
    with EmbeddedBackend() as world:
        world.reset(faulty, 1)
        catcher = SampleCatcher(world.sensors())
        world.step(20_000_000)
        readings = catcher.take()
        assert readings.imu is None
        assert readings.imu1 is not None


def test_the_run_loop_still_gets_every_sample(scenario: ScenarioSpec) -> None:
    with EmbeddedBackend() as world:
        world.reset(scenario, 1)
        catcher = SampleCatcher(world.sensors())
        world.step(40_000_000)
        catcher.take()
        assert len(world.sensors()["imu0"].poll()) == 10
