"""One pass over a recording for the report; memory does not grow with its length."""

from __future__ import annotations

import math
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ghost.core import Event, ScenarioSpec
from ghost.hal import (
    ActuatorLevel,
    AltimeterPayload,
    BarometerPayload,
    CommandAck,
    CommandRecord,
    DepthImagePayload,
    EventCameraPayload,
    GpsPayload,
    GroundTruth,
    IMUPayload,
    MagnetometerPayload,
    MavlinkTraffic,
    OpticalFlowPayload,
    PointCloudPayload,
    RGBImagePayload,
    SensorHealth,
    SensorSample,
    StateEstimate,
    StepReport,
)
from ghost.hal.frames import q_rotate_array, q_to_rpy
from ghost.report.estimate import EstimateLog
from ghost.report.expected import Measure, Place, measures_of
from ghost.report.mavlink import MavlinkLog
from ghost.report.pictures import MAX_POINTS, Cloud, Frame, Sampled, shrunk
from ghost.report.series import Series
from ghost.report.survey import Survey, TopicSurvey
from ghost.report.truth import TruthState, TruthTrack

__all__ = ["CommandLog", "Gathered", "Gatherer", "MeasureLog", "SensorLog", "Span", "gather"]

_FAR = 1e12
"""A pose beyond it (or NaN) is none: nothing is compared with it."""
_MAX_EVENTS = 400
_MAX_SPANS = 400
_MAX_WAITING = 2_000
"""Samples that wait for the truth at their capture; it comes in the same step."""
_OLDEST_NS = 2_500_000_000
"""A capture that lies further back than this is not compared: the sensor's clock is elsewhere."""


@dataclass(slots=True)
class MeasureLog:
    """One measured quantity, what it should have been, and what lies between."""

    measure: Measure
    measured: Series
    expected: Series | None = None
    residual: Series | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time in which a sensor had one health, or was silent (`health` None)."""

    start_ns: int
    end_ns: int
    health: SensorHealth | None


@dataclass(slots=True)
class SensorLog:
    """All that is drawn of one sensor."""

    sensor_id: str
    topic: str
    kind: str
    survey: TopicSurvey
    place: Place
    nominal_hz: float | None
    measures: list[MeasureLog]
    rank: int = 0
    """Place of its kind in `Gathered.ordered`."""
    interval: Series = field(default_factory=lambda: Series(1))
    """Time between samples, s."""
    latency: Series = field(default_factory=lambda: Series(1))
    """Publication after capture, s, as the sensor's clock says."""
    spans: list[Span] = field(default_factory=list)
    frames: Sampled[Frame] | None = None
    clouds: Sampled[Cloud] | None = None
    _last_ns: int | None = None

    def silence_ns(self) -> int:
        """How long a pause between two samples must be to count as one."""
        rate = self.nominal_hz or self.survey.rate_hz or 10.0
        return int(2.6e9 / rate)

    def mark(self, stamp_ns: int, health: SensorHealth) -> None:
        """Draw the sample's health into the time line."""
        spans, last_ns = self.spans, self._last_ns
        self._last_ns = stamp_ns
        if len(spans) >= _MAX_SPANS:
            return
        if last_ns is not None and spans:
            pause = stamp_ns - last_ns
            self.interval.add(stamp_ns, (pause * 1e-9,))
            if pause > self.silence_ns():
                spans.append(Span(last_ns, stamp_ns, None))
                spans.append(Span(stamp_ns, stamp_ns, health))
                return
        if spans and spans[-1].health is health:
            spans[-1] = Span(spans[-1].start_ns, stamp_ns, health)
        else:
            start = stamp_ns if last_ns is None else last_ns
            spans.append(Span(start, stamp_ns, health))


@dataclass(slots=True)
class CommandLog:
    """Commands of one level."""

    level: ActuatorLevel
    labels: tuple[str, ...]
    unit: str
    series: Series
    extra: Series
    """The scalar beside the vector: yaw, yaw rate, collective."""
    extra_label: str
    extra_unit: str


