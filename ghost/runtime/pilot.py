"""A backend's own autopilot as the run loop sees it: what it believes, and when it is armed."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ghost.core import MessageBus
from ghost.hal import Armable, CommandAck, Reporting, SimulationBackend, StateEstimate
from ghost.hal.message import Message

__all__ = ["ESTIMATE_TOPIC", "Pilot"]

ESTIMATE_TOPIC = "/estimate"
_RETRY_NS = 1_000_000_000
"""After a refusal to arm it is tried again, once a simulated second."""


class Pilot:
    """Publishes what the backend reports, and arms it before the first command of a plan.

    Arming here is for simulated vehicles: the scenario asked for a flight (D16 keeps real ones for
    those who ask in so many words).
    """

    def __init__(self, backend: SimulationBackend, bus: MessageBus) -> None:
        extensions = backend.capabilities.extensions
        self.estimate: StateEstimate | None = None
        """The newest; a plan is flown on it."""
        self._publish = bus.publish
        reports = extensions.get("reports") is True
        self._reports: Callable[[], list[tuple[str, Message]]] | None = (
            cast(Reporting, backend).reports if reports else None
        )
        self._armable = cast(Armable, backend) if extensions.get("armable") is True else None
        self._clock_ns = backend.clock.now_ns
        self._was_armed = False
        self._retry_ns = 0
        controller = extensions.get("controller", "an autopilot")
        self.name = f"{controller}: the plan is flown on its estimate"

    @classmethod
    def of(cls, backend: SimulationBackend, bus: MessageBus) -> Pilot | None:
        """The backend's autopilot, or None if it has none."""
        extensions = backend.capabilities.extensions
        if extensions.get("armable") is True or extensions.get("reports") is True:
            return cls(backend, bus)
        return None

    def listen(self) -> None:
        """Publish what was reported since the last step."""
        if self._reports is None:
            return
        for topic, message in self._reports():
            if type(message) is StateEstimate:
                self.estimate = message
            self._publish(topic, message)

    def arm(self) -> CommandAck | None:
        """Arm before the first command; None if nothing was asked for now."""
        vehicle, now_ns = self._armable, self._clock_ns()
        if vehicle is None or self._was_armed or now_ns < self._retry_ns:
            return None
        self._retry_ns = now_ns + _RETRY_NS
        ack = vehicle.arm()
        self._was_armed = ack.accepted
        return ack

    @property
    def flying(self) -> bool:
        """Whether commands make sense: always without arming, else while it is armed."""
        return self._armable is None or (self._was_armed and self._armable.armed)

    @property
    def may_command(self) -> bool:
        """Whether it was armed once, or need not be."""
        return self._armable is None or self._was_armed
