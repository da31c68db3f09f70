"""PyBullet behind the engine face."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ghost.backends.pybullet.drawing import Drawing
from ghost.backends.pybullet.frames import BodyFrames
from ghost.backends.pybullet.library import load_pybullet
from ghost.core import BackendLost, CameraSpec, ScenarioSpec
from ghost.physics import Kinematics, lump

__all__ = ["PyBulletEngine"]

_WORLD_GROUP = 1
_VEHICLE_GROUP = 2
_RAYS_A_CALL = 8192
"""PyBullet takes up to 16384 in one `rayTestBatch`, but answers those with one ray less."""
_NO_SPEED_LIMIT = 1e9
"""PyBullet clamps speeds at 100 m/s and rad/s unless told otherwise."""


class PyBulletEngine:
    """One free body in PyBullet, semi-implicit Euler, without damping or sleeping.

    PyBullet integrates the velocity of the centre of mass and the angular rate, both in world axes,
    the gyroscopic torque included, and turns the attitude by the exponential of the new rate. The
    body in PyBullet has its origin at the centre of mass and its axes along the principal axes of
    inertia; `BodyFrames` converts.

    Every reset connects to a new in-process server of its own, so that nothing is left of the last
    run and several engines live side by side.
    """

    def __init__(self) -> None:
        self._bullet = load_pybullet()
        self._client = -1
        self._drawing: Drawing | None = None

    def reset(self, scenario: ScenarioSpec, start: Kinematics) -> None:
        """See `Engine.reset`."""
        self.close()
        bullet = self._bullet
        client = connect(bullet)
        self._client = client
        self._scenario = scenario
        bullet.setTimeStep(scenario.physics_step_ns * 1e-9, physicsClientId=client)
        bullet.setGravity(0.0, 0.0, -scenario.world.gravity_mps2, physicsClientId=client)
        bullet.setPhysicsEngineParameter(deterministicOverlappingPairs=1, physicsClientId=client)
        plane = bullet.createCollisionShape(bullet.GEOM_PLANE, physicsClientId=client)
        self._add_fixed(plane, (0.0, 0.0, 0.0), 0.0)
        for box in scenario.world.obstacles:
            shape = bullet.createCollisionShape(
                bullet.GEOM_BOX,
                halfExtents=[0.5 * side for side in box.size_m],
                physicsClientId=client,
            )
            self._add_fixed(shape, box.pos_m, box.yaw_deg)
        self._add_vehicle(scenario, start)

    def _add_fixed(self, shape: int, pos_m: Sequence[float], yaw_deg: float) -> None:
        half = 0.5 * math.radians(yaw_deg)
        body = self._bullet.createMultiBody(
            0.0,
            shape,
            basePosition=pos_m,
            baseOrientation=(0.0, 0.0, math.sin(half), math.cos(half)),
            physicsClientId=self._client,
        )
        self._bullet.changeDynamics(
            body, -1, lateralFriction=1.0, restitution=0.0, physicsClientId=self._client
        )
        self._filter(body, _WORLD_GROUP, _WORLD_GROUP | _VEHICLE_GROUP)

    def _add_vehicle(self, scenario: ScenarioSpec, start: Kinematics) -> None:
        bullet, client = self._bullet, self._client
        whole = lump(scenario.vehicle)
        self._frames = frames = BodyFrames(whole)
        box = scenario.vehicle.body
        centre, turn = frames.shape_pose(box.collision_offset_m)
        shape = bullet.createCollisionShape(
            bullet.GEOM_BOX,
            halfExtents=[0.5 * side for side in box.size_m],
            collisionFramePosition=centre,
            collisionFrameOrientation=turn,
            physicsClientId=client,
        )
        self._com, attitude, velocity, rate = frames.to_bullet(start)
        self._body = body = bullet.createMultiBody(
            whole.mass_kg,
            shape,
            basePosition=self._com,
            baseOrientation=attitude,
            physicsClientId=client,
        )
        bullet.changeDynamics(
            body,
            -1,
            localInertiaDiagonal=frames.moments_kgm2,
            linearDamping=0.0,
            angularDamping=0.0,
            lateralFriction=1.0,
            restitution=0.0,
            maxJointVelocity=_NO_SPEED_LIMIT,
            activationState=bullet.ACTIVATION_STATE_DISABLE_SLEEPING,
            physicsClientId=client,
        )
        self._filter(body, _VEHICLE_GROUP, _WORLD_GROUP)
        bullet.resetBaseVelocity(body, velocity, rate, physicsClientId=client)

    def _filter(self, body: int, group: int, mask: int) -> None:
        self._bullet.setCollisionFilterGroupMask(
            body, -1, group, mask, physicsClientId=self._client
        )

    def step(
        self, force_world_n: tuple[float, float, float], torque_world_nm: tuple[float, float, float]
    ) -> Kinematics:
        """See `Engine.step`."""
        bullet, client, body = self._bullet, self._client, self._body
        frame = bullet.WORLD_FRAME
        bullet.applyExternalForce(body, -1, force_world_n, self._com, frame, client)
        bullet.applyExternalTorque(body, -1, torque_world_nm, frame, client)
        bullet.stepSimulation(client)
        self._com, attitude = bullet.getBasePositionAndOrientation(body, client)
        velocity, rate = bullet.getBaseVelocity(body, client)
        return self._frames.to_kinematics(self._com, attitude, velocity, rate)

    def rays(
        self, origin_m: Sequence[float], directions: npt.NDArray[np.float64], max_range_m: float
    ) -> npt.NDArray[np.float64]:
        """See `Engine.rays`."""
        count = len(directions)
        start = [float(coordinate) for coordinate in origin_m]
        ends = (np.asarray(start) + max_range_m * directions).tolist()
        distance = np.empty(count)
        for first in range(0, count, _RAYS_A_CALL):
            some = ends[first : first + _RAYS_A_CALL]
            hits = self._bullet.rayTestBatch(
                [start] * len(some),
                some,
                collisionFilterMask=_WORLD_GROUP,
                physicsClientId=self._client,
            )
            # A hit is (body, link, fraction, position, normal), with body −1 if nothing is hit.
            distance[first : first + len(some)] = [
                hit[2] * max_range_m if hit[0] >= 0 else math.nan for hit in hits
            ]
        return distance

    def image(
        self, camera: CameraSpec, pos_m: Sequence[float], q_world: Sequence[float]
    ) -> npt.NDArray[np.uint8]:
        """See `Engine.image`; drawn in software, so there is always a renderer."""
        if self._drawing is None:
            self._drawing = Drawing(self._bullet, connect(self._bullet), self._scenario.world)
        return self._drawing.picture(camera, pos_m, q_world)

    def close(self) -> None:
        """See `Engine.close`."""
        if self._drawing is not None:
            self._drawing.close()
            self._drawing = None
        if self._client >= 0:
            self._bullet.disconnect(self._client)
            self._client = -1


def connect(bullet: Any) -> int:
    """The id of a new in-process server. Raises `BackendLost` if there are too many already."""
    client: int = bullet.connect(bullet.DIRECT)
    if client < 0:
        raise BackendLost(
            "PyBullet gives no more physics servers in this process; shut down other backends"
        )
    return client
