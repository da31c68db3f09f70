"""The set as a whole: resets, order, silence after a loss, and errors in its input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ghost.core import ConfigError, ContractViolation, EventType, FaultSpec, RandomStream
from ghost.hal import SensorHealth
from ghost.sensing import ImuTruth

if TYPE_CHECKING:
    from tests.sensing.conftest import Kit, Rig

MS = 1_000_000


def test_reset_keeps_providers_and_subscribers(rig: Rig, kit: Kit) -> None:
    config = kit.sensor("imu", noise=kit.noise["imu"])
    rig.build(config)
    providers, provider = rig.channels.providers, rig["imu0"]
    runs: list[list[Any]] = [[]]
    provider.subscribe(lambda s: runs[-1].append(s))
    rig.run(300 * MS)
    runs.append([])
    rig.build(config)
    assert rig.channels.providers is providers
    assert rig["imu0"] is provider
    assert provider.poll() == []
    rig.run(300 * MS)
    assert kit.same_but_wall(*runs)
    assert len(runs[1]) == 30
    assert kit.same_but_wall(provider.poll(), runs[1])


def test_reset_in_mid_run_equals_a_new_set(rig: Rig, kit: Kit) -> None:
    sensors = [
        kit.sensor(kind, noise=kit.noise[kind], latency_ns=15 * MS)
        for kind in ("imu", "gps", "rgb")
    ]
    faults = [
        FaultSpec(at_ns=50 * MS, sensor="imu0", kind="freeze", for_ns=40 * MS),
        FaultSpec(at_ns=90 * MS, sensor="gps0", kind="offline"),
    ]
    rig.build(*sensors, faults=faults, seed=99).run(123 * MS)
    assert rig.health("gps0") is SensorHealth.OFFLINE
    rig.events.clear()
    rig.build(*sensors, faults=faults)
    new = kit.Rig().build(*sensors, faults=faults)
    for sensor_id in ("imu0", "gps0", "rgb0"):
        assert rig.health(sensor_id) is SensorHealth.OK
    rig.run(400 * MS)
    new.run(400 * MS)
    for sensor_id in ("imu0", "gps0", "rgb0"):
        assert kit.same_but_wall(rig[sensor_id].poll(), new[sensor_id].poll())
    assert rig.events == new.events


def test_a_sensor_that_returns_finds_its_subscribers(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu"), kit.sensor("barometer"))
    provider, got = rig["imu0"], list[int]()
    provider.subscribe(lambda s: got.append(s.seq))
    rig.build(kit.sensor("barometer"))
    assert list(rig.channels.providers) == ["barometer0"]
    assert provider.health is SensorHealth.OFFLINE
    rig.run(50 * MS)
    assert got == []
    rig.build(kit.sensor("imu"))
    assert rig["imu0"] is provider
    rig.run(20 * MS)
    assert got == [0, 1]


def test_reset_takes_the_new_configuration(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu"))
    rig.build(kit.sensor("imu", rate_hz=50.0, queue_size=2))
    assert rig["imu0"].spec.nominal_rate_hz == 50.0
    rig.run(100 * MS)
    assert [s.seq for s in rig["imu0"].poll()] == [3, 4]


def test_providers_are_sorted_and_read_only(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu", "zeta"), kit.sensor("imu", "alpha"))
    assert list(rig.channels.providers) == ["alpha", "zeta"]
    with pytest.raises(TypeError):
        rig.channels.providers["zeta"] = rig["alpha"]  # type: ignore[index]  # the mistake under test


def test_offline_all_silences_every_sensor_once(rig: Rig, kit: Kit) -> None:
    rig.build(
        kit.sensor("imu", latency_ns=5 * MS),
        kit.sensor("gps"),
        faults=[
            FaultSpec(at_ns=20 * MS, sensor="gps0", kind="offline"),
            FaultSpec(at_ns=60 * MS, sensor="imu0", kind="nan"),
        ],
    )
    rig.run(50 * MS)
    rig.events.clear()
    rig.channels.offline_all("server gone")
    rig.channels.offline_all("server gone")
    # gps0 was OFFLINE already (D18: one event, when it changes).
    (event,) = rig.events
    assert event.type is EventType.SENSOR_FAULT
    assert event.stamp_sim_ns == 50 * MS
    assert "server gone" in event.message
    assert dict(event.payload) == {
        "sensor_id": "imu0",
        "kind": "offline",
        "injected": False,
        "reason": "server gone",
    }
    rig.run(200 * MS)
    for sensor_id in ("imu0", "gps0"):
        assert rig[sensor_id].poll() == []
        assert rig.health(sensor_id) is SensorHealth.OFFLINE
    assert len(rig.events) == 1
    rig.build(kit.sensor("imu"))
    assert rig.health("imu0") is SensorHealth.OK
    rig.run(20 * MS)
    assert len(rig["imu0"].poll()) == 2


def test_an_orderly_shutdown_makes_no_events(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu"))
    rig.run(50 * MS)
    rig.channels.offline_all("shutdown", silent=True)
    assert rig.events == []
    assert rig["imu0"].poll() == []
    assert rig.health("imu0") is SensorHealth.OFFLINE


def test_a_subscriber_may_shut_the_backend_down(rig: Rig, kit: Kit) -> None:
    rig.build(
        kit.sensor("imu", "a", latency_ns=3 * MS),
        kit.sensor("imu", "b"),
        faults=[FaultSpec(at_ns=90 * MS, sensor="a", kind="nan")],
    )
    rig["a"].subscribe(lambda _: rig.channels.offline_all("enough", silent=True))
    rig.run(200 * MS)
    assert rig["a"].poll() == []
    assert rig["b"].poll() == []
    assert rig.health("b") is SensorHealth.OFFLINE
    assert rig.events == []


def test_a_subscriber_may_not_reset(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu"))
    errors: list[Exception] = []

    def reset(_: Any) -> None:
        try:
            rig.build(kit.sensor("imu"))
        except ContractViolation as error:
            errors.append(error)

    rig["imu0"].subscribe(reset)
    rig.run(20 * MS)
    assert len(errors) == 2
    assert "must not reset" in str(errors[0])
    assert len(rig["imu0"].poll()) == 2


def test_sample_tells_what_was_published(rig: Rig, kit: Kit) -> None:
    rig.build(kit.sensor("imu"), kit.sensor("gps", rate_hz=50.0))
    counts = [rig.step(5 * MS) for _ in range(4)]
    assert counts == [{}, {"imu0": 1}, {}, {"gps0": 1, "imu0": 1}]
    counts[0]["imu0"] = 9
    assert rig.step(5 * MS) == {}


def test_next_due_is_the_first_time_anything_happens(rig: Rig, kit: Kit) -> None:
    rig.build(
        kit.sensor("imu", latency_ns=3 * MS),
        faults=[FaultSpec(at_ns=5 * MS, sensor="imu0", kind="bias", value=1.0, for_ns=100 * MS)],
    )
    due = []
    for _ in range(5):
        due.append(rig.channels.next_due_ns // MS)
        rig.channels.sample(rig.channels.next_due_ns)
    assert due == [5, 10, 13, 20, 23]
    rig.build()
    assert rig.channels.next_due_ns > 2**62


def test_readers_are_called_only_when_due(rig: Rig, kit: Kit) -> None:
    calls: list[int] = []

    def reader() -> ImuTruth:
        calls.append(rig.now_ns // MS)
        return ImuTruth(0.0, 0.0, 9.8, 0.0, 0.0, 0.0)

    rig.build(kit.sensor("imu", rate_hz=50.0), readers={"imu0": reader})
    rig.run(70 * MS)
    assert calls == [20, 40, 60]


@pytest.mark.parametrize(
    ("sensors", "faults", "readers", "message"),
    [
        (["imu"], [], {}, "cannot measure sensor 'imu0'"),
        ([], [], {"imu0": None}, "there is a reader for 'imu0', but the sensors are none"),
        (["imu", "imu"], [], {"imu0": None}, "sensor id 'imu0' occurs 2 times"),
        (["imu"], ["gps0"], {"imu0": None}, "nan fault names the sensor 'gps0'.*has imu0"),
        (["event_camera"], [], {"event_camera0": None}, "event_camera cannot be simulated"),
    ],
)
def test_input_that_does_not_fit_is_refused_and_the_old_run_goes_on(
    rig: Rig, kit: Kit, sensors: list[str], faults: list[str], readers: Any, message: str
) -> None:
    rig.build(kit.sensor("gps"))
    with pytest.raises(ConfigError, match=message):
        rig.channels.build(
            [kit.sensor(kind) for kind in sensors],
            RandomStream(1),
            [FaultSpec(at_ns=0, sensor=sensor_id, kind="nan") for sensor_id in faults],
            readers,
            kit.to_geodetic,
        )
    rig.run(20 * MS)
    assert len(rig["gps0"].poll()) == 2
