"""Checks of what a sensor does when it fails: the seven faults of a scenario (D18, D20).

Each check runs the vehicle on the ground twice, with the fault on the IMU and without, and compares
the samples one by one. The fault lasts from 0.4 s to 0.8 s of 1.2 s.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ghost.core import FaultKind, FaultSpec
from ghost.hal import SensorHealth, digest
from ghost.testing.checks.fault_runs import BEGIN_NS, END_NS, all_came, inject, numbers
from ghost.testing.contract import Check, ConformanceFailure, Subject, check, require
from ghost.testing.scenarios import sensor_ids, with_faults

__all__ = ["CHECKS"]

_NEEDS = ("imu", "deterministic")


@check(
    contract="C-HAL-59",
    spec="sensor spec §6, D18",
    asks="a silent sensor polls [] with health OFFLINE and raises nothing; one event says so, one "
    "says that it is back",
    needs=_NEEDS,
)
def fault_offline_silences_a_sensor(subject: Subject) -> None:
    """Take the IMU offline: nothing comes, health is OFFLINE, and it comes back."""
    outcome = inject(subject, "offline")
    fix = "publish nothing while offline, and let provider.health say OFFLINE"
    require(not outcome.within(), outcome.did, f"{len(outcome.within())} samples came", fix)
    for now_ns, health, count in outcome.healths:
        off = BEGIN_NS <= now_ns < END_NS
        require(
            (health is SensorHealth.OFFLINE) == off and (not off or count == 0),
            outcome.did,
            f"at {now_ns} ns provider.health was {health!r} and poll() gave {count} samples",
            fix + "; after it OK again",
        )


@check(
    contract="C-HAL-60",
    spec="sensor spec §6, D18",
    asks="a corrupt reading is published with health=FAULTY and the reason in meta.extensions",
    needs=_NEEDS,
)
def fault_nan_is_marked_faulty(subject: Subject) -> None:
    """Let the IMU read NaN: samples still come, each FAULTY with a reason."""
    outcome = inject(subject, "nan")
    all_came(outcome)
    for sample in outcome.within():
        error = sample.meta.extensions.get("error")
        require(
            bool(np.isnan(numbers(sample)).all())
            and sample.health is SensorHealth.FAULTY
            and isinstance(error, str)
            and bool(error),
            outcome.did,
            f"seq {sample.seq} reads {numbers(sample)} with health {sample.health!r} and "
            f"error {error!r}",
            "publish NaN readings as FAULTY, with meta.extensions['error'] saying why",
        )
    for now_ns, health, count in outcome.healths:
        if count and BEGIN_NS <= now_ns < END_NS:
            require(
                health is SensorHealth.FAULTY,
                outcome.did,
                f"at {now_ns} ns provider.health was {health!r}",
                "let provider.health follow the last sample",
            )


@check(
    contract="C-HAL-66",
    spec="D20",
    asks="a freeze repeats the last reading while samples go on coming",
    needs=_NEEDS,
)
def fault_freeze_repeats_the_reading(subject: Subject) -> None:
    """Freeze the IMU: seq and stamps go on, the reading does not change."""
    outcome = inject(subject, "freeze")
    all_came(outcome)
    before = [s for s in outcome.faulty if s.stamp_sensor_ns < BEGIN_NS]
    for sample in outcome.within():
        require(
            digest(sample.payload) == digest(before[-1].payload),
            outcome.did,
            f"seq {sample.seq} reads {numbers(sample)}, the last before {numbers(before[-1])}",
            "publish the last reading again, with new seq and stamps",
        )


@check(
    contract="C-HAL-66",
    spec="D20",
    asks="a bias adds its value to every number of the reading",
    needs=_NEEDS,
)
def fault_bias_offsets_every_sample(subject: Subject) -> None:
    """Add 0.5 to the IMU, and find it in every number."""
    outcome = inject(subject, "bias", 0.5)
    all_came(outcome)
    for sample in outcome.within():
        offset = numbers(sample) - numbers(outcome.sound[sample.seq])
        require(
            bool(np.allclose(offset, 0.5, rtol=0.0, atol=1e-9)),
            outcome.did,
            f"seq {sample.seq} is off the run without the fault by {offset}",
            "add the value to the reading that the sensor would have given",
        )


@check(
    contract="C-HAL-66",
    spec="D20",
    asks="a spike adds its value to single samples",
    needs=_NEEDS,
)
def fault_spike_hits_single_samples(subject: Subject) -> None:
    """Spike the IMU by 30: the first sample has it whole, most have nothing."""
    outcome = inject(subject, "spike", 30.0)
    all_came(outcome)
    hit = []
    for sample in outcome.within():
        offset = numbers(sample) - numbers(outcome.sound[sample.seq])
        spiked = bool(np.allclose(offset, 30.0, rtol=0.0, atol=1e-9))
        require(
            spiked or bool(np.allclose(offset, 0.0, rtol=0.0, atol=1e-9)),
            outcome.did,
            f"seq {sample.seq} is off the run without the fault by {offset}",
            "add the whole value or nothing",
        )
        hit.append(spiked)
    require(
        hit[0] and not any(a and b for a, b in pairwise(hit)),
        outcome.did,
        f"{sum(hit)} of {len(hit)} samples were hit, the first {'was' if hit[0] else 'was not'}",
        "hit the first sample, and never two running",
    )


@check(
    contract="C-HAL-66",
    spec="D20",
    asks="a drop loses the given fraction of the samples, which shows as gaps in seq",
    needs=_NEEDS,
)
def fault_drop_loses_samples_with_gaps(subject: Subject) -> None:
    """Drop half of the IMU's samples, and count them."""
    outcome = inject(subject, "drop", 0.5)
    due = [seq for seq, s in outcome.sound.items() if BEGIN_NS <= s.stamp_sensor_ns < END_NS]
    came = [sample.seq for sample in outcome.within()]
    require(
        0.25 * len(due) <= len(came) <= 0.75 * len(due),
        outcome.did,
        f"{len(came)} of {len(due)} samples came",
        "lose each sample with the given probability",
    )
    for sample in outcome.within():
        twin = outcome.sound.get(sample.seq)
        require(
            twin is not None and digest(twin.payload) == digest(sample.payload),
            outcome.did,
            f"seq {sample.seq} is not the reading of that seq without the fault",
            "count lost samples in seq, so that the consumer sees the gap",
        )


