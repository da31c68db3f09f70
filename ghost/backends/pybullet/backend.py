"""The PyBullet world as a backend."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

from ghost.backends.pybullet.engine import PyBulletEngine
from ghost.backends.pybullet.library import load_pybullet
from ghost.core import HostClock, VehicleSpec
from ghost.physics import PhysicsBackend

__all__ = ["PyBulletBackend"]


def _missing_sensors(vehicle: VehicleSpec) -> Mapping[str, str]:
    return {
        sensor.id: "this world has no event camera"
        for sensor in vehicle.sensors
        if sensor.type == "event_camera"
    }


class PyBulletBackend(PhysicsBackend):
    """`SimulationBackend` on PyBullet; see `PhysicsBackend` for how a step goes.

    Raises `MissingDependency` when it is made, if the package is not installed.
    """

    def __init__(self, *, host: HostClock | None = None) -> None:
        load_pybullet()
        super().__init__(
            PyBulletEngine,
            extensions={"engine": f"pybullet {version('pybullet')}", "controller": "true state"},
            missing=_missing_sensors,
            host=host,
        )
