"""Models that come, go and are moved, each confirmed by what the server shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from google.protobuf.message import DecodeError, Message

from ghost.core import BackendLost, HostTime
from ghost.gz.msgs import Boolean, Entity, EntityFactory, Pose, Pose_V, Scene, gz_type
from ghost.gz.transport.errors import ServiceRefused, TransportError
from ghost.gz.transport.types import Incoming, Node
from ghost.gz.world.errors import EntityRefused

__all__ = ["WorldEntities"]

Listen = Callable[[str, Callable[[Incoming], None]], Callable[[], None]]

_TOLERANCE = 1e-6
_REPLY_S = 2.0


class WorldEntities:
    """Creates, removes and moves models of one world.

    `settle` lets a moment pass and returns False when the server is gone.
    """

    def __init__(self, node: Node, world: str, host: HostTime, settle: Callable[[], bool]) -> None:
        self._node = node
        self._world = world
        self._host = host
        self._settle = settle

    def models(self, timeout_s: float) -> tuple[str, ...]:
        """The names of the models in the scene."""
        reply = self._ask("scene/info", b"", "gz.msgs.Empty", "gz.msgs.Scene", timeout_s)
        return tuple(model.name for model in Scene.FromString(reply).model)

    def spawn(
        self,
        sdf: str | None,
        sdf_filename: str | None,
        name: str,
        pose: Pose | None,
        timeout_s: float,
    ) -> None:
        """See `WorldControl.spawn`."""
        if (sdf is None) == (sdf_filename is None):
            raise ValueError("give either sdf or sdf_filename")
        if name in self.models(timeout_s):
            raise EntityRefused(
                f"world {self._world!r} already has a model {name!r}; remove it, or take "
                "another name"
            )
        request = EntityFactory(name=name, sdf=sdf, sdf_filename=sdf_filename)
        if pose is not None:
            request.pose.CopyFrom(pose)
        self._order("create", request, f"create {name!r}", timeout_s)
        self._until(
            lambda: name in self.models(timeout_s),
            timeout_s,
            f"the server took the order to create {name!r} but its scene does not have it after "
            f"{timeout_s:g} s; its log says why (a file it cannot find, SDF it cannot read)",
        )

    def remove(self, name: str, timeout_s: float) -> None:
        """See `WorldControl.remove`."""
        self._demand(name, timeout_s)
        request = Entity(name=name, type=Entity.MODEL)
        self._order("remove", request, f"remove {name!r}", timeout_s)
        self._until(
            lambda: name not in self.models(timeout_s),
            timeout_s,
            f"the server took the order to remove {name!r} but still shows it after "
            f"{timeout_s:g} s",
        )

    def set_pose(
        self,
        name: str,
        pos_m: Sequence[float],
        q_wxyz: Sequence[float],
        timeout_s: float,
        listen: Listen,
    ) -> None:
        """See `WorldControl.set_pose`."""
        self._demand(name, timeout_s)
        x, y, z = (float(value) for value in pos_m)
        w, qx, qy, qz = (float(value) for value in q_wxyz)
        request = Pose(name=name)
        request.position.x, request.position.y, request.position.z = x, y, z
        turn = request.orientation
        turn.w, turn.x, turn.y, turn.z = w, qx, qy, qz
        seen: list[Pose] = []

        def note(message: Incoming) -> None:
            try:
                poses = Pose_V.FromString(message.data).pose
            except DecodeError:
                return
            seen[:] = [pose for pose in poses if pose.name == name][:1]

        end = listen(f"/world/{self._world}/pose/info", note)
        try:
            self._order("set_pose", request, f"move {name!r}", timeout_s)
            self._until(
                lambda: bool(seen) and _same_place(seen[0], request),
                timeout_s,
                f"the server took the order to move {name!r} but does not show it there after "
                f"{timeout_s:g} s",
            )
        finally:
            end()

    def _demand(self, name: str, timeout_s: float) -> None:
        known = self.models(timeout_s)
        if name not in known:
            raise EntityRefused(
                f"world {self._world!r} has no model {name!r} (it has: {', '.join(sorted(known))})"
            )

    def _order(self, verb: str, request: Message, what: str, timeout_s: float) -> None:
        """Ask for a change. The plain service only queues it, so its effect is looked for after."""
        reply = self._ask(
            verb, request.SerializeToString(), gz_type(request), "gz.msgs.Boolean", timeout_s
        )
        if not Boolean.FromString(reply).data:
            raise EntityRefused(f"the server of world {self._world!r} refused to {what}")

    def _ask(
        self, name: str, data: bytes, request_type: str, reply_type: str, timeout_s: float
    ) -> bytes:
        service = f"/world/{self._world}/{name}"
        try:
            return self._node.request(
                service, data, request_type, reply_type, min(timeout_s, _REPLY_S)
            )
        except ServiceRefused as error:
            raise EntityRefused(str(error)) from error
        except TransportError as error:
            raise BackendLost(
                f"{service}: {error}; the world needs the systems UserCommands and SceneBroadcaster"
            ) from error

    def _until(self, done: Callable[[], bool], timeout_s: float, complaint: str) -> None:
        end_ns = self._host.now_ns() + round(timeout_s * 1e9)
        while not done():
            if not self._settle():
                raise BackendLost(f"the server of world {self._world!r} is gone")
            if self._host.now_ns() >= end_ns:
                raise EntityRefused(complaint)


def _same_place(one: Pose, other: Pose) -> bool:
    a, b = one.position, other.position
    if max(abs(a.x - b.x), abs(a.y - b.y), abs(a.z - b.z)) > _TOLERANCE:
        return False
    p, q = one.orientation, other.orientation
    # q and −q are one attitude.
    dot = p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z
    return abs(abs(dot) - 1.0) < _TOLERANCE