@dataclass(slots=True)
class Gathered:
    """The whole run, small enough to draw."""

    survey: Survey = field(default_factory=Survey)
    position: Series = field(default_factory=lambda: Series(3))
    attitude: Series = field(default_factory=lambda: Series(3))
    """Roll, pitch, yaw, degrees; yaw without jumps."""
    velocity: Series = field(default_factory=lambda: Series(3))
    rate: Series = field(default_factory=lambda: Series(3))
    motors: Series | None = None
    commands: dict[ActuatorLevel, CommandLog] = field(default_factory=dict)
    setpoint_error: Series = field(default_factory=lambda: Series(1))
    """Distance from the commanded position, m."""
    estimate: EstimateLog | None = None
    mavlink: dict[str, MavlinkLog] = field(default_factory=dict)
    """By topic."""
    sensors: dict[str, SensorLog] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    event_counts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    accepted: int = 0
    lockstep: Counter[str] = field(default_factory=Counter)
    pace: Series = field(default_factory=lambda: Series(1))
    """Simulated seconds to host seconds since the first sample, as (stamp, host s)."""
    max_tilt_deg: float | None = None
    max_speed_mps: float | None = None
    first_wall_ns: int | None = None
    last_wall_ns: int | None = None

    def ordered(self) -> list[SensorLog]:
        """Sensors in the order of their kinds (IMU first, cameras and LiDAR last), then by name."""
        return sorted(self.sensors.values(), key=lambda log: (log.rank, log.sensor_id))


_ORDER = (
    IMUPayload,
    GpsPayload,
    BarometerPayload,
    AltimeterPayload,
    MagnetometerPayload,
    OpticalFlowPayload,
    RGBImagePayload,
    DepthImagePayload,
    PointCloudPayload,
    EventCameraPayload,
)


