"""Checks of when samples come: rate, latency, drift, noise (sensor spec §4, §5)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from statistics import fmean, pstdev

from ghost.core import ImuNoise, NoiseModel, ScenarioSpec, TriadNoise
from ghost.hal import SensorHealth, digest
from ghost.testing.contract import SEED, Check, Subject, check, require
from ghost.testing.scenarios import noiseless, on_ground, sensor_ids, with_sensors

__all__ = ["CHECKS"]


def _quiet(subject: Subject) -> ScenarioSpec:
    """Standing on the ground, without faults."""
    return replace(on_ground(subject.scenario), faults=())


@check(
    contract="C-HAL-54",
    spec="sensor spec §4, D6",
    asks="each sensor publishes at nominal_rate_hz, within one sample over ten seconds, evenly",
)
def rates_hold_over_ten_seconds(subject: Subject) -> None:
    """Count the samples of ten seconds, and look at the intervals between them."""
    scenario = with_sensors(_quiet(subject), latency_ns=0)
    with subject.started(scenario) as bench:
        seconds = bench.steps_in(10.0) * scenario.step_ns * 1e-9
        gathered = bench.run(10.0)
        for sid, samples in gathered.items():
            rate = bench.backend.sensors()[sid].spec.nominal_rate_hz
            wanted = rate * seconds
            require(
                abs(len(samples) - wanted) <= 1.0,
                f"counted the samples of {sid}, {rate:g} Hz, over {seconds:g} s",
                f"there were {len(samples)}, {wanted:g} are due",
                "sample on the grid k/rate, computed from k and not by adding periods",
            )
            period_ns = 1e9 / rate
            for earlier, later in pairwise(samples):
                gap = later.stamp_sim_ns - earlier.stamp_sim_ns
                require(
                    abs(gap - period_ns) < scenario.step_ns + 1,
                    f"looked at the intervals of {sid}, {rate:g} Hz",
                    f"{gap} ns between seq {earlier.seq} and {later.seq}, {period_ns:.0f} is due",
                    "sample on the first step at or after each grid time",
                )


@check(
    contract="C-HAL-56",
    spec="sensor spec §5, D21",
    asks="latency_ns delays stamp_sim_ns, not stamp_sensor_ns",
)
def latency_is_as_specified(subject: Subject) -> None:
    """Give every sensor a latency of two and a half steps, and of 35 ms."""
    base = with_sensors(noiseless(_quiet(subject)))
    for latency_ns in (5 * base.step_ns // 2, 35_000_000):
        scenario = with_sensors(base, latency_ns=latency_ns)
        with subject.started(scenario) as bench:
            gathered = bench.run(1.0)
            for sid, samples in gathered.items():
                did = f"gave {sid} a latency of {latency_ns} ns and flew 1 s"
                require(
                    bench.backend.sensors()[sid].spec.latency_ns == latency_ns,
                    did,
                    f"its spec says {bench.backend.sensors()[sid].spec.latency_ns} ns",
                    "take SensorSpec.latency_ns from the vehicle",
                )
                require(
                    bool(samples), did, "it published nothing", "publish when the time has come"
                )
                for sample in samples:
                    late = sample.stamp_sim_ns - sample.stamp_sensor_ns
                    require(
                        latency_ns <= late < latency_ns + scenario.step_ns,
                        did,
                        f"seq {sample.seq} was captured at {sample.stamp_sensor_ns} and published "
                        f"at {sample.stamp_sim_ns} ns, {late} ns later",
                        "hold the finished sample back until the first step after its latency",
                    )


@check(
    contract="C-HAL-56",
    spec="D21",
    asks="latency delays publication, not capture: the payloads stay those of the capture",
    needs=("deterministic",),
)
def latency_delays_publication_only(subject: Subject) -> None:
    """Compare the payloads of a falling vehicle with and without 20 ms of latency."""
    base = with_sensors(replace(subject.scenario, faults=()), latency_ns=0)
    with subject.started(base) as bench:
        prompt = bench.run(0.5)
    with subject.started(with_sensors(base, latency_ns=20_000_000)) as bench:
        late = bench.run(0.5)
    for sid, samples in late.items():
        for at_once, later in zip(prompt[sid], samples, strict=False):
            require(
                at_once.seq == later.seq
                and at_once.stamp_sensor_ns == later.stamp_sensor_ns
                and digest(at_once.payload) == digest(later.payload),
                f"compared {sid} without latency and with 20 ms, same seed",
                f"seq {at_once.seq} captured at {at_once.stamp_sensor_ns} ns and seq {later.seq} "
                f"captured at {later.stamp_sensor_ns} ns are not the same reading",
                "read the world at capture; delay the finished sample",
            )


@check(
    contract="C-HAL-55",
    spec="sensor spec §5, D21",
    asks="clock_drift_ppm moves only stamp_sensor_ns, which is stamp_sim_ns without it",
)
def clock_drift_is_as_specified(subject: Subject) -> None:
    """Let the sensors' clocks be right, 100 ppm fast, and 250 ppm slow."""
    base = noiseless(_quiet(subject))
    for ppm in (0.0, 100.0, -250.0):
        noise = NoiseModel(clock_drift_ppm=ppm) if ppm else None
        with subject.started(with_sensors(base, noise=noise)) as bench:
            for sid, samples in bench.run(2.0).items():
                for sample in samples:
                    wanted = sample.stamp_sim_ns * (1.0 + ppm * 1e-6)
                    require(
                        abs(sample.stamp_sensor_ns - wanted) <= 1.0,
                        f"gave the clock of {sid} a drift of {ppm:g} ppm",
                        f"the sample published at {sample.stamp_sim_ns} ns says "
                        f"{sample.stamp_sensor_ns} ns on its own clock, {wanted:.1f} is due",
                        "compute stamp_sensor_ns as t·(1 + ppm·1e-6), in integers, from t alone",
                    )


