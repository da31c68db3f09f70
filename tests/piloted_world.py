"""An embedded world with an autopilot of a few lines: what a run with PX4 looks like, without PX4.

Its clock stands at `WARMUP_NS` after a reset, it must be armed, and it reports an estimate that is
off by known amounts and MAVLink packets that are made up. Flying is the embedded controller's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ghost.backends.embedded import EmbeddedBackend
from ghost.core import ScenarioSpec, SimClock
from ghost.hal import (
    AckReason,
    ActuatorSink,
    Capabilities,
    CommandAck,
    GroundTruth,
    LockstepState,
    MavlinkTraffic,
    Message,
    SensorProvider,
    StateEstimate,
    StepReport,
)
from ghost.hal.frames import q_from_rpy, q_multiply

__all__ = ["BIAS_M", "WARMUP_NS", "PilotedWorld", "packet"]

WARMUP_NS = 12_000_000_000
BIAS_M = (0.05, -0.1, 0.2)
"""Estimate minus truth."""
_YAW_OFF = q_from_rpy(0.0, 0.0, 0.02)
_ESTIMATE_EVERY, _HEARTBEAT_EVERY = 5, 250
HIL_SENSOR, HIL_ACTUATOR_CONTROLS, HEARTBEAT, LOCAL_POSITION_NED, UNKNOWN = 107, 93, 0, 32, 54321
SILENT_NS = (14_000_000_000, 15_500_000_000)
"""When the autopilot says nothing on `/mavlink/simulator`."""


def packet(number: int, size: int, *, version: int = 2, signed: bool = False) -> bytes:
    """A packet with this id; its checksum is none."""
    payload = bytes(range(size))
    if version == 1:
        return bytes((0xFE, size, 7, 1, 1, number)) + payload + b"\xfd\xfe"
    head = bytes((0xFD, size, int(signed), 0, 7, 1, 1)) + number.to_bytes(3, "little")
    return head + payload + b"\xfd\xfe" + (bytes(13) if signed else b"")


class PilotedWorld:
    """A `SimulationBackend` that is `Armable` and `Reporting`."""

    def __init__(self) -> None:
        self._inner = EmbeddedBackend()
        self.armed = False
        self._reports: list[tuple[str, Message]] = []
        self._steps = 0
        self.capabilities = self._declare()

    def _declare(self) -> Capabilities:
        inner = self._inner.capabilities
        extra = {"armable": True, "reports": True, "controller": "a few lines"}
        return replace(inner, deterministic=False, extensions={**inner.extensions, **extra})

    def reset(self, scenario: ScenarioSpec, seed: int) -> None:
        self._inner.reset(replace(scenario, autopilot=None), seed)
        self.capabilities = self._declare()
        self.armed, self._steps = False, 0
        while self.clock.now_ns() < WARMUP_NS:
            self.step(scenario.step_ns)
        for provider in self.sensors().values():
            provider.poll()
        self._reports.clear()

    def step(self, dt_ns: int) -> StepReport:
        report = self._inner.step(dt_ns)
        self._steps += 1
        now_ns = report.now_ns
        answers = not SILENT_NS[0] <= now_ns < SILENT_NS[1]
        self._say("simulator", now_ns, packet(HIL_SENSOR, 64), HIL_ACTUATOR_CONTROLS, answers)
        if self._steps % _ESTIMATE_EVERY == 0:
            self._reports.append(("/estimate", self._estimate(now_ns)))
            sent = b"" if self._steps % _HEARTBEAT_EVERY else packet(HEARTBEAT, 9, version=1)
            self._say("offboard", now_ns, sent, LOCAL_POSITION_NED, True)
        state = LockstepState.ANSWERED if answers else LockstepState.MISSING
        return replace(report, lockstep=state)

    def _say(self, link: str, now_ns: int, sent: bytes, number: int, answers: bool) -> None:
        received = packet(number, 28, signed=link == "offboard") if answers else b""
        if self._steps % 1000 == 0:
            received += packet(UNKNOWN, 3)
        both = (np.frombuffer(data, np.uint8) for data in (sent, received))
        self._reports.append((f"/mavlink/{link}", MavlinkTraffic(now_ns, *both)))

    def _estimate(self, now_ns: int) -> StateEstimate:
        truth = self._inner.ground_truth()
        assert truth is not None
        return StateEstimate(
            now_ns,
            truth.pos_enu_m + np.array(BIAS_M),
            np.array(q_multiply(truth.q_enu_flu.tolist(), _YAW_OFF)),
            truth.vel_enu_mps + np.array((0.0, 0.0, 0.01)),
        )

    def arm(self) -> CommandAck:
        self.armed = True
        return CommandAck(True, AckReason.OK, self.clock.now_ns())

    def disarm(self) -> CommandAck:
        self.armed = False
        return CommandAck(True, AckReason.OK, self.clock.now_ns())

    def reports(self) -> list[tuple[str, Message]]:
        reports, self._reports = self._reports, []
        return reports

    def shutdown(self) -> None:
        self._inner.shutdown()

    @property
    def clock(self) -> SimClock:
        return self._inner.clock

    def sensors(self) -> Mapping[str, SensorProvider[Any]]:
        return self._inner.sensors()

    def actuators(self) -> ActuatorSink:
        return self._inner.actuators()

    def ground_truth(self) -> GroundTruth | None:
        return self._inner.ground_truth()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.shutdown()
