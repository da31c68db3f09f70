"""What several runs of one scenario come to: each run, and how far apart they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ghost.core import BackendLost, GhostError
from ghost.runtime.result import Outcome, RunResult
from ghost.runtime.spread import Peak, PointSpread, Spread, Track, spread, spread_of_points
from ghost.runtime.track import ESTIMATE, TRUTH, TrackObserver

__all__ = ["REPEAT_FORMAT", "RepeatReport", "RunRecord"]

REPEAT_FORMAT = 1
"""Of the stored file; raised when a key changes its meaning."""
_BROKE_OFF = "error"
"""Outcome of a run that ended without an account: refused by the backend, or a broken contract."""
_END_S = 0.5
"""A last position older than this at the end of a run is not its final position."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """The path of a run by one source."""

    track: Track
    invalid: int
    """Positions that were no numbers."""
    whole: bool
    """It goes up to the end of the run."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One of the runs."""

    number: int
    """From 1."""
    outcome: str
    """A value of `Outcome`, or `error`."""
    failed: bool
    """It did not reach its end, or the flight went wrong."""
    error: str
    """What went wrong, in words; empty if nothing did."""
    result: RunResult | None
    """None if the run did not come to an account."""
    setup_s: float
    """Host time of making and resetting the backend."""
    began_ns: int | None
    """What the clock showed at the run's start; None if it did not begin."""
    deterministic: bool
    """What the backend says of itself."""
    seen: Mapping[str, _Seen]

    @classmethod
    def of(
        cls,
        number: int,
        result: RunResult | None,
        error: GhostError | None,
        watch: TrackObserver,
        setup_s: float,
    ) -> RunRecord:
        """Put together what is known of a run that is over."""
        if error is not None:
            outcome = Outcome.BACKEND_LOST.value if isinstance(error, BackendLost) else _BROKE_OFF
            text = str(error) or type(error).__name__
        else:
            assert result is not None
            outcome = result.outcome.value
            text = result.trouble or result.error
        return cls(
            number=number,
            outcome=outcome,
            failed=error is not None
            or result is None
            or result.failed
            or result.outcome is Outcome.BACKEND_LOST,
            error=text,
            result=result,
            setup_s=setup_s,
            began_ns=watch.began_ns,
            deterministic=watch.capabilities is not None and watch.capabilities.deterministic,
            seen={source: _Seen(*path.track()) for source, path in watch.paths.items()},
        )

    @property
    def whole(self) -> bool:
        """The run came to its end, whatever came of the flight."""
        return self.outcome in (Outcome.COMPLETED.value, Outcome.REFUSED.value)

    def final_pos_enu_m(self, source: str) -> tuple[float, float, float] | None:
        """Position at the end of a run that came to it, by a source; None if it is not known."""
        seen, result = self.seen.get(source), self.result
        if not self.whole or result is None or seen is None or not seen.whole:
            return None
        if seen.track.t_ns[-1] * 1e-9 < result.sim_time_s - _END_S:
            return None
        x, y, z = seen.track.pos_enu_m[-1].tolist()
        return (x, y, z)

    def to_json(self, source: str) -> dict[str, Any]:
        """Return it as plain data."""
        result = self.result
        lockstep = None if result is None else result.lockstep
        final = self.final_pos_enu_m(source)
        return {
            "run": self.number,
            "outcome": self.outcome,
            "failed": self.failed,
            "error": self.error or None,
            "sim_time_s": None if result is None else result.sim_time_s,
            "wall_time_s": None if result is None else result.wall_time_s,
            "real_time_factor": None if result is None else result.real_time_factor,
            "setup_time_s": self.setup_s,
            "steps": None if result is None else result.steps,
            "digest": None if result is None else result.digest,
            "final_pos_enu_m": None if final is None else list(final),
            "points": len(self.seen[source].track) if source in self.seen else 0,
            "lockstep": None if lockstep is None else dict(lockstep),
        }


