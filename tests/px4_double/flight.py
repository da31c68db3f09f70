"""A double, its world and its ground station, stepped together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .flown_world import STEP_US, FlownWorld
from .launch import DoubleProcess
from .station import Station

__all__ = ["Flight"]


class Flight:
    """`run` and `until` step the world; the station hears all and greets once a second.

    Keywords are the double's switches (`launch.DoubleProcess`).
    """

    def __init__(
        self,
        folder: Path,
        instance: int,
        *,
        environ: dict[str, str] | None = None,
        strict: bool = True,
        deadline_s: float = 5.0,
        local_port: int = 0,
        dial_limit_s: float = 10.0,
        **switches: object,
    ) -> None:
        self.beats = True
        self.world = FlownWorld(4560 + instance, strict=strict, deadline_s=deadline_s)
        self.double = DoubleProcess(folder, instance, environ, **switches)
        self.station = Station(instance, local_port=local_port)
        try:
            self.world.accept(dial_limit_s)
            if not local_port:
                self.station.greet()
        except OSError:
            self.close()
            raise

    @property
    def time_s(self) -> float:
        """Simulated time."""
        return self.world.time_us * 1e-6

    def step(self) -> None:
        """One step of 4 ms."""
        if self.beats and self.world.time_us % 1_000_000 == 0:
            self.station.heartbeat()
        self.world.step()
        self.station.poll()

    def run(self, seconds: float, each: Callable[[], None] | None = None) -> None:
        """So much simulated time; `each` before every step."""
        for _ in range(round(seconds * 1e6 / STEP_US)):
            if each is not None:
                each()
            self.step()

    def until(
        self,
        condition: Callable[[], bool],
        limit_s: float,
        each: Callable[[], None] | None = None,
    ) -> None:
        """Until the condition holds. AssertionError after `limit_s` of simulated time."""
        end_us = self.world.time_us + limit_s * 1e6
        while not condition():
            assert self.world.time_us < end_us, f"not within {limit_s} s: {self.station.texts}"
            if each is not None:
                each()
            self.step()

    def command(self, number: int, *params: float) -> int:
        """Send COMMAND_LONG; returns the last result it is acknowledged with."""
        self.station.acks.clear()
        self.station.command(number, *params)
        self.until(lambda: bool(self.station.acks), 1.0)
        self.run(0.02)
        assert {command for command, _ in self.station.acks} == {number}
        return self.station.acks[-1][1]

    def ready(self) -> bool:
        """The health bit of the arming check."""
        status = self.station.last.get("SYS_STATUS")
        return status is not None and bool(status.onboard_control_sensors_health & 0x10000000)

    @property
    def mode(self) -> tuple[int, int]:
        """Main and sub mode of the last heartbeat."""
        custom = self.station.last["HEARTBEAT"].custom_mode
        return custom >> 16 & 255, custom >> 24

    def arm(self) -> None:
        """Wait until it is ready, and arm."""
        self.until(self.ready, 15.0)
        assert self.command(400, 1) == 0

    @property
    def last(self) -> dict[str, Any]:
        """The newest message of each kind."""
        return self.station.last

    def close(self) -> None:
        """End everything."""
        self.double.close()
        self.world.close()
        self.station.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
