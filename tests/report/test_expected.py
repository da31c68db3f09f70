"""Without noise, what a sensor measures is what the report expects: the formulas are right.

The sensors sit off the centre and turned, and the vehicle flies a curve, so that lever arms and
axes matter.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ghost.config import load_scenario
from ghost.core import Envelope, MessageBus, MountSpec, ScenarioSpec
from ghost.report import Gathered
from ghost.report.gather import Gatherer
from ghost.runtime import run_scenario

LIMITS = {
    # What is left comes from differences of the rates over a step, and from the mean over a
    # sample's time where the sensor integrates.
    ("imu", "accel"): 0.05,
    ("imu", "gyro"): 1e-9,
    ("gps", "position"): 1e-9,
    ("barometer", "height"): 1e-6,
    ("altimeter", "height"): 1e-6,
    ("magnetometer", "field"): 1e-9,
    ("optical_flow", "own"): 0.02,
}


@pytest.fixture(scope="module")
def spec() -> ScenarioSpec:
    found = load_scenario("square", ("duration_ns=6_000_000_000", "vehicle=x500_sensors"))
    kinds = {kind for kind, _ in LIMITS}
    sensors = [
        replace(
            sensor,
            noise=None,
            mount=MountSpec((0.12, -0.07, 0.05), (10.0, -20.0, 35.0))
            if sensor.type != "altimeter"
            else MountSpec((0.1, 0.05, 0.0)),
        )
        for sensor in found.vehicle.sensors
        if sensor.type in kinds
    ]
    return replace(found, vehicle=replace(found.vehicle, sensors=tuple(sensors)))


@pytest.fixture(scope="module")
def run(spec: ScenarioSpec) -> Gathered:
    gatherer = Gatherer(spec)

    def take(envelope: Envelope) -> None:
        gatherer.add(envelope.topic, envelope.stamp_sim_ns, envelope.payload)

    bus = MessageBus()
    bus.subscribe("/*", take)
    run_scenario(spec, bus=bus)
    return gatherer.finish()


@pytest.mark.parametrize(("kind", "key"), LIMITS)
def test_nothing_is_left_without_noise(
    run: Gathered, spec: ScenarioSpec, kind: str, key: str
) -> None:
    sensor = next(s for s in spec.vehicle.sensors if s.type == kind)
    log = run.sensors[f"/sensors/{sensor.id}"]
    item = next(m for m in log.measures if m.measure.key == key)
    assert item.residual is not None
    moments = item.residual.moments
    assert moments.count.min() > 100
    assert moments.invalid.sum() == 0
    worst = np.maximum(np.abs(moments.low), np.abs(moments.high)).max()
    assert worst < LIMITS[kind, key]


def test_the_vehicle_moved(run: Gathered) -> None:
    rates = run.rate.moments
    assert max(rates.high.max(), -rates.low.min()) > 10.0
    assert run.max_speed_mps is not None
    assert run.max_speed_mps > 1.0
