"""The other models of the test server: names and places, without physics."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable

from ghost.core import ScenarioSpec
from ghost.gz.msgs import Boolean, Entity, EntityFactory, Pose, Scene

__all__ = ["Models"]

_SDF_MODEL = re.compile(r"<model\s+name=['\"]([^'\"]+)['\"]")


class Models:
    """Creates, removes and moves, queued by services and done in the next iteration."""

    def __init__(self, scenario: ScenarioSpec, vehicle: str) -> None:
        self._vehicle = vehicle
        self._start = {"ground": Pose(name="ground")} | {
            f"obstacle{index}": _pose(f"obstacle{index}", box.pos_m)
            for index, box in enumerate(scenario.world.obstacles)
        }
        self._poses = dict(self._start)
        self._lock = threading.Lock()
        self._queue: list[Callable[[], None]] = []
        self.moved: Pose | None = None
        """Where the vehicle was asked to be put, until the world has done so."""

    def create(self, data: bytes) -> bytes | None:
        """Queue a new model, as `create` does: what is wrong with it shows only in the log."""
        request = EntityFactory.FromString(data)
        match = _SDF_MODEL.search(request.sdf)
        name = request.name or (match[1] if match else "")
        if request.WhichOneof("from") is None:
            return Boolean(data=False).SerializeToString()
        if request.sdf and match is None:
            # Gazebo answers true and writes the SDF error to its log.
            return Boolean(data=True).SerializeToString()
        pose = Pose()
        pose.CopyFrom(request.pose)
        pose.name = name
        return self._later(lambda: self._poses.setdefault(name, pose))

    def remove(self, data: bytes) -> bytes | None:
        """Queue a removal."""
        name = Entity.FromString(data).name
        return self._later(lambda: self._poses.pop(name, None))

    def set_pose(self, data: bytes) -> bytes | None:
        """Queue a move."""
        request = Pose.FromString(data)

        def move() -> None:
            if request.name == self._vehicle:
                self.moved = request
            elif request.name in self._poses:
                self._poses[request.name] = request

        return self._later(move)

    def _later(self, change: Callable[[], object]) -> bytes:
        with self._lock:
            self._queue.append(lambda: (change(), None)[1])
        return Boolean(data=True).SerializeToString()

    def work_off(self) -> None:
        """Do what was queued (on the world's thread)."""
        with self._lock:
            queue, self._queue = self._queue, []
            for change in queue:
                change()

    def reset(self) -> None:
        """Back to what the world started with."""
        with self._lock:
            self._poses = dict(self._start)

    def poses(self) -> Iterable[Pose]:
        """Where the models are, the vehicle not among them."""
        with self._lock:
            return list(self._poses.values())

    def scene(self, _data: bytes) -> bytes | None:
        """Answer `scene/info`."""
        scene = Scene(name="scene")
        for name in (*(pose.name for pose in self.poses()), self._vehicle):
            scene.model.add(name=name)
        return scene.SerializeToString()


def _pose(name: str, pos_m: Iterable[float]) -> Pose:
    pose = Pose(name=name)
    pose.position.x, pose.position.y, pose.position.z = pos_m
    pose.orientation.w = 1.0
    return pose
