"""A receiver that measures velocity: `meta.extensions["vel_enu_mps"]` through the whole channel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from ghost.core import FaultSpec, GnssNoise, NoiseModel, SensorConfig
from ghost.hal import GpsFix, SensorHealth, digest
from ghost.sensing import GnssTruth

if TYPE_CHECKING:
    from tests.sensing.conftest import Kit, Rig

MS = 1_000_000


@pytest.fixture
def config(kit: Kit) -> SensorConfig:
    noise = GnssNoise(horizontal_sigma_m=0.3, velocity_sigma_mps=0.05)
    return kit.sensor("gps", noise=NoiseModel(gnss=noise), rate_hz=10.0)


def moving(rig: Rig) -> Callable[[], GnssTruth]:
    """Flies east, ever faster: each fix has another velocity."""
    return lambda: GnssTruth(0.0, 0.0, 10.0, (rig.now_ns * 1e-9, 0.0, 0.0))


def velocities(samples: list[Any]) -> list[tuple[float, ...] | None]:
    return [sample.meta.extensions.get("vel_enu_mps") for sample in samples]


def test_each_sample_has_its_own(rig: Rig, config: SensorConfig) -> None:
    rig.build(config, readers={"gps0": moving(rig)})
    samples = rig.collect("gps0", 1000 * MS)
    assert len(samples) == 10
    for sample in samples:
        assert sample.health is SensorHealth.OK
        assert sample.meta.frame_id == config.frame
        (east, north, up) = sample.meta.extensions["vel_enu_mps"]
        assert {type(value) for value in (east, north, up)} == {float}
        assert east == pytest.approx(sample.stamp_sim_ns * 1e-9, abs=0.25)  # five sigma
        assert max(abs(north), abs(up)) < 0.25
    assert len(set(velocities(samples))) == 10
    assert len({digest(sample.meta) for sample in samples}) == 10


def test_without_the_figure_nothing_is_added(rig: Rig, kit: Kit) -> None:
    config = kit.sensor("gps", noise=kit.noise["gps"])
    rig.build(config, readers={"gps0": moving(rig)})
    samples = rig.collect("gps0", 200 * MS)
    assert velocities(samples) == [None] * 20
    assert all(sample.meta is samples[0].meta for sample in samples)


def test_latency_delays_the_velocity_with_the_fix(rig: Rig, kit: Kit, config: SensorConfig) -> None:
    late = kit.sensor("gps", noise=config.noise, rate_hz=10.0, latency_ns=130 * MS)
    other = kit.Rig()
    prompt = other.build(config, readers={"gps0": moving(other)}).collect("gps0", 1000 * MS)
    delayed = rig.build(late, readers={"gps0": moving(rig)}).collect("gps0", 1130 * MS)
    assert velocities(delayed) == velocities(prompt)
    assert [s.stamp_sim_ns - 130 * MS for s in delayed] == [s.stamp_sim_ns for s in prompt]


def test_faults(rig: Rig, config: SensorConfig) -> None:
    """Frozen it repeats, biased in metres it stays, NaN it is gone."""
    faults = [
        FaultSpec(at_ns=250 * MS, sensor="gps0", kind="freeze", for_ns=200 * MS),
        FaultSpec(at_ns=450 * MS, sensor="gps0", kind="bias", value=100.0, for_ns=200 * MS),
        FaultSpec(at_ns=650 * MS, sensor="gps0", kind="nan", for_ns=200 * MS),
    ]
    reader = moving(rig)
    samples = rig.build(config, faults=faults, readers={"gps0": reader}).collect("gps0", 1000 * MS)
    said = velocities(samples)
    assert said[2] == said[3] == said[1]
    for index in (4, 5):
        assert samples[index].payload.enu_local_m[0] > 90.0
        velocity = said[index]
        assert velocity is not None
        assert velocity[0] == pytest.approx(0.1 * (index + 1), abs=0.25)
    for index in (6, 7):
        assert samples[index].payload.fix_type is GpsFix.NO_FIX
        assert dict(samples[index].meta.extensions) == {"error": "injected fault: nan"}
        assert samples[index].health is SensorHealth.FAULTY
    assert said[8] is not None
