"""The session: what it knows, when it speaks, whom it listens to."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink

from ghost.core import ConfigError, EventSeverity, EventType, HostClock, MissingDependency
from ghost.px4.session import Px4Session
from tests.px4.fake_px4 import HOLD, FakePx4, Flight


def test_nothing_is_known_before_px4_is_heard(flight: Flight) -> None:
    flight.quiet = True
    flight.run(2.0)
    session = flight.session
    assert not session.connected
    assert not session.ready_to_arm
    assert not session.armed
    assert session.mode == ""
    assert session.landed is None
    assert session.estimate(flight.now_ns) is None
    assert session.system_id is None
    assert flight.px4.heard == []


def test_state_follows_the_telemetry(connected: Flight) -> None:
    session, px4 = connected.session, connected.px4
    assert session.connected
    assert session.mode == "HOLD"
    assert session.ready_to_arm
    assert session.system_id == 1
    px4.armed, px4.custom_mode = True, 6 << 16
    px4.heartbeat()
    px4.landed(2)
    connected.step()
    assert session.armed
    assert session.mode == "OFFBOARD"
    assert session.landed is False
    px4.landed(1)
    connected.step()
    assert session.landed is True


def test_current_mode_is_quicker_than_the_heartbeat(connected: Flight) -> None:
    connected.px4.raw(connected.px4.frame(436, 193, (4 << 16 | 6 << 24).to_bytes(4, "little")))
    connected.step()
    assert connected.session.mode == "LAND"
    assert connected.px4.commands(511)[0].param1 == 436


@pytest.mark.parametrize(
    ("state", "prearm", "ready"), [(3, True, True), (0, True, False), (3, False, False)]
)
def test_ready_needs_standby_and_the_prearm_bit(
    connected: Flight, state: int, prearm: bool, ready: bool
) -> None:
    connected.px4.state, connected.px4.prearm = state, prearm
    connected.px4.heartbeat()
    connected.px4.status()
    connected.step()
    assert connected.session.ready_to_arm is ready


def test_a_heartbeat_goes_out_once_per_simulated_second(connected: Flight) -> None:
    connected.run(10.0)
    connected.px4.serve()
    beats = connected.px4.all("HEARTBEAT")
    assert len(beats) in (10, 11)
    assert {(b.get_srcSystem(), b.get_srcComponent(), b.type) for b in beats} == {(245, 190, 6)}
    # The clock of the host moves nothing: MAVSDK's own beat each second is dropped.
    end_ns = connected.host.now_ns() + 1_200_000_000
    while connected.host.now_ns() < end_ns:
        connected.session.poll(connected.now_ns)
        connected.host.sleep_until_ns(connected.host.now_ns() + 50_000_000)
    connected.px4.serve()
    assert len(connected.px4.all("HEARTBEAT")) == len(beats)


def test_all_packets_are_numbered_in_one_row(connected: Flight) -> None:
    for _ in range(20):
        connected.session.request(512, 148.0)
        connected.session.send_position(1.0, 2.0, 3.0, 0.0)
        connected.step()
    connected.step()
    numbers = [message.get_seq() for message in connected.px4.heard]
    assert numbers == [(numbers[0] + i) % 256 for i in range(len(numbers))]
    assert len(numbers) > 40


def test_silence_ends_the_connection_and_px4_may_come_back(connected: Flight) -> None:
    session = connected.session
    connected.quiet = True
    connected.run(3.2)
    assert (session.connected, session.ready_to_arm) == (False, False)
    [event] = connected.session.events()
    assert (event.type, event.severity) == (EventType.AUTOPILOT, EventSeverity.ERROR)
    assert "silent" in event.message
    connected.quiet = False
    connected.run(1.1)
    assert (session.connected, session.ready_to_arm) == (True, True)
    assert connected.messages() == ["PX4 is heard (system 1)"]


def test_a_taken_port_is_named(flight: Flight) -> None:
    other = Px4Session(local_port=flight.port, host=HostClock())
    with pytest.raises(ConfigError, match=f"127.0.0.1:{flight.port}"):
        other.open()
    other.close()
    other.close()


def test_close_gives_open_requests_up(connected: Flight) -> None:
    connected.px4.results[400] = None
    request = connected.session.request(400, 1.0)
    connected.session.close()
    assert request.done
    assert not request.accepted
    connected.session.poll(connected.now_ns + 1)


def test_a_foreign_system_is_counted_and_reported_once(connected: Flight) -> None:
    other = FakePx4(connected.port, system=7)
    other.armed = True
    for _ in range(5):
        other.heartbeat()
        other.position(10, 9.0, 9.0, 9.0, 0.0, 0.0, 0.0)
        connected.step()
    other.close()
    session = connected.session
    assert session.strangers.packets[7, 1] == 10
    assert [text for text in connected.messages() if "system 7" in text] == [
        "packets of system 7 come to this port; only system 1 is listened to"
    ]
    assert not session.armed
    assert session.position_ned is None


def test_a_second_autopilot_of_the_same_id_is_ignored(connected: Flight) -> None:
    other = FakePx4(connected.port, system=1)
    other.armed = True
    for _ in range(3):
        other.heartbeat()
        connected.step()
    other.close()
    assert not connected.session.armed
    assert sum(connected.session.strangers.seconds.values()) == 3
    assert len([text for text in connected.messages() if "second sender" in text]) == 1


def test_the_autopilot_may_come_back_on_another_port(connected: Flight) -> None:
    connected.quiet = True
    connected.run(3.2)
    again = FakePx4(connected.port, system=1)
    again.armed = True
    again.heartbeat()
    connected.step()
    assert connected.session.armed
    connected.session.send_position(0.0, 0.0, 1.0, 0.0)
    again.serve()
    assert again.all("SET_POSITION_TARGET_LOCAL_NED")
    again.close()


def test_another_px4_than_the_one_expected_is_reported() -> None:
    flight = Flight(system=3, wanted=4)
    flight.px4.heartbeat()
    flight.run(0.1)
    assert not flight.session.connected
    assert any("system id 3" in text and "4 is expected" in text for text in flight.messages())
    flight.close()


def test_a_second_ground_station_does_not_disturb(connected: Flight) -> None:
    station = mavlink.MAVLink(None, srcSystem=255, srcComponent=190)
    request = connected.session.request(176, 1.0, 6.0)
    connected.px4.results[176] = None
    for _ in range(5):
        connected.px4.raw(bytes(station.heartbeat_encode(6, 8, 0, 0, 4).pack(station)))
        connected.px4.ack(176, 2, system=255, component=190)  # PX4's answer to the other one
        connected.step()
    assert not request.done
    assert connected.messages() == []
    assert connected.session.strangers.packets[255, 190] == 5
    connected.px4.ack(176, 0)
    connected.step()
    assert request.accepted


def test_garbage_and_wrong_checksums_are_counted_and_ignored(connected: Flight) -> None:
    good = connected.px4.pack(connected.px4.mav.extended_sys_state_encode(0, 1))
    bad = good[:-1] + bytes((good[-1] ^ 1,))
    for data in (b"hello", b"", bad, b"\xfd", bytes(300)):
        connected.px4.raw(data)
    connected.step()
    assert connected.session.landed is None
    assert connected.session.bad_packets == 5
    connected.px4.raw(b"noise" + good)
    connected.step()
    assert connected.session.landed is True


def test_several_packets_in_a_datagram_and_mavlink_1(connected: Flight) -> None:
    px4 = connected.px4
    old = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
    one = bytes(old.heartbeat_encode(2, 12, 157, HOLD, 4).pack(old, force_mavlink1=True))
    assert one[0] == 0xFE
    px4.raw(px4.pack(px4.mav.extended_sys_state_encode(0, 2)) + one)
    connected.step()
    assert connected.session.landed is False
    assert connected.session.armed


def test_an_estimate_is_turned_into_the_world_and_anchored(connected: Flight) -> None:
    session, px4 = connected.session, connected.px4
    px4.position(1000, 3.0, 4.0, -5.0, 0.1, 0.2, -0.3)
    px4.attitude(1000, 1.0, 0.0, 0.0, 0.0)  # level, nose north
    connected.step()
    estimate = session.estimate(connected.now_ns)
    assert estimate is not None
    np.testing.assert_allclose(estimate.pos_enu_m, [4.0, 3.0, 5.0])
    np.testing.assert_allclose(estimate.vel_enu_mps, [0.2, 0.1, 0.3], atol=1e-7)
    half = math.sqrt(0.5)
    np.testing.assert_allclose(estimate.q_enu_flu, [half, 0.0, 0.0, half], atol=1e-7)
    assert session.estimate(connected.now_ns + 1) is estimate  # nothing new
    session.anchor((10.0, 20.0, 0.5))
    moved = session.estimate(connected.now_ns)
    assert moved is not None
    np.testing.assert_allclose(moved.pos_enu_m, [10.0, 20.0, 0.5])
    # A set-point at that place is the place PX4 believes to be at.
    session.send_position(10.0, 20.0, 0.5, 0.25)
    px4.serve()
    [target] = px4.all("SET_POSITION_TARGET_LOCAL_NED")
    assert (target.x, target.y, target.z) == pytest.approx((3.0, 4.0, -5.0))
    assert target.yaw == pytest.approx(0.25)


def test_an_estimate_of_nan_is_no_estimate(connected: Flight) -> None:
    connected.px4.position(1000, math.nan, 0.0, 0.0, 0.0, 0.0, 0.0)
    connected.px4.attitude(1000, math.nan, 0.0, 0.0, 0.0)
    connected.step()
    assert connected.session.estimate(connected.now_ns) is None


def test_time_that_goes_back_is_a_restart(connected: Flight) -> None:
    px4, session = connected.px4, connected.session
    px4.armed = True
    px4.heartbeat()
    px4.position(60_000, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0)
    connected.step()
    px4.results[400] = None
    request = session.request(400, 0.0)
    connected.step()
    px4.position(500, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    connected.step()
    assert not session.armed
    assert request.done
    assert "PX4 has started anew" in connected.messages()


def test_the_version_is_told(connected: Flight) -> None:
    zeros = [0] * 8
    version = 1 << 24 | 17 << 16 | 2 << 8 | 64
    connected.px4.send(
        connected.px4.mav.autopilot_version_encode(
            0, version, 0, 0, 0, zeros, zeros, zeros, 0, 0, 0
        )
    )
    connected.step()
    assert connected.session.version == "1.17.2-alpha"


def test_the_talk_is_recorded_both_ways(connected: Flight) -> None:
    connected.session.traffic.take(0)
    connected.px4.heartbeat()
    connected.step()
    connected.session.send_position(0.0, 0.0, 1.0, 0.0)
    traffic = connected.session.traffic.take(connected.now_ns)
    assert connected.session.traffic.topic == "/mavlink/offboard"
    assert traffic is not None
    parser = mavlink.MAVLink(None)
    received = parser.parse_buffer(traffic.received.tobytes())
    sent = mavlink.MAVLink(None).parse_buffer(traffic.sent.tobytes())
    assert "HEARTBEAT" in [message.get_type() for message in received]
    assert [m.get_type() for m in sent] == ["SET_POSITION_TARGET_LOCAL_NED"]


def test_a_flood_does_not_hold_a_poll_up(connected: Flight) -> None:
    for _ in range(1000):
        connected.px4.landed(1)
    connected.px4.landed(2)
    polls = 0
    while connected.session.landed is not False:
        connected.session.poll(connected.now_ns)
        polls += 1
        assert polls < 10
    assert polls >= 2


def test_mavsdk_is_imported_by_a_session_only() -> None:
    code = "import sys, ghost.px4; sys.exit('mavsdk' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_without_mavsdk_the_way_to_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mavsdk", None)
    with pytest.raises(MissingDependency) as caught:
        Px4Session(local_port=1, host=HostClock())
    assert caught.value.install == 'pip install "ghost-hal[px4]"'
