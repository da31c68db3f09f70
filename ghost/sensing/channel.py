"""One simulated sensor: when it measures, what becomes of the reading, when it is published.

rate grid ▸ faults ▸ truth ▸ model (noise) ▸ drifting stamp ▸ latency ▸ frozen SensorSample
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from ghost.core import (
    BackendLost,
    Event,
    EventSeverity,
    EventSink,
    EventType,
    FaultSpec,
    JsonValue,
    SensorConfig,
)
from ghost.core.failures import traceback_text
from ghost.hal import SensorHealth, SensorMeta, SensorSample
from ghost.sensing.faults import NEVER_NS, FaultSchedule
from ghost.sensing.models import Reading, SensorModel
from ghost.sensing.provider import ChannelProvider
from ghost.sensing.streams import UniformLane

__all__ = ["NAN_ERROR", "Reader", "SensorChannel"]

Reader: TypeAlias = Callable[[], Any]
"""Returns the truth of this step (see `ghost.sensing.truth`), or None if there is none."""

NAN_ERROR = "injected fault: nan"

_OK = SensorHealth.OK
_FAULTY = SensorHealth.FAULTY

# due_ns, k, stamp_sensor_ns, reading
_Pending: TypeAlias = "tuple[int, int, int, Reading]"


class SensorChannel:
    """The pipeline of one sensor for one run. `run(now)` is called when `due_ns` is reached.

    **Rate.** Sample `k` (from 1) belongs to grid time `k·period`; it is captured on the first step
    at or after it and stamped with that step's time (D6). The grid is a fraction of integers, so it
    never drifts. Where one step passes several grid times only the last is captured. `seq` is
    `k − 1`: whatever is not published shows as a gap.

    **Latency.** A capture at T is published on the first step at or after T + latency (D21).
    Samples never overtake one another, also when a delay fault ends.
    """

    __slots__ = (
        "_blocked_until_ns",
        "_config",
        "_drift_den",
        "_drift_num",
        "_failing",
        "_fault_draws",
        "_faults",
        "_grid_ns",
        "_k",
        "_last",
        "_latency_ns",
        "_meta",
        "_model",
        "_on_event",
        "_pending",
        "_period_den",
        "_period_num",
        "_reader",
        "_sensor_id",
        "_wall_ns",
        "due_ns",
        "provider",
    )

    def __init__(
        self,
        config: SensorConfig,
        model: SensorModel,
        reader: Reader,
        provider: ChannelProvider,
        *,
        faults: FaultSchedule,
        fault_draws: UniformLane,
        on_event: EventSink,
        wall_ns: Callable[[], int],
    ) -> None:
        self.provider = provider
        self._sensor_id = config.id
        self._config = config
        self._model = model
        self._reader = reader
        self._faults = faults
        self._fault_draws = fault_draws
        self._on_event = on_event
        self._wall_ns = wall_ns
        self._meta = SensorMeta(config.frame, config.calibration_id)
        self._latency_ns = config.latency_ns
        # `str` gives the decimal that the file says, so that 0.1 Hz is 1/10 and not its binary
        # neighbour.
        period = 1_000_000_000 / Fraction(str(float(config.rate_hz)))
        self._period_num, self._period_den = period.numerator, period.denominator
        ppm = config.noise.clock_drift_ppm if config.noise else 0.0
        drift = Fraction(str(float(ppm))) / 1_000_000
        self._drift_num, self._drift_den = drift.numerator, drift.denominator
        self._pending: deque[_Pending] = deque()
        self._blocked_until_ns = 0
        self._last: Reading | None = None
        self._failing = False
        self._k = 1
        self._grid_ns = self._grid_time(1)
        self.due_ns = min(self._grid_ns, faults.next_edge_ns)

    def run(self, now_ns: int) -> int:
        """Do all that is due at this step; return how many samples were published.

        Raises `BackendLost` if the reader does, and nothing else.
        """
        published = 0
        faults = self._faults
        if now_ns >= faults.next_edge_ns:
            self._pass_edges(now_ns)
        if now_ns >= self._grid_ns:
            k = now_ns * self._period_den // self._period_num
            self._k = k + 1
            self._grid_ns = self._grid_time(k + 1)
            reading = self._capture(k, now_ns)
            if reading is not None:
                stamp = now_ns
                if self._drift_num:
                    stamp += now_ns * self._drift_num // self._drift_den
                wait_ns = self._latency_ns + faults.delay_ns
                if wait_ns or self._pending:
                    self._blocked_until_ns = max(self._blocked_until_ns, now_ns + wait_ns)
                    self._pending.append((self._blocked_until_ns, k, stamp, reading))
                else:
                    self._publish(now_ns, k, stamp, reading)
                    published = 1
        pending = self._pending
        while pending and pending[0][0] <= now_ns:
            _, k, stamp, reading = pending.popleft()
            self._publish(now_ns, k, stamp, reading)
            published += 1
        # Read again: a subscriber may have shut the backend down.
        due_ns = min(self._grid_ns, self._faults.next_edge_ns)
        if pending and pending[0][0] < due_ns:
            due_ns = pending[0][0]
        self.due_ns = due_ns
        return published

    def offline(self, now_ns: int, reason: str, *, silent: bool) -> None:
        """Fall silent for the rest of the run: the world is gone or was shut down (D23)."""
        self.due_ns = NEVER_NS
        self._grid_ns = NEVER_NS
        self._faults = FaultSchedule(())
        self._pending.clear()
        was_offline = self.provider.health is SensorHealth.OFFLINE
        self.provider.go_offline()
        if not silent and not was_offline:
            self._event(
                EventType.SENSOR_FAULT,
                now_ns,
                EventSeverity.ERROR,
                f"sensor {self._sensor_id} is offline: {reason}",
                {"kind": "offline", "injected": False, "reason": reason},
            )

    def _grid_time(self, k: int) -> int:
        """The first whole nanosecond at or after grid time k."""
        return -(-k * self._period_num // self._period_den)

    def _publish(self, now_ns: int, k: int, stamp_sensor_ns: int, reading: Reading) -> None:
        payload, note = reading
        health, meta = _OK, self._meta
        if note is not None:
            if isinstance(note, str):
                health, note = _FAULTY, {"error": note}
            meta = SensorMeta(meta.frame_id, meta.calibration_id, note)
        self.provider.publish(
            SensorSample(
                self._sensor_id,
                k - 1,
                stamp_sensor_ns,
                now_ns,
                self._wall_ns(),
                health,
                payload,
                meta,
            )
        )

    def _capture(self, k: int, now_ns: int) -> Reading | None:
        try:
            # The reader is called whatever the faults do, so that a world whose truth depends on
            # the last call (integrated flow) is the same after a fault as without it.
            truth = self._reader()
            if self._faults.any_active:
                return self._faulted(k, now_ns, truth)
            return self._measured(k, now_ns, truth)
        except BackendLost:
            raise
        except Exception as error:  # noqa: BLE001 - a failing sensor must not stop the loop
            if self._faults.offline:
                return None
            return self._failed(now_ns, error)

    def _measured(self, k: int, now_ns: int, truth: Any) -> Reading | None:
        if truth is None:
            return None
        reading = self._model.measure(k, truth)
        if self._failing:
            self._failing = False
            self._event(
                EventType.SENSOR_RECOVERED,
                now_ns,
                EventSeverity.INFO,
                f"sensor {self._sensor_id} measures again",
                {"kind": "exception", "injected": False},
            )
        if reading is not None:
            self._last = reading
        return reading

    def _faulted(self, k: int, now_ns: int, truth: Any) -> Reading | None:
        faults = self._faults
        if faults.offline:
            return None
        if faults.drop_ratio and self._fault_draws.at(k) < faults.drop_ratio:
            return None
        frozen = self._last if faults.freeze else None
        reading = frozen if frozen is not None else self._measured(k, now_ns, truth)
        if reading is None:
            return None
        if faults.nan:
            return self._model.invalid(), NAN_ERROR
        shift = faults.bias + faults.spike(k)
        if shift:
            return self._model.offset(reading[0], shift), reading[1]
        return reading

    def _failed(self, now_ns: int, error: Exception) -> Reading:
        text = f"{type(error).__name__}: {error}"
        if not self._failing:
            # Once when it begins, not for each sample (D18).
            self._failing = True
            self._event(
                EventType.SENSOR_FAULT,
                now_ns,
                EventSeverity.ERROR,
                f"sensor {self._sensor_id} failed to measure: {text}",
                {"kind": "exception", "injected": False, "traceback": traceback_text(error)},
            )
        return self._model.invalid(), text

    def _pass_edges(self, now_ns: int) -> None:
        was_offline = self._faults.offline
        for fault, begins in self._faults.advance(now_ns, self._k):
            self._fault_event(now_ns, fault, begins)
        if self._faults.offline:
            self._pending.clear()
            self.provider.go_offline()
        elif was_offline:
            self.provider.go_online()

    def _fault_event(self, now_ns: int, fault: FaultSpec, begins: bool) -> None:
        value = "" if fault.value is None else f" ({fault.value:g})"
        self._event(
            EventType.SENSOR_FAULT if begins else EventType.SENSOR_RECOVERED,
            now_ns,
            EventSeverity.WARN if begins else EventSeverity.INFO,
            f"sensor {self._sensor_id}: injected {fault.kind}{value} "
            + ("begins" if begins else "ends"),
            {"kind": fault.kind, "injected": True},
        )

    def _event(
        self,
        kind: EventType,
        now_ns: int,
        severity: EventSeverity,
        message: str,
        payload: dict[str, JsonValue],
    ) -> None:
        self._on_event(
            Event(
                type=kind,
                stamp_sim_ns=now_ns,
                severity=severity,
                source=f"sensors/{self._sensor_id}",
                message=message,
                payload={"sensor_id": self._sensor_id, **payload},
            )
        )
