"""A run on a backend with an autopilot: arming, refusals, and the end of a flight."""

from __future__ import annotations

from ghost.config import load_scenario
from ghost.core import Envelope, MessageBus
from ghost.hal import AckReason, CommandAck
from ghost.runtime import Outcome, ScenarioRun
from tests.piloted_world import WARMUP_NS, PilotedWorld

WHY = "Preflight Fail: no heading"


class Unwilling(PilotedWorld):
    """It does not arm, and says why; from the try `gives_in` on it does."""

    def __init__(self, gives_in: int = 10**9) -> None:
        super().__init__()
        self.tries: list[int] = []
        self._gives_in = gives_in

    def arm(self) -> CommandAck:
        self.tries.append(self.clock.now_ns())
        if len(self.tries) >= self._gives_in:
            return super().arm()
        return CommandAck(False, AckReason.NOT_ARMED, self.clock.now_ns(), None, WHY)


def run(world: PilotedWorld, seconds: int, bus: MessageBus | None = None) -> ScenarioRun:
    scenario = load_scenario("px4_hover", [f"duration_ns={seconds * 10**9}"])
    return ScenarioRun(world, scenario, bus=bus)


def test_a_refusal_reaches_the_user_and_is_tried_again_each_second() -> None:
    world = Unwilling()
    commands: list[Envelope] = []
    bus = MessageBus()
    bus.subscribe("/actuators/command", commands.append)
    result = run(world, 4, bus).execute()
    assert result.outcome is Outcome.REFUSED
    assert WHY in result.error
    assert len(world.tries) == result.command_rejects == result.commands == 4
    assert all(b - a >= 10**9 for a, b in zip(world.tries, world.tries[1:], strict=False))
    assert not commands  # nothing is sent to a vehicle that is not armed
    assert result.events["safety_violation"] == 4


def test_a_later_try_that_succeeds_is_a_flight() -> None:
    world = Unwilling(gives_in=3)
    result = run(world, 4).execute()
    assert result.outcome is Outcome.COMPLETED
    assert len(world.tries) == 3
    assert result.command_rejects == 2
    assert result.commands > 50


def test_the_clock_starts_when_the_autopilot_is_ready() -> None:
    stamps: list[int] = []
    bus = MessageBus()
    bus.subscribe("/step", lambda envelope: stamps.append(envelope.stamp_sim_ns))
    result = run(PilotedWorld(), 2, bus).execute()
    assert result.sim_time_s == 2.0
    assert stamps[0] == WARMUP_NS + 4_000_000
    assert stamps[-1] == WARMUP_NS + 2_000_000_000


def test_a_vehicle_that_disarmed_after_its_plan_is_left_alone() -> None:
    world = PilotedWorld()
    sent: list[int] = []
    bus = MessageBus()
    bus.subscribe("/actuators/command", lambda envelope: sent.append(envelope.stamp_sim_ns))

    def disarm_when_landed(envelope: Envelope) -> None:
        if envelope.stamp_sim_ns >= WARMUP_NS + 26 * 10**9:
            world.disarm()

    bus.subscribe("/step", disarm_when_landed)
    result = run(world, 30, bus).execute()
    assert result.plan_done == 3
    assert max(sent) < WARMUP_NS + 26 * 10**9
    assert result.command_rejects == 0
