"""How much the scheduler costs beside a bare `heapq` loop and SimPy doing the same work.

    python benchmarks/bench_scheduler.py [--rounds N] [--json]

Workloads, each with the same callbacks fired at the same simulated times by all three:

- `periodics`: eight periodics (250 Hz to 10 Hz and the step itself), one long advance.
- `stepped`: the same, in 1 ms advances, as a backend steps.
- `crowd`: a thousand periodics of different periods, a deep heap.
- `one-shots`: sixteen chains in which each callback schedules the next.

The rivals take turns within a round, so that a busy machine slows all of them, and the figure is
the median over the rounds of the ratio within each. `of heapq` is the bare loop's time over ours
(1 = as fast, above 1 = faster), likewise `of SimPy`. The bare loop pops, calls and pushes: it
checks nothing, isolates nothing and cannot cancel.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Generator
from dataclasses import asdict, dataclass
from heapq import heappop, heappush
from typing import Any

from ghost.core import SteppedClock

try:
    import simpy
except ImportError:
    raise SystemExit('SimPy is not installed: pip install -e ".[bench]"') from None

MS = 1_000_000
FLIGHT_PERIODS = (1 * MS, 4 * MS, 4 * MS, 5 * MS, 10 * MS, 20 * MS, 33_333_333, 100 * MS)
CROWD_PERIODS = tuple(MS + 1_000 * i for i in range(1_000))

Fire = Callable[[], None]


@dataclass(frozen=True)
class Workload:
    """Periodics for `end_ns` in advances of `step_ns`; or, with `chains`, chains of one-shots."""

    name: str
    periods: tuple[int, ...]
    end_ns: int
    step_ns: int
    chains: int = 0


@dataclass(frozen=True)
class Row:
    workload: str
    callbacks: int
    ghost_ns: float
    heapq_ns: float
    simpy_ns: float
    of_heapq: float
    of_simpy: float


WORKLOADS = (
    Workload("periodics", FLIGHT_PERIODS, 40_000 * MS, 40_000 * MS),
    Workload("stepped", FLIGHT_PERIODS, 40_000 * MS, MS),
    Workload("crowd", CROWD_PERIODS, 100 * MS, 100 * MS),
    Workload("one-shots", (MS,), 5_000 * MS, 5_000 * MS, chains=16),
)


class Counter:
    """What every callback does: count."""

    def __init__(self) -> None:
        self.fired = 0

    def tick(self) -> None:
        self.fired += 1


def run_ghost(work: Workload, counter: Counter) -> Fire:
    clock = SteppedClock(work.step_ns)
    tick = counter.tick
    if work.chains:

        def link() -> None:
            tick()
            clock.schedule(clock.now_ns() + MS, link)

        for _ in range(work.chains):
            clock.schedule(0, link)
    else:
        for period in work.periods:
            clock.schedule_periodic(period, tick)

    def go() -> None:
        for _ in range(work.end_ns // work.step_ns):
            clock.advance(work.step_ns)

    return go


def run_heapq(work: Workload, counter: Counter) -> Fire:
    heap: list[tuple[int, int, Fire, int]] = []
    tick = counter.tick
    now = order = 0

    def link() -> None:
        nonlocal order
        tick()
        order += 1
        heappush(heap, (now + MS, order, link, 0))

    if work.chains:
        for _ in range(work.chains):
            order += 1
            heappush(heap, (0, order, link, 0))
    else:
        for period in work.periods:
            order += 1
            heappush(heap, (0, order, tick, period))

    def go() -> None:
        nonlocal now, order
        end = 0
        for _ in range(work.end_ns // work.step_ns):
            end += work.step_ns
            while heap and heap[0][0] <= end:
                now, _, callback, period = heappop(heap)
                callback()
                if period:
                    order += 1
                    heappush(heap, (now + period, order, callback, period))
            now = end

    return go


def run_simpy(work: Workload, counter: Counter) -> Fire:
    env = simpy.Environment()
    tick = counter.tick

    def process(period: int) -> Generator[Any, Any, None]:
        while True:
            tick()
            yield env.timeout(period)

    for period in work.periods if not work.chains else (MS,) * work.chains:
        env.process(process(period))

    def go() -> None:
        for i in range(work.end_ns // work.step_ns):
            # SimPy stops before `until`; a quarter ns more includes it, as the others do.
            env.run(until=(i + 1) * work.step_ns + 0.25)

    return go


def measure(work: Workload, rounds: int) -> Row:
    rivals = (run_ghost, run_heapq, run_simpy)
    times: list[list[float]] = [[] for _ in rivals]
    fired = set()
    for turn in range(rounds + 1):
        for i in range(len(rivals)):
            # Another one begins each round.
            which = (turn + i) % len(rivals)
            counter = Counter()
            go = rivals[which](work, counter)
            start = time.perf_counter_ns()
            go()
            spent = time.perf_counter_ns() - start
            fired.add(counter.fired)
            if turn:  # the first round warms up
                times[which].append(spent / counter.fired)
    if len(fired) != 1:
        raise AssertionError(f"{work.name}: the rivals did different work: {sorted(fired)}")
    ghost, bare, sim = times
    return Row(
        workload=work.name,
        callbacks=fired.pop(),
        ghost_ns=statistics.median(ghost),
        heapq_ns=statistics.median(bare),
        simpy_ns=statistics.median(sim),
        of_heapq=statistics.median(b / g for b, g in zip(bare, ghost, strict=True)),
        of_simpy=statistics.median(s / g for s, g in zip(sim, ghost, strict=True)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7, help="rounds that count (default 7)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    rows = [measure(work, options.rounds) for work in WORKLOADS]
    if options.json:
        print(json.dumps({"rounds": options.rounds, "rows": [asdict(row) for row in rows]}))
        return
    print(f"{'workload':<12}{'callbacks':>10}{'ghost':>9}{'heapq':>9}{'SimPy':>9}  ns per callback")
    for row in rows:
        print(
            f"{row.workload:<12}{row.callbacks:>10}{row.ghost_ns:>9.0f}{row.heapq_ns:>9.0f}"
            f"{row.simpy_ns:>9.0f}  {row.of_heapq:.2f} of heapq, {row.of_simpy:.2f} of SimPy"
        )


if __name__ == "__main__":
    main()
