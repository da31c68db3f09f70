"""The services of the test server."""

from __future__ import annotations

from collections.abc import Callable
from xml.sax.saxutils import quoteattr

from ghost.gz.msgs import Boolean, Physics, StringMsg, StringMsg_V
from ghost.gz.transport import Node

from .entities import Models
from .options import ServerOptions

__all__ = ["Services"]


class Services:
    """Offers what a Gazebo server does, under `/world/<w>` and `/gazebo`."""

    def __init__(
        self,
        node: Node,
        options: ServerOptions,
        models: Models,
        on_control: Callable[[bytes], bytes | None],
    ) -> None:
        self._options = options
        base = f"/world/{options.world}"
        boolean, empty = "gz.msgs.Boolean", "gz.msgs.Empty"
        node.offer("/gazebo/worlds", empty, "gz.msgs.StringMsg_V", self._worlds)
        node.offer(f"{base}/control", "gz.msgs.WorldControl", boolean, on_control)
        for end in ("", "/blocking"):
            node.offer(f"{base}/create{end}", "gz.msgs.EntityFactory", boolean, models.create)
            node.offer(f"{base}/remove{end}", "gz.msgs.Entity", boolean, models.remove)
            node.offer(f"{base}/set_pose{end}", "gz.msgs.Pose", boolean, models.set_pose)
            node.offer(f"{base}/set_physics{end}", "gz.msgs.Physics", boolean, self._set_physics)
        node.offer(f"{base}/scene/info", empty, "gz.msgs.Scene", models.scene)
        node.offer(
            f"{base}/generate_world_sdf",
            "gz.msgs.SdfGeneratorConfig",
            "gz.msgs.StringMsg",
            self._sdf,
        )

    def _worlds(self, _data: bytes) -> bytes:
        return StringMsg_V(data=[self._options.world]).SerializeToString()

    def _set_physics(self, data: bytes) -> bytes:
        # Taken, and without effect: the step and the limiter are those of the command line.
        Physics.FromString(data)
        return Boolean(data=True).SerializeToString()

    def _sdf(self, _data: bytes) -> bytes:
        options = self._options
        text = (
            "<?xml version='1.0' ?>\n<sdf version='1.11'>\n"
            f"<world name={quoteattr(options.world)}>\n"
            "<physics name='default' type='ode'>\n"
            f"<max_step_size>{options.step_ns / 1e9!r}</max_step_size>\n"
            f"<real_time_factor>{options.real_time_factor:g}</real_time_factor>\n"
            "</physics>\n</world>\n</sdf>\n"
        )
        return StringMsg(data=text).SerializeToString()
