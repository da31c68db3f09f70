"""How much memory a long run takes up.

    python benchmarks/bench_memory.py [--minutes M] [--backend NAME] [--json]

Flies the x500 with its five sensors for half an hour of simulated time, with everything on the bus
and in the digest, and prints how the process's resident memory grew from the first minute, when
every buffer has its size, to the end. The limit is 20 MB. Linux only (`/proc/self/statm`).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from ghost.config import load_vehicle
from ghost.core import InitialState, MessageBus, ScenarioSpec
from ghost.hal import RunDigest, SimulationBackend, VelocityCommand
from ghost.runtime import make_backend

LIMIT_MB = 20.0
STEPS_A_MINUTE = 60 * 250
STEP_NS = 4_000_000


def resident_mb() -> float:
    """The resident set of this process, MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def fly_a_minute(backend: SimulationBackend, bus: MessageBus, digest: RunDigest) -> None:
    """One simulated minute of the loop of HAL spec §5.2."""
    sink = backend.actuators()
    clock = backend.clock
    providers = sorted(backend.sensors().items())
    command = VelocityCommand(np.array([0.05, 0.0, 0.0]), 0.2)
    for _ in range(STEPS_A_MINUTE):
        ack = sink.send(command, clock.now_ns())
        digest.update(ack)
        bus.publish("/actuators/ack", ack)
        backend.step(STEP_NS)
        for sensor_id, provider in providers:
            for sample in provider.poll():
                digest.update(sample)
                bus.publish(f"/sensors/{sensor_id}", sample)
        truth = backend.ground_truth()
        digest.update(truth)
        bus.publish("/ground_truth", truth, clock.now_ns())


def main() -> int:
    """Run from the command line; 1 if the limit is exceeded."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=int, default=30, help="simulated; at least 2")
    parser.add_argument("--backend", default="embedded")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.minutes < 2:
        parser.error(f"--minutes must be at least 2, got {arguments.minutes}")
    scenario = ScenarioSpec(
        name="memory",
        vehicle=load_vehicle("x500"),
        duration_ns=arguments.minutes * 60_000_000_000,
        initial=InitialState(pos_enu_m=(0.0, 0.0, 3.0)),
    )
    bus, digest = MessageBus(), RunDigest()
    heard = [0]

    def listen(_envelope: object) -> None:
        heard[0] += 1

    bus.subscribe("/*", listen)
    backend = make_backend(arguments.backend)
    backend.reset(scenario, 1)
    begin = time.perf_counter()
    curve = []
    for _ in range(arguments.minutes):
        fly_a_minute(backend, bus, digest)
        curve.append(resident_mb())
    wall_s = time.perf_counter() - begin
    backend.shutdown()
    growth = max(curve) - curve[0]
    if arguments.json:
        figures = {
            "backend": arguments.backend,
            "minutes": arguments.minutes,
            "wall_s": wall_s,
            "messages": heard[0],
            "resident_mb": curve,
            "growth_mb": growth,
            "limit_mb": LIMIT_MB,
        }
        print(json.dumps(figures, indent=2))
    else:
        print(
            f"{arguments.backend}: {arguments.minutes} simulated minutes in {wall_s:.0f} s, "
            f"{heard[0]} messages; resident {curve[0]:.1f} MB after the first minute, "
            f"{curve[-1]:.1f} MB at the end; growth {growth:.2f} MB (limit {LIMIT_MB:g} MB)"
        )
    return 0 if growth < LIMIT_MB else 1


if __name__ == "__main__":
    sys.exit(main())
