"""The MAVLink messages the double speaks: number, CRC_EXTRA and layout on the wire.

Written down here once more, apart from Ghost's own codec and from pymavlink, so that the three
prove each other (`test_wire.py`).
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

__all__ = ["BY_ID", "Format"]


class Format(NamedTuple):
    """One message: fields in wire order, extensions last."""

    name: str
    msgid: int
    extra: bytes
    body: Struct
    id_bytes: bytes


BY_ID: dict[int, Format] = {}


def _format(name: str, msgid: int, extra: int, body: str) -> Format:
    made = Format(name, msgid, bytes([extra]), Struct("<" + body), msgid.to_bytes(3, "little"))
    BY_ID[msgid] = made
    return made


HEARTBEAT = _format("HEARTBEAT", 0, 50, "IBBBBB")
SYS_STATUS = _format("SYS_STATUS", 1, 124, "IIIHHhHHHHHHbIII")
SYSTEM_TIME = _format("SYSTEM_TIME", 2, 137, "QI")
PING = _format("PING", 4, 237, "QIBB")
SET_MODE = _format("SET_MODE", 11, 89, "IBB")
PARAM_REQUEST_READ = _format("PARAM_REQUEST_READ", 20, 214, "hBB16s")
PARAM_REQUEST_LIST = _format("PARAM_REQUEST_LIST", 21, 159, "BB")
PARAM_VALUE = _format("PARAM_VALUE", 22, 220, "4sHH16sB")
PARAM_SET = _format("PARAM_SET", 23, 168, "4sBB16sB")
GPS_RAW_INT = _format("GPS_RAW_INT", 24, 24, "QiiiHHHHBBiIIIIH")
SCALED_PRESSURE = _format("SCALED_PRESSURE", 29, 115, "Iffhh")
ATTITUDE = _format("ATTITUDE", 30, 39, "Iffffff")
ATTITUDE_QUATERNION = _format("ATTITUDE_QUATERNION", 31, 246, "Ifffffff4f")
LOCAL_POSITION_NED = _format("LOCAL_POSITION_NED", 32, 185, "Iffffff")
GLOBAL_POSITION_INT = _format("GLOBAL_POSITION_INT", 33, 104, "IiiiihhhH")
SERVO_OUTPUT_RAW = _format("SERVO_OUTPUT_RAW", 36, 222, "I8HB8H")
MISSION_CURRENT = _format("MISSION_CURRENT", 42, 28, "HHBB")
GPS_GLOBAL_ORIGIN = _format("GPS_GLOBAL_ORIGIN", 49, 39, "iiiQ")
VFR_HUD = _format("VFR_HUD", 74, 20, "ffffhH")
COMMAND_INT = _format("COMMAND_INT", 75, 158, "ffffiifHBBBBB")
COMMAND_LONG = _format("COMMAND_LONG", 76, 152, "fffffffHBBB")
COMMAND_ACK = _format("COMMAND_ACK", 77, 143, "HBBiBB")
SET_ATTITUDE_TARGET = _format("SET_ATTITUDE_TARGET", 82, 49, "I4fffffBBB")
ATTITUDE_TARGET = _format("ATTITUDE_TARGET", 83, 22, "I4fffffB")
SET_POSITION_TARGET_LOCAL_NED = _format("SET_POSITION_TARGET_LOCAL_NED", 84, 143, "I11fHBBB")
POSITION_TARGET_LOCAL_NED = _format("POSITION_TARGET_LOCAL_NED", 85, 140, "I11fHB")
HIL_ACTUATOR_CONTROLS = _format("HIL_ACTUATOR_CONTROLS", 93, 47, "QQ16fB")
HIGHRES_IMU = _format("HIGHRES_IMU", 105, 93, "Q13fHB")
HIL_SENSOR = _format("HIL_SENSOR", 107, 108, "Q13fIB")
TIMESYNC = _format("TIMESYNC", 111, 34, "qq")
HIL_GPS = _format("HIL_GPS", 113, 124, "QiiiHHHhhhHBBBH")
ALTITUDE = _format("ALTITUDE", 141, 47, "Qffffff")
BATTERY_STATUS = _format("BATTERY_STATUS", 147, 154, "iih10HhBBBbiB4HBI")
AUTOPILOT_VERSION = _format("AUTOPILOT_VERSION", 148, 178, "QQIIIIHH8s8s8s18s")
ESTIMATOR_STATUS = _format("ESTIMATOR_STATUS", 230, 163, "QffffffffH")
VIBRATION = _format("VIBRATION", 241, 90, "QfffIII")
HOME_POSITION = _format("HOME_POSITION", 242, 104, "iiifff4ffffQ")
MESSAGE_INTERVAL = _format("MESSAGE_INTERVAL", 244, 95, "iH")
EXTENDED_SYS_STATE = _format("EXTENDED_SYS_STATE", 245, 130, "BB")
STATUSTEXT = _format("STATUSTEXT", 253, 83, "B50sHB")
ODOMETRY = _format("ODOMETRY", 331, 91, "Qfff4fffffff21f21fBBBBb")
CURRENT_MODE = _format("CURRENT_MODE", 436, 193, "IIB")
