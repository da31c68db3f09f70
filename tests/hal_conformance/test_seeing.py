"""The checks of depth and LiDAR can fail: spoil the embedded world's own sensors."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ghost.core import HostClock
from ghost.hal import DepthImagePayload, PointCloudPayload, SensorSample
from ghost.testing import ALL_CHECKS, Subject, default_scenario, load_maker, run_check
from ghost.testing.broken import BackendProxy

if importlib.util.find_spec("mujoco") is None:
    pytest.skip("the embedded world needs mujoco: pip install mujoco", allow_module_level=True)

EMBEDDED = load_maker("ghost.backends.embedded:EmbeddedBackend")


class DepthInMillimetres(BackendProxy):
    """Its depth images are in millimetres."""

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        payload = sample.payload
        if not isinstance(payload, DepthImagePayload):
            return sample
        return replace(sample, payload=replace(payload, depth_m=payload.depth_m * np.float32(1e3)))


class DepthWithZeros(BackendProxy):
    """It marks invalid pixels with 0."""

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        payload = sample.payload
        if not isinstance(payload, DepthImagePayload):
            return sample
        return replace(sample, payload=replace(payload, depth_m=np.nan_to_num(payload.depth_m)))


class LidarInFrd(BackendProxy):
    """Its points have z down."""

    def change(self, sample: SensorSample[Any]) -> SensorSample[Any] | None:
        payload = sample.payload
        if not isinstance(payload, PointCloudPayload):
            return sample
        flipped = payload.points_m * np.array([1, -1, -1], dtype=np.float32)
        return replace(sample, payload=replace(payload, points_m=flipped))


@pytest.mark.parametrize(
    ("broken", "name"),
    [
        (DepthInMillimetres, "depth_is_in_range_or_nan"),
        (DepthWithZeros, "depth_is_in_range_or_nan"),
        (LidarInFrd, "lidar_points_are_in_sensor_axes"),
    ],
)
def test_a_spoiled_sensor_is_found_out(broken: type[BackendProxy], name: str) -> None:
    check = next(check for check in ALL_CHECKS if check.name == name)
    subject = Subject(lambda: broken(EMBEDDED), default_scenario())
    assert run_check(check, subject, None, HostClock()).status == "failed"
