"""Running a scenario many times over: what is kept, what is compared, and what goes wrong."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ghost.core import (
    ConfigError,
    ContractViolation,
    Envelope,
    MessageBus,
    ScenarioSpec,
    TakeOff,
)
from ghost.hal import GroundTruth, StateEstimate, StepReport
from ghost.runtime import MAX_RUNS, Repeater, RepeatReport, RunInfo, RunRecord
from ghost.runtime.track import Path, period_of

Maker = Callable[..., Any]
PLAN = (TakeOff(1.0),)
MS = 1_000_000


def repeated(make: Callable[[], Any], scenario: ScenarioSpec, **options: Any) -> RepeatReport:
    options.setdefault("runs", 3)
    return Repeater(make, scenario, backend_name="point", **options).execute()


class Worlds:
    """Makes the worlds of a series: the first from the first set of options, and so on."""

    def __init__(self, make_world: Maker, *options: dict[str, Any]) -> None:
        self._make = make_world
        self._options = list(options)
        self.made: list[Any] = []

    def __call__(self) -> Any:
        options = self._options[min(len(self.made), len(self._options) - 1)]
        self.made.append(self._make(**options))
        return self.made[-1]


def shifted(make_world: Maker, *shifts: tuple[float, float, float]) -> Callable[[], Any]:
    """Worlds whose truth lies beside where they say they are."""
    worlds = Worlds(make_world, {})

    def make() -> Any:
        world = worlds()
        by = np.array(shifts[len(worlds.made) - 1])
        truth_of = world.ground_truth

        def ground_truth() -> GroundTruth:
            truth: GroundTruth = truth_of()
            return replace(truth, pos_enu_m=truth.pos_enu_m + by)

        world.ground_truth = ground_truth
        return world

    return make


@pytest.mark.parametrize("reuse", [False, True])
def test_a_deterministic_world_repeats_itself_exactly(
    make_world: Maker, make_scenario: Maker, reuse: bool
) -> None:
    worlds = Worlds(make_world, {})
    report = repeated(worlds, make_scenario(*PLAN, duration_s=3.0), reuse=reuse, runs=4)
    assert len(worlds.made) == (1 if reuse else 4)
    assert all(world.shut_down == 1 for world in worlds.made)
    assert list(report.digests.values()) == [(1, 2, 3, 4)]
    assert report.max_distance_m == 0.0
    assert report.spread.position is not None
    assert report.spread.position.greatest == report.spread.position.rms == 0.0
    assert report.spread.attitude is not None
    assert report.spread.attitude.greatest == 0.0
    assert report.final is not None
    assert report.final.std_m == (0.0, 0.0, 0.0)
    assert report.source == "truth"
    assert report.within(0.0)
    assert report.notes == ()
    assert [record.outcome for record in report.records] == ["completed"] * 4


def test_worlds_that_lie_apart(make_world: Maker, make_scenario: Maker) -> None:
    make = shifted(make_world, (0.0, 0.0, 0.0), (0.0, 0.3, 0.4), (0.0, 0.0, 0.1))
    report = repeated(make, make_scenario(duration_s=1.0))
    assert report.final is not None
    assert report.final.max_distance_m == pytest.approx(0.5)
    assert report.final.pair == (0, 1)
    assert report.final.mean_m == pytest.approx((0.0, 0.1, 0.5 / 3))
    assert report.spread.position is not None
    assert report.spread.position.rms == pytest.approx(0.5)
    assert report.spread.position.at_s == 0.0
    assert not report.within(0.49)
    assert report.within(0.51)
    assert len(report.digests) == 3
    assert "deterministic" in report.notes[0]


def test_time_counts_from_the_start_of_each_run(make_world: Maker, make_scenario: Maker) -> None:
    """An autopilot boots first, and not always for the same time."""
    worlds = Worlds(make_world, {})

    def make() -> Any:
        world = worlds()
        reset, warm_up_ns = world.reset, len(worlds.made) * 300 * MS

        def warm_reset(scenario: ScenarioSpec, seed: int) -> None:
            reset(scenario, seed)
            world.clock.advance(warm_up_ns)

        world.reset = warm_reset
        return world

    report = repeated(make, make_scenario(*PLAN, duration_s=2.0))
    assert [record.began_ns for record in report.records] == [300 * MS, 600 * MS, 900 * MS]
    assert report.spread.t_s[0] == 0.0
    assert report.spread.t_s[-1] == pytest.approx(2.0)
    assert report.spread.present.tolist() == [3] * len(report.spread.t_s)
    # 1e-9 of the height: the commands fall due at stamps that round differently.
    assert report.max_distance_m == pytest.approx(0.0, abs=1e-9)
    assert len(report.digests) == 3  # the stamps are in it


def test_a_lost_world_is_part_of_the_account(make_world: Maker, make_scenario: Maker) -> None:
    worlds = Worlds(make_world, {}, {"lost_at_step": 100}, {})
    report = repeated(worlds, make_scenario(*PLAN, duration_s=2.0), runs=4)
    assert [r.outcome for r in report.records] == [
        "completed",
        "backend_lost",
        "completed",
        "completed",
    ]
    assert [r.number for r in report.failed] == [2]
    assert report.failed[0].error == "the test pulled the plug"
    assert [r.number for r in report.compared] == [1, 2, 3, 4]
    assert [r.number for r in report.ended] == [1, 3, 4]
    assert list(report.digests.values()) == [(1, 3, 4)]
    assert report.spread.together_s == pytest.approx(0.396)
    assert any("run 2 has positions up to 0.396 s (backend lost)" in n for n in report.notes)
    assert not report.all_lost
    assert all(world.shut_down == 1 for world in worlds.made)


def test_a_lost_world_recovers_by_reset(make_world: Maker, make_scenario: Maker) -> None:
    steps: list[int] = []

    def on_step(_: int) -> None:
        steps.append(0)
        world._lost_at = 100 if len(steps) == 100 else None

    world = make_world(on_step=on_step)
    report = repeated(lambda: world, make_scenario(*PLAN, duration_s=1.0), reuse=True)
    assert [r.outcome for r in report.records] == ["backend_lost", "completed", "completed"]
    assert world.shut_down == 1


def test_all_lost(make_world: Maker, make_scenario: Maker) -> None:
    worlds = Worlds(make_world, {"lost_at_step": 1})
    report = repeated(worlds, make_scenario(*PLAN))
    assert report.all_lost
    # Each knows where it stood before its first step, and nothing more.
    assert report.max_distance_m == 0.0
    assert report.final is None
    assert report.digests == {}


def test_a_crash_is_a_failed_run_that_is_compared(make_world: Maker, make_scenario: Maker) -> None:
    worlds = Worlds(make_world, {"crash_at_step": 10}, {})
    report = repeated(worlds, make_scenario(*PLAN, duration_s=2.0))
    assert [(r.number, r.error) for r in report.failed] == [(1, "the vehicle crashed")]
    assert [r.number for r in report.ended] == [1, 2, 3]


def test_what_the_first_run_cannot_do_none_can(make_world: Maker, make_scenario: Maker) -> None:
    def refuse() -> Any:
        raise ConfigError("the port is taken")

    with pytest.raises(ConfigError, match="the port is taken"):
        repeated(refuse, make_scenario(*PLAN))
    worlds = Worlds(make_world, {})

    def later() -> Any:
        if len(worlds.made) == 1:
            worlds.made.append(None)
            raise ConfigError("the port is taken")
        return worlds()

    report = repeated(later, make_scenario(*PLAN, duration_s=0.2))
    assert [r.outcome for r in report.records] == ["completed", "error", "completed"]
    assert report.failed[0].error == "the port is taken"
    assert "run 2 has no trajectory (error)" in report.notes


def test_a_broken_contract_ends_that_run_only(make_world: Maker, make_scenario: Maker) -> None:
    def broken(step: int) -> None:
        if step == 5:
            raise ContractViolation("no such thing")

    worlds = Worlds(make_world, {}, {"on_step": broken}, {})
    report = repeated(worlds, make_scenario(*PLAN, duration_s=0.2))
    assert [r.outcome for r in report.records] == ["completed", "error", "completed"]
    assert report.records[1].result is None
    assert len(report.compared) == 3
    assert worlds.made[1].shut_down == 1


def test_a_bug_leaves_the_account_of_the_runs_before(
    make_world: Maker, make_scenario: Maker
) -> None:
    def bug(step: int) -> None:
        if step == 5:
            raise ZeroDivisionError("a bug")

    worlds = Worlds(make_world, {}, {}, {"on_step": bug})
    repeater = Repeater(worlds, make_scenario(*PLAN, duration_s=0.2), runs=5)
    with pytest.raises(ZeroDivisionError):
        repeater.execute()
    assert len(repeater.report().records) == 2
    assert repeater.report().final is not None
    assert [world.shut_down for world in worlds.made] == [1, 1, 1]


@pytest.mark.parametrize("how", ["stop", "insist"])
def test_an_interrupted_series(make_world: Maker, make_scenario: Maker, how: str) -> None:
    def interrupt(step: int) -> None:
        if step == 20:
            if how == "insist":
                raise KeyboardInterrupt
            repeater.stop()

    worlds = Worlds(make_world, {}, {}, {"on_step": interrupt})
    repeater = Repeater(worlds, make_scenario(*PLAN, duration_s=0.2), runs=9)
    report = repeater.execute()
    assert report.interrupted
    assert [r.outcome for r in report.records] == ["completed", "completed", "interrupted"]
    assert report.notes[0] == "3 of 9 runs were made"
    assert not report.failed
    assert report.max_distance_m == 0.0
    assert len(worlds.made) == 3


def test_interrupted_in_a_reset(make_world: Maker, make_scenario: Maker) -> None:
    def insist(_scenario: ScenarioSpec, _seed: int) -> None:
        raise KeyboardInterrupt

    worlds = Worlds(make_world, {})

    def make() -> Any:
        world = worlds()
        if len(worlds.made) == 3:
            world.reset = insist
        return world

    report = repeated(make, make_scenario(*PLAN, duration_s=0.2), runs=5)
    assert report.interrupted
    assert len(report.records) == 2
    assert worlds.made[2].shut_down == 1


def test_interrupted_between_runs(make_world: Maker, make_scenario: Maker) -> None:
    def after(record: RunRecord) -> None:
        if record.number == 2:
            repeater.stop()

    repeater = Repeater(
        Worlds(make_world, {}), make_scenario(*PLAN, duration_s=0.2), runs=5, on_end=after
    )
    report = repeater.execute()
    assert report.interrupted
    assert [r.outcome for r in report.records] == ["completed", "completed"]


class Estimator:
    """Publishes what an autopilot might believe: a little more with each run."""

    def __init__(self) -> None:
        self.runs = 0

    def attach(self, bus: MessageBus, info: RunInfo) -> None:  # noqa: ARG002 - RunObserver
        self.runs += 1
        offset = 0.1 * self.runs

        def believe(envelope: Envelope) -> None:
            assert isinstance(envelope.payload, StepReport)
            now = envelope.payload.now_ns
            if now % (32 * MS):
                return
            nowhere = np.full(4, np.nan)
            here = np.array([offset, 0.0, now * 1e-9])
            bus.publish("/estimate", StateEstimate(now, here, nowhere, nowhere[:3]))

        bus.subscribe("/step", believe)

    def tick(self, status: object) -> None:
        """Nothing."""

    def close(self, result: object) -> None:
        """Nothing."""


def test_without_truth_it_compares_the_estimate(make_world: Maker, make_scenario: Maker) -> None:
    worlds = Worlds(make_world, {"has_truth": False})
    report = repeated(worlds, make_scenario(duration_s=1.0), observers=(Estimator(),))
    assert report.source == "estimate"
    assert report.spread.position is not None
    assert report.spread.position.greatest == pytest.approx(0.2)
    assert report.spread.attitude is None
    assert report.final is not None
    assert report.final.max_distance_m == pytest.approx(0.2)
    assert any("the autopilot's own estimate" in note for note in report.notes)


def test_with_truth_the_estimate_is_left_alone(make_world: Maker, make_scenario: Maker) -> None:
    report = repeated(
        Worlds(make_world, {}), make_scenario(duration_s=1.0), observers=(Estimator(),)
    )
    assert report.source == "truth"
    assert report.max_distance_m == 0.0


def test_with_neither_there_is_nothing_to_compare(make_world: Maker, make_scenario: Maker) -> None:
    report = repeated(Worlds(make_world, {"has_truth": False}), make_scenario(duration_s=0.2))
    assert report.source == ""
    assert report.max_distance_m is None
    assert not report.within(1e9)
    assert list(report.digests.values()) == [(1, 2, 3)]
    assert "nothing to compare" in report.notes[0]


def test_positions_that_are_no_numbers_are_left_out_and_told(
    make_world: Maker, make_scenario: Maker
) -> None:
    make = shifted(make_world, (0.0, 0.0, 0.0), (np.nan, 0.0, 0.0), (0.0, 0.0, 1e30))
    report = repeated(make, make_scenario(duration_s=0.2))
    assert [r.number for r in report.compared] == [1]
    assert "run 2 has no trajectory (completed)" in report.notes
    json.dumps(report.to_file(), allow_nan=False)


def test_the_account_as_plain_data(make_world: Maker, make_scenario: Maker) -> None:
    make = shifted(make_world, (0.0, 0.0, 0.0), (0.0, 0.3, 0.4), (0.0, 0.0, 0.1))
    report = repeated(make, make_scenario(duration_s=1.0), seed=11)
    stored = json.loads(json.dumps(report.to_file(0.1), allow_nan=False))
    assert next(iter(stored)) == "ghost_repeat"
    assert stored["seed"] == 11
    assert stored["within_tolerance"] is False
    assert stored["final_position"]["between"] == [1, 2]
    assert stored["trajectory"]["position_m"]["between"] == [1, 2]
    assert stored["trajectory"]["position_m"]["max"] == pytest.approx(0.5)
    curves = stored["spread"]
    assert len({len(curve) for curve in curves.values()}) == 1
    assert curves["distance_m"] == pytest.approx([0.5] * len(curves["t_s"]))
    del stored["spread"], stored["ghost_repeat"]
    assert stored == json.loads(json.dumps(report.to_json(0.1)))


@pytest.mark.parametrize(("runs", "error"), [(1, ValueError), (0, ValueError), (-3, ValueError),
    (MAX_RUNS + 1, ValueError), ("x", TypeError), (2.5, TypeError), (True, TypeError)])  # fmt: skip
def test_a_number_of_runs_that_cannot_be_meant(
    make_world: Maker, make_scenario: Maker, runs: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match="runs"):
        Repeater(make_world, make_scenario(), runs=runs)


def test_a_long_run_is_kept_in_few_positions(make_scenario: Maker) -> None:
    scenario = make_scenario(duration_s=3600.0)
    period_ns = period_of(scenario, 2000)
    assert period_ns % scenario.step_ns == 0
    path = Path(period_ns)
    still, q = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    tracemalloc.start()
    try:
        for now_ns in range(4 * MS, 3600 * 1000 * MS + 1, 180 * MS):
            path.add(GroundTruth(now_ns, still, q, still, still, still, np.zeros(0)))
        kept_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    track, invalid, whole = path.track()
    assert (invalid, whole) == (0, True)
    assert 1990 <= len(track) <= 2002
    assert track.t_ns[-1] == 3_599_824 * MS  # the last is there, whatever the grid
    assert kept_bytes < 4_000_000


@pytest.mark.parametrize(("runs", "most"), [(2, 2000), (200, 2000), (400, 625), (1000, 200)])
def test_the_more_runs_the_fewer_positions_of_each(
    make_world: Maker, make_scenario: Maker, runs: int, most: int
) -> None:
    scenario = make_scenario(duration_s=100.0)
    report = Repeater(make_world, scenario, runs=runs).report()
    assert scenario.duration_ns / report.period_ns <= most