class Gatherer:
    """Feed it every message in order, then `finish`."""

    def __init__(self, spec: ScenarioSpec | None = None) -> None:
        self._spec = spec
        self._out = Gathered()
        self._truth = TruthTrack()
        self._waiting: deque[tuple[int, SensorLog, SensorSample[Any]]] = deque()
        self._yaw = 0.0
        self._target: tuple[float, float, float] | None = None
        self._has_truth = False

    def add(self, topic: str, stamp_ns: int, message: Any) -> None:
        """Take one message."""
        account = self._out.survey.add(topic, stamp_ns, message)
        if isinstance(message, SensorSample):
            self._sample(account, topic, stamp_ns, message)
        elif isinstance(message, GroundTruth):
            self._ground_truth(message)
        elif isinstance(message, CommandRecord):
            self._command(message)
        elif isinstance(message, CommandAck):
            if message.accepted:
                self._out.accepted += 1
            else:
                self._out.refused[message.reason.name] += 1
        elif isinstance(message, Event):
            self._out.event_counts[message.type.value] += 1
            if len(self._out.events) < _MAX_EVENTS:
                self._out.events.append(message)
        elif isinstance(message, StepReport):
            self._out.lockstep[message.lockstep.value] += 1
        elif isinstance(message, StateEstimate):
            if self._out.estimate is None:
                self._out.estimate = EstimateLog()
            self._out.estimate.add(message, self._truth)
        elif isinstance(message, MavlinkTraffic):
            log = self._out.mavlink.get(topic)
            if log is None:
                log = self._out.mavlink[topic] = MavlinkLog(topic)
            log.add(message)

    def finish(self) -> Gathered:
        """Return what was gathered; samples that wait for a later truth are left out of it."""
        self._compare(final=True)
        return self._out

    def _sample(
        self, account: TopicSurvey, topic: str, stamp_ns: int, sample: SensorSample[Any]
    ) -> None:
        log = self._out.sensors.get(topic)
        if log is None:
            log = self._out.sensors[topic] = self._begin(account, topic, sample)
        log.mark(stamp_ns, sample.health)
        delay_ns = sample.stamp_sim_ns - sample.stamp_sensor_ns
        log.latency.add(stamp_ns, (delay_ns * 1e-9,))
        wall_ns = sample.stamp_wall_ns
        out = self._out
        if out.first_wall_ns is None:
            out.first_wall_ns = wall_ns
        out.last_wall_ns = wall_ns
        out.pace.add(stamp_ns, ((wall_ns - out.first_wall_ns) * 1e-9,))
        for item in log.measures:
            item.measured.add(stamp_ns, item.measure.take(sample.payload))
        if log.frames is not None and log.frames.wants():
            log.frames.keep(Frame(stamp_ns, shrunk(sample.payload)))
        elif log.frames is not None:
            log.frames.pass_by()
        capture_ns = sample.stamp_sensor_ns
        if not 0 <= stamp_ns - capture_ns < _OLDEST_NS:
            capture_ns = stamp_ns
        compares = log.clouds is not None or any(m.residual is not None for m in log.measures)
        if compares and len(self._waiting) < _MAX_WAITING:
            self._waiting.append((capture_ns, log, sample))

    def _begin(self, account: TopicSurvey, topic: str, sample: SensorSample[Any]) -> SensorLog:
        payload = type(sample.payload)
        measures = []
        for measure in measures_of(payload):
            width = len(measure.labels)
            compared = measure.expected is not None
            measures.append(
                MeasureLog(
                    measure,
                    Series(width),
                    Series(width) if compared else None,
                    Series(width) if compared else None,
                )
            )
        nominal = None
        if self._spec is not None:
            for sensor in self._spec.vehicle.sensors:
                if sensor.id == sample.sensor_id:
                    nominal = sensor.rate_hz
        picture = payload in (RGBImagePayload, DepthImagePayload)
        return SensorLog(
            sample.sensor_id,
            topic,
            account.kind,
            account,
            Place.of(self._spec, sample.sensor_id),
            nominal,
            measures,
            rank=_ORDER.index(payload) if payload in _ORDER else len(_ORDER),
            frames=Sampled(12) if picture else None,
            clouds=Sampled(12) if payload is PointCloudPayload else None,
        )

    def _ground_truth(self, truth: GroundTruth) -> None:
        out, stamp_ns = self._out, truth.stamp_sim_ns
        pose = truth.pos_enu_m.tolist() + truth.q_enu_flu.tolist()
        if not all(abs(value) < _FAR for value in pose):
            out.position.add(stamp_ns, (math.nan,) * 3)
            return
        state = self._truth.add(truth)
        out.position.add(stamp_ns, state.pos)
        out.velocity.add(stamp_ns, state.vel)
        out.rate.add(stamp_ns, tuple(math.degrees(w) for w in state.rate))
        roll, pitch, yaw = q_to_rpy(state.q)
        # Unwrapped: a turn through 180° is no jump.
        if math.isfinite(yaw):
            self._yaw += math.remainder(yaw - self._yaw, 2.0 * math.pi)
        out.attitude.add(
            stamp_ns, (math.degrees(roll), math.degrees(pitch), math.degrees(self._yaw))
        )
        _, x, y, _ = state.q
        tilt = math.degrees(math.acos(max(-1.0, min(1.0, 1.0 - 2.0 * (x * x + y * y)))))
        if out.max_tilt_deg is None or tilt > out.max_tilt_deg:
            out.max_tilt_deg = tilt
        speed = math.hypot(*state.vel)
        if out.max_speed_mps is None or speed > out.max_speed_mps:
            out.max_speed_mps = speed
        motors = truth.motor_rps.tolist()
        if motors:
            if out.motors is None:
                out.motors = Series(len(motors))
            if len(motors) == out.motors.width:
                out.motors.add(stamp_ns, tuple(motors))
        if self._target is not None:
            out.setpoint_error.add(stamp_ns, (math.dist(self._target, state.pos),))
        self._compare()

    def _compare(self, *, final: bool = False) -> None:
        """Hold samples against the truth at their capture, as soon as it is known."""
        if self._out.estimate is not None:
            self._out.estimate.compare(self._truth, final=final)
        last_ns = self._truth.last_ns
        waiting = self._waiting
        if last_ns is None and not final:
            return
        for _ in range(len(waiting)):
            capture_ns, log, sample = waiting.popleft()
            if last_ns is None or capture_ns > last_ns:
                if not final:
                    waiting.append((capture_ns, log, sample))
                continue
            truth = self._truth.at(capture_ns)
            if truth is not None:
                self._residual(log, sample, truth)

    def _residual(self, log: SensorLog, sample: SensorSample[Any], at: TruthState) -> None:
        stamp_ns = sample.stamp_sim_ns
        for item in log.measures:
            measure = item.measure
            if measure.expected is None or item.expected is None or item.residual is None:
                continue
            truth: TruthState | None = at
            if measure.lag_ns is not None:
                truth = self._truth.at(at.stamp_ns - measure.lag_ns(sample.payload))
            if truth is None:
                continue
            wanted = measure.expected(truth, log.place, sample.payload)
            if wanted is not None and all(map(math.isfinite, wanted)):
                item.expected.add(stamp_ns, wanted)
                got = measure.take(sample.payload)
                off = tuple([a - b for a, b in zip(got, wanted, strict=True)])
                item.residual.add(stamp_ns, off)
        if log.clouds is not None:
            if log.clouds.wants():
                pos, q = log.place.pose(at)
                points = sample.payload.points_m
                points = points[:: max(1, -(-len(points) // MAX_POINTS))].astype(np.float64)
                world = q_rotate_array(np.array(q), points) + np.array(pos)
                log.clouds.keep(Cloud(stamp_ns, world, pos))
            else:
                log.clouds.pass_by()

    def _command(self, record: CommandRecord) -> None:
        command: Any = record.command
        level = command.level
        log = self._out.commands.get(level)
        vector, extra = _numbers(command)
        if log is None:
            log = self._out.commands[level] = _command_log(level, len(vector))
        if len(vector) == log.series.width:
            log.series.add(record.stamp_sim_ns, vector)
        log.extra.add(record.stamp_sim_ns, (extra,))
        self._target = (
            (vector[0], vector[1], vector[2]) if level is ActuatorLevel.POSITION else None
        )


def gather(rows: Any, spec: ScenarioSpec | None = None) -> Gathered:
    """Take a whole stream of (topic, stamp_ns, sequence, message)."""
    gatherer = Gatherer(spec)
    for topic, stamp_ns, _sequence, message in rows:
        gatherer.add(topic, stamp_ns, message)
    return gatherer.finish()


def _numbers(command: Any) -> tuple[tuple[float, ...], float]:
    level = command.level
    if level is ActuatorLevel.POSITION:
        return tuple(command.pos_enu_m.tolist()), math.degrees(command.yaw_rad)
    if level is ActuatorLevel.VELOCITY:
        return tuple(command.vel_enu_mps.tolist()), math.degrees(command.yaw_rate_rps)
    if level is ActuatorLevel.ATTITUDE:
        w, x, y, z = command.q_enu_flu.tolist()
        rpy = q_to_rpy((w, x, y, z))
        return tuple(math.degrees(angle) for angle in rpy), command.collective
    if level is ActuatorLevel.BODY_RATE:
        return tuple(math.degrees(w) for w in command.rate_flu_rps.tolist()), command.collective
    thrust = tuple(command.thrust.tolist())
    return thrust, sum(thrust) / max(1, len(thrust))


_COMMANDS = {
    ActuatorLevel.POSITION: (("east", "north", "up"), "m", "yaw", "°"),
    ActuatorLevel.VELOCITY: (("east", "north", "up"), "m/s", "yaw rate", "°/s"),
    ActuatorLevel.ATTITUDE: (("roll", "pitch", "yaw"), "°", "collective", "of 1"),
    ActuatorLevel.BODY_RATE: (("x", "y", "z"), "°/s", "collective", "of 1"),
}


def _command_log(level: ActuatorLevel, width: int) -> CommandLog:
    motors = tuple(f"motor {n}" for n in range(1, width + 1))
    labels, unit, extra, extra_unit = _COMMANDS.get(level, (motors, "of 1", "mean", "of 1"))
    return CommandLog(level, labels, unit, Series(width), Series(1), extra, extra_unit)
