"""Checks of commands and their answers (HAL spec §3.7, D14, D15)."""

from __future__ import annotations

import numpy as np

from ghost.hal import (
    AckReason,
    ActuatorCommand,
    ActuatorLevel,
    ActuatorSpec,
    AttitudeCommand,
    BodyRateCommand,
    MotorCommand,
    PositionCommand,
    VelocityCommand,
)
from ghost.testing.bench import Bench
from ghost.testing.checks.acks import declared_levels, must_accept, send
from ghost.testing.contract import Check, Subject, check, require
from ghost.testing.flight import best_level, hover, valid_command
from ghost.testing.malformed import (
    extreme_commands,
)

__all__ = ["CHECKS"]


@check(
    contract="C-HAL-81",
    spec="HAL spec §7",
    asks="a well-formed command of a declared level is accepted with reason OK",
    needs=("command",),
)
def actuator_accepts_valid_command(subject: Subject) -> None:
    """Send a valid command at the start, and one after each of five steps."""
    with subject.started() as bench:
        command = valid_command(best_level(declared_levels(bench)), subject.scenario)
        for count in range(6):
            must_accept(
                bench, f"a valid {command.level.name} command, {count}.", command, bench.now_ns
            )
            bench.step()


@check(
    contract="C-HAL-84",
    spec="D14",
    asks="a level that is declared is accepted and moves the vehicle",
    needs=("command", "ground_truth"),
)
def declared_levels_are_honoured(subject: Subject) -> None:
    """Command a climb at each declared level, and see that the vehicle does not fall."""
    with subject.started() as bench:
        levels = declared_levels(bench)
    for level in levels:
        with subject.started() as bench:
            start = bench.truth()
            command = _climb(level, bench, float(start.pos_enu_m[2]))
            for _ in range(bench.steps_in(0.6)):
                must_accept(bench, f"a climb at level {level.name}", command, bench.now_ns)
                bench.step()
            rise = float(bench.truth().vel_enu_mps[2])
            require(
                rise > 0.1,
                f"commanded a climb at level {level.name} for 0.6 s",
                f"the vehicle moves up at {rise:.2f} m/s",
                "apply the command from the next step on, or do not declare the level",
            )


def _climb(level: ActuatorLevel, bench: Bench, height_m: float) -> ActuatorCommand:
    count = bench.backend.actuators().spec.motor_count
    if level is ActuatorLevel.MOTOR:
        return MotorCommand(np.ones(count))
    if level is ActuatorLevel.BODY_RATE:
        return BodyRateCommand(np.zeros(3), 1.0)
    if level is ActuatorLevel.ATTITUDE:
        return AttitudeCommand(np.array([1.0, 0.0, 0.0, 0.0]), 1.0)
    if level is ActuatorLevel.VELOCITY:
        return VelocityCommand(np.array([0.0, 0.0, 1.5]))
    return PositionCommand(np.array([0.0, 0.0, height_m + 5.0]))


@check(
    contract="C-HAL-83",
    spec="D1, D15",
    asks="a stamp that is an integer of numpy is an integer",
    needs=("command",),
)
def numpy_stamps_are_accepted(subject: Subject) -> None:
    """Stamp a valid command with an int64 and a uint64 of numpy."""
    with subject.started() as bench:
        bench.step()
        for kind in (np.int64, np.uint64):
            stamp = kind(bench.now_ns)
            must_accept(bench, f"a command stamped {stamp!r}", hover(bench)(0.0), stamp)


@check(
    contract="C-HAL-85",
    spec="D15",
    asks="ack.applied is what was really commanded, after clamping to the limits of ActuatorSpec",
    needs=("command",),
)
def applied_is_within_the_limits(subject: Subject) -> None:
    """Send extreme but well-formed commands, and look at what is applied."""
    with subject.started() as bench:
        spec = bench.backend.actuators().spec
        for name, build in extreme_commands(subject.scenario):
            command = build()
            if command.level not in declared_levels(bench):
                continue
            ack = send(bench, name, command, bench.now_ns)
            if not ack.accepted:
                require(
                    ack.reason is AckReason.OUT_OF_RANGE,
                    f"sent {name}",
                    f"it was refused with {ack.reason.name}",
                    "clamp it, or refuse it with OUT_OF_RANGE",
                )
                continue
            require(
                type(ack.applied) is type(command) and _is_within(ack.applied, spec),
                f"sent {name}",
                f"applied is {ack.applied!r} with limits {spec!r}",
                "clamp every field to its limit, and echo the clamped command",
            )
            bench.step()
            truth = bench.backend.ground_truth()
            require(
                truth is None or bool(np.isfinite(truth.pos_enu_m).all()),
                f"sent {name} and stepped",
                "the true position is not finite",
                "clamp before computing with it",
            )


def _is_within(command: ActuatorCommand | None, spec: ActuatorSpec) -> bool:
    slack = 1.0 + 1e-9
    if isinstance(command, MotorCommand):
        return bool((command.thrust >= 0).all() and (command.thrust <= 1).all())
    if isinstance(command, BodyRateCommand):
        limits = np.array(spec.max_rate_rps) * slack
        within = bool((np.abs(command.rate_flu_rps) <= limits).all())
        return within and 0.0 <= command.collective <= 1.0
    if isinstance(command, AttitudeCommand):
        norm = float(np.linalg.norm(command.q_enu_flu))
        return abs(norm - 1.0) < 1e-9 and 0.0 <= command.collective <= 1.0
    if isinstance(command, VelocityCommand):
        speed = float(np.linalg.norm(command.vel_enu_mps))
        return speed <= spec.max_velocity_mps * slack and bool(np.isfinite(command.yaw_rate_rps))
    if isinstance(command, PositionCommand):
        distance = float(np.linalg.norm(command.pos_enu_m))
        return distance <= spec.max_position_m * slack and bool(np.isfinite(command.yaw_rad))
    return False


@check(
    contract="C-HAL-91",
    spec="HAL spec §5.2",
    asks="a command acts from the next step on, until another replaces it",
    needs=("command", "deterministic", "ground_truth"),
)
def a_command_holds_until_replaced(subject: Subject) -> None:
    """Send a command once and, on another backend, before every step; compare the truth."""
    ends = []
    for every in (False, True):
        with subject.started() as bench:
            command = hover(bench)(0.0)
            bench.send(command)
            for _ in range(bench.steps_in(0.5)):
                if every:
                    bench.send(command)
                bench.step()
            ends.append(bench.truth())
    require(
        bool(np.allclose(ends[0].pos_enu_m, ends[1].pos_enu_m, atol=1e-6)),
        "sent a command once and flew 0.5 s, and sent the same before every step",
        f"the vehicle ended at {ends[0].pos_enu_m} and at {ends[1].pos_enu_m}",
        "hold the last accepted command; the same command again is no news",
    )


CHECKS: tuple[Check, ...] = (
    actuator_accepts_valid_command,
    declared_levels_are_honoured,
    numpy_stamps_are_accepted,
    applied_is_within_the_limits,
    a_command_holds_until_replaced,
)
