"""PX4's manners: boot, arming, modes, parameters, streams. Each was seen with PX4 v1.17."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import partial

import pytest
from pymavlink.dialects.v20 import common as mavlink

from tests.px4_double.flight import Flight

Fly = Callable[..., Flight]
NAN = math.nan
NO_GCS = "Preflight Fail: No connection to the GCS"


def _texts(flight: Flight) -> str:
    return "".join(flight.station.texts)


def test_it_greets_boots_and_answers_every_sample(fly: Fly) -> None:
    flight = fly()
    flight.run(2.0)
    greeting = [message.get_type() for message in flight.world.received[:2]]
    assert greeting == ["COMMAND_LONG", "HEARTBEAT"]
    assert flight.world.received[0].command == 511
    assert flight.world.received[0].param1 == 115
    stamps = [answer.time_usec for answer in flight.world.answers]
    assert stamps == list(range(stamps[0], 2_000_001, 4000))
    assert stamps[0] == 304_000
    answer = flight.world.answers[0]
    assert (answer.flags, answer.mode) == (1, 1)
    assert not any(answer.controls)
    assert answer.get_srcSystem() == flight.station.target


def test_boot_may_be_counted_in_samples(fly: Fly) -> None:
    flight = fly(boot_steps=10)
    flight.run(0.5)
    assert flight.world.answers[0].time_usec == 11 * 4000


def test_streams_have_their_rates_in_simulated_time(fly: Fly) -> None:
    flight = fly()
    flight.run(7.0)
    flight.station.counts.clear()
    flight.run(10.0)
    expected = {
        "HEARTBEAT": 10, "ATTITUDE": 1000, "ATTITUDE_QUATERNION": 500, "HIGHRES_IMU": 500,
        "LOCAL_POSITION_NED": 300, "ODOMETRY": 300, "GLOBAL_POSITION_INT": 500, "GPS_RAW_INT": 50,
        "SYS_STATUS": 50, "EXTENDED_SYS_STATE": 50, "ESTIMATOR_STATUS": 10, "BATTERY_STATUS": 5,
        "HOME_POSITION": 5, "POSITION_TARGET_LOCAL_NED": 100, "ATTITUDE_TARGET": 100,
        "TIMESYNC": 100, "ALTITUDE": 100, "VFR_HUD": 100, "SERVO_OUTPUT_RAW": 100,
    }  # fmt: skip
    counts = flight.station.counts
    assert {name: counts[name] for name in expected} == pytest.approx(expected, abs=1)


def test_it_is_not_ready_before_its_estimate_has_settled(fly: Fly) -> None:
    flight = fly()
    flight.run(3.0)
    assert flight.last["HEARTBEAT"].system_status == mavlink.MAV_STATE_UNINIT
    assert flight.command(400, 1) == 1
    assert "Preflight Fail: heading estimate not stable" in _texts(flight)
    assert "Arming denied: Resolve system health failures first\t" in _texts(flight)
    flight.until(flight.ready, 5.0)
    assert 5.9 < flight.time_s < 6.5
    flight.run(1.0)
    assert flight.last["HEARTBEAT"].system_status == mavlink.MAV_STATE_STANDBY
    assert flight.command(400, 1) == 0


def test_it_does_not_arm_without_a_ground_station(fly: Fly) -> None:
    flight = fly()
    flight.beats = False
    flight.run(8.0)
    assert not flight.ready()
    assert flight.command(400, 1) == 1
    assert NO_GCS in flight.station.texts
    assert flight.command(400, 1, 21196) == 1  # forced from outside is checked all the same
    flight.beats = True
    flight.run(2.0)
    assert flight.ready()
    assert flight.command(400, 1) == 0


def test_nav_dll_act_0_needs_no_ground_station(fly: Fly) -> None:
    flight = fly(environ={"PX4_PARAM_NAV_DLL_ACT": "0"})
    flight.beats = False
    flight.run(8.0)
    assert flight.ready()
    assert flight.command(400, 1) == 0
    assert flight.world.step().mode == 129


def test_answers_go_to_the_one_who_asked(fly: Fly) -> None:
    flight = fly()
    flight.run(1.0)
    flight.command(400, 1)
    ack = flight.last["COMMAND_ACK"]
    assert (ack.target_system, ack.target_component) == (245, 190)


def test_a_mode_is_acknowledged_twice(fly: Fly) -> None:
    """Once by the receiver, always accepted; then by the commander, which may refuse."""
    flight = fly()
    flight.arm()
    assert flight.command(176, 1, 6) == 1
    assert flight.station.acks == [(176, 0), (176, 1)]
    assert "Switching to Offboard is currently not available\t" in flight.station.texts
    assert flight.command(176, 1, 3) == 1  # there are no sticks
    assert flight.command(176, 1, 9) == 1
    assert "Unsupported main mode\t" in flight.station.texts
    assert flight.command(176, 1, 4, 3) == 0


def test_unknown_commands_are_unsupported(fly: Fly) -> None:
    flight = fly()
    flight.run(1.0)
    assert flight.command(31999) == 3


def test_other_systems_commands_are_left_alone(fly: Fly) -> None:
    flight = fly()
    flight.run(1.0)
    flight.station.target += 1
    flight.station.command(400, 1)
    flight.run(0.5)
    assert not flight.station.acks


def test_command_int_takes_global_frames_only(fly: Fly) -> None:
    flight = fly()
    flight.run(1.0)
    station = flight.station
    for frame in (1, 5):
        station.send(
            mavlink.MAVLink_command_int_message(
                station.target, 1, frame, 512, 0, 0, 148, 0, 0, 0, 0, 0, 0
            )
        )
    flight.run(0.1)
    assert station.acks == [(512, 7), (512, 0)]
    assert "AUTOPILOT_VERSION" in flight.last


def test_offboard_without_one_setpoint_gives_no_answers(fly: Fly) -> None:
    """While disarmed every mode is accepted; but then no controller runs."""
    flight = fly(strict=False, deadline_s=0.02)
    flight.run(1.0)
    flight.station.mode(6)
    flight.run(0.1)
    assert flight.station.acks == [(176, 0), (176, 0)]
    assert flight.world.missing > 20
    flight.station.mode(4, 3)
    flight.run(0.02)
    missing = flight.world.missing
    flight.run(0.5)
    assert flight.world.missing == missing


def test_offboard_is_refused_armed_without_a_fresh_stream(fly: Fly) -> None:
    flight = fly()
    flight.arm()
    hold = partial(flight.station.position, 0.0, 0.0, 0.0)
    flight.run(0.3, hold)
    assert flight.command(176, 1, 6) == 0
    flight.until(lambda: flight.mode == (6, 0), 1.5, hold)
    assert flight.command(176, 1, 4, 3) == 0
    flight.run(1.2)
    assert flight.command(176, 1, 6) == 1


@pytest.mark.parametrize(
    ("action", "mode"), [("0", (4, 5)), ("4", (4, 6)), ("5", (4, 3))], ids=["rtl", "land", "hold"]
)
def test_a_lost_offboard_stream_is_a_failsafe(fly: Fly, action: str, mode: tuple[int, int]) -> None:
    flight = fly(environ={"PX4_PARAM_COM_OBL_RC_ACT": action, "PX4_PARAM_COM_OF_LOSS_T": "0.5"})
    flight.arm()
    assert flight.command(22, *[NAN] * 7) == 0
    flight.run(5.0)
    hold = partial(flight.station.position, 0.0, 0.0, -2.5)
    flight.run(0.3, hold)
    assert flight.command(176, 1, 6) == 0
    flight.run(1.0, hold)
    assert flight.mode == (6, 0)
    lost_s = flight.time_s
    flight.until(lambda: "Failsafe activated\t" in flight.station.texts, 1.0)
    assert flight.time_s - lost_s == pytest.approx(0.5, abs=0.02)
    flight.run(1.2)
    assert flight.mode == mode
    assert flight.last["HEARTBEAT"].system_status == mavlink.MAV_STATE_CRITICAL
    flight.run(1.2, hold)
    assert flight.mode == (6, 0)
    assert flight.last["HEARTBEAT"].system_status == mavlink.MAV_STATE_ACTIVE


def test_a_lost_ground_station_brings_it_home(fly: Fly) -> None:
    flight = fly(environ={"PX4_PARAM_COM_DL_LOSS_T": "2"})
    flight.arm()
    assert flight.command(22, *[NAN] * 7) == 0
    flight.run(5.0)
    flight.beats = False
    flight.run(4.0)
    assert "Connection to ground station lost\t" in flight.station.texts
    assert flight.mode == (4, 5)


@pytest.mark.parametrize("field", [NAN, 1e9], ids=["nan", "frame"])
def test_setpoints_that_say_nothing_are_refused(fly: Fly, field: float) -> None:
    """A NaN counts as not given, masked or not; without anything given PX4 complains."""
    flight = fly()
    flight.run(1.0)
    station = flight.station
    frame = 1 if math.isnan(field) else 12
    station.send(
        mavlink.MAVLink_set_position_target_local_ned_message(
            0, station.target, 1, frame, 0xDF8, field, field, field, *[0.0] * 8
        )
    )
    flight.run(0.1)
    reason = "invalid" if frame == 1 else "coordinate frame 12 unsupported"
    assert f"SET_POSITION_TARGET_LOCAL_NED {reason}\t" in _texts(flight)


def test_it_disarms_when_it_does_not_take_off(fly: Fly) -> None:
    flight = fly(environ={"PX4_PARAM_COM_DISARM_PRFLT": "2"})
    flight.arm()
    armed_s = flight.time_s
    flight.until(lambda: "Disarmed by auto preflight disarming\t" in _texts(flight), 5.0)
    assert flight.time_s - armed_s == pytest.approx(3.0, abs=0.1)  # and a second of spool-up


def test_it_is_not_disarmed_in_the_air(fly: Fly) -> None:
    flight = fly()
    flight.arm()
    assert flight.command(22, *[NAN] * 7) == 0
    flight.run(4.0)
    assert flight.last["EXTENDED_SYS_STATE"].landed_state in (2, 3)
    assert flight.command(400, 0) == 1
    assert "Disarming denied: not landed\t" in flight.station.texts
    assert flight.command(400, 0, 21196) == 0
    flight.run(0.1)
    assert not any(flight.world.answers[-1].controls)


def test_parameters_come_from_the_environment(fly: Fly) -> None:
    flight = fly(environ={"PX4_PARAM_COM_OF_LOSS_T": "0.25", "PX4_PARAM_NO_SUCH_ONE": "1"})
    flight.run(1.0)
    flight.station.param_read("COM_OF_LOSS_T")
    flight.run(0.1)
    assert flight.last["PARAM_VALUE"].param_value == 0.25
    flight.station.param_read("MAV_SYS_ID")
    flight.run(0.1)
    value = flight.last["PARAM_VALUE"]
    assert struct.unpack("<i", struct.pack("<f", value.param_value)) == (flight.station.target,)
    assert value.param_type == mavlink.MAV_PARAM_TYPE_INT32
    count = flight.station.counts["PARAM_VALUE"]
    flight.station.param_read("NO_SUCH_ONE")
    flight.run(0.1)
    assert flight.station.counts["PARAM_VALUE"] == count
    assert "Parameter NO_SUCH_ONE not found" in flight.double.log.read_text()


def test_parameters_can_be_set_and_listed(fly: Fly) -> None:
    flight = fly()
    flight.run(1.0)
    station = flight.station
    station.param_set("NAV_DLL_ACT", struct.pack("<i", 1), mavlink.MAV_PARAM_TYPE_INT32)
    flight.run(0.1)
    value = flight.last["PARAM_VALUE"]
    assert struct.unpack("<i", struct.pack("<f", value.param_value)) == (1,)
    station.param_set("NAV_DLL_ACT", struct.pack("<f", 2), mavlink.MAV_PARAM_TYPE_REAL32)
    flight.run(0.1)
    assert station.counts["PARAM_VALUE"] == 1  # a wrong type is not taken
    station.param_list()
    flight.run(1.0)
    assert station.counts["PARAM_VALUE"] - 1 == flight.last["PARAM_VALUE"].param_count > 1000


def test_intervals_and_requests(fly: Fly) -> None:
    flight = fly()
    flight.run(1.0)
    assert flight.command(511, 30, 4000) == 0
    flight.station.counts.clear()
    flight.run(1.0)
    assert flight.station.counts["ATTITUDE"] == 250
    assert flight.command(511, 30, -1) == 0
    flight.station.counts.clear()
    flight.run(1.0)
    assert flight.station.counts["ATTITUDE"] == 0
    assert flight.command(511, 30, 0) == 0
    flight.station.counts.clear()
    flight.run(1.0)
    assert flight.station.counts["ATTITUDE"] == pytest.approx(100, abs=1)
    assert flight.command(511, 0, 10000) == 4
    assert flight.command(512, 148) == 0
    assert flight.last["AUTOPILOT_VERSION"].flight_sw_version >> 8 == 0x011100
    assert flight.command(512, 9999) == 2


def test_a_reading_that_never_changes_is_stale(fly: Fly) -> None:
    flight = fly()
    flight.world.frozen_baro = True
    flight.run(8.0)
    assert "BARO #0 failed:  STALE!\t" in flight.station.texts
    assert not flight.ready()
    assert flight.command(400, 1) == 1
    assert "Preflight Fail: No valid data from Baro 0" in flight.station.texts


def test_a_sample_without_a_gyroscope_moves_time_and_nothing_else(fly: Fly) -> None:
    flight = fly(strict=False, deadline_s=0.02)
    flight.run(1.0)
    before = flight.last["ATTITUDE"].time_boot_ms
    flight.world.without_imu = True
    flight.run(0.1)
    assert flight.last["ATTITUDE"].time_boot_ms > before + 60
    missing = flight.world.missing
    assert missing > 20
    flight.world.without_imu = False
    flight.run(0.5)
    assert flight.world.missing <= missing + 1


def test_reboot_ends_the_process(fly: Fly) -> None:
    flight = fly()
    flight.run(1.0)
    flight.station.command(246, 1)
    with pytest.raises(ConnectionError):
        flight.run(0.5)
    flight.station.poll()
    assert flight.station.acks == [(246, 0)]
    assert flight.double.wait() == 0


def test_it_speaks_to_the_usual_port_first(fly: Fly, instance: int) -> None:
    """Above instance 9 all offboard links share port 14549."""
    assert instance > 9
    flight = fly(local_port=14549)
    flight.beats = False
    flight.run(1.0)
    assert flight.station.counts["ATTITUDE"] > 30
