"""The embedded world: MuJoCo in this process, nothing to install but the wheel."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco

from ghost.backends.embedded.engine import MujocoEngine
from ghost.backends.embedded.rendering import rendering_status
from ghost.core import HostClock, VehicleSpec
from ghost.physics import PhysicsBackend

__all__ = ["EmbeddedBackend"]


def _missing_sensors(vehicle: VehicleSpec) -> Mapping[str, str]:
    cameras = [sensor.id for sensor in vehicle.sensors if sensor.type == "rgb"]
    events = {
        sensor.id: "this world has no event camera"
        for sensor in vehicle.sensors
        if sensor.type == "event_camera"
    }
    if not cameras:
        return events
    available, detail, _ = rendering_status()
    return events if available else events | dict.fromkeys(cameras, detail)


class EmbeddedBackend(PhysicsBackend):
    """`SimulationBackend` on MuJoCo; see `PhysicsBackend` for how a step goes."""

    def __init__(self, *, host: HostClock | None = None) -> None:
        super().__init__(
            MujocoEngine,
            extensions={"engine": f"mujoco {mujoco.__version__}", "controller": "true state"},
            missing=_missing_sensors,
            host=host,
        )