@check(
    contract="C-HAL-66",
    spec="D20",
    asks="a delay adds its value to the latency",
    needs=_NEEDS,
)
def fault_delay_adds_latency(subject: Subject) -> None:
    """Delay the IMU by 20 ms: captures stay, publication comes later."""
    outcome = inject(subject, "delay", 20e6)
    all_came(outcome)
    for sample in outcome.within():
        late = sample.stamp_sim_ns - sample.stamp_sensor_ns
        require(
            20_000_000 <= late < 20_000_000 + 2 * subject.scenario.step_ns
            and digest(sample.payload) == digest(outcome.sound[sample.seq].payload),
            outcome.did,
            f"seq {sample.seq} was published {late} ns after its capture",
            "hold the finished sample back by the delay, in ns",
        )


@check(
    contract="C-HAL-64",
    spec="sensor spec §6",
    asks="a sensor that fails never stops the control loop",
)
def faults_never_stop_the_loop(subject: Subject) -> None:
    """Give every sensor every fault, overlapping, and step through all of it."""
    kinds: tuple[tuple[FaultKind, float | None], ...] = (
        ("bias", 1e300),
        ("spike", -1e300),
        ("delay", 3e7),
        ("drop", 0.3),
        ("freeze", None),
        ("nan", None),
        ("offline", None),
    )
    faults = [
        FaultSpec(50_000_000 * (1 + at), sid, kind, 120_000_000, value)
        for sid in sensor_ids(subject.scenario)
        for at, (kind, value) in enumerate(kinds)
    ]
    with subject.started(with_faults(subject.scenario, *faults)) as bench:
        for _ in range(bench.steps_in(0.7)):
            before = bench.now_ns
            try:
                bench.step()
                bench.poll()
            except Exception as error:
                raise ConformanceFailure(
                    f"gave every sensor every fault and stepped from {before} ns",
                    f"it raised {type(error).__name__}: {error}",
                    "turn whatever a sensor does wrong into a FAULTY sample and an event",
                ) from error


CHECKS: tuple[Check, ...] = (
    fault_offline_silences_a_sensor,
    fault_nan_is_marked_faulty,
    fault_freeze_repeats_the_reading,
    fault_bias_offsets_every_sample,
    fault_spike_hits_single_samples,
    fault_drop_loses_samples_with_gaps,
    fault_delay_adds_latency,
    faults_never_stop_the_loop,
)
