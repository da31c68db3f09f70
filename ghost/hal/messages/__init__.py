"""One file per payload, and the central table of their names (sensor spec §3.6, D13)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ghost.hal.message import Message
from ghost.hal.messages.altimeter import AltimeterPayload
from ghost.hal.messages.barometer import BarometerPayload
from ghost.hal.messages.camera import CameraIntrinsics
from ghost.hal.messages.depth import DepthImagePayload
from ghost.hal.messages.event_camera import EventCameraPayload
from ghost.hal.messages.gps import GpsFix, GpsPayload
from ghost.hal.messages.imu import IMUPayload
from ghost.hal.messages.lidar import PointCloudPayload
from ghost.hal.messages.magnetometer import MagnetometerPayload
from ghost.hal.messages.optical_flow import OpticalFlowPayload
from ghost.hal.messages.rgb import RGBImagePayload

__all__ = [
    "PAYLOAD_TYPES",
    "AltimeterPayload",
    "BarometerPayload",
    "CameraIntrinsics",
    "DepthImagePayload",
    "EventCameraPayload",
    "GpsFix",
    "GpsPayload",
    "IMUPayload",
    "MagnetometerPayload",
    "OpticalFlowPayload",
    "PointCloudPayload",
    "RGBImagePayload",
]

PAYLOAD_TYPES: Mapping[str, type[Message]] = MappingProxyType(
    {
        "imu": IMUPayload,
        "rgb": RGBImagePayload,
        "depth": DepthImagePayload,
        "gps": GpsPayload,
        "altimeter": AltimeterPayload,
        "lidar": PointCloudPayload,
        "magnetometer": MagnetometerPayload,
        "barometer": BarometerPayload,
        "optical_flow": OpticalFlowPayload,
        "event_camera": EventCameraPayload,
    }
)
"""`SensorSpec.payload_type` to the class of the payload."""
