"""An armed PX4 that is asked to fly set-points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ghost.config import load_vehicle
from ghost.px4.offboard import OffboardSink
from tests.px4.fake_px4 import HOLD, OFFBOARD, Flight


class Pilot(Flight):
    """The flight with its sink, and a PX4 that changes its mode when asked."""

    def __init__(self) -> None:
        super().__init__()
        self.sink = OffboardSink(self.session, load_vehicle("x500"), lambda: self.now_ns)
        self.each_step.append(self.sink.step)
        self.px4.on_command[176] = self._mode
        self.px4.on_command[400] = self._arm

    def arm(self) -> None:
        """Without asking."""
        self.px4.armed = True
        self.px4.heartbeat()
        self.step()

    def _mode(self, message: Any) -> None:
        if self.px4.results.get(176, 0) == 0:
            self.change(int(message.param2) << 16 | int(message.param3) << 24)

    def _arm(self, message: Any) -> None:
        if self.px4.results.get(400, 0) == 0:
            self.px4.armed = message.param1 == 1.0

    def change(self, custom_mode: int) -> None:
        """PX4 is in another mode, and says so."""
        self.px4.custom_mode = custom_mode
        self.px4.raw(self.px4.frame(436, 193, custom_mode.to_bytes(4, "little")))

    @property
    def targets(self) -> list[Any]:
        """Set-points that came."""
        self.px4.serve()
        return [m for m in self.px4.heard if m.get_type().startswith("SET_")]


@pytest.fixture
def pilot() -> Iterator[Pilot]:
    """Armed, in HOLD."""
    made = Pilot()
    made.connect()
    made.arm()
    made.messages()
    yield made
    made.close()


__all__ = ["HOLD", "OFFBOARD", "Pilot"]
