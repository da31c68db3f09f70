"""Checks of chance and repetition: the same run again, elsewhere, watched or not (D9, D10, D22)."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ghost.hal import ActuatorCommand, SensorSample, digest
from ghost.testing.bench import Bench, Samples, Trace
from ghost.testing.contract import (
    SEED,
    Check,
    ConformanceFailure,
    NotApplicable,
    Subject,
    check,
    require,
)
from ghost.testing.digest_of import Order, flight_digest
from ghost.testing.flight import manoeuvre
from ghost.testing.scenarios import sensor_ids

__all__ = ["CHECKS"]

_SECONDS = 0.5
_DEADLINE_S = 60.0


def _command(bench: Bench) -> Callable[[float], ActuatorCommand] | None:
    return manoeuvre(bench) if bench.backend.capabilities.actuator_levels else None


def _agree(first: Trace, second: Trace, did: str, fix: str) -> None:
    difference = first.difference(second)
    require(difference is None, did, str(difference), fix)


@check(
    contract="C-HAL-30",
    spec="HAL spec §3.1, §7",
    asks="after reset(scenario, seed) the same calls give bit-identical samples, truth and acks",
    needs=("deterministic",),
)
def reset_is_deterministic(subject: Subject) -> None:
    """Reset one backend twice with the same seed, and fly the same second."""
    with subject.started() as bench:
        first = bench.trace(1.0, _command(bench))
        bench.backend.reset(scenario=subject.scenario, seed=SEED)
        second = bench.trace(1.0, _command(bench))
    _agree(
        first,
        second,
        f"flew 1 s after reset(seed={SEED}), twice on one backend",
        "draw all chance from the seed given to reset(), and keep nothing across it",
    )


@check(
    contract="C-HAL-30",
    spec="D22",
    asks="the same run in another process gives the same digest",
    needs=("deterministic", "import_path"),
)
def two_processes_agree(subject: Subject) -> None:
    """Fly half a second here and in a fresh interpreter, and compare the digests."""
    assert subject.import_path is not None
    here = flight_digest(subject.make, subject.scenario, SEED, _SECONDS)
    order = Order(subject.import_path, subject.scenario, SEED, _SECONDS)
    did = f"flew {_SECONDS} s of {subject.import_path} in this process and in another"
    try:
        done = subprocess.run(
            [sys.executable, "-m", "ghost.testing.digest_of"],
            input=pickle.dumps(order),
            capture_output=True,
            timeout=_DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ConformanceFailure(
            did, f"the other did not answer within {_DEADLINE_S:g} s", "look for what it waits for"
        ) from error
    there = done.stdout.decode(errors="replace").strip()
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise ConformanceFailure(
            did,
            f"the other ended with code {done.returncode}: {' '.join(last)}",
            "make the class importable and callable without arguments",
        )
    require(
        here == there,
        did,
        f"the digests are {here[:16]}… here and {there[:16]}… there",
        "look for hash order, addresses, the host's time, or threads in what is computed",
    )


@check(
    contract="C-HAL-32",
    spec="clock spec §4, D10",
    asks="another seed gives other noise",
    needs=("deterministic", "imu"),
)
def another_seed_gives_other_noise(subject: Subject) -> None:
    """Compare the IMU of two seeds."""
    noisy = [s.id for s in subject.scenario.vehicle.sensors if s.type == "imu" and s.noise]
    if not noisy:
        raise NotApplicable("the scenario's IMU has no noise")
    readings = []
    for seed in (SEED, SEED + 1):
        with subject.started(seed=seed) as bench:
            readings.append([digest(s.payload) for s in bench.run(0.2)[noisy[0]]])
    same = sum(a == b for a, b in zip(readings[0], readings[1], strict=False))
    require(
        same == 0,
        f"flew 0.2 s with the seeds {SEED} and {SEED + 1}",
        f"{same} of {len(readings[0])} samples of {noisy[0]} are the same",
        "draw noise from clock.random_source().child('/sensors/<id>/noise')",
    )


@check(
    contract="C-HAL-37",
    spec="D10, D22",
    asks="who polls changes no message",
    needs=("deterministic",),
)
def polling_changes_nothing(subject: Subject) -> None:
    """Fly without polling, then poll; compare the newest samples with a run that polled always."""
    with subject.started() as bench:
        polled = bench.run(0.6, _command(bench))
    with subject.started() as bench:
        command = _command(bench)
        for _ in range(bench.steps_in(0.6)):
            if command is not None:
                bench.send(command(bench.now_ns * 1e-9))
            bench.step()
        at_last = bench.poll()
    for sid, samples in at_last.items():
        by_seq = {sample.seq: digest(sample) for sample in polled[sid]}
        for sample in samples:
            require(
                by_seq.get(sample.seq) == digest(sample),
                "flew 0.6 s polling after each step, and again polling only at the end",
                f"{sid} seq {sample.seq} is not the same",
                "make samples when they are due, not when they are polled",
            )


@check(
    contract="C-HAL-37",
    spec="D22",
    asks="who listens changes no message",
    needs=("deterministic",),
)
def subscribers_change_nothing(subject: Subject) -> None:
    """Fly with three listeners on every sensor, and with none."""
    with subject.started() as bench:
        alone = bench.trace(_SECONDS, _command(bench))
    with subject.started() as bench:
        heard: list[SensorSample[Any]] = []
        for provider in bench.backend.sensors().values():
            for _ in range(3):
                provider.subscribe(heard.append)
        listened = bench.trace(_SECONDS, _command(bench))
    _agree(
        alone,
        listened,
        f"flew {_SECONDS} s with no listener and with three on every sensor",
        "make one sample and hand the same to all",
    )


@check(
    contract="C-HAL-65",
    spec="D10",
    asks="the order of the sensors in the vehicle changes no message",
    needs=("deterministic",),
)
def sensor_order_is_irrelevant(subject: Subject) -> None:
    """Fly with the vehicle's sensors listed backwards."""
    vehicle = subject.scenario.vehicle
    backwards = replace(
        subject.scenario, vehicle=replace(vehicle, sensors=tuple(reversed(vehicle.sensors)))
    )
    with subject.started() as bench:
        first = bench.trace(_SECONDS, _command(bench))
    with subject.started(backwards) as bench:
        second = bench.trace(_SECONDS, _command(bench))
    _agree(
        first,
        second,
        f"flew {_SECONDS} s with the sensors in order and backwards",
        "give each sensor a stream of its own, by its id, and visit sensors in order of id",
    )


