"""Checks of sensors that see: depth cameras and LiDAR (sensor spec §3.3, D13)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ghost.core import CameraSpec, LidarSpec, MountSpec, ScenarioSpec, SensorConfig
from ghost.hal import SensorSample
from ghost.testing.contract import Check, NotApplicable, Subject, check, require
from ghost.testing.scenarios import airborne

__all__ = ["CHECKS"]

_DOWN = MountSpec(rpy_deg=(0.0, 90.0, 0.0))
_NEAR, _FAR = 0.2, 20.0


def _look(subject: Subject, sensor: SensorConfig) -> list[SensorSample[Any]]:
    """Put one more sensor on the vehicle, hang it 5 m up, and return its samples of 0.3 s."""
    base: ScenarioSpec = airborne(subject.scenario, 5.0)
    vehicle = replace(base.vehicle, sensors=(*base.vehicle.sensors, sensor))
    with subject.started(replace(base, vehicle=vehicle, faults=())) as bench:
        if sensor.id not in bench.backend.capabilities.sensor_ids:
            raise NotApplicable(f"the backend offers no sensor of type {sensor.type}")
        samples = bench.run(0.3)[sensor.id]
    require(
        bool(samples),
        f"put a {sensor.type} sensor of {sensor.rate_hz:g} Hz on the vehicle and flew 0.3 s",
        "it published nothing",
        "publish at the nominal rate",
    )
    return samples


@check(
    contract="C-HAL-69",
    spec="sensor spec §3.3",
    asks="NaN in a depth image marks an invalid pixel, every valid depth is within the ranges",
)
def depth_is_in_range_or_nan(subject: Subject) -> None:
    """Look straight down from 5 m, once with a range of 20 m and once of 2 m."""
    for far_m, sees in ((_FAR, True), (2.0, False)):
        camera = CameraSpec(12, 8, 40.0, min_range_m=_NEAR, max_range_m=far_m)
        config = SensorConfig("depth_check", "depth", 20.0, mount=_DOWN, camera=camera)
        for sample in _look(subject, config):
            image, payload = sample.payload.depth_m, sample.payload
            valid = image[~np.isnan(image)]
            did = f"looked straight down from 5 m with a depth camera that sees {far_m:g} m far"
            require(
                payload.max_range_m == np.float64(far_m)
                and bool((valid >= payload.min_range_m).all())
                and bool((valid <= payload.max_range_m).all()),
                did,
                f"depths from {valid.min(initial=np.inf):g} to {valid.max(initial=-np.inf):g} m",
                "put NaN, and nothing else, where nothing is within the range",
            )
            require(
                valid.size == (image.size if sees else 0)
                and bool((np.abs(valid - 5.0) < 0.8).all()),
                did,
                f"{valid.size} of {image.size} pixels are valid, about {np.median(image):.2f} m",
                "report the distance along the optical axis, in metres",
            )


@check(
    contract="C-HAL-18",
    spec="D12, D13",
    asks="the returns of a LiDAR are points in sensor axes (FLU), within the ranges",
)
def lidar_points_are_in_sensor_axes(subject: Subject) -> None:
    """Look about 45 degrees up and down from 5 m: the ground is 5 m below, and nothing above."""
    lidar = LidarSpec(16, 5, vfov_deg=90.0, min_range_m=_NEAR, max_range_m=_FAR)
    config = SensorConfig("lidar_check", "lidar", 20.0, lidar=lidar)
    for sample in _look(subject, config):
        points = sample.payload.points_m
        distance = np.linalg.norm(points, axis=1)
        did = "turned a LiDAR of 5 rows from -45 to +45 degrees about itself, 5 m above flat ground"
        require(
            len(points) >= 16
            and bool((np.abs(points[:, 2] + 5.0) < 0.8).all())
            and bool((distance >= _NEAR).all() and (distance <= _FAR).all()),
            did,
            f"{len(points)} returns with z from {points[:, 2].min(initial=np.inf):.2f} to "
            f"{points[:, 2].max(initial=-np.inf):.2f} m",
            "give points in FLU axes of the sensor, leave out beams without a return",
        )


CHECKS: tuple[Check, ...] = (depth_is_in_range_or_nan, lidar_points_are_in_sensor_axes)
