"""What each injected fault does, exactly (D20; the table in docs/sensing.md)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghost.core import BackendLost, EventSeverity, EventType, FaultSpec
from ghost.hal import GpsFix, SensorHealth
from ghost.sensing import NAN_ERROR, SPIKE_EVERY, AltimeterTruth

if TYPE_CHECKING:
    from tests.sensing.conftest import Kit, Rig

MS = 1_000_000
FAULT, RECOVERED = EventType.SENSOR_FAULT, EventType.SENSOR_RECOVERED
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


def fault(kind: Any, value: float | None = None, **times: int) -> FaultSpec:
    """A fault of altimeter0 from 100 ms to 200 ms."""
    window = {"at_ns": 100 * MS, "for_ns": 100 * MS} | times
    return FaultSpec(sensor="altimeter0", kind=kind, value=value, **window)


def ramp(rig: Rig, kit: Kit, *faults: FaultSpec, **config: Any) -> Rig:
    """An ideal 100 Hz altimeter whose truth is the time in ms: samples tell their capture."""
    return rig.build(
        kit.sensor("altimeter", **config),
        faults=faults,
        readers={"altimeter0": lambda: AltimeterTruth(rig.now_ns / MS)},
    )


def table(samples: list[Any]) -> list[tuple[int, float]]:
    """(seq, altitude) of each sample."""
    return [(s.seq, s.payload.altitude_m) for s in samples]


CLEAN = [(k - 1, 10.0 * k) for k in range(1, 31)]


def test_without_faults_the_ramp_is_clean(rig: Rig, kit: Kit) -> None:
    assert table(ramp(rig, kit).collect("altimeter0", 300 * MS)) == CLEAN
    assert rig.events == []


@pytest.mark.parametrize("kind", ["offline", "freeze", "nan", "bias", "spike", "drop", "delay"])
def test_begin_and_end_are_one_event_each(rig: Rig, kit: Kit, kind: str) -> None:
    value = {"bias": 1.0, "spike": 1.0, "drop": 1.0, "delay": 5.0 * MS}.get(kind)
    ramp(rig, kit, fault(kind, value)).run(300 * MS)
    assert rig.seen() == [(100 * MS, FAULT, kind), (200 * MS, RECOVERED, kind)]
    begin, end = rig.events
    assert dict(begin.payload) == {"sensor_id": "altimeter0", "kind": kind, "injected": True}
    assert begin.payload == end.payload
    assert begin.source == "sensors/altimeter0"
    assert (begin.severity, end.severity) == (EventSeverity.WARN, EventSeverity.INFO)


def test_a_fault_without_duration_lasts_to_the_end(rig: Rig, kit: Kit) -> None:
    samples = ramp(rig, kit, fault("bias", 0.5, for_ns=0)).collect("altimeter0", 900 * MS)
    assert [s.payload.altitude_m % 1 for s in samples] == [0.0] * 9 + [0.5] * 81
    assert rig.seen() == [(100 * MS, FAULT, "bias")]


def test_edges_between_steps_act_at_the_next_step(rig: Rig, kit: Kit) -> None:
    ramp(rig, kit, fault("bias", 0.5, at_ns=100 * MS + 1, for_ns=100 * MS))
    samples = rig.collect("altimeter0", 300 * MS)
    assert [seq for seq, altitude in table(samples) if altitude % 1] == list(range(10, 20))
    assert [stamp for stamp, _, _ in rig.seen()] == [101 * MS, 201 * MS]


def test_a_fault_that_fits_between_two_steps_is_still_reported(rig: Rig, kit: Kit) -> None:
    ramp(rig, kit, fault("offline", at_ns=100 * MS + 1, for_ns=5))
    assert table(rig.collect("altimeter0", 300 * MS)) == CLEAN
    assert rig.seen() == [(101 * MS, FAULT, "offline"), (101 * MS, RECOVERED, "offline")]


def test_offline_is_silent_and_comes_back_with_a_gap(rig: Rig, kit: Kit) -> None:
    ramp(rig, kit, fault("offline"))
    before = rig.collect("altimeter0", 99 * MS)
    assert rig.health("altimeter0") is SensorHealth.OK
    during: list[Any] = []
    for _ in range(100):
        rig.step()
        assert rig.health("altimeter0") is SensorHealth.OFFLINE
        during += rig["altimeter0"].poll()
    assert during == []
    rig.step()
    assert rig.health("altimeter0") is SensorHealth.OK
    after = rig["altimeter0"].poll() + rig.collect("altimeter0", 300 * MS)
    assert table(before + after) == CLEAN[:9] + CLEAN[19:]


def test_offline_loses_what_was_queued_and_in_flight(rig: Rig, kit: Kit) -> None:
    ramp(rig, kit, fault("offline"), latency_ns=15 * MS)
    got: list[int] = []
    rig["altimeter0"].subscribe(lambda s: got.append(s.seq))
    rig.run(150 * MS)
    assert rig["altimeter0"].poll() == []
    assert got == list(range(8))
    rig.run(300 * MS)
    assert got == [*range(8), *range(19, 28)]


def test_freeze_repeats_the_last_payload_under_new_stamps(rig: Rig, kit: Kit) -> None:
    samples = ramp(rig, kit, fault("freeze")).collect("altimeter0", 300 * MS)
    frozen = [(seq, 90.0) for seq in range(9, 19)]
    assert table(samples) == CLEAN[:9] + frozen + CLEAN[19:]
    assert [s.stamp_sim_ns for s in samples] == [10 * MS * k for k in range(1, 31)]
    assert {s.health for s in samples} == {SensorHealth.OK}


def test_freeze_from_the_start_holds_the_first_reading(rig: Rig, kit: Kit) -> None:
    samples = ramp(rig, kit, fault("freeze", at_ns=0)).collect("altimeter0", 150 * MS)
    assert table(samples)[:11] == [*((seq, 10.0) for seq in range(9)), (9, 100.0), (10, 110.0)]


def test_nan_is_published_as_faulty(rig: Rig, kit: Kit) -> None:
    samples = ramp(rig, kit, fault("nan")).collect("altimeter0", 300 * MS)
    assert [s.seq for s in samples] == list(range(30))
    for sample in samples:
        hit = 100 * MS <= sample.stamp_sim_ns < 200 * MS
        assert np.isnan(sample.payload.altitude_m) == hit
        assert sample.health == (SensorHealth.FAULTY if hit else SensorHealth.OK)
        assert sample.meta.extensions.get("error") == (NAN_ERROR if hit else None)
        assert sample.meta.frame_id == "altimeter0"


def test_health_follows_the_last_sample(rig: Rig, kit: Kit) -> None:
    ramp(rig, kit, fault("nan"))
    rig.run(150 * MS)
    assert rig.health("altimeter0") is SensorHealth.FAULTY
    rig.run(210 * MS)
    assert rig.health("altimeter0") is SensorHealth.OK


def test_bias_adds_its_value(rig: Rig, kit: Kit) -> None:
    samples = ramp(rig, kit, fault("bias", -2.5)).collect("altimeter0", 300 * MS)
    biased = [(seq, altitude - 2.5) for seq, altitude in CLEAN[9:19]]
    assert table(samples) == CLEAN[:9] + biased + CLEAN[19:]
    assert {s.health for s in samples} == {SensorHealth.OK}


def test_spike_hits_the_first_and_every_tenth_sample(rig: Rig, kit: Kit) -> None:
    samples = ramp(rig, kit, fault("spike", 100.0, at_ns=95 * MS, for_ns=0)).collect(
        "altimeter0", 500 * MS
    )
    assert len(samples) == 50
    spiked = [s.seq for s in samples if s.payload.altitude_m != 10.0 * (s.seq + 1)]
    assert spiked == [9, 19, 29, 39, 49]
    assert SPIKE_EVERY == 10
    assert all(
        s.payload.altitude_m == 10.0 * (s.seq + 1) + 100.0 for s in samples if s.seq in spiked
    )


def test_drop_loses_its_fraction(rig: Rig, kit: Kit) -> None:
    samples = ramp(rig, kit, fault("drop", 0.3, for_ns=0)).collect("altimeter0", 20_000 * MS)
    lost = 2000 - len(samples)
    # Binomial(1991, 0.3): standard deviation 20.4.
    assert abs(lost - 0.3 * 1991) < 4 * 20.4
    assert all(altitude == 10.0 * (seq + 1) for seq, altitude in table(samples))


@pytest.mark.parametrize(("ratio", "kept"), [(0.0, 30), (1.0, 20)])
def test_drop_of_none_and_of_all(rig: Rig, kit: Kit, ratio: float, kept: int) -> None:
    assert len(ramp(rig, kit, fault("drop", ratio)).collect("altimeter0", 300 * MS)) == kept


def test_a_higher_drop_loses_the_same_samples_and_more(kit: Kit) -> None:
    def lost(ratio: float, at_ms: int) -> set[int]:
        rig = kit.Rig()
        ramp(rig, kit, fault("drop", ratio, at_ns=at_ms * MS, for_ns=0))
        return set(range(500)) - {s.seq for s in rig.collect("altimeter0", 5000 * MS)}

    some, more = lost(0.2, 0), lost(0.5, 0)
    assert some < more
    # Which samples are lost depends on k alone, not on when the fault began.
    assert lost(0.2, 1000) == {seq for seq in some if seq >= 99}


def test_delay_adds_latency_and_nothing_overtakes(rig: Rig, kit: Kit) -> None:
    ramp(rig, kit, fault("delay", 35.0 * MS), latency_ns=5 * MS)
    samples = rig.collect("altimeter0", 400 * MS)
    assert [s.seq for s in samples] == list(range(39))
    for sample in samples:
        captured = sample.stamp_sensor_ns
        if captured < 100 * MS:
            expected = captured + 5 * MS
        elif captured < 200 * MS:
            expected = captured + 40 * MS
        else:
            # The last delayed one was due at 190 + 40 ms: those behind it wait for it.
            expected = max(captured + 5 * MS, 230 * MS)
        assert sample.stamp_sim_ns == expected
        assert sample.payload.altitude_m == captured / MS


def test_faults_of_several_kinds_add_up(rig: Rig, kit: Kit) -> None:
    ramp(
        rig,
        kit,
        fault("freeze"),
        fault("bias", 1.0),
        fault("bias", 2.0, at_ns=150 * MS),
        fault("nan", at_ns=180 * MS, for_ns=10 * MS),
    )
    altitudes = [s.payload.altitude_m for s in rig.collect("altimeter0", 260 * MS)]
    assert altitudes[8:17] == [90.0] + [91.0] * 5 + [93.0] * 3
    assert np.isnan(altitudes[17])
    assert altitudes[18:] == [93.0, 202.0, 212.0, 222.0, 232.0, 242.0, 250.0, 260.0]


def test_back_to_back_offline_is_offline_all_along(rig: Rig, kit: Kit) -> None:
    ramp(rig, kit, fault("offline"), fault("offline", at_ns=200 * MS, for_ns=50 * MS))
    assert [s.seq for s in rig.collect("altimeter0", 300 * MS)] == [*range(9), *range(24, 30)]
    assert rig.seen() == [
        (100 * MS, FAULT, "offline"),
        (200 * MS, RECOVERED, "offline"),
        (200 * MS, FAULT, "offline"),
        (250 * MS, RECOVERED, "offline"),
    ]


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_seq_and_stamps_are_monotone_under_any_faults(kit: Kit, data: st.DataObject) -> None:
    values = {"bias": 1.0, "spike": 2.0, "drop": 0.5}
    kinds = st.sampled_from(["offline", "freeze", "nan", "bias", "spike", "drop", "delay"])
    faults = []
    for _ in range(data.draw(st.integers(min_value=1, max_value=5))):
        kind = data.draw(kinds)
        delay = float(data.draw(st.integers(min_value=0, max_value=80 * MS)))
        faults.append(
            fault(
                kind,
                delay if kind == "delay" else values.get(kind),
                at_ns=data.draw(st.integers(min_value=0, max_value=300 * MS)),
                for_ns=data.draw(st.integers(min_value=0, max_value=150 * MS)),
            )
        )
    rig = kit.Rig()
    ramp(rig, kit, *faults, latency_ns=data.draw(st.integers(min_value=0, max_value=30 * MS)))
    got: list[Any] = []
    rig["altimeter0"].subscribe(got.append)
    rig.run(400 * MS)
    for one, two in pairwise(got):
        assert one.seq < two.seq
        assert one.stamp_sensor_ns < two.stamp_sensor_ns
        assert one.stamp_sim_ns <= two.stamp_sim_ns
    ends = sum(1 for f in faults if f.for_ns and f.at_ns + f.for_ns <= 400 * MS)
    assert len(rig.seen(FAULT)) == len(faults)
    assert len(rig.seen(RECOVERED)) == ends


@pytest.mark.parametrize("kind", KINDS)
def test_nan_payload_of_every_sensor(rig: Rig, kit: Kit, kind: str) -> None:
    spec = FaultSpec(at_ns=0, sensor=f"{kind}0", kind="nan")
    (sample,) = rig.build(kit.sensor(kind), faults=[spec]).collect(f"{kind}0", 10 * MS)
    assert sample.health is SensorHealth.FAULTY
    payload = sample.payload
    if kind == "rgb":
        assert not payload.image.any()
        return
    if kind == "gps":
        assert payload.fix_type is GpsFix.NO_FIX
    if kind == "lidar":
        assert payload.points_m.shape == (48, 3)
        assert np.isnan(payload.points_m).all()
        return
    if kind == "depth":
        assert np.isnan(payload.depth_m).all()
        return
    assert np.isnan(kit.numbers(payload)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_bias_of_every_sensor(kit: Kit, kind: str) -> None:
    spec = FaultSpec(at_ns=0, sensor=f"{kind}0", kind="bias", value=0.5)
    value = 0.5
    if kind == "rgb":
        value, spec = 200.0, FaultSpec(at_ns=0, sensor="rgb0", kind="bias", value=200.0)
    (clean,) = kit.Rig().build(kit.sensor(kind)).collect(f"{kind}0", 10 * MS)
    (hurt,) = kit.Rig().build(kit.sensor(kind), faults=[spec]).collect(f"{kind}0", 10 * MS)
    assert hurt.health is SensorHealth.OK
    before, after = clean.payload, hurt.payload
    if kind == "imu":
        np.testing.assert_array_equal(after.accel_mps2, before.accel_mps2 + value)
        np.testing.assert_array_equal(after.gyro_rps, before.gyro_rps + value)
    elif kind == "magnetometer":
        np.testing.assert_array_equal(after.field_t, before.field_t + value)
    elif kind == "barometer":
        assert (after.pressure_pa, after.temperature_c) == (101_325.5, 15.0)
    elif kind == "gps":
        np.testing.assert_array_equal(after.enu_local_m, [1.5, 2.5, 3.5])
        assert (after.lat_deg, after.lon_deg, after.alt_m) == kit.to_geodetic(1.5, 2.5, 3.5)
    elif kind == "altimeter":
        assert after.altitude_m == 4.5
    elif kind == "rgb":
        expected = np.minimum(before.image.astype(int) + 200, 255)
        np.testing.assert_array_equal(after.image, expected)
    elif kind == "depth":
        np.testing.assert_array_equal(after.depth_m, np.full((6, 8), 5.5, np.float32))
    elif kind == "lidar":
        np.testing.assert_allclose(np.linalg.norm(after.points_m, axis=1), 7.5, rtol=1e-6)
        cosine = np.sum(after.points_m * before.points_m, axis=1) / (7.0 * 7.5)
        np.testing.assert_allclose(cosine, 1.0, rtol=1e-6)
    else:
        np.testing.assert_array_equal(after.flow_rad, before.flow_rad + value)
        np.testing.assert_array_equal(after.gyro_rad, before.gyro_rad + value)
        assert (after.distance_m, after.quality) == (2.5, 200)


class Flaky:
    """A reader that fails between two times."""

    def __init__(self, rig: Rig, error: BaseException) -> None:
        self.rig, self.error = rig, error

    def __call__(self) -> AltimeterTruth:
        if 100 * MS <= self.rig.now_ns < 200 * MS:
            raise self.error
        return AltimeterTruth(self.rig.now_ns / MS)


def test_an_exception_in_the_world_is_health_and_one_event(rig: Rig, kit: Kit) -> None:
    reader = Flaky(rig, RuntimeError("no rays today"))
    rig.build(kit.sensor("altimeter"), readers={"altimeter0": reader})
    samples = rig.collect("altimeter0", 300 * MS)
    assert [s.seq for s in samples] == list(range(30))
    bad = samples[9:19]
    assert {s.health for s in bad} == {SensorHealth.FAULTY}
    assert {s.meta.extensions["error"] for s in bad} == {"RuntimeError: no rays today"}
    assert all(np.isnan(s.payload.altitude_m) for s in bad)
    assert {s.health for s in samples[:9] + samples[19:]} == {SensorHealth.OK}
    assert rig.seen() == [(100 * MS, FAULT, "exception"), (200 * MS, RECOVERED, "exception")]
    assert rig.events[0].payload["injected"] is False
    assert "no rays today" in rig.events[0].message


def test_truth_of_a_wrong_shape_is_faulty_too(rig: Rig, kit: Kit) -> None:
    from ghost.sensing import LidarTruth, RgbTruth

    rig.build(
        kit.sensor("lidar"),
        kit.sensor("rgb"),
        kit.sensor("imu"),
        readers={
            "lidar0": lambda: LidarTruth(np.zeros(47, np.float32)),
            "rgb0": lambda: RgbTruth(np.zeros((5, 8, 3), np.uint8)),
            "imu0": lambda: None.nothing,  # type: ignore[attr-defined]  # the bug under test
        },
    )
    rig.run(20 * MS)
    for sensor_id in ("lidar0", "rgb0", "imu0"):
        assert [s.health for s in rig[sensor_id].poll()] == [SensorHealth.FAULTY] * 2
    assert len(rig.events) == 3


def test_a_failing_world_is_not_reported_while_the_sensor_is_unplugged(rig: Rig, kit: Kit) -> None:
    rig.build(
        kit.sensor("altimeter"),
        faults=[fault("offline")],
        readers={"altimeter0": Flaky(rig, RuntimeError("x"))},
    )
    assert table(rig.collect("altimeter0", 300 * MS)) == CLEAN[:9] + CLEAN[19:]
    assert rig.seen() == [(100 * MS, FAULT, "offline"), (200 * MS, RECOVERED, "offline")]


@pytest.mark.parametrize("error", [BackendLost("server gone"), KeyboardInterrupt()])
def test_a_lost_world_is_for_the_backend_to_handle(
    rig: Rig, kit: Kit, error: BaseException
) -> None:
    rig.build(kit.sensor("altimeter"), readers={"altimeter0": Flaky(rig, error)})
    rig.run(99 * MS)
    with pytest.raises(type(error)):
        rig.step()
    assert rig.events == []


def test_a_reader_without_truth_is_a_lost_frame(rig: Rig, kit: Kit) -> None:
    rig.build(
        kit.sensor("altimeter"),
        readers={
            "altimeter0": lambda: AltimeterTruth(1.0) if rig.now_ns % (20 * MS) == 0 else None
        },
    )
    samples = rig.collect("altimeter0", 100 * MS)
    assert [s.seq for s in samples] == [1, 3, 5, 7, 9]
    assert rig.events == []