@check(
    contract="C-HAL-68",
    spec="sensor spec §3.1, D19",
    asks="the configured noise is really in the samples, which never show the bare truth",
    needs=("imu",),
)
def configured_noise_is_applied(subject: Subject) -> None:
    """Stand still for four seconds with a known IMU noise, and measure it."""
    density, gyro_bias = 0.01, 0.05
    imu = sensor_ids(subject.scenario, "imu")
    noise = NoiseModel(
        imu=ImuNoise(
            accel=TriadNoise(white_density=(density,) * 3),
            gyro=TriadNoise(white_density=(density,) * 3, bias=(gyro_bias,) * 3),
        )
    )
    scenario = with_sensors(noiseless(_quiet(subject)), imu, noise=noise)
    with subject.started(scenario, SEED) as bench:
        bench.run(1.0)
        provider = bench.provider("imu")
        samples = bench.run(4.0)[provider.spec.sensor_id]
        sigma = density * provider.spec.nominal_rate_hz**0.5
        for name in ("accel_mps2", "gyro_rps"):
            for axis in range(3):
                values = [float(getattr(s.payload, name)[axis]) for s in samples]
                got = pstdev(values)
                require(
                    0.8 * sigma < got < 1.2 * sigma,
                    f"stood still for 4 s with white noise of density {density} at "
                    f"{provider.spec.nominal_rate_hz:g} Hz",
                    f"{name}[{axis}] has a standard deviation of {got:.4g}, {sigma:.4g} is due",
                    "apply the sensor's noise model to each reading, σ = density·√rate",
                )
                if name == "gyro_rps":
                    require(
                        abs(fmean(values) - gyro_bias) < 6.0 * sigma / len(values) ** 0.5,
                        f"stood still for 4 s with a gyro bias of {gyro_bias} rad/s",
                        f"gyro_rps[{axis}] has a mean of {fmean(values):.4g}",
                        "add the configured bias to each reading",
                    )


@check(
    contract="C-HAL-60",
    spec="sensor spec §6",
    asks="without faults every sample is healthy and finite",
)
def healthy_samples_are_finite(subject: Subject) -> None:
    """Look for NaN and for samples that are not OK in one second without faults."""
    with subject.started(_quiet(subject)) as bench:
        for sid, samples in bench.run(1.0).items():
            for sample in samples:
                require(
                    sample.health is SensorHealth.OK and "error" not in sample.meta.extensions,
                    f"polled {sid} with no fault in the scenario",
                    f"seq {sample.seq} has health {sample.health!r}",
                    "report OK unless something is wrong",
                )
            health = bench.backend.sensors()[sid].health
            require(
                health is SensorHealth.OK,
                f"read the health of {sid} with no fault in the scenario",
                f"it is {health!r}",
                "report OK unless something is wrong",
            )


CHECKS: tuple[Check, ...] = (
    rates_hold_over_ten_seconds,
    latency_is_as_specified,
    latency_delays_publication_only,
    clock_drift_is_as_specified,
    configured_noise_is_applied,
    healthy_samples_are_finite,
)
