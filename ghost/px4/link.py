"""`Link`: the lockstep between a world and PX4, whichever way the two are connected."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol

from ghost.core import Event
from ghost.hal import (
    AltimeterPayload,
    BarometerPayload,
    GpsPayload,
    GroundTruth,
    IMUPayload,
    LockstepState,
    MagnetometerPayload,
    OpticalFlowPayload,
    SensorSample,
)
from ghost.px4.traffic import TrafficLog

__all__ = ["Link", "LinkCounters", "Readings"]


@dataclass(slots=True)
class Readings:
    """What is new in one step, for PX4; None: nothing new."""

    imu: SensorSample[IMUPayload] | None = None
    """The first IMU: PX4's clock follows it, and PX4 answers it."""
    imu1: SensorSample[IMUPayload] | None = None
    imu2: SensorSample[IMUPayload] | None = None
    mag: SensorSample[MagnetometerPayload] | None = None
    baro: SensorSample[BarometerPayload] | None = None
    gps: SensorSample[GpsPayload] | None = None
    flow: SensorSample[OpticalFlowPayload] | None = None
    range_m: SensorSample[AltimeterPayload] | None = None
    """An altimeter above the ground (AGL); one with another reference is not sent."""
    truth: GroundTruth | None = None


@dataclass(slots=True)
class LinkCounters:
    """What a link has seen since it was opened."""

    answered: int = 0
    """Samples that were answered within their step."""
    late: int = 0
    """Samples whose answer came after the world had gone on."""
    missing: int = 0
    """Samples that were never answered."""
    booting: int = 0
    """Samples sent before the first answer: PX4 was starting."""
    reconnects: int = 0
    """Times that PX4 came back."""
    replayed: int = 0
    """Answers ignored because their time had been answered before."""
    ahead: int = 0
    """Answers ignored because their time was not reached yet: not this run's."""
    unasked: int = 0
    """Answers, with a time of this run, to samples that none was awaited for."""
    foreign: int = 0
    """Packets ignored because another system sent them."""
    refused: int = 0
    """Others that dialled in while PX4 was connected."""
    bad_crc: int = 0
    unknown: int = 0
    garbage_bytes: int = 0
    """See `Splitter`."""
    unsent: int = 0
    """Steps dropped because PX4 no longer reads what is sent to it."""
    unfit: int = 0
    """Readings left out because the message cannot hold them (NaN, or far outside its range)."""

    def to_json(self) -> dict[str, int]:
        """All of them by name."""
        fields: dict[str, Any] = asdict(self)
        return fields


class Link(Protocol):
    """One side of the lockstep: the world's. Nothing waits without a deadline."""

    @property
    def counters(self) -> LinkCounters:
        """What was seen since `open`."""

    @property
    def traffic(self) -> TrafficLog:
        """All MAVLink of this link."""

    @property
    def connected(self) -> bool:
        """Whether PX4 is connected, as far as is known without asking."""

    @property
    def booted(self) -> bool:
        """Whether the PX4 that is connected has answered once."""

    @property
    def armed(self) -> bool:
        """Whether PX4 last said that the motors are armed."""

    @property
    def silent_ns(self) -> int:
        """Simulated time since the last answer; 0 while PX4 boots."""

    def open(self) -> None:
        """Get ready for PX4 to connect. `ConfigError` if the port is taken, naming it."""

    def await_answer(self) -> LockstepState:
        """Wait for the answer to the last `feed`, as long as the deadline allows.

        NONE: nothing was awaited (the first step, no IMU sample, or PX4 is booting).
        """

    def feed(self, now_ns: int, readings: Readings) -> None:
        """Tell PX4 what the sensors read at `now_ns`, which makes its time `now_ns`.

        Raises `BackendLost` if time went back: PX4's cannot, it must be restarted.
        """

    def motors(self) -> tuple[float, ...] | None:
        """Thrust 0..1 per rotor, zeros while disarmed; None if PX4 drives the motors itself."""

    def events(self) -> list[Event]:
        """What changed since the last call."""

    def close(self) -> None:
        """Hang up. Idempotent."""
