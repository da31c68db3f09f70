"""Command → native: motor speeds on their way to the model, and the proof that they arrived.

Commands and step requests travel on two connections, so a step could overtake the command that it
must use. Our models echo each command: Gazebo's TriggeredPublisher answers on `…/command/ack` when
the command was dispatched, also while the world is paused. A server dispatches what it subscribed
to and the requests to its services on one thread, so a step that is asked for after the echo uses
the command. For a model without the echo there is a pause instead, which proves nothing.

Subscriptions take a moment to be made, so the first command, a greeting, may be lost and is
repeated. Its echo is another one (`data: false`), so that a late one is not taken for the echo of
the command after it. From then on nothing is lost and nothing is repeated: one command, one echo.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ghost.core import BackendLost, HostClock
from ghost.gz.msgs import Actuators, Boolean
from ghost.gz.transport import Node

__all__ = ["UNPROVEN_PAUSE_NS", "MotorLink", "ack_topic", "command_topic"]

_RESEND_S = 0.05
"""An echo takes about 0.1 ms; after this long a greeting was lost, and is sent again."""
_LISTEN_S = 0.05
_COMMAND, _GREETING = 1, 2
"""What the header's stamp says: which of the two echoes is due (see `sdf_model`)."""
UNPROVEN_PAUSE_NS = 300_000
"""Enough, without a proof, for two 12 s flights to be identical (measured on Gazebo Sim 8.14)."""


def command_topic(model: str) -> str:
    """Where the motor model of `model` listens."""
    return f"/{model}/command/motor_speed"


def ack_topic(model: str) -> str:
    """Where our models echo a command."""
    return f"/{model}/command/ack"


class MotorLink:
    """The motors of one model. `node` is used by nobody else: its messages are the echoes."""

    def __init__(
        self,
        node: Node,
        model: str,
        host: HostClock,
        *,
        deadline_s: float,
        proven: bool,
        alive: Callable[[], bool],
    ) -> None:
        self.proven = proven
        self._node = node
        self._model = model
        self._host = host
        self._deadline_s = deadline_s
        self._alive = alive
        self._message = Actuators()
        self._last: tuple[float, ...] | None = None
        if proven:
            self._echo = node.subscribe(ack_topic(model))
        self._publisher = node.advertise(command_topic(model), "gz.msgs.Actuators")

    def start(self, count: int) -> None:
        """Stop the motors, and see that the model listens. Call it after each reset.

        Raises `BackendLost` if it does not within the deadline.
        """
        if not self._publisher.wait_for_subscriber(self._deadline_s):
            raise BackendLost(
                f"no motor listens to {command_topic(self._model)} after {self._deadline_s:g} s: "
                "does the model have Gazebo's MulticopterMotorModel with commandSubTopic "
                "command/motor_speed?"
            )
        speeds = (0.0,) * count
        if self.proven:
            end_ns = self._end_ns()
            greeting = self._data(speeds, _GREETING)
            self._publisher.publish(greeting)
            while not self._echoed(False, _RESEND_S):
                self._check(end_ns)
                self._publisher.publish(greeting)
        self._last = None
        self.command(speeds)

    def command(self, speeds_rad_s: Sequence[float]) -> None:
        """Have the motors aim at these speeds, rad/s, from the next step on.

        Returns when the server has them. A command holds, so the same one is not sent again.
        Raises `BackendLost` if no echo comes within the deadline.
        """
        speeds = tuple(speeds_rad_s)
        if speeds == self._last:
            return
        self._publisher.publish(self._data(speeds, _COMMAND))
        if self.proven:
            end_ns = self._end_ns()
            while not self._echoed(True, _LISTEN_S):
                self._check(end_ns)
        else:
            self._host.sleep_until_ns(self._host.now_ns() + UNPROVEN_PAUSE_NS)
        self._last = speeds

    def close(self) -> None:
        """Send no more. Idempotent."""
        self._publisher.close()

    def _data(self, speeds: Sequence[float], kind: int) -> bytes:
        message = self._message
        message.header.stamp.sec = kind
        del message.velocity[:]
        message.velocity.extend(speeds)
        return message.SerializeToString()

    def _echoed(self, wanted: bool, timeout_s: float) -> bool:
        """Whether the echo of this kind came; others, of greetings before, are passed over."""
        while (message := self._node.receive(timeout_s)) is not None:
            if Boolean.FromString(message.data).data is wanted:
                return True
        return False

    def _end_ns(self) -> int:
        return self._host.now_ns() + round(self._deadline_s * 1e9)

    def _check(self, end_ns: int) -> None:
        if self._host.now_ns() > end_ns or not self._alive():
            raise BackendLost(
                f"the server does not echo motor commands on {ack_topic(self._model)} within "
                f"{self._deadline_s:g} s; reset() starts anew"
            )
