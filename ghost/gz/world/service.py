"""Requests to `/world/<w>/control`, and finding out whether a lost one arrived."""

from __future__ import annotations

from google.protobuf.message import DecodeError

from ghost.gz.msgs import Boolean
from ghost.gz.msgs import WorldControl as ControlMessage
from ghost.gz.transport.errors import ServiceRefused, TransportError
from ghost.gz.transport.types import Node
from ghost.gz.world.stamps import fill_time

__all__ = ["ControlService"]

# Cheap services of the same process, asked only after a request was lost, cheapest first. Every
# server has the last two.
_PROBES = (
    ("gui/info", "gz.msgs.Empty", "gz.msgs.GUI"),
    ("scene/info", "gz.msgs.Empty", "gz.msgs.Scene"),
    ("generate_world_sdf", "gz.msgs.SdfGeneratorConfig", "gz.msgs.StringMsg"),
)


class ControlService:
    """Sends what a world is to do. A reply only means that the request is in the queue."""

    def __init__(self, node: Node, world: str) -> None:
        self._node = node
        self._world = world
        self.service = f"/world/{world}/control"

    def multi_step(self, steps: int, timeout_s: float) -> bool:
        """Ask for `steps` iterations. Gazebo heeds `multi_step` only together with `pause`."""
        return self._send(ControlMessage(pause=True, multi_step=steps), timeout_s)

    def run_to(self, target_ns: int, timeout_s: float) -> bool:
        """Let a world that was paused amid our steps make those that are left.

        Its queue of steps is intact, so playing it makes them and pauses again. The bound, a
        nanosecond beyond the target, stops a world whose queue was empty after one step too many
        rather than never.
        """
        message = ControlMessage(pause=False)
        fill_time(message.run_to_sim_time, target_ns + 1)
        return self._send(message, timeout_s)

    def pause(self, paused: bool, timeout_s: float) -> bool:
        """Ask the world to stand still, or to run by itself."""
        return self._send(ControlMessage(pause=paused), timeout_s)

    def reset(self, timeout_s: float) -> bool:
        """Ask the world to go back to its start, and to stand still there."""
        message = ControlMessage(pause=True)
        message.reset.all = True
        return self._send(message, timeout_s)

    def probe(self, timeout_s: float) -> bool:
        """Whether the server answers another service now.

        Requests travel to one socket of the server in order, and it works them off in order. So
        when this is answered and a request before it was not, that one never arrived, or its reply
        was lost; the next turns of the clock tell which.
        """
        offered = {info.service for info in self._node.services()}
        for name, request_type, reply_type in _PROBES:
            service = f"/world/{self._world}/{name}"
            if service not in offered:
                continue
            try:
                self._node.request(service, b"", request_type, reply_type, timeout_s)
            except ServiceRefused:
                return True
            except TransportError:
                return False
            return True
        return False

    def _send(self, message: ControlMessage, timeout_s: float) -> bool:
        """True if the server has queued it; False if that is not known. Raises `ServiceRefused`."""
        try:
            reply = self._node.request(
                self.service,
                message.SerializeToString(),
                "gz.msgs.WorldControl",
                "gz.msgs.Boolean",
                timeout_s,
            )
        except ServiceRefused:
            raise
        except TransportError:
            # No reply, or the connection broke meanwhile: whether it was done, the clock tells.
            return False
        try:
            accepted = Boolean.FromString(reply).data
        except DecodeError as error:
            raise TransportError(
                f"{self.service} sent a reply that is no gz.msgs.Boolean"
            ) from error
        if not accepted:
            raise ServiceRefused(self.service)
        return True
