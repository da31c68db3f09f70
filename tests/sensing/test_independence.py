"""The noise of sample k depends on k alone (D10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.core import FaultSpec, GnssNoise, NoiseModel, RandomStream
from ghost.sensing import GnssTruth, make_model

if TYPE_CHECKING:
    from tests.sensing.conftest import Kit, Rig

MS = 1_000_000
KINDS = (
    "imu",
    "magnetometer",
    "barometer",
    "gps",
    "altimeter",
    "rgb",
    "depth",
    "lidar",
    "optical_flow",
)


def _model(kit: Kit, kind: str, seed: int = 7) -> Any:
    config = kit.sensor(kind, noise=kit.noise[kind])
    source = RandomStream(seed).child(f"/sensors/{config.id}/noise")
    return make_model(config, source, kit.to_geodetic)


@pytest.mark.parametrize("kind", KINDS)
def test_skipped_samples_change_nothing(kit: Kit, kind: str) -> None:
    dense, sparse = _model(kit, kind), _model(kit, kind)
    truth = kit.truths[kind]()
    wanted = {3, 4, 255, 256, 257, 700, 1025}
    every = {k: dense.measure(k, truth) for k in range(1, 1026)}
    for k in sorted(wanted):
        assert sparse.measure(k, truth) == every[k], k


@settings(deadline=None, max_examples=30)
@given(order=st.lists(st.integers(min_value=1, max_value=2000), min_size=1, max_size=8))
def test_any_order_gives_the_same_noise(kit: Kit, order: list[int]) -> None:
    model = _model(kit, "imu")
    for k in order:
        truth = kit.truths["imu"]()
        assert model.measure(k, truth) == _model(kit, "imu").measure(k, truth)


@pytest.mark.parametrize("kind", KINDS)
def test_samples_differ_from_each_other_and_between_seeds(kit: Kit, kind: str) -> None:
    truth = kit.truths[kind]()
    one, other = _model(kit, kind, seed=1), _model(kit, kind, seed=2)
    readings = [m.measure(k, truth) for m in (one, other) for k in range(300, 306)]
    payloads = [reading[0] for reading in readings if reading is not None]
    assert len(payloads) >= 4
    for i, payload in enumerate(payloads):
        assert all(payload != later for later in payloads[i + 1 :])


def test_order_in_the_vehicle_and_other_sensors_change_nothing(rig: Rig, kit: Kit) -> None:
    sensors = [kit.sensor(kind, noise=kit.noise[kind]) for kind in KINDS]
    alone = kit.Rig().build(kit.sensor("imu", noise=kit.noise["imu"]))
    reference = alone.collect("imu0", 500 * MS)
    orders = []
    for chosen in (sensors, sensors[::-1], sensors[4:] + sensors[:4]):
        rig.build(*chosen)
        order: list[tuple[int, str, int]] = []

        def note(sample: Any, order: list[tuple[int, str, int]] = order) -> None:
            order.append((sample.stamp_sim_ns, sample.sensor_id, sample.seq))

        subs = [provider.subscribe(note) for provider in rig.channels.providers.values()]
        assert kit.same_but_wall(rig.collect("imu0", 500 * MS), reference)
        orders.append(order)
        for sub in subs:
            sub.unsubscribe()
    assert orders[0] == orders[1] == orders[2]
    assert len(orders[0]) > 400


def test_polling_or_not_changes_nothing(kit: Kit) -> None:
    polled = kit.Rig().build(kit.sensor("imu", noise=kit.noise["imu"]))
    quiet = kit.Rig().build(kit.sensor("imu", noise=kit.noise["imu"]))
    samples = polled.collect("imu0", 900 * MS)
    quiet.run(900 * MS)
    assert kit.same_but_wall(quiet["imu0"].poll(), samples)


@pytest.mark.parametrize("kind", ["offline", "freeze", "nan", "bias", "spike", "drop", "delay"])
@pytest.mark.parametrize("sensor", KINDS)
def test_after_a_fault_everything_is_as_if_it_had_not_been(
    kit: Kit, kind: Any, sensor: str
) -> None:
    value = {"bias": 1.0, "spike": 1.0, "drop": 0.5, "delay": 30.0 * MS}.get(kind)
    fault = FaultSpec(at_ns=200 * MS, sensor=f"{sensor}0", kind=kind, for_ns=300 * MS, value=value)
    config = kit.sensor(sensor, noise=kit.noise[sensor])
    healthy = kit.Rig().build(config).collect(config.id, 1000 * MS)
    hurt = kit.Rig().build(config, faults=[fault]).collect(config.id, 1000 * MS)

    def outside(samples: list[Any]) -> list[Any]:
        # With the 30 ms of a delay fault, the tail is published in order until 530 ms.
        return [s for s in samples if not 200 * MS <= s.stamp_sensor_ns < 530 * MS]

    assert kit.same_but_wall(outside(hurt), outside(healthy))
    assert not kit.same_but_wall(hurt, healthy)


def test_skipped_fixes_change_no_velocity(kit: Kit) -> None:
    noise = NoiseModel(gnss=GnssNoise(wander_sigma_m=1.0, velocity_sigma_mps=0.1))
    config = kit.sensor("gps", noise=noise)
    truth = GnssTruth(1.0, 2.0, 3.0, (0.1, 0.2, 0.3))
    dense, sparse, other = (
        make_model(config, RandomStream(seed).child("/sensors/gps0/noise"), kit.to_geodetic)
        for seed in (7, 7, 8)
    )
    every = {k: dense.measure(k, truth) for k in range(1, 1026)}
    for k in (1025, 3, 256, 4, 700):
        assert sparse.measure(k, truth) == every[k], k
        assert other.measure(k, truth) != every[k], k
