"""Checks of samples: their order, their arrays, polling and subscribing (sensor spec §2, §7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from ghost.core import ScenarioSpec
from ghost.hal import PAYLOAD_TYPES, SensorHealth, SensorSample, digest
from ghost.testing.bench import Bench, Samples
from ghost.testing.contract import Check, Subject, check, require
from ghost.testing.flight import manoeuvre
from ghost.testing.scenarios import with_sensors

__all__ = ["CHECKS"]


def _fly(bench: Bench, seconds: float) -> Samples:
    levels = bench.backend.capabilities.actuator_levels
    return bench.run(seconds, manoeuvre(bench) if levels else None)


def _arrays(message: object, where: str) -> list[tuple[str, Any]]:
    """Every array inside a message, with its place."""
    found: list[tuple[str, Any]] = []
    if isinstance(message, np.ndarray):
        found.append((where, message))
    elif is_dataclass(message):
        for field in fields(message):
            found += _arrays(getattr(message, field.name), f"{where}.{field.name}")
    elif isinstance(message, Mapping):
        for key, value in message.items():
            found += _arrays(value, f"{where}[{key!r}]")
    return found


@check(
    contract="C-HAL-52",
    spec="sensor spec §2",
    asks="seq starts at 0 after reset() and grows by one for each sample; without faults and full "
    "queues there is no gap",
)
def seq_is_gapless_from_zero(subject: Subject) -> None:
    """Follow the seq of every sensor for one second, and again after a reset."""
    scenario = _undisturbed(subject)
    with subject.started(scenario) as bench:
        for run in ("the first run", "the run after a reset"):
            for sid, samples in _fly(bench, 1.0).items():
                seqs = [sample.seq for sample in samples]
                require(
                    seqs == list(range(len(seqs))) and all(type(seq) is int for seq in seqs),
                    f"polled {sid} after each step for 1 s in {run}",
                    f"seq went {_excerpt(seqs)}",
                    "count the samples that the sensor makes from 0, and lose none in the queue",
                )
            bench.backend.reset(scenario=scenario, seed=1)


def _undisturbed(subject: Subject) -> ScenarioSpec:
    """No faults, and no noise, which for a camera may lose frames."""
    return with_sensors(replace(subject.scenario, faults=()), noise=None)


def _excerpt(seqs: list[int]) -> str:
    """The numbers around the first one that does not follow."""
    for at, seq in enumerate(seqs):
        if seq != at or type(seq) is not int:
            return f"{seqs[max(0, at - 2) : at + 3]} at sample {at}"
    return str(seqs[:5])


@check(
    contract="C-HAL-53",
    spec="sensor spec §5, D6",
    asks="stamp_sim_ns is an int, never goes back, is not in the future, and lies on a step",
)
def stamps_are_monotone_and_on_steps(subject: Subject) -> None:
    """Look at every stamp of one second of flight, step by step."""
    with subject.started() as bench:
        last: dict[str, int] = {}
        levels = bench.backend.capabilities.actuator_levels
        command = manoeuvre(bench) if levels else None
        for _ in range(bench.steps_in(1.0)):
            before = bench.now_ns
            if command is not None:
                bench.send(command(before * 1e-9))
            bench.step()
            for sid, samples in bench.poll().items():
                for sample in samples:
                    _judge_stamps(bench, sid, sample, before, last.get(sid, -1))
                    last[sid] = sample.stamp_sim_ns


def _judge_stamps(
    bench: Bench, sid: str, sample: SensorSample[Any], before_ns: int, last_ns: int
) -> None:
    did = f"stepped from {before_ns} to {bench.now_ns} ns and polled {sid}"
    stamp = sample.stamp_sim_ns
    for name in ("stamp_sim_ns", "stamp_sensor_ns", "stamp_wall_ns"):
        value = getattr(sample, name)
        require(
            type(value) is int,
            did,
            f"{name} is {value!r}, a {type(value).__name__}",
            "keep nanoseconds as int from end to end; never divide them",
        )
    require(
        before_ns < stamp <= bench.now_ns and stamp % bench.scenario.step_ns == 0,
        did,
        f"stamp_sim_ns is {stamp}",
        "stamp a sample with clock.now_ns() when it is published",
    )
    require(
        stamp >= last_ns,
        did,
        f"stamp_sim_ns is {stamp} after {last_ns}",
        "publish in the order of time, also with latency",
    )


@check(
    contract="C-HAL-51",
    spec="sensor spec §2",
    asks="a sample carries its provider's id and frame, and a payload of its declared class",
)
def samples_match_their_spec(subject: Subject) -> None:
    """Compare a half second of samples with the specs of their providers."""
    with subject.started() as bench:
        for sid, samples in _fly(bench, 0.5).items():
            spec = bench.backend.sensors()[sid].spec
            wanted = PAYLOAD_TYPES[spec.payload_type]
            for sample in samples:
                require(
                    isinstance(sample, SensorSample)
                    and sample.sensor_id == sid
                    and sample.meta.frame_id == spec.frame_id
                    and isinstance(sample.payload, wanted)
                    and isinstance(sample.health, SensorHealth),
                    f"polled {sid}, declared as {spec.payload_type} in frame {spec.frame_id!r}",
                    f"a sample of {sample.sensor_id!r} in frame {sample.meta.frame_id!r} with a "
                    f"{type(sample.payload).__name__}, health {sample.health!r}",
                    f"publish SensorSample with a {wanted.__name__} and the ids of the spec",
                )


@check(
    contract="C-HAL-12",
    spec="HAL spec §3.5, D11",
    asks="an array in a message is read-only",
)
def arrays_are_read_only(subject: Subject) -> None:
    """Look for a writable array in samples, truth and acks, and try to make one writable."""
    with subject.started() as bench:
        found: list[tuple[str, Any]] = []
        for sid, samples in _fly(bench, 0.5).items():
            for sample in samples[:3]:
                found += _arrays(sample, sid)
        found += _arrays(bench.backend.ground_truth(), "ground_truth()")
        for where, array in found:
            require(
                not array.flags.writeable,
                f"looked at the array {where}",
                "it is writable",
                "build messages through their constructors; they freeze a copy (frozen_array)",
            )


@check(
    contract="C-HAL-58",
    spec="HAL spec §7",
    asks="a payload that was handed out never changes, whatever the backend does afterwards",
)
def no_shared_mutation(subject: Subject) -> None:
    """Keep samples and truths, fly on, reset, shut down, and look at them again."""
    with subject.started() as bench:
        kept: list[tuple[str, object, str]] = []
        for sid, samples in _fly(bench, 0.3).items():
            kept += [(f"{sid} seq {s.seq}", s, digest(s)) for s in samples[-5:]]
        truth = bench.backend.ground_truth()
        kept.append(("the ground truth", truth, digest(truth)))
        moments = [
            ("the next step", bench.step),
            ("one second more", lambda: _fly(bench, 1.0)),
            ("a reset", lambda: bench.backend.reset(scenario=subject.scenario, seed=7)),
            ("half a second more", lambda: _fly(bench, 0.5)),
            ("the shutdown", bench.backend.shutdown),
        ]
        for moment, happens in moments:
            happens()
            for name, message, fingerprint in kept:
                require(
                    digest(message) == fingerprint,
                    f"kept {name} and looked at it after {moment}",
                    "its contents had changed",
                    "copy out of the backend's buffers when a message is made",
                )


CHECKS: tuple[Check, ...] = (
    seq_is_gapless_from_zero,
    stamps_are_monotone_and_on_steps,
    samples_match_their_spec,
    arrays_are_read_only,
    no_shared_mutation,
)
