"""Commands to PX4 and their answers, as objects that `Px4Session.poll` completes.

PX4's time stands still unless the world is stepped, so nothing here waits: the caller steps the
world until `done`, and gives up after the simulated time it allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from types import MappingProxyType

from ghost.px4.telemetry import Ack, TextLine
from ghost.px4.voice import GCS_COMPONENT, GCS_SYSTEM

__all__ = ["Request", "RequestDesk", "result_name"]

_ACCEPTED = 0
_IN_PROGRESS = 5
_RESULTS = MappingProxyType(
    {
        0: "accepted",
        1: "temporarily rejected",
        2: "denied",
        3: "unsupported",
        4: "failed",
        5: "in progress",
        6: "cancelled",
    }
)
"""MAV_RESULT."""
_RESEND_NS = 500_000_000
"""Simulated time without an answer after which a command is sent once more (UDP may lose it)."""
_SENDINGS = 10
_GRACE_NS = 120_000_000
"""PX4 sends the text of a refusal in the same or one of the next rounds after the refusal."""
_BAD_SEVERITY = 4
"""MAV_SEVERITY_WARNING; lower numbers are worse."""


def result_name(result: int | None) -> str:
    """MAV_RESULT in words."""
    if result is None:
        return "no answer"
    return _RESULTS.get(result, f"result {result}")


class Request:
    """One command on its way."""

    __slots__ = ("_since_ns", "_texts", "command", "done", "params", "result", "sent_ns", "tries")

    def __init__(self, command: int, params: tuple[float, ...]) -> None:
        self.command = command
        """MAV_CMD."""
        self.params = params
        self.done = False
        self.result: int | None = None
        """MAV_RESULT; None while there is no answer, and if none ever came."""
        self.sent_ns = -1
        """Simulated time of the last sending; -1 while PX4 has not been heard."""
        self.tries = 0
        self._since_ns = -1
        self._texts: list[str] = []

    @property
    def accepted(self) -> bool:
        """Whether PX4 has agreed."""
        return self.done and self.result == _ACCEPTED

    @property
    def text(self) -> str:
        """Why not, in PX4's own words where it gave any; empty if accepted or not done."""
        if not self.done or self.result == _ACCEPTED:
            return ""
        if self.result is None:
            return f"PX4 did not answer command {self.command} ({self.tries} times sent)"
        return "; ".join(self._texts) or f"PX4 says {result_name(self.result)}"

    def hear(self, line: TextLine) -> None:
        """A STATUSTEXT that came while this request was open."""
        if line.severity <= _BAD_SEVERITY and line.text not in self._texts:
            self._texts.append(line.text)

    def answer(self, result: int, now_ns: int) -> None:
        """The COMMAND_ACK."""
        if result == _IN_PROGRESS:
            self.sent_ns = now_ns  # it is working on it: no need to repeat the command
            return
        self.result = result
        self._since_ns = now_ns
        self.done = result == _ACCEPTED

    def give_up(self) -> None:
        """Take no answer for an answer."""
        self.done = True

    @property
    def answered(self) -> bool:
        """Whether the final COMMAND_ACK came; the texts of a refusal may still be due."""
        return self.result is not None

    def settle(self, now_ns: int) -> None:
        """Complete a refusal whose texts have had their time."""
        if not self.done and self.result is not None and now_ns - self._since_ns >= _GRACE_NS:
            self.done = True


class RequestDesk:
    """The open requests of one session, in the order in which they were made."""

    def __init__(self, send: Callable[[Request], bool]) -> None:
        self._send = send
        self._open: list[Request] = []

    def __len__(self) -> int:
        return len(self._open)

    def add(self, command: int, params: Iterable[float], now_ns: int) -> Request:
        """Open a request and send it, as soon as PX4 is there. At most seven parameters.

        Raises `ValueError` for more, or for an infinite one; NaN means what MAVLink means by it.
        """
        values = tuple(float(value) for value in params)
        if len(values) > 7:
            raise ValueError(f"a command has seven parameters, got {len(values)}")
        if any(math.isinf(value) for value in values):
            raise ValueError(f"parameters must not be infinite, got {values}")
        request = Request(command, values)
        self._open.append(request)
        self._try(request, now_ns)
        return request

    def advance(self, acks: list[Ack], lines: list[TextLine], now_ns: int) -> None:
        """Complete what the answers complete, and send again what had none."""
        for ack in acks:
            if ack.target_system in (0, GCS_SYSTEM) and ack.target_component in (0, GCS_COMPONENT):
                for request in self._open:
                    if request.command == ack.command and request.tries and not request.answered:
                        request.answer(ack.result, now_ns)
                        break
        still = []
        for request in self._open:
            for line in lines:
                request.hear(line)
            request.settle(now_ns)
            if not request.done and not request.answered:
                self._try(request, now_ns)
            if not request.done:
                still.append(request)
        self._open = still

    def clear(self) -> None:
        """Give all up."""
        for request in self._open:
            request.give_up()
        self._open = []

    def _try(self, request: Request, now_ns: int) -> None:
        if request.tries and now_ns - request.sent_ns < _RESEND_NS:
            return
        if request.tries >= _SENDINGS:
            request.give_up()
            return
        if self._send(request):
            request.tries += 1
            request.sent_ns = now_ns