@dataclass(frozen=True)
class RepeatReport:
    """The account of the runs that were made. Numbers of runs count from 1 everywhere."""

    scenario: str
    backend: str
    seed: int
    asked: int
    """How many runs were asked for."""
    reused: bool
    """One backend was reset for each run, instead of a new one each time."""
    interrupted: bool
    period_ns: int
    """Time between compared positions."""
    records: tuple[RunRecord, ...]

    @cached_property
    def source(self) -> str:
        """Where positions come from: `truth`, `estimate` where there is none, or empty."""
        for source in (TRUTH, ESTIMATE):
            if any(len(record.seen[source].track) for record in self.records):
                return source
        return ""

    @cached_property
    def compared(self) -> tuple[RunRecord, ...]:
        """The runs that have a trajectory."""
        source = self.source
        return tuple(r for r in self.records if source and len(r.seen[source].track))

    @cached_property
    def spread(self) -> Spread:
        """The spread over time; its indices are those of `compared`."""
        return spread([r.seen[self.source].track for r in self.compared], self.period_ns)

    @cached_property
    def ended(self) -> tuple[RunRecord, ...]:
        """The runs whose position at the scenario's end is known."""
        return tuple(r for r in self.records if r.final_pos_enu_m(self.source) is not None)

    @cached_property
    def final(self) -> PointSpread | None:
        """The spread of the final positions; its indices are those of `ended`."""
        points = [r.final_pos_enu_m(self.source) for r in self.ended]
        return spread_of_points([point for point in points if point is not None])

    @cached_property
    def digests(self) -> dict[str, tuple[int, ...]]:
        """The runs that came to their end, by digest, in the order of first appearance."""
        found: dict[str, list[int]] = {}
        for record in self.records:
            if record.whole and record.result is not None:
                found.setdefault(record.result.digest, []).append(record.number)
        return {digest: tuple(runs) for digest, runs in found.items()}

    @property
    def max_distance_m(self) -> float | None:
        """The greatest distance between any two runs at one time, the end included."""
        position, final = self.spread.position, self.final
        found = [position.greatest] if position is not None else []
        found += [final.max_distance_m] if final is not None else []
        return max(found, default=None)

    @property
    def failed(self) -> tuple[RunRecord, ...]:
        """The runs that went wrong."""
        return tuple(record for record in self.records if record.failed)

    @property
    def all_lost(self) -> bool:
        """The backend was lost in every run."""
        lost = Outcome.BACKEND_LOST.value
        return bool(self.records) and all(record.outcome == lost for record in self.records)

    def within(self, tolerance_m: float) -> bool:
        """Tell whether no two runs were ever further apart; False if nothing could be compared."""
        distance = self.max_distance_m
        return distance is not None and distance <= tolerance_m

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What must be known to read the figures, one line each."""
        return tuple(dict.fromkeys(self._notes()))

    def to_json(self, tolerance_m: float | None = None) -> dict[str, Any]:
        """Return the account as plain data; what is not known is None."""
        shown, final = self.spread, self.final
        digests = self.digests
        return {
            "scenario": self.scenario,
            "backend": self.backend,
            "seed": self.seed,
            "runs_asked": self.asked,
            "runs_made": len(self.records),
            "runs_failed": [record.number for record in self.failed],
            "reused": self.reused,
            "interrupted": self.interrupted,
            "source": self.source or None,
            "digests": {
                "compared": sum(map(len, digests.values())),
                "distinct": len(digests),
                "runs": [list(runs) for runs in digests.values()],
            },
            "final_position": None
            if final is None
            else {
                "runs": [record.number for record in self.ended],
                "mean_enu_m": list(final.mean_m),
                "std_enu_m": list(final.std_m),
                "max_distance_m": final.max_distance_m,
                "between": [self.ended[at].number for at in final.pair],
            },
            "trajectory": {
                "runs": [record.number for record in self.compared],
                "period_s": self.period_ns / 1e9,
                "together_s": shown.together_s,
                "position_m": self._peak(shown.position),
                "attitude_deg": self._peak(shown.attitude),
            },
            "tolerance_m": tolerance_m,
            "within_tolerance": None if tolerance_m is None else self.within(tolerance_m),
            "notes": list(self.notes),
            "runs": [record.to_json(self.source) for record in self.records],
        }

    def to_file(self, tolerance_m: float | None = None) -> dict[str, Any]:
        """Return what is stored: `to_json`, and the spread over time."""
        shown = self.spread
        return {
            "ghost_repeat": REPEAT_FORMAT,
            **self.to_json(tolerance_m),
            "spread": {
                "t_s": shown.t_s.tolist(),
                "runs_present": shown.present.tolist(),
                "distance_m": _plain(shown.distance_m),
                "angle_deg": _plain(shown.angle_deg),
            },
        }

    def _peak(self, peak: Peak | None) -> dict[str, Any] | None:
        if peak is None:
            return None
        return {
            "max": peak.greatest,
            "at_s": peak.at_s,
            "between": [self.compared[at].number for at in peak.pair],
            "rms": peak.rms,
        }

    def _notes(self) -> Iterator[str]:
        made, asked = len(self.records), self.asked
        if made < asked:
            yield f"{made} of {asked} runs were made"
        for record in self.records:
            yield from record.result.notes if record.result is not None else ()
        if self.source == ESTIMATE:
            yield (
                "this backend has no ground truth: positions are the autopilot's own estimate, "
                "and its error is in the spread"
            )
        yield from self._notes_about_lengths()
        distinct = len(self.digests)
        if distinct > 1:
            if any(record.deterministic for record in self.records):
                yield "the backend says it is deterministic, but the digests differ"
            if self.max_distance_m == 0.0:
                yield (
                    "the trajectories are equal to the last bit; what differs is in the samples "
                    "or the acks ('ghost run --record' and 'ghost diff' show it)"
                )

    def _notes_about_lengths(self) -> Iterator[str]:
        source = self.source
        if len(self.compared) < 2:
            yield "fewer than two runs have a trajectory: there is nothing to compare"
        elif self.spread.position is None:
            yield "there is no time at which two runs have a position: nothing is compared"
        lengths = [int(r.seen[source].track.t_ns[-1]) for r in self.compared]
        for record, length in zip(self.compared, lengths, strict=True):
            if length < max(lengths):
                yield (
                    f"run {record.number} has positions up to {length / 1e9:.3f} s "
                    f"({record.outcome.replace('_', ' ')}): it is compared as far as that"
                )
            if record.seen[source].invalid:
                yield (
                    f"run {record.number}: {record.seen[source].invalid} positions are no finite "
                    "numbers and are left out"
                )
            late_ns = int(record.seen[source].track.t_ns[0])
            if source == TRUTH and late_ns > 10 * self.period_ns:
                yield (
                    f"run {record.number}: its first position is {late_ns / 1e9:.3f} s after its "
                    "start; did the reset set the clock back?"
                )
        for record in self.records:
            if record not in self.compared and source:
                yield f"run {record.number} has no trajectory ({record.outcome.replace('_', ' ')})"


def _plain(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[float | None]:
    """Numbers for JSON, which has no NaN."""
    return [value if np.isfinite(value) else None for value in values.tolist()]
