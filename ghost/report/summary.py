"""The first screen of the report: what ran, how it went, how the recording was made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ghost.hal import SensorHealth
from ghost.report.gather import Gathered
from ghost.report.made import Made
from ghost.report.page import definitions, tags, text, tiles
from ghost.report.wording import bytes_text, number

__all__ = ["header"]

_ALARMS = ("crash", "backend_lost", "safety_violation", "plan_timeout", "recording_fault")


def header(made: Made, run: Gathered) -> str:
    """Return it as markup."""
    title = made.scenario or Path(made.path).stem
    notes = "".join(f"<p>{text(note)}</p>" for note in made.notes)
    return (
        f"<h1>{text(title)}</h1>"
        f'<p class="lead">{text(made.description)}</p>'
        + tags(_tags(made, run))
        + tiles(_tiles(run))
        + definitions(_made(made, run))
        + (f'<div class="notes">{notes}</div>' if notes else "")
    )


def _tags(made: Made, run: Gathered) -> Iterator[tuple[str, str]]:
    if made.outcome:
        yield ("good" if made.outcome == "completed" else "warn"), made.outcome.replace("_", " ")
    if made.finished:
        yield "good", "recording finished"
    else:
        yield "warn", "recording was cut off: the report shows what is in it"
    if made.dropped:
        yield "bad", f"{made.dropped} messages were not recorded"
    for name in _ALARMS:
        count = run.event_counts[name]
        if count:
            times = f" ({count} times)" if count > 1 else ""
            yield "bad", name.replace("_", " ") + times
    faults = run.event_counts["sensor_fault"]
    if faults:
        yield "warn", f"{faults} sensor fault{'s' if faults > 1 else ''}"
    if run.refused:
        yield "bad", f"{run.refused.total()} commands refused"
    bad = sum(
        count
        for topic in run.survey.topics.values()
        for health, count in topic.health.items()
        if health is not SensorHealth.OK
    )
    if bad:
        yield "warn", f"{bad} samples not ok"
    elif run.sensors:
        yield "good", "every sample ok"


def _tiles(run: Gathered) -> Iterator[tuple[str, str, str]]:
    survey = run.survey
    yield number(survey.duration_ns / 1e9), "s", "simulated time"
    yield f"{survey.count:,}".replace(",", "\u202f"), "", f"messages on {len(survey.topics)} topics"
    first_ns, last_ns = run.first_wall_ns, run.last_wall_ns
    if first_ns is not None and last_ns is not None and last_ns > first_ns:
        factor = survey.duration_ns / (last_ns - first_ns)
        yield number(factor, 3), "×", "real time"
    error = run.setpoint_error.moments
    if error.count[0]:
        yield number(float(error.rms[0]), 3), "m", "from the set-point, RMS"
    if run.max_tilt_deg is not None:
        yield number(run.max_tilt_deg, 3), "°", "largest tilt"
    if run.max_speed_mps is not None:
        yield number(run.max_speed_mps, 3), "m/s", "greatest speed"
        yield number(float(run.position.moments.high[2]), 3), "m", "greatest height"


def _made(made: Made, run: Gathered) -> Iterator[tuple[str, str]]:
    def known(name: str, value: str, *, code: bool = False) -> Iterator[tuple[str, str]]:
        if value:
            yield name, f"<code>{text(value)}</code>" if code else text(value)

    yield from known("vehicle", made.vehicle)
    yield from known("backend", made.backend)
    yield from known("seed", "" if made.seed is None else str(made.seed), code=True)
    yield from known("flown by", made.autopilot)
    if made.spec is not None:
        step, physics = made.spec.step_ns / 1e6, made.spec.physics_step_ns / 1e6
        yield from known("steps", f"{step:g} ms, physics {physics:g} ms")
    lockstep = ", ".join(
        f"{count} {name}" for name, count in run.lockstep.items() if name != "none"
    )
    yield from known("lockstep", lockstep)
    yield from known("digest", made.digest, code=True)
    yield from known("file", f"{Path(made.path).name}, {bytes_text(made.file_bytes)}")
    yield from known("written by", made.library)
    parts = [f"Ghost {made.ghost}" if made.ghost else "", made.platform]
    if made.python:
        parts.insert(1, f"Python {made.python}")
    yield from known("made on", ", ".join(part for part in parts if part))
    yield from known("libraries", ", ".join(f"{k} {v}" for k, v in made.packages.items()))
