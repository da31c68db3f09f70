"""The two flights behind each check of a fault: with it on the IMU, and without (D20)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ghost.core import Event, EventType, FaultKind, FaultSpec
from ghost.hal import IMUPayload, SensorHealth, SensorSample, digest
from ghost.testing.contract import Subject, require
from ghost.testing.scenarios import on_ground, sensor_ids, with_faults, with_sensors

__all__ = ["BEGIN_NS", "END_NS", "Outcome", "all_came", "inject", "numbers"]

BEGIN_NS, END_NS = 400_000_000, 800_000_000
_SECONDS = 1.2


@dataclass
class Outcome:
    """What a fault did, next to the same run without it."""

    did: str
    sensor: str
    faulty: list[SensorSample[Any]]
    sound: dict[int, SensorSample[Any]]
    events: list[Event]
    healths: list[tuple[int, SensorHealth, int]]
    """After each step: time, the provider's health, how many samples poll gave."""

    def within(self) -> list[SensorSample[Any]]:
        """Samples captured while the fault lasted."""
        return [s for s in self.faulty if BEGIN_NS <= s.stamp_sensor_ns < END_NS]

    def outside_is_sound(self) -> None:
        """Require that samples captured outside of the fault are those of the run without it."""
        outside = [s for s in self.faulty if not BEGIN_NS <= s.stamp_sensor_ns < END_NS]
        missing = [
            seq
            for seq, sample in self.sound.items()
            if not BEGIN_NS <= sample.stamp_sensor_ns < END_NS
            and seq not in {s.seq for s in outside}
        ]
        require(
            not missing,
            self.did,
            f"the samples {missing[:5]}, before or after the fault, did not come",
            "let a fault act from at_ns for for_ns, and end",
        )
        for sample in outside:
            twin = self.sound.get(sample.seq)
            require(
                twin is not None
                and digest(twin.payload) == digest(sample.payload)
                and sample.health is SensorHealth.OK,
                self.did,
                f"seq {sample.seq}, captured at {sample.stamp_sensor_ns} ns, outside of the fault, "
                f"is not the reading of the run without the fault, or not OK ({sample.health!r})",
                "let a fault act on captures from at_ns until at_ns + for_ns only",
            )

    def is_announced(self, step_ns: int) -> None:
        """Require one event when the fault begins and one when it ends."""
        for kind, due in ((EventType.SENSOR_FAULT, BEGIN_NS), (EventType.SENSOR_RECOVERED, END_NS)):
            stamps = [
                event.stamp_sim_ns
                for event in self.events
                if event.type is kind and self.sensor in (*event.source.split("/"), _named(event))
            ]
            require(
                len(stamps) == 1 and due <= stamps[0] < due + step_ns,
                self.did,
                f"the {kind.value} events of {self.sensor} in StepReport.faults came at {stamps}, "
                f"one at {due} ns is due",
                "raise one event when a fault begins and one when it ends, none for each sample",
            )


def _named(event: Event) -> object:
    return event.payload.get("sensor_id")


def inject(subject: Subject, kind: FaultKind, value: float | None = None) -> Outcome:
    """Fly with and without the fault; check what all faults have in common."""
    sensor = sensor_ids(subject.scenario, "imu")[0]
    base = with_sensors(with_faults(on_ground(subject.scenario)), latency_ns=0)
    base = with_sensors(base, [sensor], noise=_without_drift(base, sensor))
    fault = FaultSpec(BEGIN_NS, sensor, kind, END_NS - BEGIN_NS, value)
    said = kind if value is None else f"{kind} ({value:g})"
    did = f"gave {sensor} the fault {said} from 0.4 s to 0.8 s"
    with subject.started(base) as bench:
        sound = bench.run(_SECONDS)
    events: list[Event] = []
    healths: list[tuple[int, SensorHealth, int]] = []
    faulty: dict[str, list[SensorSample[Any]]] = {sid: [] for sid in sound}
    with subject.started(with_faults(base, fault)) as bench:
        provider = bench.backend.sensors()[sensor]
        for _ in range(bench.steps_in(_SECONDS)):
            events.extend(bench.step().faults)
            polled = bench.poll()
            healths.append((bench.now_ns, provider.health, len(polled[sensor])))
            for sid, samples in polled.items():
                faulty[sid].extend(samples)
    outcome = Outcome(did, sensor, faulty[sensor], _by_seq(sound[sensor]), events, healths)
    outcome.outside_is_sound()
    outcome.is_announced(base.step_ns)
    for sid in set(sound) - {sensor}:
        require(
            [digest(s) for s in sound[sid]] == [digest(s) for s in faulty[sid]],
            did,
            f"the samples of {sid} changed",
            "let a fault touch its own sensor only",
        )
    return outcome


def _without_drift(scenario: Any, sensor: str) -> Any:
    noise = next(s.noise for s in scenario.vehicle.sensors if s.id == sensor)
    return None if noise is None else replace(noise, clock_drift_ppm=0.0)


def _by_seq(samples: list[SensorSample[Any]]) -> dict[int, SensorSample[Any]]:
    return {sample.seq: sample for sample in samples}


def numbers(sample: SensorSample[Any]) -> Any:
    payload: IMUPayload = sample.payload
    return np.concatenate((payload.accel_mps2, payload.gyro_rps))


def all_came(outcome: Outcome) -> None:
    due = [seq for seq, s in outcome.sound.items() if BEGIN_NS <= s.stamp_sensor_ns < END_NS]
    came = [sample.seq for sample in outcome.within()]
    require(
        came == due,
        outcome.did,
        f"{len(came)} of {len(due)} samples came while it lasted",
        "go on publishing under this fault",
    )
