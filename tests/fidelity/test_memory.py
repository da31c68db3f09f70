"""A long flight keeps no memory. `benchmarks/bench_memory.py` flies half an hour."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from ghost.config import load_vehicle
from ghost.core import InitialState, MessageBus, ScenarioSpec
from ghost.hal import RunDigest, SimulationBackend, VelocityCommand

STEP_NS = 4_000_000
SAMPLES_A_SECOND = 250 + 100 + 50 + 50 + 30


@pytest.fixture
def fly(backend: SimulationBackend) -> Callable[[int], int]:
    """Flies some seconds with bus and digest on; returns how many samples were heard."""
    scenario = ScenarioSpec(
        name="memory",
        vehicle=load_vehicle("x500"),
        duration_ns=10**12,
        initial=InitialState(pos_enu_m=(0.0, 0.0, 3.0)),
    )
    backend.reset(scenario, 1)
    bus, digest = MessageBus(), RunDigest()
    heard = [0]

    def listen(_envelope: object) -> None:
        heard[0] += 1

    bus.subscribe("/sensors/*", listen)
    command = VelocityCommand(np.array([0.1, 0.0, 0.0]), 0.2)

    def run(seconds: int) -> int:
        heard[0] = 0
        for _ in range(seconds * 1_000_000_000 // STEP_NS):
            digest.update(backend.actuators().send(command, backend.clock.now_ns()))
            backend.step(STEP_NS)
            for sensor_id, provider in backend.sensors().items():
                for sample in provider.poll():
                    digest.update(sample)
                    bus.publish(f"/sensors/{sensor_id}", sample)
            digest.update(backend.ground_truth())
        gc.collect()
        return heard[0]

    return run


def test_bytes_of_ten_seconds(fly: Callable[[int], int]) -> None:
    """All memory that Python and numpy ask for; tracing makes it slow."""
    tracemalloc.start()
    try:
        fly(2)
        before, _ = tracemalloc.get_traced_memory()
        assert fly(8) == 8 * SAMPLES_A_SECOND
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 32 * 1024


@pytest.mark.slow
def test_objects_of_a_simulated_minute(fly: Callable[[int], int]) -> None:
    """Allocated blocks, which every Python object is: as many as 60 s before."""
    fly(5)
    before = sys.getallocatedblocks()
    assert fly(60) == 60 * SAMPLES_A_SECOND
    assert sys.getallocatedblocks() - before < 500


@pytest.mark.slow
def test_nobody_polls(backend: SimulationBackend, fly: Callable[[int], int]) -> None:
    """Queues are bounded (D18): samples that nobody takes away do not pile up."""
    fly(1)
    backend.step(35_000_000_000)  # every queue of 1000 is full by now
    gc.collect()
    before = sys.getallocatedblocks()
    backend.step(20_000_000_000)
    gc.collect()
    assert sys.getallocatedblocks() - before < 500
    assert all(len(provider.poll()) == 1000 for provider in backend.sensors().values())
