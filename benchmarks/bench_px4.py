"""How fast a world goes with PX4 in lockstep, and what of a step is ours.

python benchmarks/bench_px4.py                  with the autopilot double (tests/px4_double)
python benchmarks/bench_px4.py --real PX4       with a real px4 program
    --all-cpus          PX4 may use every processor, instead of one of its own
    --sleep             waiting for PX4 sleeps at once, instead of looking a few times first

Flies px4_hover in the embedded world (250 Hz, physics at 4 ms) and prints the real-time factor of
the whole run loop; then, of one step: wall time, the wait for PX4, what link, session and
sink took besides (our share), and the world with the rest. Last, the wall time of an ack.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ghost.backends.embedded import EmbeddedBackend  # noqa: E402 - the checkout, not an installed one
from ghost.backends.px4 import Px4Backend  # noqa: E402
from ghost.backends.px4 import stack as stack_module  # noqa: E402
from ghost.config import load_scenario  # noqa: E402
from ghost.hal import PositionCommand  # noqa: E402
from ghost.px4 import launch  # noqa: E402
from ghost.runtime import ScenarioRun  # noqa: E402
from tests.px4_double.launch import write_px4  # noqa: E402

ASKED = {"double": 25.0, "PX4": 15.0}
ASKED_SHARE_MS, ASKED_ACK_MS = 0.25, 5.0


class Meter:
    """Adds up the wall time of calls."""

    def __init__(self) -> None:
        self.total_s = 0.0

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """`call`, measured."""
        clock = time.perf_counter

        def measured(*arguments: Any, **named: Any) -> Any:
            start = clock()
            try:
                return call(*arguments, **named)
            finally:
                self.total_s += clock() - start

        return measured


def run_loop(environ: dict[str, str], seconds: float) -> tuple[float, str]:
    """The whole of `ghost run`, less the reset."""
    scenario = load_scenario("px4_hover", [f"duration_ns={round(seconds * 1e9)}"])
    with Px4Backend(EmbeddedBackend(), environ) as backend:
        result = ScenarioRun(backend, scenario).execute()
        ready = backend.capabilities.extensions["autopilot"]
    if result.failed or result.outcome.value != "completed":
        raise SystemExit(f"the flight failed: {result.trouble or result.error}")
    counts = ", ".join(f"{count} {name}" for name, count in (result.lockstep or {}).items())
    return result.real_time_factor, (
        f"{result.real_time_factor:5.1f} x real time, {counts}; reset took "
        f"{ready['ready_wall_s']:.1f} s for {ready['ready_sim_s']:.1f} s of simulated time"
    )


def shares(environ: dict[str, str], steps: int) -> tuple[float, float, str]:
    """Of one step in flight: the wait, our share, the rest (µs); and of an ack."""
    scenario = load_scenario("px4_hover")
    ours, waited, world = Meter(), Meter(), Meter()
    with Px4Backend(EmbeddedBackend(), environ) as backend:
        backend.reset(scenario, 1)
        stack: Any = backend._flying().stack
        transport = stack.link._transport
        stack.link.await_answer = ours.around(stack.link.await_answer)
        stack.link.feed = ours.around(stack.link.feed)
        stack.session.poll = ours.around(stack.session.poll)
        stack.sink.step = ours.around(stack.sink.step)
        transport.receive = waited.around(transport.receive)
        inner: Any = backend._world
        inner.step = world.around(inner.step)
        assert backend.arm().accepted
        sink, clock = backend.actuators(), backend.clock
        acks = []
        ours.total_s = waited.total_s = world.total_s = 0.0
        begin = time.perf_counter()
        for _ in range(steps):
            start = time.perf_counter()
            ack = sink.send(PositionCommand(np.array((0.0, 0.0, 2.0))), clock.now_ns())
            acks.append(time.perf_counter() - start)
            assert ack.accepted, ack.detail
            backend.step(scenario.step_ns)
            for provider in backend.sensors().values():
                provider.poll()
        each = (time.perf_counter() - begin) / steps
    share = (ours.total_s - waited.total_s) / steps
    worst = max(acks)
    text = (
        f"a step with a set-point: {each * 1e6:.0f} µs, of it waiting and reading "
        f"{waited.total_s / steps * 1e6:.0f}, link, session and sink {share * 1e6:.0f}, "
        f"world {world.total_s / steps * 1e6:.0f}; an ack: median "
        f"{statistics.median(acks) * 1e6:.0f} µs, longest {worst * 1e3:.2f} ms"
    )
    return share * 1e3, worst * 1e3, text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--real", metavar="PX4", help="path of a px4 program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--all-cpus", action="store_true")
    parser.add_argument("--sleep", action="store_true")
    told = parser.parse_args()
    if told.all_cpus:

        def any_cpu(instance: int) -> int | None:  # noqa: ARG001 - launch's signature
            return None

        launch._cpu_for = any_cpu
    if told.sleep:
        stack_module._SPINS = 0
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PX4_")}
    with tempfile.TemporaryDirectory() as folder:
        kind = "PX4" if told.real else "double"
        environ["PX4_BIN"] = told.real or str(write_px4(Path(folder)))
        # What is measured is Ghost: the double is not to sleep between two samples.
        environ["PX4_DOUBLE_SPINS"] = "1000"
        factors = []
        for _ in range(told.rounds):
            factor, text = run_loop(environ, told.seconds)
            factors.append(factor)
            print(f"{kind}: {text}")
        share_ms, ack_ms, text = shares(environ, 5000)
        print(f"{kind}: {text}")
    best = max(factors)
    for what, is_met in (
        (f"real-time factor {best:.1f}, asked {ASKED[kind]:g}", best >= ASKED[kind]),
        (f"our share {share_ms:.3f} ms, asked {ASKED_SHARE_MS:g}", share_ms < ASKED_SHARE_MS),
        (f"longest ack {ack_ms:.2f} ms, asked {ASKED_ACK_MS:g}", ack_ms < ASKED_ACK_MS),
    ):
        print(f"{'met   ' if is_met else 'MISSED'} {what}")


if __name__ == "__main__":
    main()
