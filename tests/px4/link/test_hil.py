"""What PX4 is told: golden vectors through the axes and units, read back by pymavlink."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ghost.hal import (
    AltimeterPayload,
    BarometerPayload,
    GpsFix,
    GroundTruth,
    OpticalFlowPayload,
    SensorHealth,
)
from ghost.px4.encoder import HilEncoder
from ghost.px4.hil import pressure_altitude_m
from ghost.px4.link import Readings
from tests.px4.link.parts import baro, decoded, gps, imu, mag, sample

NOW_NS = 1_234_567_890


def told(encoder: HilEncoder, readings: Readings, now_ns: int = NOW_NS) -> dict[str, Any]:
    """The messages of one step by type."""
    data, _ = encoder.encode(now_ns, readings)
    messages = decoded(data)
    types = [message.get_type() for message in messages]
    assert "BAD_DATA" not in types
    return dict(zip(types, messages, strict=True))


def truth(**changes: Any) -> GroundTruth:
    fields: dict[str, Any] = {
        "stamp_sim_ns": NOW_NS,
        "pos_enu_m": np.array([3.0, 4.0, 5.0]),
        "q_enu_flu": np.array([math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)]),
        "vel_enu_mps": np.array([1.0, 2.0, 3.0]),
        "rate_flu_rps": np.array([0.1, 0.2, 0.3]),
        "acc_enu_mps2": np.array([0.0, 9.80665, 0.0]),
        "motor_rps": np.zeros(4),
    }
    return GroundTruth(**{**fields, **changes})


def test_imu_goes_from_flu_to_frd() -> None:
    message = told(HilEncoder(), Readings(imu=sample(imu(0.5, -1.0, 9.8))))["HIL_SENSOR"]
    assert message.time_usec == 1_234_567
    assert (message.xacc, message.yacc, message.zacc) == pytest.approx((0.5, 1.0, -9.8))
    rates = (message.xgyro, message.ygyro, message.zgyro)
    assert rates == pytest.approx((0.01, -0.02, -0.03))
    assert message.fields_updated == 0x3F
    assert message.id == 0


def test_magnetometer_goes_to_gauss_and_barometer_to_hectopascals() -> None:
    readings = Readings(imu=sample(imu()), mag=sample(mag()), baro=sample(baro(95_600.0)))
    message = told(HilEncoder(), readings)["HIL_SENSOR"]
    field = (message.xmag, message.ymag, message.zmag)
    assert field == pytest.approx((0.21, -0.01, 0.43))
    assert message.abs_pressure == pytest.approx(956.0)
    assert message.temperature == 25.0
    assert message.pressure_alt == pytest.approx(pressure_altitude_m(95_600.0), abs=1e-3)
    # Accelerometer, gyro, magnetometer, pressure, its altitude, temperature; no airspeed.
    assert message.fields_updated == 0x1FFF & ~0x400


def test_pressure_altitude_of_the_standard_atmosphere() -> None:
    # ISO 2533, table: 1000 m has 898.746 hPa, 5000 m has 540.199 hPa.
    assert pressure_altitude_m(101_325.0) == pytest.approx(0.0, abs=1e-9)
    assert pressure_altitude_m(89_874.6) == pytest.approx(1000.0, abs=0.5)
    assert pressure_altitude_m(54_019.9) == pytest.approx(5000.0, abs=2.0)
    assert math.isnan(pressure_altitude_m(0.0))


def test_a_barometer_without_a_thermometer() -> None:
    readings = Readings(baro=sample(BarometerPayload(100_000.0)))
    assert told(HilEncoder(), readings)["HIL_SENSOR"].temperature == 15.0


def test_further_imus_have_their_numbers() -> None:
    readings = Readings(imu=sample(imu()), imu1=sample(imu(1.0)), imu2=sample(imu(2.0)))
    data, answerable = HilEncoder().encode(NOW_NS, readings)
    messages = decoded(data)
    assert [(m.id, m.xacc) for m in messages] == [(0, pytest.approx(0.1)), (1, 1.0), (2, 2.0)]
    assert answerable


@pytest.mark.parametrize(
    "readings", [Readings(), Readings(imu=sample(imu(), health=SensorHealth.FAULTY))]
)
def test_without_an_imu_sample_time_goes_on(readings: Readings) -> None:
    data, answerable = HilEncoder().encode(NOW_NS, readings)
    (message,) = decoded(data)
    assert (message.time_usec, message.fields_updated, message.zacc) == (1_234_567, 0, 0.0)
    assert not answerable


def test_a_degraded_sample_is_sent() -> None:
    _, answerable = HilEncoder().encode(
        NOW_NS, Readings(imu=sample(imu(), health=SensorHealth.DEGRADED))
    )
    assert answerable


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e39])
def test_a_reading_that_does_not_fit_is_left_out(value: float) -> None:
    encoder = HilEncoder()
    readings = Readings(imu=sample(imu(x=value)), mag=sample(mag()))
    data, answerable = encoder.encode(NOW_NS, readings)
    (message,) = decoded(data)
    assert message.fields_updated == 0x1C0
    assert not answerable
    assert encoder.unfit == 1


@pytest.mark.parametrize("pressure_pa", [math.nan, 0.0, -5.0, math.inf])
def test_an_impossible_pressure_is_left_out(pressure_pa: float) -> None:
    encoder = HilEncoder()
    readings = Readings(imu=sample(imu()), baro=sample(baro(pressure_pa)))
    data, answerable = encoder.encode(NOW_NS, readings)
    assert decoded(data)[0].fields_updated == 0x3F
    assert answerable
    assert encoder.unfit == 1


def test_gps_units_and_axes() -> None:
    fix = sample(gps(), extensions={"vel_enu_mps": (1.5, -2.0, 0.25), "satellites": 12})
    message = told(HilEncoder(), Readings(imu=sample(imu()), gps=fix))["HIL_GPS"]
    assert (message.lat, message.lon, message.alt) == (473977420, 85455940, 488000)
    assert (message.eph, message.epv) == (30, 40)
    assert (message.vn, message.ve, message.vd) == (-200, 150, -25)
    assert message.vel == 250
    # Towards east by south: atan2(1.5, -2) = 143.13°.
    assert message.cog == 14313
    assert (message.fix_type, message.satellites_visible, message.id, message.yaw) == (3, 12, 0, 0)


@pytest.mark.parametrize(
    ("fix", "number"),
    [(GpsFix.NO_FIX, 0), (GpsFix.FIX_2D, 2), (GpsFix.FIX_3D, 3), (GpsFix.RTK, 6)],
)
def test_kinds_of_fix(fix: GpsFix, number: int) -> None:
    message = told(HilEncoder(), Readings(gps=sample(gps(fix=fix))))["HIL_GPS"]
    assert message.fix_type == number
    assert message.satellites_visible == 255
    assert message.cog == 65535


def test_velocity_from_two_fixes() -> None:
    encoder = HilEncoder()
    first = told(encoder, Readings(gps=sample(gps((1.0, 2.0, 3.0)), 0)))["HIL_GPS"]
    assert (first.vn, first.ve, first.vd) == (0, 0, 0)
    second = told(encoder, Readings(gps=sample(gps((1.4, 1.8, 3.1)), 200_000_000)))["HIL_GPS"]
    assert (second.vn, second.ve, second.vd) == (-100, 200, -50)
    # The same stamp again has no time between: no velocity, and no division by zero.
    third = told(encoder, Readings(gps=sample(gps((9.0, 1.8, 3.1)), 200_000_000)))["HIL_GPS"]
    assert (third.vn, third.ve, third.vd) == (0, 0, 0)


def test_gps_beyond_its_integers() -> None:
    fix = sample(gps(), extensions={"vel_enu_mps": (900.0, -900.0, 900.0)})
    message = told(HilEncoder(), Readings(gps=fix))["HIL_GPS"]
    assert (message.vn, message.ve, message.vd, message.vel) == (-32767, 32767, -32767, 65535)


def test_a_faulty_or_impossible_fix_is_not_sent() -> None:
    encoder = HilEncoder()
    assert "HIL_GPS" not in told(encoder, Readings(gps=sample(gps(), health=SensorHealth.FAULTY)))
    assert encoder.unfit == 0
    fix = sample(gps((math.nan, 0.0, 0.0)), extensions={"vel_enu_mps": (math.nan, 0.0, 0.0)})
    assert "HIL_GPS" not in told(encoder, Readings(gps=fix))
    assert encoder.unfit == 1


def test_optical_flow() -> None:
    payload = OpticalFlowPayload(
        np.array([0.01, 0.02]), np.array([0.03, 0.04, 0.05]), 40_000_000, 2.5, 200
    )
    message = told(HilEncoder(), Readings(flow=sample(payload)))["HIL_OPTICAL_FLOW"]
    assert (message.integrated_x, message.integrated_y) == pytest.approx((0.01, -0.02))
    gyro = (message.integrated_xgyro, message.integrated_ygyro, message.integrated_zgyro)
    assert gyro == pytest.approx((0.03, -0.04, -0.05))
    assert message.integration_time_us == 40_000
    assert (message.distance, message.quality) == (2.5, 200)


def test_optical_flow_without_a_surface() -> None:
    payload = OpticalFlowPayload(np.zeros(2), np.zeros(3), 40_000_000, math.nan, 0)
    message = told(HilEncoder(), Readings(flow=sample(payload)))["HIL_OPTICAL_FLOW"]
    assert message.distance == -1.0


@pytest.mark.parametrize(
    ("height_m", "distance_cm"), [(1.234, 123), (0.0, 0), (-0.02, 0), (900.0, 65535)]
)
def test_height_above_ground(height_m: float, distance_cm: int) -> None:
    payload = AltimeterPayload(height_m, "AGL", 0.0025)
    message = told(HilEncoder(), Readings(range_m=sample(payload)))["DISTANCE_SENSOR"]
    assert message.time_boot_ms == 1_234
    assert message.current_distance == distance_cm
    assert (message.min_distance, message.max_distance) == (0, 65535)
    # MAV_SENSOR_ROTATION_PITCH_270: downward; 5 cm squared.
    assert (message.orientation, message.covariance) == (25, 25)


def test_only_a_height_above_ground_is_a_distance() -> None:
    encoder = HilEncoder()
    readings = Readings(range_m=sample(AltimeterPayload(500.0, "AMSL", 1.0)))
    assert "DISTANCE_SENSOR" not in told(encoder, readings)
    readings = Readings(range_m=sample(AltimeterPayload(math.nan, "AGL", 1.0)))
    assert "DISTANCE_SENSOR" not in told(encoder, readings)
    assert encoder.unfit == 1


def test_the_true_state() -> None:
    encoder = HilEncoder(truth_rate_hz=100.0)
    readings = Readings(gps=sample(gps((1.0, 2.0, 3.0))), truth=truth())
    message = told(encoder, readings)["HIL_STATE_QUATERNION"]
    # Nose to the north and level is no turn at all for PX4.
    assert message.attitude_quaternion == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-7)
    rates = (message.rollspeed, message.pitchspeed, message.yawspeed)
    assert rates == pytest.approx((0.1, -0.2, -0.3))
    assert (message.vx, message.vy, message.vz) == (200, 100, -300)
    assert (message.xacc, message.yacc, message.zacc) == (1000, 0, 0)
    # 2 m north, 2 m east and 2 m up of the fix; 2 m are 1.8e-5° along a meridian.
    assert message.lat - 473977420 == pytest.approx(math.degrees(2.0 / 6.37e6) * 1e7, rel=3e-3)
    east_m = 6.39e6 * math.cos(math.radians(47.397742))
    assert message.lon - 85455940 == pytest.approx(math.degrees(2.0 / east_m) * 1e7, rel=3e-3)
    assert message.alt == 490_000


def test_the_true_place_is_that_of_the_ellipsoid() -> None:
    pymap3d = pytest.importorskip("pymap3d")
    encoder = HilEncoder(truth_rate_hz=100.0)
    state = truth(pos_enu_m=np.array([40.0, -30.0, 12.0]))
    message = told(encoder, Readings(gps=sample(gps()), truth=state))["HIL_STATE_QUATERNION"]
    lat, lon, alt = pymap3d.enu2geodetic(40.0, -30.0, 12.0, 47.397742, 8.545594, 488.0)
    assert (message.lat, message.lon) == pytest.approx((lat * 1e7, lon * 1e7), abs=0.6)
    assert message.alt == pytest.approx(alt * 1e3, abs=1.0)


def test_truth_has_a_rate_and_needs_a_fix() -> None:
    encoder = HilEncoder(truth_rate_hz=50.0)
    sent = []
    for step in range(1, 26):
        fix = sample(gps(), step) if step == 3 else None
        readings = Readings(imu=sample(imu()), gps=fix, truth=truth())
        if "HIL_STATE_QUATERNION" in told(encoder, readings, step * 4_000_000):
            sent.append(step)
    assert sent == [3, 5, 10, 15, 20, 25]
    silent = HilEncoder()
    readings = Readings(gps=sample(gps()), truth=truth())
    assert "HIL_STATE_QUATERNION" not in told(silent, readings)


def test_what_px4_stamps_itself_is_there_before_its_clock_moves() -> None:
    readings = Readings(
        imu=sample(imu()),
        gps=sample(gps()),
        range_m=sample(AltimeterPayload(1.0, "AGL", 0.01)),
    )
    data, _ = HilEncoder().encode(NOW_NS, readings)
    types = [message.get_type() for message in decoded(data)]
    assert types == ["HIL_GPS", "DISTANCE_SENSOR", "HIL_SENSOR"]