@check(
    contract="C-HAL-65",
    spec="D10",
    asks="the noise of a sensor does not depend on what other sensors there are",
    needs=("deterministic", "imu"),
)
def sensors_are_independent(subject: Subject) -> None:
    """Fly with all sensors and with the IMU alone, and compare the IMU."""
    sid = sensor_ids(subject.scenario, "imu")[0]
    vehicle = subject.scenario.vehicle
    alone = replace(
        subject.scenario,
        vehicle=replace(vehicle, sensors=tuple(s for s in vehicle.sensors if s.id == sid)),
        faults=tuple(f for f in subject.scenario.faults if f.sensor == sid),
    )
    flights: list[Samples] = []
    for scenario in (subject.scenario, alone):
        with subject.started(scenario) as bench:
            flights.append(bench.run(_SECONDS, _command(bench)))
    require(
        [digest(s) for s in flights[0][sid]] == [digest(s) for s in flights[1][sid]],
        f"flew {_SECONDS} s with all sensors and with {sid} alone",
        f"the samples of {sid} differ",
        "give each sensor a stream of its own, child('/sensors/<id>/noise')",
    )


CHECKS: tuple[Check, ...] = (
    reset_is_deterministic,
    two_processes_agree,
    another_seed_gives_other_noise,
    polling_changes_nothing,
    subscribers_change_nothing,
    sensor_order_is_irrelevant,
    sensors_are_independent,
)
