"""How fast a recording plays, in times real time, and in what memory.

    python benchmarks/bench_replay.py [--seconds N] [--rounds N] [--megabytes N] [--json]

A recorded flight of `imu_only_1khz` (an IMU at 1000 Hz, with truth and a step report each
millisecond) is played

- `imu`: its IMU alone, through `ReplayBackend.step` and `poll`, as an estimator would;
- `backend`: all of its messages, through `ReplayBackend.step`;
- `replay`: all of it through `ReplayRun`, as `ghost replay` does: bus, digest, metrics, and the
  flight plan.

The figure is the best of the rounds in CPU time of this process, so that a busy machine does not
count; the goal is 20. `memory` plays a file made `--megabytes` large, with large images, and gives
the growth of the peak memory over playing its first tenth: it must not grow with the file.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ghost.backends.embedded import EmbeddedBackend
from ghost.backends.replay import ReplayBackend
from ghost.config import load_scenario
from ghost.core import MessageBus, RandomStream
from ghost.hal import CameraIntrinsics, RGBImagePayload, SensorHealth, SensorMeta, SensorSample
from ghost.recording import Recorder, RecorderLimits
from ghost.runtime import RecordObserver, ReplayRun, ScenarioRun

GOAL = 20.0


def record(path: Path, seconds: int) -> None:
    """Fly and record."""
    scenario = replace(load_scenario("imu_only_1khz"), duration_ns=seconds * 10**9)
    recorder = RecordObserver(str(path))
    with EmbeddedBackend() as world:
        ScenarioRun(world, scenario, backend_name="embedded", observers=[recorder]).execute()


def play_imu(path: Path) -> float:
    """Seconds played."""
    with ReplayBackend(path, topics=["/sensors/imu*"]) as world:
        world.rewind()
        poll, step, step_ns = world.sensors()["imu0"].poll, world.step, world.clock.step_ns()
        while not world.finished:
            step(step_ns)
            poll()
        return world.end_ns / 1e9


def play_backend(path: Path) -> float:
    """Seconds played."""
    with ReplayBackend(path) as world:
        world.rewind()
        step, step_ns = world.step, world.clock.step_ns()
        while not world.finished:
            step(step_ns)
        return world.end_ns / 1e9


def play_run(path: Path) -> float:
    """Seconds played."""
    with ReplayBackend(path) as world:
        return ReplayRun(world).execute().sim_time_s


def best(work: Callable[[Path], float], path: Path, rounds: int) -> float:
    """Times real time."""
    figures = []
    for _ in range(rounds):
        start = time.process_time()
        played = work(path)
        figures.append(played / (time.process_time() - start))
    return max(figures)


def make_large(path: Path, megabytes: int) -> None:
    """A file of noise, which does not compress: 0.92 MB an image."""
    width, height = 640, 480
    none = np.empty(0, np.float64)
    camera = CameraIntrinsics(width, height, 500.0, 500.0, 320.0, 240.0, "none", none)
    draw = RandomStream(0).child("noise").numpy_rng()
    meta, bus = SensorMeta("cam0"), MessageBus()
    count = megabytes * 1_000_000 // (width * height * 3)
    # It is written as fast as the disk takes it, and nothing may be dropped for that.
    with Recorder(str(path), bus, limits=RecorderLimits(block_ns=60_000_000_000)):
        for seq in range(count):
            stamp = (seq + 1) * 10_000_000
            image = draw.integers(0, 256, (height, width, 3), np.uint8)
            image.setflags(write=False)
            payload = RGBImagePayload(image, camera, 0)
            sample = SensorSample("cam0", seq, stamp, stamp, 0, SensorHealth.OK, payload, meta)
            bus.publish("/sensors/cam0", sample)


def peak_mb() -> float:
    """Largest resident size of this process until now, MB (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def memory_growth(path: Path) -> dict[str, float]:
    """Peak after a tenth of the file, and how much the rest added."""
    with ReplayBackend(path) as world:
        world.rewind()
        poll = world.sensors()["cam0"].poll
        tenth = None
        while not world.finished:
            world.step(10 * world.clock.step_ns())
            poll()
            if tenth is None and world.clock.now_ns() * 10 >= world.end_ns:
                tenth = peak_mb()
    assert tenth is not None
    return {
        "file_mb": path.stat().st_size / 1e6,
        "peak_mb_after_a_tenth": tenth,
        "growth_mb": peak_mb() - tenth,
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Speed and memory of a replay.")
    parser.add_argument("--seconds", type=int, default=15, help="simulated time of the flight")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=0, help="size of the file for memory")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures: dict[str, object] = {}
        if options.megabytes:
            large = Path(folder) / "large.mcap"
            make_large(large, options.megabytes)
        path = Path(folder) / "imu.mcap"
        record(path, options.seconds)
        works = {"imu": play_imu, "backend": play_backend, "replay": play_run}
        for name, work in works.items():
            figures[name] = round(best(work, path, options.rounds), 1)
        if options.megabytes:
            figures["memory"] = memory_growth(large)
    if options.json:
        print(json.dumps(figures))
        return
    for name, figure in figures.items():
        unit = f" times real time (goal {GOAL:g})" if isinstance(figure, float) else ""
        print(f"{name:>8}: {figure}{unit}")


if __name__ == "__main__":
    main()
