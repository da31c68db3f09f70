"""What Ghost itself costs on top of a Gazebo server.

python benchmarks/bench_gazebo.py               on the test server (tests/gz_world_server)
python benchmarks/bench_gazebo.py --real        on `gz sim -s`, where `gz` is on the PATH

Prints, for one world step of 4 ms a call and for five: the wall time of `backend.step()` and of the
bare world step inside it, what is left for Ghost (median), the processor time of our stepping
thread, and the real-time factor. Then the processor time of one IMU message up to its sample, and
of a 1280×720 image, with the number of copies that are made of it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ghost.backends.gazebo import GazeboBackend  # noqa: E402 - the checkout, not an installed one
from ghost.backends.gazebo.lateness import Lateness  # noqa: E402
from ghost.backends.gazebo.sensors import GazeboSensors, make_mailboxes  # noqa: E402
from ghost.backends.gazebo.truth import TruthTracker  # noqa: E402
from ghost.config import load_scenario, load_vehicle  # noqa: E402
from ghost.core import CameraSpec, HostClock, InitialState, RandomStream, ScenarioSpec  # noqa: E402
from ghost.core import SensorConfig as Sensor  # noqa: E402
from ghost.gz.msgs import IMU, Image, PixelFormatType  # noqa: E402
from ghost.gz.transport import Incoming  # noqa: E402
from ghost.hal import MotorCommand  # noqa: E402
from ghost.sensing import ChannelSet  # noqa: E402
from tests.backends.gazebo.on_test_server import make  # noqa: E402

STEP_NS = 4_000_000
SENSORS = ("imu0", "baro0", "mag0", "altimeter0")


def stepping(backend: GazeboBackend, substeps: int, changing: bool, calls: int) -> str:
    """Step, and tell what it cost."""
    hover = load_scenario("hover", [f"physics_step_ns={STEP_NS}"])
    dt_ns = substeps * STEP_NS
    rate_hz = 1e9 / dt_ns
    sensors = tuple(
        replace(s, rate_hz=min(s.rate_hz, rate_hz))
        for s in hover.vehicle.sensors
        if s.id in SENSORS
    )
    backend.reset(
        replace(
            hover,
            step_ns=dt_ns,
            vehicle=replace(hover.vehicle, sensors=sensors),
            initial=InitialState(pos_enu_m=(0.0, 0.0, 2000.0)),
        ),
        1,
    )
    session = backend._session
    assert session is not None
    bare, inner = [0.0], session.world.step

    def timed(steps: int = 1, *, timeout_s: float | None = None) -> object:
        start = time.perf_counter()
        result = inner(steps, timeout_s=timeout_s)
        bare[0] += time.perf_counter() - start
        return result

    session.world.step = timed  # type: ignore[assignment, method-assign]  # to look inside
    walls, ours, cpus = [], [], []
    begin = time.perf_counter()
    for count in range(calls):
        thrust = np.full(4, 0.3 + (0.001 * (count % 7) if changing else 0.0))
        bare[0] = 0.0
        start, cpu = time.perf_counter(), time.thread_time()
        backend.actuators().send(MotorCommand(thrust), backend.clock.now_ns())
        backend.step(dt_ns)
        for provider in backend.sensors().values():
            provider.poll()
        wall = time.perf_counter() - start
        walls.append(wall)
        ours.append(wall - bare[0])
        cpus.append(time.thread_time() - cpu)
    factor = calls * dt_ns * 1e-9 / (time.perf_counter() - begin)
    how = "a new command each" if changing else "one command"
    median = statistics.median
    return (
        f"{substeps} world step(s) a call, {how:18s}: {median(walls) * 1e3:6.3f} ms a call, "
        f"{median(ours) * 1e3:6.3f} ms of it outside the world step, "
        f"{median(cpus) * 1e3:6.3f} ms of our thread; {factor:5.2f} x real time"
    )


def _rig(sensor: Sensor) -> tuple[ChannelSet, Callable[[bytes, int], None], list[int]]:
    """One sensor's way from message to sample, without a server."""
    vehicle = replace(load_vehicle("x500"), sensors=(sensor,))
    scenario = ScenarioSpec("bench", vehicle, duration_ns=10**12, physics_step_ns=STEP_NS)
    boxes = make_mailboxes(vehicle, "w", "m", STEP_NS, {})
    now = [0]
    channels = ChannelSet(lambda _event: None, HostClock().wall_ns)

    class NoWorld:
        def await_stamp(self, topic: str, stamp_ns: int, timeout_s: float) -> bool:
            raise RuntimeError(f"{topic} {stamp_ns} {timeout_s}: nothing is late here")

    lateness = Lateness(NoWorld(), STEP_NS, channels.providers, lambda _event: None, 1.0)
    sensors = GazeboSensors(scenario, boxes, TruthTracker(), lambda: now[0], lateness)
    channels.build(vehicle.sensors, RandomStream(1), (), sensors.readers, lambda e, n, u: (e, n, u))
    box = boxes[sensor.id]

    def deliver(data: bytes, stamp_ns: int) -> None:
        now[0] = stamp_ns
        box.put(Incoming(box.topic, box.type, data, ""), stamp_ns)
        channels.sample(stamp_ns)

    return channels, deliver, now


def imu_cost(count: int = 20_000) -> str:
    """One IMU message to its sample."""
    imu = next(s for s in load_vehicle("x500").sensors if s.type == "imu")
    message = IMU()
    message.linear_acceleration.z = 9.8
    message.orientation.w = 1.0
    data = message.SerializeToString()
    channels, deliver, _ = _rig(imu)
    start = time.process_time()
    for k in range(1, count + 1):
        deliver(data, k * STEP_NS)
        channels.providers["imu0"].poll()
    each = (time.process_time() - start) / count
    return f"IMU message to sample, noise and poll included: {each * 1e6:.1f} µs"


def image_cost(count: int = 200) -> str:
    """One 1280×720 image to its sample, and how often its pixels are copied."""
    camera = Sensor("cam", "rgb", 25.0, camera=CameraSpec(1280, 720, 80.0))
    size = 1280 * 720 * 3
    message = Image(width=1280, height=720, step=1280 * 3, data=bytes(size))
    message.pixel_format_type = PixelFormatType.RGB_INT8
    data = message.SerializeToString()
    channels, deliver, _ = _rig(camera)
    period = 10 * STEP_NS
    start = time.process_time()
    for k in range(1, count + 1):
        deliver(data, k * period)
        channels.providers["cam"].poll()
    each = (time.process_time() - start) / count
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    deliver(data, (count + 1) * period)
    copies = (tracemalloc.get_traced_memory()[1] - before) / size
    tracemalloc.stop()
    return f"1280×720 image to sample: {each * 1e3:.2f} ms, {copies:.2f} copies of its pixels"


def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--real", action="store_true", help="start `gz sim -s`")
    parser.add_argument("--calls", type=int, default=1500)
    arguments = parser.parse_args(argv)
    print(imu_cost())
    print(image_cost())
    for substeps in (1, 5):
        for changing in (False, True):
            backend = GazeboBackend() if arguments.real else make()
            try:
                print(stepping(backend, substeps, changing, arguments.calls // substeps))
            finally:
                backend.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
